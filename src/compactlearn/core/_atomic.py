"""Files that are there whole or not at all."""

import errno
import glob
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NEW_FILE = 0o666  # less what the umask of the process forbids


@contextmanager
def atomic(
    path: str | os.PathLike[str], *, check: Callable[[Path], object] | None = None
) -> Iterator[BinaryIO]:
    """Open a stream for writing that becomes `path` when the block ends well.

    The bytes go to a temporary name in the same folder, are forced to the disk, and take the final
    name in one step. If the block raises, the temporary file is removed, and the file under the
    final name stays as it was. A file that is replaced keeps its permissions; those of a new one
    follow the umask.

    Parameters
    ----------
    path : path
        A file, or a name that does not exist yet. A folder, device or pipe raises OSError.
    check : callable, optional
        Called with the temporary file's path when all bytes are on the disk. If it raises, nothing
        is replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic(Path(folder, "note.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     os.listdir(folder)
    ['note.txt']
    """
    path = Path(path)
    permissions = _permissions(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_urlsafe(6)}.part")
    # Opened plainly, since mkstemp makes a file that only its owner may read, and the permissions
    # that others usually get can be learnt only by changing the umask of the whole process.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    mode = _NEW_FILE if permissions is None else permissions
    stream = os.fdopen(os.open(temporary, flags, mode), "wb")  # closed below
    try:
        with stream:
            if permissions is not None:
                os.chmod(temporary, permissions)  # the umask may have forbidden some of them
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if check is not None:
            check(temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _permissions(path: Path) -> int | None:
    """Return the permissions of the file that will be replaced; None if there is none."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found):
        why = "A device or a pipe cannot be replaced by a file, give another path"
        raise OSError(errno.EINVAL, why, str(path))
    return stat.S_IMODE(found) & 0o777


def clear_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of writers of `path` that were killed.

    To be called where nobody else can be writing it.
    """
    path = Path(path)
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            part.unlink()
