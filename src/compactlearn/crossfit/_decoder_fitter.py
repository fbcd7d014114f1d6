"""Decoder and threshold learnt from codes of rows that the learner has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.compact._label_output import LabelSpace
from compactlearn.compact._learner import Learner, RidgeLearner
from compactlearn.compact._preparation import Training
from compactlearn.core import _memory as memory
from compactlearn.core._devices import DeviceArray, free_bytes, host
from compactlearn.core._progress import Steps, announce
from compactlearn.core._warn import warn_user
from compactlearn.crossfit._held_out_sample import HeldSample
from compactlearn.crossfit._scores import (
    N_FOLDS,
    N_HELD_OUT,
    CrossFit,
    OutOfFold,
    groups_begun,
    held_out_sums,
    honest_code_moments,
    row_groups,
)
from compactlearn.decoding._corrected_thresholds import tune_corrected
from compactlearn.decoding._held_out import Columns, DecoderData, HeldOutFold, known_alone
from compactlearn.decoding._learned import (
    CodeDecoder,
    CodeSums,
    choose_share,
    learn_from_rows,
    learn_linear_decoder,
    sums_of_fold,
)
from compactlearn.decoding._learned_known import choose_known_share, learn_from_known_cells
from compactlearn.decoding._logistic import choose_penalty, learn_logistic_decoder
from compactlearn.decoding._logistic_at_size import (
    cells_at_size,
    choose_penalty_at_size,
    learn_at_size,
)
from compactlearn.decoding._thresholds import tune
from compactlearn.embeddings._base import Embedded, Embedding
from compactlearn.linalg._moments_pair import MomentsPair

Array = NDArray[np.float64]

# threshold="auto" is tuned on at least so many rows, or on all there are. Two thousand rows of a
# few labels each settle one number; a larger set pays for one refit instead of five.
ENOUGH_ROWS = 2_000

# Seconds of one logistic fit for each row, code and label, on two cores: corel5k takes 1.4 s for
# 5000 rows, 100 codes and 374 labels, and choosing the penalty three and a half times that.
LOGISTIC_SECONDS = 7.5e-9
CHOOSING = 3.5
AT_SIZE_SECONDS = 2.5e-9  # of the one for large problems, for each row and label that it solves for

# Work that would take longer than this, for a threshold or a decoder, is done on fewer folds, and
# by the logistic decoder for large problems. Of the paper's sets only delicious takes as long.
LARGE = {"linear": 10.0, "learned": 60.0, "logistic": 60.0}


@dataclass(frozen=True)
class FoldPlan:
    """How many folds the rows are divided into, and how many of them judge a decoder."""

    n_folds: int = N_FOLDS
    n_held_out: int = N_HELD_OUT
    at_size: bool = False
    halves: bool = False  # whether one half of a held-out fold scales what the other half judges


USUAL_FOLDS = FoldPlan()

# With tens of thousands of rows, a third of them settles one number: five models in place of
# fifteen; or half a third, and three.
FEW_FOLDS = FoldPlan(3, 1, at_size=True)


@dataclass(frozen=True)
class Work:
    """What learning decoder and threshold amounts to."""

    what: str
    steps: int
    seconds: float

    @classmethod
    def of(
        cls,
        decoder: str,
        count: int,
        size: tuple[int, int, int],
        fit_seconds: float,
        plan: FoldPlan = USUAL_FOLDS,
        cells: float = 0.0,
    ) -> Work:
        """``count`` folds are scored; ``size`` is that of rows, codes and labels.

        ``cells`` are the pairs of a row and a label that a large problem is solved for.
        """
        what = "tuning the threshold" if decoder == "linear" else f"the {decoder} decoder"
        if decoder == "linear":
            return cls(what, count, count * fit_seconds)
        n_folds, tried = plan.n_folds, max(count, plan.n_held_out)
        models, seconds = tried, 0.0
        if decoder == "logistic":
            # Its prior needs honest scores of all rows, and of the others for each held-out fold.
            models = n_folds
            if not plan.halves:
                models += tried * (n_folds - 1) - tried * (tried - 1) // 2
            n_rows, n_codes, n_labels = size
            seconds = (1 + CHOOSING + count) * LOGISTIC_SECONDS * n_rows * n_labels
            if plan.at_size:
                seconds = (2 + count) * AT_SIZE_SECONDS * cells
            seconds *= max(n_codes, 1)
        refits = models + tried + 1  # all rows, and all but each held-out fold, need honest codes
        return cls(what, models + count + 2, seconds + refits * fit_seconds)


def planned_work(
    decoder: str,
    size: tuple[int, int, int],
    present: Array,
    fit_seconds: float,
    threshold: Any = None,
    *,
    partial: bool = False,
) -> tuple[FoldPlan, int, Work]:
    """How decoder and threshold are learnt, how many folds are scored, and what that amounts to.

    ``size`` is that of rows, codes and labels, ``present`` (M,) says how many rows have each label,
    ``fit_seconds`` what one fit takes. A ``threshold`` that is None needs no scores. Where labels
    are ``partial`` or corrected, each logistic regression has rows or targets of its own, and none
    is for large problems.
    """
    n_rows = size[0]
    cells = cells_at_size(present, n_rows)
    plan, count, work = USUAL_FOLDS, 0, Work("", 0, 0.0)
    few = replace(FEW_FOLDS, at_size=not partial)
    for plan in (USUAL_FOLDS, few):
        count = 0 if threshold is None else _folds_to_score(n_rows, plan, threshold)
        if plan.at_size and decoder == "logistic":
            enough = n_rows >= 2 * plan.n_folds * ENOUGH_ROWS
            plan = replace(plan, halves=enough and count <= plan.n_held_out)
        work = Work.of(decoder, count, size, fit_seconds, plan, cells)
        if work.seconds <= LARGE[decoder] or n_rows < FEW_FOLDS.n_folds * ENOUGH_ROWS:
            break
    return plan, count, work


def _folds_to_score(n_rows: int, plan: FoldPlan, threshold: str) -> int:
    """All folds; for "auto", and where there are few, no more than score enough rows.

    A threshold for each label needs all the rows that there are.
    """
    if threshold == "per-label" or (threshold != "auto" and not plan.at_size):
        return plan.n_folds
    return min(plan.n_folds, max(1, -(-plan.n_folds * ENOUGH_ROWS // n_rows)))


@dataclass(frozen=True)
class HonestScores:
    """Scores of training rows by models that have not met their labels, decoder included."""

    rows: NDArray[np.intp]  # which of the rows have some
    columns: Columns  # those of some labels, (n_rows, b)


@dataclass(frozen=True)
class Decided:
    """What was learnt after the learner; None where it was given, or is the embedding's own."""

    decoding: CodeDecoder | None = None
    threshold: float | Array | None = None  # in the units of the scores
    honest: HonestScores | None = None  # what the threshold was tuned on


