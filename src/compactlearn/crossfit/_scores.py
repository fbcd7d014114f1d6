"""Codes and scores of rows by models that have not met their labels.

Two things are learnt after the learner, and each needs rows in the part of new ones.

A *decoder* is learnt from codes that the learner has not seen: the codes V stay as they are, since
it is V that the decoder will be given, and projection and learner are fitted to the other rows.
Where the features are kept, the closed form of leave-one-out gives these codes without refitting:
v_-i = (v^_i - h_i v_i) / (1 - h_i) with the leverage h_i. Equal rows are left out together, so that
a row of weight two is that row twice. Where a projection was learnt the closed form does not hold,
because P has seen the labels of every row: there the rows are held out fold by fold.

Whatever is *chosen* (a threshold, a penalty of the decoder, the scale of its prior) is chosen on
scores that are honest in the strict sense: nothing that has met a row's labels takes part in its
score. V has, and so has the linear decoder W = V'Y: decoded by it, cross-fitted codes carry a row's
own labels back into its score (on labels that are pure noise, an AUC of .87 where .5 is chance).
So these scores come from models fitted anew without the row's fold, embedding included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._learner import Learner, RidgeLearner
from compactlearn.core._deadline import checkpoint
from compactlearn.core._devices import DeviceArray, compressed, host
from compactlearn.core._unknown_labels import known_somewhere
from compactlearn.core._warn import quiet
from compactlearn.decoding._held_out import Columns, DecoderData, HeldOutFold
from compactlearn.decoding._learned import CodeSums
from compactlearn.embeddings._base import Embedded, Embedding
from compactlearn.linalg._arrays import zeros_beside
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._learning import fitted_codes
from compactlearn.linalg._moments import Moments, row_blocks, without_each
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_ridge import RowsRidge
from compactlearn.linalg._rowwise_pair import RowwisePair, with_right

Array = NDArray[np.float64]
Folds = NDArray[np.intp]
Numbers = NDArray[Any]  # float64, or float32 where there are very many

N_FOLDS = 5
N_HELD_OUT = 3

# Eight digits are left of a leave-one-out prediction when it is divided by this much.
SMALL_REST = 1e-8


@dataclass(frozen=True)
class OutOfFold:
    """Scores of some rows by models of others: one decoder for each part of the rows."""

    n_rows: int
    parts: tuple[tuple[Any, Numbers, Any, Numbers], ...]  # rows, their codes, decoder, offset

    def columns(self, labels: slice | Folds) -> Array:
        """The scores of some labels, (n_rows, b)."""
        first = self.parts[0][3]
        n_columns = first[labels].size
        scores = zeros_beside((self.n_rows, n_columns), self.parts).astype(first.dtype, copy=False)
        for rows, codes, decoder, offset in self.parts:
            product = (
                codes[:, labels] if scipy.sparse.issparse(decoder) else codes @ decoder[:, labels]
            )
            scores[rows] = product + offset[labels]
        return scores

    def in_single_precision(self) -> OutOfFold:
        """The same in float32: half the time, where there are very many scores."""
        parts = [
            (rows, codes.astype(np.float32), decoder.astype(np.float32), offset.astype(np.float32))
            for rows, codes, decoder, offset in self.parts
        ]
        return OutOfFold(self.n_rows, tuple(parts))


@dataclass(frozen=True)
class _Model:
    """A model of some of the folds."""

    decoder: Any  # (m, M)
    offset: Array
    predicted: dict[int, Array]  # the codes that it gives the folds that were left out
    codes: Codes | None  # its own, where a held-out fold will need them
    mean_left: Array  # of its rows, about which these were found
    mean_code: Array


class CrossFit:
    """A classifier's honest codes, honest scores and held-out folds, each made when asked for.

    ``member`` (N,) numbers the rows that are held out together. With ``moments`` models of some of
    the folds are solved from sums of each instead of from rows. Without ``nested`` there will be
    scores only, and less is kept. ``n_folds`` are made; ``note`` is called after each refit. With
    ``halves`` one half of a held-out fold scales the linear decoder that the other half judges: no
    further models are needed for that. ``single`` is for scores in float32. ``labels`` are those of
    the pair, sparse, where it is on a device: decoders are learnt on the host, from codes that are
    brought there. Where some are ``unknown``, the pair has them completed from all rows; models of
    some of the folds complete those of these folds by ``completion``.

    Held-out rows are scored without features that no training row has: of the numbers of training
    and of held-out rows, and these rows themselves, ``held_out_rows`` returns the latter so, and
    ``held_out_scaling`` returns for rows that are left out one by one what they are multiplied by.
    """

    def __init__(
        self,
        pair: RowwisePair,
        result: Embedded,
        embedding: Embedding,
        learner: Learner,
        member: Folds,
        *,
        closed_form: bool = True,
        moments: bool = False,
        nested: bool = True,
        halves: bool = False,
        single: bool = False,
        n_folds: int = N_FOLDS,
        labels: Any = None,
        unknown: Any = None,
        completion: Any = None,
        held_out_rows: Callable[[Folds, Folds, Any], Any] = lambda rest, held, rows: rows,
        held_out_scaling: Callable[[Folds, Folds], tuple[bool, Array | None]] = (
            lambda rows, member: (True, None)
        ),
        note: Callable[[], None] = lambda: None,
    ) -> None:
        self.labels = pair.right if labels is None else labels
        self.unknown, self.completion = unknown, completion
        self._held_out_rows, self._held_out_scaling = held_out_rows, held_out_scaling
        self.pair, self.result, self.embedding = pair, result, embedding
        self.learner, self.member = learner, member
        self.d = 0 if result.projection is None else result.projection.shape[1]
        ridge = isinstance(learner, RidgeLearner)
        self.closed_form = closed_form and ridge and result.projection is None
        self.folds = member % n_folds
        self.numbers = np.unique(self.folds).tolist()
        self.labels_are_codes = result.codes.right is None and result.codes.right_weights is None
        if self.labels_are_codes and unknown is not None:
            self.closed_form = False  # without a row the others' unknown labels are others, too
        self._note = note
        self._from_moments, self._nested = moments, nested
        self._single = single
        self._halves = halves and not self.labels_are_codes
        self._second = member // n_folds % 2 == 1  # the half of its fold that a row is in
        self._fold_moments: dict[int, Moments] = {}
        self._models: dict[tuple[int, ...], _Model] = {}
        self._codes: tuple[Array, str] | None = None
        self._awaited: dict[tuple[int, ...], Array] = {}

    # ---- codes --------------------------------------------------------------------------------

    def codes(self) -> Array:
        """(N, m) every row's codes by a learner that has not seen it; V is that of all rows."""
        return self._predicted()[0]

    def how(self) -> str:
        """How these codes are found: "leave-one-out" or "cross-fitted"."""
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
        rows: Folds,
        left_out: tuple[int, ...] = (),
        count: int | None = None,
    ) -> tuple[Array, str]:
        """The codes of ``rows``, each by a learner that has not seen it, and how.

        ``rows`` are all but those of the folds ``left_out``, ``mean`` is the one about which their
        codes were found, and ``decoder`` says what these count for. With a ``count``, only those of
        so many folds are sure to be there. Leave-one-out where the learner is a ridge on all the
        features, there are no groups of rows that differ, and no row decides its own prediction
        alone.
        """
        member = self.member[rows]
        several = member.size > 0 and member.min() < member.max()
        if self.closed_form and several:
            predicted = self._left_out(codes, rows, left_out)
            if predicted is not None:
                return predicted, "leave-one-out"
        if self.labels_are_codes:
            return self._labels_unseen(rows, left_out, count), "cross-fitted"
        if self._from_moments:
            return self._by_sums(codes, mean, rows, left_out, count), "cross-fitted"
        pair = self._rows_pair(rows, left_out)
        V = pair.code_rows(codes)
        predicted = zeros_beside((rows.size, codes.size), pair.mean_left)
        for held, rest in islice(self._divided(rows), count):
            if not rest.size:  # one group of rows only: nothing is known of others
                predicted[held] = codes.total / pair.count
                continue
            part, new = pair.part(rest, held)
            new = self._held_out_rows(rows[rest], rows[held], new)
            own = part.codes_of(V[rest])
            P = self.embedding.project(part, own, self.d)
            predicted[held] = self.learner.predictor(part, P, own, decoder)(new)
        return predicted, "cross-fitted"

    def _labels_unseen(self, rows: Folds, left_out: tuple[int, ...], count: int | None) -> Array:
        """Where labels are the codes: those of ``rows``, each by a learner that has not seen it."""
        predicted = zeros_beside((rows.size, self.pair.n_right), self.pair.mean_left)
        for held, rest in islice(self._divided(rows), count):
            if rest.size:
                fold = int(self.folds[rows[held[0]]])
                predicted[held] = self._labels_by_others(fold, left_out)
            else:
                weights = self._weights[rows]
                predicted[held] = weights @ self.pair.right[rows] / weights.sum()
        return predicted

    def _labels_by_others(self, fold: int, left_out: tuple[int, ...] = ()) -> Array:
        """Where labels are the codes: those of a fold by a learner that has met neither it nor the
        folds ``left_out``.

        A learner that is without two folds is asked by the one and by the other, and one that is
        without a single fold twice as well: what is not asked for yet is kept until it is.
        """
        asked = (fold, *left_out)
        if asked in self._awaited:
            return self._awaited.pop(asked)
        checkpoint()
        out = np.isin(self.folds, asked)
        held, rest = np.flatnonzero(out), np.flatnonzero(~out)
        part, rows = self._part(asked, held, rest)
        own = self._labels_of(part)
        P = self.embedding.project(part, own, self.d)
        predicted = self.learner.predictor(part, P, own, None)(rows)
        if self._nested:
            for other in left_out or (fold,):
                kept = (other, fold) if left_out else (fold,)
                self._awaited[kept] = predicted[self.folds[held] == other]
        return predicted[self.folds[held] == fold]

    def _divided(self, rows: Folds) -> Iterator[tuple[Folds, Folds]]:
        """LabelRanks of each fold among these rows, and those of the others."""
        folds = self.folds[rows]
        for fold in np.unique(folds):
            yield np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)

    def _labels_of(self, part: Pair) -> Codes:
        """Labels as codes; a projection needs no products of all features with them."""
        return part.right_codes(dense=self.d == 0)

    def _rows_pair(self, rows: Folds, left_out: tuple[int, ...]) -> RowwisePair:
        return self.pair.part(rows, np.arange(0))[0] if left_out else self.pair

    def _left_out(self, codes: Codes, rows: Folds, left_out: tuple[int, ...]) -> Array | None:
        """Leave-one-out in closed form, or None where that does not hold."""
        assert isinstance(self.learner, RidgeLearner)
        pair = self._rows_pair(rows, left_out)
        if not RowsRidge(pair).has_leverages:
            return None
        numbers = np.unique(self.member[rows], return_inverse=True)[1]  # of a part: without gaps
        linear, scaling = self._held_out_scaling(rows, numbers)
        if not linear:
            return None
        V = pair.code_rows(codes)
        own = codes
        if left_out:
            own = self._labels_of(pair) if self.labels_are_codes else pair.codes_of(V)
        return leave_one_out(pair, own, V, numbers, self.learner, scaling)

    def _by_sums(
        self,
        codes: Codes,
        mean: Array,
        rows: Folds,
        left_out: tuple[int, ...],
        count: int | None,
    ) -> Array:
        """Cross-fitted codes by learners from the sums of the other folds."""
        predicted = zeros_beside((rows.size, codes.size), self.pair.mean_left)
        for held, rest in islice(self._divided(rows), count):
            fold = int(self.folds[rows[held[0]]])
            if not rest.size:
                predicted[held] = codes.total / self._weights[rows].sum()
                continue
            part = self._sums_without((*left_out, fold))
            own = part.codes_like(codes, mean)
            P = self.embedding.project(part, own, self.d)
            predict = self.learner.predictor(part, P, own, None)  # a ridge: no decoder matters
            out = rows[held]
            predicted[held] = predict(self._held_out_rows(rows[rest], out, self.pair.left[out]))
        return predicted

    # ---- scores -------------------------------------------------------------------------------

    def scored(self, count: int | None = None) -> Folds:
        """The rows of the first ``count`` folds; of all where none is given."""
        return np.flatnonzero(np.isin(self.folds, self.numbers[:count]))

    def scores(self, count: int | None = None) -> OutOfFold:
        """Scores by models that have not met a row's labels, linear decoder included: of every
        row, or of those that are :meth:`scored`."""
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
            return OutOfFold(rows.size, ((slice(None), own[rows], same, nothing),))
        if len(self.numbers) == 1:  # nothing is known of others
            mean = self.result.codes.total / self.pair.count
            codes = np.tile(mean, (rows.size, 1))
            decoder, offset = self.result.decoder, self.result.offset
            return OutOfFold(rows.size, ((slice(None), codes, decoder, offset),))
        folds = self.folds[rows]
        return OutOfFold(
            rows.size,
            tuple(
                (folds == fold, model.predicted[fold], model.decoder, model.offset)
                for fold in self.numbers[:count]
                for model in [self._model(fold)]
            ),
        )

    def _model(self, *left_out: int) -> _Model:
        """The model of all folds but these, embedding included."""
        key = tuple(sorted(left_out))
        if key not in self._models:
            self._models[key] = self._fit(key)
            self._note()
        return self._models[key]

    def _fit(self, left_out: tuple[int, ...]) -> _Model:
        out = np.isin(self.folds, left_out)
        held, rest = np.flatnonzero(out), np.flatnonzero(~out)
        part, rows = self._part(left_out, held, rest)
        with quiet():  # what is to be said of the data is said of the model of all rows
            result = self.embedding.within(part).solve(part)
        P, codes = result.projection, result.codes
        predicted = self.learner.predictor(part, P, codes, result.decoder)(rows)
        return _Model(
            result.decoder,
            result.offset,
            {fold: predicted[self.folds[held] == fold] for fold in left_out},
            result.codes if self._nested and len(left_out) == 1 else None,
            part.mean_left,
            result.codes.total / part.count,
        )

    def _part(self, left_out: tuple[int, ...], held: Folds, rest: Folds) -> tuple[Pair, Any]:
        """The folds that are kept as a pair, and the rows of the others as it knows them."""
        part: Pair
        if self.unknown is not None:
            known, rows = self.pair.part(rest, held)
            part = _completed(known, self.labels[rest], self.unknown[rest], self.completion)
            if self._from_moments:
                moments = Moments.from_arrays(part.left, part.right, part.weights)
                part = MomentsPair(moments, given_left=self.pair.given_left)
        elif self._from_moments:
            part, rows = self._sums_without(left_out), self.pair.left[held]
        else:
            part, rows = self.pair.part(rest, held)
        return part, self._held_out_rows(rest, held, rows)

    def _sums_without(self, left_out: tuple[int, ...]) -> MomentsPair:
        if not self._fold_moments:
            self._fold_moments = {fold: self._moments_of(fold) for fold in self.numbers}
        kept = [self._fold_moments[fold] for fold in self.numbers if fold not in left_out]
        return MomentsPair(sum(kept[1:], kept[0]), given_left=self.pair.given_left)

    def _moments_of(self, fold: int) -> Moments:
        rows = np.flatnonzero(self.folds == fold)
        weights = None if self.pair.weights is None else self.pair.weights[rows]
        return Moments.from_arrays(self.pair.left[rows], self.pair.right[rows], weights)

    # ---- what a decoder is learnt from, and judged by ------------------------------------------

    def data(self) -> DecoderData:
        """All the rows."""
        return DecoderData(
            host(self.codes()),
            self.labels,
            self._weights,
            _dense(self.result.decoder, self.pair),
            self._when_asked(self.scores),
            unknown=self.unknown,
        )

    def _when_asked(self, scores: Callable[[], OutOfFold]) -> Columns:
        """Scores by models that are fitted when they are first asked for."""

        @cache
        def made() -> OutOfFold:
            return scores().in_single_precision() if self._single else scores()

        return lambda labels: host(made().columns(labels))

    def held_out_folds(self, count: int | None = None) -> Iterator[HeldOutFold]:
        """Fold after fold in the part of new rows; ``count`` of them, or all."""
        for fold in self.numbers[:count] if len(self.numbers) > 1 else ():
            yield self._held_out_fold(fold)

    def _held_out_fold(self, fold: int) -> HeldOutFold:
        held, rest = np.flatnonzero(self.folds == fold), np.flatnonzero(self.folds != fold)
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
        elif self._halves and 0 < self._second[held].sum() < held.size:
            second = self._second[held]
            scales, held = held[~second], held[second]
            part = ((slice(None), new_codes[~second], model.decoder, model.offset),)
            scores = self._when_asked(lambda: OutOfFold(scales.size, part))
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
        new_unknown = None if self.unknown is None else self.unknown[held]
        return HeldOutFold(train, held, new_codes, right[held], weights[held], new_unknown)

    def _scores_without(self, fold: int, rest: Folds) -> OutOfFold:
        """Scores of the rows of the other folds, by models that have not met this one either."""
        folds = self.folds[rest]
        others = [other for other in self.numbers if other != fold]
        if len(others) == 1:
            model = self._model(fold)
            codes = np.tile(model.mean_code, (rest.size, 1))
            return OutOfFold(rest.size, ((slice(None), codes, model.decoder, model.offset),))
        parts = []
        for other in others:
            model = self._model(fold, other)
            parts.append((folds == other, model.predicted[other], model.decoder, model.offset))
        return OutOfFold(rest.size, tuple(parts))

    @property
    def _weights(self) -> Array:
        return np.ones(self.folds.size) if self.pair.weights is None else host(self.pair.weights)


