"""What a score of ``ShortlistClassifier`` is made of.

The final log-odds are a sum of functions of one number each. Two of these are sums themselves:

    second look   w'x + (weights of likely labels)'p + b + half of the first look
    first look    what is said of the label + by the retriever + by the neighbours

so each of these two functions gives its mean slope, from where the row says nothing to where it
is, to the terms of its sum (``explaining/parts.py``). The row says nothing where it has no features
and no likely labels, where the retriever has for the label the mean of its scores, and where no
neighbour votes. The other numbers are what the other candidates mean for this one: of each function
the difference to its value for a candidate that comes with no other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.compact._empty_rows import parts_with_base
from compactlearn.inspection._decomposition import Inside, Places
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts, Terms, products, single_terms
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._cooccurrence_reranking import Company, ThirdLook
from compactlearn.shortlist._label_reranking import OFFSET, SecondLook
from compactlearn.shortlist._prior import FirstLook

Array = NDArray[np.float64]

_FIRST = ("the retriever", "the neighbours")


@dataclass(frozen=True)
class Looked:
    """What all looks have found of some rows."""

    candidates: Candidates
    log_odds: NDArray[np.float32]  # first look
    beside: scipy.sparse.csr_array  # features, and beside them what the first look takes for likely
    margins: NDArray[np.float32]  # second look
    numbers: Array  # what the third look rests on
    scores: NDArray[np.float32]


@dataclass(frozen=True)
class ShortlistInside(Inside):
    """The stages of a fitted ``ShortlistClassifier``."""

    first: FirstLook
    second: SecondLook
    company: Company
    third: ThirdLook
    boundary: float  # taken off the scores
    look: Callable[[Any], Looked]
    rank: Callable[[Any], Array]  # scores of all labels; those that are no candidates come last
    retriever: Callable[[], Inside] | None
    voters: Callable[[Any, Places, int], list[list[tuple[int, float]]]] | None = None

    def width(self, X: Any) -> int:
        """Features and likely labels."""
        return X.shape[1] + self.second.intercepts.size

    def scores(self, X: Any) -> Array:
        """The candidates' scores; other labels come after them, the frequent ones first."""
        return self.rank(self.checked(X))

    def parts(self, X: Any, labels: Places) -> Parts:
        """Features, likely labels, retriever, neighbours and company; see above."""
        looked = self.look(X)
        pairs, there = _places(looked.candidates, labels)
        own = looked.candidates.labels[pairs]
        numbers = looked.numbers[pairs]
        said, by_retriever, by_neighbours = self.first.parts(looked.candidates, pairs)
        values = np.column_stack(
            [looked.candidates.retrieved[pairs], looked.candidates.votes[pairs]]
        ).astype(np.float64)
        both = np.column_stack([by_retriever, by_neighbours])
        first = Parts(said, (single_terms("first look", _FIRST, both, values),))
        second = self._second(looked, own) + first.times(OFFSET)
        alone = self.company.alone(second.total)
        parts = second.through(self._of_second_look) + first.through(
            lambda log_odds: self.third.said_by(1, log_odds)
        )
        constant = self.third.intercept + self.third.said_by(2, numbers[:, 2]) - self.boundary
        constant += self.third.said_by(3, alone[:, 0]) + self.third.said_by(5, alone[:, 2])
        parts = parts.plus(constant) + self._company(looked, pairs, numbers, alone)
        if not there.all():
            parts = self._without_absent(parts, X, labels, there)
        return parts_with_base(parts, X, labels, self.model.base_scores_, self.boundary)

    def _second(self, looked: Looked, labels: Places) -> Parts:
        """Weights times features and likely labels, and intercepts."""
        kept, place = np.unique(labels, return_inverse=True)
        weights = self.second.columns[:, kept].T.toarray().astype(np.float64)
        terms = products(looked.beside, weights, place)
        n_features = looked.beside.shape[1] - looked.candidates.n_labels
        likely = looked.candidates.matrix(expit(looked.log_odds.astype(np.float64)))
        return Parts(
            self.second.intercepts[labels].astype(np.float64),
            (
                Terms("feature", scipy.sparse.csr_array(terms[:, :n_features])),
                Terms("label", scipy.sparse.csr_array(terms[:, n_features:]), likely),
            ),
        )

    def _of_second_look(self, margins: Array) -> Array:
        """Return what margins add to the scores of candidates that come with no other."""
        alone = self.company.alone(margins)
        own = sum(self.third.said_by(k, alone[:, k - 3]) for k in (4, 7))
        return self.third.said_by(0, margins) + own

    def _company(self, looked: Looked, pairs: Places, numbers: Array, alone: Array) -> Parts:
        """What the other candidates change, with the label that has the last word."""
        change = [
            self.third.said_by(k, numbers[:, k]) - self.third.said_by(k, alone[:, k - 3])
            for k in (3, 4, 5, 6, 7)
        ]
        who = [self.company.who(looked.candidates, looked.margins, int(pair)) for pair in pairs]
        support, need = np.array(who, dtype=np.intp).reshape(-1, 2).T
        n_labels = looked.candidates.n_labels
        likely = looked.candidates.matrix(expit(looked.margins.astype(np.float64)))
        rest = change[2] + change[4] + np.where(support < 0, change[0], 0.0)
        rest = rest + np.where(need < 0, change[1] + change[3], 0.0)
        return Parts(
            np.zeros(pairs.size),
            (
                Terms("support", _one_each(change[0], support, n_labels), likely),
                Terms("need", _one_each(change[1] + change[3], need, n_labels), likely),
                single_terms(
                    "company",
                    ["labels that come with it"],
                    rest[:, None],
                    numbers[:, [5]],
                ),
            ),
        )

    def _without_absent(
        self, parts: Parts, X: Any, labels: Places, there: NDArray[np.bool_]
    ) -> Parts:
        """A label that is no candidate has nothing but its place behind the candidates."""
        scores = self.rank(X)[np.arange(labels.size), labels]
        parts = parts.times(there.astype(np.float64))
        absent = np.where(there, 0.0, scores)
        note = single_terms(
            "base", ["no candidate"], absent[:, None], np.full((labels.size, 1), np.nan)
        )
        return parts + Parts(np.zeros(labels.size), (note,))

    def neighbours(self, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
        """The training rows that voted for each label."""
        if self.voters is None:
            return super().neighbours(X, labels, k)
        found = self.voters(X, labels, k)
        return [tuple(Neighbour(row, share) for row, share in one) for one in found]

    def label_vectors(self) -> Any:
        """Where the retriever has them; the weights of the second look where it has none."""
        if self.retriever is None:
            return self.second.columns.T.tocsr()
        return self.retriever().label_vectors()


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
