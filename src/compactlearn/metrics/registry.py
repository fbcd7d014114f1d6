"""The table of metrics: what each is called, what it needs, and which direction is good."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from compactlearn.core.params import nearest
from compactlearn.metrics.labels import (
    example_f1,
    hamming_loss,
    macro_f1,
    micro_f1,
    subset_accuracy,
)
from compactlearn.metrics.propensity import psndcg_at_k, psp_at_k
from compactlearn.metrics.ranking import average_precision, coverage, one_error, ranking_loss
from compactlearn.metrics.top import ndcg_at_k, precision_at_k

__all__ = ["METRICS", "Metric", "get_metric"]


@dataclass(frozen=True)
class Metric:
    """A metric and what one must know to use it.

    Parameters
    ----------
    name : str
    function : callable
        ``function(Y_true, scores, ...)`` or ``function(Y_true, labels, ...)``, see `needs`.
    needs : "scores" or "labels"
    greater_is_better : bool
    """

    name: str
    function: Callable[..., float]
    needs: Literal["scores", "labels"]
    greater_is_better: bool


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric("average_precision", average_precision, "scores", True),
            Metric("micro_f1", micro_f1, "labels", True),
            Metric("ranking_loss", ranking_loss, "scores", False),
            Metric("one_error", one_error, "scores", False),
            Metric("coverage", coverage, "scores", False),
            Metric("hamming_loss", hamming_loss, "labels", False),
            Metric("subset_accuracy", subset_accuracy, "labels", True),
            Metric("example_f1", example_f1, "labels", True),
            Metric("macro_f1", macro_f1, "labels", True),
            Metric("precision_at_k", precision_at_k, "scores", True),
            Metric("ndcg_at_k", ndcg_at_k, "scores", True),
            Metric("psp_at_k", psp_at_k, "scores", True),
            Metric("psndcg_at_k", psndcg_at_k, "scores", True),
        )
    }
)


def get_metric(name: str) -> Metric:
    """A metric by its name; "precision_at_3" is "precision_at_k" with k = 3.

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
    return replace(general, name=name, function=partial(general.function, k=int(numbered[2])))


def _unknown(name: Any) -> str:
    hint = nearest(name, METRICS) if isinstance(name, str) else ""
    return (
        f"A metric must be asked for by one of the names {', '.join(METRICS)}; got {name!r}. "
        f"Use one of these.{hint}"
    )
