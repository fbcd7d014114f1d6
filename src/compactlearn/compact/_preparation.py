"""What is done to rows before an embedding sees them: mapped, scaled, and held in a regime."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._unit_rows import UnitRows
from compactlearn.core import _memory as memory
from compactlearn.core._devices import DeviceArray, free_bytes, place_of, wrap
from compactlearn.core._progress import announce
from compactlearn.core._validation import check_mapped
from compactlearn.crossfit._held_out_sample import HeldOut
from compactlearn.crossfit._plan import N_FOLDS
from compactlearn.embeddings._base import Embedding, refuse_devices
from compactlearn.embeddings._components import shrink_auto
from compactlearn.linalg._arrays import beside, right_beside, scale_columns, working_form
from compactlearn.linalg._build import build_pair, plan_route
from compactlearn.linalg._graded import deviations_of, inverse_deviations
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import (
    Demand,
    Shape,
    kernel_copies,
    kernel_refit_bytes,
    kernel_seconds,
    needed_bytes,
    refit_bytes,
)
from compactlearn.linalg._row_sums import column_moments
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.linalg._unseen_features import (
    confined_scaling,
    drop_confined_features,
    drop_unseen_features,
)

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_MAPPED_ENTRIES = 1 << 23  # 64 MB of kernel rows at a time


@dataclass(frozen=True)
class RowMap:
    """What rows go through before the projection, learnt from features alone."""

    feature_map: Any = None  # fitted
    scale: Array | None = None  # what columns are divided by
    as_kernel: bool = False  # rows become kernel values against the training rows, not features

    def mapped(self, X: Any) -> Any:
        """Checked rows after the feature map."""
        if self.feature_map is None:
            return X
        if isinstance(self.feature_map, KernelMap):
            return self._kernel_mapping(X)
        return check_mapped(self.feature_map.transform(X), self.feature_map)

    @property
    def _kernel_mapping(self) -> Callable[[Any], Any]:
        mapping = self.feature_map
        return mapping.checked_rows if self.as_kernel else mapping.checked_transform

    def scaled(self, X: Any) -> Any:
        """Mapped rows, each column divided by its scale."""
        return X if self.scale is None else scale_columns(X, 1.0 / self.scale)

    def rows(self, X: Any) -> Any:
        """Checked rows as a pair of blocks knows them."""
        return self.scaled(self.mapped(X))

    def mapped_blocks(self, X: Any, width: int) -> Iterator[tuple[slice, Any]]:
        """Mapped rows, of so many columns: some at a time where a kernel widens them."""
        n_rows = X.shape[0]
        if not isinstance(self.feature_map, KernelMap):
            yield slice(0, n_rows), self.mapped(X)
            return
        mapping = self._kernel_mapping
        step = max(64, _MAPPED_ENTRIES // width)
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            yield rows, mapping(X[rows])


@dataclass(frozen=True)
class Training:
    """Checked data in their regime, and what a foreign regressor needs besides."""

    pair: Pair
    row_map: RowMap = field(default_factory=RowMap)
    features: Any = None  # X, mapped and scaled, in the form it came
    weights: Array | None = None
    blocks: tuple[Any, Any] | None = None  # the rows of a pair that may have moments only
    given: Any = None  # X as it came: what equal rows are judged by
    labels: Any = None  # the right block as it came, sparse
    groups: Any = None
    moments: Moments | None = None  # in the user's units, where the pair is made of them alone
    folds: tuple[Moments, ...] = ()  # where the rows are gone: the moments of each fold
    seconds: float = 0.0  # what finding the embedding and the ridge is estimated to take
    refit: int = 0  # bytes that doing so again for a part of the rows is estimated to need
    held: HeldOut | None = None  # where rows came in blocks: some that a second model has not met
    n_passes: int | None = None  # over the blocks
    unknown: Any = None  # csr_array with a one for each label that is not known
    correction: Any = None  # of labels for flips: the pair and the labels have it
    completion: Any = None  # what these were completed by, in the pair: see completing.py
    units: Array | None = None  # what columns of ``given`` were divided by before

    def with_rows(self, *, as_given: bool = False) -> RowsPair:
        """The pair, or where that has moments only, one that holds the rows.

        ``as_given``: with the features in the form they came, for a learner that will see them all
        and may not take the one we work on.
        """
        if isinstance(self.pair, RowsPair) and not as_given:
            return self.pair
        assert self.blocks is not None
        X, Y = self.blocks
        X = self.features if as_given else X
        return RowsPair.of_rows(X, Y, beside(self.weights, X), given_left=self.pair.given_left)

    def held_out_rows(self, rest: Rows, held: Rows, known: Any, *, as_given: bool = False) -> Any:
        """Return held-out rows as a pair of the rows ``rest`` knows them, without features that no
        row of these has; or ``known``, the rows with all features, where there are none such.

        ``as_given`` as in :meth:`with_rows`.
        """
        if not scipy.sparse.issparse(self.given):
            return known
        own, units = undivided(self.given[held], self.units), self.units
        reduced = drop_unseen_features(undivided(self.given[rest], units), own)
        if reduced is own:
            return known
        rows = self.row_map.rows(reduced if units is None else scale_columns(reduced, 1 / units))
        if self.row_map.as_kernel:
            return rows[:, rest]
        return rows if as_given else working_form(rows)

    def held_out_scaling(self, rows: Rows, member: Rows) -> tuple[bool, Array | None]:
        """Return what the features of ``rows`` are multiplied by where each ``member`` is held out
        alone, or None; and first, whether that is all that changes.
        """
        if not scipy.sparse.issparse(self.given):
            return True, None
        given, mapping = undivided(self.given[rows], self.units), self.row_map.feature_map
        if mapping is None or isinstance(mapping, UnitRows):
            return True, confined_scaling(self.row_map.mapped(given), member)
        return drop_confined_features(given, member) is given, None


def undivided(X: Any, units: Array | None) -> Any:
    """Return rows before their columns were divided by ``units``, where these are given."""
    return X if units is None else scale_columns(X, units)


@dataclass(frozen=True)
class Preparation:
    """What a classifier asks for; its letters are those of ``CompactClassifier``."""

    feature_map: Any = None
    scale: bool = False
    regressor: Any = None
    random_state: Any = None
    verbose: int = 0
    owner: str = "CompactClassifier"

    @classmethod
    def of(cls, classifier: Any) -> Preparation:
        return cls(
            classifier.feature_map,
            classifier.scale,
            classifier.regressor,
            classifier.random_state,
            classifier.verbose,
            type(classifier).__name__,
        )

    def fit(
        self,
        embedding: Embedding,
        X: Any,
        Y: Any,
        weights: Array | None = None,
        groups: Any = None,
    ) -> Training:
        """Map and scale checked rows, and hold them in the regime that suits the embedding."""
        if isinstance(X, DeviceArray):
            self._refuse_foreign(X)
            refuse_devices(embedding, X)
        if self._goes_through_kernel(embedding, X.shape, Y.shape[1]):
            return self._fit_kernel(embedding, X, Y, weights, groups)
        row_map, mapped, factors = RowMap(), X, None
        if self.feature_map is not None:
            mapping = self._fresh_map()
            weighs = isinstance(mapping, KernelMap)
            row_map = RowMap(mapping.fit_rows(X, weights) if weighs else mapping.fit(X))
            mapped = row_map.mapped(X)
        given_features = (X if isinstance(self.feature_map, KernelMap) else mapped).shape[1]
        features = mapped
        held, labels = working_form(mapped), Y
        Y = right_beside(Y, held)
        shape = Shape.of(held, Y)
        learns = self.regressor is None
        demand = affordable(embedding, shape, given_features, learns=learns)
        if self.scale:
            factors = inverse_deviations(*column_moments(held, weights))
            held, features = scale_columns(held, factors), scale_columns(features, factors)
            row_map = RowMap(row_map.feature_map, 1.0 / factors)
        route = plan_route(held, Y, demand, embedding.traits.regime)
        self._announce(route.seconds)
        pair = build_pair(held, Y, weights, regime=route.regime, given_left=given_features)
        moments = None
        if isinstance(pair, MomentsPair) and self.feature_map is None and self.regressor is None:
            moments = pair.moments if factors is None else pair.moments.rescaled(1.0 / factors)
        return Training(
            pair,
            row_map,
            features,
            weights,
            blocks=(held, Y),
            given=X,
            groups=groups,
            labels=labels,
            moments=moments,
            seconds=route.seconds,
            refit=refit_bytes(shape, demand, route.regime, N_FOLDS),
        )

    def _fit_kernel(
        self, embedding: Embedding, X: Any, Y: Any, weights: Array | None, groups: Any
    ) -> Training:
        """An exact kernel as such: its matrix stands in for the products of features."""
        n_rows, n_features = X.shape
        demand = embedding.plan(n_rows, Y.shape[1], n_features).demand(learns=True)
        require_room_for_kernel(n_rows, demand, free_bytes(X))
        takes = kernel_seconds(n_rows, demand)
        self._announce(takes)
        mapping = self._fresh_map().fit_rows(X, weights)
        return Training(
            RowsPair.of_kernel(
                wrap(mapping.gram()),
                right_beside(Y, X),
                beside(weights, X),
                given_left=n_features,
            ),
            RowMap(mapping, as_kernel=True),
            weights=weights,
            given=X,
            labels=Y,
            groups=groups,
            seconds=takes,
            refit=kernel_refit_bytes(n_rows, demand, N_FOLDS),
        )

    def from_moments(self, moments: Moments, folds: tuple[Moments, ...] = ()) -> Training:
        """Moments in place of data, and those of each fold, scaled if asked for."""
        scale = deviations_of(moments) if self.scale else None
        held = moments if scale is None else moments.rescaled(1.0 / scale)
        if scale is not None:
            folds = tuple(fold.rescaled(1.0 / scale) for fold in folds)
        return Training(MomentsPair(held), RowMap(scale=scale), moments=moments, folds=folds)

    def _announce(self, takes: float) -> None:
        announce(f"{self.owner}: the embedding", takes, self.verbose)

    def _refuse_foreign(self, X: DeviceArray) -> None:
        foreign = {"regressor": (self.regressor, "leave it out, for the built-in ridge")}
        if not isinstance(self.feature_map, KernelMap):
            advice = "use KernelMap, or put it before the classifier in a Pipeline"
            foreign["feature_map"] = self.feature_map, advice
        for name, (part, advice) in foreign.items():
            if part is not None:
                raise ValueError(
                    f"On {place_of(X)} {self.owner} has its built-in ridge and KernelMap alone, "
                    f"and {name} is {type(part).__name__}; {advice}, or pass NumPy arrays."
                )

    def _fresh_map(self) -> Any:
        mapping = clone(self.feature_map)
        seeds = getattr(mapping, "get_params", dict)()
        if self.random_state is not None and seeds.get("random_state", "") is None:
            mapping.set_params(random_state=self.random_state)
        return mapping

    def _goes_through_kernel(
        self, embedding: Embedding, shape: tuple[int, int], n_labels: int
    ) -> bool:
        """Whether an exact kernel is used as such, instead of features that factor it."""
        kernel = self.feature_map
        if not isinstance(kernel, KernelMap) or self.scale:
            return False
        if kernel.algorithm != "exact" or kernel.n_components is not None:
            return False
        if self.regressor is None:
            return True
        return not embedding.plan(shape[0], n_labels, shape[1]).keeps_features


def affordable(embedding: Embedding, shape: Shape, given_features: int, *, learns: bool) -> Demand:
    """Return what the embedding asks for; "auto" label components are fewer where memory is short,
    and the embedding is changed to ask for these."""

    def demand() -> Demand:
        return embedding.plan(shape.n_left, shape.n_right, given_features).demand(learns=learns)

    def needed() -> int:
        needs = needed_bytes(shape, demand())
        return needs.get(embedding.traits.regime, min(needs.values()))

    free = memory.available_bytes()
    if free is not None and embedding.get_params().get("n_label_components") == "auto":
        shrink_auto(embedding, shape.n_right, needed, free)
    return demand()


def require_room_for_kernel(n_rows: int, demand: Demand, free: int | None = None) -> None:
    """Refuse a kernel matrix that, with what is made of it, would not fit in the memory."""
    memory.require_memory(
        8 * int(kernel_copies(n_rows, demand) * n_rows**2),
        what=f"Fitting an exact kernel of {n_rows} rows",
        remedy="Use KernelMap(algorithm='nystroem') with n_components well below that, or fewer "
        "rows.",
        free=free,
    )
