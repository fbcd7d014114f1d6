"""How many numbers a model must keep to predict, from the shape alone.

The definition is that of :func:`compactlearn.decoding._linear.linear_numbers`.

With a kernel the features of a row are its kernel values at the L landmarks (all training rows, for
an exact kernel), so L stands for D. The landmarks themselves have to be kept as well; they are the
same for every configuration, and counted apart, by :func:`landmark_numbers` (``numbers_`` of a
fitted classifier adds them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import scipy.sparse

from compactlearn.decoding._linear import linear_numbers
from compactlearn.embeddings._components import component_count, default_label_size
from compactlearn_bench.methods.entry import Task

__all__ = ["TaskShape", "landmark_numbers", "within"]

Configuration = Mapping[str, Any]


def landmark_numbers(X: Any, n_landmarks: int) -> int:
    """Entries of so many rows of X; of sparse rows those that are stored, on average."""
    entries = X.nnz if scipy.sparse.issparse(X) else X.shape[0] * X.shape[1]
    return round(entries * n_landmarks / X.shape[0])


@dataclass(frozen=True)
class TaskShape:
    """What the size of a model depends on beside its configuration."""

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
        return linear_numbers(self.n_inputs, self.n_labels, d, m)

    def components(self, one: Configuration) -> tuple[int | None, int | None]:
        """Of features and labels, as asked for; where the rank is lower, the model has fewer."""
        d, m = (one.get(name) for name in ("n_feature_components", "n_label_components"))
        return (
            component_count(d, self.n_inputs, "d", "features", min, ratio_of=self.n_features),
            component_count(m, self.n_labels, "m", "labels", default_label_size),
        )

    def of_configuration(self, one: Configuration) -> int:
        return self.numbers(*self.components(one))


def within(
    owner: str, grid: Sequence[Configuration], shape: TaskShape, bound: Any
) -> list[dict[str, Any]]:
    """The configurations of at most so many numbers; "cmll": as many as ``CMLLClassifier()`` has,
    for which as many codes as its automatic number decide, since d = m."""
    if bound == "cmll":
        m = default_label_size(shape.n_labels)
        bound = shape.numbers(min(m, shape.n_features), m)
    kept = [dict(one) for one in grid if shape.of_configuration(one) <= bound]
    if not kept:
        smallest = min(map(shape.of_configuration, grid))
        raise ValueError(
            f"n_numbers={bound} leaves {owner} no configuration: the smallest of its grid keeps "
            f"{smallest} numbers; raise n_numbers, or give smaller ratios."
        )
    return kept
