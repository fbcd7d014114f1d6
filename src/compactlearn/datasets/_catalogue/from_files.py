"""The data set of a registry entry: from its files, with the counts it must have, or packaged."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from compactlearn.datasets._catalogue.known_sets import Counted, Entry
from compactlearn.datasets._dataset import Dataset, Matrix
from compactlearn.datasets._formats.reading import read
from compactlearn.datasets._parsing.lines import Lines

_Data = TypeVar("_Data", bound=Counted)
_SOURCE = (
    "inside compactlearn; values of the Python package scikit-multilearn 0.0.1 (BSD licence), "
    "names of the columns as in Mulan's files"
)


def read_files(entry: Entry, paths: Sequence[Path]) -> Dataset:
    """Read the files of an entry, given in the order of `entry.files`."""
    by_role = list(zip(entry.files, paths, strict=True))
    label_paths = [path for file, path in by_role if file.role == "labels"]
    parts = [
        _read(entry, path, label_paths[0] if label_paths else entry.label_columns)
        for file, path in by_role
        if file.role == "rows"
    ]
    data = stack(parts, name=entry.name, n_train=entry.n_train)
    names = {file.role: _names(path) for file, path in by_role if file.role.endswith(" names")}
    return replace(
        data,
        feature_names=names.get("feature names", data.feature_names),
        label_names=names.get("label names", data.label_names),
    )


def _names(path: Path) -> tuple[str, ...]:
    """Return the names of a file, one per line; the text after a tab distinguishes equal names."""
    with Lines(path) as lines:
        listed = []
        while (line := lines.line()) is not None:
            listed.append(line.decode("utf-8").rstrip("\r").partition("\t")[::2])
    seen = Counter(name for name, _ in listed)
    return tuple(name if seen[name] == 1 else f"{name} ({more})" for name, more in listed)


def stack(parts: Sequence[Dataset], *, name: str, n_train: int | None = None) -> Dataset:
    """Return the rows of several data sets with the same columns, in this order."""
    first = parts[0]
    for part in parts[1:]:
        for what, ours, theirs, same_names in (
            (
                "features",
                first.n_features,
                part.n_features,
                first.feature_names == part.feature_names,
            ),
            ("labels", first.n_labels, part.n_labels, first.label_names == part.label_names),
        ):
            if ours != theirs or not same_names:
                other = "" if ours != theirs else " of other names, or in another order"
                raise ValueError(
                    f"Files whose rows belong together must have the same columns, but "
                    f"{first.source} has {ours} {what} and {part.source} has {theirs}{other}; give "
                    "files of the same set."
                )
    X, Y = _stacked([part.X for part in parts]), _stacked([part.Y for part in parts])
    source = ", ".join(part.source for part in parts)
    return replace(first, X=X, Y=Y, name=name, source=source, n_train=n_train)


def check_counts(entry: Entry, data: _Data) -> _Data:
    """Return the data set, or raise ValueError if its counts are not those of the registry."""
    differences = entry.expected.differences(data)
    if differences:
        raise ValueError(
            f"The data set {entry.name!r} must have the counts that the registry gives, but what "
            f"was read from {data.source} has {', '.join(differences)}; it is another version of "
            "the set, or its labels are other columns. Give the right file, or read this one as a "
            "file of your own."
        )
    return data


def vary(entry: Entry, data: Dataset) -> Dataset:
    """Return a variant of a data set.

    The rows of a subset are those of NumPy's ``Generator(PCG64(seed)).permutation``, which is the
    same on every platform, and keep the order they have in the file.
    """
    if entry.drop_labels:
        names = data.label_names or ()
        kept = [column for column, name in enumerate(names) if name not in entry.drop_labels]
        data = replace(
            data,
            Y=data.Y[:, kept],
            label_names=tuple(names[column] for column in kept),
            source=f"{data.source}; without the labels {', '.join(entry.drop_labels)}",
        )
    if entry.subset is not None:
        order = np.random.Generator(np.random.PCG64(entry.subset.seed)).permutation(data.n_samples)
        rows = np.sort(order[: entry.subset.rows])
        source = f"{data.source}; {len(rows)} rows drawn with seed {entry.subset.seed}"
        data = replace(data, X=data.X[rows], Y=data.Y[rows], source=source, n_train=None)
    return replace(data, name=entry.name)


def _read(entry: Entry, path: Path, labels: str | os.PathLike[str] | int | None) -> Dataset:
    if entry.format == "xmlrepo":
        shape = {"n_features": entry.expected.features, "n_labels": entry.expected.labels}
        return read(path, format="xmlrepo", **shape)
    if entry.format == "mat":  # a file of the registry's checksum; a label is a row of target
        arrays = loadmat(path, variable_names=["data", "target"])
        X, Y = (sparse.csr_array(arrays[key]) for key in ("data", "target"))
        Y = sparse.csr_array(Y.T.astype(np.int64))
        return Dataset(X.astype(np.float64), Y, source=str(path))
    return read(path, labels, format="arff", ignore=entry.ignore)


def _stacked(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)


def load_packaged(name: str) -> Dataset:
    """Return a data set of the package: enron with sparse X and Y, emotions with dense ones.

    >>> load_packaged("enron")
    Dataset 'enron': 1702 rows, 1001 features (sparse), 53 labels, 3.38 labels per row
    >>> load_packaged("emotions").label_names[:3]
    ('amazed-suprised', 'happy-pleased', 'relaxing-calm')
    """
    folder = files("compactlearn.datasets") / "data"
    with as_file(folder / f"{name}.npz") as path, np.load(path, allow_pickle=False) as arrays:
        if "x" in arrays:
            X, Y = arrays["x"], arrays["y"].astype(np.int64)
        else:
            X = _ones(arrays["x_indices"], arrays["x_indptr"], arrays["x_shape"], np.float64)
            Y = _ones(arrays["y_indices"], arrays["y_indptr"], arrays["y_shape"], np.int64)
        n_train = int(arrays["n_train"])
    names = json.loads((folder / "names.json").read_text(encoding="utf-8"))[name]
    features, labels = (tuple(names[kind]) for kind in ("features", "labels"))
    return Dataset(X, Y, features, labels, name, _SOURCE, n_train)


def _ones(
    indices: np.ndarray, indptr: np.ndarray, shape: np.ndarray, dtype: type
) -> sparse.csr_array:
    # The file stores short unsigned indices; scipy and scikit-learn expect int32.
    parts = (np.ones(len(indices), dtype), indices.astype(np.int32), indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=tuple(int(size) for size in shape))