def _completed(part: RowwisePair, labels: Any, unknown: Any, completion: Any) -> RowwisePair:
    """A part of the rows with unknown labels completed from these rows alone."""
    return with_right(part, completion.fill(with_right(part, labels), unknown))


def _dense(decoder: Any, pair: Pair) -> Array:
    """A decoder as a matrix; labels that are codes are their own."""
    return np.eye(pair.n_right) if decoder is None else host(decoder)


def _columns_of(matrix: Array, columns: slice | Folds) -> Array:
    return matrix[:, columns]


def leave_one_out(
    pair: RowwisePair,
    codes: Codes,
    V: Array,
    member: Folds,
    learner: RidgeLearner,
    scaling: Array | None = None,
) -> Array | None:
    """The closed form, for a ridge on all the features; None where that would be 0 / 0.

    ``member`` (N,) numbers the distinct rows. Equal ones count as one row of their mean code and of
    all their weight, and so of the sum of their leverages. The features of a row that is left out
    are multiplied by its ``scaling`` (N,).
    """
    n, alpha, bias = len(V), learner.alpha, learner.bias
    V = host(V)
    w = np.ones(n) if pair.weights is None else host(pair.weights)
    weight = np.bincount(member, w)[:, None]
    rest = 1.0 - np.bincount(member, host(RowsRidge(pair).leverages(alpha, bias)))[:, None]
    if rest.min() < SMALL_REST:
        return None
    if bias == "target":  # no intercept, but a mean of the codes that changes with the row
        V = np.hstack([V, np.ones((n, 1))])
        codes = pair.codes_of(V)
    sums = scipy.sparse.csr_array((w, (member, np.arange(n))), shape=(len(weight), n)) @ V
    own = (sums / weight)[member]
    fitted = host(fitted_codes(pair, codes, alpha, "none" if bias == "target" else bias))
    left_out = own + (fitted - own) / rest[member]
    intercept: Array | None = None
    if bias == "target":
        # What predicts V less the others' mean predicts V, less that mean times what it makes of
        # ones.
        intercept = ((sums.sum(axis=0) - sums) / (weight.sum() - weight))[member, :-1]
        left_out = left_out[:, :-1] + (1.0 - left_out[:, -1:]) * intercept
    elif scaling is not None:
        intercept = _intercepts_without(pair, V, member, learner, left_out)
    if scaling is None:
        return left_out
    if intercept is None:
        return None
    return intercept + scaling[:, None] * (left_out - intercept)


