"""The table of metrics: one row says all that the rest of the library knows of a metric."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

from compactlearn.core._params import nearest
from compactlearn.metrics._labels import (
    example_f1,
    example_f1_of,
    hamming_loss,
    hamming_loss_of,
    macro_f1,
    macro_f1_of,
    micro_f1,
    micro_f1_of,
    subset_accuracy,
    subset_accuracy_of,
)
from compactlearn.metrics._probabilities import log_loss, log_loss_of
from compactlearn.metrics._propensity import psndcg_at_k, psp_at_k
from compactlearn.metrics._ranking import average_precision, coverage, one_error, ranking_loss
from compactlearn.metrics._reliability import (
    calibration_error,
    calibration_error_at_k,
    calibration_error_of,
    overconfidence_at_k,
    predicted_calibration_error,
    predicted_overconfidence,
    suggested_error,
    suggested_excess,
)
from compactlearn.metrics._row_values import (
    average_precision_measure,
    coverage_measure,
    f1_measure,
    ndcg_measure,
    one_error_measure,
    precision_measure,
    psndcg_measure,
    psp_measure,
    ranking_loss_measure,
)
from compactlearn.metrics._top import f1_at_k, ndcg_at_k, precision_at_k

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


ROWS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "average_precision",
            average_precision,
            "scores",
            True,
            "Average precision",
            average_precision_measure,
        ),
        Metric("micro_f1", micro_f1, "labels", True, "Micro-F1", micro_f1_of),
        Metric("ranking_loss", ranking_loss, "scores", False, "Ranking loss", ranking_loss_measure),
        Metric("one_error", one_error, "scores", False, "One error", one_error_measure),
        Metric("coverage", coverage, "scores", False, "Coverage", coverage_measure),
        Metric("hamming_loss", hamming_loss, "labels", False, "Hamming loss", hamming_loss_of),
        Metric(
            "subset_accuracy",
            subset_accuracy,
            "labels",
            True,
            "Subset accuracy",
            subset_accuracy_of,
        ),
        Metric("example_f1", example_f1, "labels", True, "Example-F1", example_f1_of),
        Metric("macro_f1", macro_f1, "labels", True, "Macro-F1", macro_f1_of),
        Metric("log_loss", log_loss, "probabilities", False, "Log-loss", log_loss_of),
        Metric(
            "calibration_error",
            calibration_error,
            "probabilities",
            False,
            "Calibration error of all pairs",
            calibration_error_of,
        ),
        Metric(
            "predicted_calibration_error",
            predicted_calibration_error,
            "probabilities",
            False,
            "Calibration error of predicted labels",
            suggested_error,
        ),
        Metric(
            "predicted_overconfidence",
            predicted_overconfidence,
            "probabilities",
            False,
            "Overconfidence of predicted labels",
            suggested_excess,
        ),
        Metric("precision_at_k", precision_at_k, "scores", True, "Precision@k", precision_measure),
        Metric("ndcg_at_k", ndcg_at_k, "scores", True, "nDCG@k", ndcg_measure),
        Metric("f1_at_k", f1_at_k, "scores", True, "F1@k", f1_measure),
        Metric(
            "calibration_error_at_k",
            calibration_error_at_k,
            "probabilities",
            False,
            "Calibration error@k",
            suggested_error,
        ),
        Metric(
            "overconfidence_at_k",
            overconfidence_at_k,
            "probabilities",
            False,
            "Overconfidence@k",
            suggested_excess,
        ),
        Metric("psp_at_k", psp_at_k, "scores", True, "Propensity-scored precision@k", psp_measure),
        Metric(
            "psndcg_at_k", psndcg_at_k, "scores", True, "Propensity-scored nDCG@k", psndcg_measure
        ),
    )
}
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
    """By the table; of a metric that it does not know, more is taken as better."""
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
