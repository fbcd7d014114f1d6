"""Decoder and threshold learnt from codes of rows that the learner has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.decoding.learned import CodeDecoder, CodeSums, learn_linear_decoder
from compactlearn.decoding.logistic import learn_logistic_decoder
from compactlearn.decoding.thresholds import Columns, tune
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.estimators.held import Held
from compactlearn.estimators.honest import (
    N_REHEARSALS,
    Honest,
    honest_code_moments,
    honest_codes,
)
from compactlearn.estimators.learner import fit_foreign, predict_foreign
from compactlearn.linalg.pairs import Codes
from compactlearn.linalg.rows_pair import RowsPair

Array = NDArray[np.float64]


class LearnsDecisions(ABC):
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
    decoding_: CodeDecoder
    _kind: str

    @abstractmethod
    def _set_threshold(self, threshold: float | Array) -> None:
        """Keep a threshold, in the units of the scores."""

    def _fit_foreign(self, pair: RowsPair, U: Any, codes: Codes) -> tuple[Any, float]:
        """A foreign regressor on codes of unit mean square, and the factor that makes them so."""
        V = pair.code_rows(codes)
        energy = np.sum(V**2 if pair.weights is None else pair.weights[:, None] * V**2)
        scale = float(np.sqrt(pair.count * V.shape[1] / energy)) if energy > 0 else 1.0
        return fit_foreign(self.regressor, U, V * scale, pair.weights, self.n_jobs), scale

    @abstractmethod
    def _rescore(self) -> None:
        """Score by what has been learnt so far."""

    def _learn_decisions(self, held: Held, result: Embedded) -> None:
        """Decoder and threshold from codes of rows that the learner has not seen."""
        # Several classes go by the largest score: there is no threshold to tune.
        tunes = isinstance(self.threshold, str) and self._kind != "multiclass"
        if self.decoder == "linear" and not tunes:
            return
        if held.folds:
            self.decoding_ = self._decoder_from_folds(held, result)
            self._rescore()
            return
        ridge = self.regressor is None or result.codes.size == 0
        pair = held.with_rows(as_given=not ridge and result.projection is None)
        honest = honest_codes(
            pair,
            result,
            self.embedding_,
            self._fit_part,
            held.given,
            held.groups,
            alpha=float(self.alpha) if ridge else None,
            bias=self.bias,
            # A foreign learner may be dear, and would be fitted thirteen times more.
            rehearse=ridge and self.decoder == "logistic",
        )
        if self.decoder != "linear":
            self.decoding_ = self._fit_decoder(honest, pair, slice(None))
            self._rescore()
        if tunes:
            columns = self._held_out_columns(honest, pair)
            self._set_threshold(tune(self.threshold, columns, pair.right, pair.weights))
            self._rescore()

    def _decoder_from_folds(self, held: Held, result: Embedded) -> CodeDecoder:
        """The ridge decoder where only the moments of each fold are known."""
        moments = honest_code_moments(
            held.folds, result, self.embedding_, held.pair.mean_left, float(self.alpha), self.bias
        )
        return learn_linear_decoder(CodeSums.of_moments(moments), self._own_decoder())

    def _own_decoder(self) -> Array:
        W: Any = self.embedding_.decoder_
        return W.toarray() if scipy.sparse.issparse(W) else W

    def _held_out_columns(self, honest: Honest, pair: RowsPair) -> Columns:
        """Scores of some labels at a time, by decoders that have not seen the rows either."""
        n_rows = len(honest.codes)
        parts: list[tuple[Any, Any, Array]] = []  # rows, their decoder and offset
        if self.decoder == "linear":
            parts.append((slice(None), self.embedding_.decoder_, self.embedding_.offset_))
        else:
            for fold in np.unique(honest.folds):
                out = honest.folds == fold
                decoder = self._fit_decoder(honest, pair, out if out.all() else ~out)
                parts.append((out, decoder.coefficients, decoder.intercept))

        def columns(labels: slice) -> Array:
            scores = np.empty((n_rows, labels.stop - labels.start))
            for rows, W, offset in parts:
                scores[rows] = honest.codes[rows] @ W[:, labels] + offset[labels]
            return scores

        return columns

    def _fit_decoder(self, honest: Honest, pair: RowsPair, rows: Any) -> CodeDecoder:
        """The decoder that is asked for, from some of the rows."""
        own = self._own_decoder()
        codes, Y = honest.codes[rows], pair.right[rows]
        weights = None if pair.weights is None else pair.weights[rows]
        if self.decoder == "learned":
            return learn_linear_decoder(CodeSums.of_rows(codes, Y, weights), own)
        folds = honest.folds[rows] % N_REHEARSALS
        known = getattr(self, "decoding_", None)  # the penalty is chosen once, from all the rows
        if known is not None:
            penalties = np.array([known.penalty])
            return learn_logistic_decoder(codes, Y, weights, folds, own, penalties)
        return learn_logistic_decoder(codes, Y, weights, folds, own, rehearsals=honest.rehearsals)

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
