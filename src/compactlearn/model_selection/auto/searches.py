"""Settings of linear and of kernel models, found by decompositions that many settings share.

Both look at rankings by the linear decoder: a penalty and a size that suit it suit the logistic
one, at a small part of the cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from compactlearn.embeddings.components import (
    LARGEST_AUTO,
    component_count,
    default_label_size,
)
from compactlearn.estimators.cmll import CMLLClassifier
from compactlearn.estimators.kernel_map import KernelMap
from compactlearn.estimators.penalty import penalty_of_rows
from compactlearn.model_selection.auto.problem import Problem
from compactlearn.model_selection.auto.ways import Prepared, Way
from compactlearn.model_selection.crossval import cross_validate_grid

MULTIPLES = tuple(np.logspace(-3, 2, 11).tolist())
SIZES = (0.1, 0.25, 0.5, 1.0)
FEW_LABELS = 24  # are all kept: compressing them buys nothing
SEARCH_ROWS = 4_000  # settle a penalty and a size, however many rows there are
LANDMARKS = 400
WIDTHS = (1 / 3, 1.0, 3.0)  # of "distance", the inverse of twice the mean squared distance
MOST_KERNEL_CODES = 256
KERNEL_PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Found:
    """The best settings of a search, and what they reached."""

    way: Way
    score: float
    params: dict[str, Any]


def search_linear(problem: Problem, way: Way) -> Found:
    """Penalty and number of codes, with twice as many features as codes."""
    part = problem.some(SEARCH_ROWS)
    rows = way.fit(part.X, part.weights)
    unit = penalty_of_rows(rows.X, part.weights)
    grid = {
        "n_label_components": label_sizes(part.n_labels),
        "alpha": [unit * multiple for multiple in MULTIPLES],
    }
    return _best(part, rows, CMLLClassifier(completion="krylov", threshold=0.5), grid)


def search_kernel(problem: Problem, way: Way, codes: int) -> Found:
    """Width and penalty of an RBF kernel, by landmarks."""
    part = problem.some(SEARCH_ROWS)
    rows = way.fit(part.X, part.weights)
    # A part of the rows: in a training part of a fold there must be as many.
    count = min(LANDMARKS, part.n_rows // 2)
    kernel = KernelMap(method="nystroem", n_components=max(1, count), random_state=part.seed)
    template = CMLLClassifier(None, codes, feature_map=kernel, threshold=0.5)
    unit = kernel_width(rows.X, part)
    found, tried = None, set()
    widths = list(WIDTHS)
    while widths:
        grid = {
            "feature_map__gamma": [unit * width for width in widths],
            "alpha": list(KERNEL_PENALTIES),
        }
        new = _best(part, rows, template, grid)
        if found is None or new.score > found.score:
            found = new
        tried |= set(widths)
        best = found.params["feature_map__gamma"] / unit
        # A best width at the end of those tried is followed, three steps at most.
        beyond = [w for w in (best / 3, best * 3) if not any(math.isclose(w, t) for t in tried)]
        widths = beyond if len(tried) < len(WIDTHS) + 3 else []
    assert found is not None
    return found


def kernel_width(X: Any, problem: Problem) -> float:
    """The kernel's ``gamma="distance"`` on these rows."""
    gamma = KernelMap(random_state=problem.seed).fit_rows(X, problem.weights).gamma_
    assert gamma is not None
    return float(gamma)


def label_sizes(n_labels: int) -> list[Any]:
    """Numbers of codes worth trying."""
    if n_labels <= FEW_LABELS:
        return [1.0]
    if n_labels > LARGEST_AUTO:
        return [math.ceil(size * LARGEST_AUTO) for size in SIZES]
    return list(SIZES)


def kernel_codes(n_labels: int, linear: Found) -> int:
    """As many as the linear model has, up to a bound: codes are targets of every refit."""
    asked = linear.params["n_label_components"]
    count = component_count(asked, n_labels, "n_label_components", "labels", default_label_size)
    return min(count or n_labels, MOST_KERNEL_CODES)


def _best(problem: Problem, rows: Prepared, template: Any, grid: dict[str, list[Any]]) -> Found:
    splits = problem.splits[: 5 if problem.n_rows <= 1000 else 3 if problem.n_rows <= 2500 else 2]
    candidates = [dict(params) for params in ParameterGrid(grid)]
    outcome = cross_validate_grid(
        template,
        candidates,
        problem.searched(rows.X, splits),
        racing=True,
        n_jobs=problem.n_jobs,
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    best = int(np.argmax(outcome.merits))
    return Found(rows.way, float(outcome.merits[best]), candidates[best])
