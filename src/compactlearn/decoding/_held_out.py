"""Decoders of codes, their training data, and held-out folds that penalties are selected on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Maps some of the labels to their scores, (n, b): no n x M matrix is needed.
Columns = Callable[[slice | NDArray[np.intp]], Array]


@dataclass(frozen=True)
class CodeDecoder:
    """Linear map from codes to scores: ``codes @ coefficients + intercept``."""

    coefficients: Array  # (m, M)
    intercept: Array  # (M,)
    penalty: float


@dataclass(frozen=True)
class DecoderData:
    """Rows with out-of-fold codes, and with out-of-fold scores by the model's linear decoder.

    The scores are those of the same rows; or of other held-out rows, whose labels and weights are
    ``others``.
    """

    codes: Array  # (n, m)
    labels: Any  # (n, M) sparse matrix of ones
    weights: Array  # (n,)
    linear: Array  # (m, M) the linear decoder of the model whose codes these are
    scores: Columns  # out-of-fold, linear decoder included
    others: tuple[Any, Array] | None = None
    unknown: Any = None  # (n, M) sparse matrix with a one for each label that is not known

    @property
    def scored(self) -> tuple[Any, Array]:
        """Labels and weights of the rows that the scores are of."""
        return (self.labels, self.weights) if self.others is None else self.others


@dataclass(frozen=True)
class HeldOutFold:
    """Training data of some of the rows, and the other rows held out.

    Nothing in ``train`` depends on the labels of the held-out rows, so a decoder that is learnt
    from it can be judged by them.
    """

    train: DecoderData
    rows: NDArray[np.intp]  # (n',) positions of the held-out rows
    codes: Array  # (n', m) as the model of the others predicts them
    labels: Any  # (n', M)
    weights: Array  # (n',)
    unknown: Any = None  # (n', M)


def cell_weights(weights: Array, unknown: Any) -> Array:
    """Return the weights (n,) of rows, or with unknown labels (n, M) of cells, 0 for unknown."""
    if unknown is None:
        return weights
    return np.where(unknown.toarray() > 0, 0.0, weights[:, None])


def known_alone(columns: Columns, unknown: Any) -> Columns:
    """Return scores that are ``-inf`` for unknown labels, so that these are not predicted."""
    if unknown is None:
        return columns
    cells = unknown.tocsc()

    def masked(labels: slice | NDArray[np.intp]) -> Array:
        scores = np.array(columns(labels), dtype=np.float64)
        scores[cells[:, labels].nonzero()] = -np.inf
        return scores

    return masked
