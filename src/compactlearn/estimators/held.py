"""Checked data in their regime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import memory
from compactlearn.embeddings.base import Plan
from compactlearn.linalg.moments import Moments
from compactlearn.linalg.pairs import Pair
from compactlearn.linalg.regimes import kernel_copies
from compactlearn.linalg.rows_pair import RowsPair
from compactlearn.linalg.rowwise_pair import RowwisePair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Held:
    """Checked data in their regime, and what a foreign regressor needs besides."""

    pair: Pair
    features: Any  # X, mapped and scaled, in the form it came
    weights: Array | None
    rows: tuple[Any, Any] | None = None
    given: Any = None  # X as it came: what equal rows are judged by
    groups: Any = None
    folds: tuple[Moments, ...] = ()  # where the rows are gone: the moments of each fold
    seconds: float = 0.0  # what finding the embedding and the ridge is estimated to take
    refit: int = 0  # bytes that doing so again for a part of the rows is estimated to need

    def with_rows(self, *, as_given: bool = False) -> RowwisePair:
        """The pair, or where that has moments only, one that holds the rows.

        ``as_given``: with the features in the form they came, for a learner that will see them all
        and may not take the one we work on.
        """
        if isinstance(self.pair, RowwisePair) and not as_given:
            return self.pair
        assert self.rows is not None
        X, Y = self.rows
        X = self.features if as_given else X
        return RowsPair(X, Y, self.weights, given_left=self.pair.given_left)


def require_room_for_kernel(n_rows: int, plan: Plan) -> None:
    """Refuse a kernel matrix that, with what is made of it, would not fit in the memory."""
    copies = kernel_copies(n_rows, plan.demand(learns=True))
    memory.require_memory(
        8 * int(copies * n_rows**2),
        what=f"Fitting an exact kernel of {n_rows} rows",
        remedy="Use KernelMap(method='nystroem') with n_components well below that, or fewer rows.",
    )
