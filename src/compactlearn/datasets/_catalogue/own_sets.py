"""Sets that a user has given a name: their files are copied into the data folder, under `own/`.

::

    own/<name>/<digits>.csv   the files, called after their own checksums
    own/<name>/added.json     which of them are the set, their checksums, which columns are labels

The list is replaced in one step, after the files that it names are there whole; what it no longer
names is removed after that. So a set is at every moment as it was, or as it shall be.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from compactlearn.core._atomic import atomic
from compactlearn.datasets._catalogue.checksums import digest
from compactlearn.datasets._catalogue.download import locked
from compactlearn.datasets._catalogue.folders import data_folder
from compactlearn.datasets._catalogue.from_files import stack
from compactlearn.datasets._catalogue.known_sets import Entry, Expected, registry
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._fingerprint import fingerprint
from compactlearn.datasets._formats.label_columns import Labels
from compactlearn.datasets._formats.reading import format_of, read
from compactlearn.datasets._parsing.assemble import stem

__all__ = [
    "Reading",
    "own_entry",
    "own_files",
    "own_folder",
    "own_name",
    "own_names",
    "read_own",
    "register",
]

_FOLDER, _LIST, _LOCK = "own", "added.json", ".lock"
_LONGEST = 64
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9_-])?")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}

AnyPath = str | os.PathLike[str]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Reading:
    """How a file of rows is to be read; see `read`."""

    labels: str | int | tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    format: str | None = None

    @classmethod
    def of(cls, labels: Labels, ignore: Sequence[str], format: str | None) -> "Reading":
        """From what `read` takes, but for an XML file as labels, which is a file of its own."""
        if labels is None or isinstance(labels, str | int):
            return cls(labels, tuple(ignore), format)
        if isinstance(labels, os.PathLike):
            return cls(None, tuple(ignore), format)
        return cls(tuple(labels), tuple(ignore), format)

    def read(self, path: Path, xml: Path | None = None) -> Dataset:
        """The data set in a file, whose labels an XML file may name."""
        labels = list(self.labels) if isinstance(self.labels, tuple) else self.labels
        options: dict[str, Any] = {"ignore": self.ignore} if self.ignore else {}
        return read(path, labels if xml is None else xml, format=self.format, **options)


@dataclass(frozen=True)
class _Listed:
    """The content of a list."""

    files: Mapping[str, str]  # names and checksums
    rows: tuple[str, ...]  # which of them hold rows, in this order
    label_file: str | None
    reading: Reading
    counts: Mapping[str, Any]
    content: str
    source: str

    def read(self, folder: Path, name: str) -> Dataset:
        """The data set, from its files."""
        xml = None if self.label_file is None else folder / self.label_file
        return stack([self.reading.read(folder / file, xml) for file in self.rows], name=name)


def own_name(name: str) -> str:
    """The name as it is kept, in small letters, if a user may give it to a set.

    >>> own_name("Letters-2024")
    'letters-2024'
    """
    if not isinstance(name, str):
        raise TypeError(
            f"The name of a data set of your own must be a string; got {name!r}. Give such a name."
        )
    plain = name.lower()
    if not name.isascii() or len(plain) > _LONGEST or not _NAME.fullmatch(plain):
        raise ValueError(
            "The name of a data set of your own must be of letters from a to z, digits, '.', '_' "
            f"and '-', begin with a letter or a digit, not end in '.', and have at most {_LONGEST} "
            f"characters, since a folder is called after it; got {_quoted(name)}. Choose such a "
            "name."
        )
    for entry in registry().values():
        if plain in (entry.name, *entry.aliases):
            raise ValueError(
                "The name of a data set of your own must not be that of a set that the library "
                f"knows, and {_quoted(name)} means {entry.name!r}; choose another."
            )
    if plain.partition(".")[0] in _DEVICES:
        raise ValueError(
            f"The name of a data set of your own must be that of a folder, and {_quoted(name)} is "
            "a device on some systems; choose another."
        )
    return plain


def own_folder(name: str, data_home: AnyPath | None = None) -> Path:
    """Where a set of the user's own lies, or would."""
    return data_folder(data_home) / _FOLDER / name


def own_names(data_home: AnyPath | None = None) -> list[str]:
    """The names that the user has given, in alphabetical order."""
    try:
        found = [path.name for path in own_folder("", data_home).iterdir()]
    except OSError:
        return []
    return sorted(
        name
        for name in found
        if _NAME.fullmatch(name)
        and name not in registry()
        and (own_folder(name, data_home) / _LIST).is_file()
    )


def own_entry(name: str, data_home: AnyPath | None = None) -> Entry | None:
    """What is known of a set of the user's own; None if there is none of that name.

    Raises
    ------
    ValueError
        If its list is damaged.
    """
    plain = name.lower() if isinstance(name, str) else ""
    if plain not in own_names(data_home):
        return None
    listed = _listed(plain, own_folder(plain, data_home) / _LIST)
    return Entry(
        plain,
        _expected(listed.counts),
        own=True,
        content=listed.content,
        note=f"Added by you from {listed.source}.",
    )


