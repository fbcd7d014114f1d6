"""Data sets by name: from the package, from a folder on this machine, or fetched into it.

The folder holds one subfolder per set, `bibtex/bibtex.arff.xz` and `bibtex/bibtex.xml` for
instance. A file may lie there as it is or compressed (.xz, .bz2, .gz); one that is absent is
fetched where an address is known. What is known of each set stands in `registry.toml`.
"""

import os
from pathlib import Path

from compactlearn.datasets.adding import read_added, was_added
from compactlearn.datasets.dataset import Dataset
from compactlearn.datasets.embedded import load_embedded
from compactlearn.datasets.entries import check_counts, read_files, vary
from compactlearn.datasets.folders import data_folder, find, obtain
from compactlearn.datasets.registry import Entry, describe, registry

__all__ = ["data_folder", "fetch", "is_available", "list_datasets", "load"]


def list_datasets() -> list[str]:
    """Every name that `load` knows, in alphabetical order.

    Returns
    -------
    names : list of str
        "emotions" and "enron" can be loaded anywhere; for the others see `is_available`. Names that
        end in "-paper" are the forms used in the paper's tables.

    Examples
    --------
    >>> list_datasets()[:5]
    ['bibtex', 'bibtex-paper', 'bookmarks', 'bookmarks-paper', 'cal500']
    """
    return sorted(registry())


def is_available(name: str, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Whether `load` would find the files of a set without fetching any; none is read.

    >>> is_available("enron")
    True
    """
    entry = _base(describe(name))
    folder = data_folder(data_home) / entry.name
    if entry.packaged:
        return True
    if not entry.files:
        return was_added(folder)
    return all(find(file, folder) is not None for file in entry.files)


def load(
    name: str, data_home: str | os.PathLike[str] | None = None, *, download: bool = True
) -> Dataset:
    """Load a data set by name.

    Every file is compared with its checksum, and the counts of what was read with those of the
    registry, so a set is the one that its name means or it is refused.

    Parameters
    ----------
    name : str
        One of `list_datasets()`, or an alias; case does not matter.
    data_home : path, optional
        The folder described at the top of this module. By default what the environment variable
        COMPACTLEARN_DATA names, otherwise the folder "compactlearn" in the user's cache. "enron"
        and "emotions" always come from the package and need none.
    download : bool
        Whether files that are not there may be fetched.

    Returns
    -------
    Dataset

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
    entry = describe(name)
    base = _base(entry)
    if base.packaged:
        data = load_embedded(base.name)
    else:
        data = load_from(base, data_folder(data_home) / base.name, download=download)
    return data if entry is base else check_counts(entry, vary(entry, data))


def load_from(entry: Entry, folder: Path, *, download: bool = False) -> Dataset:
    """Read the files of an entry in a folder, never the copy inside the package."""
    if not entry.files:
        return check_counts(entry, read_added(entry, folder))
    paths = [obtain(file, entry, folder, download=download) for file in entry.files]
    return check_counts(entry, read_files(entry, paths))


def fetch(name: str, data_home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Make sure that the files of a set are in its folder, and return their paths.

    Parameters
    ----------
    name, data_home :
        As in `load`.

    Raises
    ------
    ValueError, FileNotFoundError
        As in `load`.
    """
    entry = _base(describe(name))
    folder = data_folder(data_home) / entry.name
    if not entry.files:
        read_added(entry, folder)
    return [obtain(file, entry, folder) for file in entry.files]


def _base(entry: Entry) -> Entry:
    return entry if entry.of is None else describe(entry.of)
