"""The data sets known by name: `registry.toml`, read once."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files as resources
from typing import Any, Literal, NoReturn, Protocol

from compactlearn.core._params import nearest


@dataclass(frozen=True)
class File:
    """One original file of a set: rows, the XML file of the labels, or a name in each line."""

    name: str
    role: Literal["rows", "labels", "label names", "feature names"]
    bytes: int
    sha256: str
    address: str = ""  # where it can be fetched
    origin: str = ""  # for people: repository, commit and path


class Counted(Protocol):
    """Data with the counts that `Expected` compares: a `Dataset`, or a set of texts."""

    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_label_sets(self) -> int: ...
    @property
    def cardinality(self) -> float: ...
    @property
    def source(self) -> str: ...


@dataclass(frozen=True)
class Expected:
    """Counts a set must have once it is read; None is not checked.

    The cardinality is given to the digits that are compared; distinct is the number of different
    label sets, an empty one included.
    """

    samples: int | None = None
    features: int | None = None
    labels: int | None = None
    cardinality: Decimal | None = None
    distinct: int | None = None

    def differences(self, data: Counted) -> list[str]:
        """Return a description of each count that is not as expected.

        >>> from compactlearn.datasets import load
        >>> Expected(samples=593, labels=7).differences(load("emotions"))
        ['6 labels instead of 7']
        """
        counts = [
            ("rows", data.n_samples, self.samples),
            ("features", data.n_features, self.features),
            ("labels", data.n_labels, self.labels),
            ("different label sets", data.n_label_sets, self.distinct),
        ]
        found = [
            f"{got} {what} instead of {wanted}"
            for what, got, wanted in counts
            if wanted is not None and got != wanted
        ]
        if self.cardinality is not None:
            exponent = int(self.cardinality.as_tuple().exponent)
            # Half a unit of the last digit, and a little for the rounding of binary fractions.
            if abs(data.cardinality - float(self.cardinality)) > 0.5 * 10.0**exponent + 1e-9:
                got = f"{data.cardinality:.{-exponent}f}"
                found.append(f"{got} labels per row instead of {self.cardinality}")
        return found


@dataclass(frozen=True)
class Subset:
    """Rows drawn by a seed: the first `rows` of a permutation by PCG64, in the file's order."""

    rows: int
    seed: int


@dataclass(frozen=True)
class Entry:
    """Description of a data set, known before it is read.

    Parameters
    ----------
    name : str
    expected : Expected
    aliases : tuple of str
    format : "arff", "mat", "xmlrepo", "texts" or "any"
        "xmlrepo" is the text of the Extreme Classification Repository. "texts" are JSON lines, for
        `load_texts`. "any": the form of the file is not known; a user brings it
        (`compactlearn datasets add`).
    files : tuple of File
        In the order in which their rows are stacked.
    label_columns : int or None
        n > 0: the first n columns are labels; n < 0: the last -n.
    ignore : tuple of str
        Columns that are neither features nor labels.
    text, tags : tuple of str, str
        Of texts, the fields with the text and the field with the labels.
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
    format: Literal["arff", "mat", "xmlrepo", "texts", "any"] = "any"
    files: tuple[File, ...] = ()
    label_columns: int | None = None
    ignore: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    tags: str = ""
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


@cache
def registry() -> Mapping[str, Entry]:
    """Return every entry by name; a variant has the citation and terms of the set it is made of."""
    text = (resources("compactlearn.datasets._catalogue") / "registry.toml").read_text(
        encoding="utf-8"
    )
    tables = tomllib.loads(text, parse_float=Decimal)
    entries = {name: _entry(name, table) for name, table in tables.items()}
    for name, entry in entries.items():
        if entry.of is not None:
            base = entries[entry.of]
            entries[name] = replace(entry, citation=base.citation, licence=base.licence)
    return entries


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    values["expected"] = Expected(**table["expected"])
    values["files"] = tuple(File(**file) for file in table.get("files", ()))
    if "subset" in table:
        values["subset"] = Subset(**table["subset"])
    return Entry(name, **values)


def base_of(entry: Entry) -> Entry:
    """Return the entry that a variant is made from, or the entry itself."""
    return entry if entry.of is None else registry()[entry.of]


def known_entry(name: str) -> Entry | None:
    """Return the set of a name or an alias, in upper or lower case; None if unknown."""
    word = name.lower() if isinstance(name, str) else name
    return next((e for e in registry().values() if word in (e.name, *e.aliases)), None)


def unknown(name: str, others: Iterable[str]) -> NoReturn:
    """Raise ValueError for an unknown name, with a list of the known ones."""
    words = {word for e in registry().values() for word in (e.name, *e.aliases)} | set(others)
    hint = nearest(name, sorted(words)) if isinstance(name, str) else ""
    raise ValueError(
        f"A data set must be asked for by one of the names "
        f"{', '.join(sorted({*registry(), *others}))}; got {name!r}. Use one of these, read a file "
        f"of your own with read, or give it a name with add.{hint}"
    )
