"""Decoder and threshold from one sample of rows that a second model has not met.

Where rows come in blocks there are more than enough of them, and folds would mean as many passes or
matrices. So some rows are held out (:mod:`compactlearn.crossfit._held_out_rows`), a model is fitted
to the others, embedding included, and what it makes of the rows held out is out-of-fold in the
strict sense of :mod:`compactlearn.crossfit._cross_fit`: nothing that has met their labels
takes part in it. From these scores the threshold is tuned.

A decoder is learnt from codes: V of all rows stays, projection and learner are fitted to the other
rows and predict the codes of those held out. How strong its penalty should be is judged on the
model of the other rows alone: learnt from one half of the rows held out, it scores the other half,
and the halves change places for the threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._warn import quiet
from compactlearn.crossfit._held_out_rows import RUN
from compactlearn.crossfit._learner import RidgeLearner
from compactlearn.crossfit._scores import DecodedScores
from compactlearn.decoding._held_out import Columns, DecoderData, HeldOutFold
from compactlearn.decoding._learned import CodeDecoder
from compactlearn.embeddings._base import Embedded, Embedding
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._passes import PassesPair
from compactlearn.linalg._row_source import Rows

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Learn = Callable[[DecoderData, float], CodeDecoder]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The rows held out, as the pair of all the others knows them, and that pair."""

    others: MomentsPair | PassesPair
    rows: Rows


class HeldOutSample:
    """What the model of all other rows makes of the rows held out; models are made when needed.

    ``result`` is the outcome of the embedding on all rows, and ``mean`` their mean.
    """

    def __init__(
        self,
        held: HeldOut,
        result: Embedded,
        mean: Array,
        embedding: Embedding,
        learner: RidgeLearner,
    ) -> None:
        self.others, self.rows = held.others, held.rows
        self.result, self.mean = result, mean
        self.embedding, self.learner = embedding, learner
        w = self.rows.weights
        self.weights = np.ones(self.rows.n_rows) if w is None else w

    @cached_property
    def _own(self) -> tuple[Embedded, Array]:
        """The model of the other rows, and the codes that it predicts."""
        with quiet():  # what is to be said of the data is said of the model of all rows
            own = self.embedding.within(self.others).solve(self.others)
        return own, self._predicted(own.projection, own.codes, own.decoder)

    def _predicted(self, P: Array | None, codes: Codes, decoder: Array | None) -> Array:
        return self.learner.predictor(self.others, P, codes, decoder)(self.rows.X)

    def scores(self) -> DecodedScores:
        """Scores by the model of the other rows, its own linear decoder included."""
        return self._scores_of(np.arange(self.rows.n_rows))

    def _scores_of(self, places: Places) -> DecodedScores:
        own, codes = self._own
        decoder: Any = own.decoder
        if decoder is None:
            decoder = scipy.sparse.eye_array(own.offset.size, format="csc")
        return DecodedScores(places.size, ((slice(None), codes[places], decoder, own.offset),))

    # ---- decoders -----------------------------------------------------------------------------

    def data(self) -> DecoderData:
        """Return what the decoder is learnt from: out-of-fold codes in place of all rows' own."""
        codes = self.result.codes
        if codes.right is None and codes.right_weights is None:  # the labels are the codes
            predicted = self._own[1]
        else:
            like = self.others.codes_like(codes, self.mean)
            P, d = self.result.projection, 0
            if P is not None:
                d = P.shape[1]
            P = self.embedding.project(self.others, like, d)
            predicted = self._predicted(P, like, None)
        return DecoderData(
            predicted,
            self.rows.Y,
            self.weights,
            _dense(self.result.decoder, self.others.n_right),
            self.scores().columns,
        )

    @property
    def halves(self) -> tuple[Places, Places]:
        """Every other run of the rows held out, and the runs between."""
        runs = np.unique(self.rows.positions // RUN, return_inverse=True)[1]
        second = (runs if runs[-1] else np.arange(runs.size)) % 2 == 1
        return np.flatnonzero(~second), np.flatnonzero(second)

    def fold(self, first: Places, second: Places) -> HeldOutFold:
        """The second places in the part of new rows, for decoders that the first ones teach."""
        own, codes = self._own
        Y, w = self.rows.Y, self.weights
        scores: Columns = self._scores_of(first).columns
        decoder = _dense(own.decoder, self.others.n_right)
        train = DecoderData(codes[first], Y[first], w[first], decoder, scores)
        return HeldOutFold(train, second, codes[second], Y[second], w[second])

    def decoded(self, learn: Learn, strength: float) -> DecodedScores:
        """Scores of all rows held out by decoders that the other half has taught."""
        first, second = self.halves
        parts = []
        for train, new in ((first, second), (second, first)):
            part = self.fold(train, new)
            own = learn(part.train, strength)
            parts.append((new, part.codes, own.coefficients, own.intercept))
        return DecodedScores(self.rows.n_rows, tuple(parts))


def _dense(decoder: Any, n_labels: int) -> Array:
    return np.eye(n_labels) if decoder is None else decoder
