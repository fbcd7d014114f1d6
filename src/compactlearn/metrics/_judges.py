"""Metrics of many matrices of scores for the same truth, which is read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from compactlearn.core._warn import quiet
from compactlearn.metrics._averages import Measure
from compactlearn.metrics._labels import count_block
from compactlearn.metrics._ranks import LabelRanks, ranks_of_block
from compactlearn.metrics._reliability import check_probabilities
from compactlearn.metrics._scoring import training_options
from compactlearn.metrics._table import Metric, get_metric, get_metric_of_scores
from compactlearn.metrics._truth import Truth, read_truth

__all__ = ["Judge", "Judges"]

# Scores ranked together: so many that calls do not count, so few that they stay in the cache.
TOGETHER = 1 << 18


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
        self.metric = get_metric_of_scores(name)
        self.weights = weights
        self.Y, self.options = Y, dict(options or {})
        self.sign = 1.0 if self.metric.greater_is_better else -1.0

    @cached_property
    def truth(self) -> Truth:
        """The truth, read."""
        return read_truth(self.Y)

    @cached_property
    def _measure(self) -> Measure | None:
        return _measure_of(self.metric, self.options, self.truth.shape[1])

    @cached_property
    def _ranking(self) -> _Ranking:
        return _Ranking(self.truth, self.weights)

    def __call__(self, scores: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
        """The metric of each of ``scores`` (C, N, M), or of ``labels`` where it needs those."""
        if self.metric.needs == "labels" or self._measure is None:
            given = labels if self.metric.needs == "labels" else scores
            assert given is not None
            return self.sign * _one_by_one(self.metric, self.Y, given, self.options)
        return self.sign * self._ranking.quotients(scores, [self._measure])[:, 0]


class Judges:
    """Several metrics, by name, of what is predicted for one truth, each in its own direction.

    Rows are sorted once for all metrics that rank labels, and predicted labels counted once for all
    the others.

    Parameters
    ----------
    names : list of str
        Names in ``METRICS``.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The truth.
    train_labels : array-like or sparse matrix, optional
        Training labels, for metrics that weigh labels by how rare they are there.

    Examples
    --------
    >>> judges = Judges(["ranking_loss", "micro_f1"], [[1, 0, 1, 0]])
    >>> S = np.array([[[0.9, 0.8, 0.7, 0.1]], [[0.9, 0.1, 0.8, 0.2]]])
    >>> judges(S, S > 0.5)
    array([[0.25, 0.8 ],
           [0.  , 1.  ]])
    """

    def __init__(self, names: Sequence[str], Y: Any, train_labels: Any = None) -> None:
        self.names = tuple(names)
        self.metrics = [get_metric(name) for name in names]
        self.options = [training_options(metric, train_labels) for metric in self.metrics]
        self.Y, self.truth = Y, read_truth(Y)
        n_labels = self.truth.shape[1]
        measures = [_measure_of(metric, {}, n_labels) for metric in self.metrics]
        self._measures = {k: measure for k, measure in enumerate(measures) if measure is not None}
        self._of_counts = {
            k: partial(metric.measure, **metric.defaults)
            for k, metric in enumerate(self.metrics)
            if metric.needs == "labels"
        }
        self._ranking = _Ranking(self.truth, None)

    @property
    def needs_labels(self) -> bool:
        """Whether any of the metrics is about predicted labels."""
        return bool(self._of_counts)

    @property
    def needs_probabilities(self) -> bool:
        """Whether any of the metrics is about probabilities."""
        return any(metric.needs == "probabilities" for metric in self.metrics)

    def __call__(
        self,
        scores: np.ndarray,
        labels: np.ndarray | None = None,
        probabilities: np.ndarray | None = None,
    ) -> np.ndarray:
        """(C, n_metrics) of ``scores`` (C, N, M), boolean ``labels`` and ``probabilities``.

        Metrics of probabilities that there are none of are NaN.
        """
        values = self.of_scores(scores)
        if self.needs_labels:
            assert labels is not None
            values = np.where(np.isnan(values), self.of_labels(labels), values)
        if self.needs_probabilities and probabilities is not None:
            values = np.where(np.isnan(values), self.of_probabilities(probabilities), values)
        return values

    def of_scores(self, scores: np.ndarray) -> np.ndarray:
        """Return the metrics that read scores, and NaN for the others.

        Parameters
        ----------
        scores : array of shape (n_matrices, n_samples, n_labels)
        """
        values = np.full((len(scores), len(self.metrics)), np.nan)
        if self._measures:
            values[:, list(self._measures)] = self._ranking.quotients(
                scores, list(self._measures.values())
            )
        for k, metric in enumerate(self.metrics):
            if metric.needs == "scores" and k not in self._measures:
                values[:, k] = _one_by_one(metric, self.Y, scores, self.options[k])
        return values

    def of_labels(self, labels: np.ndarray) -> np.ndarray:
        """Return the metrics that read labels, and NaN for the others.

        Parameters
        ----------
        labels : Boolean array of shape (n_matrices, n_samples, n_labels)
        """
        values = np.full((len(labels), len(self.metrics)), np.nan)
        with quiet():  # a metric that is not defined is NaN, and that is all there is to say
            for row, predicted in zip(values, labels, strict=True) if self.needs_labels else ():
                # It changes what it is given where labels are unknown.
                own = predicted if self.truth.unknown is None else predicted.copy()
                counts = count_block(self.truth, own)
                for k, measure in self._of_counts.items():
                    row[k] = measure(counts)
        return values

    def of_probabilities(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the metrics that read probabilities, and NaN for the others.

        Parameters
        ----------
        probabilities : array of shape (n_matrices, n_samples, n_labels)
        """
        values = np.full((len(probabilities), len(self.metrics)), np.nan)
        with quiet():
            for row, given in zip(values, probabilities, strict=True):
                P = check_probabilities(given, self.truth.shape)
                for k, metric in enumerate(self.metrics):
                    if metric.needs == "probabilities":
                        row[k] = metric.measure(self.truth, P, **metric.defaults)
        return values


