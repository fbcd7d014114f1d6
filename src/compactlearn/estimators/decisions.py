"""Decoder and threshold learnt from codes of rows that the learner has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import memory
from compactlearn.core.progress import Steps, announce
from compactlearn.core.warn import warn_user
from compactlearn.decoding.learned import (
    CodeDecoder,
    CodeSums,
    choose_share,
    learn_from_rows,
    learn_linear_decoder,
    rehearsed,
)
from compactlearn.decoding.logistic import choose_penalty, learn_logistic_decoder
from compactlearn.decoding.rehearsal import Columns
from compactlearn.decoding.thresholds import tune
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.estimators.held import Held
from compactlearn.estimators.honest import (
    N_FOLDS,
    N_REHEARSALS,
    CrossFit,
    HeldOut,
    honest_code_moments,
    rehearsed_sums,
    row_groups,
)
from compactlearn.estimators.learner import fit_foreign, predict_foreign
from compactlearn.linalg.codes import Codes
from compactlearn.linalg.learner import learn
from compactlearn.linalg.moments_pair import MomentsPair
from compactlearn.linalg.pairs import Pair
from compactlearn.linalg.rowwise_pair import RowwisePair

Array = NDArray[np.float64]

# threshold="auto" is tuned on at least so many rows, or on all there are. Two thousand rows of a
# few labels each settle one number; a larger set pays for one refit instead of five.
ENOUGH_ROWS = 2_000


# Seconds of one logistic fit for each row, code and label, on two cores: corel5k takes 1.4 s for
# 5000 rows, 100 codes and 374 labels, and choosing the penalty three and a half times that.
LOGISTIC_SECONDS = 7.5e-9
CHOOSING = 3.5


@dataclass(frozen=True)
class Work:
    """What learning decoder and threshold amounts to."""

    what: str
    steps: int
    seconds: float

    @classmethod
    def of(cls, decoder: str, count: int, size: tuple[int, int, int], fit_seconds: float) -> Work:
        """``count`` folds are scored; ``size`` is that of rows, codes and labels."""
        what = "tuning the threshold" if decoder == "linear" else f"the {decoder} decoder"
        if decoder == "linear":
            return cls(what, count, count * fit_seconds)
        rehearsed = max(count, N_REHEARSALS)
        models, seconds = rehearsed, 0.0
        if decoder == "logistic":
            # Its prior needs honest scores of all rows, and inside each rehearsal of the others.
            models = N_FOLDS + rehearsed * (N_FOLDS - 1) - rehearsed * (rehearsed - 1) // 2
            n_rows, n_codes, n_labels = size
            fits = 1 + CHOOSING + count
            seconds = fits * LOGISTIC_SECONDS * n_rows * max(n_codes, 1) * n_labels
        refits = models + rehearsed + 1  # each rehearsal, and the whole, has honest codes too
        return cls(what, models + count + 2, seconds + refits * fit_seconds)


def result_shape(result: Embedded) -> tuple[int, int]:
    """How many codes and labels."""
    return result.codes.size, result.offset.size


class LearnsDecisions(ABC):
    """The part of a classifier that comes after its learner.

    It reads the parameters ``regressor``, ``alpha``, ``bias``, ``decoder``, ``threshold``,
    ``n_jobs`` and ``verbose``, and writes ``decoding_``, the scorer and the threshold.
    """

    regressor: Any
    alpha: float
    bias: str
    decoder: str
    threshold: Any
    n_jobs: int | None
    verbose: int
    embedding_: Embedding
    decoding_: CodeDecoder
    _kind: str

    @abstractmethod
    def _set_threshold(self, threshold: float | Array) -> None:
        """Keep a threshold, in the units of the scores."""

    def _fit_foreign(self, pair: RowwisePair, U: Any, codes: Codes) -> tuple[Any, float]:
        """A foreign regressor on codes of unit mean square, and the factor that makes them so."""
        V = pair.code_rows(codes)
        energy = np.sum(V**2 if pair.weights is None else pair.weights[:, None] * V**2)
        scale = float(np.sqrt(pair.count * V.shape[1] / energy)) if energy > 0 else 1.0
        return fit_foreign(self.regressor, U, V * scale, pair.weights, self.n_jobs), scale

    def _strategy(self, held: Held) -> str | None:
        """How the threshold is to be tuned; None where it is a number, or there is none.

        "auto" tunes where rows are at hand and refits are cheap, and stays at or below a
        probability of one half: the threshold of largest F1 is half of that F1 (Lipton, Elkan and
        Naryanaswamy 2014), and what is found above is chance, or labels that never fail.
        """
        # Several classes go by the largest score: there is no threshold to tune.
        if not isinstance(self.threshold, str) or self._kind == "multiclass":
            return None
        if self.threshold != "auto":
            return self.threshold
        cheap = self.regressor is None and held.given is not None
        return "f1" if cheap and self._kind == "multilabel" else None

    @abstractmethod
    def _rescore(self) -> None:
        """Score by what has been learnt so far."""

    def _learn_decisions(self, held: Held, result: Embedded) -> None:
        """Decoder and threshold from codes of rows that the learner has not seen."""
        strategy = self._strategy(held)
        if self.decoder == "linear" and strategy is None:
            return
        if held.folds:
            self.decoding_ = self._decoder_from_folds(held, result)
            self._rescore()
            return
        n_rows = held.given.shape[0]
        if not self._has_room(held, n_rows):
            return
        count = 0 if strategy is None else self._folds_to_score(n_rows)
        work = Work.of(self.decoder, count, (n_rows, *result_shape(result)), held.seconds)
        announce(f"{type(self).__name__}: {work.what}", work.seconds, self.verbose)
        with Steps(
            type(self).__name__, work.steps, seconds=work.seconds, verbose=self.verbose
        ) as steps:
            crossfit = self._cross_fit(held, result, steps.done)
            if self.decoder == "linear":
                columns = crossfit.scores(count).columns
            else:
                columns = self._learn_decoder(crossfit, count, steps.done)
                self._rescore()
        if strategy is not None:
            rows, pair = crossfit.scored(count), crossfit.pair
            weights = None if pair.weights is None else pair.weights[rows]
            threshold = tune(strategy, columns, pair.right[rows], weights)
            if self.threshold == "auto":
                threshold = min(float(threshold), 0.0 if self.decoder == "logistic" else 0.5)
            self._set_threshold(threshold)
            self._rescore()

    def _has_room(self, held: Held, n_rows: int) -> bool:
        """Whether refits fit in the memory; if not, only the default threshold does without."""
        what = f"Fitting {n_rows} rows again without each fold, for decoder and threshold,"
        remedy = "Use threshold=0.5 and decoder='linear', which need no second fit, or fewer rows."
        try:
            memory.require_memory(held.refit, what=what, remedy=remedy)
        except MemoryError as error:
            if self.decoder != "linear" or self.threshold != "auto":
                raise
            warn_user(f"{error} The threshold is 0.5 here, and not tuned.")
            return False
        return True

    def _folds_to_score(self, n_rows: int) -> int:
        """All folds; for "auto", no more than it takes to score enough rows."""
        if self.threshold != "auto":
            return N_FOLDS
        return min(N_FOLDS, max(1, -(-N_FOLDS * ENOUGH_ROWS // n_rows)))

    def _cross_fit(self, held: Held, result: Embedded, note: Callable[[], None]) -> CrossFit:
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
            rehearses=self.decoder != "linear",
            note=note,
        )

    def _learn_decoder(self, crossfit: CrossFit, count: int, note: Callable[[], None]) -> Columns:
        """Learn the decoder; return scores of the rows of ``count`` folds by decoders that have
        not met them either.

        The strength of the decoder is judged by a few rehearsals.
        """
        rehearsals = list(crossfit.rehearsals(max(count, N_REHEARSALS)))
        if self.decoder == "learned":
            judges = [rehearsed(part) for part in rehearsals[:N_REHEARSALS]]
            strength, learn = choose_share(judges), learn_from_rows
        else:
            strength, learn = choose_penalty(rehearsals[:N_REHEARSALS]), learn_logistic_decoder
        note()
        self.decoding_ = learn(crossfit.data(), strength)
        note()
        rows = crossfit.scored(count)
        parts = [(slice(None), crossfit.codes()[rows], self.decoding_)]
        if rehearsals:
            parts = []
            for part in rehearsals[:count]:
                own = learn(part.train, strength)
                parts.append((np.isin(rows, part.held), part.codes, own))
                note()
        return HeldOut(
            rows.size,
            tuple((where, codes, own.coefficients, own.intercept) for where, codes, own in parts),
        ).columns

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
            learned = learn(pair, P, codes, float(self.alpha), self.bias)
            B = learned.coefficients
            A = B if expressed is None else expressed @ B
            return lambda rows: rows @ A + learned.intercept
        assert isinstance(pair, RowwisePair)  # moments serve the built-in ridge only
        U = pair.left if P is None else pair.projected_rows(P)
        model, scale = self._fit_foreign(pair, U, codes)

        def predict(rows: Any) -> Array:
            projected = rows if expressed is None else rows @ expressed
            return predict_foreign(model, projected, codes.size) / scale

        return predict
