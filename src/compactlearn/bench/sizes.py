"""How many numbers a model must keep to predict.

A linear model goes from D features over d projected features and m codes to M labels; either step
between may be missing. Neighbouring matrices can be multiplied out beforehand, so what must be kept
is the smallest of the chains

    D x M,   D x d + d x M,   D x m + m x M,   D x d + d x m + m x M,

and M constants: every intercept, of the learner, the decoder and the offset, folds into one per
label. Zeros count where a matrix is dense; thresholds do not count.

With a kernel the features of a row are its kernel values at the L landmarks (all training rows, for
an exact kernel), so L stands for D. The landmarks themselves have to be kept as well; they are the
same for every configuration, and counted apart, by :func:`landmark_numbers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import scipy.sparse

from compactlearn.bench.entry import Task
from compactlearn.embeddings.sizes import component_count, default_label_size

__all__ = ["Shape", "landmark_numbers", "linear_numbers", "within"]

Configuration = Mapping[str, Any]


def linear_numbers(
    n_inputs: int, n_labels: int, n_features: int | None, n_codes: int | None
) -> int:
    """Numbers of a linear model; None where the learner sees all inputs, or predicts the labels.

    >>> linear_numbers(1000, 50, None, None), linear_numbers(1000, 50, 20, 10)
    (50050, 10550)
    >>> linear_numbers(1000, 50, 5, 10)
    5300
    """
    d, m = [n for n in (n_features,) if n is not None], [n for n in (n_codes,) if n is not None]
    chains = [[n_inputs, *steps, n_labels] for steps in ([], d, m, d + m)]
    return n_labels + min(sum(a * b for a, b in pairwise(chain)) for chain in chains)


def landmark_numbers(X: Any, n_landmarks: int) -> int:
    """Entries of so many rows of X; of sparse rows those that are stored, on average."""
    entries = X.nnz if scipy.sparse.issparse(X) else X.shape[0] * X.shape[1]
    return round(entries * n_landmarks / X.shape[0])


@dataclass(frozen=True)
class Shape:
    """What the size of a model depends on beside its configuration."""

    n_features: int
    n_labels: int
    n_rows: int
    n_landmarks: int | None  # where there is a kernel

    @classmethod
    def of(cls, task: Task, own: Mapping[str, Any]) -> Shape:
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

    def of_configuration(self, one: Configuration) -> int:
        """As asked for; where the rank is lower, the fitted model is smaller."""
        d, m = (one.get(name) for name in ("n_feature_components", "n_label_components"))
        inputs, labels = self.n_inputs, self.n_labels
        d = component_count(d, inputs, "d", "features", min, ratio_of=self.n_features)
        m = component_count(m, labels, "m", "labels", default_label_size)
        return self.numbers(d, m)


def within(
    owner: str, grid: Sequence[Configuration], shape: Shape, bound: Any
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
