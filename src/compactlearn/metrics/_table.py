"""Table of metrics; the library gets all facts about a metric from its row."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.core._params import nearest
from compactlearn.core._warn import warn_user
from compactlearn.metrics import _labels as of_labels
from compactlearn.metrics import _measures as measures
from compactlearn.metrics import _reliability as reliability
from compactlearn.metrics._checks import CHECKS, check_labels
from compactlearn.metrics._labels import count
from compactlearn.metrics._measures import Measure
from compactlearn.metrics._ranks import ranked_blocks
from compactlearn.metrics._reliability import probability_blocks
from compactlearn.metrics._truth import Truth, read_truth

#: What a metric is computed with: sums over a block of rows, which add, and the value of the sums.
AnyMeasure = Measure | of_labels.MacroF1 | reliability.Reliability


@dataclass(frozen=True)
class Metric:
    """Metric with the facts needed to use it; a row of the table.

    Parameters
    ----------
    name : str
        If it ends in "_at_k" it has an option `k`, and any number may stand for the k.
    needs : "scores", "labels" or "probabilities"
    greater_is_better : bool
    title : str
        Name in headings.
    measure : callable
        ``measure(**options)`` has the sums over blocks of rows and the value of the sums: a
        `Measure`, for instance. Blocks are `LabelRanks`, `Counts` or `ProbabilityBlock`, by
        `needs`. The options of its signature, and their defaults, are those of the metric. One
        that is called `weights` is filled in from the training labels, see `inverse_propensities`.
    equal_labels : bool
        Whether a rare label counts as much as a frequent one, or more. Searches then weight rare
        labels, see the parameter `label_weight` of `ShortlistClassifier`.
    fixed : dict
        Options that are part of the name: ``k`` in "precision_at_3".
    """

    name: str
    needs: Literal["scores", "labels", "probabilities"]
    greater_is_better: bool
    title: str
    measure: Callable[..., AnyMeasure]
    equal_labels: bool = False
    fixed: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """All options with their defaults, and those that the name fixes."""
        parameters = inspect.signature(self.measure).parameters.values()
        return {one.name: one.default for one in parameters} | self.fixed

    @property
    def options(self) -> list[str]:
        """Names of the options that are not fixed by the name."""
        return [name for name in self.defaults if name not in self.fixed]

    @property
    def of_suggested(self) -> bool:
        """Return whether the metric is about probabilities of suggested labels only."""
        return self.needs == "probabilities" and bool({"k", "threshold"} & {*self.defaults})

    def measure_for(self, n_labels: int, options: Mapping[str, Any]) -> AnyMeasure:
        """Return the measure with checked options.

        Parameters
        ----------
        n_labels : int
        options : mapping
            Values of `options`; the others have their defaults.
        """
        given = self.defaults | dict(options)
        given = {name: x for name, x in given.items() if x is not inspect.Parameter.empty}
        for name in CHECKS.keys() & given.keys():
            given[name] = CHECKS[name](given[name], n_labels)
        return self.measure(**given)

    def function(self, Y_true: Any, given: Any, *, labels: Any = None, **options: Any) -> float:
        """Return the metric of scores, labels or probabilities, see `needs`.

        Parameters
        ----------
        Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        given : scores, labels or probabilities
        labels : array-like or sparse matrix, optional
            Predicted labels, for metrics of their probabilities.
        **options
            Those of the metric.
        """
        truth = read_truth(Y_true)
        if self.needs == "probabilities" and sparse.issparse(given) and not self.of_suggested:
            raise TypeError(
                f"{self.name} needs a dense array, since every label of every row has a "
                "probability; got a sparse matrix. Pass probabilities.toarray()."
            )
        own = {self.name: self.measure_for(truth.shape[1], options)}
        k = (self.defaults | options).get("k")
        sums = sums_of(own, blocks_of(self.needs, truth, given, labels, k))
        return values_of(own, sums, truth.shape[0])[self.name]


def blocks_of(
    needs: str, truth: Truth, given: Any, labels: Any = None, k: Any = None
) -> Iterable[Any]:
    """Return blocks of rows as measures read them: `LabelRanks`, `Counts`, `ProbabilityBlock`."""
    if needs == "scores":
        return ranked_blocks(truth, given, k)
    if needs == "labels":
        return count(truth, check_labels(given, truth.shape))
    return probability_blocks(truth, given, labels, k)


def sums_of(measures: Mapping[Any, AnyMeasure], blocks: Iterable[Any]) -> dict[Any, Any]:
    """Return the sums of each measure over all blocks."""
    sums: dict[Any, Any] = dict.fromkeys(measures, 0.0)
    for block in blocks:
        for name, measure in measures.items():
            sums[name] = sums[name] + measure.sums(block)
    return sums


def values_of(
    measures: Mapping[str, AnyMeasure], sums: Mapping[str, Any], n_rows: int
) -> dict[str, float]:
    """Return the values of sums; warn, once for each rule, where no row counts."""
    counted = {name: bool(np.any(sums[name])) for name in measures}
    for rule in dict.fromkeys(measures[name].rule for name in measures if not counted[name]):
        names = [n for n, measure in measures.items() if measure.rule == rule and not counted[n]]
        warn_user(
            f"{' and '.join(names)} need a row with {rule.wanted}, and none of the {n_rows} rows "
            f"has one; the result is {measures[names[0]].undefined}. Evaluate on other rows.",
            UndefinedMetricWarning,
        )
    return {
        name: measure.value(sums[name]) if counted[name] else measure.undefined
        for name, measure in measures.items()
    }


# fmt: off
ROWS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("average_precision", "scores", True, "Average precision",
               measures.average_precision),
        Metric("micro_f1", "labels", True, "Micro-F1", of_labels.micro_f1),
        Metric("ranking_loss", "scores", False, "Ranking loss", measures.ranking_loss),
        Metric("one_error", "scores", False, "One error", measures.one_error),
        Metric("coverage", "scores", False, "Coverage", measures.coverage),
        Metric("hamming_loss", "labels", False, "Hamming loss", of_labels.hamming_loss),
        Metric("subset_accuracy", "labels", True, "Subset accuracy", of_labels.subset_accuracy),
        Metric("example_f1", "labels", True, "Example-F1", of_labels.example_f1),
        Metric("macro_f1", "labels", True, "Macro-F1", of_labels.MacroF1, equal_labels=True),
        Metric("log_loss", "probabilities", False, "Log-loss", reliability.log_loss),
        Metric("calibration_error", "probabilities", False, "Calibration error of all pairs",
               reliability.calibration_error),
        Metric("predicted_calibration_error", "probabilities", False,
               "Calibration error of predicted labels", reliability.predicted_calibration_error),
        Metric("precision_at_k", "scores", True, "Precision@k", measures.precision),
        Metric("ndcg_at_k", "scores", True, "nDCG@k", measures.ndcg),
        Metric("f1_at_k", "scores", True, "F1@k", measures.f1),
        Metric("r_precision_at_k", "scores", True, "R-precision@k", measures.r_precision),
        Metric("calibration_error_at_k", "probabilities", False, "Calibration error@k",
               reliability.calibration_error_at),
        Metric("psp_at_k", "scores", True, "Propensity-scored precision@k", measures.psp,
               equal_labels=True),
        Metric("psndcg_at_k", "scores", True, "Propensity-scored nDCG@k", measures.psndcg,
               equal_labels=True),
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
    """Return a metric by its name; "precision_at_3" is "precision_at_k" with k = 3.

    Parameters
    ----------
    name : str
        One of `METRICS`, or with a number in place of k; "precision@3" is "precision_at_3".

    Examples
    --------
    >>> get_metric("one_error").greater_is_better
    False
    >>> get_metric("precision_at_1").function([[1, 0]], [[0.2, 0.7]])
    0.0
    >>> get_metric("psp@5").name
    'psp_at_5'
    """
    asked = name.replace("@", "_at_") if isinstance(name, str) else ""
    if asked in METRICS:
        return METRICS[asked]
    numbered = re.fullmatch(r"(\w+_at_)(\d+)", asked)
    general = METRICS.get(f"{numbered[1]}k") if numbered else None
    if numbered is None or general is None:
        hint = nearest(name, METRICS) if isinstance(name, str) else ""
        raise ValueError(
            f"A metric must be asked for by one of the names {', '.join(METRICS)}; got {name!r}. "
            f"Use one of these.{hint}"
        )
    title = f"{general.title.removesuffix('k')}{numbered[2]}"
    return replace(general, name=asked, title=title, fixed={"k": int(numbered[2])})


def get_metric_of_scores(name: str) -> Metric:
    """Return a metric by its name; raise ValueError if it needs probabilities."""
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
        A name in ``METRICS``, or of a user's metric.
    """
    try:
        return get_metric(name).greater_is_better
    except ValueError:
        return True
