"""Predicted labels as a table: a row for each row of the data, with names and scores."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from compactlearn.core._optional import require
from compactlearn.core._params import nearest
from compactlearn.core._spreadsheet import csv_line
from compactlearn.datasets._formats.index_value import number

__all__ = ["PREDICTION_FORMATS", "Ranked", "write_predictions"]

#: Of each row the labels, best first, each with its score.
Ranked = Sequence[Sequence[tuple[str, float]]]


def write_predictions(
    stream: BinaryIO,
    rows: Ranked,
    *,
    format: str = "csv",
    label_names: Sequence[str] = (),
    sep: str = ";",
    k: int | None = None,
    kept: Mapping[str, Sequence[Any]] | None = None,
    digits: int | None = None,
    raw_cells: bool = False,
) -> None:
    """Write labels and scores.

    Parameters
    ----------
    stream : binary file
        What is written to.
    rows : list of list of (str, float)
        Of each row the labels, best first, each with its score.
    format : {"csv", "tsv", "jsonl", "parquet", "xmlrepo"}
        CSV and TSV have the columns row, labels and scores, the last two with `sep` between the
        labels, or where `k` is given label_1, score_1 and so on. JSON lines have an object with a
        list of labels in each line, Parquet (extra "data") lists of names and of scores. Text of
        the extreme-classification repository has "rows labels" in the first line, and then
        "column:score" for each label.
    label_names : list of str
        The names of all labels in the order of their columns; for "xmlrepo".
    sep : str
        Between the labels of a row in CSV and TSV.
    k : int, optional
        How many labels a row has at most, and so how many columns CSV and TSV have for them.
    kept : mapping from str to sequence, optional
        Further columns by name, with a value for each row; they come after "row". Not for
        "xmlrepo".
    digits : int, optional
        Significant digits of the scores; by default all, so that every number is read back bit by
        bit.
    raw_cells : bool
        Whether texts in CSV and TSV that begin with =, +, -, @, a tab or a carriage return, and are
        no numbers, are written as they are. By default an apostrophe precedes them, so that no
        spreadsheet takes them for formulas.

    Examples
    --------
    >>> import io
    >>> found = [[("food", 0.9), ("bread", 0.75)], []]
    >>> shown = io.BytesIO()
    >>> write_predictions(shown, found)
    >>> print(shown.getvalue().decode().rstrip())
    row,labels,scores
    0,food;bread,0.9;0.75
    1,,
    >>> shown = io.BytesIO()
    >>> write_predictions(shown, found, format="jsonl")
    >>> print(shown.getvalue().decode().splitlines()[1])
    {"row": 1, "labels": []}
    """
    if format not in PREDICTION_FORMATS:
        raise ValueError(
            f"Predictions are written as {', '.join(PREDICTION_FORMATS)}, and format is "
            f"{format!r}; pass one of these.{nearest(format, PREDICTION_FORMATS)}"
        )
    if digits is not None:
        rows = [[(name, float(f"{score:.{digits}g}")) for name, score in row] for row in rows]
    kept = kept or {}
    _check_kept(kept, len(rows), format, k)
    if format in _DELIMITERS:
        _write_delimited(stream, rows, _DELIMITERS[format], sep, k, kept, raw=raw_cells)
    else:
        _WRITERS[format](stream, rows, label_names, kept)


def _check_kept(kept: Mapping[str, Sequence[Any]], n_rows: int, format: str, k: int | None) -> None:
    if kept and format == "xmlrepo":
        raise ValueError(
            "xmlrepo has labels and scores only, and columns are to be kept "
            f"({', '.join(kept)}); write CSV, JSON lines or Parquet, or keep none."
        )
    own = _headings(k) if format in _DELIMITERS else _headings(None)
    for name, values in kept.items():
        if name in own:
            raise ValueError(
                f"The table of predictions has a column {name!r} of its own, and one of that name "
                "is to be kept; leave it out, or rename it in the data."
            )
        if len(values) != n_rows:
            raise ValueError(
                f"A kept column must have a value for each of the {n_rows} rows, and {name!r} has "
                f"{len(values)}; pass as many."
            )


def _write_delimited(
    stream: BinaryIO,
    rows: Ranked,
    delimiter: str,
    sep: str,
    k: int | None,
    kept: Mapping[str, Sequence[Any]],
    *,
    raw: bool,
) -> None:
    row_heading, *headings = _headings(k)
    lines: list[list[Any]] = [[row_heading, *kept, *headings]]
    for place, row in enumerate(rows):
        own = [_cell(values[place]) for values in kept.values()]
        lines.append([place, *own, *(_joined(row, sep) if k is None else _ranks(row, k))])
    for line in lines:
        stream.write(csv_line(line, delimiter, raw=raw).encode())


def _headings(k: int | None) -> list[str]:
    if k is None:
        return ["row", "labels", "scores"]
    return ["row", *(f"{what}_{rank}" for rank in range(1, k + 1) for what in ("label", "score"))]


def _cell(value: Any) -> Any:
    """Return the text of a cell for a value of JSON or Parquet."""
    if value is None:
        return ""
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value


def _joined(row: Sequence[tuple[str, float]], sep: str) -> list[Any]:
    for name, _ in row:
        if sep in name:
            raise ValueError(
                f"The labels of a row are written with {sep!r} between them, and {name!r} has that "
                "in its name; pass another sep (--sep on the command line), or write JSON lines."
            )
    scores = sep.join(repr(float(score)) for _, score in row)
    return [sep.join(name for name, _ in row), _Numbers(scores)]


class _Numbers:
    """Several numbers in a cell, which is no text, though it may begin with a minus."""

    def __init__(self, joined: str) -> None:
        self.joined = joined

    def __str__(self) -> str:
        return self.joined


def _ranks(row: Sequence[tuple[str, float]], k: int) -> list[Any]:
    cells: list[Any] = [cell for name, score in row[:k] for cell in (name, float(score))]
    return [*cells, *[""] * (2 * k - len(cells))]


def _json_lines(
    stream: BinaryIO, rows: Ranked, _names: Sequence[str], kept: Mapping[str, Sequence[Any]]
) -> None:
    for place, row in enumerate(rows):
        labels = [{"name": name, "score": float(score)} for name, score in row]
        own = {name: _json_value(values[place]) for name, values in kept.items()}
        record = {"row": place, **own, "labels": labels}
        text = json.dumps(record, ensure_ascii=False, default=str)
        stream.write(text.encode(errors="replace") + b"\n")


def _json_value(value: Any) -> Any:
    """The value; JSON has no word for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _parquet(
    stream: BinaryIO, rows: Ranked, _names: Sequence[str], kept: Mapping[str, Sequence[Any]]
) -> None:
    arrow = require("pyarrow", extra="data", purpose="writing Parquet")
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    columns = {
        "row": arrow.array(range(len(rows)), arrow.int64()),
        **{name: _arrow_column(values, arrow) for name, values in kept.items()},
        "labels": arrow.array(
            [[name for name, _ in row] for row in rows], arrow.list_(arrow.string())
        ),
        "scores": arrow.array(
            [[float(score) for _, score in row] for row in rows], arrow.list_(arrow.float64())
        ),
    }
    parquet.write_table(arrow.table(columns), stream, compression="zstd")


def _arrow_column(values: Sequence[Any], arrow: Any) -> Any:
    """The values with the type that they have in common; as texts if they have none."""
    try:
        return arrow.array(values)
    except arrow.ArrowException:
        return arrow.array([None if value is None else str(_cell(value)) for value in values])


def _columns_and_scores(
    stream: BinaryIO, rows: Ranked, names: Sequence[str], _kept: Mapping[str, Sequence[Any]]
) -> None:
    place = {name: column for column, name in enumerate(names)}
    stream.write(f"{len(rows)} {len(names)}\n".encode())
    for row in rows:
        line = " ".join(f"{place[name]}:{number(score)}" for name, score in row)
        stream.write(line.encode() + b"\n")


_DELIMITERS = {"csv": ",", "tsv": "\t"}
_WRITERS: dict[str, Callable[..., None]] = {
    "jsonl": _json_lines,
    "parquet": _parquet,
    "xmlrepo": _columns_and_scores,
}
PREDICTION_FORMATS = (*_DELIMITERS, *_WRITERS)
