"""Held-out rows without the features that only they have.

A vectoriser of texts is fitted before any rows are held out, so a held-out text keeps words that no
training text of its fold has. A new text cannot: the vectoriser drops such words and scales what is
left to unit length. Held-out rows are treated alike here, so that their scores are those that new
rows would get. Only sparse rows are changed: the columns of dense rows are known in advance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

__all__ = ["drop_confined_features", "drop_unseen_features"]

# Rows count as rows of unit length up to this error of the squared length: files of rows often keep
# four to six digits.
UNIT_TOLERANCE = 1e-3


def drop_unseen_features(training_rows: Any, held_out_rows: Any) -> Any:
    """Return held-out rows without the features that are zero in all training rows.

    If all rows with any feature have unit Euclidean length, rows that lost a feature are scaled to
    unit length again. Dense rows, and rows without such features, are returned as they are.

    Parameters
    ----------
    training_rows : array-like or sparse matrix of shape (n_training, n_features)
    held_out_rows : array-like or sparse matrix of shape (n_held_out, n_features)

    Examples
    --------
    >>> training = scipy.sparse.csr_array([[0.8, 0.6, 0.0], [1.0, 0.0, 0.0]])
    >>> held_out = scipy.sparse.csr_array([[0.0, 0.6, 0.8], [0.6, 0.8, 0.0]])
    >>> drop_unseen_features(training, held_out).toarray()
    array([[0. , 1. , 0. ],
           [0.6, 0.8, 0. ]])
    """
    if not scipy.sparse.issparse(held_out_rows) or not scipy.sparse.issparse(training_rows):
        return held_out_rows
    training, held_out = training_rows.tocsr(), held_out_rows.tocsr()
    seen = np.zeros(held_out.shape[1], dtype=bool)
    seen[training.indices[training.data != 0]] = True
    lost = ~seen[held_out.indices] & (held_out.data != 0)
    if not lost.any():
        return held_out_rows
    return _without(held_out, lost, unit=_has_unit_rows(held_out) and _has_unit_rows(training))


def drop_confined_features(rows: Any, folds: NDArray[np.intp]) -> Any:
    """Return every row as :func:`drop_unseen_features` does if its fold is held out alone.

    A feature is unseen exactly if all rows that have it are of one fold, so that one pass serves
    all folds.

    Parameters
    ----------
    rows : array-like or sparse matrix of shape (n_rows, n_features)
    folds : ndarray of shape (n_rows,)
        The number of the fold in which a row is held out.

    Examples
    --------
    >>> rows = scipy.sparse.csr_array([[0.8, 0.6, 0.0], [0.6, 0.0, 0.8], [1.0, 0.0, 0.0]])
    >>> drop_confined_features(rows, np.array([0, 1, 2])).toarray()
    array([[1., 0., 0.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    if not scipy.sparse.issparse(rows):
        return rows
    held_out = rows.tocsr()
    present = held_out.data != 0
    own = np.repeat(folds, np.diff(held_out.indptr))
    last = np.full(held_out.shape[1], -1, dtype=np.intp)
    last[held_out.indices[present]] = own[present]  # any one of the folds that have the feature
    shared = np.zeros(held_out.shape[1], dtype=bool)
    shared[held_out.indices[present & (own != last[held_out.indices])]] = True
    lost = present & ~shared[held_out.indices]
    return _without(held_out, lost, unit=_has_unit_rows(held_out)) if lost.any() else rows


def _without(rows: Any, lost: NDArray[np.bool_], *, unit: bool) -> Any:
    """Return CSR rows without the stored values ``lost``, of unit length where that is asked."""
    data = np.where(lost, 0, rows.data)
    if unit:
        owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        shortened = np.zeros(rows.shape[0], dtype=bool)
        shortened[owner[lost]] = True
        lengths = np.sqrt(_squared_lengths(rows, data))
        factors = np.where(shortened & (lengths > 0), 1 / np.where(lengths > 0, lengths, 1), 1)
        data = (data * factors[owner]).astype(rows.dtype, copy=False)
    found = type(rows)((data, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    found.eliminate_zeros()
    return found


def _has_unit_rows(rows: Any) -> bool:
    """Whether there are rows with features, and all of these have unit Euclidean length."""
    squared = _squared_lengths(rows, rows.data)
    squared = squared[squared > 0]
    return bool(squared.size and (np.abs(squared - 1) <= UNIT_TOLERANCE).all())


def _squared_lengths(rows: Any, data: NDArray[Any]) -> NDArray[np.float64]:
    """Return (n_rows,) sums of squares of the stored values of CSR rows."""
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    squares = np.square(data, dtype=np.float64)
    return np.bincount(owner, weights=squares, minlength=rows.shape[0])
