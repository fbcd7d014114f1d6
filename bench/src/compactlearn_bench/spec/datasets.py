"""The data sets of a benchmark: those known by name, and files of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compactlearn.core._params import nearest
from compactlearn.datasets import Dataset, load
from compactlearn.datasets._catalogue.own_sets import Reading, own_name
from compactlearn.datasets._fingerprint import fingerprint
from compactlearn.datasets._formats.columns import is_xml
from compactlearn.datasets._formats.reading import FORMATS
from compactlearn.datasets._parsing.assemble import stem
from compactlearn_bench.spec.values import SpecError

__all__ = ["FILE_KEYS", "OwnFile", "SpecDataset", "file_data", "load_data"]

FILE_KEYS = ("path", "labels", "ignore", "format")


@dataclass(frozen=True)
class OwnFile:
    """A file of the user's, and how it is to be read; the paths are absolute."""

    path: str
    labels: str | int | tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    format: str | None = None

    def read(self) -> Dataset:
        """The data set in it."""
        return Reading(self.labels, self.ignore, self.format).read(Path(self.path))

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> OwnFile:
        """From what JSON has made of it: lists in place of tuples."""
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in found.items()
        }
        return cls(**values)


@dataclass(frozen=True)
class SpecDataset:
    """A data set that takes part.

    Parameters
    ----------
    name : str
    rows : int or None
        How many of its rows; None is all.
    only, without : tuples of str
        Methods, as they are shown.
    file : OwnFile or None
        Where it is read from, if it is a file of the user's.
    content : str or None
        The SHA-256 of its values, if it is the user's own: by a file or by a name. What the library
        knows by name is held to its checksums.
    samples : int or None
        How many rows there are, where that is known.
    folds : int or None
        How many folds; None is as many as the spec has.
    """

    name: str
    rows: int | None = None
    only: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    file: OwnFile | None = None
    content: str | None = None
    samples: int | None = field(default=None, compare=False)
    folds: int | None = None

    def takes(self, method: str) -> bool:
        """Whether a method runs on this set."""
        return (self.only is None or method in self.only) and method not in self.without


def file_data(found: Mapping[str, Any], folder: Path) -> SpecDataset:
    """The data set that a spec names by a path; it is read, and what it holds is what it is."""
    path = found["path"]
    if not isinstance(path, str) or not path:
        raise SpecError(
            f"The path of a data set must be a string, the name of a file; got {path!r}. Write "
            'path = "mine.csv", for instance.'
        )
    file = OwnFile(
        str(folder / path), _labels(found, folder), _ignore(found), _format(found.get("format"))
    )
    try:
        name = own_name(found.get("name", stem(Path(path))))
    except (ValueError, TypeError) as error:
        raise SpecError(f"The data set of the path {path!r} needs a name. {error}") from error
    try:
        data = file.read()
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise SpecError(f"The data set {name!r} cannot be read: {error}") from error
    return SpecDataset(name, file=file, content=fingerprint(data), samples=data.n_samples)


def load_data(
    name: str, data_home: str | None, file: OwnFile | None, content: str | None
) -> Dataset:
    """The data set of a cell, which must still be what it was when the cell was made."""
    data = load(name, data_home) if file is None else file.read()
    if content is not None and fingerprint(data) != content:
        where = f"the data set {name!r}" if file is None else file.path
        raise ValueError(
            f"A cell is about the data that there were when the benchmark was started, and {where} "
            "has changed since; start it again, and what has changed is computed anew."
        )
    return data


def _labels(found: Mapping[str, Any], folder: Path) -> str | int | tuple[str, ...] | None:
    labels = found.get("labels")
    if isinstance(labels, str) and is_xml(labels):
        return str(folder / labels)
    if isinstance(labels, list) and labels and all(isinstance(name, str) for name in labels):
        return tuple(labels)
    if labels is None or (isinstance(labels, str | int) and not isinstance(labels, bool)):
        return labels
    raise SpecError(
        "The labels of a data set must be a list of their names, a prefix of their names, the name "
        "of an XML file, or a count (n the first columns, -n the last); got "
        f"{labels!r}. Write one of these."
    )


def _ignore(found: Mapping[str, Any]) -> tuple[str, ...]:
    ignore = found.get("ignore", [])
    if not isinstance(ignore, list) or not all(isinstance(name, str) for name in ignore):
        raise SpecError(
            "The key 'ignore' of a data set must be a list of names of columns; got "
            f'{ignore!r}. Write ignore = ["id"], for instance.'
        )
    return tuple(ignore)


def _format(value: Any) -> str | None:
    if value is not None and value not in FORMATS:
        raise SpecError(
            f"The format of a data set must be one of {', '.join(FORMATS)}; got {value!r}. Use one "
            f"of these, or leave the key out.{nearest(str(value), FORMATS)}"
        )
    return value
