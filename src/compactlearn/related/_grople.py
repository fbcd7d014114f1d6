"""GroPLE: codes of which every group of labels uses only some.

    minimise  ||Z - U T||^2 + l1 ||U||^2 + n l2 sum_g sum_k ||T_kg||

    Z (N, M) labels as they are coded, U (N, m) codes, T (m, M) decoder, T_kg the part of its row k
    in the labels of group g, n the number of rows (their weight).

For given T the best U is Z R with R = T'(TT' + l1 I)^-1, so codes are combinations of labels and
only Z'Z is needed. For given U, T is improved by steps of proximal gradients: a part T_kg is
shortened by a fixed length, and is zero if it was no longer.

Labels in groups of those that occur together: spectral clustering of their cosines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Integer, Real
from compactlearn.embeddings._base import Embedded, Embedding, Plan, note_shortfall
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import all_eigenpairs, leading_eigenpairs
from compactlearn.linalg._pairs import Pair
from compactlearn.related._coded_labels import CODINGS, CodedLabels, least_squares

Array = NDArray[np.float64]
Places = NDArray[np.intp]

_STEPS = 5  # of proximal gradients for T, to one solution for U


class GroPLE(Embedding):
    """Group preserving label embedding: a low-rank factorisation with group-sparse decoders.

    Labels that occur together form a group, and a code is of use to a group as a whole or not at
    all.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). Codes that no
        group uses are cut, with a warning.
    n_groups : int or "auto", default="auto"
        How many groups of labels; "auto" is the root of M, rounded.
    l1 : float, default=1.0
        Penalty of the codes.
    l2 : float, default=1e-3
        Penalty of the decoder's groups, for each row.
    coding : {"centred", "binary", "signed"}, default="centred"
        The labels that are factorised: centred, as 0 and 1, or as -1 and +1.
    max_iter : int, default=200
    tol : float, default=1e-5
        The alternation ends when the objective falls by less than this share in a round.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
        In every row, the labels of a group are zero together.
    offset_ : ndarray of shape (n_labels,)
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_ : float
        What is minimised, at the end; ``objective_path_`` has it after every round.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    Only the abstract was at hand and no program is public: the three stages (groups, embedding,
    features) are the authors', the objective of the second is our reading of them, and so is
    spectral clustering by the labels' cosines for the first. In the third the authors learn the
    codes with a sparse norm; here that is the classifier's learner, ridge regression unless
    ``CompactClassifier(GroPLE(), regressor=...)`` is given another. Labels of the authors are
    -1 and +1 (``coding="signed"``).

    The problem is not convex: the alternation, from the labels' principal directions, never
    raises the objective, and ends in a point that no half-step improves. Matrices of the order of
    the labels are formed.

    References
    ----------
    V. Kumar, A. K. Pujari, V. Padmanabhan, V. R. Kagita. Group preserving label embedding for
    multi-label classification. Pattern Recognition 90, 23-34, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import GroPLE
    >>> data = load("enron")
    >>> method = GroPLE(10, n_groups=5).fit(data.X, data.Y)
    >>> method.decoder_.shape, bool(np.diff(method.objective_path_).max() < 0)
    ((10, 53), True)
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "n_groups": (Integer(1), Choice("auto")),
        "l1": (Real(0),),
        "l2": (Real(0),),
        "coding": (Choice(*CODINGS),),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        n_groups: int | str = "auto",
        l1: float = 1.0,
        l2: float = 1e-3,
        coding: str = "centred",
        max_iter: int = 200,
        tol: float = 1e-5,
    ) -> None:
        self.n_label_components = n_label_components
        self.n_groups = n_groups
        self.l1 = l1
        self.l2 = l2
        self.coding = coding
        self.max_iter = max_iter
        self.tol = tol

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="right")

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        labels = CodedLabels.of(pair, self.coding)
        C = labels.gram_columns(np.arange(pair.n_right))
        T = _principal(C, m)
        problem = GroupProblem(C, self._groups(pair), float(self.l1), pair.count * self.l2)
        found, path = problem.alternated(T, self.max_iter, self.tol)
        used = np.flatnonzero(np.abs(found).max(axis=1) > 0)
        found = found[used if used.size else [0]]
        embedded = _embedded(labels, found, problem.encoder(found), path)
        note_shortfall(self, m, embedded.codes, pair)
        return embedded

    def _groups(self, pair: Pair) -> Places:
        wanted, n_labels = self.n_groups, pair.n_right
        count = round(np.sqrt(n_labels)) if isinstance(wanted, str) else int(wanted)
        together = CodedLabels.of(pair, "binary").gram_columns(np.arange(n_labels))
        return label_groups(together, min(max(1, count), n_labels))


