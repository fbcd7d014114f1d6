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
from compactlearn.datasets._dataset import DataFileError
from compactlearn.datasets._parsing.lines import opened, plain_ending

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class KnownColumns:
    """The columns that a model knows. Others of a table are left out, and labels may be absent.

    Without names of features every column that is no label is one.
    """

    features: tuple[str, ...] | None
    labels: tuple[str, ...] = ()


#: The labels as a user describes them, and as a reader gets them.
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
    """Return the positions of the feature columns and of the label columns, both ascending.

    ``labels`` is a Mulan XML file (as a string it ends in .xml, or .xml.gz and so on), a prefix of
    names, names, a count from the front (n > 0) or from the end (n < 0), or the columns of a model.
    ``unescape`` is applied to a name of the XML file that is not the name of a column unchanged.
    """
    if isinstance(labels, KnownColumns):
        return _columns_of_model(names, labels, set(ignore))
    known: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        known.setdefault(name, []).append(column)
    is_label, ignored = np.zeros((2, len(names)), dtype=bool)
    is_label[_label_columns(path, names, known, labels, unescape)] = True
    ignored[_columns_of(path, known, ignore, "ignore")] = True
    label_columns = np.flatnonzero(is_label & ~ignored)
    if not label_columns.size:
        raise DataFileError(path, "no label column is left. Name fewer columns in ignore.")
    return np.flatnonzero(~is_label & ~ignored), label_columns


def _columns_of_model(
    names: Sequence[str], known: KnownColumns, ignore: set[str]
) -> tuple[np.ndarray, np.ndarray]:
    labels = set(known.labels) - ignore
    features = set(names if known.features is None else known.features) - labels - ignore
    places = ([j for j, name in enumerate(names) if name in kept] for kept in (features, labels))
    feature_columns, label_columns = (np.array(place, dtype=np.intp) for place in places)
    return feature_columns, label_columns


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
        total, count = len(names), int(labels)
        if not 0 < abs(count) < total:
            raise DataFileError(
                path,
                f"as a count, labels must be from 1 to {total - 1} (from the front) or from "
                f"-{total - 1} to -1 (from the end), since the file has {total} columns; got "
                f"{count}. Pass the number of label columns.",
            )
        return list(range(count) if count > 0 else range(total + count, total))
    if isinstance(labels, os.PathLike) or (isinstance(labels, str) and is_xml(labels)):
        listed = [n if n in known else unescape(n) for n in read_label_names(labels)]
        return _columns_of(path, known, listed, f"labels={os.fspath(labels)!r}")
    if isinstance(labels, str) and labels:
        found = [column for column, name in enumerate(names) if name.startswith(labels)]
        if not found:
            raise DataFileError(
                path,
                f"labels={labels!r} is read as a prefix of label names, but no column's name "
                "starts with it. Pass the prefix of some, a list of names, a count, or an .xml "
                "file.",
            )
        return found
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


def _columns_of(
    path: Path, known: dict[str, list[int]], names: Sequence[str], asked_by: str
) -> list[int]:
    if isinstance(names, str):
        raise TypeError(
            f"{asked_by} must be a list of column names, got the string {names!r}; pass "
            f"[{names!r}]."
        )
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
    return [known[name][0] for name in names]


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names in a Mulan label file, nested labels included, in the order of the file."""
    names: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        # With a separator given, expat writes namespace, separator and tag into one string.
        if tag.rpartition(" ")[2] == "label" and "name" in attributes:
            names.append(attributes["name"])

    def refuse_document_type(*_: object) -> None:
        # Entities can be declared in a document type only. Without one nothing can expand
        # (no "billion laughs") and nothing outside this file can be referred to.
        raise ValueError("it declares a document type (<!DOCTYPE ...>)")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse_document_type
    reason = "it has none of these"
    try:
        with opened(path) as stream:
            parser.Parse(stream.read(), True)
    except DataFileError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # or an unknown encoding
        names, reason = [], str(error)
    if not names:
        raise DataFileError(
            path,
            'a Mulan label file must be plain XML with <label name="..."> elements and no document '
            f"type, but {reason}. Give another file, a list of label names, or a count of label "
            "columns.",
            line=parser.CurrentLineNumber,
        )
    return names


def write_label_names(names: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write a Mulan label file; raise ValueError for a character that XML cannot hold."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append('<labels xmlns="http://mulan.sourceforge.net/labels">')
    lines += [f"<label name={quoteattr(writable(name))}></label>" for name in names]
    lines.append("</labels>")
    with atomic(Path(path)) as stream:
        stream.write("\n".join(lines).encode() + b"\n")


def writable(name: str) -> str:
    """Return the name; raise ValueError for control characters and halves of surrogate pairs."""
    found = _UNWRITABLE.search(name)
    if found is not None:
        raise ValueError(
            f"A name in a file must be made of characters that XML knows, but {name!r} holds "
            f"{found[0]!r}; rename that column first."
        )
    return name
