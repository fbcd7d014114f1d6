"""The files of a set: one folder per set inside the data folder, each file found, judged by its
bytes, or fetched.

What holds of a fetched file, whatever happens in between:

* under the final name there is either nothing or the whole file with the right checksum. It is
  written under a hidden name in the same folder, checked, and renamed in one step;
* what an interruption leaves behind is resumed from where it ended (an HTTP range), by the next
  attempt or by the next process. If the whole then has a wrong checksum, it is fetched again from
  the start;
* of several processes that want the same file one fetches it and the others wait. The lock is the
  operating system's, so it ends with the process that holds it.

pooch begins every attempt at the first byte, knows one address per file, and takes no lock; so only
the standard library is needed here.
"""

import bz2
import contextlib
import errno
import gzip
import hashlib
import http.client
import lzma
import os
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from compactlearn.core._progress import track
from compactlearn.datasets._catalogue.known_sets import Entry, File

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "COMPRESSIONS",
    "FetchError",
    "Patience",
    "data_folder",
    "digest",
    "fetch_file",
    "find",
    "is_genuine",
    "locked",
    "obtain",
]

COMPRESSIONS = (".xz", ".bz2", ".gz")
_WORTH_ANOTHER_TRY = {408, 425, 429, 500, 502, 503, 504}
_UNPACK: tuple[tuple[bytes, Any], ...] = (
    (b"\xfd7zXZ\x00", lzma.open),
    (b"BZh", bz2.open),
    (b"\x1f\x8b", gzip.open),
)


class FetchError(OSError):
    """No address gave the file; the text says why, address by address."""


@dataclass(frozen=True)
class Patience:
    """How long to try.

    Parameters
    ----------
    attempts : int
        For each address.
    pause : float
        Seconds before the second attempt; doubled before each further one.
    timeout : float
        Seconds without a byte after which an attempt has failed.
    """

    attempts: int = 4
    pause: float = 0.5
    timeout: float = 30.0


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder in which `load` looks, whether it exists or not.

    It is `data_home`; or what the environment variable COMPACTLEARN_DATA names; or the folder
    "compactlearn" in the user's cache.

    Parameters
    ----------
    data_home : path, optional
        If given, this is the folder.
    """
    chosen = data_home if data_home is not None else os.environ.get("COMPACTLEARN_DATA")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "compactlearn"


def find(file: File, folder: Path) -> Path | None:
    """The file itself or a compressed copy of it, whichever is there."""
    names = [file.name, *(copy.name for copy in file.copies)]
    names += [file.name + ending for ending in COMPRESSIONS]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def obtain(
    file: File,
    entry: Entry,
    folder: Path,
    *,
    download: bool = True,
    patience: Patience | None = None,
) -> Path:
    """The path of a file with the right checksum, fetched if it is absent.

    Raises
    ------
    ValueError
        If a file is there and has another content.
    FileNotFoundError
        If it is absent and cannot be fetched. The sentence says which file to put where.
    """
    path = find(file, folder)
    if path is not None:
        verify(path, file)
        return path
    if not file.addresses:
        reason = "no address is known to fetch it from"
    elif not download:
        reason = "downloading was not allowed"
    else:
        try:
            return fetch_file(file, folder, patience)
        except FetchError as error:
            reason = f"it could not be fetched ({error})"
    origin = f", from {file.origin}" if file.origin else ""
    raise FileNotFoundError(
        f"The data set {entry.name!r} needs the file {file.name} (or a .xz, .bz2 or .gz of it) in "
        f"{folder}, which does not hold it, and {reason}; put it there by hand ({file.bytes} "
        f"bytes, SHA-256 {file.sha256}{origin}), or name the folder above that one by data_home or "
        "by the environment variable COMPACTLEARN_DATA. Only emotions and enron come with the "
        "package."
    )


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_genuine(path: Path, file: File) -> bool:
    """Whether a path holds the original of `file`, one of its copies, or either compressed.

    The bytes are read every time. A hundred megabytes take a fraction of a second, less than
    parsing them; and there is no record of earlier answers that could be out of date.
    """
    known = {file.sha256: file.bytes} | {copy.sha256: copy.bytes for copy in file.copies}
    return digest(path) in known or _unpacked_digest(path, max(known.values())) in known


def verify(path: Path, file: File) -> None:
    """Raise ValueError unless `is_genuine`."""
    if not is_genuine(path, file):
        raise ValueError(
            f"{path} must have the content that the registry knows as {file.name} (SHA-256 "
            f"{file.sha256}, {file.bytes} bytes when not compressed), but it has another; remove "
            "it and fetch the set again, or read it as a file of your own with read."
        )


def _unpacked_digest(path: Path, limit: int) -> str | None:
    """The SHA-256 of what a compressed file holds; None if it is none, is damaged or too long."""
    with path.open("rb") as stream:
        start = stream.read(6)
    unpack = next((how for magic, how in _UNPACK if start.startswith(magic)), None)
    if unpack is None:
        return None
    sha, length = hashlib.sha256(), 0
    try:
        with unpack(path) as stream:
            while chunk := stream.read(1 << 20):
                sha.update(chunk)
                length += len(chunk)
                if length > limit:
                    return None
    except (OSError, EOFError, ValueError, MemoryError, zlib.error, lzma.LZMAError):
        return None
    return sha.hexdigest()


def fetch_file(file: File, folder: Path, patience: Patience | None = None) -> Path:
    """Fetch `file` into `folder`, from the first of its addresses that gives it.

    Returns
    -------
    path
        Of the file, which has the checksum of the registry.

    Raises
    ------
    FetchError
        If no address gave the file, or the folder cannot be written to.
    ValueError
        If another file lies in its place; it is left there.
    """
    target = folder / file.name
    patience = Patience() if patience is None else patience
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder) as alone:
            if target.is_file():  # another process was faster
                verify(target, file)
                return target
            # Where locks do not work, each process has a name of its own and continues nothing.
            part = folder / f".{file.name}{'' if alone else f'.{os.getpid()}'}.part"
            try:
                if part.is_symlink() or (part.exists() and not part.is_file()):
                    part.unlink()  # nothing of ours: writing to it would be writing elsewhere
                _from_first(file, part, patience)
                os.replace(part, target)
            finally:
                if not alone:
                    part.unlink(missing_ok=True)
    except FetchError:
        raise
    except OSError as error:
        raise FetchError(f"the folder {folder} cannot be used: {error}") from error
    return target


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock; yields False where the file system has no locks."""
    with (folder / ".lock").open("ab") as handle:
        try:
            _acquire(handle)
            alone = True
        except OSError:
            alone = False
        yield alone  # closing the handle releases the lock


