"""Files of a data set, which are in one folder per set: find them, check them, or fetch them.

Under the final name of a fetched file there is either nothing or the whole file with the right
checksum: it is written under a hidden name in the same folder, checked, and renamed in one step.
"""

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from compactlearn.core._atomic import atomic
from compactlearn.core._progress import track
from compactlearn.datasets._catalogue.known_sets import Entry, File
from compactlearn.datasets._dataset import DataFileError
from compactlearn.datasets._parsing.lines import PACKED, Limits, opened

_ATTEMPTS, _PAUSE, _TIMEOUT = 4, 0.5, 30.0  # seconds before the second, and without a byte
_WORTH_ANOTHER_TRY = {408, 425, 429, 500, 502, 503, 504}


class FetchError(OSError):
    """Failure to fetch a file; the message states the reason."""


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder in which `load` looks, whether it exists or not.

    It is `data_home`; or the folder of the environment variable COMPACTLEARN_DATA; or the folder
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
    """Return the path of the file or of a compressed copy; None if neither exists."""
    paths = [folder / f"{file.name}{ending}" for ending in ("", *PACKED)]
    return next((path for path in paths if path.is_file()), None)


def obtain(file: File, entry: Entry, folder: Path, *, download: bool = True) -> Path:
    """Return the path of a file with the right checksum, fetched if it is absent."""
    path = find(file, folder)
    if path is not None:
        if not _is_genuine(path, file):
            raise ValueError(
                f"{path} must have the content that the registry knows as {file.name} (SHA-256 "
                f"{file.sha256}, {file.bytes} bytes when not compressed), but it has another; "
                "remove it and fetch the set again, or read it as a file of your own with read."
            )
        return path
    if not file.address:
        reason = "no address is known to fetch it from"
    elif not download:
        reason = "downloading was not allowed"
    else:
        try:
            return fetch_file(file, folder)
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
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_genuine(path: Path, file: File) -> bool:
    """Return whether a path holds the original of a file, as it is or compressed.

    The bytes are read every time: that takes less than parsing them, and no record of earlier
    answers can be out of date.
    """
    if digest(path) == file.sha256:
        return True
    try:
        with opened(path, Limits(total=file.bytes, free=file.bytes)) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
    except DataFileError:  # damaged, or longer than the original
        return False


def fetch_file(file: File, folder: Path) -> Path:
    """Fetch a file into a folder, and return its path; raise FetchError if that fails."""
    target, reason = folder / file.name, ""

    def check(path: Path) -> None:
        got = digest(path)
        if got != file.sha256:
            raise FetchError(f"it has the SHA-256 {got} instead of {file.sha256}")

    for attempt in range(_ATTEMPTS):
        time.sleep(_PAUSE * 2 ** (attempt - 1) if attempt else 0)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with atomic(target, check=check) as sink:
                _transfer(file, sink)
            return target
        except FetchError as error:
            raise FetchError(f"{file.address}: {error}") from error
        except urllib.error.HTTPError as error:
            reason = f"the server answered {error.code} {error.reason}"
            if error.code not in _WORTH_ANOTHER_TRY:
                break
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
    raise FetchError(f"{file.address}: {reason}")


def _transfer(file: File, sink: BinaryIO) -> None:
    headers = {"User-Agent": "compactlearn", "Accept-Encoding": "identity"}
    request = urllib.request.Request(file.address, headers=headers)
    length = 0
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
        arriving: Iterator[bytes] = iter(lambda: response.read1(1 << 16), b"")
        for chunk in track(
            arriving,
            description=f"fetching {file.name}",
            total=file.bytes,
            size=lambda chunk: len(chunk),
        ):
            sink.write(chunk)
            length += len(chunk)
            if length > file.bytes:  # not this file, and perhaps without an end
                break
    if length < file.bytes:
        raise OSError(f"the transfer ended after {length} of {file.bytes} bytes")
