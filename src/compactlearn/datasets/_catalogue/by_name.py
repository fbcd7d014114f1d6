"""Data sets by name: from the package, from a folder on this machine, or fetched into it.

The folder holds one subfolder per set, `bibtex/bibtex.arff.xz` and `bibtex/bibtex.xml` for
instance. A file may lie there as it is or compressed (.xz, .bz2, .gz); one that is absent is
fetched where an address is known. `registry.toml` describes each set.
"""

import os
from collections.abc import Sequence
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
from compactlearn.datasets._catalogue.text_files import read_text_files
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._formats.texts import Texts


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
        If the name is unknown or that of a set of texts (`load_texts`), or a file is not the one
        that the registry means.
    FileNotFoundError
        If a file is neither in its folder nor can be fetched. The sentence says where to put it.

    Examples
    --------
    >>> load("enron")
    Dataset 'enron': 1702 rows, 1001 features (sparse), 53 labels, 3.38 labels per row
    """
    entry = describe(name, data_home)
    base = base_of(entry)
    if base.format == "texts":
        raise ValueError(
            f"load reads sets with features, and {base.name!r} is a set of texts, whose features "
            f"are yours to choose. Read it with load_texts({base.name!r}), and pass its texts to a "
            "vectorizer or to text_classifier()."
        )
    if base.packaged:
        data = load_packaged(base.name)
    elif base.files:
        data = load_from(base, _folder(base, data_home), download=download)
    else:
        data = read_own(base.name, data_home)
        data = data if base.own else check_counts(base, data)
    return data if entry is base else check_counts(entry, vary(entry, data))


def load_texts(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    fields: Sequence[str] | None = None,
    download: bool = True,
) -> dict[str, Texts]:
    """Load a set of texts by name: each of its parts, with the names of the labels.

    Checksums and counts are verified as by `load`. Texts have no features: pass them to a
    vectorizer or to `text_classifier`.

    Parameters
    ----------
    name : str
        "eurlex57k", whose parts are "train", "dev" and "test".
    data_home, download
        As in `load`.
    fields : sequence of str, optional
        The fields that make up a text, joined by line ends. By default all with words: for
        "eurlex57k" title, header, recitals and body.

    Raises
    ------
    ValueError
        If the name or a field is unknown, the set has features (`load`), or a file is not the one
        that the registry means.
    FileNotFoundError
        As in `load`.

    Examples
    --------
    >>> laws = load_texts("eurlex57k", "../shared/datasets")  # doctest: +SKIP
    >>> laws["test"]  # doctest: +SKIP
    Texts 'test': 6000 rows, 2517 different tags
    """
    entry = describe(name, data_home)
    if entry.format != "texts":
        raise ValueError(
            f"load_texts reads sets of texts, and {entry.name!r} is a set with features. Read it "
            f"with load({entry.name!r}), or a table of texts of your own with read_texts."
        )
    chosen = entry.text if fields is None else tuple(fields)
    strangers = [field for field in chosen if field not in entry.text]
    if strangers or not chosen or isinstance(fields, str):
        raise ValueError(
            f"fields must be a list with some of {', '.join(entry.text)}, which the texts of "
            f"{entry.name!r} have; got {fields!r}. Pass for instance fields=[{entry.text[0]!r}]."
        )
    folder = _folder(entry, data_home)
    paths = [obtain(file, entry, folder, download=download) for file in entry.files]
    return read_text_files(entry, paths, chosen)


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
