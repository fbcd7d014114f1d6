"""What decoder and threshold have to know of the training rows, however these are prepared."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from compactlearn.crossfit._held_out_sample import HeldOut
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class TrainingRows(Protocol):
    """Prepared training rows; ``compact._preparation.Training`` is one."""

    @property
    def pair(self) -> Pair:
        """Features and labels as the embedding sees them."""
        ...

    @property
    def given(self) -> Any:
        """The features as they came, which show what rows are equal; None where rows are gone."""
        ...

    @property
    def labels(self) -> Any:
        """The labels as they came, sparse."""
        ...

    @property
    def weights(self) -> Array | None:
        """The weights of rows."""
        ...

    @property
    def groups(self) -> Any:
        """The user's groups of rows that are held out together, or None."""
        ...

    @property
    def unknown(self) -> Any:
        """A one for each label that is not known, or None."""
        ...

    @property
    def correction(self) -> Any:
        """The correction of labels for noise, or None."""
        ...

    @property
    def completion(self) -> Any:
        """What unknown labels are completed by."""
        ...

    @property
    def folds(self) -> tuple[Moments, ...]:
        """The moments of each fold, where rows are gone."""
        ...

    @property
    def held(self) -> HeldOut | None:
        """The rows held out of a stream."""
        ...

    @property
    def seconds(self) -> float:
        """Estimated seconds of one fit."""
        ...

    @property
    def refit(self) -> int:
        """Estimated bytes of one more fit."""
        ...

    def with_rows(self, *, as_given: bool = False) -> RowsPair:
        """Return a pair that holds the rows."""
        ...

    def held_out_rows(self, rest: Rows, held: Rows, known: Any, *, as_given: bool = False) -> Any:
        """Return held-out rows without features that no row of ``rest`` has."""
        ...

    def held_out_scaling(self, rows: Rows, member: Rows) -> tuple[bool, Array | None]:
        """Return what rows are multiplied by where each member is held out alone."""
        ...