def _intercepts_without(
    pair: RowwisePair, V: Array, member: Folds, learner: RidgeLearner, left_out: Array
) -> Array | None:
    """Return (N, k) the intercepts of the ridges without each row and its copies, or None.

    The model without some rows is that of all rows whose targets there are its own predictions, and
    the intercept is linear in the targets: with e = 1 - H 1, where H is the hat matrix of the ridge
    without an intercept, it is e'WV / (e'W1 + penalty of the intercept).
    """
    n, alpha = len(V), learner.alpha
    if learner.bias == "none":
        return np.zeros(V.shape[1])
    ones = np.ones((n, 1))
    left_over = 1.0 - host(fitted_codes(pair, pair.codes_of(ones), alpha, "none"))[:, 0]
    share = left_over if pair.weights is None else left_over * host(pair.weights)
    total = share.sum() + (alpha if learner.bias == "penalised" else 0.0)
    if total < SMALL_REST * n:
        return None
    share = share / total
    own = scipy.sparse.csr_array((share, (member, np.arange(n))))
    return share @ V + (own.sum(axis=1)[:, None])[member] * left_out - (own @ V)[member]


def held_out_sums(
    folds: Sequence[Moments], result: Embedded, embedding: Embedding, learner: RidgeLearner
) -> Iterator[tuple[CodeSums, Array, CodeSums]]:
    """Held-out folds for the ridge decoder where only the moments of each fold are known.

    What it is learnt from, the linear decoder of the same rows, and the sums of the new rows.
    """
    d = 0 if result.projection is None else result.projection.shape[1]
    for fold, others in zip(folds, without_each(folds), strict=True):
        rest = [part for part in folds if part is not fold]
        pair = MomentsPair(others)
        with quiet():
            own = embedding.within(pair).solve(pair)
        new = _mapped(fold, pair, own.projection, own.codes, learner)
        seen = honest_code_moments(rest, own, embedding, d, pair.mean_left, learner)
        W = np.eye(pair.n_right) if own.decoder is None else own.decoder
        yield CodeSums.of_moments(seen), W, CodeSums.of_moments(new)


