"""Dependence and recovery of CMLL, for the figure over the balance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from compactlearn import CMLL, CompactClassifier
from compactlearn.model_selection import balance_curve
from compactlearn_bench.methods.entry import Task

__all__ = ["traced"]

Configuration = Mapping[str, Any]


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
    found: dict[Any, tuple[float, float, float, float]] = {}
    keys = [
        (one["n_label_components"], one.get("n_feature_components"), one["beta"]) for one in grid
    ]
    for m, d in dict.fromkeys((m, d) for m, d, _ in keys):
        sized = clone(embedding).set_params(n_label_components=m, n_feature_components=d)
        curve = balance_curve(
            task.X_train,
            task.Y_train,
            betas=sorted({beta for a, b, beta in keys if (a, b) == (m, d)}),
            embedding=sized,
        )
        for row in zip(
            curve.betas,
            curve.raw_dependence,
            curve.raw_recovery,
            curve.dependence,
            curve.recovery,
            strict=True,
        ):
            beta, *terms = (float(value) for value in row)
            found[m, d, beta] = (terms[0], terms[1], terms[2], terms[3])
    names = ("dependence", "recovery", "dependence_between", "recovery_between")
    columns = zip(*(found[key] for key in keys), strict=True)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}
