"""Votes of similar training rows, row by row in compiled code.

As the sparse products of :mod:`compactlearn.shortlist._neighbours`: similarities are summed in the
same order, and of equal ones the first rows and labels are kept.
"""

import numpy as np

from compactlearn.core._compiled import jit


@jit
def votes(
    starts,
    features,
    values,
    column_starts,
    column_rows,
    column_values,
    label_starts,
    labels,
    label_values,
    n_labels,
    count,
    size,
    weights,
    groups,
    first,
):
    """Return row starts, labels and shares of the ``size`` labels of most votes of each row.

    ``weights`` of training rows and their ``groups`` are empty where all rows count once, or where
    the rows are new. The rows are the training rows from ``first`` on otherwise.
    """
    n, n_rows = starts.size - 1, label_starts.size - 1
    kind = values.dtype.type
    similar, met = np.empty(n_rows, values.dtype), np.empty(n_rows, np.int32)
    met_by = np.full(n_rows, -1, np.int32)  # the last row that a training row was compared with
    total, named = np.empty(n_labels, values.dtype), np.empty(n_labels, np.int32)
    named_by = np.full(n_labels, -1, np.int32)
    near, near_values = np.empty(count, np.int32), np.empty(count, values.dtype)
    best, best_values = np.empty(size, np.int32), np.empty(size, values.dtype)
    found_starts = np.zeros(n + 1, np.int64)
    found, shares = np.empty(n * size, np.int32), np.empty(n * size, values.dtype)
    for i in range(n):
        n_met = 0
        for e in range(starts[i], starts[i + 1]):
            f, x = features[e], values[e]
            for c in range(column_starts[f], column_starts[f + 1]):
                row = column_rows[c]
                if met_by[row] != i:
                    met_by[row] = i
                    met[n_met] = row
                    n_met += 1
                    similar[row] = kind(0)
                similar[row] += x * column_values[c]
        if groups.size:
            for c in range(n_met):
                if groups[met[c]] == groups[first + i]:
                    similar[met[c]] = kind(-1)
        n_near = largest(similar, met[:n_met], near, near_values)
        # In the order of the rows: sums then do not depend on the order in which they were met.
        order = np.argsort(near[:n_near])
        everything, n_named = kind(0), 0
        for c in order:
            vote = near_values[c] * near_values[c]
            if weights.size:
                vote *= weights[near[c]]
            everything += vote
            for e in range(label_starts[near[c]], label_starts[near[c] + 1]):
                label = labels[e]
                if named_by[label] != i:
                    named_by[label] = i
                    named[n_named] = label
                    n_named += 1
                    total[label] = kind(0)
                total[label] += vote * label_values[e]
        n_best = largest(total, named[:n_named], best, best_values)
        end = found_starts[i]
        order = np.argsort(best[:n_best])
        for c in range(n_best):
            found[end + c] = best[order[c]]
            shares[end + c] = best_values[order[c]] / everything
        found_starts[i + 1] = end + n_best
    end = found_starts[n]
    return found_starts, found[:end].copy(), shares[:end].copy()


@jit
def largest(values, places, best, best_values):
    """Write the places of the largest values above 0, of equal ones the lowest; return how many.

    A heap with the worst of the kept ones on top: most values are compared with it and no more.
    """
    size, kept = best.size, 0
    for place in places:
        value = values[place]
        if not value > 0:
            continue
        if kept < size:
            at = kept
            kept += 1
            while at > 0:
                above = (at - 1) // 2
                if not worse(value, place, best_values[above], best[above]):
                    break
                best_values[at], best[at] = best_values[above], best[above]
                at = above
        elif worse(best_values[0], best[0], value, place):
            at = 0
            while 2 * at + 1 < size:
                below = 2 * at + 1
                if below + 1 < size and worse(
                    best_values[below + 1], best[below + 1], best_values[below], best[below]
                ):
                    below += 1
                if not worse(best_values[below], best[below], value, place):
                    break
                best_values[at], best[at] = best_values[below], best[below]
                at = below
        else:
            continue
        best_values[at], best[at] = value, place
    return kept


@jit
def worse(value, place, other, other_place):
    """Return whether a value comes after another in the order of size and place."""
    return value < other or (value == other and place > other_place)
