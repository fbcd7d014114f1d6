"""Candidates of rows and their final scores, row by row in compiled code.

The stages, and the order of sums in each, are those of the modules that compute them with SciPy.
Nothing is allocated for a row: :func:`new_memory` returns what all rows of a thread share.
"""

import math

import numpy as np

from compactlearn.core._compiled import jit
from compactlearn.shortlist._votes_kernel import largest, memory_of_votes, votes_of_row


@jit
def prepare(starts, values, unit, found):
    """Write the values of rows in single precision, divided by the rows' lengths if ``unit``."""
    for i in range(starts.size - 1):
        own = values[starts[i] : starts[i + 1]]
        size, length = 1.0, 1.0
        if unit:
            length = length_of(own, size)
            if not 1e-150 < length < 1e150:  # squares vanish or overflow
                for e in range(own.size):
                    size = max(size, abs(own[e])) if e else abs(own[e])
                size = size if size > 0 else 1.0
                length = length_of(own, size)
            length = length if length > 0 else 1.0
        for e in range(own.size):
            found[starts[i] + e] = own[e] / size / length


@jit
def length_of(values, size):
    """Return the length of a row whose values are divided by ``size``."""
    total = 0.0
    for e in range(values.size):
        total += (values[e] / size) * (values[e] / size)
    return math.sqrt(total)


@jit
def project(starts, features, values, factor, found):
    """Write the products of sparse rows with a matrix."""
    found[:] = 0
    for i in range(starts.size - 1):
        row = found[i]
        for e in range(starts[i], starts[i + 1]):
            x, weights = values[e], factor[features[e]]
            for c in range(row.size):
                row[c] += x * weights[c]


@jit
def best(products, intercept, memory, named, scores):
    """Write the labels of the largest scores of each row, and the scores; in no order."""
    n_labels, size = intercept.size, named.shape[1]
    row, everything, best_values = memory
    for i in range(products.shape[0]):
        own = products[i]
        for j in range(n_labels):
            row[j] = np.float64(own[j]) + intercept[j]
        if size == n_labels:
            for j in range(n_labels):
                named[i, j] = j
                scores[i, j] = row[j]
        else:
            kept = largest(row, everything, -np.inf, named[i], best_values)
            for c in range(size):
                scores[i, c] = best_values[c] if c < kept else np.nan
            named[i, kept:] = 0  # the others are not numbers


@jit
def new_memory(training, count, voted, n_pairs, n_inputs):
    """Return memory for :func:`rank`; places of labels are left at -1."""
    n_labels = training[6]
    return (
        memory_of_votes(training, count, voted),
        np.empty(voted, np.uint32),
        np.empty(voted, np.float32),
        np.full(n_labels, -1, np.int32),  # the place of each label among the candidates of a row
        np.empty(n_labels, np.float32),  # margins of all labels, of which candidates' are right
        np.empty(n_pairs, np.float32),  # log-odds by the prior
        np.empty(n_pairs, np.float64),  # probabilities
        np.empty(n_pairs, np.float64),  # and their logarithms
        np.empty((n_pairs, n_inputs), np.float64),
        np.empty(n_labels, np.float32),  # most evidence for all labels, likewise
    )


@jit
def rank(starts, features, values, named, scores, stages, memory, found):
    """Write candidates and scores of rows, row after row; return the number of pairs.

    ``named`` and ``scores`` are from the retriever. ``stages`` has the arrays of all other stages,
    ``found`` is for row starts, labels, retriever's scores, votes and final scores.
    """
    training, prior, labels, cooccurrence, centroids, evidence, final = stages
    _, _, _, places, _, log_odds, _, _, inputs, _ = memory
    found_starts, found_labels, found_retrieved, found_votes, found_scores = found
    end = 0
    found_starts[0] = 0
    for i in range(starts.size - 1):
        own, x = features[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]]
        retrieved, votes = found_retrieved[end:], found_votes[end:]
        n = candidates_of(
            own, x, named[i], scores[i], training, memory, found_labels[end:], retrieved, votes
        )
        candidates = found_labels[end : end + n]
        prior_of(candidates, retrieved, votes, prior, log_odds)
        margins_of(own, x, candidates, labels, memory)
        inputs_of(candidates, cooccurrence, memory)
        own_inputs_of(own, x, candidates, retrieved, votes, centroids, memory)
        evidence_of(own, x, candidates, evidence, memory)
        scores_of(inputs[:n], final, found_scores[end:])
        for j in range(n):
            places[candidates[j]] = -1
        end += n
        found_starts[i + 1] = end
    return end


