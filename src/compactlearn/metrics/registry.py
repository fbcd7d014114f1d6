"""The table of metrics, and `evaluate`, which fills a row of it.

A new metric is one more entry: a function, its direction, and what it needs. One that is a mean
over ranked rows also names its row function and then shares the sort with the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from compactlearn.core.params import nearest
from compactlearn.metrics.checks import check_scores, check_truth
from compactlearn.metrics.labels import micro_f1
from compactlearn.metrics.ranking import (
    RowMetric,
    average_precision,
    average_precision_rows,
    one_error,
    one_error_rows,
    ranking_loss,
    ranking_loss_rows,
    ranking_means,
)

__all__ = ["METRICS", "Metric", "evaluate", "get_metric"]


@dataclass(frozen=True)
class Metric:
    """A metric and what one must know to use it.

    Parameters
    ----------
    name : str
    function : callable
        ``function(Y_true, scores)`` or ``function(Y_true, labels)``, see `needs`.
    needs : "scores" or "labels"
    greater_is_better : bool
    of_rows : callable, optional
        For a mean over ranked rows: the values of the rows.
    """

    name: str
    function: Callable[[Any, Any], float]
    needs: Literal["scores", "labels"]
    greater_is_better: bool
    of_rows: RowMetric | None = None


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric("average_precision", average_precision, "scores", True, average_precision_rows),
            Metric("micro_f1", micro_f1, "labels", True),
            Metric("ranking_loss", ranking_loss, "scores", False, ranking_loss_rows),
            Metric("one_error", one_error, "scores", False, one_error_rows),
        )
    }
)


def get_metric(name: str) -> Metric:
    """A metric by its name.

    >>> get_metric("one_error").greater_is_better
    False
    """
    if name not in METRICS:
        hint = nearest(name, METRICS) if isinstance(name, str) else ""
        raise ValueError(
            f"A metric must be asked for by one of the names {', '.join(METRICS)}; got {name!r}. "
            f"Use one of these.{hint}"
        )
    return METRICS[name]


def evaluate(Y: Any, scores: Any, threshold: Any = 0.5) -> dict[str, float]:
    """Every metric of the table, for one matrix of scores.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The truth: 0, 1, or NaN where unknown.
    scores : array-like of shape (n_samples, n_labels)
    threshold : float or array-like of shape (n_labels,)
        A label is predicted where its score is strictly greater.

    Returns
    -------
    dict
        Name to value, in the order of `METRICS`.

    Examples
    --------
    >>> evaluate([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.2, 0.6, 0.1, 0.0]])
    {'average_precision': 0.916666..., 'micro_f1': 0.857142..., 'ranking_loss': 0.125,
     'one_error': 0.0}
    """
    Y = check_truth(Y)
    S = check_scores(scores, Y.shape)
    labels = S > _check_threshold(threshold, Y.shape[1])
    ranked = {name: metric.of_rows for name, metric in METRICS.items() if metric.of_rows}
    values = ranking_means(Y, S, ranked)
    for name, metric in METRICS.items():
        if name not in values:
            values[name] = metric.function(Y, labels if metric.needs == "labels" else S)
    return {name: values[name] for name in METRICS}


def _check_threshold(threshold: Any, n_labels: int) -> np.ndarray:
    bounds = np.asarray(threshold)
    shape_fits = bounds.shape in ((), (n_labels,))
    if bounds.dtype.kind not in "iuf" or not shape_fits or not np.isfinite(bounds).all():
        raise ValueError(
            f"threshold must be a finite number or one for each of the {n_labels} labels, but is "
            f"{threshold!r}; pass such a number or array."
        )
    return bounds
