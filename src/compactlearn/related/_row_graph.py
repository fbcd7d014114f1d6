"""RowGraphCMLL: compact learning whose codes are smooth over a graph of the rows.

maximise  beta ||P'Xc'V||^2 + ||Y'V||^2 - row_graph_weight ||Y||^2 tr V'LV

with the constraints of CMLL and the normalised Laplacian L of the graph. For fixed P, and in the
closed form, V are leading eigenvectors of a matrix of order N, in which the sparse L is one more
operator. L is taken off as 2I - L, which is positive semi-definite, and the shift is undone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Integer, Nothing, Real, SquareMatrix
from compactlearn.embeddings._ascent import Problem
from compactlearn.embeddings._base import Embedded, Plan, Traits
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._graphs import checked_graph
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._eigen import krylov_pays, leading_eigenpairs, multiplied_out
from compactlearn.linalg._operators import ColumnScaled, Gram, Plain, Stacked, Sum
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rowwise_pair import (
    RowwisePair,
    code_rounding,
    codes_of_eigenvectors,
    smoothed_right,
)
from compactlearn.related._neighbours import Neighbours, RowProducts, affinities

Array = NDArray[np.float64]


class RowGraphCMLL(CMLL):
    """Compact multi-label learning with codes that are near each other for joined rows.

    Neighbours raised no score on five data sets (bench/accuracy/row_graph.py); plain
    :class:`~compactlearn.CMLL` is faster and takes rows in blocks. This method needs all rows at
    once, as NumPy arrays or SciPy's sparse matrices.

    Parameters
    ----------
    n_feature_components, n_label_components, beta, label_ridge, offset, solver, completion, \
max_iter, tol, random_state, label_graph, graph_weight
        As in :class:`~compactlearn.CMLL`, but for ``n_label_components=None`` and
        ``solver="moments"``.
    row_graph : "neighbors", sparse matrix of shape (n_samples, n_samples) or None, \
