"""Estimates of the seconds and the memory of a fit, from the sizes of the data.

``tools/estimates.py`` measures fits, finds the coefficients below and checks them on other data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._compiled import compiles
from compactlearn.core._progress import announce
from compactlearn.linalg import _routes as routes
from compactlearn.linalg._many_logistic import COMPILED_ENTRIES
from compactlearn.shortlist._fitting import HELD_OUT_ROWS, fold_counts, refits
from compactlearn.shortlist._generation import compresses, usual_candidates, usual_codes
from compactlearn.shortlist._label_reranking import JUDGING_PAIRS, THINNED_PAIRS
from compactlearn.shortlist._neighbours import WORK_AT_LEAST, WORK_PER_ROW
from compactlearn.shortlist._prior import LEARNT_PAIRS

Array = NDArray[np.float64]

# Seconds of one core for each unit of ``FitSizes.work``, with Numba and without.
COMPILED_SECONDS = (
    0.737,
    5.22e-09,
    6.28e-10,
    0,
    1.23e-10,
    0,
    0,
    3.97e-09,
    0,
    1.01e-08,
    8.58e-09,
    4.76e-07,
    1.13e-09,
    6.42e-05,
    9.61e-07,
)
PLAIN_SECONDS = (
    0,
    1.51e-08,
    4.76e-10,
    0,
    1.1e-10,
    0,
    0,
    4.52e-09,
    0,
    6.63e-08,
    1.87e-08,
    6.84e-07,
    2.33e-09,
    7.73e-05,
    9.61e-07,
)
# Bytes for each unit of ``FitSizes.arrays``.
BYTES = (8.68e07, 8.5e07, 52.8, 35.7, 891, 0, 0, 0.55)

_KEPT_SHARE = 0.4  # of candidates, if easy ones are left out
_LIKELY = 3.0  # likely labels of a row for each label that it has


def announce_fit(X: Any, Y: Any, n_candidates: int, verbose: int) -> None:
    """Announce a long or large fit; raise MemoryError if it needs more memory than is free."""
    shape = FitSizes.of(X, Y, n_candidates)
    memory.require_memory(
        int(shape.n_bytes),
        what="A fit of ShortlistClassifier to these rows",
        remedy="Pass fewer rows, a smaller n_candidates, or a larger min_label_count.",
    )
    announce("ShortlistClassifier: the fit", shape.seconds, verbose, shape.n_bytes)


@dataclass(frozen=True)
class FitSizes:
    """Sizes of the data of a fit."""

    n_rows: int
    n_features: int
    n_labels: int
    stored: int  # values of X
    present: int  # labels of all rows
    squares: float  # sum over the features of the squared number of their rows
    n_candidates: int

    @classmethod
    def of(cls, X: Any, Y: Any, n_candidates: int | None = None) -> FitSizes:
        """Return the sizes of sparse or dense rows and sparse labels."""
        (n_rows, n_features), n_labels = X.shape, Y.shape[1]
        frequency = np.full(n_features, n_rows, dtype=np.float64)
        if scipy.sparse.issparse(X):
            frequency = np.bincount(X.indices, minlength=n_features).astype(np.float64)
        count = n_candidates or usual_candidates(n_rows, n_labels, Y.nnz)
        squares = float(frequency @ frequency)
        return cls(n_rows, n_features, n_labels, int(frequency.sum()), Y.nnz, squares, count)

    @property
    def seconds(self) -> float:
        """Estimated seconds of a fit on one core."""
        return float(self.work @ (COMPILED_SECONDS if compiles() else PLAIN_SECONDS))

    @property
    def n_bytes(self) -> float:
        """Estimated memory that a fit needs in addition to its data."""
        return float(self.arrays @ BYTES)

    @property
    def work(self) -> Array:
        """Multiplications, pairs and rows of the steps of a fit."""
        n_rows, (_, folds) = self.n_rows, fold_counts(self.n_rows)
        steps = folds + refits(n_rows)
        fits, codes = 3 * steps, usual_codes(n_rows, self.n_labels)
        route = self._route
        sizes = n_rows + self.n_features + self.n_labels
        side = min(n_rows, self.n_features)
        solved = steps * self._entries
        large = solved > COMPILED_ENTRIES
        most = max(WORK_PER_ROW * n_rows, WORK_AT_LEAST)
        return np.array(
            [
                1,
                2 * steps * self.stored * codes if route == "codes" else 0,
                fits * sizes * codes**2 if route == "codes" else 0,
                fits * side**3 if route == "factorised" else 0,
                fits * side**2 * self.n_labels if route == "factorised" else 0,
                fits * self.stored * self.n_labels if route == "products" else 0,
                fits * self.n_features * self.n_labels if route == "products" else 0,
                steps * n_rows * self.n_labels,
                steps * self._pairs,
                0 if large else solved,
                solved if large else 0,
                min(JUDGING_PAIRS, self._pairs) * self._row_entries,
                steps * min(self.squares, most),
                steps * n_rows,
                self._held_out * self.present / n_rows,
            ],
            dtype=np.float64,
        )

    @property
    def arrays(self) -> Array:
        """Lengths of the largest arrays of a fit.

        The matrices of a retriever that does not compress are gone when the prior is learnt.
        """
        prior = min(self._pairs, LEARNT_PAIRS)
        sizes, route = self.n_rows + self.n_features + self.n_labels, self._route
        square = min(self.n_rows, self.n_features) ** 2 if route == "factorised" else 0
        ridge = 0 if route == "codes" else square + 2 * self.n_features * self.n_labels
        return np.array(
            [
                1,
                self._entries > COMPILED_ENTRIES,
                self.stored + self.present,
                self._pairs,
                prior,
                self._held_out,
                sizes * usual_codes(self.n_rows, self.n_labels) if route == "codes" else 0,
                max(0, 20 * ridge - 900 * prior),
            ],
            dtype=np.float64,
        )

    @property
    def _route(self) -> str:
        """Name of the solver of the retriever."""
        n_rows, n_labels = self.n_rows, self.n_labels
        if compresses(n_rows, self.n_features, n_labels):
            return "codes"
        sizes = self.n_features, n_labels, self.stored, self.present
        blocks = routes.Shape(n_rows, *sizes, left_sparse=True)
        return "products" if routes.ridge_by_products(blocks, n_labels) else "factorised"

    @property
    def _pairs(self) -> int:
        return self.n_rows * self.n_candidates

    @property
    def _held_out(self) -> int:
        return min(self.n_rows, HELD_OUT_ROWS) * self.n_candidates

    @property
    def _row_entries(self) -> float:
        return 1.0 + (self.stored + _LIKELY * self.present) / self.n_rows

    @property
    def _entries(self) -> float:
        pairs = self._pairs if self._pairs < THINNED_PAIRS else _KEPT_SHARE * self._pairs
        return pairs * self._row_entries
