"""Outputs of a graph: scores, probabilities, labels, the best labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compactlearn.core._params import Integer
from compactlearn.io.onnx._graph import Graph
from compactlearn.io.onnx._scores import Scored

Outputs = dict[str, tuple[Any, Sequence[Any]]]  # types and shapes by name

ROWS = "rows"  # how many rows there are is not fixed


def write_outputs(graph: Graph, scored: Scored, topk: int | None) -> Outputs:
    """Name the outputs; their types and shapes."""
    labels, scores = scored.labels, scored.scores
    n_labels, dtype = labels.n_labels, graph.dtype
    outputs: Outputs = {}

    def output(name: str, value: str, dtype: Any, *shape: Any) -> None:
        outputs[graph.named(value, name)] = (dtype, (ROWS, *shape))

    if labels.kind == "binary":
        output("scores", _column(graph, scores), dtype)
    else:
        output("scores", scores, dtype, n_labels)
    probabilities = None
    if scored.boundary is not None:
        probabilities = _probabilities(graph, scored)
        width = 2 if labels.kind == "binary" else n_labels
        output("probabilities", probabilities, dtype, width)
    if labels.kind == "multilabel":
        output("labels", _label_sets(graph, scored, probabilities), np.int64, n_labels)
    else:
        classes = _plain_classes(labels.classes)
        output("labels", _classes(graph, scored, classes), classes.dtype)
    if topk is not None:
        _check_topk(scored, topk)
        best, places = _best(graph, scores, topk)
        output("topk_labels", places, np.int64, topk)
        output("topk_scores", best, dtype, topk)
    return outputs


def _probabilities(graph: Graph, scored: Scored) -> str:
    log_odds = scored.scores
    if scored.boundary:
        log_odds = graph.add("Add", log_odds, graph.numbers(scored.boundary))
    p = graph.add("Sigmoid", log_odds)
    if scored.labels.kind == "binary":
        other = graph.add("Sigmoid", graph.add("Neg", log_odds))
        return graph.add("Concat", other, p, axis=1)
    if scored.labels.kind == "multiclass":
        p = graph.clipped(p, np.finfo(graph.dtype).tiny, None)
        return graph.add("Div", p, graph.row_sums(p))
    return p


def _label_sets(graph: Graph, scored: Scored, probabilities: str | None) -> str:
    """Return (N, M) of 0 and 1."""
    values = scored.scores
    if scored.by_probability and probabilities is not None:
        values = probabilities
    if scored.best is not None:
        return _marked(graph, values, scored.best)
    above = graph.add("Greater", values, graph.numbers(scored.threshold))
    return graph.cast(above, np.int64)


def _marked(graph: Graph, values: str, k: int) -> str:
    """1 where one of the k best labels is, else 0."""
    places = _best(graph, values, k)[1]
    zeros = graph.add("Mul", graph.cast(values, np.int64), graph.constant(np.array(0)))
    ones = graph.add("Pow", places, graph.constant(np.array(0)))
    return graph.add("ScatterElements", zeros, places, ones, axis=1)


def _best(graph: Graph, values: str, k: int) -> tuple[str, str]:
    """Return the k largest of each row and their places; of equals the first."""
    best, places = graph.add_several(
        "TopK", values, graph.constant(np.array([k])), outputs=2, axis=1, largest=1, sorted=1
    )
    return best, places


def _classes(graph: Graph, scored: Scored, classes: Any) -> str:
    """Return the (N,) classes of rows."""
    if scored.labels.kind == "binary":
        above = graph.add("Greater", _column(graph, scored.scores), graph.numbers(0.0))
        places = graph.cast(above, np.int64)
    else:
        places = graph.add("ArgMax", scored.scores, axis=1, keepdims=0)
    return graph.add("Gather", graph.constant(classes), places, axis=0)


def _plain_classes(classes: Any) -> Any:
    """Classes in a type that ONNX has."""
    kind = classes.dtype.kind
    if kind in "iu":
        return classes.astype(np.int64)
    if kind in "bf":
        return classes.astype(np.float64) if kind == "f" else classes
    if all(isinstance(name, str) for name in classes.tolist()):
        return classes.astype(object)
    raise ValueError(
        f"to_onnx writes classes that are integers, numbers or strings, and these are "
        f"{classes.tolist()!r:.80}; fit with such classes, for example their names."
    )


def _column(graph: Graph, scores: str) -> str:
    return graph.add("Squeeze", scores, graph.constant(np.array([1])))


def _check_topk(scored: Scored, topk: int) -> None:
    if scored.labels.kind == "binary":
        raise ValueError("topk ranks labels, and two classes have a single score; leave topk out.")
    if not Integer(1, scored.labels.n_labels).accepts(topk):
        raise ValueError(
            f"topk must be between 1 and the number of labels ({scored.labels.n_labels}), and is "
            f"{topk!r}; pass such an integer, or None."
        )
