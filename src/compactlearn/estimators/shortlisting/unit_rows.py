"""Rows of unit length.

As scikit-learn's ``Normalizer`` makes them. That checks its input again, which for a single row
takes longer than all the rest of a prediction; what comes here is checked already.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin


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
        # One term after the other, so that dense rows and sparse ones get the very same length.
        lengths = np.sqrt(np.bincount(row, np.square(values, dtype=np.float64), X.shape[0]))
        values = (values / np.where(lengths > 0, lengths, 1.0)[row]).astype(X.dtype, copy=False)
        if not sparse:
            return values.reshape(X.shape)
        return scipy.sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
