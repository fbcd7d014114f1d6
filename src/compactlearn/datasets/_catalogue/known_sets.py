"""The data sets known by name: `registry.toml`, read once and checked."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files as resources
from typing import Any, Literal, NoReturn

from compactlearn.core._params import nearest
from compactlearn.datasets._dataset import Dataset

__all__ = [
    "Copy",
    "Entry",
    "Expected",
    "File",
    "Subset",
    "describe",
    "known_entry",
    "parse_registry",
    "registry",
    "unknown",
]


@dataclass(frozen=True)
class Copy:
    """Another form of a file, compressed for instance, with a checksum of its own."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class File:
    """One original file of a set.

    Parameters
    ----------
    name : str
        Under which it lies in the folder of its set.
    role : "rows", "labels", "label names" or "feature names"
        Rows of data, the XML file that names the labels among its columns, or a list with one
        name in each line.
    bytes, sha256 : int and str
        Size and checksum of the original.
    addresses : tuple of str
        Where to fetch the original, in the order to try; may be empty.
    origin : str
        For people: repository, commit and path.
    copies : tuple of Copy
    """

    name: str
    role: Literal["rows", "labels", "label names", "feature names"]
    bytes: int
    sha256: str
    addresses: tuple[str, ...] = ()
    origin: str = ""
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class Expected:
    """Counts a set must have once it is read; None is not checked.

    Parameters
    ----------
    samples, features, labels : int or None
    cardinality : Decimal or None
        Labels per row, to the digits given.
    distinct : int or None
        Number of different label sets, an empty one included.
    """

    samples: int | None = None
    features: int | None = None
    labels: int | None = None
    cardinality: Decimal | None = None
    distinct: int | None = None

    def differences(self, data: Dataset) -> list[str]:
        """What is not as expected, in words; the costly counts only where the cheap ones agree.

        >>> from compactlearn.datasets import load
        >>> Expected(samples=593, labels=7).differences(load("emotions"))
        ['6 labels instead of 7']
        """
        found = [
            f"{got} {what} instead of {wanted}"
            for what, got, wanted in (
                ("rows", data.n_samples, self.samples),
                ("features", data.n_features, self.features),
                ("labels", data.n_labels, self.labels),
            )
            if wanted is not None and got != wanted
        ]
        if found:
            return found
        if self.cardinality is not None:
            exponent = int(self.cardinality.as_tuple().exponent)
            # Half a unit of the last digit, and a little for the rounding of binary fractions.
            if abs(data.cardinality - float(self.cardinality)) > 0.5 * 10.0**exponent + 1e-9:
                got = f"{data.cardinality:.{-exponent}f}"
                found.append(f"{got} labels per row instead of {self.cardinality}")
        if self.distinct is not None and data.n_label_sets != self.distinct:
            found.append(f"{data.n_label_sets} different label sets instead of {self.distinct}")
        return found


