"""Decoder and threshold learnt from codes of rows that the learner has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.decoding.learned import (
    CodeDecoder,
    CodeSums,
    choose_share,
    learn_from_rows,
    learn_linear_decoder,
    rehearsed,
)
from compactlearn.decoding.linear import LinearScorer
from compactlearn.decoding.logistic import choose_penalty, learn_logistic_decoder
from compactlearn.decoding.rehearsal import Columns
from compactlearn.decoding.thresholds import tune
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.estimators.held import Held
from compactlearn.estimators.honest import (
    N_REHEARSALS,
    CrossFit,
    HeldOut,
    honest_code_moments,
    rehearsed_sums,
    row_groups,
)
from compactlearn.estimators.learner import fit_foreign, predict_foreign
from compactlearn.linalg.moments_pair import MomentsPair
from compactlearn.linalg.pairs import Codes, Pair
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
    _scorer: Any

    @abstractmethod
    def _offset(self) -> Array:
        """What is added to every row's scores."""

    @abstractmethod
    def _set_threshold(self, threshold: float | Array) -> None:
        """Keep a threshold, in the units of the scores."""

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
        # Several classes go by the largest score: there is no threshold to tune.
        tunes = isinstance(self.threshold, str) and self._kind != "multiclass"
        if self.decoder == "linear" and not tunes:
            return
        if held.folds:
            self.decoding_ = self._decoder_from_folds(held, result)
            self._rescore(code_map)
            return
        crossfit = self._cross_fit(held, result)
        if self.decoder == "linear":
            columns = crossfit.scores().columns
        else:
            columns = self._learn_decoder(crossfit, tunes=tunes)
            self._rescore(code_map)
        if tunes:
            pair = crossfit.pair
            self._set_threshold(tune(self.threshold, columns, pair.right, pair.weights))
            if self._scorer is not None:
                self._scorer = replace(self._scorer, intercept=self._offset())

    def _cross_fit(self, held: Held, result: Embedded) -> CrossFit:
        ridge = self.regressor is None or result.codes.size == 0
        members = row_groups(held.given) if held.groups is None else np.asarray(held.groups)
        return CrossFit(
            held.with_rows(as_given=not ridge and result.projection is None),
            result,
            self.embedding_,
            self._fit_part,
            np.unique(members, return_inverse=True)[1],
            alpha=float(self.alpha) if ridge else None,
            bias=self.bias,
            closed_form=held.groups is None,
            moments=ridge and isinstance(held.pair, MomentsPair),
        )

    def _learn_decoder(self, crossfit: CrossFit, *, tunes: bool) -> Columns:
        """Learn the decoder; return scores by decoders that have not met the rows either.

        A choice of its strength is judged by a few rehearsals, a threshold by those of all rows.
        """
        rehearsals = list(crossfit.rehearsals(None if tunes else N_REHEARSALS))
        if self.decoder == "learned":
            judges = [rehearsed(part) for part in rehearsals[:N_REHEARSALS]]
            strength, learn = choose_share(judges), learn_from_rows
        else:
            strength, learn = choose_penalty(rehearsals[:N_REHEARSALS]), learn_logistic_decoder
        self.decoding_ = learn(crossfit.data(), strength)
        parts = [(slice(None), crossfit.codes(), self.decoding_)]
        if rehearsals and tunes:
            parts = [(part.held, part.codes, learn(part.train, strength)) for part in rehearsals]
        return HeldOut(
            crossfit.folds.size,
            tuple((rows, codes, own.coefficients, own.intercept) for rows, codes, own in parts),
        ).columns

    def _rescore(self, code_map: Array | None) -> None:
        """Score by the decoder that was learnt."""
        if code_map is not None:
            W = self.decoding_.coefficients
            self._scorer = LinearScorer.build(code_map, W, self._offset())

    def _decoder_from_folds(self, held: Held, result: Embedded) -> CodeDecoder:
        """The ridge decoder where only the moments of each fold are known."""
        alpha, folds = float(self.alpha), held.folds
        judges = rehearsed_sums(folds, result, self.embedding_, alpha, self.bias)
        share = choose_share(islice(judges, N_REHEARSALS))
        d = 0 if result.projection is None else result.projection.shape[1]
        moments = honest_code_moments(
            folds, result, self.embedding_, d, held.pair.mean_left, alpha, self.bias
        )
        W = np.eye(held.pair.n_right) if result.decoder is None else result.decoder
        return learn_linear_decoder(CodeSums.of_moments(moments), W, share)

    def _fit_part(self, pair: Pair, P: Array | None, codes: Codes) -> Callable[[Any], Array]:
        """The learner fitted to a part of the rows, as a function from other rows to codes."""
        expressed = None if P is None else pair.expressed(P)
        if self.regressor is None or codes.size == 0:
            learned = pair.learn(P, codes, float(self.alpha), self.bias)
            B = learned.coefficients
            A = B if expressed is None else expressed @ B
            return lambda rows: rows @ A + learned.intercept
        assert isinstance(pair, RowsPair)  # moments serve the built-in ridge only
        U = pair.left if P is None else pair.projected_rows(P)
        model, scale = self._fit_foreign(pair, U, codes)

        def predict(rows: Any) -> Array:
            projected = rows if expressed is None else rows @ expressed
            return predict_foreign(model, projected, codes.size) / scale

        return predict
