"""Claims on cells: a lock file for each cell, locked by the process that computes it.

The kernel drops the lock when its holder ends, however it ends, so nobody has to judge whether a
claim is still meant. The file itself is removed by whoever holds the lock; a process that opened
the file before that finds out by the file's number, and opens the new one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["claim", "sweep"]


@contextmanager
def claim(path: Path) -> Iterator[bool]:
    """Inside, whether this process (and in it this caller) holds the claim `path`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder, "cell.lock")
    ...     with claim(place) as mine, claim(place) as again:
    ...         print(mine, again)
    ...     place.exists()
    True False
    False
    """
    handle = _locked(path)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            # Only the holder removes the file, and before it lets go: see _locked.
            with suppress(FileNotFoundError):
                path.unlink()
            os.close(handle)


def sweep(folder: Path) -> None:
    """Remove the files that killed processes left behind; those in use stay."""
    for path in folder.glob("*.lock"):
        with suppress(OSError), claim(path):
            pass


def _locked(path: Path) -> int | None:
    if fcntl is None:
        raise OSError(
            "A store of records that processes share needs file locks (flock), which this "
            "operating system does not have; run the benchmark on Linux or macOS."
        )
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        if _is_still(path, handle):
            return handle
        os.close(handle)  # its last holder removed the file between our open and our lock


def _is_still(path: Path, handle: int) -> bool:
    try:
        there, here = os.stat(path), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
