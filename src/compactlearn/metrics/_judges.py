"""Metrics of many matrices of scores for the same truth, which is read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from compactlearn.metrics._labels import count_block
from compactlearn.metrics._measures import Measure
from compactlearn.metrics._ranks import LabelRanks, ranks_of_block
from compactlearn.metrics._reliability import probability_blocks
from compactlearn.metrics._scoring import training_options
from compactlearn.metrics._table import get_metric, sums_of
from compactlearn.metrics._truth import Truth, read_truth

# Scores ranked together: enough that calls cost little, few enough to stay in the cache.
TOGETHER = 1 << 18


class Judges:
    """Several metrics, by name, of predictions for one truth, each in its own direction.

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
    options : dict, optional
        Options of the metrics.
    sample_weight : array of shape (n_samples,), optional
        Weights of rows; they count where rows are ranked.

    Examples
    --------
    >>> judges = Judges(["ranking_loss", "micro_f1"], [[1, 0, 1, 0]])
    >>> S = np.array([[[0.9, 0.8, 0.7, 0.1]], [[0.9, 0.1, 0.8, 0.2]]])
    >>> judges(S, S > 0.5)
    array([[0.25, 0.8 ],
           [0.  , 1.  ]])
    """

    def __init__(
        self,
        names: Sequence[str],
        Y: Any,
        train_labels: Any = None,
        *,
        options: Mapping[str, Any] | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> None:
        self.names = tuple(names)
        self.metrics = [get_metric(name) for name in names]
        self.truth, self.sample_weight = read_truth(Y), sample_weight
        self._tiled: dict[int, Truth] = {}
        self._measures: dict[str, dict[int, Any]] = {
            "scores": {},
            "labels": {},
            "probabilities": {},
        }
        for k, metric in enumerate(self.metrics):
            own = training_options(metric, train_labels) | dict(options or {})
            measure = metric.measure_for(self.truth.shape[1], own)
            self._measures[metric.needs][k] = measure

    @property
    def needs_labels(self) -> bool:
        """Whether any of the metrics is about predicted labels."""
        return bool(self._measures["labels"])

    @property
    def needs_probabilities(self) -> bool:
        """Whether any of the metrics is about probabilities."""
        return bool(self._measures["probabilities"])

    def __call__(
        self,
        scores: np.ndarray,
        labels: np.ndarray | None = None,
        probabilities: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the metrics (C, n_metrics) of C matrices of scores, labels and probabilities.

        Matrices have the shape (C, N, M). Without probabilities their metrics are NaN.
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
        found = np.full((len(scores), len(self.metrics)), np.nan)
        own: dict[int, Measure] = self._measures["scores"]
        n_rows, n_labels = self.truth.shape
        together = max(1, TOGETHER // max(1, n_rows * n_labels))
        for start in range(0, len(scores) if own else 0, together):
            some = scores[start : start + together]
            times = len(some)
            if times not in self._tiled:
                self._tiled[times] = self.truth.repeated(times)
            ranks = ranks_of_block(self._tiled[times], some.reshape(times * n_rows, n_labels))
            for k, measure in own.items():
                found[start : start + times, k] = self._quotients(ranks, times, measure)
        return found

    def _quotients(self, ranks: LabelRanks, times: int, measure: Measure) -> np.ndarray:
        """Return the metric of each of several matrices that were ranked together."""
        n_rows = self.truth.shape[0]
        counted = measure.rule.holds(self.truth.n_present, self.truth.n_known).astype(np.float64)
        if self.sample_weight is not None:
            counted *= self.sample_weight
        above = measure.numerator(ranks).reshape(times, n_rows) @ counted
        if measure.denominator is None:
            below = np.full(times, counted.sum())
        else:
            below = measure.denominator(ranks).reshape(times, n_rows) @ counted
        return np.divide(above, below, out=np.full(times, np.nan), where=below > 0)

    def of_labels(self, labels: np.ndarray) -> np.ndarray:
        """Return the metrics that read labels, and NaN for the others.

        Parameters
        ----------
        labels : Boolean array of shape (n_matrices, n_samples, n_labels)
        """
        counts = ([count_block(self.truth, one != 0)] for one in labels)
        return self._of("labels", len(labels), counts)

    def of_probabilities(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the metrics that read probabilities, and NaN for the others.

        Parameters
        ----------
        probabilities : array of shape (n_matrices, n_samples, n_labels)
        """
        blocks = (probability_blocks(self.truth, P) for P in probabilities)
        return self._of("probabilities", len(probabilities), blocks)

    def _of(self, needs: str, count: int, matrices: Iterable[Iterable[Any]]) -> np.ndarray:
        """Return the metrics of the blocks of rows of each of so many matrices."""
        found, own = np.full((count, len(self.metrics)), np.nan), self._measures[needs]
        for row, blocks in zip(found, matrices, strict=True) if own else ():
            for k, sums in sums_of(own, blocks).items():
                row[k] = own[k].value(sums) if np.any(sums) else own[k].undefined
        return found
