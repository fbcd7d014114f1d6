"""Files that are there whole or not at all."""

import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic", "clear_leftovers"]


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream for writing that becomes `path` when the block ends well.

    The bytes go to a temporary name in the same folder, are forced to the disk, and take the final
    name in one step. If the block raises, the temporary file is removed, and what stood under
    the final name stays as it was.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic(Path(folder, "note.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     os.listdir(folder)
    ['note.txt']
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_urlsafe(6)}.part")
    # Opened plainly, since mkstemp makes a file that only its owner may read, and the permissions
    # that others usually get can be learnt only by changing the umask of the whole process.
    stream = open(temporary, "xb")  # noqa: SIM115, closed below, before it is renamed or removed
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def clear_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of writers of `path` that were killed.

    To be called where nobody else can be writing it.
    """
    path = Path(path)
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            part.unlink()
