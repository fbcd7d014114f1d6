"""What a fit of a classifier computes, as values: nothing here is kept by the classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._completing import completed
from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._inputs import check_folds, check_training
from compactlearn.compact._noisy_labels import correction_of, refuse_corrected
from compactlearn.compact._penalty import resolved_penalty
from compactlearn.compact._preparation import Preparation, RowMap, Training
from compactlearn.compact._running_sums import RunningSums, refuse_to_go_on, sum_of_rows
from compactlearn.core._chunked import is_dask
from compactlearn.core._devices import library_of, place_of, unwrap, wrap
from compactlearn.core._lazy import load
from compactlearn.core._unknown_labels import refuse_on_dask
from compactlearn.crossfit._decoder_fitter import DecoderFitter, FittedDecoder
from compactlearn.crossfit._learner import CodeRidge, RidgeLearner, learner_of
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._base import Embedded, Embedding, refuse_sums
from compactlearn.embeddings._cmll import CMLL
from compactlearn.linalg._build import require_room_for_moments
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._row_source import RowSource

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that a fit found; a classifier keeps it by ``install``."""

    parts: FittedModel
    embedding: Embedding
    training: Training
    decided: FittedDecoder  # its arrays where the embedding's are
    sums: RunningSums

    @classmethod
    def of(
        cls,
        labels: LabelSpace,
        training: Training,
        embedding: Embedding,
        regressor: Any,
        decided: FittedDecoder,
        *,
        back: float | Array = 1.0,
    ) -> Fitted:
        """Put a fitted embedding, learner and decoder together."""
        decoding, threshold = decided.decoding, decided.threshold
        assert threshold is not None
        if library_of(embedding.offset_) is not None:
            like = wrap(embedding.offset_)
            embedding.place_ = place_of(like)
            if decoding is not None:
                moved = (decoding.coefficients, decoding.intercept)
                W, w = (unwrap(like.beside(array)) for array in moved)
                decoding = replace(decoding, coefficients=W, intercept=w)
            if isinstance(threshold, np.ndarray):
                threshold = unwrap(like.beside(threshold))
        parts = FittedModel(
            training.row_map,
            embedding.n_features_in_,
            embedding.projection_,
            regressor,
            back,
            embedding.decoder_ if decoding is None else decoding.coefficients,
            embedding.offset_ if decoding is None else decoding.intercept,
            threshold,
            labels,
        )
        decided = replace(decided, decoding=decoding, threshold=threshold)
        return cls(parts, embedding, training, decided, RunningSums(training.moments))


def own_embedding(given: Any, random_state: Any) -> Embedding:
    """Return the embedding that a classifier of this parameter fits, a clone of it."""
    if given is None:
        embedding: Embedding = CMLL()
    elif isinstance(given, Embedding):
        embedding = clone(given)
    else:
        remedy = "pass CMLL(), PLST() or another, and other transformers as feature_map."
        if isinstance(given, type):
            remedy = f"pass an instance, for example {given.__name__}()."
        elif isinstance(given, str):
            remedy = "pass an instance, or get the whole classifier by compactlearn.method."
        raise ValueError(
            f"embedding must be None or an embedding of this package, and is {given!r}; {remedy}"
        )
    takes_seed = embedding.get_params().get("random_state", "") is None
    if takes_seed and random_state is not None:
        embedding.set_params(random_state=random_state)
    return embedding


def fit_rows(
    classifier: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    groups: Any = None,
    sep: str | None = None,
    unknown: Any = None,
    units: Any = None,
) -> Fitted:
    """Fit to rows in memory, or to those of Dask collections."""
    embedding = classifier.make_embedding()
    if is_dask(X):
        owner = f"{type(classifier).__name__}.fit"
        refuse_on_dask(unknown, owner)
        source_of = load("compactlearn.scale.dask._source").source_of
        source = source_of(classifier, X, y, sample_weight, groups=groups, sep=sep, owner=owner)
        return fit_summed(classifier, source, source.labels)
    data = check_training(
        classifier, X, y, sample_weight, groups, sep=sep, unknown=unknown, partial=True
    )
    labels = LabelSpace.of(data.targets)
    threshold = labels.given_threshold(classifier.threshold, classifier.decoder)
    correction = correction_of(classifier, data)
    Y = data.targets.matrix
    if correction is not None:
        Y = correction.corrected(Y, data.targets.unknown)
    training = Preparation.of(classifier).fit(embedding, data.X, Y, data.weights, data.groups)
    training = replace(training, correction=correction, units=units)
    if data.targets.unknown is not None:
        asked = classifier.alpha, classifier.bias, classifier.regressor
        training = completed(training, embedding, data.targets.unknown, *asked)
    return _learn(classifier, embedding, training, labels, threshold)


def fit_summed(classifier: Any, source: RowSource, labels: LabelSpace) -> Fitted:
    """Fit to rows of which only sums over blocks can be had."""
    refuse_corrected(classifier, "A fit of blocks or of Dask collections")
    embedding = classifier.make_embedding()
    threshold = labels.given_threshold(classifier.threshold, classifier.decoder)
    found = load("compactlearn.scale._fitting").prepare(classifier, embedding, source)
    training = Training(
        found.pair,
        RowMap(scale=found.scale),
        moments=found.moments,
        held=found.held,
        n_passes=found.n_passes,
    )
    return _learn(classifier, embedding, training, labels, threshold)


def fit_more(
    classifier: Any,
    before: RunningSums | None,
    X: Any,
    y: Any,
    classes: Any,
    sample_weight: Any,
    sep: str | None,
) -> Fitted:
    """Fit to rows and those before, of which the sums are known; None before the first fit."""
    embedding = classifier.make_embedding()
    refuse_sums(embedding)
    if before is not None and before.moments is None:
        refuse_to_go_on(classifier.embedding_)
    labels, moments = sum_of_rows(classifier, X, y, classes, sample_weight, sep)
    if before is not None and before.moments is not None:
        labels, moments = classifier.label_space_, before.moments + moments
    threshold = labels.given_threshold(classifier.threshold, classifier.decoder)
    tuned = isinstance(classifier.threshold, str) and labels.kind == "multilabel"
    if tuned and before is not None:
        threshold = classifier.threshold_  # by the fit before, on rows that are gone
    training = Preparation.of(classifier).from_moments(moments)
    fitted = _learn(classifier, embedding, training, labels, threshold)
    return replace(fitted, sums=RunningSums(moments, saved=True))


def fit_sums(classifier: Any, given: Moments | Sequence[Moments]) -> Fitted:
    """Fit to moments of all rows, or of each fold."""
    embedding = classifier.make_embedding()
    refuse_sums(embedding)
    folds, moments = check_folds(given)
    if classifier.decoder == "learned" and len(folds) < 2:
        raise ValueError(
            "decoder='learned' is fitted to codes of rows that the learner had not seen, "
            "so fit_moments needs the moments of two folds or more, and was given those "
            "of all rows together; pass a list of moments, one for each fold."
        )
    require_room_for_moments(moments.n_left, moments.n_right)
    vars(classifier).pop("feature_names_in_", None)
    classifier.n_features_in_ = moments.n_left
    labels = LabelSpace.numbered(moments.n_right)
    threshold = labels.given_threshold(classifier.threshold, classifier.decoder)
    training = Preparation.of(classifier).from_moments(moments, folds)
    return _learn(classifier, embedding, training, labels, threshold)


def _learn(
    classifier: Any,
    embedding: Embedding,
    training: Training,
    labels: LabelSpace,
    threshold: float | Array,
) -> Fitted:
    """Fit embedding, learner, decoder and threshold."""
    alpha = resolved_penalty(classifier.alpha, training.pair)
    embedding = embedding.sharing(alpha)
    asked = learner_of(classifier, alpha)
    fitter = DecoderFitter(
        classifier.decoder,
        classifier.threshold,
        labels.kind,
        asked,
        type(classifier).__name__,
        classifier.verbose,
    )
    hashes = fitter.begin(training)
    pair, result = training.pair, embedding.solve(training.pair)
    learner = asked.for_codes(result.codes)
    if isinstance(learner, RidgeLearner):
        learned, back = learner.fit(pair, result.projection, result.codes), 1.0
        regressor: Any = CodeRidge.of(learned, learner.alpha)
    else:
        pair, P = training.with_rows(), result.projection
        U = training.features if P is None else pair.projected_rows(P)
        regressor, back = learner.fit(pair, U, result.codes, result.decoder)
        del U
    keep_embedding(classifier, labels, embedding, pair, result)
    if classifier.decoder == "linear":  # scores are all that will be asked of refits
        result = replace(result, codes=result.codes.without_products())
    decided = fitter.learn(training, result, embedding, hashes)
    if decided.threshold is None:
        decided = replace(decided, threshold=threshold)
    return Fitted.of(labels, training, embedding, regressor, decided, back=back)


def keep_embedding(
    classifier: Any, labels: LabelSpace, embedding: Embedding, pair: Pair, result: Embedded
) -> None:
    """Make an embedding the fitted one of a classifier that knows its features."""
    if result.projection is not None:
        result = replace(result, projection=pair.left.expressed(result.projection))
    embedding.adopt(result, classes=labels.vector_classes, names=labels.names)
    embedding.n_features_in_ = pair.n_left
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None and classifier.feature_map is None:
        embedding.feature_names_in_ = names
