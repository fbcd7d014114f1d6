"""Columns of the same deviation, as users make them for methods that need it."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.preprocessing import StandardScaler

__all__ = ["scaled"]


def scaled(X_train: Any, X_test: Any, scaling: str | None) -> tuple[Any, Any]:
    """Both with the columns as ``scaling`` says: "standard" has mean 0 and deviation 1 in training.

    Sparse columns keep their zeros, and so their means. Inner folds see columns that were scaled by
    all training rows; the labels have no part in it.
    """
    if scaling != "standard":
        return X_train, X_test
    scaler = StandardScaler(with_mean=not sparse.issparse(X_train)).fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)
