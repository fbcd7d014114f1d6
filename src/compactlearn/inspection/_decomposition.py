"""Score decompositions: the scores of a kind of model as sums, and its labels as points.

Every kind of model has a file that registers its decomposition with :func:`decomposition_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from compactlearn.compact._empty_rows import rows_of_zeros
from compactlearn.core._validation import check_features
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts, Terms, products

Array = NDArray[np.float64]
Places = NDArray[np.integer[Any]]

_UNKNOWN_WIDTH = 1 << 14  # columns that texts are assumed to have before they are transformed
_WRAPPERS = (MultiOutputRegressor, MultiOutputClassifier, OneVsRestClassifier)
_AS_SAID = 1e-8  # relative: a model that answers something else than its weights say is not linear


class NotExplained(TypeError):
    """A model whose scores are no sums of terms that mean something; the sentence says what is."""


@dataclass(frozen=True)
class ScoreDecomposition:
    """Scores of a fitted classifier as sums; kinds of models override what they have."""

    model: Any

    def checked(self, X: Any) -> Any:
        """Return X in a form whose rows can be taken."""
        return check_features(self.model, X, reset=False)

    def width(self, X: Any) -> int:
        """Return about how many numbers are made for a pair of a row and a label."""
        return X.shape[1] if np.ndim(X) == 2 else _UNKNOWN_WIDTH

    def scores(self, X: Any) -> Array:
        """Return the (N, M) scores that are explained, of checked rows; (N, 1) of two classes."""
        if not hasattr(self.model, "decision_function"):
            raise self.refusal("it has no decision_function")
        scores = self.model.decision_function(X)
        dense = scores.toarray() if scipy.sparse.issparse(scores) else np.asarray(scores)
        return dense.reshape(dense.shape[0], -1)

    def parts(self, X: Any, labels: Places) -> Parts:
        """Return the parts of the scores of pairs: row i of X, the label of column labels[i]."""
        del X, labels
        raise self.refusal("its scores are not sums of terms that have a meaning by themselves")

    def neighbours(self, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
        """Return for each pair of ``parts`` the k training rows that voted most for its label."""
        del X, k
        return [()] * labels.size

    def label_vectors(self) -> Any:
        """Return (M, r) points of the labels in a space in which similar ones are near."""
        raise NotExplained(
            f"Neighbours of labels need a model in which each label has codes or weights of its "
            f"own, and {type(self.model).__name__} has none; use CMLLClassifier, for example."
        )

    def refusal(self, reason: str) -> NotExplained:
        """Return the error for scores that cannot be decomposed."""
        return NotExplained(
            f"explain splits a score into terms that add up to it, and cannot for "
            f"{type(self.model).__name__}: {reason}. Explain a CMLLClassifier fitted to the same "
            "rows, or ask scikit-learn's permutation_importance, which asks any model."
        )


@dataclass(frozen=True)
class LinearDecomposition(ScoreDecomposition):
    """Scores that are X times weights plus an intercept; ``weights`` has a row for each label."""

    weights: Any  # (M, D), dense or sparse
    intercept: Array  # (M,)

    def parts(self, X: Any, labels: Places) -> Parts:
        """Return value times weight of each feature."""
        kept, place = np.unique(labels, return_inverse=True)
        W = self.weights[kept]
        W = W.toarray() if scipy.sparse.issparse(W) else np.asarray(W)
        terms = Terms("feature", products(X, W.astype(np.float64, copy=False), place))
        return Parts(np.asarray(self.intercept, dtype=np.float64)[labels], (terms,))

    def label_vectors(self) -> Any:
        """Return the weights of each label."""
        return self.weights


@dataclass(frozen=True)
class _ForeignLinear(LinearDecomposition):
    """A linear model of another package, whose scores are compared with what its weights say."""

    def checked(self, X: Any) -> Any:
        X = super().checked(X)
        scores = self.model.decision_function(X)
        if not says_so((self.weights, self.intercept), X, scores):
            raise self.refusal("its scores are not what its weights say")
        return X


@singledispatch
def decomposition_of(model: Any) -> ScoreDecomposition:
    """Return the decomposition of the scores of any fitted classifier."""
    linear = linear_part(model)
    if linear is not None and hasattr(model, "decision_function"):
        return _ForeignLinear(model, *linear)
    return ScoreDecomposition(model)


def linear_part(model: Any) -> tuple[Array, Array] | None:
    """Return weights (M, D) and intercepts (M,) of a fitted linear model, or None.

    >>> from sklearn.linear_model import Ridge
    >>> coef, intercept = linear_part(Ridge(alpha=0).fit([[0.0], [1.0]], [1.0, 3.0]))
    >>> coef, intercept
    (array([[2.]]), array([1.]))
    """
    if isinstance(model, _WRAPPERS):
        parts = [linear_part(one) for one in model.estimators_]
        found = [part for part in parts if part is not None and part[0].shape[0] == 1]
        if not parts or len(found) != len(parts):
            return None
        coefs, intercepts = zip(*found, strict=True)
        return np.vstack(coefs), np.concatenate(intercepts)
    coef = getattr(model, "coef_", None)
    if coef is None or not hasattr(model, "intercept_"):
        return None
    coef = coef.toarray() if scipy.sparse.issparse(coef) else coef
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    intercept = np.ravel(np.asarray(model.intercept_, dtype=np.float64))
    return coef, np.broadcast_to(intercept, (coef.shape[0],)).copy()


def says_so(linear: tuple[Array, Array], X: Any, answers: Any) -> bool:
    """Return whether answers are what the weights say.

    Some models with weights answer something else: an exponential of their sum, or a sum over
    centred columns.
    """
    coef, intercept = linear
    answers = np.asarray(answers, dtype=np.float64).reshape(X.shape[0], -1)
    if coef.shape[1] != X.shape[1] or answers.shape[1] != coef.shape[0]:
        return False
    return np.allclose(X @ coef.T + intercept, answers, rtol=_AS_SAID, atol=_AS_SAID)


def with_base(parts: Parts, X: Any, labels: Places, base: Array | None, boundary: float) -> Parts:
    """Return the parts of scores, for rows of zeros their ``base`` scores alone, if not None."""
    if base is None:
        return parts
    return parts.replaced(rows_of_zeros(X), base[labels] - boundary)
