"""The data sets of a benchmark: those known by name, and files of the user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compactlearn.datasets import Dataset, describe, fingerprint, load, read
from compactlearn_bench.spec.values import SpecError

__all__ = ["FILE_KEYS", "OwnFile", "SpecDataset", "file_data", "load_data"]

_XML = re.compile(r"\.xml(\.(gz|bz2|xz))?$", re.IGNORECASE)
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
        labels = list(self.labels) if isinstance(self.labels, tuple) else self.labels
        options: dict[str, Any] = {"ignore": self.ignore} if self.ignore else {}
        return read(Path(self.path), labels, format=self.format, **options)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> OwnFile:
        """From what JSON has made of it: lists in place of tuples."""
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in found.items()
        }
        return cls(**values)


@dataclass(frozen=True)
class SpecDataset:
    """A data set that takes part."""

    name: str
    rows: int | None = None  # how many of its rows; None is all
    only: tuple[str, ...] | None = None  # methods, as they are shown
    without: tuple[str, ...] = ()
    file: OwnFile | None = None  # where it is read from, if it is a file of the user's
    content: str | None = None  # SHA-256 of the values of a set of the user's own
    samples: int | None = field(default=None, compare=False)  # how many rows there are, if known
    folds: int | None = None  # how many folds; None is as many as the spec has

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
    file = OwnFile(str(folder / path), _labels(found, folder), _ignore(found), found.get("format"))
    try:
        data = file.read()
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise SpecError(f"The data set of the path {path!r} cannot be read: {error}") from error
    stem = re.sub(r"(?<=.)(\.\w+)?(\.(gz|bz2|xz|zip))?$", "", Path(path).name, count=1)
    name = _own_name(found.get("name", stem))
    return SpecDataset(name, file=file, content=fingerprint(data), samples=data.n_samples)


def _own_name(given: Any) -> str:
    """Return the name in small letters, if it is one that a set of the user's own may have."""
    name = given.lower() if isinstance(given, str) else ""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9_-])?", name):
        raise SpecError(
            "The name of a data set of your own must be of letters from a to z, digits, '.', '_' "
            "and '-', begin with a letter or a digit, not end in '.', and have at most 64 "
            f"characters; got {given!r}. Give such a name."
        )
    try:
        known = describe(name)
    except ValueError:  # nobody has it
        return name
    if not known.own:
        raise SpecError(
            "The name of a data set of your own must not be that of a set that the library "
            f"knows, and {given!r} means {known.name!r}; choose another."
        )
    return name


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
    if isinstance(labels, str) and _XML.search(labels):
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
