"""Preprocessing of features that is tried: none, unit rows, standardised columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler


@dataclass(frozen=True)
class Preprocessing:
    """A transformer of rows that uses no labels; None leaves rows as they are."""

    name: str
    make: Callable[[], Any] | None = None

    def fit(self, X: Any, weights: Any) -> Prepared:
        """Fit to all rows; labels are not used, so that held-out rows stay held out."""
        if self.make is None:
            return Prepared(self, None, X)
        transformer = self.make()
        if isinstance(transformer, StandardScaler):
            transformer.fit(X, sample_weight=weights)
        else:
            transformer.fit(X)
        return Prepared(self, transformer, _transformed(transformer, X))


@dataclass(frozen=True)
class Prepared:
    """Rows after a transformer."""

    preprocessing: Preprocessing
    transformer: Any
    X: Any

    @property
    def units(self) -> Any:
        """The scales that columns were divided by, or None."""
        return getattr(self.transformer, "scale_", None)

    def rows(self, X: Any) -> Any:
        """Return other rows after the same transformer."""
        return X if self.transformer is None else _transformed(self.transformer, X)

    def model(self, classifier: Any) -> Any:
        """Return a classifier of rows as they come, from one that was fitted to these rows."""
        if self.transformer is None:
            return classifier
        return make_pipeline(self.transformer, classifier)


def _transformed(transformer: Any, X: Any) -> Any:
    rows = transformer.transform(X)
    return scipy.sparse.csr_array(rows) if scipy.sparse.issparse(rows) else rows


AS_THEY_ARE = Preprocessing("features as they are")
UNIT_ROWS = Preprocessing("rows of unit length", Normalizer)
# Means are not subtracted: the model has an intercept, and sparse rows stay sparse.
UNIT_VARIANCE = Preprocessing("columns of unit variance", partial(StandardScaler, with_mean=False))
PREPROCESSINGS = (AS_THEY_ARE, UNIT_ROWS, UNIT_VARIANCE)
