"""Reading stored records, until `compactlearn.records.store` has the same function."""

from __future__ import annotations

import lzma
import warnings
from collections.abc import Iterator
from pathlib import Path

from compactlearn.records import Record, RecordError

__all__ = ["open_records"]


def open_records(path: Path) -> Iterator[Record]:
    """Every record of a folder (cells/*.json) or of a packed file (*.jsonl.xz), in a fixed order.

    One that cannot be read is left out with a warning that names it.
    """
    if path.is_dir():
        yield from _from_folder(path)
    elif path.is_file():
        yield from _from_packed(path)
    else:
        raise ValueError(
            f"Records are read from a folder with cells/*.json or from a *.jsonl.xz file, and "
            f"{path} does not exist; give one that does."
        )


def _from_folder(folder: Path) -> Iterator[Record]:
    for file in sorted(folder.glob("cells/*.json")):
        try:
            yield Record.from_json(file.read_bytes())
        except (RecordError, OSError) as error:
            warnings.warn(_left_out(str(file), error), stacklevel=2)


def _from_packed(file: Path) -> Iterator[Record]:
    try:
        with lzma.open(file, "rb") as stream:
            for number, text in enumerate(stream, start=1):
                try:
                    yield Record.from_json(text)
                except RecordError as error:
                    warnings.warn(_left_out(f"{file}, line {number}", error), stacklevel=2)
    except (lzma.LZMAError, EOFError) as error:
        warnings.warn(_left_out(f"{file}, or the rest of it,", error), stacklevel=2)


def _left_out(what: str, why: Exception) -> str:
    return f"{what} is left out, because {str(why).rstrip('.')}."
