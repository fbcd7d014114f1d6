"""A graph of labels, checked, and what a decoder that is smooth over it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.linalg.smoothing import Smoothing

# Entries and their mirror images may differ by rounding, relative to the largest.
_SYMMETRIC = 1e-12


def smoothing_of(graph: Any, weight: float, n_labels: int) -> Smoothing | None:
    """The smoothing of a decoder by a graph of its labels; None where nothing is smoothed."""
    if graph is None:
        return None
    checked = checked_graph(graph, n_labels)
    return Smoothing(checked, float(weight)) if weight > 0 and checked.nnz else None


def checked_graph(graph: Any, n_labels: int) -> Any:
    """A graph as a CSR matrix of weights, or a refusal that says what it has to be."""
    found = scipy.sparse.csr_array(graph, dtype=np.float64)
    if found.shape != (n_labels, n_labels):
        raise ValueError(
            f"label_graph must have a row and a column for each of the {n_labels} labels, and has "
            f"the shape {found.shape}; pass a sparse matrix of shape ({n_labels}, {n_labels})."
        )
    if not np.isfinite(found.data).all() or (found.data < 0).any():
        raise ValueError(
            "label_graph must have finite weights of 0 or more, and has others; replace them, or "
            "leave these edges out."
        )
    apart = abs(found - found.T)
    if apart.nnz and apart.max() > _SYMMETRIC * found.max():
        raise ValueError(
            "label_graph must be symmetric, as an edge joins two labels either way, and differs "
            f"from its transpose by up to {apart.max():g}; pass graph + graph.T."
        )
    return found
