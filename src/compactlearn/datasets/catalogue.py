"""Data sets by name: two from the package, the others from a folder on this machine.

The folder holds one subfolder per set, `bibtex/bibtex.arff.xz` and `bibtex/bibtex.xml` for
instance. An ARFF file may lie there as it is or compressed (.xz, .bz2, .gz). Nothing is ever
downloaded here.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core.params import nearest
from compactlearn.datasets.arff import read_arff
from compactlearn.datasets.dataset import Dataset
from compactlearn.datasets.embedded import EMBEDDED, load_embedded

__all__ = ["data_folder", "is_available", "list_datasets", "load"]


@dataclass(frozen=True)
class _Files:
    """Where a set lies: ARFF files (rows in this order) and which of their columns are labels."""

    arff: tuple[str, ...]
    labels: str | int
    ignore: tuple[str, ...] = ()
    n_train: int | None = None


_CATALOGUE = {
    "bibtex": _Files(("bibtex.arff",), "bibtex.xml"),
    "cal500": _Files(("cal500.arff",), "cal500.xml"),
    "corel5k": _Files(("Corel5k-sparse.arff",), "Corel5k.xml"),
    "delicious": _Files(("delicious.arff",), "delicious.xml"),
    "flags": _Files(("flags.arff",), "flags.xml"),
    # The first column of genbase names the row.
    "genbase": _Files(("genbase.arff",), "genbase.xml", ignore=("protein",)),
    "imdb": _Files(("Imdb.arff",), 28),
    "llog": _Files(("langlog.arff",), "langlog.xml"),
    "mediamill": _Files(("converted-mediamill.arff",), "mediamill.xml", n_train=30993),
    "medical": _Files(("medical.arff",), "medical.xml"),
    "plant": _Files(("PlantPseAAC.arff",), -12),
    "scene": _Files(("scene-train.arff", "scene-test.arff"), "scene.xml", n_train=1211),
    "tmc2007-500": _Files(("tmc2007-500.arff",), "tmc2007-500.xml"),
    "yeast": _Files(("yeast.arff",), "yeast.xml"),
}


def list_datasets() -> list[str]:
    """Every name that `load` knows, in alphabetical order.

    Returns
    -------
    names : list of str
        "emotions" and "enron" can be loaded anywhere; for the others see `is_available`.

    Examples
    --------
    >>> list_datasets()[:5]
    ['bibtex', 'cal500', 'corel5k', 'delicious', 'emotions']
    """
    return sorted([*EMBEDDED, *_CATALOGUE])


def is_available(name: str, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Whether `load` would find the files of a set.

    >>> is_available("enron")
    True
    """
    name = _known(name)
    if name in EMBEDDED:
        return True
    entry, folder = _CATALOGUE[name], data_folder(data_home) / name
    needed = [*entry.arff, *([] if isinstance(entry.labels, int) else [entry.labels])]
    return all(_stored(folder / file) is not None for file in needed)


def load(name: str, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `list_datasets()`; case does not matter.
    data_home : path, optional
        The folder described at the top of this module. By default what the environment variable
        COMPACTLEARN_DATA names, otherwise the folder "compactlearn" in the user's cache. "enron"
        and "emotions" always come from the package and need none.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the name is unknown.
    FileNotFoundError
        If a file of the set is not in its folder.

    Examples
    --------
    >>> load("enron")
    Dataset 'enron': 1702 rows, 1001 features (sparse), 53 labels, 3.38 labels per row
    """
    name = _known(name)
    if name in EMBEDDED:
        return load_embedded(name)
    entry, folder = _CATALOGUE[name], data_folder(data_home) / name
    labels = entry.labels if isinstance(entry.labels, int) else _present(folder / entry.labels)
    paths = [_present(folder / file) for file in entry.arff]
    parts = [read_arff(path, labels, ignore=entry.ignore) for path in paths]
    first = parts[0]
    return Dataset(
        X=_stack([part.X for part in parts]),
        Y=_stack([part.Y for part in parts]),
        feature_names=first.feature_names,
        label_names=first.label_names,
        name=name,
        source=", ".join(str(path) for path in paths),
        n_train=entry.n_train,
    )


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder in which `load` looks, whether it exists or not."""
    chosen = data_home if data_home is not None else os.environ.get("COMPACTLEARN_DATA")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "compactlearn"


def _known(name: str) -> str:
    known = list_datasets()
    if isinstance(name, str) and name.lower() in known:
        return name.lower()
    hint = nearest(name, known) if isinstance(name, str) else ""
    raise ValueError(
        f"A data set must be asked for by one of the names {', '.join(known)}; got {name!r}. Use "
        f"one of these, or read a file of your own with read_arff.{hint}"
    )


def _stored(path: Path) -> Path | None:
    """The file itself or a compressed copy of it, whichever is there."""
    copies = (path.with_name(path.name + ending) for ending in ("", ".xz", ".bz2", ".gz"))
    return next((copy for copy in copies if copy.is_file()), None)


def _present(path: Path) -> Path:
    stored = _stored(path)
    if stored is None:
        raise FileNotFoundError(
            f"The data set {path.parent.name!r} needs the file {path.name} (or a .xz, .bz2 or .gz "
            f"of it) in {path.parent}, which does not hold it; put it there, or name the folder "
            "above that one by data_home or by the environment variable COMPACTLEARN_DATA. Only "
            f"{' and '.join(EMBEDDED)} come with the package."
        )
    return stored


def _stack(parts: list[np.ndarray | sparse.csr_array]) -> np.ndarray | sparse.csr_array:
    if len(parts) == 1:
        return parts[0]
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)
