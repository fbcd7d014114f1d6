"""Learner g, from projected features to codes.

A learner that minimises a sum of squares over its targets should minimise it over the labels. An
error V - V^ of codes that are decoded by W costs ||(V - V^) W||^2 = ||(V - V^) L||^2 for every L
with LL' = WW'. So a foreign regressor is fitted to Z = V L instead of V, and its predictions times
the inverse of L are codes. L is the symmetric root: it is unique, it follows the signs of the
codes, and of all roots it changes them least. Where the decoder has orthonormal rows (PLST, CPLST),
or the labels are the codes, Z is V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from compactlearn.core._devices import (
    DeviceArray,
    is_array,
    unwrap,
    wrap,
)
from compactlearn.core._warn import warn_user
from compactlearn.core._weight import owned
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import symmetric_roots
from compactlearn.linalg._learning import learn
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import Learned
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CodeRidge:
    """Fitted built-in ridge; shapes as in scikit-learn's Ridge."""

    coef_: Array  # (m, d)
    intercept_: Array  # (m,)
    alpha: float

    @classmethod
    def of(cls, learned: Learned, alpha: float) -> CodeRidge:
        """Copy the solution into own arrays; warn where the solver did not converge."""
        if not learned.solved:
            warn_user(
                "The conjugate gradients of the ridge learner stopped before their residual was "
                "small; raise alpha, project the features, or scale them.",
                ConvergenceWarning,
            )
        return cls(unwrap(owned(learned.coefficients).T), unwrap(owned(learned.intercept)), alpha)

    def predict(self, U: Any) -> Array:
        """Return the codes of rows of projected features."""
        return U @ wrap(self.coef_).T + wrap(self.intercept_)


@dataclass(frozen=True)
class RidgeLearner:
    """Ridge regression, solved from the rows or moments of a pair."""

    alpha: float
    bias: str = "free"

    def for_codes(self, codes: Codes) -> RidgeLearner:
        return self

    def fit(self, pair: Pair, P: Array | None, codes: Codes) -> Learned:
        return learn(pair, P, codes, self.alpha, self.bias)

    def predictor(
        self, pair: Pair, P: Array | None, codes: Codes, decoder: Array | None
    ) -> Callable[[Any], Array]:
        """Fit, and return the function from rows, in the pair's features, to codes.

        A ridge does not need the decoder: its predictions are linear in its targets.
        """
        learned = self.fit(pair, P, codes)
        B = learned.coefficients
        A = B if P is None else pair.left.expressed(P) @ B
        return lambda rows: rows @ A + learned.intercept


@dataclass(frozen=True)
class ForeignLearner:
    """Scikit-learn regressor; a ridge where there are no codes to predict."""

    regressor: Any
    n_jobs: int | None
    ridge: RidgeLearner

    def for_codes(self, codes: Codes) -> Learner:
        return self if codes.size else self.ridge

    def fit(
        self, pair: RowsPair, U: Any, codes: Codes, decoder: Array | None
    ) -> tuple[Any, float | Array]:
        """Return a clone fitted to targets of unit mean square, and the map back to codes.

        ``decoder`` (m, M) determines the weight of each code; None where the labels are the codes.
        """
        V, back = pair.code_rows(codes), None
        if decoder is not None:
            root, back = symmetric_roots(self_product(decoder))
            if root.any():
                V = V @ root
            else:  # no label varies with any code: all have the same weight
                back = None
        energy = np.sum(V**2 if pair.weights is None else pair.weights[:, None] * V**2)
        # One factor for all targets, which changes none of their proportions: a penalty or a
        # tolerance of the regressor then means the same for rare labels as for frequent ones.
        scale = float(np.sqrt(pair.count * V.shape[1] / energy)) if energy > 0 else 1.0
        model = fit_foreign(self.regressor, U, V * scale, pair.weights, self.n_jobs)
        return model, 1.0 / scale if back is None else back / scale

    def predictor(
        self, pair: Pair, P: Array | None, codes: Codes, decoder: Array | None
    ) -> Callable[[Any], Array]:
        """Fit, and return the function from rows, in the pair's features, to codes."""
        if codes.size == 0:
            return self.ridge.predictor(pair, P, codes, decoder)
        assert isinstance(pair, RowsPair)  # moments serve the built-in ridge only
        expressed = None if P is None else pair.left.expressed(P)
        U = pair.left.rows if P is None else pair.projected_rows(P)
        model, back = self.fit(pair, U, codes, decoder)

        def predict(rows: Any) -> Array:
            projected = rows if expressed is None else rows @ expressed
            return predict_foreign(model, projected, codes.size, back)

        return predict


Learner = RidgeLearner | ForeignLearner


def learner_of(classifier: Any, alpha: float) -> Learner:
    """Return the learner of the parameters of a ``CompactClassifier``, with this penalty."""
    ridge = RidgeLearner(alpha, classifier.bias)
    if classifier.regressor is None:
        return ridge
    return ForeignLearner(classifier.regressor, classifier.n_jobs, ridge)


def fit_foreign(
    regressor: Any, U: Any, targets: Array, weights: Array | None, n_jobs: int | None
) -> Any:
    """Fit a clone of a scikit-learn regressor.

    A regressor for a single target is wrapped, one copy per target. A single one is passed as a
    vector unless the regressor takes matrices only.
    """
    model = clone(regressor)
    if targets.shape[1] > 1 and not _takes_several_targets(model):
        model = MultiOutputRegressor(model, n_jobs=n_jobs)
    arguments = {}
    if weights is not None:
        if not has_fit_parameter(model, "sample_weight") or (
            isinstance(model, MultiOutputRegressor)
            and not has_fit_parameter(model.estimator, "sample_weight")
        ):
            raise ValueError(
                f"sample_weight was given, but the regressor {type(regressor).__name__} does not "
                "take one; leave it out, or use regressor=None or another regressor."
            )
        arguments["sample_weight"] = weights
    alone = targets.shape[1] == 1 and get_tags(model).target_tags.single_output
    return model.fit(U, targets.ravel() if alone else targets, **arguments)


def predict_foreign(model: Any, U: Any, n_codes: int, back: float | Array) -> Array:
    """Return the codes (N, m): predictions of a foreign regressor times ``back``."""
    predicted = model.predict(U)
    if not isinstance(predicted, DeviceArray):
        predicted = np.asarray(predicted, dtype=np.float64)
    predicted = predicted.reshape((-1, n_codes))
    back = wrap(back)
    return predicted @ back if is_array(back) else predicted * back


def _takes_several_targets(model: Any) -> bool:
    tags = get_tags(model)
    return bool(tags.target_tags.multi_output)
