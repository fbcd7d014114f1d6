"""Ways of preparing rows before anything is learnt from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler


@dataclass(frozen=True)
class Way:
    """A transformer of rows that knows no labels; None leaves rows as they are."""

    name: str
    make: Callable[[], Any] | None = None

    def fit(self, X: Any, weights: Any) -> Prepared:
        """Learn from all rows; labels take no part, so that rows stay new to what is learnt."""
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

    way: Way
    transformer: Any
    X: Any

    @property
    def units(self) -> Any:
        """The scales that columns were divided by, or None."""
        return getattr(self.transformer, "scale_", None)

    def rows(self, X: Any) -> Any:
        """Other rows after the same transformer."""
        return X if self.transformer is None else _transformed(self.transformer, X)

    def model(self, classifier: Any) -> Any:
        """A classifier that was fitted to these rows, for rows as they come."""
        if self.transformer is None:
            return classifier
        return make_pipeline(self.transformer, classifier)


def _transformed(transformer: Any, X: Any) -> Any:
    rows = transformer.transform(X)
    return scipy.sparse.csr_array(rows) if scipy.sparse.issparse(rows) else rows


def _unit_variance() -> StandardScaler:
    return StandardScaler(with_mean=False)  # the learner has an intercept; sparse stays sparse


AS_THEY_ARE = Way("features as they are")
UNIT_ROWS = Way("rows of unit length", Normalizer)
UNIT_VARIANCE = Way("columns of unit variance", _unit_variance)
WAYS = (AS_THEY_ARE, UNIT_ROWS, UNIT_VARIANCE)
