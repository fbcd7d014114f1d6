"""What a decoder is learnt from, and what a choice about it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# From some of the labels to their scores, (n, b): no n x M matrix is needed.
Columns = Callable[[slice | NDArray[np.intp]], Array]


@dataclass(frozen=True)
class DecoderData:
    """Rows with out-of-fold codes, and with out-of-fold scores by the model's own linear decoder.

    The scores are those of the same rows; or of ``others``, their labels and weights, which the
    model has not met either.
    """

    codes: Array  # (n, m)
    labels: Any  # (n, M) sparse matrix of ones
    weights: Array  # (n,)
    linear: Array  # (m, M) the linear decoder of the model whose codes these are
    scores: Columns  # each row's by a model that has not met its labels, decoder included
    others: tuple[Any, Array] | None = None
    unknown: Any = None  # (n, M) sparse matrix with a one for each label that is not known

    @property
    def scored(self) -> tuple[Any, Array]:
        """Labels and weights of the rows that the scores are of."""
        return (self.labels, self.weights) if self.others is None else self.others


@dataclass(frozen=True)
class HeldOutFold:
    """A model of some of the rows, and the other rows in the part of new ones.

    Nothing in ``train`` has met the labels of the new rows, so a decoder that is learnt from it
    can be judged by them.
    """

    train: DecoderData
    held: NDArray[np.intp]  # (n',) which rows are the new ones
    codes: Array  # (n', m) as the model of the others predicts them
    labels: Any  # (n', M)
    weights: Array  # (n',)
    unknown: Any = None  # (n', M)


def cell_weights(weights: Array, unknown: Any) -> Array:
    """(n,) weights of rows, or where labels are unknown (n, M) of cells, 0 for those."""
    if unknown is None:
        return weights
    return np.where(unknown.toarray() > 0, 0.0, weights[:, None])


def known_alone(columns: Columns, unknown: Any) -> Columns:
    """Scores in which labels that are not known come last, and so are never predicted."""
    if unknown is None:
        return columns
    cells = unknown.tocsc()

    def masked(labels: slice | NDArray[np.intp]) -> Array:
        scores = np.array(columns(labels), dtype=np.float64)
        scores[cells[:, labels].nonzero()] = -np.inf
        return scores

    return masked
