"""Graphs that users give, of labels or of rows: checked, and made into a smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.linalg._smoothing import Smoothing

# Entries and their mirror images may differ by rounding, relative to the largest.
_SYMMETRIC = 1e-12


def checked_graph(graph: Any, name: str, count: int, nodes: str, remedy: str) -> Any:
    """A graph as a CSR matrix of weights, or a refusal that says what it has to be.

    ``name`` is the parameter's, and ``remedy`` what to do where there are not ``count`` nodes.
    """
    found = scipy.sparse.csr_array(graph, dtype=np.float64)
    if found.shape != (count, count):
        raise ValueError(
            f"{name} must have a row and a column for each of the {count} {nodes}, and has the "
            f"shape {found.shape}; {remedy}."
        )
    if not np.isfinite(found.data).all() or (found.data < 0).any():
        raise ValueError(
            f"{name} must have finite weights of 0 or more, and has others; replace them, or "
            "leave these edges out."
        )
    apart = abs(found - found.T)
    if apart.nnz and apart.max() > _SYMMETRIC * found.max():
        raise ValueError(
            f"{name} must be symmetric, as an edge joins two {nodes} either way, and differs "
            f"from its transpose by up to {apart.max():g}; pass graph + graph.T."
        )
    return found


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
