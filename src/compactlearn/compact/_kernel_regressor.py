"""Kernel ridge regression as a learner of codes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.core._devices import (
    DeviceArray,
    unwrap,
    wrap,
)
from compactlearn.core._model_methods import Storable
from compactlearn.core._params import Choice, Constraint, Real, check_parameters
from compactlearn.core._validation import check_weights
from compactlearn.linalg._ridge import solve_ridge

__all__ = ["KernelRegressor"]


class KernelRegressor(Storable, RegressorMixin, BaseEstimator):
    """Ridge regression with an RBF kernel and without an intercept.

    It is scikit-learn's ``KernelRidge`` with a width that the rows choose, as in
    :class:`KernelMap`. As the ``regressor`` of a :class:`CompactClassifier` it leads from projected
    features to codes in a non-linear way.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty.
    gamma : float or "distance", default="distance"
        The kernel is ``exp(-gamma ||x - x'||^2)``. "distance" is 1 / (2 s^2) with the mean distance
        s of the training rows.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        What kernel values against the training rows are multiplied by.
    kernel_map_ : KernelMap
        The training rows and the kernel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had names.

    Notes
    -----
    The paper's second table has a kernel ridge regression as its learner. Where features are kept
    that is the ridge of the kernel's own features, which needs no other learner; where they are
    projected (k-MDDM, k-CMLL) it is this one, on the projected rows: ``method("k-MDDM",
    regressor=KernelRegressor(0.1))``.

    Examples
    --------
    >>> from compactlearn import MDDM, CompactClassifier, KernelRegressor
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = CompactClassifier(MDDM(4), regressor=KernelRegressor(alpha=0.1), threshold=0.5)
    >>> model.fit(data.X[:400], data.Y[:400]).predict(data.X[400:]).shape
    (193, 6)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "alpha": (Real(0, open_low=True),),
        "gamma": (Choice("distance"), Real(0, open_low=True)),
    }

    def __init__(self, alpha: float = 1.0, gamma: float | str = "distance") -> None:
        self.alpha = alpha
        self.gamma = gamma

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice.
        """
        check_parameters(self, self._constraints)
        weights = None
        if not isinstance(X, DeviceArray):
            X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64)
            y = np.asarray(y, dtype=np.float64)
            weights = check_weights(sample_weight, X.shape[0])
            if weights is not None:
                counted = weights > 0
                X, y, weights = X[counted], y[counted], weights[counted]
        mapping = KernelMap(gamma=self.gamma).fit_rows(X, weights)
        targets = y[:, None] if y.ndim == 1 else y
        kernel, roots = mapping.checked_gram(), None
        if weights is not None:  # (K + alpha / w) c = y, in the symmetric form
            roots = np.sqrt(weights)[:, None]
            kernel, targets = roots * kernel * roots.T, roots * targets
        coefficients = solve_ridge(kernel, targets, float(self.alpha))
        coefficients = coefficients if roots is None else roots * coefficients
        self.kernel_map_ = mapping
        self.dual_coef_ = unwrap(coefficients[:, 0] if y.ndim == 1 else coefficients)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the targets, of shape (n_samples,) or (n_samples, n_targets).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if not isinstance(X, DeviceArray):
            X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.kernel_map_.checked_rows(X) @ wrap(self.dual_coef_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
