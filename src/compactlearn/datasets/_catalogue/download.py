"""Fetching a file whose size and SHA-256 are known beforehand.

What holds, whatever happens in between:

* under the final name there is either nothing or the whole file with the right checksum. It is
  written under a hidden name in the same folder, checked, and renamed in one step;
* what an interruption leaves behind is continued from where it ended (an HTTP range), by the next
  attempt or by the next process. If the whole then has a wrong checksum, it is fetched again from
  the start;
* of several processes that want the same file one fetches it and the others wait. The lock is the
  operating system's, so it ends with the process that holds it.

pooch was considered. It checks and renames just so, but it begins every attempt at the first byte,
knows one address per file, and takes no lock. Without it this module needs nothing but the standard
library, so the base installation can fetch too.
"""

import contextlib
import errno
import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from compactlearn.core._progress import track
from compactlearn.datasets._catalogue.checksums import digest, verify
from compactlearn.datasets._catalogue.known_sets import File

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["FetchError", "Patience", "fetch_file", "locked"]

_CHUNK = 1 << 16
_WORTH_ANOTHER_TRY = {408, 425, 429, 500, 502, 503, 504}


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
                iter(lambda: response.read1(_CHUNK), b""),
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
