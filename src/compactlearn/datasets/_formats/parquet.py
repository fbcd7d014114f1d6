"""Parquet tables, read and written through pyarrow."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from compactlearn.core._atomic import atomic
from compactlearn.core._optional import require
from compactlearn.datasets._dataset import DataFileError, Dataset, as_dense, short
from compactlearn.datasets._formats.columns import AnyLabels, split_columns
from compactlearn.datasets._parsing.assemble import LabelledPart, table_parts
from compactlearn.datasets._parsing.lines import Limits, present

_KEY = b"compactlearn"
_BATCH = 1 << 20  # cells: eight megabytes of float64
_ROWS = 1 << 12  # of texts, decoded at once


def parquet_parts(
    path: str | os.PathLike[str],
    size: int | None,
    labels: AnyLabels = None,
    *,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or fewer, or all of them (None)."""
    path = present(path)
    with open_parquet(path) as stored:
        schema, n_rows = stored.schema_arrow, stored.metadata.num_rows
        (limits or Limits()).check(path, 8 * n_rows * len(schema.names), path.stat().st_size)
        step = size or max(1, _BATCH // max(1, len(schema.names)))
        seen = 0
        for part in _parts(path, schema, stored.iter_batches(step), size, labels, ignore):
            seen += part.X.shape[0]
            yield part
    if seen != n_rows:
        raise DataFileError(path, f"it promises {n_rows} rows, but holds {seen}.")


@contextmanager
def open_parquet(path: Path, as_dictionary: Sequence[str] = ()) -> Iterator[Any]:
    """Open a Parquet file, and raise the errors of pyarrow as DataFileError.

    The columns of the paths ``as_dictionary`` are read without repeating equal values.
    """
    parquet = require("pyarrow.parquet", extra="data", purpose="reading Parquet")
    with (
        _arrow_errors(path, "Parquet"),
        parquet.ParquetFile(
            path,
            memory_map=False,
            read_dictionary=list(as_dictionary),
            thrift_string_size_limit=1 << 26,
            thrift_container_size_limit=1 << 22,
        ) as stored,
    ):
        yield stored


@contextmanager
def _arrow_errors(path: Path, what: str) -> Iterator[None]:
    arrow = require("pyarrow", extra="data", purpose=f"reading {what}")
    try:
        yield
    except (arrow.ArrowException, OSError, MemoryError, UnicodeDecodeError, OverflowError) as error:
        reason = short(str(error).strip().splitlines()[0] if str(error).strip() else "no reason")
        raise DataFileError(
            path, f"it cannot be read as {what} ({reason}). Check that it is whole."
        ) from error


def arrow_parts(
    path: str | os.PathLike[str],
    size: int | None,
    labels: AnyLabels = None,
    *,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield rows of an Arrow (Feather) file; needs the extra "data" (pyarrow)."""
    path = present(path)
    arrow = require("pyarrow", extra="data", purpose="reading Arrow files")
    ipc = require("pyarrow.ipc", extra="data", purpose="reading Arrow files")
    with _arrow_errors(path, "Arrow"), arrow.memory_map(os.fspath(path), "r") as source:
        stored = ipc.open_file(source)
        batches = (stored.get_batch(place) for place in range(stored.num_record_batches))
        step = size or max(1, _BATCH // max(1, len(stored.schema.names)))
        sliced = (
            batch.slice(start, step) for batch in batches for start in range(0, len(batch), step)
        )
        yield from _parts(path, stored.schema, sliced, size, labels, ignore)


def parquet_rows(
    path: Path, columns: Sequence[str], limits: Limits | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file with columns of any type, as dictionaries.

    A few bytes can stand for a long text in a million rows. So texts are read as indices of
    different values, and counted before they are decoded.
    """
    limits, stored_bytes = limits or Limits(), path.stat().st_size
    with open_parquet(path) as stored:
        leaves = [stored.schema.column(place) for place in range(len(stored.schema))]
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    with open_parquet(path, texts) as stored:
        limits.check(path, _encoded_bytes(stored.metadata, columns), stored_bytes)
        decoded = 0
        for batch in _batches(stored, columns):
            decoded += sum(_decoded_bytes(column) for column in batch.columns)
            limits.check(path, decoded, stored_bytes)
            yield from batch.to_pylist()


def _batches(stored: Any, columns: Sequence[str]) -> Iterator[Any]:
    """Yield some rows at a time; pyarrow cannot join lists of different row groups."""
    for group in range(stored.metadata.num_row_groups):
        yield from stored.iter_batches(
            _ROWS, row_groups=[group], columns=list(columns), use_threads=False
        )


def _encoded_bytes(metadata: Any, columns: Sequence[str]) -> int:
    """Return the size of some columns before they are decoded, eight bytes for each value."""
    groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
    chunks = (group.column(place) for group in groups for place in range(group.num_columns))
    chosen = [chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns]
    return sum(8 * chunk.num_values + chunk.total_uncompressed_size for chunk in chosen)


def _decoded_bytes(column: Any) -> int:
    """Return the size of a column once equal values are repeated, eight bytes for each value."""
    if hasattr(column, "dictionary"):  # of texts or bytes, since nothing else was read as one
        compute = require("pyarrow.compute", extra="data", purpose="reading Parquet")
        sizes = compute.binary_length(column.dictionary).take(column.indices)
        return 8 * len(column) + (compute.sum(sizes).as_py() or 0)
    if hasattr(column, "keys"):  # a map
        return 8 * len(column) + _decoded_bytes(column.keys) + _decoded_bytes(column.items)
    if hasattr(column, "flatten") and column.type.num_fields:
        found = column.flatten()
        parts = found if isinstance(found, list) else [found]
        return 8 * len(column) + sum(map(_decoded_bytes, parts))
    return 8 * len(column) + column.nbytes


def rows_stored(path: Path) -> int:
    """Return how many rows a Parquet file says it has."""
    with open_parquet(path) as stored:
        return stored.metadata.num_rows


def _parts(
    path: Path,
    schema: Any,
    batches: Iterable[Any],
    size: int | None,
    labels: AnyLabels,
    ignore: Sequence[str],
) -> Iterator[LabelledPart]:
    arrow = require("pyarrow", extra="data", purpose="reading Parquet")
    note = _note(path, schema)
    labels = note.get("n_labels") if labels is None else labels
    feature_columns, label_columns = split_columns(path, schema.names, labels, ignore)
    wanted = sorted(int(column) for column in [*feature_columns, *label_columns])
    for field in map(schema.field, wanted):
        kind, types = field.type, arrow.types
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise DataFileError(
                path,
                f"a column must hold numbers, but {field.name!r} is of type "
                f"{short(str(kind))!r}. Name it in ignore, convert it first, or pass fit "
                "--categories auto on the command line.",
            )
    blocks = ((_values(batch, wanted, arrow), None) for batch in batches)
    for part in table_parts(path, schema.names, feature_columns, label_columns, blocks, size):
        yield replace(part, name=note.get("name"))


def _values(batch: Any, wanted: list[int], arrow: Any) -> np.ndarray:
    values = np.zeros((batch.num_rows, batch.num_columns))
    for place in wanted:
        column = batch.column(place)
        if column.null_count:
            column = column.cast(arrow.float64(), safe=False)
        values[:, place] = column.to_numpy(zero_copy_only=False)
    return values


def _note(path: Path, schema: Any) -> dict[str, Any]:
    """Return the number of labels and the name that `write_parquet` stored in the file."""
    text = (schema.metadata or {}).get(_KEY)
    if text is None:
        return {}
    try:
        note = json.loads(text)
    except (ValueError, RecursionError):
        note = None
    kinds = {"n_labels": int, "name": str}
    if not isinstance(note, dict) or any(type(note.get(k)) is not t for k, t in kinds.items()):
        raise DataFileError(path, "the note of compactlearn in its metadata is damaged.")
    return note


def write_parquet(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a Parquet file, whole or not at all; needs the extra "data" (pyarrow).

    Features come first, as float64, labels last, as int8. Columns without names are called x0,
    x1, ... and y0, y1, ...

    Parameters
    ----------
    dataset : Dataset
        Data set to write.
    path : str or path
        The file; one of that name is replaced.
    """
    arrow = require("pyarrow", extra="data", purpose="writing Parquet")
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    names = [
        *(dataset.feature_names or [f"x{j}" for j in range(dataset.n_features)]),
        *(dataset.label_names or [f"y{j}" for j in range(dataset.n_labels)]),
    ]
    note = {"n_labels": -dataset.n_labels, "name": dataset.name}
    kinds = [arrow.float64()] * dataset.n_features + [arrow.int8()] * dataset.n_labels
    schema = arrow.schema(
        list(zip(names, kinds, strict=True)), metadata={_KEY: json.dumps(note).encode()}
    )
    step = max(1, 16 * _BATCH // len(names))
    with (
        atomic(Path(path)) as stream,
        parquet.ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        for start in range(0, dataset.n_samples, step):
            X, Y = (as_dense(matrix[start : start + step]) for matrix in (dataset.X, dataset.Y))
            arrays = [arrow.array(np.ascontiguousarray(column)) for column in X.T]
            arrays += [arrow.array(column.astype(np.int8)) for column in Y.T]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
