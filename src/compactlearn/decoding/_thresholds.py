"""Thresholds tuned on out-of-fold scores, and label sets.

Scores are given by a function from a slice of labels to their columns (N, b), a few labels at a
time, so that no N x M matrix is needed. A label is predicted where its score is *strictly* above
the threshold, and a tuned threshold lies half-way between two scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._devices import host
from compactlearn.decoding._held_out import Columns

Array = NDArray[np.float64]

STRATEGIES = ("f1", "per-label", "cardinality")

MOST_CELLS = 20_000_000  # scores that are sorted at once: beyond it, rows are subsampled

MARGIN = 1.0  # distance of the threshold below the scores of labels that are never absent

_BLOCK_ENTRIES = 1 << 22  # 32 MB of scores at a time


def tune(
    strategy: str,
    columns: Columns,
    Y: Any,
    weights: Array | None = None,
    min_positives: int = 5,
    *,
    corrected: bool = False,
) -> float | Array:
    """Return a threshold, or one per label, selected on out-of-fold scores.

    ``Y`` is a sparse (N, M) matrix of ones; or of labels ``corrected`` for flips, which are real
    numbers whose mean is the true label. With one threshold per label, labels with fewer than
    ``min_positives`` rows get the threshold of all labels together.
    """
    w = np.ones(Y.shape[0]) if weights is None else weights
    if strategy == "cardinality":
        return matching_cardinality(columns, Y, w)
    common = best_f1_of_numbers(columns, Y, w) if corrected else best_f1(columns, Y, w)
    return common if strategy == "f1" else best_f1_per_label(columns, Y, w, common, min_positives)


def best_f1_of_numbers(columns: Columns, Y: Any, w: Array) -> float:
    """Return the threshold of largest micro-F1 where labels are real numbers.

    With ``t`` the corrected labels, F1 is 2 sum of t predicted / (number predicted + sum of all t).
    It is computed as the F1 of a single label with all cells as its rows.
    """
    n_rows, n_labels = Y.shape
    rows = slice(None, None, max(1, n_rows * n_labels // MOST_CELLS))
    S = np.asarray(host(columns(slice(0, n_labels))))[rows].reshape(-1, 1)
    T = scipy.sparse.csr_array(Y[rows].toarray().reshape(-1, 1))
    known = S[:, 0] > -np.inf
    if not known.any():
        return 0.5
    S, T, w = S[known], T[known], np.repeat(w[rows], n_labels)[known]
    return float(best_f1_per_label(lambda _: S, T, w, 0.0, -np.inf)[0])


def best_f1(columns: Columns, Y: Any, w: Array) -> float:
    """Return the threshold of largest micro-F1.

    The candidates are the scores of present labels: the threshold lies just below one of them. The
    number of scores above each is counted block by block. Where no label is absent, the scores of
    absent labels are not known, and the threshold is well below all scores.

    >>> import scipy.sparse
    >>> scores = np.array([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]])
    >>> Y = scipy.sparse.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> float(best_f1(lambda labels: scores[:, labels], Y, np.ones(3)))
    0.45
    """
    present = [(host(S[Y_block]), w_block) for S, Y_block, w_block in _present(columns, Y, w)]
    scores = np.concatenate([part for part, _ in present])
    if not scores.size:
        return float(max((S.max() for S, _ in _blocks(columns, Y)), default=0.5))
    candidates, place = np.unique(scores, return_inverse=True)
    hits = np.bincount(place, np.concatenate([part for _, part in present]), candidates.size)
    predicted = np.zeros(candidates.size)  # the weight of the scores from each candidate on
    below = np.full(candidates.size, -np.inf)  # the largest score under each
    uniform = bool(w.size) and bool((w == w[0]).all())
    for S, _ in _blocks(columns, Y):
        if uniform:  # sorting values is many times faster than sorting them with their weights
            ordered, weight = np.sort(S, axis=None), None
        else:
            S = host(S)
            order = np.argsort(S, axis=None)
            ordered = S.ravel()[order]
            weights = np.repeat(w, S.shape[1])[order]
            weight = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        under = np.searchsorted(ordered, candidates, side="left")
        found = host(ordered[np.maximum(under - 1, 0)])
        under = host(under)
        predicted += (ordered.size - under) * w[0] if weight is None else weight[under]
        found = np.where(under > 0, found, -np.inf)
        below = np.maximum(below, found)
    true_positives = np.cumsum(hits[::-1])[::-1]
    f1 = 2 * true_positives / (predicted + hits.sum())
    if predicted[0] <= hits.sum() * (1 + 1e-12) and not np.isfinite(below[0]):
        return float(candidates[0]) - MARGIN
    best = candidates.size - 1 - int(np.argmax(f1[::-1]))  # of equals the highest threshold
    return between(below[best], candidates[best])


def best_f1_per_label(
    columns: Columns, Y: Any, w: Array, common: float, min_positives: float
) -> Array:
    """Return the threshold of largest F1 of every label; ``common`` for labels too rare."""
    thresholds = np.full(Y.shape[1], common)
    for S, labels in _blocks(columns, Y):
        S, T = host(S), Y[:, labels].toarray()
        order = np.argsort(-S, axis=0, kind="stable")
        ordered = np.take_along_axis(S, order, axis=0)
        weight = w[order]
        hits = np.cumsum(np.take_along_axis(T, order, axis=0) * weight, axis=0)
        f1 = 2 * hits / (np.cumsum(weight, axis=0) + hits[-1])
        # A threshold cannot part equal scores: only the last of a run counts.
        f1[:-1][ordered[:-1] == ordered[1:]] = -1.0
        best = np.argmax(f1, axis=0)
        lower = np.vstack([ordered[1:], np.full((1, S.shape[1]), -np.inf)])
        across = np.arange(S.shape[1])
        found = [
            between(lower[row, j], ordered[row, j]) for j, row in zip(across, best, strict=True)
        ]
        positives = w @ T
        found = np.where(positives > 0, found, ordered[0])  # never present: never predicted
        lowest = np.where(S > -np.inf, S, np.inf).min(axis=0)
        never_absent = np.all((T > 0) | (S == -np.inf), axis=0)
        found = np.where(never_absent, lowest - MARGIN, found)
        thresholds[labels] = np.where(positives >= min_positives, found, common)
    return thresholds


def matching_cardinality(columns: Columns, Y: Any, w: Array) -> float:
    """Return the threshold that predicts as many labels as there are, as closely as ties allow."""
    wanted = float(np.asarray(Y.T @ w).sum())
    kept, weight = np.empty(0), np.empty(0)
    for S, _ in _blocks(columns, Y):
        kept = np.concatenate([kept, host(S).ravel()])
        weight = np.concatenate([weight, np.repeat(w, S.shape[1])])
        order = np.argsort(-kept, kind="stable")
        kept, weight = kept[order], weight[order]
        # Only the largest can be predicted, all of a run of equals or none, and the score below
        # them sets the threshold.
        last = kept[min(int(np.searchsorted(np.cumsum(weight), wanted)), kept.size - 1)]
        lower = kept[kept < last]
        enough = kept >= (lower[0] if lower.size else last)
        kept, weight = kept[enough], weight[enough]
    if not kept.size:
        return 0.5
    values, starts = np.unique(-kept, return_index=True)
    totals = np.append(0.0, np.add.reduceat(weight, starts).cumsum())
    best = int(np.argmin(np.abs(totals - wanted)))
    values = -values
    if best == 0:
        return float(values[0])
    return between(values[best] if best < values.size else -np.inf, values[best - 1])


def between(low: float, high: float) -> float:
    """Return a threshold between two scores; one below ``high`` if ``low`` is not finite."""
    if not np.isfinite(low):
        return float(np.nextafter(high, -np.inf))
    middle = low + (high - low) / 2
    return float(middle if middle < high else low)


def _blocks(columns: Columns, Y: Any) -> Iterator[tuple[Array, slice]]:
    n_rows, n_labels = Y.shape
    step = max(1, _BLOCK_ENTRIES // max(1, n_rows))
    for start in range(0, n_labels, step):
        labels = slice(start, min(start + step, n_labels))
        yield columns(labels), labels


def _present(columns: Columns, Y: Any, w: Array) -> Iterator[tuple[Array, Any, Array]]:
    """Yield scores of some labels, the cells where they are present, and the cells' weights."""
    for S, labels in _blocks(columns, Y):
        rows, places = Y[:, labels].nonzero()
        yield S, (rows, places), w[rows]
