"""Data sets that a user adds: under a name of the user's own, or one that cannot be fetched.

The data are stored in one file, ``own/<name>.npz`` of the data folder: arrays of numbers, and
names and counts as JSON. It is replaced in one step, so a set is the old one or the new one.
"""

import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._catalogue.files import data_folder
from compactlearn.datasets._catalogue.from_files import check_counts, stack
from compactlearn.datasets._catalogue.known_sets import Entry, Expected, base_of, known_entry
from compactlearn.datasets._dataset import Dataset, Matrix, fingerprint
from compactlearn.datasets._formats.columns import Labels, is_xml
from compactlearn.datasets._formats.reading import read

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9_-])?")
_DAMAGE = (
    *(ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RuntimeError),
    *(EOFError, OSError, MemoryError, zlib.error, zipfile.BadZipFile),
)

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
    """Read files, and store their data under a name for `load`.

    The name is one of your own, or that of a known set whose files have neither an address nor a
    checksum (msra, eurlex-sm, eurlex-dc, bookmarks, espgame): such a set is stored only if its
    counts are those of the registry. The files of other known sets are put into their folder.

    Parameters
    ----------
    name : str
        A name of your own: letters, digits, ".", "_" and "-", at most 64, in whatever case. Or one
        of `list_datasets()`; a variant stands for the set it is made from.
    files : path or sequence of paths
        Rows in this order, and the XML file that names the labels if there is one.
    labels : path, str, list of str, int or None
        As in `read`, where the files do not state which columns are labels.
    ignore, format : list of str, and str or None
        As in `read`.
    overwrite : bool
        Whether a name of your own that means other data already shall mean these.
    data_home : path, optional
        As in `load`.

    Raises
    ------
    ValueError
        If a file cannot be read, or the counts are others; if the name may not be given.
    FileNotFoundError
        If a file does not exist.

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
    found = known_entry(name)
    known = None if found is None else base_of(found)
    if known is not None and known.files:
        wanted = ", ".join(file.name for file in known.files)
        raise ValueError(
            f"The data set {known.name!r} is known by the checksums of its files; put {wanted} "
            f"into {data_folder(data_home) / known.name}, or choose another name for yours."
        )
    name = _checked_name(name) if known is None else known.name
    paths = [Path(files)] if isinstance(files, str | os.PathLike) else [Path(f) for f in files]
    xml = [path for path in paths if is_xml(path.name)]
    rows = [path for path in paths if path not in xml]
    if len(xml) > 1 or not rows:
        raise ValueError(
            f"A set is files of rows and at most one XML file with the names of the labels, but "
            f"{len(rows)} and {len(xml)} were given for {name!r}; give them together."
        )
    options: dict[str, Any] = {"ignore": ignore} if ignore else {}
    labels = xml[0] if xml else labels
    data = stack([read(path, labels, format=format, **options) for path in rows], name=name)
    if known is not None:
        check_counts(known, data)
    elif not overwrite:
        _check_free(name, data, data_home)
    _store(data, rows, own_path(name, data_home))
    return data


def _checked_name(name: str) -> str:
    """Return the name in small letters, if a user may give it to a set.

    >>> _checked_name("Letters-2024")
    'letters-2024'
    """
    plain = name.lower() if isinstance(name, str) and name.isascii() else ""
    if not _NAME.fullmatch(plain):
        raise ValueError(
            "The name of a data set of your own must be of letters from a to z, digits, '.', '_' "
            "and '-', begin with a letter or a digit, not end in '.', and have at most 64 "
            f"characters, since a file is called after it; got {name!r:.80}. Choose such a name."
        )
    return plain


def _check_free(name: str, data: Dataset, data_home: AnyPath | None) -> None:
    """Raise ValueError for a name that other data have."""
    try:
        found = own_entry(name, data_home)
    except ValueError:  # a damaged set may be replaced
        return
    if found is not None and found.content != fingerprint(data):
        raise ValueError(
            f"A name means one data set, and {name!r} means another already, whose note is: "
            f"{found.note} Choose another name, or pass overwrite=True (--overwrite on the command "
            "line) to put the new one in its place."
        )


def own_path(name: str, data_home: AnyPath | None = None) -> Path:
    """Return the path of a set that was added, whether it exists or not."""
    return data_folder(data_home) / "own" / f"{name}.npz"


def own_names(data_home: AnyPath | None = None) -> list[str]:
    """Return the names that the user has given, in alphabetical order."""
    found = (path.stem for path in own_path("", data_home).parent.glob("*.npz"))
    return sorted(name for name in found if _NAME.fullmatch(name) and known_entry(name) is None)


def own_entry(name: str, data_home: AnyPath | None = None) -> Entry | None:
    """Return the description of a set of the user's own; None if no set has that name."""
    plain = name.lower() if isinstance(name, str) else ""
    if plain not in own_names(data_home):
        return None
    with _opened(plain, data_home) as (_, about):
        counts = about["counts"] | {"cardinality": Decimal(about["counts"]["cardinality"])}
        note = f"Added by you from {about['source']}."
        return Entry(plain, Expected(**counts), own=True, content=about["content"], note=note)


def read_own(name: str, data_home: AnyPath | None = None) -> Dataset:
    """Return a set that was added."""
    path = own_path(name, data_home)
    if not path.is_file():
        raise FileNotFoundError(
            f"The data set {name!r} must be added once, since no address is known to fetch "
            f"it from, and {path.parent} does not hold it; run: compactlearn datasets add {name} "
            "FILE... (or compactlearn.datasets.add)."
        )
    with _opened(name, data_home) as (arrays, about):
        names = (about[key] for key in ("feature_names", "label_names"))
        features, labels = (None if one is None else tuple(one) for one in names)
        X, Y = _matrix(arrays, "X"), _matrix(arrays, "Y")
        return Dataset(X, Y, features, labels, name, os.fspath(path))


@contextmanager
def _opened(
    name: str, data_home: AnyPath | None
) -> Iterator[tuple[Mapping[str, np.ndarray], dict[str, Any]]]:
    """Open the arrays and the description of a stored set; raise ValueError if it is damaged."""
    path = own_path(name, data_home)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays, json.loads(arrays["about"].tobytes())
    except _DAMAGE as error:
        raise ValueError(
            f"{path} must be as it was written when files were added, but it is damaged; add the "
            f"files of {name!r} again."
        ) from error


def _store(data: Dataset, rows: Sequence[Path], path: Path) -> None:
    about = {
        "feature_names": data.feature_names,
        "label_names": data.label_names,
        "source": ", ".join(file.name for file in rows),
        "content": fingerprint(data),
        "counts": {
            "samples": data.n_samples,
            "features": data.n_features,
            "labels": data.n_labels,
            "cardinality": f"{data.cardinality:.4f}",
            "distinct": data.n_label_sets,
        },
    }
    arrays = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
    arrays |= _arrays(data.X, "X") | _arrays(data.Y, "Y")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def _arrays(matrix: Matrix, name: str) -> dict[str, np.ndarray]:
    if not sparse.issparse(matrix):
        return {name: matrix}
    parts = (matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape))
    return {f"{name}{place}": part for place, part in enumerate(parts)}


def _matrix(arrays: Mapping[str, np.ndarray], name: str) -> Matrix:
    if name in arrays:
        return arrays[name]
    data, indices, ends, shape = (arrays[f"{name}{place}"] for place in range(4))
    rows = sparse.csr_array((data, indices, ends), shape=tuple(shape.tolist()))
    rows.check_format(full_check=True)
    return rows
