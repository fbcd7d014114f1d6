"""Preparation of rows for an embedding: mapped, scaled, and in the form that its solver needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._unit_rows import UnitRows
from compactlearn.core import _memory as memory
from compactlearn.core._devices import DeviceArray, free_bytes, place_of, wrap
from compactlearn.core._progress import announce
from compactlearn.core._validation import check_mapped
from compactlearn.crossfit._plan import N_FOLDS
from compactlearn.crossfit._training_rows import TrainingRows
from compactlearn.embeddings._base import Embedding, refuse_devices
from compactlearn.linalg._arrays import (
    right_on_device_of,
    scale_columns,
    to_device_of,
    working_form,
)
from compactlearn.linalg._build import build_pair, plan_route
from compactlearn.linalg._graded import deviations_of, inverse_deviations
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._routes import (
    Plan,
    Shape,
    kernel_copies,
    kernel_refit_bytes,
    kernel_seconds,
    refit_bytes,
)
from compactlearn.linalg._row_sums import column_moments
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]

_MAPPED_ENTRIES = 1 << 23  # 64 MB of kernel rows at a time


@dataclass(frozen=True)
class RowMap:
    """Feature map and scale of rows before the projection, learnt from features alone."""

    feature_map: Any = None  # fitted
    scale: Array | None = None  # divisors of the columns
    as_kernel: bool = False  # rows become kernel values against the training rows, not features

    @property
    def keeps_features(self) -> bool:
        """Return whether mapped rows are the rows of X, each times a factor."""
        return self.feature_map is None or isinstance(self.feature_map, UnitRows)

    def mapped(self, X: Any) -> Any:
        """Return checked rows after the feature map."""
        if self.feature_map is None:
            return X
        if isinstance(self.feature_map, KernelMap):
            return self._kernel_mapping(X)
        if isinstance(self.feature_map, UnitRows):  # finite as checked rows are
            return self.feature_map.transform(X).astype(np.float64, copy=False)
        return check_mapped(self.feature_map.transform(X), self.feature_map)

    @property
    def _kernel_mapping(self) -> Callable[[Any], Any]:
        mapping = self.feature_map
        return mapping.checked_rows if self.as_kernel else mapping.checked_transform

    def scaled(self, X: Any) -> Any:
        """Return mapped rows, each column divided by its scale."""
        return X if self.scale is None else scale_columns(X, 1.0 / self.scale)

    def rows(self, X: Any) -> Any:
        """Return checked rows, mapped and scaled."""
        return self.scaled(self.mapped(X))

    def mapped_blocks(self, X: Any, width: int) -> Iterator[tuple[slice, Any]]:
        """Yield mapped rows of ``width`` columns, some at a time where a kernel widens them."""
        n_rows = X.shape[0]
        if not isinstance(self.feature_map, KernelMap):
            yield slice(0, n_rows), self.mapped(X)
            return
        mapping = self._kernel_mapping
        step = max(64, _MAPPED_ENTRIES // width)
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            yield rows, mapping(X[rows])


def prepare(
    classifier: Any,
    embedding: Embedding,
    X: Any,
    Y: Any,
    weights: Array | None = None,
    groups: Any = None,
) -> TrainingRows:
    """Map and scale checked rows as a classifier asks, in the form that suits the embedding."""
    if isinstance(X, DeviceArray):
        _refuse_foreign(classifier, X)
        refuse_devices(embedding, X)
    if _goes_through_kernel(classifier, embedding, X.shape, Y.shape[1]):
        return _prepare_kernel(classifier, embedding, X, Y, weights, groups)
    row_map, mapped, factors = RowMap(), X, None
    by_kernel = isinstance(classifier.feature_map, KernelMap)
    if classifier.feature_map is not None:
        mapping = _fresh_map(classifier)
        row_map = RowMap(mapping.fit_rows(X, weights) if by_kernel else mapping.fit(X))
        mapped = row_map.mapped(X)
    given_features = (X if by_kernel else mapped).shape[1]
    features = mapped
    working, labels = working_form(mapped), Y
    Y = right_on_device_of(Y, working)
    shape = Shape.of(working, Y)
    learns = classifier.regressor is None
    demand = embedding.plan(shape.n_left, shape.n_right, given_features)
    demand = replace(demand, keeps_features=demand.keeps_features and learns)
    if classifier.scale:
        factors = inverse_deviations(*column_moments(working, weights))
        working, features = scale_columns(working, factors), scale_columns(features, factors)
        row_map = RowMap(row_map.feature_map, 1.0 / factors)
    route = plan_route(working, Y, demand, embedding.traits.solver)
    _announce(classifier, route.seconds)
    pair = build_pair(working, Y, weights, solver=route.solver, given_left=given_features)
    moments = None
    if isinstance(pair, MomentsPair) and classifier.feature_map is None and learns:
        moments = pair.moments if factors is None else pair.moments.rescaled(1.0 / factors)
    return TrainingRows(
        pair,
        row_map,
        features,
        weights,
        blocks=(working, Y),
        given=X,
        groups=groups,
        labels=labels,
        moments=moments,
        seconds=route.seconds,
        refit=refit_bytes(shape, demand, route.solver, N_FOLDS),
    )


def _prepare_kernel(
    classifier: Any, embedding: Embedding, X: Any, Y: Any, weights: Array | None, groups: Any
) -> TrainingRows:
    """Prepare an exact kernel as such: its matrix replaces the products of features."""
    n_rows, n_features = X.shape
    demand = embedding.plan(n_rows, Y.shape[1], n_features)
    require_room_for_kernel(n_rows, demand, free_bytes(X))
    takes = kernel_seconds(n_rows, demand)
    _announce(classifier, takes)
    mapping = _fresh_map(classifier).fit_rows(X, weights)
    right, w = right_on_device_of(Y, X), to_device_of(weights, X)
    return TrainingRows(
        RowsPair.of_kernel(wrap(mapping.gram()), right, w, given_left=n_features),
        RowMap(mapping, as_kernel=True),
        weights=weights,
        given=X,
        labels=Y,
        groups=groups,
        seconds=takes,
        refit=kernel_refit_bytes(n_rows, demand, N_FOLDS),
    )


def prepare_moments(classifier: Any, moments: Moments) -> TrainingRows:
    """Prepare moments in place of data, scaled if asked for."""
    scale = deviations_of(moments) if classifier.scale else None
    scaled = moments if scale is None else moments.rescaled(1.0 / scale)
    return TrainingRows(MomentsPair(scaled), RowMap(scale=scale), moments=moments)


def _announce(classifier: Any, takes: float) -> None:
    announce(f"{type(classifier).__name__}: the embedding", takes, classifier.verbose)


def _refuse_foreign(classifier: Any, X: DeviceArray) -> None:
    """Raise ValueError for parts of other packages where rows are on a device."""
    for name in ("regressor", "feature_map"):
        part = getattr(classifier, name)
        if part is not None and not isinstance(part, KernelMap):
            raise ValueError(
                f"On {place_of(X)} {type(classifier).__name__} has its built-in ridge and "
                f"KernelMap alone, and {name} is {type(part).__name__}; leave it out, or pass "
                "NumPy arrays."
            )


def _fresh_map(classifier: Any) -> Any:
    mapping = clone(classifier.feature_map)
    seeds = getattr(mapping, "get_params", dict)()
    if classifier.random_state is not None and seeds.get("random_state", "") is None:
        mapping.set_params(random_state=classifier.random_state)
    return mapping


def _goes_through_kernel(
    classifier: Any, embedding: Embedding, shape: tuple[int, int], n_labels: int
) -> bool:
    """Return whether an exact kernel is used as such, instead of features that factor it."""
    kernel = classifier.feature_map
    if not isinstance(kernel, KernelMap) or classifier.scale:
        return False
    if kernel.algorithm != "exact" or kernel.n_components is not None:
        return False
    if classifier.regressor is None:
        return True
    return not embedding.plan(shape[0], n_labels, shape[1]).keeps_features


def require_room_for_kernel(n_rows: int, demand: Plan, free: int | None = None) -> None:
    """Raise MemoryError where a kernel matrix and its factors would not fit in memory."""
    memory.require_memory(
        8 * int(kernel_copies(n_rows, demand) * n_rows**2),
        what=f"Fitting an exact kernel of {n_rows} rows",
        remedy="Use KernelMap(algorithm='nystroem') with n_components well below that, or fewer "
        "rows.",
        free=free,
    )
