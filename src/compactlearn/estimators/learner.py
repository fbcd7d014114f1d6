"""The learner g: from projected features to codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CodeRidge:
    """The built-in ridge, solved from moments; shapes as in scikit-learn's Ridge."""

    coef_: Array  # (m, d)
    intercept_: Array  # (m,)
    alpha: float

    def predict(self, U: Any) -> Array:
        """Codes of rows of projected features."""
        return U @ self.coef_.T + self.intercept_


def fit_foreign(
    regressor: Any, U: Any, codes: Array, weights: Array | None, n_jobs: int | None
) -> Any:
    """Fit a clone of a scikit-learn regressor to codes of unit mean square.

    A regressor for a single target is wrapped, one copy per code. A single code is passed as a
    vector unless the regressor takes matrices only.
    """
    model = clone(regressor)
    if codes.shape[1] > 1 and not _takes_several_targets(model):
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
    alone = codes.shape[1] == 1 and get_tags(model).target_tags.single_output
    target = codes.ravel() if alone else codes
    return model.fit(U, target, **arguments)


def predict_foreign(model: Any, U: Any, n_codes: int) -> Array:
    """Predictions of a foreign regressor as an (N, m) matrix."""
    return np.asarray(model.predict(U), dtype=np.float64).reshape(-1, n_codes)


def _takes_several_targets(model: Any) -> bool:
    tags = get_tags(model)
    return bool(tags.target_tags.multi_output)
