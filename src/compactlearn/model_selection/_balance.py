"""How dependence and recovery trade off over the balance, after Lv et al., section 5.6.

With dep = ||P'Xc'V||^2 and rec = ||Y'V||^2 of the solution for each beta,

    dep' = (dep - dep_min) / (dep_max - dep_min),   rec' likewise,

where dep_max and rec_min belong to the problem without the recovery term, and rec_max and dep_min
to that without the dependence. Once dep' is near its maximum, a larger beta only costs recovery.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._inputs import check_training
from compactlearn.compact._preparation import Preparation
from compactlearn.core._optional import require
from compactlearn.core._params import Real, check_own_parameters, listed
from compactlearn.embeddings._cmll import CMLL

Array = NDArray[np.float64]

NEAR_MAXIMUM = 0.9
WITHOUT_RECOVERY = 1e10  # times the balance at which both terms have the same size


@dataclass(frozen=True)
class BalanceCurve:
    """Normalised dependence and recovery over the balance.

    Parameters
    ----------
    betas : ndarray, ascending
    dependence, recovery : ndarray
        dep' and rec', between 0 and 1.
    raw_dependence, raw_recovery : ndarray
        dep and rec.
    suggested_beta : float
        The smallest beta at which dep' is near its maximum.
    """

    betas: Array
    dependence: Array
    recovery: Array
    raw_dependence: Array
    raw_recovery: Array
    suggested_beta: float

    def plot(self) -> Any:
        """A plotly figure of both curves, with the suggested balance."""
        go = require("plotly.graph_objects", extra="plot", purpose="the plot of a balance curve")
        figure = go.Figure()
        for name, values in (("dep'", self.dependence), ("rec'", self.recovery)):
            figure.add_scatter(x=self.betas, y=values, name=name, mode="lines+markers")
        figure.add_vline(
            x=self.suggested_beta, line_dash="dot", annotation_text=f"{self.suggested_beta:.3g}"
        )
        figure.update_xaxes(type="log", title="beta")
        figure.update_yaxes(title="normalised", range=[-0.02, 1.02])
        return figure


def balance_curve(
    X: Any,
    Y: Any,
    *,
    betas: Sequence[float] | None = None,
    embedding: CMLL | None = None,
    near: float = NEAR_MAXIMUM,
) -> BalanceCurve:
    """Dependence and recovery of CMLL for many balances, and a balance they suggest.

    Parameters
    ----------
    X, Y : as in ``CMLL.fit``
    betas : sequence of float > 0, optional
        By default 25 values from 1e-6 to 1e6 times ||Y||^2 / ||Xc||^2.
    embedding : CMLL, optional
        Sizes and solver; by default half of the label components and as many features.
    near : float, default=0.9
        The share of its maximum at which dep' counts as near it.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.model_selection import balance_curve
    >>> data = load("emotions")
    >>> curve = balance_curve(data.X, data.Y)
    >>> bool(np.all(np.diff(curve.dependence) > -1e-8))
    True
    """
    if not Real(0, 1, open_low=True).accepts(near):
        raise ValueError(f"near must be a number above 0 and up to 1, and is {near!r}; pass 0.9.")
    method = CMLL(n_label_components=0.5) if embedding is None else clone(embedding)
    if not isinstance(method, CMLL):
        raise TypeError(
            f"balance_curve is about CMLL, and was given {embedding!r:.80}; pass CMLL(...)."
        )
    check_own_parameters(method)
    data = check_training(method, X, Y)
    pair = Preparation().fit(method, data.X, data.targets.matrix).pair
    equal = pair.right_energy / pair.left_energy if pair.has_variance else 1.0
    if betas is None:
        grid = equal * np.logspace(-6, 6, 25)
    else:
        given = listed(betas, "betas")
        if not all(Real(0, open_low=True).accepts(value) for value in given):
            raise ValueError(
                f"betas must hold finite numbers above 0, and is {given!r}; pass such numbers."
            )
        grid = np.sort(np.asarray(given, dtype=np.float64))

    def terms(beta: float) -> tuple[float, float]:
        method.beta = beta
        found = method.solve(pair)
        assert found.dependence is not None
        assert found.recovery is not None
        return found.dependence, found.recovery

    dep_max, rec_min = terms(equal * WITHOUT_RECOVERY)
    dep_min, rec_max = terms(0.0)
    dep, rec = np.array([terms(float(beta)) for beta in grid]).T
    dependence, recovery = _between(dep, dep_min, dep_max), _between(rec, rec_min, rec_max)
    reached = np.flatnonzero(dependence >= near)
    suggested = grid[reached[0]] if reached.size else grid[-1]
    return BalanceCurve(grid, dependence, recovery, dep, rec, float(suggested))


def _between(values: Array, low: float, high: float) -> Array:
    """0 at ``low``, 1 at ``high``; 1 where there is nothing between them."""
    if high - low <= 1e-12 * max(abs(high), abs(low), 1e-300):
        return np.ones_like(values)
    return np.clip((values - low) / (high - low), 0.0, 1.0)