def register(
    name: str,
    paths: Sequence[Path],
    reading: Reading,
    *,
    xml: Path | None = None,
    data_home: AnyPath | None = None,
    overwrite: bool = False,
) -> Dataset:
    """Copy files into the data folder, from where `load` takes them by a name of the user's.

    Raises
    ------
    ValueError
        If a file cannot be read, the name may not be used, or it means other data already.
    """
    name = own_name(name)
    # Read where they are, so that a refusal names the user's own file.
    content = fingerprint(stack([reading.read(path, xml) for path in paths], name=name))
    folder = own_folder(name, data_home)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        known = None
        with suppress(ValueError):  # what is damaged may be put right
            known = own_entry(name, data_home)
        if known is not None and known.content != content and not overwrite:
            raise ValueError(
                f"A name means one data set, and {name!r} means another already, whose note is: "
                f"{known.note} Choose another name, or pass overwrite=True (--overwrite on the "
                "command line) to put the new one in its place."
            )
        try:
            listed, data = _copied(name, paths, xml, reading, folder)
            if listed.content != content:
                raise ValueError(
                    "The files of a set must stay as they are while they are added, but "
                    f"{listed.source} changed meanwhile; add them again."
                )
            with atomic(folder / _LIST) as stream:
                stream.write(json.dumps(asdict(listed), indent=2).encode())
        finally:
            _clear(folder, name)
    return data


def read_own(name: str, data_home: AnyPath | None = None) -> Dataset:
    """Read what `register` copied; a file changed since is refused."""
    folder = own_folder(name, data_home)
    return _of_one_moment(name, folder, lambda listed: listed.read(folder, name))


def own_files(name: str, data_home: AnyPath | None = None) -> list[Path]:
    """The files of a set of the user's own, each with the checksum it had when it was added."""
    folder = own_folder(name, data_home)
    return _of_one_moment(name, folder, lambda listed: [folder / file for file in listed.files])


def _of_one_moment(name: str, folder: Path, use: Callable[[_Listed], Found]) -> Found:
    """What the files of a list give, once each has its checksum; anew if they are replaced."""
    while True:
        listed = _listed(name, folder / _LIST)
        try:
            for file, sha256 in listed.files.items():
                if digest(folder / file) != sha256:
                    raise FileNotFoundError(file)
            return use(listed)
        except FileNotFoundError as error:
            if _listed(name, folder / _LIST) == listed:
                raise ValueError(
                    f"The files in {folder} must be as they were when they were added, but one is "
                    f"gone or has changed; add the files of {name!r} again."
                ) from error


def _listed(name: str, path: Path) -> _Listed:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        how = found["reading"]
        labels = tuple(how["labels"]) if isinstance(how["labels"], list) else how["labels"]
        reading = Reading(labels, tuple(how["ignore"]), how["format"])
        listed = _Listed(**found | {"reading": reading, "rows": tuple(found["rows"])})
        named = {*listed.rows, *([] if listed.label_file is None else [listed.label_file])}
        _expected(listed.counts)
        # Plain names: the list cannot lead out of its folder.
        plain = all(Path(file).name == file for file in listed.files)
        whole = bool(listed.rows) and plain and named <= set(listed.files)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, OSError):
        whole, listed = False, None
    if not whole or listed is None:
        raise ValueError(
            f"{path} must be as it was written when files were added, but it is damaged; add the "
            f"files of {name!r} again."
        )
    return listed


def _expected(counts: Mapping[str, Any]) -> Expected:
    values: dict[str, Any] = {**counts, "cardinality": Decimal(counts["cardinality"])}
    return Expected(**values)


def _copied(
    name: str, paths: Sequence[Path], xml: Path | None, reading: Reading, folder: Path
) -> tuple[_Listed, Dataset]:
    """Copy the files of a set, and read the copies."""
    files: dict[str, str] = {}

    def copy(path: Path, target: str) -> str:
        with path.open("rb") as source, atomic(folder / target) as sink:
            shutil.copyfileobj(source, sink)
        files[target] = digest(folder / target)
        return target

    rows = []
    for path in paths:
        rows.append(copy(path, f"{digest(path)[:16]}{_ending(path)}"))
        beside = path.with_name(stem(path) + ".xml")  # a reader of ARFF finds it by its name
        if xml is None and reading.labels is None and beside.is_file():
            copy(beside, stem(Path(rows[-1])) + ".xml")
    listed = _Listed(
        files=files,
        rows=tuple(rows),
        label_file=None if xml is None else copy(xml, f"labels-{digest(xml)[:16]}{_ending(xml)}"),
        # Whatever a later version makes of the name or the content: it was read as this.
        reading=replace(reading, format=reading.format or format_of(paths[0])),
        counts={},
        content="",
        source=", ".join(path.name for path in paths),
    )
    data = listed.read(folder, name)
    counts = {
        "samples": data.n_samples,
        "features": data.n_features,
        "labels": data.n_labels,
        "cardinality": f"{data.cardinality:.4f}",
        "distinct": data.n_label_sets,
    }
    return replace(listed, counts=counts, content=fingerprint(data)), data


def _ending(path: Path) -> str:
    """What the name says of the format, for whoever looks into the folder."""
    return "".join(re.findall(r"\.[A-Za-z0-9]{1,8}(?=\.|$)", path.name)[-2:]).lower()


def _clear(folder: Path, name: str) -> None:
    """Remove what an earlier set, or somebody who was killed, has left."""
    keep = {_LIST, _LOCK}
    with suppress(ValueError):  # no list, or none that can be read: nothing is a set's
        keep |= set(_listed(name, folder / _LIST).files)
    for path in folder.iterdir():
        if path.name not in keep:
            with suppress(OSError):
                path.unlink()


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 80 else name[:77] + "...")
