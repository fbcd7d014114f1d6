"""The learner of the paper's second table: a kernel ridge whose width the rows choose."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.validation import check_is_fitted

from compactlearn import KernelMap

__all__ = ["KernelRegressor"]


class KernelRegressor(RegressorMixin, BaseEstimator):
    """Ridge regression with the RBF kernel of :class:`compactlearn.KernelMap`, no intercept.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty.

    Attributes
    ----------
    ridge_ : KernelRidge
        The fitted regression.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
        """
        gamma = KernelMap().fit_rows(X, sample_weight).gamma_
        self.ridge_ = KernelRidge(alpha=self.alpha, kernel="rbf", gamma=gamma)
        self.ridge_.fit(X, y, sample_weight=sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self.ridge_.predict(X)