@jit
def candidates_of(features, values, named, scores, training, memory, candidates, retrieved, votes):
    """Write the labels that retriever or neighbours name, in ascending order; return how many."""
    votes_memory, voted, shares, places = memory[:4]
    nobody = training[0][:0]
    n_voted = 0
    if voted.size:
        n_voted = votes_of_row(features, values, training, nobody, -1, votes_memory, voted, shares)
    n = 0
    for c in range(named.size):
        if places[named[c]] < 0:
            places[named[c]] = 0
            candidates[n] = named[c]
            n += 1
    for c in range(n_voted):
        if places[voted[c]] < 0:
            places[voted[c]] = 0
            candidates[n] = voted[c]
            n += 1
    candidates[:n].sort()
    for j in range(n):
        places[candidates[j]] = j
        retrieved[j] = np.nan
        votes[j] = 0
    for c in range(named.size):
        retrieved[places[named[c]]] = scores[c]
    for c in range(n_voted):
        votes[places[voted[c]]] = shares[c]
    return n


@jit
def prior_of(candidates, retrieved, votes, prior, log_odds):
    """Write the log-odds of candidates by retriever and votes."""
    score_corners, score_heights, vote_corners, vote_heights, own_corners, own_heights = prior[:6]
    crossed, centres, scales, frequency, intercept = prior[6:]
    for j in range(candidates.size):
        label = candidates[j]
        f = frequency[label]
        total, level, voted, own = intercept + crossed[0] * f, 0.0, 0.0, 0.0
        if not np.isnan(retrieved[j]):
            height, level = height_at(retrieved[j], score_corners, score_heights)
            total += height
            relative = (retrieved[j] - centres[label]) / scales[label]
            height, own = height_at(relative, own_corners, own_heights)
            total += height
        if votes[j] != 0:
            height, voted = height_at(votes[j], vote_corners, vote_heights)
            total += height
        total += f * (crossed[1] * level + crossed[2] * own + crossed[3] * voted)
        log_odds[j] = total + crossed[4] * level * voted


@jit
def height_at(value, corners, heights):
    """Return a piecewise linear function, and how far a value is along the corners, 0 to 1."""
    last = corners.size - 1
    x = max(np.float64(value), corners[0])
    if x >= corners[last]:
        return heights[last], 1.0
    left = 0
    while x >= corners[left + 1]:
        left += 1
    part = (x - corners[left]) / (corners[left + 1] - corners[left])
    height = heights[left] + part * (heights[left + 1] - heights[left])
    return height, (left + part) / last


@jit
def margins_of(features, values, candidates, labels, memory):
    """Write margins and prior log-odds of candidates to the first two inputs."""
    weight_starts, weight_labels, weights, intercepts, n_features, scale, likely, offset = labels
    margins, log_odds, inputs = memory[4], memory[5], memory[8]
    one = np.float32(1)
    for j in range(candidates.size):
        margins[candidates[j]] = 0
    for e in range(features.size):
        first, last = weight_starts[features[e]], weight_starts[features[e] + 1]
        add(values[e], weight_labels[first:last], weights[first:last], margins)
    for j in range(candidates.size):
        p = one / (one + math.exp(-log_odds[j]))
        if p >= likely:
            place = n_features + candidates[j]
            first, last = weight_starts[place], weight_starts[place + 1]
            add(np.float32(scale * p), weight_labels[first:last], weights[first:last], margins)
    for j in range(candidates.size):
        label = candidates[j]
        margin = margins[label] + intercepts[label] + np.float32(offset) * log_odds[j]
        inputs[j, 0], inputs[j, 1] = margin, log_odds[j]


