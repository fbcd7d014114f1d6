"""The table of metrics: one row says all that the rest of the library knows of a metric."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

from compactlearn.core._params import nearest
from compactlearn.metrics import _calibration as calibration
from compactlearn.metrics import _labels as labels
from compactlearn.metrics import _propensity as propensity
from compactlearn.metrics import _ranking as ranking
from compactlearn.metrics import _top as top

__all__ = [
    "METRICS",
    "PAPER",
    "ROWS",
    "Metric",
    "get_metric",
    "get_metric_of_scores",
    "greater_is_better",
]


@dataclass(frozen=True)
class Metric:
    """A metric and what one must know to use it: a row of the table.

    Parameters
    ----------
    name : str
        If it ends in "_at_k" the function has an option `k`, and any number may stand for the k.
    function : callable
        ``function(Y_true, scores, ...)``, or with labels or probabilities, see `needs`. The
        options of its signature, and their defaults, are those of the metric. One that is called
        `weights` is filled in from the training labels, see `inverse_propensities`.
    needs : "scores", "labels" or "probabilities"
    greater_is_better : bool
    title : str
        What a heading calls it.
    measure : callable
        What the function computes by, for callers who have read the truth already: of "scores"
        ``measure(**options)`` is the `Measure` to average over rows, of "labels"
        ``measure(counts, **options)`` the value for `Counts`, of "probabilities"
        ``measure(truth, probabilities, **options)`` the value.
    """

    name: str
    function: Callable[..., float]
    needs: Literal["scores", "labels", "probabilities"]
    greater_is_better: bool
    title: str
    measure: Callable[..., Any]

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """What the function takes besides truth, prediction and `mask`, which goes with rows."""
        parameters = list(inspect.signature(self.function).parameters.values())[2:]
        return {one.name: one.default for one in parameters if one.name != "mask"}

    @cached_property
    def options(self) -> list[str]:
        """Those of them that are not fixed by the name."""
        fixed = self.function.keywords if isinstance(self.function, partial) else {}
        return [name for name in self.defaults if name not in fixed]


def _row(
    function: Callable[..., float],
    measure: Callable[..., Any],
    needs: Literal["scores", "labels", "probabilities"],
    greater_is_better: bool,
    title: str,
) -> Metric:
    return Metric(function.__name__, function, needs, greater_is_better, title, measure)


# fmt: off
ROWS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _row(ranking.average_precision, ranking.average_precision_measure, "scores",
             True, "Average precision"),
        _row(labels.micro_f1, labels.micro_f1_of, "labels", True, "Micro-F1"),
        _row(ranking.ranking_loss, ranking.ranking_loss_measure, "scores", False, "Ranking loss"),
        _row(ranking.one_error, ranking.one_error_measure, "scores", False, "One error"),
        _row(ranking.coverage, ranking.coverage_measure, "scores", False, "Coverage"),
        _row(labels.hamming_loss, labels.hamming_loss_of, "labels", False, "Hamming loss"),
        _row(labels.subset_accuracy, labels.subset_accuracy_of, "labels", True, "Subset accuracy"),
        _row(labels.example_f1, labels.example_f1_of, "labels", True, "Example-F1"),
        _row(labels.macro_f1, labels.macro_f1_of, "labels", True, "Macro-F1"),
        _row(calibration.log_loss, calibration.log_loss_of, "probabilities", False, "Log-loss"),
        _row(calibration.calibration_error, calibration.calibration_error_of, "probabilities",
             False, "Calibration error of all pairs"),
        _row(calibration.predicted_calibration_error, calibration.suggested_error, "probabilities",
             False, "Calibration error of predicted labels"),
        _row(calibration.predicted_overconfidence, calibration.suggested_excess, "probabilities",
             False, "Overconfidence of predicted labels"),
        _row(top.precision_at_k, top.precision_measure, "scores", True, "Precision@k"),
        _row(top.ndcg_at_k, top.ndcg_measure, "scores", True, "nDCG@k"),
        _row(top.f1_at_k, top.f1_measure, "scores", True, "F1@k"),
        _row(calibration.calibration_error_at_k, calibration.suggested_error, "probabilities",
             False, "Calibration error@k"),
        _row(calibration.overconfidence_at_k, calibration.suggested_excess, "probabilities",
             False, "Overconfidence@k"),
        _row(propensity.psp_at_k, propensity.psp_measure, "scores",
             True, "Propensity-scored precision@k"),
        _row(propensity.psndcg_at_k, propensity.psndcg_measure, "scores",
             True, "Propensity-scored nDCG@k"),
    )
}
# fmt: on
METRICS: Mapping[str, Metric] = MappingProxyType(ROWS)

#: The six that the paper's tables show, in their order.
PAPER = (
    "average_precision",
    "micro_f1",
    "ranking_loss",
    "one_error",
    "precision_at_3",
    "ndcg_at_3",
)


def get_metric(name: str) -> Metric:
    """A metric by its name; "precision_at_3" is "precision_at_k" with k = 3.

    Parameters
    ----------
    name : str
        One of `METRICS`, or with a number in place of k.

    Examples
    --------
    >>> get_metric("one_error").greater_is_better
    False
    >>> get_metric("precision_at_1").function([[1, 0]], [[0.2, 0.7]])
    0.0
    """
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    numbered = re.fullmatch(r"(\w+_at_)(\d+)", name) if isinstance(name, str) else None
    general = METRICS.get(f"{numbered[1]}k") if numbered else None
    if numbered is None or general is None:
        raise ValueError(_unknown(name))
    return replace(
        general,
        name=name,
        function=partial(general.function, k=int(numbered[2])),
        title=f"{general.title.removesuffix('k')}{numbered[2]}",
    )


def get_metric_of_scores(name: str) -> Metric:
    """A metric by its name, for who has scores and labels but no probabilities.

    >>> get_metric_of_scores("log_loss")
    Traceback (most recent call last):
    ...
    ValueError: The metric 'log_loss' needs probabilities, and here there are scores and labels ...
    """
    metric = get_metric(name)
    if metric.needs == "probabilities":
        raise ValueError(
            f"The metric {name!r} needs probabilities, and here there are scores and labels alone; "
            f"use another metric, or scikit-learn's GridSearchCV with scorer({name!r}) and a "
            "classifier that has predict_proba."
        )
    return metric


def greater_is_better(name: str) -> bool:
    """Return whether a larger value of a metric is better, which is assumed of unknown ones.

    Parameters
    ----------
    name : str
        A name in ``METRICS``, or of a metric of one's own.
    """
    try:
        return get_metric(name).greater_is_better
    except ValueError:
        return True


def _unknown(name: Any) -> str:
    hint = nearest(name, METRICS) if isinstance(name, str) else ""
    return (
        f"A metric must be asked for by one of the names {', '.join(METRICS)}; got {name!r}. "
        f"Use one of these.{hint}"
    )
