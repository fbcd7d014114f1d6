"""Files that a user hands over: of a set that cannot be fetched, or of one of the user's own."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compactlearn.core._atomic import atomic
from compactlearn.datasets._catalogue.checksums import digest, is_genuine
from compactlearn.datasets._catalogue.download import locked
from compactlearn.datasets._catalogue.folders import COMPRESSIONS, data_folder, obtain
from compactlearn.datasets._catalogue.from_files import check_counts, read_files, stack
from compactlearn.datasets._catalogue.known_sets import Entry, File, describe, known_entry
from compactlearn.datasets._catalogue.own_sets import Reading, own_name, register
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._formats.label_columns import Labels, is_xml
from compactlearn.datasets._formats.reading import read

__all__ = ["add", "read_added", "was_added"]

# Written last: the files it lists are whole, and were counted.
_LIST = "added.json"

AnyPath = str | os.PathLike[str]


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
    if known is None:
        rows, xml = _sorted_out(name, paths)
        reading = Reading.of(labels, ignore, format)
        return register(name, rows, reading, xml=xml, data_home=data_home, overwrite=overwrite)
    entry = known if known.of is None else describe(known.of)
    if ignore or format is not None:
        raise ValueError(
            f"ignore and format are for sets of your own, and {name!r} is known to the library; "
            "leave them out, or choose another name."
        )
    folder = data_folder(data_home) / entry.name
    if entry.files:
        return _add_known(entry, paths, folder)
    return _add_counted(entry, paths, labels, folder)


def was_added(folder: Path) -> bool:
    """Whether a set without known files was handed over."""
    return (folder / _LIST).is_file()


def read_added(entry: Entry, folder: Path) -> Dataset:
    """Read what `add` copied; a file changed since is refused."""
    if not was_added(folder):
        raise FileNotFoundError(
            f"The data set {entry.name!r} must be handed over once, since no address is known to "
            f"fetch it from, and {folder} does not hold it; run: compactlearn datasets add "
            f"{entry.name} FILE... (or compactlearn.datasets.add)."
        )
    files, labels = _listed(entry, folder / _LIST)
    for name, sha256 in files.items():
        path = folder / name
        if not path.is_file() or digest(path) != sha256:
            raise ValueError(
                f"{path} must be as it was when it was added, but it is gone or has changed; add "
                f"the files of {entry.name!r} again."
            )
    return _read(entry, [folder / name for name in files], labels)


def _listed(entry: Entry, path: Path) -> tuple[dict[str, str], str | int | list[str] | None]:
    """Checksums by name, and which columns are labels."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        files, labels = dict(listed["files"]), listed["labels"]
        # A plain name: the list cannot lead out of its folder.
        whole = bool(files) and all(Path(name).name == name for name in files)
    except (ValueError, KeyError, TypeError):
        whole, files, labels = False, {}, None
    if not whole or not isinstance(labels, str | int | list | None):
        raise ValueError(
            f"{path} must be as it was written when files were added, but it is damaged; add the "
            f"files of {entry.name!r} again."
        )
    return files, labels


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


def _add_counted(entry: Entry, paths: list[Path], labels: Labels, folder: Path) -> Dataset:
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        raise ValueError(
            f"Files of one set must have different names, but {', '.join(names)} were given; "
            "rename one."
        )
    # Read where they are, so that a refusal names the user's own file; the checksums say that
    # what was counted is what was copied.
    checksums = {path.name: digest(path) for path in paths}
    check_counts(entry, _read(entry, paths, labels))
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        (folder / _LIST).unlink(missing_ok=True)
        for path in paths:
            _copy(path, folder / path.name)
        with atomic(folder / _LIST) as stream:
            stream.write(
                json.dumps({"files": checksums, "labels": _plain(labels)}, indent=2).encode()
            )
    return read_added(entry, folder)


def _plain(labels: Labels) -> Any:
    return labels if labels is None or isinstance(labels, str | int) else list(map(str, labels))  # pyrefly: ignore


def _copy(path: Path, target: Path) -> None:
    with path.open("rb") as source, atomic(target) as sink:
        shutil.copyfileobj(source, sink)


def _read(entry: Entry, paths: Sequence[Path], labels: Any) -> Dataset:
    rows, xml = _sorted_out(entry.name, paths)
    chosen = labels if xml is None else xml
    return stack([read(path, chosen) for path in rows], name=entry.name)


def _sorted_out(name: str, paths: Sequence[Path]) -> tuple[list[Path], Path | None]:
    """Files of rows, and the one that names the labels."""
    xml = [path for path in paths if is_xml(path.name)]
    rows = [path for path in paths if path not in xml]
    if len(xml) > 1 or not rows:
        raise ValueError(
            f"A set is files of rows and at most one XML file with the names of the labels, but "
            f"{len(rows)} and {len(xml)} were given for {name!r}; give them together."
        )
    return rows, xml[0] if xml else None
