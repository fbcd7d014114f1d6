"""Training rows as embedding, learner and decoder see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.crossfit._held_out_sample import HeldOut
from compactlearn.linalg._arrays import scale_columns, to_device_of, working_form
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.linalg._unseen_features import (
    confined_scaling,
    drop_confined_features,
    drop_unseen_features,
)

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class TrainingRows:
    """Prepared rows and labels; ``compact._preparation`` makes them."""

    pair: Pair
    row_map: Any  # a compact._preparation.RowMap: preprocessing of rows before the projection
    features: Any = None  # X, mapped and scaled, in the form it came
    weights: Array | None = None
    blocks: tuple[Any, Any] | None = None  # the rows of a pair that may have moments only
    given: Any = None  # X as it came: rows are compared for equality in this form
    labels: Any = None  # the right block as it came, sparse
    groups: Any = None
    moments: Moments | None = None  # in the user's units, where the pair is made of them alone
    seconds: float = 0.0  # estimated duration of computing the embedding and the ridge
    refit: int = 0  # estimated bytes of doing so again for a part of the rows
    held_out: HeldOut | None = None  # rows held out of a stream, and a second model's pair
    n_passes: int | None = None  # over the blocks
    unknown: Any = None  # csr_array with a one for each label that is not known
    correction: Any = None  # of labels for flips: the pair and the labels have it
    completion: Any = None  # by which unknown labels were completed, in the pair
    units: Array | None = None  # divisors that the columns of ``given`` were divided by

    def with_rows(self, *, as_given: bool = False) -> RowsPair:
        """Return the pair, or where that has moments only, one with the rows.

        ``as_given``: with the features in the form they came, for a learner of all features that
        may not accept the internal form.
        """
        if isinstance(self.pair, RowsPair) and not as_given:
            return self.pair
        assert self.blocks is not None
        X, Y = self.blocks
        X = self.features if as_given else X
        return RowsPair.of_rows(
            X, Y, to_device_of(self.weights, X), given_left=self.pair.given_left
        )

    def held_out_rows(
        self, rest: Rows, held_out: Rows, known: Any, *, as_given: bool = False
    ) -> Any:
        """Return held-out rows without the features that no row of ``rest`` has.

        ``known`` are these rows with all features, in the form of a pair of the rows ``rest``; they
        are returned where nothing is dropped. ``as_given`` as in :meth:`with_rows`.
        """
        if not scipy.sparse.issparse(self.given):
            return known
        own, units = undivided(self.given[held_out], self.units), self.units
        reduced = drop_unseen_features(undivided(self.given[rest], units), own)
        if reduced is own:
            return known
        rows = self.row_map.rows(reduced if units is None else scale_columns(reduced, 1 / units))
        if self.row_map.as_kernel:
            return rows[:, rest]
        return rows if as_given else working_form(rows)

    def held_out_scaling(self, rows: Rows, member: Rows) -> tuple[bool, Array | None]:
        """Return whether holding out each ``member`` alone only scales the features of ``rows``,
        and the factors of that scaling, or None.
        """
        if not scipy.sparse.issparse(self.given):
            return True, None
        given = undivided(self.given[rows], self.units)
        if self.row_map.keeps_features:
            return True, confined_scaling(self.row_map.mapped(given), member)
        return drop_confined_features(given, member) is given, None


def undivided(X: Any, units: Array | None) -> Any:
    """Return rows before their columns were divided by ``units``, where these are given."""
    return X if units is None else scale_columns(X, units)
