"""The learner of the paper's second table: a kernel ridge whose width the rows choose."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn import KernelMap

__all__ = ["KernelRegressor"]


class KernelRegressor(RegressorMixin, BaseEstimator):
    """Ridge regression with the RBF kernel of :class:`compactlearn.KernelMap`, no intercept."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> Self:
        """Solve the regression."""
        self.kernel_map_ = KernelMap().fit_rows(X)
        ridge = KernelRidge(alpha=self.alpha, kernel="precomputed")
        self.dual_coef_ = ridge.fit(self.kernel_map_.gram(), y).dual_coef_
        return self

    def predict(self, X: Any) -> Any:
        """Return the targets of new rows."""
        check_is_fitted(self)
        return self.kernel_map_.rows(X) @ self.dual_coef_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
