"""Metrics of scores, labels and probabilities, with stated conventions, and one table of them."""

from compactlearn.metrics._evaluation import evaluate
from compactlearn.metrics._functions import (
    average_precision,
    calibration_error,
    calibration_error_at_k,
    coverage,
    example_f1,
    f1_at_k,
    hamming_loss,
    log_loss,
    macro_f1,
    micro_f1,
    ndcg_at_k,
    one_error,
    precision_at_k,
    predicted_calibration_error,
    psndcg_at_k,
    psp_at_k,
    r_precision_at_k,
    ranking_loss,
    subset_accuracy,
)
from compactlearn.metrics._judges import Judges
from compactlearn.metrics._propensity import inverse_propensities, propensities
from compactlearn.metrics._reliability import ReliabilityTable, reliability_table
from compactlearn.metrics._scoring import predicted_probabilities, predicted_scores, scorer
from compactlearn.metrics._table import METRICS, Metric, get_metric, greater_is_better

__all__ = [
    "METRICS",
    "Judges",
    "Metric",
    "ReliabilityTable",
    "average_precision",
    "calibration_error",
    "calibration_error_at_k",
    "coverage",
    "evaluate",
    "example_f1",
    "f1_at_k",
    "get_metric",
    "greater_is_better",
    "hamming_loss",
    "inverse_propensities",
    "log_loss",
    "macro_f1",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "predicted_calibration_error",
    "predicted_probabilities",
    "predicted_scores",
    "propensities",
    "psndcg_at_k",
    "psp_at_k",
    "r_precision_at_k",
    "ranking_loss",
    "reliability_table",
    "scorer",
    "subset_accuracy",
]