def given_threshold(threshold: Any, decoder: str, labels: LabelSpace) -> float | Array:
    """A threshold that was given, checked against the labels, in the units of the scores.

    One that is to be tuned is 0 until there are scores; where "auto" cannot be tuned it is 0.5.
    """
    if isinstance(threshold, str) and threshold != "auto":
        return 0.0
    given = 0.5 if isinstance(threshold, str) else threshold
    checked = np.asarray(labels.checked_threshold(given))
    if decoder == "logistic":
        if not ((checked > 0) & (checked < 1)).all():
            raise ValueError(
                f"With decoder='logistic' a threshold is a probability between 0 and 1, and "
                f"{threshold!r} was given; pass such a number, for example 0.5."
            )
        checked = np.log(checked) - np.log1p(-checked)
    elif ((checked < 0) | (checked > 1)).any():
        warn_user(
            f"Scores of labels lie about 0 and 1, where a threshold parts them, and threshold="
            f"{threshold!r} was given: nothing may be predicted, or everything; pass a "
            "number between 0 and 1, or 'f1' to have it tuned."
        )
    return checked if checked.ndim else float(checked)


@dataclass(frozen=True)
class Decisions:
    """Which decoder and threshold are to be learnt, and beside which learner."""

    decoder: str
    threshold: Any
    kind: str  # of the labels
    learner: Learner
    owner: str = "CompactClassifier"
    verbose: int = 0

    def begun(self, training: Training) -> Training:
        """The same, with what can be found while the device has other work on its way."""
        alone = self.decoder == "linear" and self._strategy(training) is None
        if alone or training.groups is not None or not isinstance(training.given, DeviceArray):
            return training
        return replace(training, members=groups_begun(training.given))

    def learn(self, training: Training, result: Embedded, embedding: Embedding) -> Decided:
        """Decoder and threshold from codes of rows that the learner has not seen."""
        strategy = self._strategy(training)
        if self.decoder == "linear" and strategy is None:
            return Decided()
        if training.held is not None:
            return self._by_held_sample(training, result, embedding, strategy)
        if training.folds:
            return Decided(self._decoder_from_folds(training, result, embedding))
        n_rows = training.given.shape[0]
        if not self._has_room(training, n_rows):
            return Decided()
        plan, count, work = planned_work(
            self.decoder,
            (n_rows, result.codes.size, result.offset.size),
            n_rows * host(training.pair.mean_right),
            training.seconds,
            None if strategy is None else self.threshold,
            partial=training.unknown is not None or training.correction is not None,
        )
        announce(f"{self.owner}: {work.what}", work.seconds, self.verbose)
        with Steps(self.owner, work.steps, seconds=work.seconds, verbose=self.verbose) as steps:
            crossfit = self._cross_fit(training, result, embedding, plan, steps.done)
            if self.decoder == "linear":
                decoding, columns = None, crossfit.scores(count).columns
                rows = crossfit.scored(count)
            else:
                decoding, rows, columns = self._learn_decoder(crossfit, plan, count, steps.done)
        if strategy is None:
            return Decided(decoding)
        weights = None if training.weights is None else training.weights[rows]
        unknown = None if training.unknown is None else training.unknown[rows]
        known = known_alone(columns, unknown)
        corrected = training.correction is not None
        threshold = self._tuned(
            strategy, known, training.labels[rows], weights, corrected=corrected
        )
        return Decided(decoding, threshold, HonestScores(rows, columns))

    def _strategy(self, training: Training) -> str | None:
        """How the threshold is to be tuned; None where it is a number, or there is none.

        "auto" tunes where rows are at hand and refits are cheap, and stays at or below a
        probability of one half: the threshold of largest F1 is half of that F1 (Lipton, Elkan and
        Naryanaswamy 2014), and what is found above is chance, or labels that never fail.
        """
        # Several classes go by the largest score: there is no threshold to tune.
        if not isinstance(self.threshold, str) or self.kind == "multiclass":
            return None
        if self.threshold != "auto":
            return self.threshold
        rows = training.given is not None or training.held is not None
        cheap = isinstance(self.learner, RidgeLearner) and rows
        return "f1" if cheap and self.kind == "multilabel" else None

    def _has_room(self, training: Training, n_rows: int) -> bool:
        """Whether refits fit in the memory; if not, only the default threshold does without."""
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

    def _cross_fit(
        self,
        training: Training,
        result: Embedded,
        embedding: Embedding,
        plan: FoldPlan,
        note: Callable[[], None],
    ) -> CrossFit:
        learner = self.learner.for_codes(result.codes)
        ridge = isinstance(learner, RidgeLearner)
        groups = training.groups
        if groups is not None:
            members = np.asarray(groups)
        else:
            members = training.members() if training.members else row_groups(training.given)
        as_given = not ridge and result.projection is None
        return CrossFit(
            training.with_rows(as_given=as_given),
            result,
            embedding,
            learner,
            np.unique(members, return_inverse=True)[1],
            closed_form=groups is None and not plan.at_size,
            moments=ridge and isinstance(training.pair, MomentsPair),
            nested=self.decoder != "linear",
            halves=plan.halves,
            single=plan.at_size and self.decoder == "logistic",
            n_folds=plan.n_folds,
            labels=training.labels,
            unknown=training.unknown,
            completion=training.completion,
            held_out_rows=partial(training.held_out_rows, as_given=as_given),
            held_out_scaling=training.held_out_scaling,
            note=note,
        )

    def _learn_decoder(
        self, crossfit: CrossFit, plan: FoldPlan, count: int, note: Callable[[], None]
    ) -> tuple[CodeDecoder, NDArray[np.intp], Columns]:
        """The decoder, and rows of ``count`` folds with their scores by decoders that have not met
        them either.

        The strength of the decoder is judged on a few held-out folds.
        """
        folds = list(crossfit.held_out_folds(max(count, plan.n_held_out)))
        judging = folds[: plan.n_held_out]
        strength, learn = self._strength(judging, plan, partial=crossfit.unknown is not None)
        note()
        decoding = learn(crossfit.data(), strength)
        note()
        rows = crossfit.scored(count)
        parts = [(slice(None), crossfit.codes()[rows], decoding)]
        if folds:
            parts, scored = [], folds[:count]
            rows = np.sort(np.concatenate([rows[:0], *(part.held for part in scored)]))
            for part in scored:
                own = learn(part.train, strength)
                parts.append((np.isin(rows, part.held), part.codes, own))
                note()
        scores = OutOfFold(
            rows.size,
            tuple((where, codes, own.coefficients, own.intercept) for where, codes, own in parts),
        )
        return decoding, rows, scores.columns

    def _by_held_sample(
        self, training: Training, result: Embedded, embedding: Embedding, strategy: str | None
    ) -> Decided:
        """Decoder and threshold where rows came in blocks, some of which were held out."""
        assert training.held is not None
        assert isinstance(self.learner, RidgeLearner)
        rows = training.held.rows
        sample = HeldSample(training.held, result, training.pair.mean_left, embedding, self.learner)
        decoding, scores = None, None
        if self.decoder == "linear":
            scores = sample.scores()
        else:
            present = np.asarray(rows.Y.sum(axis=0)).ravel()
            size = rows.n_rows, result.codes.size, result.offset.size
            plan = planned_work(self.decoder, size, present, 0.0)[0]
            fold = sample.fold(*sample.halves)
            strength, learn = self._strength([fold], plan)
            decoding = learn(sample.data(), strength)
            if strategy is not None:
                scores = sample.decoded(learn, strength)
        if strategy is None or scores is None:
            return Decided(decoding)
        threshold = self._tuned(strategy, scores.columns, rows.Y, rows.weights)
        return Decided(decoding, threshold, HonestScores(rows.positions, scores.columns))

    def _tuned(
        self, strategy: str, columns: Columns, Y: Any, weights: Any, *, corrected: bool = False
    ) -> float | Array:
        threshold = (tune_corrected if corrected else tune)(strategy, columns, Y, weights)
        if self.threshold == "auto":
            return min(float(threshold), 0.0 if self.decoder == "logistic" else 0.5)
        return threshold

    def _strength(
        self, judging: list[HeldOutFold], plan: FoldPlan, *, partial: bool = False
    ) -> tuple[float, Callable[[DecoderData, float], CodeDecoder]]:
        """How strongly the decoder is pulled to the linear one, and what learns it so."""
        if self.decoder == "learned":
            if partial:
                return choose_known_share(judging), learn_from_known_cells
            return choose_share([sums_of_fold(part) for part in judging]), learn_from_rows
        if plan.at_size:
            return choose_penalty_at_size(judging), learn_at_size
        return choose_penalty(judging), learn_logistic_decoder

    def _decoder_from_folds(
        self, training: Training, result: Embedded, embedding: Embedding
    ) -> CodeDecoder:
        """The ridge decoder where only the moments of each fold are known."""
        assert isinstance(self.learner, RidgeLearner)
        folds, pair = training.folds, training.pair
        judges = held_out_sums(folds, result, embedding, self.learner)
        share = choose_share(islice(judges, N_HELD_OUT))
        d = 0 if result.projection is None else result.projection.shape[1]
        mean, learner = pair.mean_left, self.learner
        moments = honest_code_moments(folds, result, embedding, d, mean, learner)
        W = np.eye(pair.n_right) if result.decoder is None else result.decoder
        return learn_linear_decoder(CodeSums.of_moments(moments), W, share)
