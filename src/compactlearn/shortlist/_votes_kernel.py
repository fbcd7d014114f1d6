"""Votes of similar training rows, row by row in compiled code.

As the sparse products of :mod:`compactlearn.shortlist._neighbours`: similarities are summed in the
same order, and of equal ones the first rows and labels are kept.
"""

import numpy as np

from compactlearn.core._compiled import jit


@jit
def votes(starts, features, values, training, count, size, groups, first):
    """Return row starts, labels and shares of the ``size`` labels of most votes of each row.

    ``training`` is what ``Neighbours.arrays`` returns. ``groups`` of the training rows are empty
    where the rows are new. The rows are the training rows from ``first`` on otherwise.
    """
    n = starts.size - 1
    memory = memory_of_votes(training, count, size)
    found_starts = np.zeros(n + 1, np.int64)
    found, shares = np.empty(n * size, np.uint32), np.empty(n * size, np.float32)
    for i in range(n):
        own = slice(starts[i], starts[i + 1])
        group = groups[first + i] if groups.size else -1
        end = found_starts[i]
        found_starts[i + 1] = end + votes_of_row(
            features[own], values[own], training, groups, group, memory, found[end:], shares[end:]
        )
    end = found_starts[n]
    return found_starts, found[:end].copy(), shares[:end].copy()


@jit
def memory_of_votes(training, count, size):
    """Return memory for :func:`votes_of_row`; both arrays of marks are left at zero."""
    _, _, _, label_starts, _, _, n_labels, _ = training
    n_rows = label_starts.size - 1
    return (
        np.empty(n_rows, np.float32),  # similarities
        np.empty(n_rows, np.uint32),  # rows with a feature in common
        np.zeros(n_rows, np.uint8),  # marks of these rows
        np.empty(n_labels, np.float32),  # votes
        np.empty(n_labels, np.uint32),  # labels with votes
        np.zeros(n_labels, np.uint8),  # marks of these labels
        np.empty(count, np.uint32),  # nearest rows
        np.empty(count, np.float32),
        np.empty(size, np.uint32),  # labels of most votes
        np.empty(size, np.float32),
    )


@jit
def votes_of_row(features, values, training, groups, group, memory, found, shares):
    """Write labels of most votes, in ascending order, and their shares; return how many."""
    column_starts, column_rows, column_values = training[:3]
    label_starts, labels, label_values, _, weights = training[3:]
    similar, met, is_met, total, named, is_named = memory[:6]
    near, near_values, best, best_values = memory[6:]
    zero, n_met = np.float32(0), 0
    for e in range(features.size):
        f, x = features[e], values[e]
        rows = column_rows[column_starts[f] : column_starts[f + 1]]
        own = column_values[column_starts[f] : column_starts[f + 1]]
        for c in range(rows.size):
            row = rows[c]
            if not is_met[row]:
                is_met[row] = 1
                met[n_met] = row
                n_met += 1
                similar[row] = zero
            similar[row] += x * own[c]
    for c in range(n_met):
        is_met[met[c]] = 0
        if groups.size and groups[met[c]] == group:
            similar[met[c]] = zero
    n_near = largest(similar, met[:n_met], zero, near, near_values)
    # In the order of the rows: sums then do not depend on the order in which they were met.
    order = np.argsort(near[:n_near])
    everything, n_named = zero, 0
    for c in order:
        vote = near_values[c] * near_values[c]
        if weights.size:
            vote *= weights[near[c]]
        everything += vote
        for e in range(label_starts[near[c]], label_starts[near[c] + 1]):
            label = labels[e]
            if not is_named[label]:
                is_named[label] = 1
                named[n_named] = label
                n_named += 1
                total[label] = zero
            total[label] += vote * label_values[e]
    for c in range(n_named):
        is_named[named[c]] = 0
    n_best = largest(total, named[:n_named], zero, best, best_values)
    order = np.argsort(best[:n_best])
    for c in range(n_best):
        found[c] = best[order[c]]
        shares[c] = best_values[order[c]] / everything
    return n_best


@jit
def largest(values, places, least, best, best_values):
    """Write the places of the largest values above ``least``, of equal ones the lowest.

    Return how many. A heap with the worst of the kept ones on top: most values are compared with it
    and no more.
    """
    size, kept = best.size, 0
    if size == 0:
        return 0
    for place in places:
        value = values[place]
        if not value > least:
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
