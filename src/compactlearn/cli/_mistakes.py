"""A user's mistake, told in one sentence and ending with status 2."""

import contextlib
from collections.abc import Iterator

__all__ = ["Mistake", "refusals_are_mistakes"]


_NO_MEMORY = "There is not enough memory for this; take fewer rows, or ask for a smaller model."


class Mistake(Exception):
    """What the user asked for cannot be done; the text says why, and what to do."""


@contextlib.contextmanager
def refusals_are_mistakes() -> Iterator[None]:
    """Inside, what the library refuses is a `Mistake` with the library's own sentence."""
    try:
        yield
    except OSError as error:
        raise Mistake(_worded(error)) from error
    except (ValueError, TypeError, ImportError, MemoryError) as error:
        raise Mistake(str(error) or _NO_MEMORY) from error


def _worded(error: OSError) -> str:
    """A sentence, also where the system has only a number and a word."""
    if error.errno is None or error.filename is None or not str(error).startswith("[Errno"):
        return str(error)
    return (
        f"The file or folder {error.filename} cannot be used ({error.strerror}); check the path, "
        "and who may read and write there."
    )
