"""A user's mistake, told in one sentence and ending with status 2."""

import contextlib
from collections.abc import Iterator

__all__ = ["Mistake", "refusals_are_mistakes"]


class Mistake(Exception):
    """What the user asked for cannot be done; the text says why, and what to do."""


@contextlib.contextmanager
def refusals_are_mistakes() -> Iterator[None]:
    """Inside, what the library refuses is a `Mistake` with the library's own sentence."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Mistake(str(error)) from error
