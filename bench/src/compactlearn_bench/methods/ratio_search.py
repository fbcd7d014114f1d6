"""The paper's search for feature and label ratios (section 5.7): one sweep along each axis.

The curve over the feature ratio looks alike for every label ratio, so the feature ratio is chosen
with the label ratio fixed, and then the label ratio with the feature ratio fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from compactlearn import CompactClassifier
from compactlearn.model_selection import GridSearchMoments

__all__ = ["RatioSearch"]


class RatioSearch:
    """The paper's sweeps over two ratios, from the label ratio `start`, cross-validated.

    `others` are further parameters, tried at every pair of ratios; a pair is as good as the best of
    them. `params_` has what was tried, in that order, `scores_` the mean average precision of each.
    """

    def __init__(
        self,
        estimator: CompactClassifier,
        feature_ratios: Sequence[float],
        label_ratios: Sequence[float],
        start: float,
        others: Mapping[str, Any],
        cv: Any,
    ) -> None:
        self.estimator, self.start, self.cv = estimator, start, cv
        self.feature_ratios, self.label_ratios = feature_ratios, label_ratios
        self.others = list(ParameterGrid(dict(others)))
        prefix = "" if "n_label_components" in estimator.get_params(deep=False) else "embedding__"
        self.names = f"{prefix}n_feature_components", f"{prefix}n_label_components"
        self.params_: list[dict[str, Any]] = []
        self.scores_ = np.empty(0)

    def fit(self, X: Any, Y: Any) -> RatioSearch:
        """Sweep the feature ratio, then the label ratio."""
        first = self._swept(X, Y, [(mu, self.start) for mu in self.feature_ratios])
        best = first[self.names[0]]
        self._swept(X, Y, [(best, nu) for nu in self.label_ratios])
        return self

    def _swept(self, X: Any, Y: Any, pairs: list[tuple[float, float]]) -> dict[str, Any]:
        """Score the pairs that are new, and return the best setting so far."""
        known = {tuple(params[name] for name in self.names) for params in self.params_}
        settings = [
            {**dict(zip(self.names, pair, strict=True)), **other}
            for pair in pairs
            if pair not in known
            for other in self.others
        ]
        grid = [{name: [value] for name, value in one.items()} for one in settings]
        if grid:
            search = GridSearchMoments(self.estimator, grid, cv=self.cv, refit=False).fit(X, Y)
            self.params_ += search.cv_results_["params"]
            self.scores_ = np.append(self.scores_, search.cv_results_["mean_test_score"])
        return self.params_[int(np.nanargmax(self.scores_))]
