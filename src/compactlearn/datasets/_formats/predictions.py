"""Predicted labels as a table: a row for each row of the data, with names and scores."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from compactlearn.core._optional import require
from compactlearn.core._params import nearest
from compactlearn.core._spreadsheet import csv_line
from compactlearn.datasets._formats.index_value import number

#: The labels of each row, best first, each with its score.
Ranked = Sequence[Sequence[tuple[str, float]]]
PREDICTION_FORMATS = ("csv", "tsv", "jsonl", "parquet", "xmlrepo")
_Kept = Mapping[str, Sequence[Any]]


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
        File to write to.
    rows : list of list of (str, float)
        The labels of each row, best first, each with its score.
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
    is_text = format in ("csv", "tsv")
    kept = kept or {}
    own = ["row", "labels", "scores"]
    if is_text and k is not None:
        own = ["row", *(f"{what}_{j}" for j in range(1, k + 1) for what in ("label", "score"))]
    if (kept and format == "xmlrepo") or set(kept) & set(own):
        raise ValueError(
            f"kept must name columns other than {', '.join(own)}, which the table has of its own, "
            f"and xmlrepo has labels and scores only; got {', '.join(kept)} for {format!r}. Leave "
            "them out, rename them in the data, or write another format."
        )
    rounded = [
        [(name, float(score if digits is None else f"{score:.{digits}g}")) for name, score in row]
        for row in rows
    ]
    if format == "parquet":
        _write_parquet(stream, rounded, kept)
        return
    if is_text:
        cells = _joined(rounded, sep) if k is None else _ranked(rounded, k)
        table = ([place, *_row_of(kept, place).values(), *row] for place, row in enumerate(cells))
        delimiter = "," if format == "csv" else "\t"
        lines = (
            csv_line(map(_cell, line), delimiter, raw=raw_cells)
            for line in ([own[0], *kept, *own[1:]], *table)
        )
    else:
        lines = _json_lines(rounded, kept) if format == "jsonl" else _pairs(rounded, label_names)
    for line in lines:
        stream.write(line.encode(errors="replace"))


def _row_of(kept: _Kept, place: int) -> dict[str, Any]:
    return {name: values[place] for name, values in kept.items()}


def _cell(value: Any) -> Any:
    """Return the cell of a text table for a value of JSON or Parquet."""
    if value is None:
        return ""
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value


class _NumberText:
    """Several numbers in a cell, which is no text, though it may begin with a minus."""

    def __init__(self, joined: str) -> None:
        self.joined = joined

    def __str__(self) -> str:
        return self.joined


def _joined(rows: Ranked, sep: str) -> Iterator[list[Any]]:
    for row in rows:
        for name, _ in row:
            if sep in name:
                raise ValueError(
                    f"The labels of a row are written with {sep!r} between them, and {name!r} has "
                    "that in its name; pass another sep (--sep on the command line), or write JSON "
                    "lines."
                )
        scores = _NumberText(sep.join(repr(score) for _, score in row))
        yield [sep.join(name for name, _ in row), scores]


def _ranked(rows: Ranked, k: int) -> Iterator[list[Any]]:
    for row in rows:
        cells: list[Any] = [cell for pair in row[:k] for cell in pair]
        yield [*cells, *[""] * (2 * k - len(cells))]


def _json_lines(rows: Ranked, kept: _Kept) -> Iterator[str]:
    for place, row in enumerate(rows):
        labels = [{"name": name, "score": score} for name, score in row]
        # JSON has no word for a number that is not finite.
        own = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in _row_of(kept, place).items()
        }
        record = {"row": place, **own, "labels": labels}
        yield json.dumps(record, ensure_ascii=False, default=str) + "\n"


def _pairs(rows: Ranked, names: Sequence[str]) -> Iterator[str]:
    place = {name: column for column, name in enumerate(names)}
    yield f"{len(rows)} {len(names)}\n"
    for row in rows:
        yield " ".join(f"{place[name]}:{number(score)}" for name, score in row) + "\n"


def _write_parquet(stream: BinaryIO, rows: Ranked, kept: _Kept) -> None:
    arrow = require("pyarrow", extra="data", purpose="writing Parquet")
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    names = [[name for name, _ in row] for row in rows]
    scores = [[score for _, score in row] for row in rows]
    columns = {
        "row": arrow.array(range(len(rows)), arrow.int64()),
        **{name: _arrow_column(values, arrow) for name, values in kept.items()},
        "labels": arrow.array(names, arrow.list_(arrow.string())),
        "scores": arrow.array(scores, arrow.list_(arrow.float64())),
    }
    parquet.write_table(arrow.table(columns), stream, compression="zstd")


def _arrow_column(values: Sequence[Any], arrow: Any) -> Any:
    """Return the values with the type that they have in common; as texts if they have none."""
    try:
        return arrow.array(values)
    except arrow.ArrowException:
        return arrow.array([None if value is None else str(_cell(value)) for value in values])