default="neighbors"
        Edges between rows whose codes should be near each other. "neighbors" joins every row to the
        nearest others by their features, with weights exp(-distance^2 / mean distance^2 of
        neighbours); it is made of the rows of each fit. A matrix has symmetric weights of 0 or more
        for the rows of one fit, so that it does not serve cross-validation; its diagonal does not
        count.
    row_graph_weight : float, default=0.001
        Weight of the roughness of codes over that graph, in units of ``||Y||^2``; 0 is as no graph.
    n_neighbors : int, default=5
        Two rows are neighbours where one is among so many nearest of the other; at most N - 1.

    Attributes
    ----------
    roughness_ : float, where the graph has edges that count
        ``tr V'LV`` of the codes; ``row_graph_weight ||Y||^2`` times it is taken off the objective.

    The others are those of :class:`~compactlearn.CMLL`.

    Examples
    --------
    >>> from compactlearn import CompactClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import RowGraphCMLL
    >>> data = load("enron")
    >>> model = CompactClassifier(RowGraphCMLL(row_graph_weight=0.01)).fit(data.X, data.Y)
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **CMLL._constraints,
        "row_graph": (Choice("neighbors"), SquareMatrix(), Nothing()),
        "row_graph_weight": (Real(0),),
        "n_neighbors": (Integer(1),),
    }

    def __init__(
        self,
        n_feature_components: int | float | str | None = "auto",
        n_label_components: int | float | str = "auto",
        beta: float | str = "auto",
        label_ridge: float = 0.0,
        offset: str = "mean",
        solver: str = "auto",
        completion: str = "none",
        max_iter: int = 50,
        tol: float = 1e-5,
        random_state: Any = None,
        label_graph: Any = None,
        graph_weight: float = 0.1,
        row_graph: Any = "neighbors",
        row_graph_weight: float = 0.001,
        n_neighbors: int = 5,
    ) -> None:
        super().__init__(
            n_feature_components,
            n_label_components,
            beta,
            label_ridge,
            offset,
            solver,
            completion,
            max_iter,
            tol,
            random_state,
            label_graph,
            graph_weight,
        )
        self.row_graph = row_graph
        self.row_graph_weight = row_graph_weight
        self.n_neighbors = n_neighbors

    @property
    def traits(self) -> Traits:
        smooths = self.row_graph is not None and self.row_graph_weight != 0
        return replace(super().traits, needs_rows=smooths)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        if self.traits.needs_rows and self.solver == "moments":
            raise ValueError(
                "row_graph needs all rows at hand, and solver='moments' keeps sums of them alone; "
                "use solver='auto', 'dual', 'krylov' or 'randomized'."
            )
        if self.traits.needs_rows and self.n_label_components is None:
            raise ValueError(
                "row_graph smooths label codes, and n_label_components=None keeps the labels "
                "as they are; set n_label_components."
            )
        return super().plan(n_features, n_labels, given_features)

    def _problem(self, pair: Pair, beta: float) -> Problem:
        plain = super()._problem(pair, beta)
        weight = float(self.row_graph_weight) * pair.right_energy
        if self.row_graph is None or weight <= 0:
            return plain
        rows = pair
        assert isinstance(rows, RowwisePair)
        if isinstance(self.row_graph, str):
            graph = affinities(Neighbours.of(RowProducts.of_pair(rows), self.n_neighbors), "auto")
        else:
            graph = _given(self.row_graph, rows)
        if rows.weights is not None:  # an edge counts as often as both its rows do
            counts = scipy.sparse.diags_array(rows.weights)
            graph = counts @ graph @ counts
        laplacian = normalised_laplacian(graph)
        if not laplacian.nnz:
            return plain
        return RoughProblem(rows, beta, plain.smoothing, laplacian, weight)

    def _embedded(self, problem: Problem, state: Any, d: int | None, m: int | None) -> Embedded:
        result = super()._embedded(problem, state, d, m)
        if not isinstance(problem, RoughProblem):
            return result
        assert result.objective is not None
        roughness = problem.roughness(result.codes)
        objective = result.objective - problem.weight * roughness
        parts: dict[str, Any] = {**vars(result), "objective": objective}
        return _RoughEmbedded(**parts, roughness=roughness)

    def adopt(self, result: Embedded, *args: Any, **kwargs: Any) -> None:
        super().adopt(result, *args, **kwargs)
        self.__dict__.pop("roughness_", None)
        if isinstance(result, _RoughEmbedded):
            self.roughness_ = result.roughness


@dataclass(frozen=True)
class _RoughEmbedded(Embedded):
    roughness: float = 0.0


