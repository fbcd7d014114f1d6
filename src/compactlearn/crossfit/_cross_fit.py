"""Out-of-fold codes and scores by closed forms and refits.

Two things are learnt after the learner, and both need held-out rows.

A *decoder* is learnt from codes that the learner has not seen: the codes V stay as they are, since
it is V that the decoder will be given, and projection and learner are fitted to the other rows.
Where the features are kept, the closed form of leave-one-out gives these codes without refitting:
v_-i = (v^_i - h_i v_i) / (1 - h_i) with the leverage h_i. Equal rows are left out together, so that
a row of weight two is that row twice. Where a projection was learnt the closed form does not hold,
because P has seen the labels of every row: there the rows are held out fold by fold.

Whatever is *chosen* (a threshold, a penalty of the decoder, the scale of its prior) is chosen on
out-of-fold scores: nothing that has seen a row's labels takes part in its score. V has, and so has
the linear decoder W = V'Y: decoded by it, cross-fitted codes carry a row's own labels back into its
score (on labels that are pure noise, an AUC of .87 in place of .5). So these scores come from
models refitted without the row's fold, embedding included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._deadline import checkpoint
from compactlearn.core._devices import host
from compactlearn.core._unknown_labels import known_somewhere
from compactlearn.core._warn import quiet
from compactlearn.crossfit._folds import Folds
from compactlearn.crossfit._learner import Learner, RidgeLearner
from compactlearn.crossfit._leave_out import leave_one_out
from compactlearn.crossfit._plan import USUAL_FOLDS, FoldPlan
from compactlearn.crossfit._scores import DecodedScores
from compactlearn.crossfit._training_rows import TrainingRows
from compactlearn.decoding._held_out import Columns, DecoderData, HeldOutFold
from compactlearn.embeddings._base import Embedded, Embedding
from compactlearn.linalg._arrays import zeros_on_device_of
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.linalg._rows_ridge import RowsRidge

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class _FoldModel:
    """Model of some of the folds."""

    decoder: Any  # (m, M)
    offset: Array
    predicted: dict[int, Array]  # codes of the held-out folds
    codes: Codes | None  # of its training rows, where a held-out fold will need them
    mean_left: Array  # of the training rows, about which these codes were found
    mean_code: Array


class CrossFit:
    """Out-of-fold codes, scores and held-out folds of a classifier, computed on demand.

    ``member`` (N,) numbers the rows that are held out together. Without ``nested`` there will be
    scores only, and less is kept. ``single`` is for scores in float32. ``note`` is called after
    each refit.

    With ``plan.halves`` one half of a held-out fold scales the linear decoder that the other half
    judges: no further models are needed for that. Labels are sparse where the pair is on a device:
    decoders are learnt on the host, from codes that are brought there. Where some labels are
    unknown, the pair has them completed from all rows; models of some of the folds complete those
    of these folds. Held-out rows are scored without features that no training row has.
    """

    def __init__(
        self,
        training: TrainingRows,
        result: Embedded,
        embedding: Embedding,
        learner: Learner,
        member: Rows,
        plan: FoldPlan = USUAL_FOLDS,
        *,
        nested: bool = True,
        single: bool = False,
        note: Callable[[], None] = lambda: None,
    ) -> None:
        ridge = isinstance(learner, RidgeLearner)
        self._as_given = not ridge and result.projection is None
        self.training, self.labels, self.unknown = training, training.labels, training.unknown
        self.pair = training.with_rows(as_given=self._as_given)
        self.result, self.embedding = result, embedding
        self.learner, self.member = learner, member
        self.d = 0 if result.projection is None else result.projection.shape[1]
        self.closed_form = ridge and result.projection is None
        if training.groups is not None or plan.at_size:
            self.closed_form = False
        self.folds = Folds.of_members(member, plan.n_folds)
        self.labels_are_codes = result.codes.right is None and result.codes.right_weights is None
        if self.labels_are_codes and self.unknown is not None:
            self.closed_form = False  # without a row the others' unknown labels are others, too
        self._note = note
        # Models of some of the folds are then solved from sums of each instead of from rows.
        self._from_moments = ridge and isinstance(training.pair, MomentsPair)
        self._nested, self._single = nested, single
        self._halves = plan.halves and not self.labels_are_codes
        self._second = member // plan.n_folds % 2 == 1  # the half of its fold that a row is in
        self._fold_moments: dict[int, Moments] = {}
        self._models: dict[tuple[int, ...], _FoldModel] = {}
        self._codes: tuple[Array, str] | None = None
        self._awaited: dict[tuple[int, ...], Array] = {}

    # ---- codes --------------------------------------------------------------------------------

    def codes(self) -> Array:
        """Return the out-of-fold codes (N, m) of all rows; the target V is that of all rows."""
        return self._predicted()[0]

    def how(self) -> str:
        """Return the method that computes these codes: "leave-one-out" or "cross-fitted"."""
        return self._predicted()[1]

    def _predicted(self) -> tuple[Array, str]:
        if self._codes is None:
            every = np.arange(self.member.size)
            self._codes = self._unseen(
                self.result.codes, self.pair.mean_left, self.result.decoder, every
            )
        return self._codes

    def _unseen(
        self,
        codes: Codes,
        mean: Array,
        decoder: Array | None,
        rows: Rows,
        left_out: tuple[int, ...] = (),
        count: int | None = None,
    ) -> tuple[Array, str]:
        """Return the out-of-fold codes of ``rows``, and the method that computed them.

        ``rows`` are all rows outside the folds ``left_out``, ``mean`` is the feature mean that
        ``codes`` refer to, and ``decoder`` weighs the codes for the learner. With a ``count``, only
        the codes of the first ``count`` folds are filled in. The method is leave-one-out where the
        learner is a ridge on all the features, no groups of different rows were given, and no row
        determines its own prediction alone.
        """
        member = self.member[rows]
        several = member.size > 0 and member.min() < member.max()
        if self.closed_form and several:
            predicted = self._left_out(codes, rows, left_out)
            if predicted is not None:
                return predicted, "leave-one-out"
        if self.labels_are_codes:
            return self._labels_unseen(rows, left_out, count), "cross-fitted"
        predicted = zeros_on_device_of((rows.size, codes.size), self.pair.mean_left)
        completed = self.unknown is not None and bool(left_out)  # sums are of all rows' completion
        by_sums = self._from_moments and not completed
        pair = self.pair if by_sums else self._rows_pair(rows, left_out)
        V = None if by_sums else pair.code_rows(codes)
        for held_out, rest in islice(self._divided(rows), count):
            if not rest.size:  # a single group of rows: there is nothing to train on
                predicted[held_out] = codes.total / self._weights[rows].sum()
                continue
            part: Pair
            if V is None:
                fold = int(self.folds.number[rows[held_out[0]]])
                part, new = self._sums_without((*left_out, fold)), pair.left.rows[rows[held_out]]
                own = part.codes_like(codes, mean)
            else:
                part, new = pair.part(rest, held_out)
                own = part.codes_of(V[rest])
            new = self._held_out_rows(rows[rest], rows[held_out], new)
            P = self.embedding.project(part, own, self.d)
            predicted[held_out] = self.learner.predictor(part, P, own, decoder)(new)
        return predicted, "cross-fitted"

    def _labels_unseen(self, rows: Rows, left_out: tuple[int, ...], count: int | None) -> Array:
        """Return the out-of-fold codes of ``rows`` where the labels are the codes."""
        predicted = zeros_on_device_of((rows.size, self.pair.n_right), self.pair.mean_left)
        for held_out, rest in islice(self._divided(rows), count):
            if rest.size:
                fold = int(self.folds.number[rows[held_out[0]]])
                predicted[held_out] = self._labels_by_others(fold, left_out)
            else:
                weights = self._weights[rows]
                predicted[held_out] = weights @ self.pair.right[rows] / weights.sum()
        return predicted

    def _labels_by_others(self, fold: int, left_out: tuple[int, ...] = ()) -> Array:
        """Return the codes of ``fold`` where the labels are the codes, by a learner of the rows
        outside ``fold`` and the folds ``left_out``.

        Each learner is needed twice: one without two folds for either of them, one without a single
        fold for the codes of all rows and for the held-out fold. Predictions that are needed later
        are stored until then.
        """
        asked = (fold, *left_out)
        if asked in self._awaited:
            return self._awaited.pop(asked)
        checkpoint()
        held_out, rest = self.folds.held_out(*asked), self.folds.without(*asked)
        part, rows = self._part(asked, held_out, rest)
        # A projection needs no products of all features with the labels.
        own = part.right_codes(dense=self.d == 0)
        P = self.embedding.project(part, own, self.d)
        predicted = self.learner.predictor(part, P, own, None)(rows)
        if self._nested:
            for other in left_out or (fold,):
                kept = (other, fold) if left_out else (fold,)
                self._awaited[kept] = predicted[self.folds.number[held_out] == other]
        return predicted[self.folds.number[held_out] == fold]

    def _divided(self, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Yield the positions of each fold among these rows, and those of the other rows."""
        folds = self.folds.number[rows]
        for fold in np.unique(folds):
            yield np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)

    def _rows_pair(self, rows: Rows, left_out: tuple[int, ...]) -> RowsPair:
        """Return the pair of all rows, or of some, with unknown labels completed from these."""
        if not left_out:
            return self.pair
        part = self.pair.part(rows, np.arange(0))[0]
        if self.unknown is None:
            return part
        return _completed(part, self.labels[rows], self.unknown[rows], self.training.completion)

    def _left_out(self, codes: Codes, rows: Rows, left_out: tuple[int, ...]) -> Array | None:
        """Return leave-one-out codes in closed form, or None where that does not hold."""
        assert isinstance(self.learner, RidgeLearner)
        pair = self._rows_pair(rows, left_out)
        if not RowsRidge(pair).has_leverages:
            return None
        numbers = np.unique(self.member[rows], return_inverse=True)[1]  # of a part: without gaps
        linear, scaling = self.training.held_out_scaling(rows, numbers)
        if not linear:
            return None
        V = pair.code_rows(codes)
        own = codes
        if left_out:
            own = pair.right_codes(dense=self.d == 0) if self.labels_are_codes else pair.codes_of(V)
        return leave_one_out(pair, own, V, numbers, self.learner, scaling)

    # ---- scores -------------------------------------------------------------------------------

    def scored(self, count: int | None = None) -> Rows:
        """Return the rows of the first ``count`` folds, or of all folds if it is None."""
        return self.folds.held_out(*self.folds.numbers[:count])

    def scores(self, count: int | None = None) -> DecodedScores:
        """Return the out-of-fold scores, linear decoder included, of the rows that are
        :meth:`scored`."""
        rows = self.scored(count)
        if self.labels_are_codes:
            same = scipy.sparse.eye_array(self.pair.n_right, format="csc")
            nothing = np.zeros(self.pair.n_right)
            if self._codes is None and count is not None:
                every = np.arange(self.member.size)
                result, mean = self.result, self.pair.mean_left
                own = self._unseen(result.codes, mean, None, every, (), count)[0]
            else:
                own = self.codes()
            return DecodedScores(rows.size, ((slice(None), own[rows], same, nothing),))
        if len(self.folds.numbers) == 1:  # there is nothing to train on
            mean = self.result.codes.total / self.pair.count
            codes = np.tile(mean, (rows.size, 1))
            decoder, offset = self.result.decoder, self.result.offset
            return DecodedScores(rows.size, ((slice(None), codes, decoder, offset),))
        folds = self.folds.number[rows]
        return DecodedScores(
            rows.size,
            tuple(
                (folds == fold, model.predicted[fold], model.decoder, model.offset)
                for fold in self.folds.numbers[:count]
                for model in [self._model(fold)]
            ),
        )

    def _model(self, *left_out: int) -> _FoldModel:
        """Return the model of all folds but these, embedding included."""
        key = tuple(sorted(left_out))
        if key not in self._models:
            self._models[key] = self._fit(key)
            self._note()
        return self._models[key]

    def _fit(self, left_out: tuple[int, ...]) -> _FoldModel:
        held_out, rest = self.folds.held_out(*left_out), self.folds.without(*left_out)
        part, rows = self._part(left_out, held_out, rest)
        with quiet():  # the model of all rows has raised the warnings about the data
            result = self.embedding.within(part).solve(part)
        P, codes = result.projection, result.codes
        predicted = self.learner.predictor(part, P, codes, result.decoder)(rows)
        return _FoldModel(
            result.decoder,
            result.offset,
            {fold: predicted[self.folds.number[held_out] == fold] for fold in left_out},
            result.codes if self._nested and len(left_out) == 1 else None,
            part.mean_left,
            result.codes.total / part.count,
        )

    def _part(self, left_out: tuple[int, ...], held_out: Rows, rest: Rows) -> tuple[Pair, Any]:
        """Return the pair of the training folds, and the held-out rows in its features."""
        part: Pair
        if self.unknown is not None:
            known, rows = self.pair.part(rest, held_out)
            part = _completed(
                known, self.labels[rest], self.unknown[rest], self.training.completion
            )
            if self._from_moments:
                moments = Moments.from_arrays(part.left.rows, part.right, part.weights)
                part = MomentsPair(moments, given_left=self.pair.given_left)
        elif self._from_moments:
            part, rows = self._sums_without(left_out), self.pair.left.rows[held_out]
        else:
            part, rows = self.pair.part(rest, held_out)
        return part, self._held_out_rows(rest, held_out, rows)

    def _sums_without(self, left_out: tuple[int, ...]) -> MomentsPair:
        if not self._fold_moments:
            self._fold_moments = {fold: self._moments_of(fold) for fold in self.folds.numbers}
        kept = [self._fold_moments[fold] for fold in self.folds.numbers if fold not in left_out]
        return MomentsPair(sum(kept[1:], kept[0]), given_left=self.pair.given_left)

    def _moments_of(self, fold: int) -> Moments:
        rows = self.folds.held_out(fold)
        weights = None if self.pair.weights is None else self.pair.weights[rows]
        return Moments.from_arrays(self.pair.left.rows[rows], self.pair.right[rows], weights)

    # ---- training and validation data of decoders ----------------------------------------------

    def data(self) -> DecoderData:
        """Return the data that the decoder of all rows is learnt from."""
        return DecoderData(
            host(self.codes()),
            self.labels,
            self._weights,
            _dense(self.result.decoder, self.pair),
            self._when_asked(self.scores),
            unknown=self.unknown,
        )

    def _when_asked(self, scores: Callable[[], DecodedScores]) -> Columns:
        """Return scores by models that are fitted on first use."""

        @cache
        def made() -> DecodedScores:
            return scores().in_single_precision() if self._single else scores()

        return lambda labels: host(made().columns(labels))

    def held_out_folds(self, count: int | None = None) -> Iterator[HeldOutFold]:
        """Yield the held-out folds, one after the other; ``count`` of them, or all."""
        for fold in self.folds.numbers[:count] if len(self.folds.numbers) > 1 else ():
            yield self._held_out_fold(fold)

    def _held_out_fold(self, fold: int) -> HeldOutFold:
        held_out, rest = self.folds.held_out(fold), self.folds.without(fold)
        model = None if self.labels_are_codes else self._model(fold)
        if model is None:
            own, mean, decoder = self.result.codes, self.pair.mean_left, None
            new_codes = self._labels_by_others(fold)
        else:
            assert model.codes is not None
            own, mean, decoder = model.codes, model.mean_left, model.decoder
            new_codes = model.predicted[fold]
        new_codes = host(new_codes)
        codes = host(self._unseen(own, mean, decoder, rest, (fold,))[0])
        weights, right, others = self._weights, self.labels, None
        scores: Columns  # the ridge decoder needs none
        if model is None:
            scores = partial(_columns_of, codes)
        elif self._halves and 0 < self._second[held_out].sum() < held_out.size:
            second = self._second[held_out]
            scales, held_out = held_out[~second], held_out[second]
            part = ((slice(None), new_codes[~second], model.decoder, model.offset),)
            scores = self._when_asked(lambda: DecodedScores(scales.size, part))
            others, new_codes = (right[scales], weights[scales]), new_codes[second]
        else:
            scores = self._when_asked(lambda: self._scores_without(fold, rest))
        train = DecoderData(
            codes,
            right[rest],
            weights[rest],
            _dense(decoder, self.pair),
            scores,
            others,
            None if self.unknown is None else known_somewhere(self.unknown[rest]),
        )
        new_unknown = None if self.unknown is None else self.unknown[held_out]
        return HeldOutFold(
            train, held_out, new_codes, right[held_out], weights[held_out], new_unknown
        )

    def _scores_without(self, fold: int, rest: Rows) -> DecodedScores:
        """Return out-of-fold scores of the other folds by models that are also without ``fold``."""
        folds = self.folds.number[rest]
        others = [other for other in self.folds.numbers if other != fold]
        if len(others) == 1:
            model = self._model(fold)
            codes = np.tile(model.mean_code, (rest.size, 1))
            return DecodedScores(rest.size, ((slice(None), codes, model.decoder, model.offset),))
        parts = []
        for other in others:
            model = self._model(fold, other)
            parts.append((folds == other, model.predicted[other], model.decoder, model.offset))
        return DecodedScores(rest.size, tuple(parts))

    def _held_out_rows(self, rest: Rows, held_out: Rows, rows: Any) -> Any:
        return self.training.held_out_rows(rest, held_out, rows, as_given=self._as_given)

    @property
    def _weights(self) -> Array:
        return np.ones(self.member.size) if self.pair.weights is None else host(self.pair.weights)


def _completed(part: RowsPair, labels: Any, unknown: Any, completion: Any) -> RowsPair:
    """Return a part of the rows with unknown labels completed from these rows alone."""
    return part.with_right(completion.fill(part.with_right(labels), unknown))


def _dense(decoder: Any, pair: Pair) -> Array:
    """Return a decoder as a matrix: the identity where the labels are the codes."""
    return np.eye(pair.n_right) if decoder is None else host(decoder)


def _columns_of(matrix: Array, columns: slice | Rows) -> Array:
    return matrix[:, columns]
