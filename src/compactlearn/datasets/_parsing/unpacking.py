"""Bytes of a file, decompressed where needed: at once, or as a stream of whole lines."""

import bz2
import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from compactlearn.core._growth import Growth
from compactlearn.datasets._errors import DataFileError

__all__ = [
    "Block",
    "Limits",
    "Lines",
    "check_encoding",
    "decoded",
    "plain_ending",
    "present",
    "read_bytes",
]

_DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, MemoryError)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PACKED = {".xz", ".bz2", ".gz"}
_CHUNK = 1 << 17
_LONGEST_LINE = 1 << 28


class Limits(Growth):
    """How far a compressed file may expand before it is taken for an attack.

    Parameters
    ----------
    ratio : int
        Expanded bytes per stored byte; looked at once `free` bytes have come out.
    total : int
        Expanded bytes in all.
    free : int
        So much may come out of any file.
    """

    def check(self, path: Path, expanded: int, stored: int) -> None:
        """Raise DataFileError if a file expands too far.

        Parameters
        ----------
        path : path
            The file, for the message.
        expanded, stored : int
            Bytes before and after the file was compressed.
        """
        if self.exceeded(expanded, stored):
            raise DataFileError(
                path,
                f"its {stored} bytes expand to more than {expanded - 1}, which is beyond the "
                f"limits (ratio {self.ratio}, total {self.total}). If you trust the file, pass "
                "limits=Limits(ratio=..., total=...).",
            )


def present(path: str | os.PathLike[str]) -> Path:
    """The path, if a file is there.

    Raises
    ------
    FileNotFoundError
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"A file to read was asked for by the path {path}, but no file is there; check the "
            f"path (the current folder is {Path.cwd()})."
        )
    return path


def plain_ending(path: str | os.PathLike[str]) -> str:
    """The ending of a file's name in small letters, without that of its compression.

    >>> plain_ending("enron.ARFF.xz"), plain_ending("stdin")
    ('.arff', '')
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    while endings and endings[-1] in _PACKED:
        endings.pop()
    return endings[-1] if endings else ""


class _Source:
    """A file read in pieces, decompressed on the way."""

    def __init__(self, path: str | os.PathLike[str], limits: Limits | None) -> None:
        self.path = present(path)
        self._limits = limits or Limits()
        self._plain = self.path.open("rb")
        self._stored = os.fstat(self._plain.fileno()).st_size
        self._out = 0
        magic = self._plain.read(6)
        self._plain.seek(0)
        self._stream = _unpacking(self._plain, magic)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        if self._stream is None:
            return self._plain.read(size)
        try:
            content = self._stream.read(size)
        except _DAMAGE as error:
            raise DataFileError(
                self.path,
                f"a compressed file must be whole to be read, but unpacking it failed ({error}); "
                "fetch or copy it again.",
            ) from error
        self._out += len(content)
        self._limits.check(self.path, self._out, self._stored)
        return content

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._plain.close()


class _Recoded:
    """A file in another encoding, read as UTF-8."""

    def __init__(self, source: _Source, encoding: str) -> None:
        self.path, self._source, self._encoding = source.path, source, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int) -> bytes:
        """About `size` bytes; none at the end."""
        while True:
            content = self._source.read(size)
            try:
                text = self._decoder.decode(content, final=not content)
                found = text.encode("utf-8")
            except UnicodeError as error:
                raise DataFileError(
                    self.path,
                    f"its text must be in the encoding that was asked for, {self._encoding!r}, "
                    f"but cannot be read so ({error}). Pass another encoding (--encoding on the "
                    "command line).",
                ) from error
            if found or not content:
                return found

    def close(self) -> None:
        self._source.close()