def honest_code_moments(
    folds: Sequence[Moments],
    result: Embedded,
    embedding: Embedding,
    d: int,
    mean: Array,
    learner: RidgeLearner,
) -> Moments:
    """Moments of cross-fitted codes and labels, from the moments of each fold.

    P and ridge are functions of the other folds' moments, and codes predicted by them are linear in
    the rows. ``mean`` is that of all the features, about which the codes were found.
    """
    if len(folds) == 1:  # nothing is known of others
        whole = MomentsPair(folds[0]).codes_like(result.codes, mean)
        nothing = np.zeros((folds[0].n_left, whole.size))
        return folds[0].mapped(nothing, whole.total / folds[0].count)
    predicted = []
    for fold, others in zip(folds, without_each(folds), strict=True):
        part = MomentsPair(others)
        codes = part.codes_like(result.codes, mean)
        P = embedding.project(part, codes, d)
        predicted.append(_mapped(fold, part, P, codes, learner))
    return sum(predicted[1:], predicted[0])


def _mapped(
    fold: Moments, part: MomentsPair, P: Array | None, codes: Codes, learner: RidgeLearner
) -> Moments:
    """The moments of a fold after the learner of others has predicted its codes."""
    learned = learner.fit(part, P, codes)
    B = learned.coefficients
    return fold.mapped(B if P is None else P @ B, learned.intercept)


