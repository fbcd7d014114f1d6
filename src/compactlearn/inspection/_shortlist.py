"""Scores of ``ShortlistClassifier`` as sums.

The final log-odds are a sum of functions of one number each. Two of these are sums themselves:

    margin   w'x + (weights of likely labels)'p + b + half of the prior
    prior    base of the label + by the retriever + by the neighbours

so each of these two functions gives its mean slope, from where the row says nothing to where it
is, to the terms of its sum (``_terms.py``). The row says nothing where it has no features
and no likely labels, where the retriever has for the label the mean of its scores, and where no
neighbour votes. The other inputs are what the other candidates mean for this one: of each function
the difference to its value for a candidate that comes with no other.
"""

from __future__ import annotations

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
from compactlearn.inspection._terms import Parts, Terms, products, single_terms
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._classifier import ShortlistClassifier
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
    said, *by_sources = stages.prior.parts(ranked.candidates, pairs)
    values = (ranked.candidates.retrieved[pairs], ranked.candidates.votes[pairs])
    sources = single_terms("prior", _SOURCES, np.column_stack(by_sources), np.column_stack(values))
    prior = Parts(said, (sources,))
    margin = _margin(stages, ranked, ranked.candidates.labels[pairs]) + prior.times(OFFSET)
    alone = stages.cooccurrence.alone(margin.total)

    def of_margins(margins: Array) -> Array:
        """Return what margins add to the scores of candidates that come with no other."""
        own = stages.cooccurrence.alone(margins)
        return final.term(0, margins) + final.term(4, own[:, 1]) + final.term(7, own[:, 4])

    constant = final.intercept + final.term(2, inputs[:, 2]) - model.boundary_
    constant += final.term(3, alone[:, 0]) + final.term(5, alone[:, 2])
    parts = margin.through(of_margins) + prior.through(lambda log_odds: final.term(1, log_odds))
    parts = parts.plus(constant) + _cooccurrence(stages, ranked, pairs, alone)
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


def _cooccurrence(stages: Stages, ranked: Ranked, pairs: Places, alone: Array) -> Parts:
    """Return what the other candidates change, with the label that has the last word."""
    inputs, candidates = ranked.inputs[pairs], ranked.candidates
    change = [
        stages.final.term(k, inputs[:, k]) - stages.final.term(k, alone[:, k - 3])
        for k in (3, 4, 5, 6, 7)
    ]
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
