"""Missing positives and flipped labels: which rates a classifier is asked to correct for.

Rates of ``label_noise="auto"`` are estimated from out-of-fold scores. Among the rows that score
lowest for a label that is predicted well, its frequency is the rate of false positives; among those
that score highest, the share without it is that of false negatives. Labels that are predicted less
well have more of both, so the rates are taken from the labels in which they are lowest, and are the
same for all labels. They are upper bounds on average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._devices import host
from compactlearn.core._label_correction import (
    LEAST_LEFT,
    Correction,
    check_propensities,
    check_rates,
)
from compactlearn.core._lazy import load
from compactlearn.core._warn import quiet
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.decoding._held_out import Columns
from compactlearn.linalg._row_sums import weighted_sum

Array = NDArray[np.float64]

TAIL = 0.1  # of the rows, at either end of the scores of a label
FEWEST_ROWS = 20  # at an end, from which a rate can be read
CLEAREST = 0.25  # of the labels, whose rates are averaged: one alone would be the luckiest


def is_corrected(classifier: Any) -> bool:
    """Return whether a classifier is asked to correct its labels."""
    return bool(classifier.positive_unlabelled) or classifier.label_noise is not None


def rates_of(correction: Correction | None) -> tuple[Array, Array] | None:
    """Return both rates, as they are shown."""
    if correction is None:
        return None
    return correction.false_positive, correction.false_negative


def correction_of(classifier: Any, data: TrainingData) -> Correction | None:
    """Return the correction of labels that a classifier asks for."""
    targets = data.targets
    given, noise = classifier.propensities, classifier.label_noise
    if given is not None and not classifier.positive_unlabelled:
        raise ValueError(
            "propensities need positive_unlabelled=True, and it is False; set it, or leave "
            "propensities out."
        )
    if not is_corrected(classifier):
        return None
    if classifier.positive_unlabelled and noise is not None:
        raise ValueError(
            "positive_unlabelled=True and label_noise both say how labels are to be corrected; "
            "give one: missing positives are label_noise=(0, 1 - propensity)."
        )
    if targets.kind != "multilabel":
        raise ValueError(
            "Labels of a matrix can be corrected for missing positives and for flips, and y is a "
            "vector of classes; pass a 0/1 matrix, or leave positive_unlabelled and label_noise "
            "out."
        )
    n_rows, n_labels = targets.matrix.shape
    if noise is not None:
        if isinstance(noise, str) and noise == "auto":
            found = _out_of_fold_scores(classifier, data)
            weights = None if found.weights is None else host(found.weights)
            return estimated_noise(found.columns, found.labels, found.unknown, weights)
        return check_rates(noise, n_labels)
    if given is not None:
        return check_propensities(given, n_labels)
    weights = None if data.weights is None else host(data.weights)
    metrics = load("compactlearn.metrics._propensity")
    fewest = metrics.FEWEST_FOR_PROPENSITIES
    total = float(n_rows if weights is None else weights.sum())
    if total < fewest:
        raise ValueError(
            f"positive_unlabelled=True estimates propensities from at least "
            f"{fewest} rows, counted by their weights; got {total:g}. Pass "
            "propensities, more rows or larger weights."
        )
    inverse = metrics.inverse_propensities_of_counts(weighted_sum(targets.matrix, weights), total)
    return Correction(np.zeros(n_labels), 1.0 - np.maximum(1.0 / inverse, LEAST_LEFT))


def _out_of_fold_scores(classifier: Any, data: TrainingData) -> OutOfFoldScores:
    """Return out-of-fold scores of labels as they are."""
    other = clone(classifier).set_params(label_noise=None, decoder="linear", threshold="f1")
    with quiet():
        return other.fit_scored(data.X, data.targets, data.weights, groups=data.groups)


def estimated_noise(
    columns: Columns, Y: Any, unknown: Any = None, weights: Array | None = None
) -> Correction:
    """Estimate the rates of false positives and of false negatives, the same for all labels.

    A row of weight 2 counts as that row twice, and rows of equal scores count alike.
    """
    n_rows, n_labels = Y.shape
    every = np.ones(n_rows) if weights is None else weights
    cells = Y.tocsc()
    hidden = None if unknown is None else unknown.tocsc()
    low, high = [], []
    for label in range(n_labels):
        scores = np.asarray(columns(np.array([label])), dtype=np.float64)[:, 0]
        present, own = cells[:, [label]].toarray()[:, 0], every
        if hidden is not None:
            known = hidden[:, [label]].toarray()[:, 0] == 0
            scores, present, own = scores[known], present[known], own[known]
        size = int(TAIL * own.sum())
        if size >= FEWEST_ROWS:
            low.append(_share_of_lowest(scores, present, own, size))
        # Of a rare label half as many rows as have it: beyond, others come in any case.
        size = min(size, int(own @ present / 2))
        if size >= FEWEST_ROWS:
            high.append(_share_of_lowest(-scores, 1.0 - present, own, size))
    f, m = (_lowest(rates) for rates in (low, high))
    if f + m > 1 - LEAST_LEFT:
        f, m = f * (1 - LEAST_LEFT) / (f + m), m * (1 - LEAST_LEFT) / (f + m)
    return Correction(np.full(n_labels, f), np.full(n_labels, m))


def _share_of_lowest(scores: Array, present: Array, weights: Array, size: int) -> float:
    """Return the share of ``present`` rows among those of lowest score, of weight ``size``."""
    _, member = np.unique(scores, return_inverse=True)  # rows of equal scores share a place
    total = np.bincount(member, weights)
    counted = np.clip(size - (np.cumsum(total) - total), 0.0, total)
    return float((counted / total) @ np.bincount(member, weights * present)) / size


def _lowest(rates: list[float]) -> float:
    """Return the mean of the lowest of some rates; 0 where there are none."""
    if not rates:
        return 0.0
    return float(np.mean(np.sort(rates)[: max(1, round(CLEAREST * len(rates)))]))
