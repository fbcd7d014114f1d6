"""Files that a user hands over: of a set that cannot be fetched, or of one of the user's own.

::

    own/<name>/<digits>.csv   the files, called after their own checksums
    own/<name>/added.json     which of them are the set, their checksums, which columns are labels

The list is replaced in one step, after the files that it names are complete; files that it no
longer names are removed after that. So a set is at every moment the old one or the new one.
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
from compactlearn.datasets._catalogue.files import (
    COMPRESSIONS,
    data_folder,
    digest,
    is_genuine,
    locked,
    obtain,
)
from compactlearn.datasets._catalogue.from_files import check_counts, read_files, stack
from compactlearn.datasets._catalogue.known_sets import (
    Entry,
    Expected,
    File,
    describe,
    known_entry,
    registry,
)
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._fingerprint import fingerprint
from compactlearn.datasets._formats.columns import Labels, is_xml
from compactlearn.datasets._formats.reading import format_of, read
from compactlearn.datasets._parsing.assemble import stem

__all__ = [
    "Reading",
    "add",
    "own_entry",
    "own_files",
    "own_folder",
    "own_name",
    "own_names",
    "read_own",
    "was_added",
]

_FOLDER, _LIST, _LOCK = "own", "added.json", ".lock"
_LONGEST = 64
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9_-])?")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}

AnyPath = str | os.PathLike[str]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Reading:
    """How a file of rows is read; see `read`."""

    labels: str | int | tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    format: str | None = None

    def read(self, path: Path, xml: Path | None = None) -> Dataset:
        """Return the data set in a file, whose labels an XML file may name."""
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
        """Return the data set that the files hold."""
        xml = None if self.label_file is None else folder / self.label_file
        return stack([self.reading.read(folder / file, xml) for file in self.rows], name=name)


def add(
    name: str,
    files: AnyPath | Sequence[AnyPath],
    *,
    labels: Labels = None,
    ignore: Sequence[str] = (),
    format: str | None = None,
    overwrite: bool = False,
    data_home: AnyPath | None = None,
) -> Dataset:
    """Copy files into the data folder, from where `load` takes them by name.

    The name may be a new one: then it means these files from now on, for `load`, on the command
    line and in the specs of benchmarks. Or it is that of a set which the library knows. If its
    checksums are known, it takes the files that have them, under any name. Of another set (msra,
    eurlex-sm, eurlex-dc, bookmarks, espgame) the files are read and counted first; they are
    copied only if the counts are those of the registry.

    Parameters
    ----------
    name : str
        A name of your own: letters, digits, ".", "_" and "-", at most 64, in whatever case. Or one
        of `list_datasets()`; a variant stands for the set it is made from.
    files : path or sequence of paths
        Rows in this order, and the XML file that names the labels if there is one.
    labels : path, str, list of str, int or None
        As in `read`, where the files do not tell which columns are labels.
    ignore, format : list of str, and str or None
        As in `read`, for a name of your own.
    overwrite : bool
        Whether a name of your own that means other data already shall mean these.
    data_home : path, optional
        As in `load`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If a file cannot be read, or is not of this set, or the counts are others; if the name may
        not be given.
    FileNotFoundError
        If a file does not exist, or the set needs more files than were given.

    Examples
    --------
    >>> import tempfile
    >>> from compactlearn.datasets import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "films.csv")
    ...     _ = path.write_text("minutes,funny,sad\\n96,1,0\\n121,0,1\\n")
    ...     _ = add("films", path, labels=["funny", "sad"], data_home=folder)
    ...     load("films", data_home=folder)
    Dataset 'films': 2 rows, 1 features (dense), 2 labels, 1.00 labels per row
    """
    known = known_entry(name)
    if known is None:
        name = own_name(name)
    paths = [Path(files)] if isinstance(files, str | os.PathLike) else [Path(f) for f in files]
    if isinstance(labels, os.PathLike) or (isinstance(labels, str) and is_xml(labels)):
        # A file like the others: it has to be copied too.
        paths, labels = [*paths, Path(labels)], None
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(
                f"The files of a set must exist to be added, but no file is at {path}"
                f"{', which is a folder' if path.is_dir() else ''}; check the path."
            )
    if not paths:
        raise ValueError(f"To add the set {name!r}, at least one file must be given.")
    if known is not None and known.of is not None:
        known = describe(known.of)
    if known is not None and (ignore or format is not None):
        raise ValueError(
            f"ignore and format are for sets of your own, and {name!r} is known to the library; "
            "leave them out, or choose another name."
        )
    if known is not None and known.files:
        return _add_known(known, paths, data_folder(data_home) / known.name)
    xml = [path for path in paths if is_xml(path.name)]
    rows = [path for path in paths if path not in xml]
    if len(xml) > 1 or not rows:
        raise ValueError(
            f"A set is files of rows and at most one XML file with the names of the labels, but "
            f"{len(rows)} and {len(xml)} were given for {name!r}; give them together."
        )
    plain = labels if labels is None or isinstance(labels, str | int) else tuple(labels)
    reading = Reading(plain, tuple(ignore), format)
    files_given = _Given(known, known.name if known is not None else name, rows, xml, reading)
    return _register(files_given, data_home, overwrite=overwrite)


@dataclass(frozen=True)
class _Given:
    """Files to be added: of a set of the registry, or of one of the user's own (None)."""

    entry: Entry | None
    name: str
    rows: Sequence[Path]
    xml: Sequence[Path]  # one at most
    reading: Reading

    def read(self) -> Dataset:
        """Return the data set as the files hold it where they are."""
        xml = next(iter(self.xml), None)
        data = stack([self.reading.read(path, xml) for path in self.rows], name=self.name)
        return data if self.entry is None else check_counts(self.entry, data)


