"""A graph of rows, looked for or given, and how rough codes are over it."""

from __future__ import annotations

from typing import Any

from compactlearn.core._devices import DeviceArray
from compactlearn.embeddings._base import Embedding
from compactlearn.embeddings._graphs import checked_graph
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._row_graphs import Roughness, affinities
from compactlearn.linalg._rowwise_pair import RowwisePair, nearest_rows


def refuse_sums(embedding: Embedding) -> None:
    """Refuse, before rows are read, a method that needs all of them where there will be sums."""
    if embedding.traits.needs_rows:
        raise ValueError(_needs_rows("sums over blocks of rows were to be made"))


def refuse_moments(solver: str) -> None:
    """Refuse a graph of the rows where the solver keeps none."""
    if solver == "moments":
        raise ValueError(
            "row_graph needs all rows at hand, and solver='moments' keeps sums of them alone; use "
            "solver='auto', 'dual', 'krylov' or 'randomized', or leave row_graph out."
        )


def _needs_rows(given: str) -> str:
    return (
        f"row_graph needs all rows at once, as it joins rows to each other, and {given}; use fit "
        "with all rows in memory, or set row_graph=None."
    )


def roughness_of(graph: Any, weight: float, n_neighbors: int, pair: Pair) -> Roughness | None:
    """How rough codes of a pair's rows are; None where nothing is smoothed.

    The weight is in units of ``||Y||^2``. Of a part of the rows a graph that was given has the
    edges within that part.
    """
    weight = float(weight) * pair.right_energy
    if graph is None or weight <= 0:
        return None
    rows = _rows(pair)
    if isinstance(graph, str):
        own = affinities(nearest_rows(rows, n_neighbors), "auto")
    else:
        own = _given(graph, rows)
    rough = Roughness.of(own, weight, rows.weights)
    return rough if rough.laplacian.nnz else None


def _rows(pair: Pair) -> RowwisePair:
    if not isinstance(pair, RowwisePair):
        raise ValueError(_needs_rows("sums over blocks of rows were given"))
    if isinstance(pair.left, DeviceArray) or isinstance(pair.mean_left, DeviceArray):
        raise ValueError(
            "row_graph works with NumPy arrays and SciPy's sparse matrices, and an array on a "
            "device was given; pass it as a NumPy array, or set row_graph=None."
        )
    return pair


def _given(graph: Any, rows: RowwisePair) -> Any:
    whole, places = rows.shape[0], rows.places
    if places is not None:  # the whole was checked before its parts
        whole = graph.shape[0]
    remedy = (
        "pass one of these rows (rows of weight 0 do not count), or row_graph='neighbors', which "
        "is made anew of the rows of each fit, as cross-validation needs it"
    )
    checked = checked_graph(graph, "row_graph", whole, "rows that are fitted", remedy)
    return checked if places is None else checked[places][:, places]
