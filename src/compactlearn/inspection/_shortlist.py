"""Scores of ``ShortlistClassifier`` as sums.

The final log-odds are a network of inputs, some of which are sums themselves:

    margin   w'x + (weights of likely labels)'p + b + half of the prior
    prior    base of the label + by the retriever + by the neighbours

The inputs go along two straight lines: from a row that says nothing to this one without other
candidates, and from there to all of its candidates. On each, an input is given the mean of its
partial derivative times its change (Aumann and Shapley's shares, exact for such a network), and
shares its part among the terms that it is a sum of. A row says nothing where it has no features and
no likely labels, where the retriever has for the label the mean of its scores, and where no
neighbour votes. The last stage then gets neither votes, evidence nor a label that the retriever
names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from compactlearn.inspection._decomposition import (
    Places,
    label_scores,
    label_vectors_of,
    neighbours_of,
    parts_of,
    with_base,
)
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts, Terms, products, scale_rows, single_terms
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._classifier import ShortlistClassifier
from compactlearn.shortlist._evidence import positive
from compactlearn.shortlist._label_reranking import OFFSET
from compactlearn.shortlist._stages import Ranked, Stages

Array = NDArray[np.float64]

_SOURCES = ("the retriever", "the neighbours")


@parts_of.register
def _(model: ShortlistClassifier, X: Any, labels: Places) -> Parts:
    """Features, likely labels, retriever, neighbours and co-occurring labels; see above."""
    check_is_fitted(model, "stages_")
    stages, final = model.stages_, model.stages_.final
    ranked = stages.rank(X)
    pairs, there = _places(ranked.candidates, labels)
    inputs = ranked.inputs[pairs]
    label = ranked.candidates.labels[pairs]
    said, *by_sources = stages.prior.parts(ranked.candidates, pairs)
    values = (ranked.candidates.retrieved[pairs], ranked.candidates.votes[pairs])
    sources = single_terms("prior", _SOURCES, np.column_stack(by_sources), np.column_stack(values))
    prior = Parts(said, (sources,))
    margin = _margin(stages, ranked, label) + prior.times(OFFSET)
    before, own = inputs.copy(), inputs.copy()
    before[:, 0], before[:, 1] = margin.base, prior.base  # exact: inputs are in single precision
    before[:, 8:] = 0.0
    for row in (before, own):
        row[:, 3:8] = stages.cooccurrence.alone(row[:, 0])
    slopes, change = final.mean_gradients(before, own), own - before
    by_others = (slopes[:, 3:8] * change[:, 3:8]).sum(axis=1)  # inputs that follow the margin
    moved = np.abs(change[:, 0]) > 0
    by_margin = slopes[:, 0] + np.where(moved, by_others / np.where(moved, change[:, 0], 1.0), 0.0)
    parts = _terms_alone(margin, by_margin) + _terms_alone(prior, slopes[:, 1])
    direct = slopes[:, [9, 8]] * change[:, [9, 8]]
    groups = [single_terms("prior", _SOURCES, direct, np.column_stack(values))]
    for k, sums in enumerate(_by_features(stages, ranked, label, change[:, 12]), start=10):
        groups.append(Terms("feature", scale_rows(sums, slopes[:, k])))
    parts = parts + Parts(np.zeros(labels.size), tuple(groups))
    parts = parts.plus(final.exact_scores(before) - model.boundary_)
    parts = parts + _cooccurrence(stages, ranked, pairs, own)
    if not there.all():
        # A label that is no candidate has nothing but its place behind the candidates.
        scores = label_scores(model, X)[np.arange(labels.size), labels]
        absent, unknown = np.where(there, 0.0, scores)[:, None], np.full((labels.size, 1), np.nan)
        note = single_terms("base", ["no candidate"], absent, unknown)
        parts = parts.times(there.astype(np.float64)) + Parts(np.zeros(labels.size), (note,))
    return with_base(parts, X, labels, model)


def _margin(stages: Stages, ranked: Ranked, labels: Places) -> Parts:
    """Return weights times features and likely labels, and intercepts."""
    kept, place = np.unique(labels, return_inverse=True)
    weights = stages.labels.columns[:, kept].T.toarray().astype(np.float64)
    terms = products(ranked.features, weights, place)
    n_features = ranked.features.shape[1] - ranked.candidates.n_labels
    likely = ranked.candidates.matrix(expit(ranked.log_odds.astype(np.float64)))
    return Parts(
        stages.labels.intercepts[labels].astype(np.float64),
        (
            Terms("feature", scipy.sparse.csr_array(terms[:, :n_features])),
            Terms("label", scipy.sparse.csr_array(terms[:, n_features:]), likely),
        ),
    )


def _terms_alone(parts: Parts, slopes: Array) -> Parts:
    """Return the terms of a sum, times slopes, without its base."""
    return replace(parts.times(slopes), base=np.zeros(parts.base.size))


def _by_features(
    stages: Stages, ranked: Ranked, labels: Places, strongest: Array
) -> list[scipy.sparse.csr_array]:
    """Return the inputs that are sums over the features of the row.

    Similarity to the label's centroid, evidence, and the largest share. The last is due to one
    feature alone, that of most evidence.
    """
    kept, place = np.unique(labels, return_inverse=True)
    centroids, evidence = (
        own.columns[:, kept].T.toarray().astype(np.float64)
        for own in (stages.centroids, stages.evidence)
    )
    rows = scipy.sparse.csr_array(ranked.features[:, : centroids.shape[1]])
    there = positive(rows)
    sums = [products(rows, centroids, place), products(there, evidence, place)]
    there.data = np.ones_like(there.data)
    spoken = products(there, evidence, place)
    first = np.where(strongest != 0, np.asarray(spoken.argmax(axis=1)).ravel(), -1)
    return [*sums, _one_each(strongest, first, rows.shape[1])]


def _cooccurrence(stages: Stages, ranked: Ranked, pairs: Places, own: Array) -> Parts:
    """Return what the other candidates change, with the label that has the last word."""
    inputs, candidates = ranked.inputs[pairs], ranked.candidates
    slopes = stages.final.mean_gradients(own, inputs)
    change = list((slopes[:, 3:8] * (inputs - own)[:, 3:8]).T)
    strongest = stages.cooccurrence.strongest_labels
    who = [strongest(candidates, ranked.margins, int(pair)) for pair in pairs]
    support, need = np.array(who, dtype=np.intp).reshape(-1, 2).T
    likely = candidates.matrix(expit(ranked.margins.astype(np.float64)))
    rest = change[2] + change[4] + np.where(support < 0, change[0], 0.0)
    rest = rest + np.where(need < 0, change[1] + change[3], 0.0)
    other = ["labels that come with it"]
    return Parts(
        np.zeros(pairs.size),
        (
            Terms("support", _one_each(change[0], support, candidates.n_labels), likely),
            Terms("need", _one_each(change[1] + change[3], need, candidates.n_labels), likely),
            single_terms("co-occurrence", other, rest[:, None], inputs[:, [5]]),
        ),
    )


@neighbours_of.register
def _(model: ShortlistClassifier, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
    near = model.stages_.generator.neighbours
    if near is None:
        return [()] * labels.size
    found = near.voters(model.stages_.rows(X), labels, k)
    return [tuple(Neighbour(row, share) for row, share in one) for one in found]


@label_vectors_of.register
def _(model: ShortlistClassifier) -> Any:
    """The vectors of the retriever; without one, the weights of the regressions."""
    check_is_fitted(model, "stages_")
    if model.retriever_ is None:
        return model.stages_.labels.columns.T.tocsr()
    return label_vectors_of(model.retriever_)


def _places(candidates: Candidates, labels: Places) -> tuple[Places, NDArray[np.bool_]]:
    """Return which pair of the candidates each label of a row is, and whether it is one."""
    keys = candidates.rows * np.int64(candidates.n_labels) + candidates.labels
    asked = np.arange(labels.size) * np.int64(candidates.n_labels) + labels
    pairs = np.minimum(np.searchsorted(keys, asked), keys.size - 1)
    return pairs, keys[pairs] == asked


def _one_each(values: Array, columns: Places, width: int) -> scipy.sparse.csr_array:
    """Return a matrix with one entry in each row, none where its column is -1."""
    there = np.flatnonzero(columns >= 0)
    return scipy.sparse.csr_array(
        (values[there], (there, columns[there])), shape=(values.size, width)
    )
