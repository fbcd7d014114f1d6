"""Decoder and threshold learnt from out-of-fold codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._devices import free_bytes, host
from compactlearn.core._progress import Steps, announce
from compactlearn.core._warn import warn_user
from compactlearn.crossfit._cross_fit import CrossFit
from compactlearn.crossfit._held_out_sample import HeldOutSample
from compactlearn.crossfit._learner import Learner, RidgeLearner
from compactlearn.crossfit._plan import FoldPlan, planned_work
from compactlearn.crossfit._scores import DecodedScores, OutOfFoldScores
from compactlearn.crossfit._together import row_hashes
from compactlearn.crossfit._training_rows import TrainingRows
from compactlearn.decoding._held_out import CodeDecoder, Columns, DecoderData, HeldOutFold
from compactlearn.decoding._logistic import choose_penalty, learn_logistic_decoder
from compactlearn.decoding._logistic_at_size import choose_penalty_at_size, learn_at_size
from compactlearn.embeddings._base import Embedded, Embedding

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FittedDecoder:
    """Decoder and threshold; None for the embedding's linear decoder or a given threshold."""

    decoding: CodeDecoder | None = None
    threshold: float | Array | None = None  # in the units of the scores
    out_of_fold: OutOfFoldScores | None = None  # the scores that the threshold was tuned on


