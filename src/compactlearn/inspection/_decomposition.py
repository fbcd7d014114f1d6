"""Scores as sums, for every kind of model: three functions with a case for each.

* `parts_of`: the terms of the scores of pairs of a row and a label;
* `label_vectors_of`: where labels lie in a space in which similar ones are near;
* `neighbours_of`: the training rows that voted for a label.

A file for each kind of model registers its cases.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.compact._empty_rows import rows_of_zeros
from compactlearn.compact._threshold_tuner import ThresholdTuner
from compactlearn.core._validation import check_features, with_rows_to_take
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts, Terms, products
from compactlearn.model_selection._search import Search

Array = NDArray[np.float64]
Places = NDArray[np.integer[Any]]

_WRAPPERS = (MultiOutputRegressor, MultiOutputClassifier, OneVsRestClassifier)
_AS_SAID = 1e-8  # relative: a model that answers something else than its weights say is not linear


class NotExplained(TypeError):
    """Raised for a model whose scores cannot be split into meaningful terms."""


@singledispatch
def parts_of(model: Any, X: Any, labels: Places) -> Parts:
    """Return the parts of the scores of pairs: row i of X, which is checked, and labels[i].

    This case is that of linear models of other packages.
    """
    linear = linear_part(model)
    if linear is None or not hasattr(model, "decision_function"):
        raise refusal(model, "its scores are not sums of terms that have a meaning by themselves")
    if not says_so(linear, X, model.decision_function(X)):
        raise refusal(model, "its scores are not what its weights say")
    return linear_parts(*linear, X, labels)


@singledispatch
def label_vectors_of(model: Any) -> Any:
    """Return (M, r) points of the labels in a space in which similar ones are near."""
    linear = linear_part(model)
    if linear is None or not hasattr(model, "decision_function"):
        raise NotExplained(
            f"Neighbours of labels need a model in which each label has codes or weights of its "
            f"own, and {type(model).__name__} has none; use CMLLClassifier, for example."
        )
    return linear[0]


@singledispatch
def neighbours_of(model: Any, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
    """Return for each pair of `parts_of` the k training rows that voted most for its label."""
    del model, X, k
    return [()] * labels.size


def refusal(model: Any, reason: str) -> NotExplained:
    """Return the error for scores that cannot be decomposed."""
    return NotExplained(
        f"explain splits a score into terms that add up to it, and cannot for "
        f"{type(model).__name__}: {reason}. Explain a CMLLClassifier fitted to the same "
        "rows, or ask scikit-learn's permutation_importance, which asks any model."
    )


def scored_by(model: Any) -> Any:
    """Return the model that makes the scores, inside searches and threshold tuners."""
    while isinstance(model, Search | ThresholdTuner):
        check_is_fitted(model, "best_index_" if isinstance(model, Search) else "estimator_")
        name = "best_estimator_" if isinstance(model, Search) else "estimator_"
        inner = getattr(model, name, None)
        if inner is None:  # predict says what to do
            break
        model = inner
    return model


def checked_rows(model: Any, X: Any) -> Any:
    """Return X in a form whose rows can be selected."""
    X = with_rows_to_take(X)
    return X if isinstance(model, Pipeline) else check_features(model, X, reset=False)


def label_scores(model: Any, X: Any) -> Array:
    """Return the (N, M) scores that are explained; (N, 1) of two classes."""
    if not hasattr(model, "decision_function"):
        raise refusal(model, "it has no decision_function")
    scores = scores_to_rank(model, X)
    return scores.reshape(scores.shape[0], -1)


# ---- linear models ------------------------------------------------------------------------------


def linear_parts(weights: Any, intercept: Any, X: Any, labels: Places) -> Parts:
    """Return value times weight of each feature; ``weights`` (M, D) may be sparse."""
    kept, place = np.unique(labels, return_inverse=True)
    W = weights[kept]
    W = W.toarray() if scipy.sparse.issparse(W) else np.asarray(W)
    terms = Terms("feature", products(X, W.astype(np.float64, copy=False), place))
    return Parts(np.asarray(intercept, dtype=np.float64)[labels], (terms,))


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


def with_base(parts: Parts, X: Any, labels: Places, model: Any) -> Parts:
    """Return the parts of scores; of rows of zeros the base scores alone, if there are any."""
    if model.base_scores_ is None:
        return parts
    return parts.replaced(rows_of_zeros(X), model.base_scores_[labels] - model.boundary_)