if sys.platform == "win32":

    def _acquire(handle: IO[bytes]) -> None:
        handle.seek(0)
        while True:
            try:
                return msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno != errno.EDEADLOCK:  # ten seconds of waiting are over
                    raise
else:

    def _acquire(handle: IO[bytes]) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _from_first(file: File, part: Path, patience: Patience) -> None:
    reasons = []
    for address in file.addresses:
        try:
            return _persistently(address, file, part, patience)
        except FetchError as error:
            reasons.append(f"{address}: {error}")
    raise FetchError("; ".join(reasons) or "no address is known")


def _persistently(address: str, file: File, part: Path, patience: Patience) -> None:
    reason = "not tried"
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.pause * 2 ** (attempt - 1))
        resumed = part.exists()
        try:
            _transfer(address, file, part, patience.timeout)
        except urllib.error.HTTPError as error:
            reason = f"the server answered {error.code} {error.reason}"
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and resumed:
                part.unlink(missing_ok=True)
            elif error.code not in _WORTH_ANOTHER_TRY:
                raise FetchError(reason) from error
        except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
        else:
            got = digest(part)
            if got == file.sha256:
                return
            part.unlink()
            reason = f"the file has the SHA-256 {got} instead of {file.sha256}"
            if not resumed:
                raise FetchError(reason)
    raise FetchError(f"{reason} ({patience.attempts} attempts)")


def _transfer(address: str, file: File, part: Path, timeout: float) -> None:
    """Bring `part` to its full length, or raise."""
    start = part.stat().st_size if part.exists() else 0
    if start == file.bytes:  # the last process ended between the last byte and the renaming
        return
    start = start if start < file.bytes else 0
    headers = {"User-Agent": "compactlearn", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    request = urllib.request.Request(address, headers=headers)
    with _opener().open(request, timeout=timeout) as response:
        if not _continues(response, start):
            start = 0
        with _opened(part, afresh=not start) as sink:
            # read1 hands over what has arrived, so that nothing is lost when the rest does not.
            chunks = track(
                iter(lambda: response.read1(1 << 16), b""),
                description=f"fetching {file.name}",
                total=file.bytes - start,
                size=len,
            )
            length = start
            for chunk in chunks:
                sink.write(chunk)
                length += len(chunk)
                if length > file.bytes:  # not this file, and perhaps without an end
                    break
            sink.flush()
            os.fsync(sink.fileno())
    if length < file.bytes:
        raise OSError(f"the transfer ended after {length} of {file.bytes} bytes")


def _opened(part: Path, *, afresh: bool) -> IO[bytes]:
    """The file for writing, itself and not what a link of its name leads to."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if afresh else os.O_APPEND)
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(part, flags, 0o666), "wb" if afresh else "ab")


def _continues(response: http.client.HTTPResponse, start: int) -> bool:
    """Whether the answer begins at byte `start`; one without a range begins at the first."""
    given = response.headers.get("Content-Range", "")
    return response.status == http.HTTPStatus.PARTIAL_CONTENT and given.startswith(
        f"bytes {start}-"
    )


def _opener() -> urllib.request.OpenerDirector:
    """HTTP and HTTPS, proxies and redirections; no other scheme, file: for instance."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener
