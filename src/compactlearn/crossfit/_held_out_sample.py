"""Decoder and threshold from one sample of held-out rows.

Where rows come in blocks there are more than enough of them, and each fold would need a pass or a
matrix of its own. So some rows are held out (:mod:`compactlearn.crossfit._held_out_rows`), and a
second model is fitted to the others, embedding included. Its scores of the held-out rows are
out-of-fold in the strict sense of :mod:`compactlearn.crossfit._cross_fit`: nothing that has seen
their labels takes part in them. The threshold is tuned on these scores.

A decoder is learnt from codes: V of all rows stays, projection and learner are fitted to the other
rows and predict the codes of the held-out rows. Its penalty is selected with the model of the other
rows alone: a decoder learnt from one half of the held-out rows scores the other half. For the
threshold the halves swap roles.
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
from compactlearn.decoding._held_out import CodeDecoder, Columns, DecoderData, HeldOutFold
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
    """Held-out rows of a stream, and the pair of all other rows, in whose features they are."""

    others: MomentsPair | PassesPair
    rows: Rows


class HeldOutSample:
    """Scores and codes of the held-out rows by a model of all other rows, fitted on demand.

    ``result`` is the embedding of all rows, and ``mean`` their mean.
    """

    def __init__(
        self,
        held_out: HeldOut,
        result: Embedded,
        mean: Array,
        embedding: Embedding,
        learner: RidgeLearner,
    ) -> None:
        self.others, self.rows = held_out.others, held_out.rows
        self.result, self.mean = result, mean
        self.embedding, self.learner = embedding, learner
        w = self.rows.weights
        self.weights = np.ones(self.rows.n_rows) if w is None else w

    @cached_property
    def _own(self) -> tuple[Embedded, Array]:
        """The embedding of the other rows, and the codes that its learner predicts."""
        with quiet():  # the model of all rows has raised the warnings about the data
            own = self.embedding.within(self.others).solve(self.others)
        return own, self._predicted(own.projection, own.codes, own.decoder)

    def _predicted(self, P: Array | None, codes: Codes, decoder: Array | None) -> Array:
        return self.learner.predictor(self.others, P, codes, decoder)(self.rows.X)

    def scores(self) -> DecodedScores:
        """Return scores by the model of the other rows, its linear decoder included."""
        return self._scores_of(np.arange(self.rows.n_rows))

    def _scores_of(self, places: Places) -> DecodedScores:
        own, codes = self._own
        decoder: Any = own.decoder
        if decoder is None:
            decoder = scipy.sparse.eye_array(own.offset.size, format="csc")
        return DecodedScores(places.size, ((slice(None), codes[places], decoder, own.offset),))

    # ---- decoders -----------------------------------------------------------------------------

    def data(self) -> DecoderData:
        """Return the data that the decoder is learnt from, with out-of-fold codes."""
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
        """Every other run of the held-out rows, and the runs between."""
        runs = np.unique(self.rows.positions // RUN, return_inverse=True)[1]
        second = (runs if runs[-1] else np.arange(runs.size)) % 2 == 1
        return np.flatnonzero(~second), np.flatnonzero(second)

    def fold(self, first: Places, second: Places) -> HeldOutFold:
        """Return the rows ``second`` as held-out rows for decoders learnt from ``first``."""
        own, codes = self._own
        Y, w = self.rows.Y, self.weights
        scores: Columns = self._scores_of(first).columns
        decoder = _dense(own.decoder, self.others.n_right)
        train = DecoderData(codes[first], Y[first], w[first], decoder, scores)
        return HeldOutFold(train, second, codes[second], Y[second], w[second])

    def decoded(self, learn: Learn, penalty: float) -> DecodedScores:
        """Return scores of all held-out rows by decoders learnt from the other half."""
        first, second = self.halves
        parts = []
        for train, new in ((first, second), (second, first)):
            part = self.fold(train, new)
            own = learn(part.train, penalty)
            parts.append((new, part.codes, own.coefficients, own.intercept))
        return DecodedScores(self.rows.n_rows, tuple(parts))


def _dense(decoder: Any, n_labels: int) -> Array:
    return np.eye(n_labels) if decoder is None else decoder
