"""Rows of unit length.

As scikit-learn's ``Normalizer`` makes them. That checks its input again, which for a single row
takes longer than all the rest of a prediction; what comes here is checked already.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin

_LONGEST_KEPT = 1e8  # of a row: float32 holds sums of fourth powers, squares of similarities
_SHORTEST, _LONGEST = 1e-150, 1e150  # lengths whose squares neither vanish nor overflow


class UnitRows(OneToOneFeatureMixin, BaseEstimator):
    """Divide each row by its length; a row of zeros stays one."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learnt."""
        del X, y
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Any:
        """The same rows, of length 1, in the type of X.

        >>> UnitRows().transform(np.array([[3.0, 4.0], [0.0, 0.0]]))
        array([[0.6, 0.8],
               [0. , 0. ]])
        """
        sparse = scipy.sparse.issparse(X)
        values = X.data if sparse else np.ravel(X)
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr) if sparse else X.shape[1])
        lengths = _lengths(values, row, X.shape[0])
        if not ((lengths > _SHORTEST) & (lengths < _LONGEST)).all():
            values = _of_common_size(values, row, X.shape[0])
            lengths = _lengths(values, row, X.shape[0])
        values = (values / np.where(lengths > 0, lengths, 1.0)[row]).astype(X.dtype, copy=False)
        if not sparse:
            return values.reshape(X.shape)
        return scipy.sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)


def require_single_precision(rows: scipy.sparse.csr_array) -> None:
    """Raise ValueError where products of rows that are kept as they are overflow in float32."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    longest = float(_lengths(rows.data, row, rows.shape[0]).max(initial=0.0))
    if longest > _LONGEST_KEPT:
        raise ValueError(
            f"With unit_rows=False the rows of X must have lengths of at most {_LONGEST_KEPT:g}, "
            f"since they are kept in single precision; got {longest:g}. Divide the features by a "
            "common factor, or set unit_rows=True."
        )


def _lengths(values: Any, row: Any, n_rows: int) -> Any:
    """The lengths of rows, given by their values and the row of each."""
    # One term after the other, so that dense rows and sparse ones get the very same length.
    with np.errstate(over="ignore"):
        return np.sqrt(np.bincount(row, np.square(values, dtype=np.float64), n_rows))


def _of_common_size(values: Any, row: Any, n_rows: int) -> Any:
    """The values of each row times the power of two that brings its largest to about 1."""
    largest = np.zeros(n_rows)
    np.maximum.at(largest, row, np.abs(values))
    return np.ldexp(values.astype(np.float64), -np.frexp(largest)[1][row])
