"""Every metric of the table at once, from sums over blocks of rows, wherever these are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._params import Integer
from compactlearn.core._warn import warn_user
from compactlearn.metrics._checks import as_matrix, check_shape, check_threshold
from compactlearn.metrics._propensity import inverse_propensities
from compactlearn.metrics._table import METRICS, AnyMeasure, Metric, blocks_of, sums_of, values_of
from compactlearn.metrics._truth import Truth, read_truth

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
        Output of ``predict_proba``, for the metrics of probabilities, which are left out without
        it. Of a sparse matrix, in which only some labels have a probability, the metrics of
        all labels, "log_loss" and "calibration_error", are left out.
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
        pairs) and "predicted_calibration_error"; then for each k in turn "precision_at_1",
        "precision_at_3" and so on, likewise "ndcg_at_1", "f1_at_1" and "r_precision_at_1"; with
        `probabilities` "calibration_error_at_1"; and with `train_labels` "psp_at_1" and
        "psndcg_at_1".

    Examples
    --------
    >>> evaluate([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.2, 0.6, 0.1, 0.0]], k=[1])
    {'average_precision': 0.916666..., 'micro_f1': 0.857142..., 'ranking_loss': 0.125,
     'one_error': 0.0, 'coverage': 1.0, 'hamming_loss': 0.125, 'subset_accuracy': 0.5,
     'example_f1': 0.9, 'macro_f1': 0.666666..., 'precision_at_1': 1.0, 'ndcg_at_1': 1.0,
     'f1_at_1': 0.833333..., 'r_precision_at_1': 1.0}
    """
    truth = read_truth(Y_true)
    asked = Asked.of(k, train_labels, truth.shape[1], all_pairs=not sparse.issparse(probabilities))
    bounds = check_threshold(threshold, truth.shape[1])
    S = as_matrix(scores, "scores")
    check_shape("scores", S.shape, truth.shape)
    if labels is None:
        _doubt_threshold(S, bounds)
        labels = S > bounds
    return values(asked, tally(asked, truth, S, labels, probabilities))


@dataclass(frozen=True)
class Asked:
    """Requested metrics, as values that can be sent to another process."""

    ks: tuple[int, ...]
    weights: np.ndarray | None = None  # inverse propensities of the labels
    all_pairs: bool = False  # whether to compute metrics of the probabilities of all labels

    @classmethod
    def of(cls, k: Any, train_labels: Any, n_labels: int, *, all_pairs: bool = False) -> Asked:
        """Return the requested metrics, checked."""
        ks = tuple(_check_ks(k, n_labels))
        if train_labels is None:
            return cls(ks, None, all_pairs)
        if np.ndim(train_labels) != 2 or np.shape(train_labels)[1] != n_labels:
            raise ValueError(
                f"train_labels must be a matrix with the {n_labels} labels of Y as columns, but "
                f"have the shape {np.shape(train_labels)}; pass the labels of the training rows."
            )
        return cls(ks, inverse_propensities(train_labels), all_pairs)

    def rows(self) -> Iterator[tuple[str, Metric, dict[str, Any]]]:
        """Yield name, row and options of each requested metric, in the order of the table."""
        for name, metric in METRICS.items():
            options = {"weights": self.weights} if "weights" in metric.options else {}
            if options and self.weights is None:
                continue
            if metric.needs == "probabilities" and not (metric.of_suggested or self.all_pairs):
                continue
            if name.endswith("_at_k"):
                yield from ((f"{name[:-1]}{k}", metric, options | {"k": k}) for k in self.ks)
            else:
                yield name, metric, options

    def measures(self, needs: str, n_labels: int) -> dict[str, AnyMeasure]:
        """Return the measures that read scores, labels or probabilities, by name."""
        return {
            name: metric.measure_for(n_labels, options)
            for name, metric, options in self.rows()
            if metric.needs == needs
        }


@dataclass(frozen=True)
class Tally:
    """The sums of every metric over some rows; tallies of several blocks add."""

    shape: tuple[int, int]
    sums: dict[str, dict[str, Any]]  # by what the metrics need, and by name

    def __add__(self, other: Tally) -> Tally:
        shape = (self.shape[0] + other.shape[0], self.shape[1])
        sums = {
            needs: {name: part + other.sums[needs][name] for name, part in parts.items()}
            for needs, parts in self.sums.items()
        }
        return Tally(shape, sums)


def tally(asked: Asked, truth: Truth, scores: Any, labels: Any, probabilities: Any) -> Tally:
    """Return the sums over the rows of a truth that has been read.

    >>> truth, asked = read_truth([[1, 0]]), Asked((1,))
    >>> both = tally(asked, truth, [[0.9, 0.2]], [[1, 0]], None)
    >>> both = both + tally(asked, truth, [[0.1, 0.2]], [[0, 0]], None)
    >>> values(asked, both)["one_error"]
    0.5
    """
    given = {"scores": scores, "labels": labels, "probabilities": probabilities}
    sums = {
        needs: sums_of(
            asked.measures(needs, truth.shape[1]), blocks_of(needs, truth, matrix, labels)
        )
        for needs, matrix in given.items()
        if matrix is not None
    }
    return Tally(truth.shape, sums)


def values(asked: Asked, total: Tally) -> dict[str, float]:
    """Return the metrics of a tally, in the order of the table."""
    n_rows, n_labels = total.shape
    found: dict[str, float] = {}
    for needs, sums in total.sums.items():
        found |= values_of(asked.measures(needs, n_labels), sums, n_rows)
    return {name: found[name] for name, *_ in asked.rows() if name in found}


def _doubt_threshold(S: Any, bounds: np.ndarray) -> None:
    """Warn if the threshold 0.5 is applied to scores that are no probabilities."""
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
    """Return the values of k that do not exceed the number of labels."""
    values = list(ks) if isinstance(ks, Iterable) and not isinstance(ks, str) else [None]
    if not all(Integer(1).accepts(value) for value in values):
        raise ValueError(
            f"k must be integers >= 1, but is {ks!r}; pass such numbers, for instance (1, 3, 5)."
        )
    return [int(value) for value in values if value <= n_labels]
