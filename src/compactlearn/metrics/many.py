"""One metric of many matrices of scores for the same truth, which is read once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.metrics.averages import Measure
from compactlearn.metrics.places import places_of_block
from compactlearn.metrics.registry import get_metric
from compactlearn.metrics.row_values import (
    average_precision_measure,
    coverage_measure,
    ndcg_measure,
    one_error_measure,
    precision_measure,
    ranking_loss_measure,
)
from compactlearn.metrics.truth import Truth, read_truth

__all__ = ["Judge"]

# Scores ranked together: so many that calls do not count, so few that they stay in the cache.
TOGETHER = 1 << 18

_BUILDERS: Mapping[str, Callable[..., Measure]] = {
    "average_precision": average_precision_measure,
    "ranking_loss": ranking_loss_measure,
    "one_error": one_error_measure,
    "coverage": coverage_measure,
    "precision_at_k": precision_measure,
    "ndcg_at_k": ndcg_measure,
}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "precision_at_k": {"k": 5},
    "ndcg_at_k": {"k": 5, "convention": "zhang"},
}


class Judge:
    """A metric, by name and options, of scores for one truth; more is always better.

    >>> judge = Judge("ranking_loss", [[1, 0, 1, 0]])
    >>> judge(np.array([[[0.9, 0.8, 0.7, 0.1]], [[0.9, 0.1, 0.8, 0.2]]]))
    array([-0.25,  0.  ])
    """

    def __init__(
        self,
        name: str,
        Y: Any,
        options: Mapping[str, Any] | None = None,
        weights: np.ndarray | None = None,
    ) -> None:
        """``weights`` of rows count where rows are ranked."""
        self.metric = get_metric(name)
        self.weights = weights
        self.Y, self.options = Y, dict(options or {})
        self.sign = 1.0 if self.metric.greater_is_better else -1.0
        self._tiled: dict[int, Truth] = {}

    @cached_property
    def truth(self) -> Truth:
        """The truth, read."""
        return read_truth(self.Y)

    @cached_property
    def _measure(self) -> Measure | None:
        """What is averaged, where rows are ranked; None where the metric is called as it is."""
        name, options = self.metric.name, self.options
        stem, _, number = name.rpartition("_at_")
        if stem and number.isdigit():
            name, options = f"{stem}_at_k", {**options, "k": int(number)}
        if name not in _BUILDERS:
            return None
        options = {**_DEFAULTS.get(name, {"convention": "zhang"}), **options}
        if options.get("k", 0) > self.truth.shape[1]:
            return None  # the function has a sentence for that
        return _BUILDERS[name](**options)

    def __call__(self, scores: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
        """The metric of each of ``scores`` (C, N, M), or of ``labels`` where it needs those."""
        if self.metric.needs == "labels" or self._measure is None:
            given = labels if self.metric.needs == "labels" else scores
            assert given is not None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                values = [self.metric.function(self.Y, S, **self.options) for S in given]
            return self.sign * np.array(values)
        n_rows, n_labels = self.truth.shape
        together = max(1, TOGETHER // max(1, n_rows * n_labels))
        parts = [
            self._ranked(scores[start : start + together], self._measure)
            for start in range(0, len(scores), together)
        ]
        return self.sign * np.concatenate(parts)

    def _ranked(self, scores: np.ndarray, measure: Measure) -> np.ndarray:
        times, n_rows, n_labels = scores.shape
        if times not in self._tiled:
            self._tiled[times] = self.truth.repeated(times)
        places = places_of_block(self._tiled[times], scores.reshape(times * n_rows, n_labels))
        counted = measure.rule.holds(self.truth.n_present, self.truth.n_known).astype(np.float64)
        if self.weights is not None:
            counted *= self.weights
        above = measure.numerator(places).reshape(times, n_rows) @ counted
        if measure.denominator is None:
            below = np.full(times, counted.sum())
        else:
            below = measure.denominator(places).reshape(times, n_rows) @ counted
        return np.divide(above, below, out=np.full(times, np.nan), where=below > 0)