@jit
def add(x, labels, weights, margins):
    """Add a feature's weights to the margins of its labels."""
    for e in range(labels.size):
        margins[labels[e]] += x * weights[e]


@jit
def inputs_of(candidates, cooccurrence, memory):
    """Write the inputs from the third on: frequency, and what the other candidates mean."""
    starts, others, shares, frequency, likely, needed, smallest = cooccurrence
    places, p, logarithms, inputs = memory[3], memory[6], memory[7], memory[8]
    strongest = 0.0
    for j in range(candidates.size):
        p[j] = 1.0 / (1.0 + math.exp(-inputs[j, 0]))
        logarithms[j] = math.log(max(p[j], smallest))
        strongest = max(strongest, p[j])
        inputs[j, 3] = 0.0
    for j in range(candidates.size):
        label = candidates[j]
        mean, weight, weakest = 0.0, 0.0, 2.0
        for e in range(starts[label], starts[label + 1]):
            k = places[others[e]]
            if k >= 0:
                share = np.float64(shares[e])
                if p[j] >= likely:
                    inputs[k, 3] = max(inputs[k, 3], p[j] * share)
                mean += share * logarithms[k]
                weight += share
                if share >= needed:
                    weakest = min(weakest, p[k])
        inputs[j, 2] = frequency[label]
        inputs[j, 4] = odds_of(weakest if weakest < 2.0 else p[j], smallest)
        inputs[j, 5] = mean / max(weight, 1.0)
        inputs[j, 6] = 1.0 if weakest < 2.0 else 0.0
        inputs[j, 7] = odds_of(strongest, smallest)
    for j in range(candidates.size):
        inputs[j, 3] = odds_of(inputs[j, 3], smallest)


@jit
def odds_of(p, smallest):
    """Return the log-odds of a probability within bounds."""
    p = min(max(p, smallest), 1.0 - smallest)
    return math.log(p / (1.0 - p))


@jit
def own_inputs_of(features, values, candidates, retrieved, votes, centroids, memory):
    """Write votes, whether the retriever names a label, and the similarity to its centroid."""
    starts, labels, entries = centroids
    similar, inputs = memory[4], memory[8]
    for j in range(candidates.size):
        similar[candidates[j]] = 0
    for e in range(features.size):
        first, last = starts[features[e]], starts[features[e] + 1]
        add(values[e], labels[first:last], entries[first:last], similar)
    for j in range(candidates.size):
        inputs[j, 8] = votes[j]
        inputs[j, 9] = 0.0 if np.isnan(retrieved[j]) else 1.0
        inputs[j, 10] = similar[candidates[j]]


@jit
def evidence_of(features, values, candidates, evidence, memory):
    """Write the last inputs: the sum of the features' evidence, and the largest share."""
    starts, labels, entries, usual = evidence
    total, inputs, most = memory[4], memory[8], memory[9]
    for j in range(candidates.size):
        total[candidates[j]] = 0
        most[candidates[j]] = 0
    for e in range(features.size):
        x = values[e]
        if not x > 0:
            continue
        for c in range(starts[features[e]], starts[features[e] + 1]):
            label, own = labels[c], entries[c]
            total[label] += x * own
            most[label] = max(most[label], own)
    for j in range(candidates.size):
        label = candidates[j]
        inputs[j, 11] = total[label]
        inputs[j, 12] = 0.0
        if most[label] > 0:
            inputs[j, 12] = 1.0 / (1.0 + math.exp(-(most[label] + usual[label])))


@jit
def scores_of(inputs, final, found):
    """Write the sums of rectified units of the inputs."""
    first, biases, second, intercept = final
    for j in range(inputs.shape[0]):
        total = intercept
        for u in range(biases.size):
            unit = biases[u]
            for k in range(inputs.shape[1]):
                unit += inputs[j, k] * first[u, k]
            total += second[u] * max(unit, 0.0)
        found[j] = total
