"""A fitted model: all that predicting needs, in one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._preparation import RowMap
from compactlearn.core._devices import wrap
from compactlearn.core._weight import n_parameters_in
from compactlearn.crossfit._learner import CodeRidge, predict_foreign
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._linear import LinearScorer, linear_parameters

Array = NDArray[np.float64]


def sigmoids_of(log_odds: Array) -> Array:
    """Return probabilities, by a formula that arrays on devices have, too."""
    return 0.5 * (1.0 + np.tanh(0.5 * log_odds))


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Rows are mapped and scaled, projected, turned into codes, decoded, and compared.

    Its arrays are those of the classifier's attributes, none is a copy. ``offset`` is added to the
    decoded codes; the threshold of two classes is taken off their scores instead.
    """

    row_map: RowMap
    n_columns: int  # of mapped rows
    projection: Array | None  # (n_columns, d)
    regressor: Any  # a CodeRidge, or a scikit-learn regressor
    back: float | Array  # what makes codes of a scikit-learn regressor's answers, alone or (m, m)
    decoder: Any  # (m, M), sparse where labels are their own codes
    offset: Array  # (M,)
    threshold: float | Array  # in the units of the scores
    labels: LabelSpace
    multiplied_out: frozenset[str] = frozenset()  # methods that have lost their part

    @property
    def boundary(self) -> float:
        """Number taken off the scores of two classes."""
        return self.labels.placed(self.threshold)[1]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # ---- scores -------------------------------------------------------------------------------

    @cached_property
    def linear(self) -> LinearScorer | None:
        """The scores as a chain of products with mapped rows; None for a foreign regressor."""
        if not isinstance(self.regressor, CodeRidge):
            return None
        intercept = wrap(self.regressor.intercept_)
        decoded = (
            intercept if scipy.sparse.issparse(self.decoder) else intercept @ wrap(self.decoder)
        )
        offset = wrap(self.offset) + decoded
        return LinearScorer(self.steps, offset - self.boundary, self.row_map.scale)

    def of_features(self) -> LinearScorer:
        """Return the scorer whose coefficients are those of the features as they are."""
        if self.linear is None or self.row_map.feature_map is not None:
            raise AttributeError(
                "coef_ and intercept_ exist after a fit with the built-in ridge on the features "
                "as they are (regressor=None, feature_map=None)."
            )
        return self.linear

    @property
    def steps(self) -> tuple[Array, ...]:
        """Matrices of that chain, without a decoder where labels are their own codes."""
        decoder = None if scipy.sparse.issparse(self.decoder) else self.decoder
        steps = (wrap(self.projection), wrap(self.regressor.coef_).T, wrap(decoder))
        return tuple(step for step in steps if step is not None)

    @property
    def _decoding(self) -> LinearScorer:
        return LinearScorer((wrap(self.decoder),), wrap(self.offset) - self.boundary)

    def _over_blocks(self, X: Any, function: Callable[[Any], Any]) -> Any:
        """Return ``function`` of the mapped rows."""
        blocks = self.row_map.mapped_blocks(X, self.n_columns)
        parts = [function(block) for _, block in blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _projected(self, mapped: Any) -> Any:
        scaled = self.row_map.scaled(mapped)
        return scaled if self.projection is None else scaled @ wrap(self.projection)

    def _codes(self, mapped: Any) -> Array:
        U = self._projected(mapped)
        if isinstance(self.regressor, CodeRidge):
            return self.regressor.predict(U)
        return predict_foreign(self.regressor, U, self.decoder.shape[0], self.back)

    def _scores(self, mapped: Any) -> Array:
        if self.linear is not None:
            return self.linear.scores(mapped)
        return self._decoding.scores(self._codes(mapped))

    def require(self, method: str) -> None:
        """Raise AttributeError for a method that a compressed model has no parts for."""
        if method in self.multiplied_out:
            raise AttributeError(
                f"This compressed model has no {method}: the matrices that it would stop between "
                "are multiplied out, which leaves fewer numbers; use the model that it was made of."
            )

    def cheapest(self) -> FittedModel:
        """Return the same scores by fewer numbers: some matrices multiplied out."""
        linear = self.linear
        if linear is None:
            return self
        has_codes = not scipy.sparse.issparse(self.decoder)
        projected = ["transform"] if self.projection is not None else []
        places = [None, *projected, *(["predict_codes"] if has_codes else []), None]
        stops = {places[stop] for stop in linear.chain.stops}
        lost = frozenset(place for place in places if place not in stops)
        P, *rest = linear.factors if "transform" in stops else (None, *linear.factors)
        intercept, offset, decoder = self.regressor.intercept_, self.offset, self.decoder
        if "predict_codes" in lost:
            offset = self.offset + intercept @ decoder
            intercept = np.zeros(offset.size)
            decoder = scipy.sparse.eye_array(offset.size, format="csr")
        return replace(
            self,
            projection=P,
            regressor=CodeRidge(rest[0].T, intercept, self.regressor.alpha),
            decoder=decoder,
            offset=offset,
            multiplied_out=self.multiplied_out | lost,
        )

    def projected(self, X: Any) -> Any:
        """Return checked rows as the learner sees them: mapped, scaled, projected."""
        self.require("transform")
        if self.row_map.as_kernel and self.projection is None:
            return self.row_map.feature_map.transform(X)  # features that factor the kernel
        return self._over_blocks(X, self._projected)

    def codes(self, X: Any) -> Array:
        """Return (N, m) predicted codes of checked rows."""
        self.require("predict_codes")
        return self._over_blocks(X, self._codes)

    def scores(self, X: Any) -> Array:
        """Return (N, M) scores of checked rows; the boundary of two classes is at 0."""
        return self._over_blocks(X, self._scores)

    def score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield the scores of a few rows at a time."""
        for rows, block in self.row_map.mapped_blocks(X, self.n_columns):
            if self.linear is None:  # a foreign learner predicts all codes, decoded in portions
                parts = self._decoding.blocks(self._codes(block))
            else:
                parts = self.linear.blocks(block)
            for inner, scores in parts:
                yield slice(rows.start + inner.start, rows.start + inner.stop), scores

    # ---- answers ------------------------------------------------------------------------------

    def predicted(self, X: Any, threshold: float | Array) -> NDArray[Any]:
        """Return 0/1 labels of checked rows, or the classes of a vector y."""
        n_rows = X.shape[0]
        if self.labels.kind == "multilabel":
            return self.labels.decided(self.score_blocks(X), n_rows, threshold, X)
        return self.labels.decided([(slice(0, n_rows), self.scores(X))], n_rows, threshold, X)

    def probabilities(self, X: Any) -> Array:
        """Return probabilities of labels, or of the classes of a vector y."""
        p = sigmoids_of(self.scores(X) + self.boundary)
        if self.labels.kind == "binary":
            return np.hstack([1.0 - p, p])
        if self.labels.kind == "multiclass":
            p = np.maximum(p, np.finfo(np.float64).tiny)
            p /= p.sum(axis=1, keepdims=True)
        return p

    @property
    def numbers(self) -> int:
        """Number of parameters kept to predict; thresholds do not count."""
        m, n_labels = self.decoder.shape
        d = None if self.projection is None else self.projection.shape[1]
        feature_map, inputs, kept = self.row_map.feature_map, self.n_columns, 0
        if isinstance(feature_map, KernelMap):
            # Kernel values at the landmarks, whatever features were made of them: that is a
            # product, which folds into the next. The landmarks themselves have to be kept.
            landmarks = feature_map.landmarks_
            entries = landmarks.nnz if scipy.sparse.issparse(landmarks) else prod(landmarks.shape)
            inputs, kept = landmarks.shape[0], int(entries)
        elif feature_map is not None:
            kept = n_parameters_in(feature_map)
        if isinstance(self.regressor, CodeRidge):
            return kept + linear_parameters(inputs, n_labels, d, m)
        before = inputs * self.n_columns if kept and d is None else inputs * (d or 0)
        return kept + before + n_parameters_in(self.regressor) + self.decoder.size + n_labels