@dataclass(frozen=True)
class DecoderFitter:
    """Settings of the decoder and the threshold to be learnt, and the learner of the codes."""

    decoder: str
    threshold: Any
    kind: str  # of the labels
    learner: Learner
    owner: str = "CompactClassifier"
    verbose: int = 0

    def learn(
        self, training: TrainingRows, result: Embedded, embedding: Embedding
    ) -> FittedDecoder:
        """Learn decoder and threshold from out-of-fold codes."""
        strategy = self._strategy(training)
        if self.decoder == "linear" and strategy is None:
            return FittedDecoder()
        if training.held_out is not None:
            return self._by_held_out_sample(training, result, embedding, strategy)
        n_rows = training.given.shape[0]
        if not self._has_room(training, n_rows):
            return FittedDecoder()
        plan, count, work = planned_work(
            self.decoder,
            (n_rows, result.codes.size, result.offset.size),
            n_rows * host(training.pair.mean_right),
            training.seconds,
            None if strategy is None else self.threshold,
            partial=training.unknown is not None or training.correction is not None,
        )
        groups, given = training.groups, training.given
        keys = row_hashes(given) if groups is None else np.asarray(groups)
        announce(f"{self.owner}: {work.what}", work.seconds, self.verbose)
        with Steps(self.owner, work.steps, seconds=work.seconds, verbose=self.verbose) as steps:
            crossfit = CrossFit(
                training,
                result,
                embedding,
                self.learner.for_codes(result.codes),
                np.unique(keys, return_inverse=True)[1],
                plan,
                nested=self.decoder != "linear",
                single=plan.at_size and self.decoder == "logistic",
                note=steps.done,
            )
            if self.decoder == "linear":
                decoding, columns = None, crossfit.scores(count).columns
                rows = crossfit.scored(count)
            else:
                decoding, rows, columns = self._learn_decoder(crossfit, plan, count, steps.done)
        if strategy is None:
            return FittedDecoder(decoding)
        weights = None if training.weights is None else training.weights[rows]
        unknown = None if training.unknown is None else training.unknown[rows]
        scores = OutOfFoldScores(rows, columns, training.labels[rows], weights, unknown)
        corrected = training.correction is not None
        threshold = self._tuned(strategy, scores, corrected=corrected)
        return FittedDecoder(decoding, threshold, scores)

    def _strategy(self, training: TrainingRows) -> str | None:
        """Return the criterion that the threshold is tuned by, or None if it is not tuned.

        "auto" tunes where rows are in memory and refits are cheap. Its threshold is at most a
        probability of one half: the threshold of largest F1 is half of that F1 (Lipton, Elkan and
        Naryanaswamy 2014), so a larger one is due to noise, or to labels that almost all rows have.
        """
        # With several classes the largest score decides: there is no threshold to tune.
        if not isinstance(self.threshold, str) or self.kind == "multiclass":
            return None
        if self.threshold != "auto":
            return self.threshold
        rows = training.given is not None or training.held_out is not None
        cheap = isinstance(self.learner, RidgeLearner) and rows
        return "f1" if cheap and self.kind == "multilabel" else None

    def _has_room(self, training: TrainingRows, n_rows: int) -> bool:
        """Return whether refits fit in memory; raise MemoryError where they cannot be skipped."""
        what = f"Fitting {n_rows} rows again without each fold, for decoder and threshold,"
        remedy = "Use threshold=0.5 and decoder='linear', which need no second fit, or fewer rows."
        try:
            free = free_bytes(training.given)
            memory.require_memory(training.refit, what=what, remedy=remedy, free=free)
        except MemoryError as error:
            if self.decoder != "linear" or self.threshold != "auto":
                raise
            warn_user(f"{error} The threshold is 0.5 here, and not tuned.")
            return False
        return True

    def _learn_decoder(
        self, crossfit: CrossFit, plan: FoldPlan, count: int, note: Callable[[], None]
    ) -> tuple[CodeDecoder, NDArray[np.intp], Columns]:
        """Return the decoder, and the rows of ``count`` folds with their out-of-fold scores.

        The penalty is selected on a few held-out folds.
        """
        folds = list(crossfit.held_out_folds(max(count, plan.n_held_out)))
        judging = folds[: plan.n_held_out]
        penalty, learn = _penalty(judging, plan)
        note()
        decoding = learn(crossfit.data(), penalty)
        note()
        rows = crossfit.scored(count)
        parts = [(slice(None), crossfit.codes()[rows], decoding)]
        if folds:
            parts, scored = [], folds[:count]
            rows = np.sort(np.concatenate([rows[:0], *(part.rows for part in scored)]))
            for part in scored:
                own = learn(part.train, penalty)
                parts.append((np.isin(rows, part.rows), part.codes, own))
                note()
        scores = DecodedScores(
            rows.size,
            tuple((where, codes, own.coefficients, own.intercept) for where, codes, own in parts),
        )
        return decoding, rows, scores.columns

    def _by_held_out_sample(
        self, training: TrainingRows, result: Embedded, embedding: Embedding, strategy: str | None
    ) -> FittedDecoder:
        """Learn decoder and threshold from the held-out rows of a fit of blocks."""
        assert training.held_out is not None
        assert isinstance(self.learner, RidgeLearner)
        rows = training.held_out.rows
        sample = HeldOutSample(
            training.held_out, result, training.pair.mean_left, embedding, self.learner
        )
        decoding, scores = None, None
        if self.decoder == "linear":
            scores = sample.scores()
        else:
            present = np.asarray(rows.Y.sum(axis=0)).ravel()
            size = rows.n_rows, result.codes.size, result.offset.size
            plan = planned_work(self.decoder, size, present, 0.0)[0]
            fold = sample.fold(*sample.halves)
            penalty, learn = _penalty([fold], plan)
            decoding = learn(sample.data(), penalty)
            if strategy is not None:
                scores = sample.decoded(learn, penalty)
        if strategy is None or scores is None:
            return FittedDecoder(decoding)
        found = OutOfFoldScores(rows.positions, scores.columns, rows.Y, rows.weights)
        return FittedDecoder(decoding, self._tuned(strategy, found), found)

    def _tuned(
        self, strategy: str, scores: OutOfFoldScores, *, corrected: bool = False
    ) -> float | Array:
        threshold = scores.tuned(strategy, corrected=corrected)
        if self.threshold == "auto":
            return min(float(threshold), 0.0 if self.decoder == "logistic" else 0.5)
        return threshold


def _penalty(
    judging: list[HeldOutFold], plan: FoldPlan
) -> tuple[float, Callable[[DecoderData, float], CodeDecoder]]:
    """Return the penalty towards the linear decoder, and the learner of decoders."""
    if plan.at_size:
        return choose_penalty_at_size(judging), learn_at_size
    return choose_penalty(judging), learn_logistic_decoder
