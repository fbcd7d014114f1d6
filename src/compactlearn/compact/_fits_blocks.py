"""A classifier that can be fitted from blocks of rows."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Self

from compactlearn.compact._noisy_labels import refuse_corrected
from compactlearn.compact._preparation import RowMap, Training
from compactlearn.core._lazy import load
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import unchanged_on_error
from compactlearn.crossfit._decoder_fitter import FittedDecoder
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._row_source import RowSource


class FitsBlocks(ABC):
    """What ``CompactClassifier`` offers for rows that come in blocks."""

    threshold: Any
    decoder: str

    @abstractmethod
    def make_embedding(self) -> Embedding:
        """The embedding that would be fitted, its parameters checked."""

    @abstractmethod
    def _learn(
        self, embedding: Embedding, training: Training, labels: LabelSpace, threshold: Any
    ) -> FittedDecoder:
        """Fit to what is known of the rows."""

    def fit_blocks(self, blocks: Any, *, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        """Fit rows that come in blocks, and that need never be in memory together.

        Sums of the blocks are all that a linear model needs, so that its scores are those of a
        ``fit`` on all rows. One pass is enough where a matrix of the order of features and labels
        fits in the memory; beyond 5000 of them CMLL goes through the blocks several times
        (``n_passes_``). A decoder or threshold that is learnt is learnt from some rows that are
        held out, see docs/guide/large-data.md.

        Parameters
        ----------
        blocks : iterable of tuples, or function that returns one
            Blocks ``(X, Y)`` or ``(X, Y, sample_weight)``: features, and labels as a matrix of 0
            and 1. Each is an array of its own, since the next ones are read while it is summed. An
            iterator will do where one pass is enough.
        checkpoint : path of a folder, optional
            Sums so far are kept there, every minute. A fit that was killed goes on from them when
            it is called again with the same data and parameters, with the same outcome to the bit.
            The folder is removed when the fit ends.
        """
        with unchanged_on_error(self), blas_threads():
            self.make_embedding()  # parameters are checked before anything is read
            source = load("compactlearn.scale._fit_local").local_source(self, blocks, checkpoint)
            self.fit_source(source)
            if source.checkpoint is not None:
                source.checkpoint.remove()
        return self

    def fit_source(self, source: RowSource) -> Self:
        """Fit rows of which only sums over blocks can be had: what ``fit_blocks`` does with blocks
        of this process, for those of a cluster.

        Parameters
        ----------
        source : RowSource
            See :mod:`compactlearn.linalg._row_source`.
        """
        with unchanged_on_error(self), blas_threads():
            labels = load("compactlearn.scale._fit_local").take_columns(self, source)
            self._fit_source(source, labels)
        return self

    def _fit_source(self, source: RowSource, labels: LabelSpace) -> FittedDecoder:
        refuse_corrected(self, "A fit of blocks or of Dask collections")
        embedding = self.make_embedding()
        threshold = labels.given_threshold(self.threshold, self.decoder)
        found = load("compactlearn.scale._fitting").prepare(self, embedding, source)
        training = Training(
            found.pair,
            RowMap(scale=found.scale),
            moments=found.moments,
            held=found.held,
            n_passes=found.n_passes,
        )
        return self._learn(embedding, training, labels, threshold)
