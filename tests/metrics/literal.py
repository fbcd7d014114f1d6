"""Metrics computed by their definitions, row by row and pair by pair, in plain Python.

Shares no code with the package. Unknown labels are taken out of a row before anything else.
"""

import math

import numpy as np


def rows_of(truth, scores):
    """Return (labels, truth, score) of the known labels of each row that has any."""
    for y, f in zip(truth, scores, strict=True):
        known = [j for j in range(len(y)) if not math.isnan(y[j])]
        if known:
            yield known, {j: y[j] == 1 for j in known}, {j: float(f[j]) for j in known}


def split(known, y):
    return [j for j in known if y[j]], [j for j in known if not y[j]]


def places(known, f, tie):
    """Return the rank of each label; of ties the "highest" or the "lowest" index is first."""
    sign = 1 if tie == "highest" else -1
    ranked = sorted(known, key=lambda j: (f[j], sign * j), reverse=True)
    return {j: place for place, j in enumerate(ranked, start=1)}


def mean(values):
    return float(np.mean(values)) if values else math.nan


def mean_over_rows(value, truth, scores, tie="lowest", rankable=False):
    """Average ``value(present, absent, rank, score)`` over rows; rankable ones have both kinds."""
    values = []
    for known, y, f in rows_of(truth, scores):
        present, absent = split(known, y)
        if (present and absent) or not rankable:
            values.append(value(present, absent, places(known, f, tie), f))
    return mean(values)


def average_precision(truth, scores):
    def value(present, absent, rank, f):
        return mean([sum(rank[s] <= rank[r] for s in present) / rank[r] for r in present])

    return mean_over_rows(value, truth, scores, "highest", rankable=True)


def ranking_loss(truth, scores):
    def value(present, absent, rank, f):
        return mean([f[r] <= f[s] for r in present for s in absent])

    return mean_over_rows(value, truth, scores, rankable=True)


def one_error(truth, scores):
    def value(present, absent, rank, f):
        return not any(f[r] == max(f.values()) for r in present)

    return mean_over_rows(value, truth, scores, rankable=True)


def coverage(truth, scores):
    def value(present, absent, rank, f):
        return max((rank[r] for r in present), default=0) - 1

    return mean_over_rows(value, truth, scores, "highest")


def precision_at_k(truth, scores, k):
    def value(present, absent, rank, f):
        return sum(rank[r] <= k for r in present) / k

    return mean_over_rows(value, truth, scores)


def r_precision_at_k(truth, scores, k):
    def value(present, absent, rank, f):
        return sum(rank[r] <= k for r in present) / min(k, len(present)) if present else 0

    return mean_over_rows(value, truth, scores)


def f1_at_k(truth, scores, k):
    def harmonic_mean(present, absent, rank, f):  # of precision and recall of the k best labels
        hits = sum(rank[r] <= k for r in present)
        return 2 / (k / hits + len(present) / hits) if hits else 0.0

    return mean_over_rows(harmonic_mean, truth, scores)


def ideal(n, k):
    return sum(1 / math.log2(t + 1) for t in range(1, min(n, k) + 1))


def ndcg_at_k(truth, scores, k):
    def value(present, absent, rank, f):
        gain = sum(1 / math.log2(rank[r] + 1) for r in present if rank[r] <= k)
        return gain / ideal(len(present), k) if present else 0.0

    return mean_over_rows(value, truth, scores)


def propensity_scored(truth, scores, k, weights, discounted):
    found = best = 0.0
    for known, y, f in rows_of(truth, scores):
        present, _ = split(known, y)
        if not present:
            continue
        rank = places(known, f, "lowest")
        by_weight = sorted((weights[r] for r in present), reverse=True)
        norm = ideal(len(present), k) if discounted else k
        for r in present:
            if rank[r] <= k:
                found += weights[r] / (math.log2(rank[r] + 1) if discounted else 1) / norm
        for t, weight in enumerate(by_weight[:k], start=1):
            best += weight / (math.log2(t + 1) if discounted else 1) / norm
    return found / best if best else math.nan


def f1(y, p):
    """Return F1 of two lists of booleans."""
    hits = sum(a and b for a, b in zip(y, p, strict=True))
    marks = sum(y) + sum(p)
    return 2 * hits / marks if marks else 0.0


def label_metrics(truth, labels):
    """Return every metric of label sets."""
    cells, rows, columns = [], [], [[] for _ in truth[0]]
    for y, p in zip(truth, labels, strict=True):
        row = [(y[j] == 1, p[j] == 1) for j in range(len(y)) if not math.isnan(y[j])]
        for j in range(len(y)):
            if not math.isnan(y[j]):
                columns[j].append((y[j] == 1, p[j] == 1))
        cells += row
        rows += [row] if row else []
    columns = [column for column in columns if column]

    def of(pairs):
        return f1([a for a, _ in pairs], [b for _, b in pairs])

    return {
        "hamming_loss": mean([a != b for a, b in cells]),
        "subset_accuracy": mean([all(a == b for a, b in row) for row in rows]),
        "example_f1": mean([of(row) for row in rows]),
        "micro_f1": of(cells),
        "macro_f1": mean([of(column) for column in columns]),
    }


def log_loss(truth, probabilities, clip):
    losses = []
    for present, p in suggested_cells(truth, probabilities):
        p = min(max(p, clip), 1 - clip)
        losses.append(-math.log(p if present else 1 - p))
    return mean(losses)


def calibration_error(truth, probabilities, bins):
    cells = suggested_cells(truth, probabilities)
    gaps = [n * abs(p - share) for n, p, share in reliability(cells, bins) if n]
    return sum(gaps) / len(cells) if cells else math.nan


def suggested_cells(truth, probabilities, k=None, threshold=None, labels=None):
    """(present, probability) of the known labels that meet every condition that is not None.

    ``probabilities`` are NaN where a label has none, as in a sparse matrix.
    """
    found = []
    for i, (y, p) in enumerate(zip(truth, probabilities, strict=True)):
        known = [j for j in range(len(y)) if not math.isnan(y[j]) and not math.isnan(p[j])]
        best = sorted(known, key=lambda j: (-p[j], j))[:k]
        found += [
            (y[j] == 1, float(p[j]))
            for j in best
            if (threshold is None or p[j] > threshold[j]) and (labels is None or labels[i][j] == 1)
        ]
    return found


def reliability(cells, bins):
    """Return (count, mean probability, precision) of each bin, NaN where it is empty."""
    rows = []
    for b in range(bins):
        own = [(y, p) for y, p in cells if min(int(p * bins), bins - 1) == b]
        rows.append((len(own), mean([p for _, p in own]), mean([y for y, _ in own])))
    return rows
