"""Out-of-fold scores of rows, with the labels and weights they are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.decoding._held_out import Columns, known_alone
from compactlearn.decoding._thresholds import tune
from compactlearn.linalg._arrays import zeros_on_device_of

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Numbers = NDArray[Any]  # float64, or float32 where there are very many


@dataclass(frozen=True, eq=False)
class OutOfFoldScores:
    """Out-of-fold scores of training rows, decoder included, with their labels and weights."""

    rows: Rows  # (n,) which of the training rows have scores
    columns: Columns  # from some labels to their scores, (n, b)
    labels: Any  # (n, M) csr_array
    weights: Array | None = None  # (n,)
    unknown: Any = None  # (n, M) sparse matrix with a one for each label that is not known

    def tuned(
        self, strategy: str, *, min_positives: int = 5, corrected: bool = False
    ) -> float | Array:
        """Return the threshold, or one for each label, that a strategy selects on these scores.

        Labels that were ``corrected`` for noise are any numbers.
        """
        known = known_alone(self.columns, self.unknown)
        given = known, self.labels, self.weights, min_positives
        return tune(strategy, *given, corrected=corrected)


@dataclass(frozen=True)
class DecodedScores:
    """Scores as decoded codes: one decoder for each part of the rows."""

    n_rows: int
    parts: tuple[tuple[Any, Numbers, Any, Numbers], ...]  # rows, their codes, decoder, offset

    def columns(self, labels: slice | Rows) -> Array:
        """Return the scores (n_rows, b) of some labels."""
        first = self.parts[0][3]
        n_columns = first[labels].size
        scores = zeros_on_device_of((self.n_rows, n_columns), self.parts).astype(
            first.dtype, copy=False
        )
        for rows, codes, decoder, offset in self.parts:
            product = (
                codes[:, labels] if scipy.sparse.issparse(decoder) else codes @ decoder[:, labels]
            )
            scores[rows] = product + offset[labels]
        return scores

    def in_single_precision(self) -> DecodedScores:
        """Return the same scores in float32, which halves the time of very many."""
        parts = [
            (rows, codes.astype(np.float32), decoder.astype(np.float32), offset.astype(np.float32))
            for rows, codes, decoder, offset in self.parts
        ]
        return DecodedScores(self.n_rows, tuple(parts))
