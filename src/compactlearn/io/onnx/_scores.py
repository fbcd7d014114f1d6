"""Fitted classifiers, written as nodes from rows to scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from compactlearn.auto._blend import LARGEST
from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.auto._forest import LabelForest
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._label_output import RanksLabels
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.compact._threshold_tuner import ThresholdTuner
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.io.onnx._graph import Graph
from compactlearn.io.onnx._rows import write_foreign, write_kernel_products, write_rows, write_steps
from compactlearn.shortlist._classifier import ShortlistClassifier


@dataclass(frozen=True)
class Scored:
    """The scores of a classifier, and how labels and probabilities are read off them."""

    scores: str  # (N, M); with one column for two classes, whose boundary is 0
    labels: LabelSpace
    threshold: Any  # in the units of the scores
    boundary: float | None = None  # scores plus this are log-odds; None: they are not
    best: int | None = None  # this many best labels are predicted, whatever the threshold
    by_probability: bool = False  # the threshold is one of probabilities


def write_scores(graph: Graph, model: Any, x: str, n_columns: int | None) -> Scored:
    """Write the scores that a fitted classifier gives rows."""
    if isinstance(model, Pipeline):
        x, n_columns = write_steps(graph, model[:-1], x, n_columns)
        return write_scores(graph, model[-1], x, n_columns)
    for kind, write in _WRITERS.items():
        if isinstance(model, kind):
            check_is_fitted(model)
            return write(graph, model, x)
    if hasattr(model, "best_estimator_"):  # a search, ours or scikit-learn's
        return write_scores(graph, model.best_estimator_, x, n_columns)
    if hasattr(model, "fit"):
        check_is_fitted(model)
    raise ValueError(
        f"to_onnx writes the classifiers of this package, alone, in a Pipeline or in a search, and "
        f"was given {type(model).__name__}; pass one of these (for others there is "
        "skl2onnx.to_onnx)."
    )


def _write_compact(graph: Graph, classifier: CompactClassifier, x: str) -> Scored:
    scores = _write_fitted(graph, classifier.parts_, x, classifier.n_features_in_)
    return _scored(classifier, scores)


def _scored(classifier: RanksLabels, scores: str) -> Scored:
    has_log_odds = hasattr(classifier, "predict_proba")
    boundary = classifier.boundary_ if has_log_odds else None
    return Scored(scores, classifier.label_space_, classifier.threshold_, boundary)


def _write_fitted(graph: Graph, model: FittedModel, x: str, n_columns: int) -> str:
    """Rows are mapped and scaled, projected, turned into codes and decoded."""
    row_map, linear = model.row_map, model.linear
    kernel_map, scale = row_map.feature_map, row_map.scale
    if linear is not None and hasattr(kernel_map, "landmarks_"):
        first, *others = linear.factors
        if scale is not None:
            first = first / scale[:, None]
        if not row_map.as_kernel:
            first = kernel_map.coefficients_ @ first
        x = write_kernel_products(graph, kernel_map, x, first)
        return graph.affine(x, others, linear.intercept)
    if row_map.as_kernel:
        x = write_kernel_products(graph, kernel_map, x, np.eye(model.n_columns))
    else:
        x = write_rows(graph, kernel_map, x, n_columns)
    if scale is not None:
        x = graph.scaled(x, 1.0 / scale)
    if linear is not None:
        return graph.affine(x, linear.factors, linear.intercept)
    width = model.n_columns
    if model.projection is not None:
        x, width = (
            graph.add("MatMul", x, graph.numbers(model.projection)),
            model.projection.shape[1],
        )
    n_codes = model.decoder.shape[0]
    answers = write_foreign(graph, model.regressor, x, width)
    answers = graph.add("Reshape", answers, graph.constant(np.array([-1, n_codes])))
    back = model.back if isinstance(model.back, np.ndarray) else model.back * np.eye(n_codes)
    decoder = back @ model.decoder  # dense, whatever the decoder is
    return graph.affine(answers, [decoder], model.offset - model.boundary)


def _write_auto(graph: Graph, classifier: AutoCompactClassifier, x: str) -> Scored:
    """Write the weighted sum of the members' log-odds."""
    blend, n_columns = classifier.blend_, classifier.n_features_in_
    total = None
    for member in blend.members:
        scores = _write_member(graph, member.model, x, n_columns)
        read = graph.times(scores, member.reading.slope)
        read = graph.add("Add", read, graph.numbers(member.reading.intercept))
        read = graph.clipped(read, -LARGEST, LARGEST)
        part = graph.times(read, member.weight)
        total = part if total is None else graph.add("Add", total, part)
    assert total is not None
    scores = graph.add("Add", total, graph.numbers(blend.intercept))
    scores = _with_base(graph, classifier.base_scores_, x, scores)
    return _scored(classifier, graph.add("Sub", scores, graph.numbers(classifier.boundary_)))


