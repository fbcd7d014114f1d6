"""All records in one file, small enough to be committed: JSON lines under xz.

The lines are sorted by the cells' names and nothing else is in the file, so the same records
give the same bytes.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

from compactlearn.utils import atomic, human_bytes
from compactlearn_bench.records.record import Record, RecordError

__all__ = ["read_packed", "write_packed"]

# Records of large grids expand to some 25 times their packed size. A file from elsewhere may be
# made to expand without end: it is read up to here.
MOST_BYTES = 1 << 30
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


def read_packed(path: Path) -> Iterator[Record]:
    """Yield the records of a packed file, or raise RecordError, which says where it is damaged."""
    try:
        _check_size(path)
        with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
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


def _check_size(path: Path) -> None:
    """Expand the file once, piece by piece, and keep nothing: a line may be as long as the file."""
    expanded = 0
    with lzma.open(path) as stream:
        while piece := stream.read(_CHUNK):
            expanded += len(piece)
            if expanded > MOST_BYTES:
                raise RecordError(
                    f"A packed file of records may expand to {human_bytes(MOST_BYTES)}, and {path} "
                    "expands to more; use the folder of records that it was made of."
                )


def _record(line: str, number: int, path: Path) -> Record:
    try:
        return Record.from_json(line)
    except RecordError as error:
        raise RecordError(
            f"Line {number} of {path} is not a record: {error}; take an undamaged copy."
        ) from error
