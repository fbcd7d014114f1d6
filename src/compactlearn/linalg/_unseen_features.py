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

__all__ = ["confined_scaling", "drop_confined_features", "drop_unseen_features", "keep_features"]

# Rows count as rows of unit length up to this error of the squared length: files of rows often keep
# four to six digits.
UNIT_TOLERANCE = 1e-3


def drop_unseen_features(training_rows: Any, held_out_rows: Any) -> Any:
    """Return held-out rows without the features that are zero in all training rows.

    If all rows with any feature have unit Euclidean length, rows that lost a feature are scaled to
    unit length again. Dense rows, and rows without such features, are returned as they are.

    >>> training = scipy.sparse.csr_array([[0.8, 0.6, 0.0], [1.0, 0.0, 0.0]])
    >>> held_out = scipy.sparse.csr_array([[0.0, 0.6, 0.8], [0.6, 0.8, 0.0]])
    >>> drop_unseen_features(training, held_out).toarray()
    array([[0. , 1. , 0. ],
           [0.6, 0.8, 0. ]])
    """
    if not scipy.sparse.issparse(held_out_rows) or not scipy.sparse.issparse(training_rows):
        return held_out_rows
    training = training_rows.tocsr()
    seen = np.zeros(training.shape[1], dtype=bool)
    seen[training.indices[training.data != 0]] = True
    return keep_features(held_out_rows, seen, like=training)


def keep_features(rows: Any, seen: NDArray[np.bool_], like: Any = None) -> Any:
    """Return held-out rows with the features ``seen`` (n_features,) alone.

    Rows are scaled again as by :func:`drop_unseen_features`; ``like`` are CSR rows that must have
    unit length, too.
    """
    if not scipy.sparse.issparse(rows):
        return rows
    held_out = rows.tocsr()
    lost = ~seen[held_out.indices] & (held_out.data != 0)
    if not lost.any():
        return rows
    unit = _has_unit_rows(held_out) and (like is None or _has_unit_rows(like))
    return _without(held_out, lost, unit=unit)


def drop_confined_features(rows: Any, folds: NDArray[np.integer[Any]]) -> Any:
    """Return every row as :func:`drop_unseen_features` does if its fold is held out alone.

    A feature is unseen exactly if all rows that have it are of one fold, so that one pass serves
    all folds; ``folds`` (n_rows,) number those in which rows are held out.

    >>> rows = scipy.sparse.csr_array([[0.8, 0.6, 0.0], [0.6, 0.0, 0.8], [1.0, 0.0, 0.0]])
    >>> drop_confined_features(rows, np.array([0, 1, 2])).toarray()
    array([[1., 0., 0.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    if not scipy.sparse.issparse(rows):
        return rows
    held_out = rows.tocsr()
    lost = _confined(held_out, folds)
    return _without(held_out, lost, unit=_has_unit_rows(held_out)) if lost.any() else rows


def confined_scaling(rows: Any, folds: NDArray[np.integer[Any]]) -> NDArray[np.float64] | None:
    """Return (n_rows,) the factors by which :func:`drop_confined_features` scales rows again.

    None where no row is scaled. A linear model has no weights on unseen features, so the factor is
    all that changes its score of a held-out row.

    >>> rows = scipy.sparse.csr_array([[0.6, 0.8], [1.0, 0.0]])
    >>> confined_scaling(rows, np.array([0, 1])).round(2)
    array([1.67, 1.  ])
    """
    if not scipy.sparse.issparse(rows):
        return None
    held_out = rows.tocsr()
    lost = _confined(held_out, folds)
    if not lost.any() or not _has_unit_rows(held_out):
        return None
    return _factors(held_out, lost)


def _confined(rows: Any, folds: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Return for each stored value of CSR rows whether its column has values in one fold alone."""
    present = rows.data != 0
    own = np.repeat(folds, np.diff(rows.indptr))
    last = np.full(rows.shape[1], -1, dtype=np.intp)
    last[rows.indices[present]] = own[present]  # any one of the folds that have the feature
    shared = np.zeros(rows.shape[1], dtype=bool)
    shared[rows.indices[present & (own != last[rows.indices])]] = True
    return present & ~shared[rows.indices]


def _without(rows: Any, lost: NDArray[np.bool_], *, unit: bool) -> Any:
    """Return CSR rows without the stored values ``lost``, of unit length where that is asked."""
    data = np.where(lost, 0, rows.data)
    if unit:
        data = (data * np.repeat(_factors(rows, lost), np.diff(rows.indptr))).astype(rows.dtype)
    found = type(rows)((data, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    found.eliminate_zeros()
    return found


def _factors(rows: Any, lost: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what CSR rows that have lost values are multiplied by to have unit length again."""
    kept = _squared_lengths(rows, np.where(lost, 0, rows.data))
    change = (_squared_lengths(rows, lost.astype(np.float64)) > 0) & (kept > 0)
    return 1 / np.sqrt(np.where(change, kept, 1.0))


def _has_unit_rows(rows: Any) -> bool:
    """Return whether there are rows with features, and all of these have unit Euclidean length."""
    squared = _squared_lengths(rows, rows.data)
    squared = squared[squared > 0]
    return bool(squared.size and (np.abs(squared - 1) <= UNIT_TOLERANCE).all())


def _squared_lengths(rows: Any, data: NDArray[Any]) -> NDArray[np.float64]:
    """Return (n_rows,) sums of squares of the stored values of CSR rows."""
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    squares = np.square(data, dtype=np.float64)
    return np.bincount(owner, squares, rows.shape[0]).astype(np.float64, copy=False)