def _with_base(graph: Graph, base: NDArray[np.float64] | None, x: str, scores: str) -> str:
    """Return the scores, for rows of zeros the model's base scores if it has any."""
    if base is None:
        return scores
    empty = graph.add("Equal", graph.row_sums(graph.add("Abs", x)), graph.numbers(0.0))
    return graph.add("Where", empty, graph.numbers(base), scores)


def _write_member(graph: Graph, model: Any, x: str, n_columns: int | None) -> str:
    if isinstance(model, Pipeline):
        x, n_columns = write_steps(graph, model[:-1], x, n_columns)
        return _write_member(graph, model[-1], x, n_columns)
    if isinstance(model, LabelForest):
        return _write_forest(graph, model, x, n_columns)
    if isinstance(model, KeptFeatures):
        return _write_compact(graph, model.classifier_, _some(graph, x, model.features_)).scores
    if isinstance(model, KeptWeights):
        return _write_kept_weights(graph, model, x)
    return write_scores(graph, model, x, n_columns).scores


def _write_kept_weights(graph: Graph, model: KeptWeights, x: str) -> str:
    """Multiply the features that any label has a weight of with the dense matrix of weights."""
    weights = model.weights_.tocsc()
    used = np.flatnonzero(np.diff(weights.indptr))
    used = used if used.size else np.arange(1)  # no runtime is asked for a product of none
    return graph.affine(_some(graph, x, used), [weights[:, used].T], model.intercept_)


def _some(graph: Graph, x: str, columns: Any) -> str:
    return graph.add("Gather", x, graph.constant(columns.astype(np.int64)), axis=1)


def _write_forest(graph: Graph, forest: LabelForest, x: str, n_columns: int | None) -> str:
    """Log-odds of the mean share of all trees, where the label's frequency counts as one more."""
    frequency, n = forest.frequency_, forest.n_trees
    shares = write_foreign(graph, forest.forest_, x, n_columns)
    shares = graph.add("Reshape", shares, graph.constant(np.array([-1, frequency.size])))
    p = graph.times(shares, n / (n + 1.0))
    p = graph.add("Add", p, graph.numbers(frequency / (n + 1.0)))
    q = graph.add("Sub", graph.numbers(1.0), p)
    return graph.add("Sub", graph.add("Log", p), graph.add("Log", q))


def _write_tuner(graph: Graph, tuner: ThresholdTuner, x: str) -> Scored:
    n_columns = getattr(tuner, "n_features_in_", None)
    inner = write_scores(graph, tuner.estimator_, x, n_columns)
    return Scored(
        inner.scores,
        inner.labels,
        tuner.threshold_,
        inner.boundary,
        best=getattr(tuner, "k_", None),
        by_probability=tuner.response_ == "predict_proba",
    )


def _refuse_shortlist(graph: Graph, classifier: ShortlistClassifier, x: str) -> Scored:
    raise ValueError(
        "to_onnx cannot write ShortlistClassifier: the neighbours of a row are found by products "
        "of sparse rows with all training rows, and ONNX has no operators for sparse rows. Export "
        "its compact part, to_onnx(model.retriever_), or serve the model by "
        "compactlearn.load_model."
    )


_WRITERS: dict[type, Callable[[Graph, Any, str], Scored]] = {
    CompactClassifier: _write_compact,
    ThresholdTuner: _write_tuner,
    AutoCompactClassifier: _write_auto,
    ShortlistClassifier: _refuse_shortlist,
}