@dataclass(frozen=True)
class RoughProblem(Problem):
    """CMLL's problem less ``weight tr V'LV``."""

    pair: RowwisePair
    laplacian: Any = None  # (N, N) sparse, of rows times the roots of their weights
    weight: float = 0.0

    @property
    def _smooth(self) -> Any:
        """``weight (2I - L)``, sparse and positive semi-definite."""
        identity = scipy.sparse.eye_array(self.laplacian.shape[0])
        return 2.0 * self.weight * identity - self.weight * self.laplacian

    def leading_codes(self, m: int, P: Array | None = None, seed: int = 0) -> Codes:
        """Return leading eigenvectors of ``beta XcPP'Xc' + YSY' - weight L``."""
        pair, share = self.pair, 1.0
        right, smooth = smoothed_right(pair, self.smoothing), self._smooth
        if P is not None or pair.multiplies:
            scaled = ColumnScaled(pair.Xc if P is None else Plain(pair.Xc @ P), np.sqrt(self.beta))
            features = Gram(Stacked((scaled, right)).T)
            matrix: Any = Sum(((1.0, features), (1.0, Plain(smooth.tocsr()))))
            # An ascent by codes of projected rows goes by its gains, which are small.
            share = pair.enough if P is None else 1.0
        elif krylov_pays(pair.kernel.shape[0], m, is_array=True):
            terms = (self.beta, Plain(pair.kernel)), (1.0, Gram(right.T))
            matrix = Sum((*terms, (1.0, Plain(smooth.tocsr()))))
        else:
            matrix = self.beta * pair.kernel + smooth.toarray() + multiplied_out(Gram(right.T))
        return self._enough_of_all(matrix, m, share, seed)

    def _enough_of_all(self, matrix: Any, m: int, wanted: float, seed: int) -> Codes:
        """Return codes that reach a share of the sum of the eigenvalues without their shift.

        A share of the larger sum may be less of the smaller one; then what is enough is more.
        """
        pair, share, scale = self.pair, wanted, code_rounding(self.pair, self.beta)
        while True:
            order = pair.shape[0]
            solution = leading_eigenpairs(
                matrix, m, rank_size=order, scale=scale, share=share, seed=seed
            )
            codes = without_shift(codes_of_eigenvectors(pair, solution), 2.0 * self.weight)
            if codes.share >= wanted or share >= 1.0:
                return codes
            assert codes.values is not None
            part = float(codes.values.sum()) / float(solution.values.sum())
            closer = 1.0 - 0.8 * part * (1.0 - wanted)
            share = closer if part > 0 and closer > share else 1.0

    def roughness(self, codes: Codes) -> float:
        """Return ``tr V'LV``."""
        assert codes.rows is not None
        V = self.pair.weighted(codes.rows)
        return float(np.sum(V * (self.laplacian @ V)))

    def lift(self, m: int) -> float:
        return 2.0 * self.weight * m

    def objective(self, codes: Codes, P: Array | None) -> float:
        return super().objective(codes, P) - self.weight * self.roughness(codes)


def without_shift(codes: Codes, shift: float) -> Codes:
    """Return codes with eigenvalues less what was added to all, and the share of their sum."""
    assert codes.values is not None
    values = codes.values - shift
    share = codes.share
    if share < 1.0:
        missing = (1.0 / share - 1.0) * float(codes.values.sum())
        reached = float(values.sum())
        share = reached / (reached + missing) if reached > 0 else 0.0
    return replace(codes, values=values, share=share)


def normalised_laplacian(W: Any) -> Any:
    """Return L with ``v'Lv = 1/2 sum_ij w_ij (v_i / sqrt(d_i) - v_j / sqrt(d_j))^2``.

    d are the sums of the rows of W, whose diagonal does not count. Eigenvalues are from 0 to 2; a
    row without any edge has none but zeros in L.

    >>> normalised_laplacian(scipy.sparse.csr_array([[9.0, 2.0], [2.0, 0.0]])).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    edges = scipy.sparse.coo_array(W)
    i, j = edges.coords
    kept = (i != j) & (edges.data > 0)
    # In parts of the largest, as sums of large weights might overflow.
    i, j, values = i[kept], j[kept], edges.data[kept] / edges.data.max(initial=1e-300)
    degrees = np.bincount(i, values, minlength=W.shape[0])
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    near = scipy.sparse.csr_array((values / roots[i] / roots[j], (i, j)), shape=W.shape)
    return (scipy.sparse.diags_array((degrees > 0).astype(np.float64)) - near).tocsr()


def _given(graph: Any, rows: RowwisePair) -> Any:
    """Return the given graph; of a part of the rows, the edges within that part."""
    whole = rows.shape[0] if rows.places is None else graph.shape[0]  # which was checked before
    remedy = (
        "pass one of these rows (rows of weight 0 do not count), or row_graph='neighbors', which "
        "is made anew of the rows of each fit, as cross-validation needs it"
    )
    checked = checked_graph(graph, "row_graph", whole, "rows that are fitted", remedy)
    return checked if rows.places is None else checked[rows.places][:, rows.places]
