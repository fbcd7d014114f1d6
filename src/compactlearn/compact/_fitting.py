"""Stages of a classifier's fit: checked rows, prepared rows, embedding and learner, decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._completing import completed
from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._inputs import check_training
from compactlearn.compact._noisy_labels import correction_of
from compactlearn.compact._penalty import resolved_penalty
from compactlearn.compact._preparation import RowMap, prepare, prepare_moments
from compactlearn.compact._sums import (
    RunningSums,
    check_moments,
    refuse_corrected,
    require_sums,
    sum_of_rows,
)
from compactlearn.core._chunked import is_dask
from compactlearn.core._devices import library_of, place_of, unwrap, wrap
from compactlearn.core._lazy import load
from compactlearn.core._unknown_labels import refuse_on_dask
from compactlearn.crossfit._decoder_fitter import DecoderFitter, FittedDecoder
from compactlearn.crossfit._learner import CodeRidge, RidgeLearner, learner_of
from compactlearn.crossfit._training_rows import TrainingRows
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._base import Embedding, refuse_sums
from compactlearn.embeddings._cmll import CMLL
from compactlearn.linalg._build import require_room_for_moments
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._row_source import RowSource

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Outcome of a fit, from which a classifier takes its attributes."""

    model: FittedModel
    embedding: Embedding
    training: TrainingRows
    decided: FittedDecoder
    sums: RunningSums


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
    training = prepare(classifier, embedding, data.X, Y, data.weights, data.groups)
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
    training = TrainingRows(
        found.pair,
        RowMap(scale=found.scale),
        moments=found.moments,
        held_out=found.held_out,
        n_passes=found.n_passes,
    )
    return _learn(classifier, embedding, training, labels, threshold)


def fit_more(
    classifier: Any,
    sums: RunningSums | None,
    X: Any,
    y: Any,
    classes: Any,
    sample_weight: Any,
    sep: str | None,
) -> Fitted:
    """Fit to rows and to those before, of which the sums are known; None before the first fit."""
    embedding = classifier.make_embedding()
    refuse_sums(embedding)
    before = None if sums is None else require_sums(sums, classifier.embedding_.solver_)
    labels, moments = sum_of_rows(classifier, X, y, classes, sample_weight, sep)
    if before is not None:
        labels, moments = classifier.label_space_, before + moments
    threshold = labels.given_threshold(classifier.threshold, classifier.decoder)
    tuned = isinstance(classifier.threshold, str) and labels.kind == "multilabel"
    if tuned and before is not None:
        threshold = classifier.threshold_  # by the fit before, on rows that are gone
    training = prepare_moments(classifier, moments)
    fitted = _learn(classifier, embedding, training, labels, threshold)
    return replace(fitted, sums=RunningSums(moments, saved=True))


def fit_sums(classifier: Any, moments: Moments) -> Fitted:
    """Fit to moments of all rows."""
    embedding = classifier.make_embedding()
    refuse_sums(embedding)
    check_moments(moments)
    require_room_for_moments(moments.n_left, moments.n_right)
    vars(classifier).pop("feature_names_in_", None)
    classifier.n_features_in_ = moments.n_left
    labels = LabelSpace.numbered(moments.n_right)
    threshold = labels.given_threshold(classifier.threshold, classifier.decoder)
    training = prepare_moments(classifier, moments)
    return _learn(classifier, embedding, training, labels, threshold)


def _learn(
    classifier: Any,
    embedding: Embedding,
    training: TrainingRows,
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
    pair, result = training.pair, embedding.solve(training.pair)
    learner, P, back = asked.for_codes(result.codes), result.projection, 1.0
    if isinstance(learner, RidgeLearner):
        regressor: Any = CodeRidge.of(learner.fit(pair, P, result.codes), learner.alpha)
    else:
        pair = training.with_rows()
        U = training.features if P is None else pair.projected_rows(P)
        regressor, back = learner.fit(pair, U, result.codes, result.decoder)
        del U
    kept = result if P is None else replace(result, projection=pair.left.expressed(P))
    embedding.adopt(kept)
    del kept  # its codes have products as tall as there are features
    embedding.n_features_in_ = pair.n_left
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None and classifier.feature_map is None:
        embedding.feature_names_in_ = names
    if classifier.decoder == "linear":  # scores are all that will be asked of refits
        result = replace(result, codes=result.codes.without_products())
    decided = fitter.learn(training, result, embedding)
    if decided.threshold is None:
        decided = replace(decided, threshold=threshold)
    decided = _placed(decided, embedding)
    assert decided.threshold is not None
    decoding = decided.decoding
    model = FittedModel(
        training.row_map,
        embedding.n_features_in_,
        embedding.projection_,
        regressor,
        back,
        embedding.decoder_ if decoding is None else decoding.coefficients,
        embedding.offset_ if decoding is None else decoding.intercept,
        decided.threshold,
        labels,
    )
    return Fitted(model, embedding, training, decided, RunningSums(training.moments))


def _placed(decided: FittedDecoder, embedding: Embedding) -> FittedDecoder:
    """Return decoder and threshold on the device of the embedding, which notes it."""
    if library_of(embedding.offset_) is None:
        return decided
    like = wrap(embedding.offset_)
    embedding.place_ = place_of(like)
    decoding, threshold = decided.decoding, decided.threshold
    if decoding is not None:
        moved = (decoding.coefficients, decoding.intercept)
        W, w = (unwrap(like.to_own_device(array)) for array in moved)
        decoding = replace(decoding, coefficients=W, intercept=w)
    if isinstance(threshold, np.ndarray):
        threshold = unwrap(like.to_own_device(threshold))
    return replace(decided, decoding=decoding, threshold=threshold)