def row_groups(X: Any) -> NDArray[np.uint64]:
    """A number for each row that depends on its content alone: equal rows share it.

    A hash of columns and values of what is not zero, some rows at a time.
    """
    if isinstance(X, DeviceArray):
        return _digests(compressed(X))
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    elif scipy.sparse.issparse(X):
        X = X.tocsr()  # the caller's own where it is one already: it is sliced and left alone
    parts = []
    for rows in row_blocks(*X.shape):
        block = scipy.sparse.csr_array(X[rows], dtype=np.float64, copy=True)
        block.sum_duplicates()
        block.eliminate_zeros()
        parts.append(_digests(block))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


def groups_begun(X: DeviceArray) -> Callable[[], NDArray[np.uint64]]:
    """:func:`row_groups` of rows on a device, begun at once; what is returned waits for the end.

    The host hashes while the device decomposes, which takes it about as long.
    """
    block, pool = compressed(X), ThreadPoolExecutor(1)
    found = pool.submit(_digests, block)
    pool.shutdown(wait=False)
    return found.result


def _digests(block: Any) -> NDArray[np.uint64]:
    """A hash of columns and values of every row of a CSR matrix."""
    pointers = block.indptr.astype(np.int64)
    counts = np.diff(pointers)
    # The columns of a row and then its values, row after row, so that one call hashes both.
    places = np.arange(block.indices.size) + np.repeat(pointers[:-1], counts)
    both = np.empty(2 * block.indices.size, dtype=np.int64)
    both[places] = block.indices
    both[places + np.repeat(counts, counts)] = block.data.view(np.int64)
    view, blake = memoryview(both.tobytes()), hashlib.blake2b
    edges = pairwise((16 * pointers).tolist())
    found = b"".join([blake(view[start:stop], digest_size=8).digest() for start, stop in edges])
    return np.frombuffer(found, dtype="<u8").astype(np.uint64)