def _register(given: _Given, data_home: AnyPath | None, *, overwrite: bool) -> Dataset:
    """Copy files into the data folder, once they have been read where they are."""
    name, content = given.name, fingerprint(given.read())  # a refusal names the user's own file
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
            listed, data = _copied(given, folder)
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


def _add_known(entry: Entry, paths: list[Path], folder: Path) -> Dataset:
    matched = [(path, _match(entry, path)) for path in paths]
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        for path, file in matched:
            _copy(path, folder / _name(path, file))
    found = [obtain(file, entry, folder, download=False) for file in entry.files]
    return check_counts(entry, read_files(entry, found))


def _match(entry: Entry, path: Path) -> File:
    for file in entry.files:
        if is_genuine(path, file):
            return file
    wanted = ", ".join(f"{file.name} ({file.sha256})" for file in entry.files)
    raise ValueError(
        f"A file of the set {entry.name!r} must have one of the SHA-256 checksums of the registry, "
        f"compressed or not: {wanted}. {path} has none of them ({digest(path)}); give the right "
        "file, or read this one as a file of your own."
    )


def _name(path: Path, file: File) -> str:
    """The name under which `find` looks for a file that is compressed like the one at `path`."""
    sha = digest(path)
    if sha == file.sha256:
        return file.name
    for copy in file.copies:
        if sha == copy.sha256:
            return copy.name
    ending = path.suffix if path.suffix in COMPRESSIONS else COMPRESSIONS[-1]
    return file.name + ending


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
        if _NAME.fullmatch(name) and name not in registry() and was_added(name, data_home)
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


def was_added(name: str, data_home: AnyPath | None = None) -> bool:
    """Return whether files of a set were handed over."""
    return (own_folder(name, data_home) / _LIST).is_file()


def read_own(name: str, data_home: AnyPath | None = None) -> Dataset:
    """Read what `add` copied; a file changed since is refused."""
    folder = own_folder(name, data_home)
    return _of_one_moment(name, folder, lambda listed: listed.read(folder, name))


def own_files(name: str, data_home: AnyPath | None = None) -> list[Path]:
    """The files of a set of the user's own, each with the checksum it had when it was added."""
    folder = own_folder(name, data_home)
    return _of_one_moment(name, folder, lambda listed: [folder / file for file in listed.files])


def _of_one_moment(name: str, folder: Path, use: Callable[[_Listed], Found]) -> Found:
    """Return what the files of a list give, once each has its checksum; again if replaced."""
    if not (folder / _LIST).is_file():
        raise FileNotFoundError(
            f"The data set {name!r} must be handed over once, since no address is known to fetch "
            f"it from, and {folder} does not hold it; run: compactlearn datasets add {name} "
            "FILE... (or compactlearn.datasets.add)."
        )
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


def _copied(given: _Given, folder: Path) -> tuple[_Listed, Dataset]:
    """Copy the files of a set, and read the copies."""
    files: dict[str, str] = {}

    def copy(path: Path, target: str) -> str:
        _copy(path, folder / target)
        files[target] = digest(folder / target)
        return target

    rows, reading = [], given.reading
    for path in given.rows:
        rows.append(copy(path, f"{digest(path)[:16]}{_ending(path)}"))
        beside = path.with_name(stem(path) + ".xml")  # a reader of ARFF finds it by its name
        if not given.xml and reading.labels is None and beside.is_file():
            copy(beside, stem(Path(rows[-1])) + ".xml")
    xml = [copy(path, f"labels-{digest(path)[:16]}{_ending(path)}") for path in given.xml]
    listed = _Listed(
        files=files,
        rows=tuple(rows),
        label_file=next(iter(xml), None),
        # Whatever a later version makes of the name or the content: it was read as this.
        reading=replace(reading, format=reading.format or format_of(given.rows[0])),
        counts={},
        content="",
        source=", ".join(path.name for path in given.rows),
    )
    data = listed.read(folder, given.name)
    counts = {
        "samples": data.n_samples,
        "features": data.n_features,
        "labels": data.n_labels,
        "cardinality": f"{data.cardinality:.4f}",
        "distinct": data.n_label_sets,
    }
    return replace(listed, counts=counts, content=fingerprint(data)), data


def _copy(path: Path, target: Path) -> None:
    with path.open("rb") as source, atomic(target) as sink:
        shutil.copyfileobj(source, sink)


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
