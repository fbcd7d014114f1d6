"""Predicted labels as a table: a row for each row of the data, with names and scores."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from compactlearn.core.optional import require
from compactlearn.core.params import nearest
from compactlearn.datasets.formats.xmlrepo import number

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
) -> None:
    """Write labels and scores; every number is read back bit by bit.

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

    Examples
    --------
    >>> import sys
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
    if format not in _WRITERS:
        raise ValueError(
            f"Predictions are written as {', '.join(PREDICTION_FORMATS)}, and format is "
            f"{format!r}; pass one of these.{nearest(format, PREDICTION_FORMATS)}"
        )
    _WRITERS[format](stream, rows, label_names, sep, k)


def _delimited(delimiter: str) -> Callable[..., None]:
    def write(
        stream: BinaryIO, rows: Ranked, _names: Sequence[str], sep: str, k: int | None
    ) -> None:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        try:
            table = csv.writer(text, delimiter=delimiter, lineterminator="\n")
            table.writerow(_headings(k))
            for place, row in enumerate(rows):
                table.writerow([place, *(_joined(row, sep) if k is None else _ranks(row, k))])
        finally:
            text.detach()  # the stream stays open for its owner

    return write


def _headings(k: int | None) -> list[str]:
    if k is None:
        return ["row", "labels", "scores"]
    return ["row", *(f"{what}_{rank}" for rank in range(1, k + 1) for what in ("label", "score"))]


def _joined(row: Sequence[tuple[str, float]], sep: str) -> tuple[str, str]:
    for name, _ in row:
        if sep in name:
            raise ValueError(
                f"The labels of a row are written with {sep!r} between them, and {name!r} has that "
                "in its name; pass another sep (--sep on the command line), or write JSON lines."
            )
    return sep.join(name for name, _ in row), sep.join(repr(float(score)) for _, score in row)


def _ranks(row: Sequence[tuple[str, float]], k: int) -> Iterable[str]:
    cells = [cell for name, score in row[:k] for cell in (name, repr(float(score)))]
    return [*cells, *[""] * (2 * k - len(cells))]


def _json_lines(
    stream: BinaryIO, rows: Ranked, _names: Sequence[str], _sep: str, _k: int | None
) -> None:
    for place, row in enumerate(rows):
        labels = [{"name": name, "score": float(score)} for name, score in row]
        text = json.dumps({"row": place, "labels": labels}, ensure_ascii=False)
        stream.write(text.encode() + b"\n")


def _parquet(
    stream: BinaryIO, rows: Ranked, _names: Sequence[str], _sep: str, _k: int | None
) -> None:
    arrow = require("pyarrow", extra="data", purpose="writing Parquet")
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    columns = {
        "row": arrow.array(range(len(rows)), arrow.int64()),
        "labels": arrow.array(
            [[name for name, _ in row] for row in rows], arrow.list_(arrow.string())
        ),
        "scores": arrow.array(
            [[float(score) for _, score in row] for row in rows], arrow.list_(arrow.float64())
        ),
    }
    parquet.write_table(arrow.table(columns), stream, compression="zstd")


def _columns_and_scores(
    stream: BinaryIO, rows: Ranked, names: Sequence[str], _sep: str, _k: int | None
) -> None:
    place = {name: column for column, name in enumerate(names)}
    stream.write(f"{len(rows)} {len(names)}\n".encode())
    for row in rows:
        line = " ".join(f"{place[name]}:{number(score)}" for name, score in row)
        stream.write(line.encode() + b"\n")


_WRITERS: dict[str, Callable[..., None]] = {
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "jsonl": _json_lines,
    "parquet": _parquet,
    "xmlrepo": _columns_and_scores,
}
PREDICTION_FORMATS = tuple(_WRITERS)
