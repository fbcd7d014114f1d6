"""Models of other packages: the linear ones among them can be explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

Array = NDArray[np.float64]

_WRAPPERS = (MultiOutputRegressor, MultiOutputClassifier, OneVsRestClassifier)
_AS_SAID = 1e-8  # relative: a model that answers something else than its weights say is not linear


def linear_part(model: Any) -> tuple[Array, Array] | None:
    """Weights (M, D) and intercepts (M,) of a fitted linear model; None where it has none.

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
    """Whether answers are what the weights say.

    Some models with weights answer something else: an exponential of their sum, or a sum over
    centred columns.
    """
    coef, intercept = linear
    answers = np.asarray(answers, dtype=np.float64).reshape(X.shape[0], -1)
    if coef.shape[1] != X.shape[1] or answers.shape[1] != coef.shape[0]:
        return False
    return np.allclose(X @ coef.T + intercept, answers, rtol=_AS_SAID, atol=_AS_SAID)
