"""Bytes of a file, unpacked where they are compressed: whole, line by line, or in blocks."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compactlearn.datasets._dataset import DataFileError

#: The endings of compressed files.
PACKED = (".xz", ".bz2", ".gz")
_DAMAGE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, MemoryError)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 17
_LONGEST_LINE = 1 << 28


@dataclass(frozen=True)
class Limits:
    """Limits on the expansion of a compressed file, beyond which it is regarded as an attack.

    Parameters
    ----------
    ratio : int
        Expanded bytes per stored byte; checked beyond `free` expanded bytes.
    total : int
        Expanded bytes in all.
    free : int
        Expanded bytes that any file may have.
    """

    ratio: int = 1000
    total: int = 1 << 34
    free: int = 1 << 26

    def check(self, path: Path, expanded: int, stored: int) -> None:
        """Raise DataFileError if a file expands too far.

        Parameters
        ----------
        path : path
            The file, for the message.
        expanded, stored : int
            Bytes before and after the file was compressed.
        """
        if expanded > max(self.free, min(self.total, self.ratio * stored)):
            raise DataFileError(
                path,
                f"its {stored} bytes expand to more than {expanded - 1}, which is beyond the "
                f"limits (ratio {self.ratio}, total {self.total}). If you trust the file, pass "
                "limits=Limits(ratio=..., total=...).",
            )


def present(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file; raise FileNotFoundError if there is none."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"A file to read was asked for by the path {path}, but no file is there; check the "
            f"path (the current folder is {Path.cwd()})."
        )
    return path


def plain_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file's name in small letters, without that of its compression.

    >>> plain_ending("enron.ARFF.xz"), plain_ending("stdin")
    ('.arff', '')
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    while endings and endings[-1] in PACKED:
        endings.pop()
    return endings[-1] if endings else ""


class _Unpacked(io.RawIOBase):
    """Bytes of a file, unpacked by its first bytes, not by its name."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits, self._out = path, limits, 0
        self._file = path.open("rb")
        self._stored = os.fstat(self._file.fileno()).st_size
        magic = self._file.peek(6)[:6]
        self._stream: Any = None
        if magic.startswith(b"\xfd7zXZ\x00"):
            self._stream = lzma.LZMAFile(self._file)  # noqa: SIM115, closed with the file
        elif magic.startswith(b"BZh"):
            self._stream = bz2.BZ2File(self._file)
        elif magic.startswith(b"\x1f\x8b"):
            self._stream = gzip.GzipFile(fileobj=self._file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._stream is None:
            return self._file.readinto(buffer)
        try:
            count = self._stream.readinto(buffer)
        except _DAMAGE as error:
            raise DataFileError(
                self._path,
                f"a compressed file must be whole to be read, but unpacking it failed ({error}); "
                "fetch or copy it again.",
            ) from error
        self._out += count
        self._limits.check(self._path, self._out, self._stored)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def opened(path: str | os.PathLike[str], limits: Limits | None = None) -> io.BufferedReader:
    """Open a file for reading; xz, bz2 and gzip are decompressed.

    Reading raises DataFileError if a compressed file is damaged, or expands beyond the limits.
    """
    return io.BufferedReader(_Unpacked(present(path), limits or Limits()), _CHUNK)


def check_encoding(encoding: str) -> str:
    """Return the name of an encoding of texts; raise ValueError if Python does not know it."""
    try:
        known = codecs.lookup(encoding)
        "".encode(encoding)  # raises for codecs that are no text encodings, such as base64
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"encoding must be the name of an encoding of texts that Python knows; got "
            f"{encoding!r:.60}. Pass one such as 'utf-8', 'latin-1' or 'utf-16'."
        ) from error
    return known.name


@dataclass(frozen=True)
class LineBlock:
    """Some whole lines, each ended by a newline, and the number of the first, counted from 1."""

    text: bytes
    first_line: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line without its newline, after its number."""
        return enumerate(self.text.split(b"\n")[:-1], start=self.first_line)

    def line_of(self, row: int, content: Callable[[bytes], object] = bytes.strip) -> int:
        """Return the number of the line of a row; lines without content are no rows."""
        return [number for number, line in self.lines() if content(line)][row]


class Lines:
    """The lines of a file, one at a time or in blocks; never the whole text at once.

    With an encoding its text is read in that one, one line at a time, and lines are in UTF-8.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        limits: Limits | None = None,
        encoding: str | None = None,
    ) -> None:
        self._stream = opened(path, limits)
        self.path, self._encoding = Path(path), encoding
        if encoding is not None:
            self._text = io.TextIOWrapper(self._stream, encoding, newline="\n")
        self.number = 0  # of the line read last
        self._next = b""

    def __enter__(self) -> "Lines":
        try:
            self._next = self._read_line().removeprefix(_BYTE_ORDER_MARK)
        except BaseException:
            self._stream.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def line(self) -> bytes | None:
        """Return the next line without its newline; None at the end."""
        text, self._next = self._next or self._read_line(), b""
        if not text:
            return None
        self.number += 1
        return text.removesuffix(b"\n")

    def push_back(self, line: bytes) -> None:
        """Make `line`, the one read last, the next one again."""
        self._next = line + b"\n"
        self.number -= 1

    def blocks(self) -> Iterator[LineBlock]:
        """Yield the rest, in blocks of about a hundred kilobytes."""
        rest, self._next = self._next, b""
        while chunk := self._stream.read(max(_CHUNK, len(rest))):
            end = chunk.rfind(b"\n") + 1
            if not end:
                rest += chunk
                self._check_length(rest)
                continue
            yield self._block(rest + chunk[:end])
            rest = chunk[end:]
        if rest:
            yield self._block(rest.removesuffix(b"\n") + b"\n")

    def _block(self, text: bytes) -> LineBlock:
        block = LineBlock(text, self.number + 1)
        self.number += text.count(b"\n")
        return block

    def _read_line(self) -> bytes:
        if self._encoding is None:
            text = self._stream.readline(_LONGEST_LINE + 1)
        else:
            try:
                text = self._text.readline(_LONGEST_LINE + 1).encode()
            except UnicodeError as error:
                raise DataFileError(
                    self.path,
                    f"its text must be in the encoding that was asked for, {self._encoding!r}, "
                    f"but cannot be read so ({error}). Pass another encoding (--encoding on the "
                    "command line).",
                ) from error
        self._check_length(text)
        return text

    def _check_length(self, line: bytes) -> None:
        if len(line) > _LONGEST_LINE:
            raise DataFileError(
                self.path,
                f"a line may hold {_LONGEST_LINE} bytes, but this one is longer. Check that the "
                "file is text.",
                line=self.number + 1,
            )


def decoded(text: bytes) -> str:
    """Return the text in UTF-8, or in Latin-1, which fits any bytes."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")
