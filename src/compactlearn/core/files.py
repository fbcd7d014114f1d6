"""Files that are there whole or not at all."""

import glob
import os
import tempfile
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

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder, "note.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     os.listdir(folder)
    ['note.txt']
    """
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _usual_mode())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def clear_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of writers of `path` that were killed.

    To be called where nobody else can be writing it.
    """
    path = Path(path)
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            part.unlink()


def _usual_mode() -> int:
    # mkstemp makes a file that only its owner may read; a plain open() asks the umask.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
