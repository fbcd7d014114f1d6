"""Is this the file that the registry means? Judged by its bytes, never by its name."""

import bz2
import gzip
import hashlib
import lzma
import zlib
from pathlib import Path
from typing import Any

from compactlearn.datasets._catalogue.known_sets import File

__all__ = ["digest", "is_genuine", "verify"]

_CHUNK = 1 << 20
_UNPACK: tuple[tuple[bytes, Any], ...] = (
    (b"\xfd7zXZ\x00", lzma.open),
    (b"BZh", bz2.open),
    (b"\x1f\x8b", gzip.open),
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
            while chunk := stream.read(_CHUNK):
                sha.update(chunk)
                length += len(chunk)
                if length > limit:
                    return None
    except (OSError, EOFError, ValueError, MemoryError, zlib.error, lzma.LZMAError):
        return None
    return sha.hexdigest()
