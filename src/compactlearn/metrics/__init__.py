"""How good scores and labels are: a few metrics with stated conventions, and one table of them."""

from compactlearn.metrics.labels import micro_f1
from compactlearn.metrics.ranking import average_precision, one_error, rankable_rows, ranking_loss
from compactlearn.metrics.registry import METRICS, Metric, evaluate, get_metric

__all__ = [
    "METRICS",
    "Metric",
    "average_precision",
    "evaluate",
    "get_metric",
    "micro_f1",
    "one_error",
    "rankable_rows",
    "ranking_loss",
]
