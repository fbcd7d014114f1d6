"""Tables with columns of numbers and of categories, and with missing values."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._params import nearest
from compactlearn.datasets._dataset import DataFileError, short
from compactlearn.datasets._formats.columns import KnownColumns, Labels, split_columns
from compactlearn.datasets._formats.delimited import number_of
from compactlearn.datasets._formats.texts import read_columns, tags_of
from compactlearn.datasets._parsing.assemble import stem

_Table = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class MixedColumns:
    """The columns of a table of numbers and categories that a model was fitted to."""

    features: tuple[str, ...]
    categories: tuple[str, ...]  # those of them that hold categories
    labels: tuple[str, ...] = ()  # columns, or names of tags
    tags: str | None = None  # the column of the tags, where labels are no columns
    sep: str = ";"
    header: bool = True


@dataclass(frozen=True, eq=False)
class MixedTable:
    """Rows of numbers and categories, and their labels as a matrix, or the tags of each row.

    X has objects: floats, NaN where a number is missing, and strings, "" where a category is
    missing. Y is None where labels were not asked for.
    """

    X: np.ndarray
    Y: Any
    columns: MixedColumns
    name: str = "unnamed"

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return self.X.shape[0]

    def missing(self) -> dict[str, int]:
        """Return how many values each column lacks, without those that lack none."""
        found = {
            name: sum(value == "" or value != value for value in self.X[:, j])
            for j, name in enumerate(self.columns.features)
        }
        return {name: count for name, count in found.items() if count}


def read_mixed(
    path: str | os.PathLike[str],
    labels: Labels = None,
    *,
    categories: str | Sequence[str] = "auto",
    tags: str | None = None,
    sep: str = ";",
    ignore: Sequence[str] = (),
    known: MixedColumns | None = None,
    with_labels: bool = True,
    **options: Any,
) -> MixedTable:
    """Read a CSV, TSV, JSON lines or Parquet table whose columns hold numbers or categories.

    Categories are the columns that are named, or with "auto" those with a value that is no number.
    Labels are columns, as in `read`, or names in the column ``tags``. For a fitted model its
    columns are ``known``, which takes the place of all of these. Options are those of `read_texts`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "cars.csv")
    ...     _ = path.write_text("colour,price,is_old\\nred,3,1\\n,,0\\n")
    ...     cars = read_mixed(path, "is_")
    >>> cars.X.tolist(), cars.columns.categories
    ([['red', 3.0], ['', nan]], ('colour',))
    """
    path = Path(path)
    table = read_columns(path, **options)
    if known is None:
        names = list(table)
        asked = KnownColumns(None, (tags,)) if tags is not None else labels
        places, label_places = split_columns(path, names, asked, ignore)
        features = tuple(names[j] for j in places)
        known = MixedColumns(
            features,
            _categories(path, table, features, categories),
            () if tags is not None else tuple(names[j] for j in label_places),
            tags,
            sep,
            options.get("header", True),
        )
    wanted = [*known.features, *([known.tags] if known.tags and with_labels else [])]
    wanted += known.labels if with_labels and known.tags is None else ()
    absent = next((name for name in wanted if name not in table), None)
    if absent is not None:
        raise DataFileError(
            path,
            f"reading it needs a column {absent!r}, but there is none of that name. Give a table "
            f"that has it.{nearest(absent, table)}",
        )
    X = np.empty((len(next(iter(table.values()))), len(known.features)), dtype=object)
    for j, name in enumerate(known.features):
        is_category = name in known.categories
        X[:, j] = [*map(_category, table[name])] if is_category else _numbers(path, name, table)
    return MixedTable(X, _labels(path, table, known) if with_labels else None, known, stem(path))


def _categories(
    path: Path, table: _Table, features: Sequence[str], asked: str | Sequence[str]
) -> tuple[str, ...]:
    if asked == "auto":
        return tuple(n for n in features if any(math.isinf(_number(v)) for v in table[n]))
    for name in asked:
        if name not in features:
            raise DataFileError(
                path,
                f"categories must name columns of features, but none is called {name!r}. Pass some "
                f"of them, or auto.{nearest(name, features)}",
            )
    return tuple(asked)


def _labels(path: Path, table: _Table, columns: MixedColumns) -> Any:
    if columns.tags is not None:
        cells = table[columns.tags]
        return [tags_of(path, cell, columns.tags, columns.sep, None) for cell in cells]
    Y = np.column_stack([_numbers(path, name, table) for name in columns.labels])
    wrong = np.argwhere((Y != 0) & (Y != 1))
    if wrong.size:
        row, column = wrong[0]
        name = columns.labels[column]
        raise DataFileError(
            path,
            f"a label must be 0 or 1 in every row, but {name!r} holds "
            f"{short(repr(table[name][row]))} in row {row}; check which columns are labels.",
        )
    return sparse.csr_array(Y)


def _number(value: Any) -> float:
    """Return the number, NaN if it is missing, infinity if it is none."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        return number_of(value)
    return float(value) if isinstance(value, int | float | np.number) else math.inf


def _numbers(path: Path, name: str, table: _Table) -> np.ndarray:
    values = np.array([_number(value) for value in table[name]])
    wrong = np.flatnonzero(np.isinf(values))
    if wrong.size:
        raise DataFileError(
            path,
            f"the column {name!r} must hold finite numbers, got "
            f"{short(repr(table[name][wrong[0]]))} in row {wrong[0]}. Correct that row, leave the "
            "column out (--ignore on the command line), or name it as one of categories "
            "(--categories).",
        )
    return values


def _category(value: Any) -> str:
    """Return a category as a text, which is empty where it is missing."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