def check_encoding(encoding: str) -> str:
    """Return the name of an encoding of texts.

    Raises
    ------
    ValueError
        If Python does not know it.
    """
    try:
        known = codecs.lookup(encoding)
        "".encode(encoding)  # refuses what is no encoding of texts, such as base64
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"encoding must be the name of an encoding of texts that Python knows; got "
            f"{encoding!r:.60}. Pass one such as 'utf-8', 'latin-1' or 'utf-16'."
        ) from error
    return known.name


def _unpacking(stream: BinaryIO, magic: bytes) -> Any:
    """The stream unpacked; None if it is not packed."""
    # The first bytes decide, not the name: a renamed file is still read.
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(stream)
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    return gzip.GzipFile(fileobj=stream) if magic.startswith(b"\x1f\x8b") else None


def read_bytes(path: str | os.PathLike[str], limits: Limits | None = None) -> bytes:
    """The content of a file; xz, bz2 and gzip are undone.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DataFileError
        If a compressed file is damaged, or expands beyond the limits.
    """
    source = _Source(path, limits)
    try:
        return b"".join(iter(lambda: source.read(1 << 20), b""))
    finally:
        source.close()


@dataclass(frozen=True)
class Block:
    """Some whole lines, each ended by a newline, and the number of the first, counted from 1."""

    text: bytes
    first_line: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line without its newline, and its number."""
        return enumerate(self.text.split(b"\n")[:-1], start=self.first_line)


class Lines:
    """The lines of a file, one at a time or in blocks; never the whole text at once.

    With an encoding its text is read in that one, and lines are in UTF-8.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        limits: Limits | None = None,
        encoding: str | None = None,
    ) -> None:
        plain = _Source(path, limits)
        self._source = plain if encoding is None else _Recoded(plain, encoding)
        self.path = self._source.path
        self.number = 0  # of the line read last
        self._buffer = b""
        self._start = 0
        self._ended = False

    def __enter__(self) -> "Lines":
        self._fill()
        if self._buffer.startswith(_BYTE_ORDER_MARK):
            self._start = len(_BYTE_ORDER_MARK)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._source.close()

    def line(self) -> bytes | None:
        """The next line without its newline; None at the end."""
        end = self._buffer.find(b"\n", self._start)
        while end < 0 and not self._ended:
            self._fill()
            end = self._buffer.find(b"\n", self._start)
        if end < 0:
            return None
        text = self._buffer[self._start : end]
        self._start = end + 1
        self.number += 1
        return text

    def push_back(self, line: bytes) -> None:
        """Make `line`, the one read last, the next one again."""
        self._buffer = line + b"\n" + self._buffer[self._start :]
        self._start = 0
        self.number -= 1

    def blocks(self) -> Iterator[Block]:
        """The rest, in blocks of about a hundred kilobytes."""
        while True:
            end = self._buffer.rfind(b"\n", self._start)
            while end < 0 and not self._ended:
                self._fill()
                end = self._buffer.rfind(b"\n", self._start)
            if end < 0:
                return
            text = self._buffer[self._start : end + 1]
            self._start = end + 1
            block = Block(text, self.number + 1)
            self.number += text.count(b"\n")
            yield block
            if not self._ended:
                self._fill()

    def _fill(self) -> None:
        """Append at least a chunk; a line longer than that is gathered in few steps."""
        rest = self._buffer[self._start :]
        if len(rest) > _LONGEST_LINE:
            raise DataFileError(
                self.path,
                f"a line may hold {_LONGEST_LINE} bytes, but this one is longer. Check that the "
                "file is text.",
                line=self.number + 1,
            )
        chunk = self._source.read(max(_CHUNK, len(rest)))
        self._buffer, self._start = rest + chunk, 0
        if not chunk:
            self._ended = True
            if rest:
                self._buffer += b"\n"


def decoded(text: bytes, encoding: str = "utf-8") -> str:
    """The text in the given encoding, or in Latin-1, which fits any bytes."""
    try:
        return text.decode(encoding)
    except UnicodeDecodeError:
        return text.decode("latin-1")
