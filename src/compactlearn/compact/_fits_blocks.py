"""A classifier that can be fitted from blocks of rows."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Self

from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._fitting import Fitted, fit_summed
from compactlearn.compact._label_output import RanksLabels, describe
from compactlearn.compact._noisy_labels import rates_of
from compactlearn.compact._running_sums import RunningSums
from compactlearn.core._devices import unwrap
from compactlearn.core._lazy import load
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import unchanged_on_error
from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._row_source import RowSource


class FitsBlocks(RanksLabels, ABC):
    """What ``CompactClassifier`` keeps of a fit, and offers for rows that come in blocks."""

    decoder: str
    embedding_: Embedding
    regressor_: Any
    parts_: FittedModel
    _sums: RunningSums
    _decoder: str  # the one of the last fit: the parameter may have changed since

    @abstractmethod
    def make_embedding(self) -> Embedding:
        """The embedding that would be fitted, its parameters checked."""

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
            install(self, fit_summed(self, source, labels))
        return self


def install(classifier: FitsBlocks, fitted: Fitted) -> None:
    """Make a classifier the fitted one of what a fit found."""
    parts, embedding, training = fitted.parts, fitted.embedding, fitted.training
    describe(classifier, parts.labels)
    optional = {
        "feature_map_": parts.row_map.feature_map,
        "scale_": unwrap(parts.row_map.scale),
        "decoding_": fitted.decided.decoding,
        "n_passes_": training.n_passes,
        "label_noise_": rates_of(training.correction),
    }
    for name, value in optional.items():
        vars(classifier).pop(name, None)
        if value is not None:
            setattr(classifier, name, value)
    classifier.embedding_, classifier.regressor_ = embedding, parts.regressor
    classifier.threshold_, classifier.boundary_ = parts.labels.placed(parts.threshold)
    classifier.parts_, classifier._decoder = parts, classifier.decoder
    classifier._sums = fitted.sums


def gives_probabilities(classifier: FitsBlocks) -> bool:
    """Refuse probabilities of a decoder that has none."""
    fitted = hasattr(classifier, "embedding_")
    decoder = classifier._decoder if fitted else classifier.decoder
    if decoder != "logistic":
        again = " and fit again" if fitted else ""
        raise AttributeError(
            f"Probabilities need decoder='logistic', and it is {decoder!r}; set it{again}, or use "
            "decision_function."
        )
    return True
