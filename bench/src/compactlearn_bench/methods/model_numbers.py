"""Number of parameters that a model needs to predict, from the shape alone.

A linear model goes from D inputs over d projected features and m codes to M labels; either step
between may be missing. Neighbouring matrices can be multiplied out beforehand, so what must be kept
is the smallest of the chains

    D x M,   D x d + d x M,   D x m + m x M,   D x d + d x m + m x M,

and M constants.

With a kernel the features of a row are its kernel values at the L landmarks (all training rows, for
an exact kernel), so L stands for D. The landmarks themselves have to be kept as well; they are the
same for every configuration, and counted apart, by :func:`landmark_numbers` (``n_parameters_`` of a
fitted classifier adds them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn_bench.methods.entry import Task

__all__ = ["TaskShape", "auto_size", "landmark_numbers", "linear_parameters", "within"]

Configuration = Mapping[str, Any]


def linear_parameters(n_inputs: int, n_labels: int, d: int | None, m: int | None) -> int:
    """Return the number of parameters of a linear model; None is a step that is missing.

    >>> linear_parameters(1000, 50, None, None), linear_parameters(1000, 50, 20, 10)
    (50050, 10550)
    >>> linear_parameters(1000, 50, 5, 10)
    5300
    """
    steps = [size for size in (d, m) if size is not None]
    chains = (kept for count in range(3) for kept in combinations(steps, count))
    return n_labels + min(
        sum(a * b for a, b in pairwise((n_inputs, *kept, n_labels))) for kept in chains
    )


def auto_size(n_labels: int) -> int:
    """Return how many codes "auto" is: few labels are kept whole, and there are 500 at most.

    >>> [auto_size(n_labels) for n_labels in (6, 53, 374, 17_829)]
    [6, 27, 187, 500]
    """
    return min(n_labels, max(16, -(-n_labels // 2)), 500)


def _count(value: Any, size: int, automatic: int, whole: int) -> int | None:
    """Return a number of components, given as a count, a ratio of `whole`, "auto" or None."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        return automatic
    return min(size, max(1, int(np.floor(float(value) * whole + 0.5))))


def landmark_numbers(X: Any, n_landmarks: int) -> int:
    """Entries of so many rows of X; of sparse rows those that are stored, on average."""
    entries = X.nnz if scipy.sparse.issparse(X) else X.shape[0] * X.shape[1]
    return round(entries * n_landmarks / X.shape[0])


@dataclass(frozen=True)
class TaskShape:
    """Shape of a task, which decides the size of a model together with its configuration."""

    n_features: int
    n_labels: int
    n_rows: int
    n_landmarks: int | None  # where there is a kernel

    @classmethod
    def of(cls, task: Task, own: Mapping[str, Any]) -> TaskShape:
        n_rows, n_features = task.X_train.shape
        landmarks = None
        if "kernel_method" in own:
            few = own["kernel_method"] == "nystroem"
            landmarks = min(n_rows, own["n_components"] or 1000) if few else n_rows
        return cls(n_features, task.Y_train.shape[1], n_rows, landmarks)

    @property
    def n_inputs(self) -> int:
        return self.n_features if self.n_landmarks is None else self.n_landmarks

    def numbers(self, d: int | None, m: int | None) -> int:
        return linear_parameters(self.n_inputs, self.n_labels, d, m)

    def components(self, one: Configuration) -> tuple[int | None, int | None]:
        """Return the requested components of features and labels; a lower rank gives fewer."""
        d, m = (one.get(name) for name in ("n_feature_components", "n_label_components"))
        return (
            _count(d, self.n_inputs, min(self.n_inputs, self.n_labels), self.n_features),
            _count(m, self.n_labels, auto_size(self.n_labels), self.n_labels),
        )

    def of_configuration(self, one: Configuration) -> int:
        return self.numbers(*self.components(one))


def within(
    owner: str, grid: Sequence[Configuration], shape: TaskShape, bound: Any
) -> list[dict[str, Any]]:
    """Return the configurations within a size budget; "cmll": that of ``CMLLClassifier()``,
    for which as many codes as its automatic number decide, since d = m."""
    if bound == "cmll":
        m = auto_size(shape.n_labels)
        bound = shape.numbers(min(m, shape.n_features), m)
    kept = [dict(one) for one in grid if shape.of_configuration(one) <= bound]
    if not kept:
        smallest = min(map(shape.of_configuration, grid))
        raise ValueError(
            f"n_numbers={bound} leaves {owner} no configuration: the smallest of its grid keeps "
            f"{smallest} numbers; raise n_numbers, or give smaller ratios."
        )
    return kept
