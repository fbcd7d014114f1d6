"""Which columns of a table are labels, which features: one rule for every format with names."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compactlearn.core._params import nearest
from compactlearn.datasets._errors import DataFileError
from compactlearn.datasets._formats.label_file import read_label_names

__all__ = ["AnyLabels", "KnownColumns", "Labels", "is_xml", "split_columns"]


@dataclass(frozen=True)
class KnownColumns:
    """The columns that a model knows. Others of a table are left out, and labels may be absent.

    Parameters
    ----------
    features : tuple of str or None
        Names of the columns of X; None where there are none, and every column that is no label is
        a feature.
    labels : tuple of str
        Names of the labels, as far as they have names.
    """

    features: tuple[str, ...] | None
    labels: tuple[str, ...] = ()

    def split(self, names: Sequence[str], ignore: Sequence[str]) -> tuple[list[int], list[int]]:
        """Positions of the features and of the labels among the columns of a table."""
        labels, left_out = set(self.labels), set(ignore)
        label_columns = [j for j, n in enumerate(names) if n in labels and n not in left_out]
        others = [j for j, n in enumerate(names) if n not in labels and n not in left_out]
        if self.features is None:
            return others, label_columns
        # A column with several values is called "name=value" in X.
        wanted = {*self.features, *(f.rpartition("=")[0] for f in self.features if "=" in f)}
        return [j for j in others if names[j] in wanted], label_columns


#: What a user says of the labels, and what a reader is told.
Labels = str | os.PathLike[str] | int | Sequence[str] | None
AnyLabels = Labels | KnownColumns
_PACKED = (".xz", ".bz2", ".gz")


def split_columns(
    path: Path,
    names: Sequence[str],
    labels: AnyLabels,
    ignore: Sequence[str] = (),
    *,
    unescape: Callable[[str], str] = str,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the feature columns and of the label columns, both ascending.

    Parameters
    ----------
    path : path
        The table, for messages.
    names : list of str
        One per column of the table; a name may occur twice.
    labels : path, str, list of str, int or KnownColumns
        A Mulan XML file, a prefix of names, names, or a count from the front (n > 0) or from the
        end (n < 0). A string is a file if it ends in .xml (or .xml.gz and so on). Or what a model
        knows: then there may be no label column.
    ignore : list of str
        Columns that are neither.
    unescape : callable
        Applied to a name of the XML file that no column has as it stands.
    """
    if isinstance(labels, KnownColumns):
        features, present = labels.split(names, ignore)
        return np.array(features, dtype=np.intp), np.array(present, dtype=np.intp)
    known: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        known.setdefault(name, []).append(column)
    is_label = np.zeros(len(names), dtype=bool)
    is_label[_label_columns(path, names, known, labels, unescape)] = True
    ignored = np.zeros_like(is_label)
    ignored[_columns_of(path, known, ignore, "ignore")] = True
    label_columns = np.flatnonzero(is_label & ~ignored)
    if not label_columns.size:
        raise DataFileError(path, "no label column is left. Name fewer columns in ignore.")
    return np.flatnonzero(~is_label & ~ignored), label_columns


def _label_columns(
    path: Path,
    names: Sequence[str],
    known: dict[str, list[int]],
    labels: Labels,
    unescape: Callable[[str], str],
) -> list[int]:
    if labels is None:
        raise DataFileError(
            path,
            "it does not say which columns are labels. Pass labels (--labels on the command line): "
            "a list of names, a prefix of their names, a count, or a Mulan XML file.",
        )
    if isinstance(labels, int | np.integer) and not isinstance(labels, bool):
        return _counted_columns(path, len(names), int(labels))
    if isinstance(labels, os.PathLike) or (isinstance(labels, str) and is_xml(labels)):
        listed = [n if n in known else unescape(n) for n in read_label_names(labels)]
        return _columns_of(path, known, listed, f"labels={os.fspath(labels)!r}")
    if isinstance(labels, str) and labels:
        return _prefixed_columns(path, names, labels)
    if isinstance(labels, Iterable) and not isinstance(labels, str | bytes):
        listed = list(labels)
        if listed and all(isinstance(name, str) for name in listed):
            return _columns_of(path, known, listed, "labels")
    raise TypeError(
        "labels must be the path of a Mulan XML file, a list of label names, a prefix of label "
        "names, or a count (n > 0 the first n columns, n < 0 the last); None where the file itself "
        f"says; got {labels!r}. Pass one of these."
    )


def is_xml(text: str) -> bool:
    """Whether a string is the name of an XML file, compressed or not."""
    lower = text.lower()
    for ending in _PACKED:
        lower = lower.removesuffix(ending)
    return lower.endswith(".xml")


def _counted_columns(path: Path, total: int, count: int) -> list[int]:
    if total < 2:
        raise DataFileError(
            path,
            f"features and labels need two columns or more, and the file has {total}; check that "
            "it is whole.",
        )
    if not 0 < abs(count) < total:
        raise DataFileError(
            path,
            f"as a count, labels must be between 1 and {total - 1} (from the front) or between "
            f"-{total - 1} and -1 (from the end), since the file has {total} columns; got "
            f"{count}. Pass the number of label columns.",
        )
    return list(range(count) if count > 0 else range(total + count, total))


def _prefixed_columns(path: Path, names: Sequence[str], prefix: str) -> list[int]:
    found = [column for column, name in enumerate(names) if name.startswith(prefix)]
    if not found:
        raise DataFileError(
            path,
            f"labels={prefix!r} is taken for a prefix of label names, but no column's name starts "
            "with it. Pass the prefix of some, a list of names, a count, or an .xml file.",
        )
    return found


def _columns_of(
    path: Path, known: dict[str, list[int]], names: Sequence[str], asked_by: str
) -> list[int]:
    if isinstance(names, str):
        raise TypeError(
            f"{asked_by} must be a list of column names, got the string {names!r}; pass "
            f"[{names!r}]."
        )
    columns = []
    for name in names:
        found = known.get(name, [])
        if len(found) != 1:
            fault = f"{len(found)} columns have" if found else "no column has"
            raise DataFileError(
                path,
                f"each name in {asked_by} must be that of exactly one column, but {fault} the "
                f"name {name!r}; correct it, or go by position (a count)."
                f"{'' if found else nearest(name, known)}",
            )
        columns += found
    return columns
