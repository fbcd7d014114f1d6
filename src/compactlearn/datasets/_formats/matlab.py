"""MATLAB 5 files (.mat): two matrices, one of features and one of labels.

Only numeric and sparse matrices are ever made. Cells, structures, objects and functions are
passed over unread, so that nothing in a file can ask for more than arrays of numbers.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset, Matrix
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._formats.matlab_elements import read_matrices
from compactlearn.datasets._parsing.assemble import GatheredRows, dataset_of
from compactlearn.datasets._parsing.unpacking import Limits

__all__ = ["read_mat"]

# In the order in which they are looked for; letter case does not matter.
_PAIRS = (
    ("data", "target"), ("data", "targets"), ("data", "labels"), ("data", "label"),
    ("x", "y"), ("features", "labels"), ("fea", "gnd"), ("feature", "label"),
    ("inputs", "targets"), ("train_data", "train_target"), ("x_train", "y_train"),
)  # fmt: skip


def read_mat(
    path: str | os.PathLike[str],
    *,
    features: str | None = None,
    labels: str | None = None,
    labels_are: str | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read features and labels from a MATLAB 5 file.

    Labels may be 0 and 1, or -1 and +1.

    Parameters
    ----------
    path : str or path
        The file.
    features, labels : str, optional
        The names of the two variables. By default a customary pair is looked for, such as data
        and target, or X and Y.
    labels_are : {"rows", "columns"}, optional
        Whether a label is a row or a column of its matrix. By default whichever fits the number
        of rows of the features; needed where both fit.
    limits : Limits, optional
        How far compressed variables may expand.

    Returns
    -------
    Dataset
        Without names, which such files do not carry.

    Raises
    ------
    DataFileError
        A ValueError that names the file and the reason.
    """
    if labels_are not in (None, "rows", "columns"):
        raise ValueError(f"labels_are must be 'rows', 'columns' or None, got {labels_are!r}.")
    path = Path(path)
    matrices = read_matrices(path, limits)
    names = _choose(path, matrices, features, labels)
    X, target = matrices[names.features], matrices[names.labels]
    Y = _labels(path, names, _oriented(path, names, X, target, labels_are))
    rows = GatheredRows(X.shape[1])
    rows.add(X)
    return dataset_of(path, rows.matrix(), Y)


@dataclass(frozen=True)
class _Names:
    features: str
    labels: str


def _choose(
    path: Path, matrices: dict[str, Matrix], features: str | None, labels: str | None
) -> _Names:
    shapes = {name: "x".join(map(str, m.shape)) for name, m in matrices.items()}
    holds = ", ".join(f"{short(name)!r} ({shapes[name]})" for name in shapes) or "none"
    for name in (features, labels):
        if name is not None and name not in matrices:
            raise DataFileError(
                path, f"there is no numeric matrix {name!r}. The matrices in the file: {holds}."
            )
    lower = {name.lower(): name for name in matrices}
    for x, y in _PAIRS:
        x, y = features or lower.get(x), labels or lower.get(y)
        if x is not None and y is not None and x != y:
            return _Names(x, y)
    raise DataFileError(
        path,
        "no customary pair of names (data and target, X and Y) tells features and labels. Pass "
        f"features=... and labels=...; the numeric matrices in the file: {holds}.",
    )


def _oriented(
    path: Path, names: _Names, X: Matrix, target: Matrix, labels_are: str | None
) -> Matrix:
    n = X.shape[0]
    fits = {"columns": target.shape[0] == n, "rows": target.shape[1] == n}
    if labels_are is None and all(fits.values()):
        raise DataFileError(
            path,
            f"{names.labels!r} is {n} by {n}, so its labels may be rows or columns. Pass "
            "labels_are='rows' or labels_are='columns'.",
        )
    chosen = labels_are or ("rows" if fits["rows"] else "columns")
    if not fits[chosen]:
        raise DataFileError(
            path,
            f"features and labels must be of the same rows, but {names.features!r} has shape "
            f"{X.shape} and {names.labels!r} {target.shape}. Name other variables.",
        )
    return target.T if chosen == "rows" else target


def _labels(path: Path, names: _Names, Y: Matrix) -> sparse.csr_array:
    if sparse.issparse(Y):
        Y = sparse.csr_array(Y)
        given = np.unique(Y.data)
    else:
        given = np.unique(Y)
    if not (np.isin(given, [0, 1]).all() or np.isin(given, [-1, 1]).all()):
        shown = ", ".join(f"{value:g}" for value in given[:6])
        raise DataFileError(
            path,
            f"labels must be 0 and 1, or -1 and +1, but {names.labels!r} holds {shown}. Name "
            "another variable.",
        )
    # In a sparse matrix of -1 and +1 what is left out would be a third value.
    if sparse.issparse(Y) and (given == -1).any() and Y.nnz < Y.shape[0] * Y.shape[1]:
        raise DataFileError(path, f"labels of -1 and +1 must not be sparse ({names.labels!r}).")
    rows = GatheredRows(Y.shape[1])
    rows.add(sparse.csr_array(Y > 0, dtype=np.float64))
    return rows.csr(np.int64)
