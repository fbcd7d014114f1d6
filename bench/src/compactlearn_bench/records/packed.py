"""All records in one file, small enough to be committed: JSON lines under xz.

The lines are sorted by the cells' names and nothing else is in the file, so the same records
give the same bytes.
"""

from __future__ import annotations

import io
import lzma
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from compactlearn.utils import atomic, human_bytes
from compactlearn_bench.records.record import Record, RecordError

__all__ = ["LIMITS", "Growth", "read_packed", "write_packed"]


@dataclass(frozen=True)
class Growth:
    """The most that may come out of a compressed file.

    Parameters
    ----------
    ratio : int
        Expanded bytes per stored byte; checked once `free` bytes have come out.
    total : int
        Expanded bytes in all.
    free : int
        So much may come out of any file.
    """

    ratio: int = 1000
    total: int = 1 << 34
    free: int = 1 << 26

    def exceeded(self, expanded: int, stored: int) -> bool:
        """Return whether `expanded` bytes are too many for a file of `stored` bytes.

        Parameters
        ----------
        expanded, stored : int
            Bytes before and after the file was compressed.
        """
        return expanded > self.free and (expanded > self.total or expanded > self.ratio * stored)


#: Thousands of records of large grids expand to some 25 times their packed size.
LIMITS = Growth(ratio=250, total=1 << 32, free=1 << 24)
_CHUNK = 1 << 20


def write_packed(records: Iterable[Record], path: Path) -> int:
    """Write records to one file, whole or not at all; returns how many.

    Of several records of one cell the last is kept.
    """
    lines = {record.cell.name: record.to_json() for record in records}
    text = "".join(f"{lines[name]}\n" for name in sorted(lines))
    with atomic(path) as stream:
        stream.write(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(lines)


def read_packed(path: Path, limits: Growth | None = None) -> Iterator[Record]:
    """The records of a packed file, or a sentence that says where it is damaged.

    A file that expands beyond the limits is refused before its first record is made.
    """
    try:
        with path.open("rb") as stored:
            _check_growth(stored, path, limits or LIMITS)
            stored.seek(0)
            with (
                lzma.LZMAFile(stored) as stream,
                io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as lines,
            ):
                for number, line in enumerate(lines, start=1):
                    yield _record(line, number, path)
    except (lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
        raise RecordError(
            f"The file {path} is not a whole packed file of records ({error}); take an undamaged "
            "copy."
        ) from error
    except OSError as error:
        raise RecordError(
            f"The packed file {path} cannot be read ({error.strerror or error}); name a file that "
            "may be read."
        ) from error


def _check_growth(stored: BinaryIO, path: Path, limits: Growth) -> None:
    """Expand the file once, piece by piece, and keep nothing.

    Whoever asks for records keeps them all, and a line may be as long as the file: to look while
    they are made would be too late.
    """
    size, expanded = os.fstat(stored.fileno()).st_size, 0
    with lzma.LZMAFile(stored) as stream:
        while piece := stream.read(_CHUNK):
            expanded += len(piece)
            if limits.exceeded(expanded, size):
                raise RecordError(
                    f"A packed file of records may expand to {limits.ratio} times its size and to "
                    f"{human_bytes(limits.total)} in all, once it is beyond "
                    f"{human_bytes(limits.free)}, and {path} of {human_bytes(size)} expands to "
                    "more; use the folder of records that it was made of, or, if you trust the "
                    "file, compactlearn_bench.records.open_records with limits=Growth(ratio=..., "
                    "total=...)."
                )


def _record(line: str, number: int, path: Path) -> Record:
    try:
        return Record.from_json(line)
    except RecordError as error:
        raise RecordError(
            f"Line {number} of {path} is not a record: {error}; take an undamaged copy."
        ) from error
