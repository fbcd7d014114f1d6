"""Return type of all readers, and the error of a malformed file."""

import hashlib
import os
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from compactlearn.core._compress import with_cells_once

Matrix = np.ndarray | sparse.csr_array
_CHUNK = 1 << 18  # values that are hashed at once


class DataFileError(ValueError):
    """A data file that cannot be read: which file, which line where there are lines, and why.

    Parameters
    ----------
    path : str or path
        The file.
    reason : str
        The requirement, what was found, and what to do.
    line : int, optional
        Counted from 1.

    Examples
    --------
    >>> print(DataFileError("toy.csv", "a row must hold 3 values, got 2.", line=7))
    toy.csv, line 7: a row must hold 3 values, got 2.
    """

    def __init__(
        self, path: str | os.PathLike[str], reason: str, *, line: int | None = None
    ) -> None:
        super().__init__(path, reason)  # by these it is pickled, and by its attributes
        self.path, self.reason, self.line = os.fspath(path), reason, line

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.reason}"


def as_dense(matrix: Matrix) -> np.ndarray:
    """Return the matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def short(text: str) -> str:
    """Return the text, shortened for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features and labels of the same rows.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), float64
    Y : ndarray or csr_array of shape (n_samples, n_labels), int64
        0 and 1. The type is wide on purpose: label counts such as ``Y.T @ Y`` would wrap around
        at 128 in a type of one byte.
    feature_names, label_names : tuple of str or None
        None where the source has no names.
    name : str
    source : str
        Where the values came from, for people.
    n_train : int or None
        Where a customary split exists, its training part is the first `n_train` rows.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> data
    Dataset 'emotions': 593 rows, 72 features (dense), 6 labels, 1.87 labels per row
    >>> data.X.shape, data.Y.shape
    ((593, 72), (593, 6))
    >>> train, test = data.split()
    >>> train.n_samples, test.n_samples
    (391, 202)
    """

    X: Matrix
    Y: Matrix
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None
    name: str = "unnamed"
    source: str = ""
    n_train: int | None = None

    def __post_init__(self) -> None:
        rows = self.X.shape[0]
        if self.Y.shape[0] != rows:
            raise ValueError(
                f"X and Y of a Dataset must describe the same rows, but X has {rows} rows and Y "
                f"has {self.Y.shape[0]}; pass two matrices of equal length."
            )
        for what, names, matrix in (
            ("feature_names", self.feature_names, self.X),
            ("label_names", self.label_names, self.Y),
        ):
            if names is not None and len(names) != matrix.shape[1]:
                raise ValueError(
                    f"{what} must hold one name per column, {matrix.shape[1]} in all, but "
                    f"{len(names)} were given; pass as many names as columns, or None."
                )
        if self.n_train is not None and not 0 < self.n_train < rows:
            raise ValueError(
                f"n_train must leave rows on both sides, so lie between 1 and {rows - 1}, but is "
                f"{self.n_train}; pass such a number, or None where there is no customary split."
            )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return self.X.shape[1]

    @property
    def n_labels(self) -> int:
        """Number of columns of `Y`."""
        return self.Y.shape[1]

    @property
    def cardinality(self) -> float:
        """Mean number of labels per row."""
        return float(self.Y.sum()) / max(1, self.n_samples)

    @property
    def n_label_sets(self) -> int:
        """Number of different label sets among the rows; an empty one counts too."""
        Y = sparse.csr_array(self.Y, copy=True)
        Y.eliminate_zeros()
        Y.sort_indices()
        return len({Y.indices[start:stop].tobytes() for start, stop in pairwise(Y.indptr)})

    def split(self) -> tuple["Dataset", "Dataset"]:
        """Return the customary training and test part.

        Raises
        ------
        ValueError
            If the set has none; then split X and Y yourself.
        """
        if self.n_train is None:
            raise ValueError(
                f"The data set {self.name!r} has no customary split; split X and Y with "
                "sklearn.model_selection.train_test_split instead."
            )
        n = self.n_train
        train = replace(self, X=self.X[:n], Y=self.Y[:n], name=f"{self.name}-train", n_train=None)
        test = replace(self, X=self.X[n:], Y=self.Y[n:], name=f"{self.name}-test", n_train=None)
        return train, test

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        return (
            f"Dataset {self.name!r}: {self.n_samples} rows, {self.n_features} features ({kind}), "
            f"{self.n_labels} labels, {self.cardinality:.2f} labels per row"
        )


def fingerprint(data: Dataset) -> str:
    """Return the SHA-256 of features and labels, whatever their names and file formats.

    Parameters
    ----------
    data : Dataset
        Data set to identify.

    Examples
    --------
    >>> import numpy as np
    >>> one = Dataset(np.eye(2), np.eye(2, dtype=int), name="one")
    >>> two = Dataset(np.eye(2), sparse.csr_array(np.eye(2, dtype=int)), name="two")
    >>> fingerprint(one) == fingerprint(two)
    True
    >>> fingerprint(one) == fingerprint(Dataset(np.eye(2), 1 - np.eye(2, dtype=int)))
    False
    """
    found = hashlib.sha256(b"compactlearn data 1")
    for matrix, kind in ((data.X, "<f8"), (data.Y, "<i8")):
        rows = with_cells_once(sparse.csr_array(matrix))
        if not rows.data.all():
            rows = rows.copy()  # the caller's stays as it is
            rows.eliminate_zeros()
        found.update(repr(tuple(map(int, rows.shape))).encode())
        for part, dtype in ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, kind)):
            for start in range(0, len(part), _CHUNK):
                chunk = np.ascontiguousarray(part[start : start + _CHUNK], dtype=dtype)
                found.update(chunk.data)
    return found.hexdigest()
