"""What is learnt from: rows of which something is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._warn import warn_user


@dataclass(frozen=True, eq=False)
class Examples:
    """Features, labels, and which labels are not known."""

    X: Any
    Y: Any  # csr_array of ones
    unknown: Any = None  # csr_array of ones, or None if all are known
    frequencies: NDArray[np.float64] | None = None  # what an unknown label is filled with

    def take(self, rows: NDArray[np.intp]) -> Examples:
        """Some of the rows."""
        unknown = None if self.unknown is None else self.unknown[rows]
        return Examples(self.X[rows], self.Y[rows], unknown, self.frequencies)

    @classmethod
    def of(cls, X: Any, Y: Any, unknown: Any) -> Examples:
        """Rows with a known label, and two columns where there is one label."""
        if unknown is None:
            return cls(X, with_complement(Y))
        n_labels = Y.shape[1]
        missing = np.diff(unknown.indptr)
        if (missing == n_labels).all():
            raise ValueError(
                "Every label of every row is unknown, so there is nothing to learn from; pass rows "
                "with known labels."
            )
        if (missing == n_labels).any():
            rows = np.flatnonzero(missing < n_labels)
            X, Y, unknown = X[rows], Y[rows], unknown[rows]
        n_known = Y.shape[0] - unknown.sum(axis=0)
        never = int((n_known == 0).sum())
        if never:
            warn_user(
                f"{never} of the {n_labels} labels are unknown in every row: nothing is learnt "
                "about them. Leave out such columns."
            )
        frequencies = np.asarray(Y.sum(axis=0) / np.maximum(n_known, 1.0))
        if n_labels == 1:  # the rows that are left are known
            return cls(X, with_complement(Y))
        return cls(X, Y, unknown, frequencies)


def with_complement(Y: Any) -> Any:
    """The labels; a single one with its complement before it, so that there are pairs to rank."""
    if Y.shape[1] > 1:
        return Y
    column = Y.toarray()
    return scipy.sparse.csr_array(np.hstack([1.0 - column, column]))
