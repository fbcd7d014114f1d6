"""Thresholds tuned on labels that were corrected for flips.

A corrected label is any number, whose mean is the true label. What is right among the predicted
labels is then estimated by the sum of their corrected labels, and

    F1 = 2 sum of corrected labels predicted / (number predicted + sum of all corrected labels)

is what :mod:`compactlearn.decoding._thresholds` finds the largest of where labels are 0 or 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import host
from compactlearn.decoding._held_out import Columns
from compactlearn.decoding._thresholds import between

Array = NDArray[np.float64]

MOST_CELLS = 20_000_000  # of scores that are sorted: of more, some of the rows


def tune_corrected(
    strategy: str, columns: Columns, Y: Any, weights: Array | None = None, min_positives: int = 5
) -> float | Array:
    """A threshold, or one per label, chosen on out-of-fold scores and corrected labels (N, M)."""
    n_rows, n_labels = Y.shape
    rows = slice(None, None, max(1, n_rows * n_labels // MOST_CELLS))
    S = np.asarray(host(columns(slice(0, n_labels))))[rows]
    T = Y[rows].toarray()
    w = (np.ones(n_rows) if weights is None else weights)[rows, None]
    W = np.broadcast_to(w, S.shape)
    if strategy == "cardinality":
        return _matching(S.ravel(), W.ravel(), float((W * T).sum()))
    common = _best_f1(S.ravel(), T.ravel(), W.ravel())
    if strategy == "f1":
        return common
    found = np.full(n_labels, common)
    for label in np.flatnonzero((w * T).sum(axis=0) >= min_positives):
        found[label] = _best_f1(S[:, label], T[:, label], W[:, label])
    return found


def _best_f1(scores: Array, labels: Array, weights: Array) -> float:
    s, t, w = _ordered(scores, labels, weights)
    if not s.size:
        return 0.5
    total = float(t @ w)
    if total <= 0:
        return float(s[0])  # never present: never predicted
    f1 = 2 * np.cumsum(t * w) / (np.cumsum(w) + total)
    f1[:-1][s[:-1] == s[1:]] = -np.inf  # a threshold cannot part equal scores
    return _after(s, int(np.argmax(f1)))


def _matching(scores: Array, weights: Array, wanted: float) -> float:
    s, _, w = _ordered(scores, scores, weights)
    if not s.size:
        return 0.5
    taken = np.abs(np.cumsum(w) - wanted)
    taken[:-1][s[:-1] == s[1:]] = np.inf
    best = int(np.argmin(taken))
    return float(s[0]) if abs(wanted) < taken[best] else _after(s, best)


def _ordered(scores: Array, labels: Array, weights: Array) -> tuple[Array, Array, Array]:
    """By falling score; labels that are not known have none, and are left out."""
    known = np.flatnonzero(scores > -np.inf)
    order = known[np.argsort(-scores[known], kind="stable")]
    return scores[order], labels[order], weights[order]


def _after(ordered: Array, place: int) -> float:
    """A threshold below this score and not below the next."""
    low = ordered[place + 1] if place + 1 < ordered.size else -np.inf
    return between(low, ordered[place])
