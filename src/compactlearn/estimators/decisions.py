"""Decoder and threshold learnt from codes of rows that the learner has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.decoding.learned import CodeDecoder, learn_linear_decoder
from compactlearn.decoding.linear import LinearScorer
from compactlearn.decoding.logistic import PENALTIES, learn_logistic_decoder
from compactlearn.decoding.thresholds import tune
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.estimators.held import Held
from compactlearn.estimators.honest import honest_codes
from compactlearn.estimators.learner import fit_foreign, predict_foreign
from compactlearn.linalg.pairs import Codes
from compactlearn.linalg.rows_pair import RowsPair

Array = NDArray[np.float64]


class LearnsDecisions:
    """The part of a classifier that comes after its learner.

    It reads the parameters ``regressor``, ``alpha``, ``bias``, ``decoder``, ``threshold`` and
    ``n_jobs``, and writes ``decoding_``, the scorer and the threshold.
    """

    regressor: Any
    alpha: float
    bias: str
    decoder: str
    threshold: Any
    n_jobs: int | None
    embedding_: Embedding
    _kind: str
    _scorer: Any

    def _offset(self) -> Array:
        raise NotImplementedError

    def _set_threshold(self, threshold: float | Array) -> None:
        raise NotImplementedError

    def _fit_foreign(self, pair: RowsPair, U: Any, codes: Codes) -> tuple[Any, float]:
        """A foreign regressor on codes of unit mean square, and the factor that makes them so."""
        V = pair.code_rows(codes)
        energy = np.sum(V**2 if pair.weights is None else pair.weights[:, None] * V**2)
        scale = float(np.sqrt(pair.count * V.shape[1] / energy)) if energy > 0 else 1.0
        return fit_foreign(self.regressor, U, V * scale, pair.weights, self.n_jobs), scale

    def _learn_decisions(self, held: Held, result: Embedded, code_map: Array | None) -> None:
        """Decoder and threshold from codes of rows that the learner has not seen.

        ``code_map`` (D, m) is what the built-in ridge makes codes by.
        """
        pair = held.with_rows()
        ridge = self.regressor is None or result.codes.size == 0
        honest = honest_codes(
            pair,
            result,
            self.embedding_,
            self._fit_part,
            held.given,
            held.groups,
            alpha=float(self.alpha) if ridge and self.bias == "free" else None,
        )
        Y, weights = pair.right, held.weights
        own = CodeDecoder(_dense_decoder(self.embedding_), result.offset, np.inf)
        if self.decoder == "linear":
            scores = honest.codes @ own.coefficients + own.intercept
        else:
            self.decoding_ = self._fit_decoder(honest.codes, Y, weights, own, honest.folds)
            if code_map is not None:
                W = self.decoding_.coefficients
                self._scorer = LinearScorer.build(code_map, W, self._offset())
            if not isinstance(self.threshold, str):
                return
            scores = np.empty((len(honest.codes), Y.shape[1]))
            for fold in np.unique(honest.folds):
                out = honest.folds == fold
                into = ~out if not out.all() else out
                part = None if weights is None else weights[into]
                decoder = self._fit_decoder(
                    honest.codes[into], Y[into], part, own, honest.folds[into]
                )
                scores[out] = honest.codes[out] @ decoder.coefficients + decoder.intercept
        if self._kind == "multiclass":
            return  # the largest score decides
        self._set_threshold(tune(self.threshold, lambda labels: scores[:, labels], Y, weights))
        if self._scorer is not None:
            self._scorer = replace(self._scorer, intercept=self._offset())

    def _fit_decoder(
        self, codes: Array, Y: Any, weights: Array | None, own: CodeDecoder, folds: Any
    ) -> CodeDecoder:
        if self.decoder == "learned":
            return learn_linear_decoder(codes, Y, weights, own.coefficients)
        known = getattr(self, "decoding_", None)  # the penalty is chosen once
        penalties = PENALTIES if known is None else np.array([known.penalty])
        return learn_logistic_decoder(codes, Y, weights, folds % 3, own.coefficients, penalties)

    def _fit_part(self, pair: RowsPair, P: Array | None, codes: Codes) -> Callable[[Any], Array]:
        """The learner fitted to a part of the rows, as a function from other rows to codes."""
        expressed = None if P is None else pair.expressed(P)
        if self.regressor is None or codes.size == 0:
            learned = pair.learn(P, codes, float(self.alpha), self.bias)
            B = learned.coefficients
            A = B if expressed is None else expressed @ B
            return lambda rows: rows @ A + learned.intercept
        U = pair.left if P is None else pair.projected_rows(P)
        model, scale = self._fit_foreign(pair, U, codes)

        def predict(rows: Any) -> Array:
            projected = rows if expressed is None else rows @ expressed
            return predict_foreign(model, projected, codes.size) / scale

        return predict


def _dense_decoder(embedding: Embedding) -> Array:
    W: Any = embedding.decoder_
    return W.toarray() if scipy.sparse.issparse(W) else W
