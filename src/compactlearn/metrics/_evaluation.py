"""Every metric of the table at once, from one sort of each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from compactlearn.core._params import Integer
from compactlearn.core._warn import warn_user
from compactlearn.metrics._averages import Measure, Sums
from compactlearn.metrics._calibration import SuggestedMeasure, warn_nothing_suggested
from compactlearn.metrics._checks import (
    Matrix,
    check_labels,
    check_scores,
    check_threshold,
    row_blocks,
)
from compactlearn.metrics._labels import count, count_block, merge
from compactlearn.metrics._propensity import inverse_propensities
from compactlearn.metrics._ranks import ranks_of_block
from compactlearn.metrics._reliability import ReliabilityTable, check_probabilities
from compactlearn.metrics._table import METRICS, Metric
from compactlearn.metrics._truth import Truth, read_truth

__all__ = [
    "Asked",
    "evaluate",
    "evaluate_read",
    "measures_of",
    "suggested_tables",
    "suggested_values",
]

# A mean score below this is none of a probability, and none of a regression on labels 0 and 1,
# whose scores have about the mean of the labels; single scores of a regression may be anything.
_LOWEST_MEAN = -0.5


def evaluate(
    Y_true: Any,
    scores: Any,
    *,
    labels: Any = None,
    threshold: Any = 0.5,
    probabilities: Any = None,
    mask: Any = None,
    k: Iterable[int] = (1, 3, 5),
    train_labels: Any = None,
) -> dict[str, float]:
    """Return every metric of the table, for one matrix of scores.

    Rankings are judged by the scores, label sets by `labels`, or where these are not given by the
    scores above `threshold`. A fitted model has its own threshold: ``model.evaluate(X, Y)`` takes
    both from it (`compactlearn.evaluate` for any other classifier).

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0, 1, or NaN where unknown.
    scores : array-like of shape (n_samples, n_labels)
        The higher, the more likely the label.
    labels : array-like or sparse matrix of shape (n_samples, n_labels), optional
        The decisions, 0 and 1, as ``predict`` returns them; then `threshold` is not used.
    threshold : float or array-like of shape (n_labels,)
        A label is predicted where its score is strictly greater. 0.5 is the boundary of
        probabilities and of regressions on labels 0 and 1; that of log-odds and margins is 0, of a
        fitted model ``threshold_``.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels), optional
        What ``predict_proba`` returns, for the metrics that are about it; without them those are
        left out. Of a sparse matrix, in which only some labels have a probability, the metrics of
        all labels, "log_loss" and "calibration_error", are left out.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.
    k : iterable of int
        At which k to take the metrics of the best labels; those above the number of labels are
        left out.
    train_labels : array-like or sparse matrix of shape (n_train, n_labels), optional
        The labels of the training rows, for the propensity-scored metrics; without them those
        are left out.

    Returns
    -------
    dict
        Name to value, in the order of `METRICS`: "average_precision", "micro_f1",
        "ranking_loss", "one_error", "coverage", "hamming_loss", "subset_accuracy",
        "example_f1", "macro_f1"; with `probabilities` "log_loss", "calibration_error" (of all
        pairs), "predicted_calibration_error" and "predicted_overconfidence"; then for each k in
        turn "precision_at_1", "precision_at_3" and so on, likewise "ndcg_at_1" and "f1_at_1"; with
        `probabilities` "calibration_error_at_1" and "overconfidence_at_1"; and with
        `train_labels` "psp_at_1" and "psndcg_at_1".

    Examples
    --------
    >>> evaluate([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.2, 0.6, 0.1, 0.0]], k=[1])
    {'average_precision': 0.916666..., 'micro_f1': 0.857142..., 'ranking_loss': 0.125,
     'one_error': 0.0, 'coverage': 1.0, 'hamming_loss': 0.125, 'subset_accuracy': 0.5,
     'example_f1': 0.9, 'macro_f1': 0.666666..., 'precision_at_1': 1.0, 'ndcg_at_1': 1.0,
     'f1_at_1': 0.833333...}
    """
    truth = read_truth(Y_true, mask)
    return evaluate_read(
        Asked.of(k, train_labels, truth.shape[1]),
        truth,
        scores,
        labels=labels,
        threshold=threshold,
        probabilities=probabilities,
        suggested_alone=sparse.issparse(probabilities),
    )


def evaluate_read(
    asked: Asked,
    truth: Truth,
    scores: Any,
    *,
    labels: Any = None,
    threshold: Any = 0.5,
    probabilities: Any = None,
    suggested_alone: bool = False,
) -> dict[str, float]:
    """Return `evaluate` of a truth that has been read.

    With ``suggested_alone`` the metrics of all probabilities are left out.
    """
    S = check_scores(scores, truth.shape)
    P = probabilities
    P = None if P is None else check_probabilities(P, truth.shape, allow_sparse=suggested_alone)
    bounds = check_threshold(threshold, truth.shape[1])
    wanted = asked.metrics(probabilities=P is not None, suggested_alone=suggested_alone)
    sums = Sums(measures_of(wanted))
    for rows in row_blocks(truth.shape):
        sums.add(ranks_of_block(truth.rows(rows), S[rows]))
    ranked = sums.quotients(truth.shape[0])
    if labels is None:
        _doubt_threshold(S, bounds)
        blocks = row_blocks(truth.shape)
        counts = merge((count_block(truth.rows(b), S[b] > bounds) for b in blocks), truth)
        labels = None if P is None else S > bounds
    else:
        counts = count(truth, check_labels(labels, truth.shape))
    tables = {} if P is None else suggested_tables(wanted, truth, P, labels)
    suggested = suggested_values(wanted, tables, truth.shape[0])
    found: dict[str, float] = {}
    for name, row, given in wanted:
        if row.needs == "scores":
            found[name] = ranked[name]
        elif row.needs == "labels":
            found[name] = row.measure(counts, **given)
        elif name in suggested:
            found[name] = suggested[name]
        else:
            found[name] = row.measure(truth, P, **given)
    return found


Wanted = tuple[str, Metric, dict[str, Any]]  # name, row of the table, options


@dataclass(frozen=True)
class Asked:
    """Which metrics are asked for, in values that can travel."""

    ks: tuple[int, ...]
    weights: np.ndarray | None = None  # inverse propensities of the labels

    @classmethod
    def of(cls, k: Any, train_labels: Any, n_labels: int) -> Asked:
        """Return what the user has asked for, checked."""
        ks = tuple(_check_ks(k, n_labels))
        if train_labels is None:
            return cls(ks)
        if np.ndim(train_labels) != 2 or np.shape(train_labels)[1] != n_labels:
            raise ValueError(
                f"train_labels must be a matrix with the {n_labels} labels of Y as columns, but "
                f"have the shape {np.shape(train_labels)}; pass the labels of the training rows."
            )
        return cls(ks, inverse_propensities(train_labels))

    def metrics(
        self, *, probabilities: bool = False, suggested_alone: bool = False
    ) -> list[Wanted]:
        """Names, rows and options of what is evaluated, in the order of the table.

        With ``suggested_alone``, of the metrics of probabilities those of suggested labels.
        """
        asked: list[Wanted] = []
        for name, row in METRICS.items():
            options = dict(row.defaults)
            if "weights" in options:
                if self.weights is None:
                    continue
                options["weights"] = self.weights
            if row.needs == "probabilities" and not probabilities:
                continue
            if suggested_alone and row.needs == "probabilities" and not _of_suggested(row):
                continue
            if name.endswith("_at_k"):
                asked += [(f"{name[:-1]}{k}", row, options | {"k": k}) for k in self.ks]
            else:
                asked.append((name, row, options))
        return asked


def measures_of(asked: Sequence[Wanted]) -> dict[str, Measure]:
    """What is averaged over rows, of the metrics that rank labels."""
    return {name: row.measure(**given) for name, row, given in asked if row.needs == "scores"}


def suggested_tables(
    wanted: Sequence[Wanted], truth: Truth, P: Matrix, labels: Any
) -> dict[str, ReliabilityTable]:
    """Return the reliability table of the best k labels for each k, and of the predicted ones.

    Two metrics that are read off the same table have one between them.
    """
    tables: dict[tuple[Any, ...], ReliabilityTable] = {}
    found = {}
    for name, row, given in wanted:
        if _of_suggested(row):
            own = {**given, "labels": labels} if "labels" in given else given
            key = (given.get("k"), given["bins"])
            if key not in tables:
                tables[key] = cast(SuggestedMeasure, row.measure).table(truth, P, **own)
            found[name] = tables[key]
    return found


def suggested_values(
    wanted: Sequence[Wanted], tables: Mapping[str, ReliabilityTable], n_rows: int
) -> dict[str, float]:
    """Return the metrics of suggested labels; NaN, with one warning, where there are none."""
    found = {
        name: cast(SuggestedMeasure, row.measure).value(tables[name])
        for name, row, _ in wanted
        if name in tables
    }
    warn_nothing_suggested([name for name, value in found.items() if np.isnan(value)], n_rows)
    return found


def _of_suggested(row: Metric) -> bool:
    return isinstance(row.measure, SuggestedMeasure)


def _doubt_threshold(S: np.ndarray, bounds: np.ndarray) -> None:
    """Warn where 0.5 is the boundary of scores that it cannot be the boundary of."""
    if bounds.ndim or bounds != 0.5 or not S.size:
        return
    mean = float(S.mean(dtype=np.float64))
    if mean < _LOWEST_MEAN:
        warn_user(
            f"evaluate predicts the labels whose scores are above threshold=0.5, the boundary of "
            f"probabilities and of regressions on 0 and 1, and these scores have the mean "
            f"{mean:.3g}, as log-odds and margins have; pass threshold=model.threshold_ or "
            "labels=model.predict(X), or call model.evaluate(X, Y)."
        )


def _check_ks(ks: Any, n_labels: int) -> list[int]:
    """The numbers without those that exceed the number of labels."""
    values = list(ks) if isinstance(ks, Iterable) and not isinstance(ks, str) else [None]
    if not all(Integer(1).accepts(value) for value in values):
        raise ValueError(
            f"k must be integers >= 1, but is {ks!r}; pass such numbers, for instance (1, 3, 5)."
        )
    return [int(value) for value in values if value <= n_labels]
