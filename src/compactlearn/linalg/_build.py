"""The route that suits two blocks, planned once, and the pair of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._devices import DeviceArray, free_bytes
from compactlearn.linalg._arrays import right_on_device_of, to_device_of
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import Plan, Shape, choose, needed_bytes, seconds
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]

SMALLEST_ENERGY = 1e-300


@dataclass(frozen=True)
class Route:
    """The route of a fit, and the seconds that it is estimated to take."""

    solver: str
    seconds: float


def plan_route(left: Any, right: Any, demand: Plan, solver: str = "auto") -> Route:
    """Return the route asked for, or the one that suits two checked blocks.

    Raises MemoryError, before anything is allocated, if it would not fit in the memory.
    """
    shape, free = Shape.of(left, right), free_bytes(left)
    needs, costs = needed_bytes(shape, demand), seconds(shape, demand)
    takes = costs.get(solver, min(costs.values()))
    if solver == "auto":
        solver = choose(shape, needs, costs, free, exact_only=isinstance(left, DeviceArray))
    leanest = min(needs, key=needs.__getitem__)
    memory.require_memory(
        needs[solver],
        what=f"Fitting {shape.n_rows} rows, {shape.n_left} features and {shape.n_right} labels "
        f"in the {solver} route with {demand.n_codes} label components",
        remedy=(
            f"Use solver={leanest!r}, which needs about "
            f"{memory.human_bytes(needs[leanest])}, or fewer components."
            if needs[leanest] < needs[solver]
            else "Use fewer components or fewer rows, or keep the features sparse."
        ),
        free=free,
    )
    return Route(solver, takes)


def build_pair(
    left: Any,
    right: Any,
    weights: Array | None = None,
    *,
    solver: str,
    given_left: int | None = None,
) -> Pair:
    """Return the pair of two checked blocks in a route."""
    right, weights = right_on_device_of(right, left), to_device_of(weights, left)
    pair: Pair
    with np.errstate(over="ignore", invalid="ignore"):
        if solver == "moments":
            pair = MomentsPair(Moments.from_arrays(left, right, weights), given_left=given_left)
        else:
            pair = RowsPair.of_rows(left, right, weights, solver=solver, given_left=given_left)
        energy = pair.left.energy
    require_usable_squares(energy, left)
    return pair


def refuse_overflow(energy: float) -> None:
    """Raise ValueError where the squares of features are too large to be added up."""
    if not np.isfinite(energy):
        raise ValueError(
            "The sum of squares of the features must be a finite number, and overflows; divide "
            "the features by a common factor, for example by np.abs(X).max()."
        )


def require_finite_squares(left: Any) -> None:
    """Raise ValueError where the sum of squares of rows of features overflows."""
    with np.errstate(over="ignore"):
        refuse_overflow(float(np.sum(np.square(_entries(left), dtype=np.float64))))


def require_usable_squares(energy: float, left: Any) -> None:
    """Raise ValueError where the sum of squares of features overflows or loses its digits."""
    refuse_overflow(energy)
    if energy < SMALLEST_ENERGY and 0 < _largest(left) < np.sqrt(SMALLEST_ENERGY):
        raise ValueError(
            f"The sum of squares of features that are not all zero must be at least "
            f"{SMALLEST_ENERGY:g}, below which numbers lose digits, and is {energy:g}; divide "
            "the features by a common factor, for example by np.abs(X).max()."
        )


def _entries(matrix: Any) -> Any:
    return matrix.data if scipy.sparse.issparse(matrix) else matrix


def _largest(matrix: Any) -> float:
    return float(np.abs(_entries(matrix)).max(initial=0.0))


def require_room_for_moments(n_left: int, n_right: int) -> None:
    """Refuse a fit from moments whose matrices of order D + M would not fit in the memory."""
    memory.require_memory(
        8 * 4 * (n_left + n_right) ** 2,
        what=f"Fitting {n_left} features and {n_right} labels from moments",
        remedy="Use fit with solver='krylov', which forms no matrix of that order.",
    )