class _Ranking:
    """Quotients of sums over ranked rows, of many matrices of scores for one truth."""

    def __init__(self, truth: Truth, weights: np.ndarray | None) -> None:
        self.truth, self.weights = truth, weights
        self._tiled: dict[int, Truth] = {}

    def quotients(self, scores: np.ndarray, measures: Sequence[Measure]) -> np.ndarray:
        """(C, n_measures) of ``scores`` (C, N, M)."""
        n_rows, n_labels = self.truth.shape
        together = max(1, TOGETHER // max(1, n_rows * n_labels))
        parts = [
            self._ranked(scores[start : start + together], measures)
            for start in range(0, len(scores), together)
        ]
        return np.concatenate(parts)

    def _ranked(self, scores: np.ndarray, measures: Sequence[Measure]) -> np.ndarray:
        times, n_rows, n_labels = scores.shape
        if times not in self._tiled:
            self._tiled[times] = self.truth.repeated(times)
        ranks = ranks_of_block(self._tiled[times], scores.reshape(times * n_rows, n_labels))
        return np.column_stack([self._quotient(ranks, times, measure) for measure in measures])

    def _quotient(self, ranks: LabelRanks, times: int, measure: Measure) -> np.ndarray:
        n_rows = self.truth.shape[0]
        counted = measure.rule.holds(self.truth.n_present, self.truth.n_known).astype(np.float64)
        if self.weights is not None:
            counted *= self.weights
        above = measure.numerator(ranks).reshape(times, n_rows) @ counted
        if measure.denominator is None:
            below = np.full(times, counted.sum())
        else:
            below = measure.denominator(ranks).reshape(times, n_rows) @ counted
        return np.divide(above, below, out=np.full(times, np.nan), where=below > 0)


def _measure_of(metric: Metric, options: Mapping[str, Any], n_labels: int) -> Measure | None:
    """What is averaged, where rows are ranked; None where the metric is called as it is."""
    options = {**metric.defaults, **options}
    # The function has a sentence for weights that do not fit, and for more places than labels.
    if metric.needs != "scores" or "weights" in options or options.get("k", 0) > n_labels:
        return None
    return metric.measure(**options)


def _one_by_one(metric: Metric, Y: Any, given: Any, options: Mapping[str, Any]) -> np.ndarray:
    with quiet():
        return np.array([metric.function(Y, answer, **options) for answer in given])