@dataclass(frozen=True)
class Subset:
    """Rows drawn by a seed: the first `rows` of a permutation by PCG64, in the file's order."""

    rows: int
    seed: int


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is read.

    Parameters
    ----------
    name : str
    expected : Expected
    aliases : tuple of str
    format : "arff", "mat", "xmlrepo" or "any"
        "xmlrepo" is the text of the Extreme Classification Repository. "any": the form of the
        file is not known; a user brings it (`compactlearn datasets add`).
    files : tuple of File
        In the order in which their rows are stacked.
    label_columns : int or None
        n > 0: the first n columns are labels; n < 0: the last -n.
    variables : tuple of two str or None
        Names of the features and of the labels in a MATLAB file.
    ignore : tuple of str
        Columns that are neither features nor labels.
    n_train : int or None
        The customary training part is the first `n_train` rows.
    packaged : bool
        Whether the set ships inside the package too.
    own : bool
        Whether it is a set of the user's own, see `add`.
    content : str
        Of such a set, the SHA-256 of its values.
    of, drop_labels, subset : str, tuple of str and Subset, or None
        The set is a variant of another one, without these labels or with these rows only.
    citation, licence, note : str
    """

    name: str
    expected: Expected
    aliases: tuple[str, ...] = ()
    format: Literal["arff", "mat", "xmlrepo", "any"] = "any"
    files: tuple[File, ...] = ()
    label_columns: int | None = None
    variables: tuple[str, str] | None = None
    ignore: tuple[str, ...] = ()
    n_train: int | None = None
    packaged: bool = False
    own: bool = False
    content: str = ""
    of: str | None = None
    drop_labels: tuple[str, ...] = ()
    subset: Subset | None = None
    citation: str = ""
    licence: str = ""
    note: str = ""

    @property
    def row_files(self) -> tuple[File, ...]:
        """The files that hold rows."""
        return tuple(file for file in self.files if file.role == "rows")

    @property
    def label_file(self) -> File | None:
        """The file that names the labels, if there is one."""
        return next((file for file in self.files if file.role == "labels"), None)


def parse_registry(text: str) -> dict[str, Entry]:
    """The entries of a registry file, by name.

    Raises
    ------
    ValueError
        If the text is not TOML, a key is unknown or missing, or two sets share a name or an alias.

    Examples
    --------
    >>> parse_registry("[toy]\\nexpected = { samples = 3 }")["toy"].expected.samples
    3
    """
    entries = {
        name: _entry(name, table)
        for name, table in tomllib.loads(text, parse_float=Decimal).items()
    }
    spellings = [spelling for e in entries.values() for spelling in (e.name, *e.aliases)]
    if len(set(spellings)) < len(spellings):
        twice = sorted({word for word in spellings if spellings.count(word) > 1})
        raise ValueError(f"Each name in a registry must be used once; used again: {twice}.")
    return {name: _with_base(entry, entries) for name, entry in entries.items()}


@cache
def registry() -> Mapping[str, Entry]:
    """Every entry by name."""
    text = (resources("compactlearn.datasets._catalogue") / "registry.toml").read_text(
        encoding="utf-8"
    )
    return parse_registry(text)


def known_entry(name: str) -> Entry | None:
    """The set that a name or an alias means here, in whatever case; None if there is none."""
    if not isinstance(name, str):
        return None
    return next((e for e in registry().values() if name.lower() in (e.name, *e.aliases)), None)


def describe(name: str) -> Entry:
    """The set that a name or an alias means here.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    entry = known_entry(name)
    return entry if entry is not None else unknown(name, ())


def unknown(name: str, others: Iterable[str]) -> NoReturn:
    """Refuse a name, with those that there are: the registry's and some others."""
    words = {word for e in registry().values() for word in (e.name, *e.aliases)} | set(others)
    hint = nearest(name, sorted(words)) if isinstance(name, str) else ""
    raise ValueError(
        f"A data set must be asked for by one of the names "
        f"{', '.join(sorted({*registry(), *others}))}; got {name!r}. Use one of these, read a file "
        f"of your own with read, or give it a name with add.{hint}"
    )


def _with_base(entry: Entry, entries: Mapping[str, Entry]) -> Entry:
    """A variant with the citation and licence of the set it is made from."""
    if entry.of is None:
        return entry
    base = entries.get(entry.of)
    if base is None or base.of is not None:
        raise ValueError(
            f"A variant must be made from a set of the registry that is no variant itself, but "
            f"{entry.name!r} is made from {entry.of!r}."
        )
    return replace(entry, citation=base.citation, licence=base.licence)


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    values = dict(table)
    values["expected"] = _make(Expected, values.get("expected", {}), name)
    if "subset" in values:
        values["subset"] = _make(Subset, values["subset"], name)
    if "variables" in values:
        values["variables"] = (values["variables"]["features"], values["variables"]["labels"])
    values["files"] = tuple(_file(file, name) for file in values.get("files", ()))
    return _make(Entry, {"name": name, **values}, name)


def _file(table: Mapping[str, Any], where: str) -> File:
    copies = tuple(_make(Copy, copy, where) for copy in table.get("copies", ()))
    return _make(File, {**table, "copies": copies}, where)


def _make(kind: type, values: Mapping[str, Any], where: str) -> Any:
    known = [field.name for field in fields(kind)]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ValueError(
            f"A {kind.__name__} in a registry has the keys {', '.join(known)}, but {where!r} "
            f"gives {', '.join(unknown)}."
        )
    try:
        return kind(**{key: _frozen(value) for key, value in values.items()})
    except TypeError as error:  # a key without a default is missing
        raise ValueError(f"The entry {where!r} of a registry is not whole: {error}.") from error


def _frozen(value: Any) -> Any:
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return tuple(value)
    return value
