"""Where the files of a set lie: one folder per set, inside the data folder."""

import os
from pathlib import Path

from compactlearn.datasets._catalogue.checksums import verify
from compactlearn.datasets._catalogue.download import FetchError, Patience, fetch_file
from compactlearn.datasets._catalogue.known_sets import Entry, File

__all__ = ["COMPRESSIONS", "data_folder", "find", "obtain"]

COMPRESSIONS = (".xz", ".bz2", ".gz")


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder in which `load` looks, whether it exists or not.

    It is `data_home`; or what the environment variable COMPACTLEARN_DATA names; or the folder
    "compactlearn" in the user's cache.

    Parameters
    ----------
    data_home : path, optional
        If given, this is the folder.
    """
    chosen = data_home if data_home is not None else os.environ.get("COMPACTLEARN_DATA")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "compactlearn"


def find(file: File, folder: Path) -> Path | None:
    """The file itself or a compressed copy of it, whichever is there."""
    names = [file.name, *(copy.name for copy in file.copies)]
    names += [file.name + ending for ending in COMPRESSIONS]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def obtain(
    file: File,
    entry: Entry,
    folder: Path,
    *,
    download: bool = True,
    patience: Patience | None = None,
) -> Path:
    """The path of a file with the right checksum, fetched if it is absent.

    Raises
    ------
    ValueError
        If a file is there and has another content.
    FileNotFoundError
        If it is absent and cannot be fetched. The sentence says which file to put where.
    """
    path = find(file, folder)
    if path is not None:
        verify(path, file)
        return path
    if not file.addresses:
        reason = "no address is known to fetch it from"
    elif not download:
        reason = "downloading was not allowed"
    else:
        try:
            return fetch_file(file, folder, patience)
        except FetchError as error:
            reason = f"it could not be fetched ({error})"
    origin = f", from {file.origin}" if file.origin else ""
    raise FileNotFoundError(
        f"The data set {entry.name!r} needs the file {file.name} (or a .xz, .bz2 or .gz of it) in "
        f"{folder}, which does not hold it, and {reason}; put it there by hand ({file.bytes} "
        f"bytes, SHA-256 {file.sha256}{origin}), or name the folder above that one by data_home or "
        "by the environment variable COMPACTLEARN_DATA. Only emotions and enron come with the "
        "package."
    )
