"""Dependence and recovery of CMLL over the balance, for the paper's figure (section 5.6).

With dep = ||P'Xc'V||^2 and rec = ||Y'V||^2 of the solution for each beta, both are also shown
between their bounds: dep_max and rec_min belong to the problem without the recovery term, and
rec_max and dep_min to that without the dependence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from compactlearn import CMLL, CompactClassifier
from compactlearn_bench.methods.entry import Task

__all__ = ["traced"]

Configuration = Mapping[str, Any]

WITHOUT_RECOVERY = 1e11  # times the automatic balance: the recovery no longer counts


def traced(
    estimator: CompactClassifier, grid: Sequence[Configuration], task: Task
) -> dict[str, list[float]]:
    """dep and rec of every configuration on the training rows, and both between their bounds."""
    embedding = estimator.make_embedding()
    if not isinstance(embedding, CMLL) or estimator.feature_map is not None:
        raise ValueError(
            "trace=True is for CMLL and CMLL_y on the features as they are, and was asked of "
            f"{estimator!r:.80}; leave it out there."
        )
    found: dict[Any, tuple[float, float]] = {}

    def terms(m: Any, d: Any, beta: Any) -> tuple[float, float]:
        if (m, d, beta) not in found:
            sized = clone(embedding).set_params(n_label_components=m, n_feature_components=d)
            sized.set_params(beta=beta).fit(task.X_train, task.Y_train)
            found[m, d, beta] = sized.dependence_, sized.recovery_
        return found[m, d, beta]

    automatic = CMLL().fit(task.X_train, task.Y_train).beta_
    names = ("dependence", "recovery", "dependence_between", "recovery_between")
    columns: dict[str, list[float]] = {name: [] for name in names}
    for one in grid:
        m, d = one["n_label_components"], one.get("n_feature_components")
        dep, rec = terms(m, d, one["beta"])
        dep_max, rec_min = terms(m, d, WITHOUT_RECOVERY * automatic)
        dep_min, rec_max = terms(m, d, 0.0)
        row = dep, rec, _between(dep, dep_min, dep_max), _between(rec, rec_min, rec_max)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return columns


def _between(value: float, low: float, high: float) -> float:
    """Return 0 at ``low``, 1 at ``high``; 1 where there is nothing between them."""
    if high - low <= 1e-12 * max(abs(high), abs(low), 1e-300):
        return 1.0
    return min(1.0, max(0.0, (value - low) / (high - low)))
