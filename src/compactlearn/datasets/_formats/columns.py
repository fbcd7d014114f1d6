"""Which columns of a table are labels, which features: by position, names, or a Mulan XML file."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from compactlearn.core._atomic import atomic
from compactlearn.core._params import nearest
from compactlearn.datasets._errors import DataFileError
from compactlearn.datasets._parsing.unpacking import plain_ending, read_bytes

__all__ = [
    "AnyLabels",
    "KnownColumns",
    "Labels",
    "is_xml",
    "read_label_names",
    "split_columns",
    "writable",
    "write_label_names",
]

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ADVICE = "Give another file, a list of label names, or a count of label columns."


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
    """Return whether a string is the name of an XML file, compressed or not."""
    return plain_ending(text) == ".xml"


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


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """The names in a Mulan label file, nested labels included, in the order of the file.

    Raises
    ------
    DataFileError
        If the file is not well-formed XML, declares a document type, or names no label.
    """
    names: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        # With a separator given, expat writes namespace, separator and tag into one string.
        if tag.rpartition(" ")[2] == "label" and "name" in attributes:
            names.append(attributes["name"])

    def refuse_document_type(*_: object) -> None:
        # Entities can be declared in a document type only. Without one nothing can expand
        # (no "billion laughs") and nothing outside this file can be referred to.
        raise DataFileError(
            path,
            "a label file is plain XML without a document type, but this one declares one. Remove "
            "the <!DOCTYPE ...> part if you trust the file.",
            line=parser.CurrentLineNumber,
        )

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        raise DataFileError(
            path,
            f"label names are read from a Mulan XML file, but this is not well-formed XML "
            f"({expat.ErrorString(error.code)}). {_ADVICE}",
            line=error.lineno,
        ) from error
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(path, f"its XML declares an unknown encoding. {_ADVICE}") from error
    if not names:
        raise DataFileError(
            path,
            f'a Mulan label file must hold <label name="..."> elements, but has none. {_ADVICE}',
        )
    return names


def write_label_names(names: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write a Mulan label file.

    Raises
    ------
    ValueError
        If a name holds a character that XML cannot.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append('<labels xmlns="http://mulan.sourceforge.net/labels">')
    lines += [f"<label name={quoteattr(writable(name))}></label>" for name in names]
    lines.append("</labels>")
    with atomic(Path(path)) as stream:
        stream.write("\n".join(lines).encode() + b"\n")


def writable(name: str) -> str:
    """The name, if a text file can hold it.

    Raises
    ------
    ValueError
        If it has control characters or halves of a surrogate pair.
    """
    found = _UNWRITABLE.search(name)
    if found is not None:
        raise ValueError(
            f"A name in a file must be made of characters that XML knows, but {name!r} holds "
            f"{found[0]!r}; rename that column first."
        )
    return name
