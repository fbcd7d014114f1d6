"""Data sets by name: from the package, from a folder on this machine, or fetched into it.

The folder holds one subfolder per set, `bibtex/bibtex.arff.xz` and `bibtex/bibtex.xml` for
instance. A file may lie there as it is or compressed (.xz, .bz2, .gz); one that is absent is
fetched where an address is known. `registry.toml` describes each set.
"""

import os
from pathlib import Path

from compactlearn.datasets._catalogue.files import data_folder, find, obtain
from compactlearn.datasets._catalogue.from_files import (
    check_counts,
    load_packaged,
    read_files,
    vary,
)
from compactlearn.datasets._catalogue.known_sets import (
    Entry,
    base_of,
    known_entry,
    registry,
    unknown,
)
from compactlearn.datasets._catalogue.own_sets import own_entry, own_names, own_path, read_own
from compactlearn.datasets._dataset import Dataset


def list_datasets(data_home: str | os.PathLike[str] | None = None) -> list[str]:
    """Return every name that `load` knows, in alphabetical order.

    Parameters
    ----------
    data_home : path, optional
        As in `load`. The sets that were added there under names of the user's own are listed too.

    Returns
    -------
    names : list of str
        "emotions" and "enron" can be loaded anywhere; for the others see `is_available`. Names that
        end in "-paper" are the forms used in the paper's tables.

    Examples
    --------
    >>> [name for name in list_datasets() if name.startswith("b")]
    ['bibtex', 'bibtex-paper', 'bookmarks', 'bookmarks-paper']
    """
    return sorted([*registry(), *own_names(data_home)])


def describe(name: str, data_home: str | os.PathLike[str] | None = None) -> Entry:
    """Return the description of a data set, without reading it.

    Parameters
    ----------
    name : str
        A name or an alias; case does not matter.
    data_home : path, optional
        As in `load`, for the sets of the user's own.

    Raises
    ------
    ValueError
        If the name is unknown; the sentence lists the names and the nearest one.

    Examples
    --------
    >>> entry = describe("langlog")
    >>> entry.name, entry.expected.labels, entry.files[0].name
    ('llog', 75, 'langlog.arff')
    """
    # The library's names come first: nobody's set can stand in for one of them.
    entry = known_entry(name) or own_entry(name, data_home)
    return entry if entry is not None else unknown(name, own_names(data_home))


def folder_of(name: str, data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder in which the files of a set lie, or would.

    Parameters
    ----------
    name : str
        As in `load`.
    data_home : path, optional
        As in `load`.
    """
    return _folder(base_of(describe(name, data_home)), data_home)


def is_available(name: str, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Return whether `load` would find a set without fetching any file; none is read.

    Parameters
    ----------
    name : str
        As in `load`.
    data_home : path, optional
        As in `load`.

    Examples
    --------
    >>> is_available("enron")
    True
    """
    entry = base_of(describe(name, data_home))
    if entry.packaged or not entry.files:
        return entry.packaged or own_path(entry.name, data_home).is_file()
    folder = _folder(entry, data_home)
    return all(find(file, folder) is not None for file in entry.files)


def load(
    name: str, data_home: str | os.PathLike[str] | None = None, *, download: bool = True
) -> Dataset:
    """Load a data set by name.

    Every file is compared with its checksum, and the counts of the data with those of the
    registry; ValueError is raised if they differ.

    Parameters
    ----------
    name : str
        One of `list_datasets()`, an alias, or a name that the user gave to files by `add`;
        case does not matter.
    data_home : path, optional
        The folder described at the top of this module. By default that of the environment variable
        COMPACTLEARN_DATA, otherwise the folder "compactlearn" in the user's cache. "enron"
        and "emotions" always come from the package and need none.
    download : bool
        Whether files that are not there may be fetched.

    Raises
    ------
    ValueError
        If the name is unknown, or a file is not the one that the registry means.
    FileNotFoundError
        If a file is neither in its folder nor can be fetched. The sentence says where to put it.

    Examples
    --------
    >>> load("enron")
    Dataset 'enron': 1702 rows, 1001 features (sparse), 53 labels, 3.38 labels per row
    """
    entry = describe(name, data_home)
    base = base_of(entry)
    if base.packaged:
        data = load_packaged(base.name)
    elif base.files:
        data = load_from(base, _folder(base, data_home), download=download)
    else:
        data = read_own(base.name, data_home)
        data = data if base.own else check_counts(base, data)
    return data if entry is base else check_counts(entry, vary(entry, data))


def load_from(entry: Entry, folder: Path, *, download: bool = False) -> Dataset:
    """Read the files of an entry in a folder, never the copy inside the package."""
    paths = [obtain(file, entry, folder, download=download) for file in entry.files]
    return check_counts(entry, read_files(entry, paths))


def fetch(name: str, data_home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Make sure that the files of a set are in its folder, and return their paths.

    Parameters
    ----------
    name : str
        As in `load`.
    data_home : path, optional
        As in `load`.

    Raises
    ------
    ValueError, FileNotFoundError
        As in `load`.
    """
    entry = base_of(describe(name, data_home))
    if not entry.files:
        read_own(entry.name, data_home)
        return [own_path(entry.name, data_home)]
    folder = _folder(entry, data_home)
    return [obtain(file, entry, folder) for file in entry.files]


def _folder(entry: Entry, data_home: str | os.PathLike[str] | None) -> Path:
    if entry.files:
        return data_folder(data_home) / entry.name
    return own_path(entry.name, data_home).parent
