"""What a kind of model tells of itself: its scores as sums, and its labels as points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._validation import check_features
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts, Terms, products

Array = NDArray[np.float64]
Places = NDArray[np.integer[Any]]

_UNKNOWN_WIDTH = 1 << 14  # columns that texts are taken to have before they are transformed


class NotExplained(TypeError):
    """A model whose scores are no sums of terms that mean something; the sentence says what is."""


@dataclass(frozen=True)
class Inside:
    """The inside of a fitted classifier; kinds of models override what they can tell."""

    model: Any

    def checked(self, X: Any) -> Any:
        """X in a form whose rows can be taken."""
        return check_features(self.model, X, reset=False)

    def width(self, X: Any) -> int:
        """About how many numbers are made for a pair of a row and a label."""
        return X.shape[1] if np.ndim(X) == 2 else _UNKNOWN_WIDTH

    def scores(self, X: Any) -> Array:
        """(N, M) scores of checked rows: what is explained; (N, 1) of two classes."""
        if not hasattr(self.model, "decision_function"):
            raise self.refusal("it has no decision_function")
        scores = self.model.decision_function(X)
        dense = scores.toarray() if scipy.sparse.issparse(scores) else np.asarray(scores)
        return dense.reshape(dense.shape[0], -1)

    def parts(self, X: Any, labels: Places) -> Parts:
        """What the scores of pairs are made of: row i of X with the label of column labels[i]."""
        del X, labels
        raise self.refusal("its scores are not sums of terms that have a meaning by themselves")

    def neighbours(self, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
        """For each pair of ``parts`` the k training rows that voted most for its label."""
        del X, k
        return [()] * labels.size

    def label_vectors(self) -> Any:
        """(M, r) where the labels lie in a space in which similar ones are near."""
        raise NotExplained(
            f"Neighbours of labels need a model in which each label has codes or weights of its "
            f"own, and {type(self.model).__name__} has none; use CMLLClassifier, for example."
        )

    def refusal(self, reason: str) -> NotExplained:
        """A refusal in words."""
        return NotExplained(
            f"explain splits a score into terms that add up to it, and cannot for "
            f"{type(self.model).__name__}: {reason}. Explain a CMLLClassifier fitted to the same "
            "rows, or ask scikit-learn's permutation_importance, which asks any model."
        )


@dataclass(frozen=True)
class LinearInside(Inside):
    """Scores are X times weights plus an intercept; ``weights`` has a row for each label."""

    weights: Any  # (M, D), dense or sparse
    intercept: Array  # (M,)

    def parts(self, X: Any, labels: Places) -> Parts:
        """Value times weight of each feature."""
        kept, place = np.unique(labels, return_inverse=True)
        W = self.weights[kept]
        W = W.toarray() if scipy.sparse.issparse(W) else np.asarray(W)
        terms = Terms("feature", products(X, W.astype(np.float64, copy=False), place))
        return Parts(np.asarray(self.intercept, dtype=np.float64)[labels], (terms,))

    def label_vectors(self) -> Any:
        """The weights of each label."""
        return self.weights