@dataclass(frozen=True)
class GroupProblem:
    """The objective, of which only the labels' Gram matrix is needed."""

    gram: Array  # Z'Z (M, M)
    groups: Places  # (M,)
    l1: float
    l2: float  # of all rows together

    def encoder(self, T: Array) -> Array:
        """Return R (M, m): the best codes are Z R."""
        return least_squares(self_product(T) + self.l1 * np.eye(T.shape[0]), T).T

    def value(self, R: Array, T: Array) -> float:
        """Return the objective of codes Z R and decoder T."""
        A, F = R.T @ self.gram @ R, R.T @ self.gram
        missed = np.trace(self.gram) - 2.0 * np.vdot(F, T) + np.vdot(T, A @ T)
        return float(missed + self.l1 * np.trace(A) + self.l2 * _parts(T, self.groups).sum())

    def alternated(self, T: Array, max_iter: int, tol: float) -> tuple[Array, Array]:
        """Return the decoder, and the objective with its best codes after every round."""
        R = self.encoder(T)
        path = [self.value(R, T)]
        for _ in range(max_iter):
            T = self.balanced(R, self.improved(R, T))
            R = self.encoder(T)
            path.append(self.value(R, T))
            if path[-2] - path[-1] <= tol * abs(path[-2]):
                break
        return T, np.array(path)

    def improved(self, R: Array, T: Array) -> Array:
        """Return the decoder of codes Z R after some proximal steps; none raises the objective."""
        A, F = R.T @ self.gram @ R, R.T @ self.gram
        largest = float(all_eigenpairs((A + A.T) / 2)[0][0])
        if largest <= 0.0:
            return T
        for _ in range(_STEPS):
            T = shortened(T - (A @ T - F) / largest, self.groups, self.l2 / (2.0 * largest))
        return T

    def balanced(self, R: Array, T: Array) -> Array:
        """Return the decoder, every row divided by the best factor of its code.

        The product of both stays the same. ``l1 c^2 |u|^2 + l2 |t| / c`` is least where its
        derivative in c is zero. Without this the penalties would find that factor by slow steps.
        """
        squares = 2.0 * self.l1 * np.einsum("ik,ik->k", R, self.gram @ R)
        lengths = self.l2 * _parts(T, self.groups).sum(axis=1)
        both = (squares > 0) & (lengths > 0)
        cubes = np.divide(lengths, squares, out=np.ones_like(lengths), where=both)
        return T / np.cbrt(cubes)[:, None]


def shortened(T: Array, groups: Places, length: float) -> Array:
    """Return rows whose part within each group is shortened by a length.

    >>> shortened(np.array([[3.0, 4.0, 0.5]]), np.array([0, 0, 1]), 1.0)
    array([[2.4, 3.2, 0. ]])
    """
    sizes = _parts(T, groups)
    factors = np.maximum(1.0 - length / np.where(sizes > 0, sizes, np.inf), 0.0)
    return T * factors[:, groups]


def _parts(T: Array, groups: Places) -> Array:
    """Return the lengths (m, n_groups) of the parts of rows."""
    members = (groups[:, None] == np.arange(groups.max() + 1)).astype(np.float64)
    return np.sqrt(T**2 @ members)


def _principal(gram: Array, size: int) -> Array:
    """Return principal directions (size, M) as rows; zero where there are no more."""
    vectors = leading_eigenpairs(gram, size).vectors
    T = np.zeros((size, gram.shape[0]))
    T[: vectors.shape[1]] = (vectors * peak_signs(vectors)).T
    return T


def _embedded(labels: CodedLabels, T: Array, R: Array, path: Array) -> Embedded:
    pair = labels.pair
    codes = pair.combined_codes(labels.scale * R, labels.encoder_shift)
    return Embedded(
        codes=codes,
        projection=None,
        decoder=T / labels.scale,
        offset=labels.offset,
        solver=f"alternating-{pair.solver}",
        objective=float(path[-1]),
        path=path,
        n_iter=path.size - 1,
    )


def label_groups(gram: Array, count: int) -> Places:
    """Return the group (M,) of every label, from ``Y'Y``; groups are numbered by their first label.

    Nothing is drawn: the centres start from labels that are far from each other.

    >>> Y = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0.0]])
    >>> label_groups(Y.T @ Y, 2)
    array([0, 0, 1, 1])
    """
    points = _spectral_points(gram, count)
    groups = _nearest(points, points[_far_apart(points, count)])
    for _ in range(100):
        centres = [points[groups == g].mean(axis=0) for g in np.unique(groups)]
        found = _nearest(points, np.array(centres))
        if np.array_equal(found, groups):
            break
        groups = found
    first = np.unique(groups, return_index=True)[1]
    names = np.argsort(np.argsort(first))
    return names[np.searchsorted(np.unique(groups), groups)]


def _spectral_points(gram: Array, count: int) -> Array:
    """Return leading eigenvectors of the normalised cosines, rows of length 1."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    cosines = gram * inverse * inverse[:, None]
    degrees = 1.0 / np.sqrt(np.maximum(cosines.sum(axis=1), 1e-12))
    vectors = all_eigenpairs(cosines * degrees * degrees[:, None])[1][:, :count]
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(sizes > 0, sizes, 1.0)


def _far_apart(points: Array, count: int) -> list[int]:
    """Return the first point, and then each time the one farthest from those before."""
    chosen = [0]
    distances = np.sum((points - points[0]) ** 2, axis=1)
    while len(chosen) < count and distances.max() > 1e-9:
        chosen.append(int(np.argmax(distances >= distances.max() - 1e-9)))
        distances = np.minimum(distances, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
    return chosen


def _nearest(points: Array, centres: Array) -> Places:
    distances = np.sum((points[:, None, :] - centres) ** 2, axis=2)
    return np.argmin(np.round(distances, 9), axis=1)
