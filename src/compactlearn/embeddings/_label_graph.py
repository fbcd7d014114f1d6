"""A graph of labels, checked, and what a decoder that is smooth over it needs."""

from __future__ import annotations

from typing import Any

from compactlearn.embeddings._graphs import checked_graph
from compactlearn.linalg._smoothing import Smoothing


def smoothing_of(graph: Any, weight: float, n_labels: int) -> Smoothing | None:
    """The smoothing of a decoder by a graph of its labels; None where nothing is smoothed."""
    if graph is None:
        return None
    checked = checked_label_graph(graph, n_labels)
    return Smoothing(checked, float(weight)) if weight > 0 and checked.nnz else None


def checked_label_graph(graph: Any, n_labels: int) -> Any:
    """A graph of so many labels as a CSR matrix of weights, or a refusal."""
    remedy = f"pass a sparse matrix of shape ({n_labels}, {n_labels})"
    return checked_graph(graph, "label_graph", n_labels, "labels", remedy)
