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

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from compactlearn.inspection._decomposition import (
    Places,
    ScoreDecomposition,
    decomposition_of,
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


@dataclass(frozen=True)
class ShortlistDecomposition(ScoreDecomposition):
    """The stages of a fitted ``ShortlistClassifier``."""

    @property
    def stages(self) -> Stages:
        return self.model.stages_

    def width(self, X: Any) -> int:
        """Features and likely labels."""
        return X.shape[1] + self.stages.n_labels

    def scores(self, X: Any) -> Array:
        """The candidates' scores; other labels come after them, the frequent ones first."""
        return self._dense(self.checked(X))

    def parts(self, X: Any, labels: Places) -> Parts:
        """Features, likely labels, retriever, neighbours and co-occurring labels; see above."""
        ranked = self.stages.rank(X)
        pairs, there = _places(ranked.candidates, labels)
        own = ranked.candidates.labels[pairs]
        inputs = ranked.inputs[pairs]
        said, by_retriever, by_neighbours = self.stages.prior.parts(ranked.candidates, pairs)
        values = np.column_stack(
            [ranked.candidates.retrieved[pairs], ranked.candidates.votes[pairs]]
        ).astype(np.float64)
        both = np.column_stack([by_retriever, by_neighbours])
        prior = Parts(said, (single_terms("prior", _SOURCES, both, values),))
        margin = self._margin(ranked, own) + prior.times(OFFSET)
        alone = self.stages.cooccurrence.alone(margin.total)
        parts = margin.through(self._of_margins) + prior.through(
            lambda log_odds: self.stages.final.term(1, log_odds)
        )
        constant = (
            self.stages.final.intercept
            + self.stages.final.term(2, inputs[:, 2])
            - self.model.boundary_
        )
        constant += self.stages.final.term(3, alone[:, 0]) + self.stages.final.term(5, alone[:, 2])
        parts = parts.plus(constant) + self._cooccurrence(ranked, pairs, inputs, alone)
        if not there.all():
            parts = self._without_absent(parts, X, labels, there)
        return with_base(parts, X, labels, self.model.base_scores_, self.model.boundary_)

    def _margin(self, ranked: Ranked, labels: Places) -> Parts:
        """Weights times features and likely labels, and intercepts."""
        kept, place = np.unique(labels, return_inverse=True)
        weights = self.stages.labels.columns[:, kept].T.toarray().astype(np.float64)
        terms = products(ranked.features, weights, place)
        n_features = ranked.features.shape[1] - ranked.candidates.n_labels
        likely = ranked.candidates.matrix(expit(ranked.log_odds.astype(np.float64)))
        return Parts(
            self.stages.labels.intercepts[labels].astype(np.float64),
            (
                Terms("feature", scipy.sparse.csr_array(terms[:, :n_features])),
                Terms("label", scipy.sparse.csr_array(terms[:, n_features:]), likely),
            ),
        )

    def _of_margins(self, margins: Array) -> Array:
        """Return what margins add to the scores of candidates that come with no other."""
        alone = self.stages.cooccurrence.alone(margins)
        own = sum(self.stages.final.term(k, alone[:, k - 3]) for k in (4, 7))
        return self.stages.final.term(0, margins) + own

    def _cooccurrence(self, ranked: Ranked, pairs: Places, inputs: Array, alone: Array) -> Parts:
        """What the other candidates change, with the label that has the last word."""
        change = [
            self.stages.final.term(k, inputs[:, k]) - self.stages.final.term(k, alone[:, k - 3])
            for k in (3, 4, 5, 6, 7)
        ]
        who = [
            self.stages.cooccurrence.strongest_labels(ranked.candidates, ranked.margins, int(pair))
            for pair in pairs
        ]
        support, need = np.array(who, dtype=np.intp).reshape(-1, 2).T
        n_labels = ranked.candidates.n_labels
        likely = ranked.candidates.matrix(expit(ranked.margins.astype(np.float64)))
        rest = change[2] + change[4] + np.where(support < 0, change[0], 0.0)
        rest = rest + np.where(need < 0, change[1] + change[3], 0.0)
        return Parts(
            np.zeros(pairs.size),
            (
                Terms("support", _one_each(change[0], support, n_labels), likely),
                Terms("need", _one_each(change[1] + change[3], need, n_labels), likely),
                single_terms(
                    "co-occurrence",
                    ["labels that come with it"],
                    rest[:, None],
                    inputs[:, [5]],
                ),
            ),
        )

    def _without_absent(
        self, parts: Parts, X: Any, labels: Places, there: NDArray[np.bool_]
    ) -> Parts:
        """A label that is no candidate has nothing but its place behind the candidates."""
        scores = self._dense(X)[np.arange(labels.size), labels]
        parts = parts.times(there.astype(np.float64))
        absent = np.where(there, 0.0, scores)
        note = single_terms(
            "base", ["no candidate"], absent[:, None], np.full((labels.size, 1), np.nan)
        )
        return parts + Parts(np.zeros(labels.size), (note,))

    def neighbours(self, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
        """The training rows that voted for each label."""
        near = self.stages.generator.neighbours
        if near is None:
            return super().neighbours(X, labels, k)
        found = near.voters(self.stages.rows(X), labels, k)
        return [tuple(Neighbour(row, share) for row, share in one) for one in found]

    def label_vectors(self) -> Any:
        """Return those of the retriever; without one, the weights of the regressions."""
        retriever = self.model.retriever_
        if retriever is None:
            return self.stages.labels.columns.T.tocsr()
        return decomposition_of(retriever).label_vectors()

    def _dense(self, X: Any) -> Array:
        return self.stages.dense_scores(X, self.model.base_scores_) - self.model.boundary_


@decomposition_of.register
def _(model: ShortlistClassifier) -> ScoreDecomposition:
    check_is_fitted(model, "stages_")
    return ShortlistDecomposition(model)


def _places(candidates: Candidates, labels: Places) -> tuple[Places, NDArray[np.bool_]]:
    """Which pair of the candidates each label of a row is, and whether it is one at all."""
    keys = candidates.rows * np.int64(candidates.n_labels) + candidates.labels
    asked = np.arange(labels.size) * np.int64(candidates.n_labels) + labels
    pairs = np.minimum(np.searchsorted(keys, asked), keys.size - 1)
    return pairs, keys[pairs] == asked


def _one_each(values: Array, columns: Places, width: int) -> scipy.sparse.csr_array:
    """One entry in each row, none where its column is -1."""
    there = np.flatnonzero(columns >= 0)
    return scipy.sparse.csr_array(
        (values[there], (there, columns[there])), shape=(values.size, width)
    )
