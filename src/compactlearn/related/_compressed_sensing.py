"""CS: labels are measured at random, measurements are predicted, labels are recovered from them.

z = A y,   zhat(x) by ridge regression,   yhat(x) = the k-sparse y whose A y is near zhat(x)

y (M,) labels of a row, A (m, M) random, z (m,) its codes. If no row has more than k labels,
m of the order k log M measurements are enough to recover them, by orthogonal matching pursuit. Many
rows are recovered together; each has a support of its own.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Choice, Constraint, Integer, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.related._scored import ScoredClassifier, predicted_codes, ridge

Array = NDArray[np.float64]
Places = NDArray[np.intp]


class CompressedSensingClassifier(ScoredClassifier):
    """Labels as a sparse vector that is recovered from a few predicted measurements (CS).

    Encoding needs no training at all. Decoding is a search for every row, so predicting is slow,
    and its scores are zero but for k labels, so rankings have many ties.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m, the number of measurements. A float is a ratio of M; "auto" is
        min(M, max(16, ceil(M / 2)), 500).
    sparsity : int, "mean" or "max", default="max"
        k, the number of labels that a row is assumed to have: a number, or the mean (rounded up)
        or largest number of labels of a training row. No more than m count.
    alpha : float, default=1.0
        Penalty of the ridge regression on the measurements.
    threshold : float, default=0.5
        A label is predicted where its recovered value is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Draws the measurements.

    Attributes
    ----------
    measurements_ : ndarray of shape (n_components_, n_labels)
        A: different columns of a Hadamard matrix, drawn at random, with entries -1 and +1.
    coef_ : ndarray of shape (n_components_, n_features)
    intercept_ : ndarray of shape (n_components_,)
        Of the ridge regression.
    sparsity_ : int
        k.
    n_components_ : int
        m.
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Labels are recovered by orthogonal matching pursuit (OMP). The program of the authors of PLST
    (an early version of mlc_lsdr) has CoSaMP, ``alpha=0.1`` and a penalised intercept; as here it
    keeps 0/1 labels, and lets the constant column of the Hadamard matrix be drawn.

    OMP finds every label set of at most k labels from its true measurements if the coherence of A,
    the largest cosine between two of its columns, is below 1 / (2k - 1) (Tropp 2004).

    References
    ----------
    D. Hsu, S. M. Kakade, J. Langford, T. Zhang. Multi-label prediction via compressed sensing.
    Advances in Neural Information Processing Systems 22, 772-780, 2009.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import CompressedSensingClassifier
    >>> data = load("emotions")
    >>> model = CompressedSensingClassifier(6, random_state=0).fit(data.X, data.Y)
    >>> model.sparsity_, model.predict(data.X).shape
    (3, (593, 6))
    """

    _kept: ClassVar[tuple[str, ...]] = ("coef_", "intercept_", "measurements_")
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "sparsity": (Integer(1), Choice("mean", "max")),
        "alpha": (Real(0),),
        "threshold": (Real(),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        *,
        sparsity: int | str = "max",
        alpha: float = 1.0,
        threshold: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.sparsity = sparsity
        self.alpha = alpha
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        Y = data.targets.matrix
        m, rng = label_count(self.n_label_components, Y.shape[1]), seeded(self.random_state)
        A = hadamard_rows(Y.shape[1], m, rng)
        coef, self.intercept_ = ridge(data.X, Y @ A.T, float(self.alpha))
        self.coef_, self.measurements_, self.n_components_ = coef.T.copy(), A, m
        self.sparsity_ = min(self._labels_of_a_row(data), m)

    def _labels_of_a_row(self, data: TrainingData) -> int:
        if not isinstance(self.sparsity, str):
            return int(self.sparsity)
        counts = np.diff(data.targets.matrix.indptr)
        if self.sparsity == "max":
            return max(1, int(counts.max()))
        mean = np.mean(counts)
        return max(1, int(np.ceil(mean * (1.0 - 1e-12))))

    def _scored(self, X: Any) -> Array:
        codes = predicted_codes(X, self.coef_, self.intercept_)
        return recovered(self.measurements_, codes, self.sparsity_)


def hadamard_rows(n_labels: int, count: int, rng: np.random.RandomState) -> Array:
    """Return ``count`` different columns, drawn at random and as rows, of a Hadamard matrix.

    The matrix is the smallest of Sylvester's with at least ``n_labels`` rows, cut to the first.

    >>> hadamard_rows(3, 4, np.random.RandomState(0)).shape
    (4, 3)
    """
    order = 1 << (n_labels - 1).bit_length()
    columns = rng.permutation(order)[:count]
    common = columns[:, None] & np.arange(n_labels)  # its entry is -1 where these bits are odd
    for shift in (32, 16, 8, 4, 2, 1):
        common ^= common >> shift
    return 1.0 - 2.0 * (common & 1).astype(np.float64)


_FOUND = 1e-10  # residuals this short, relative to the row, are zero

_CELLS = 1 << 22  # entries of the measured columns of supports in one block


def recovered(A: Array, Z: Array, k: int) -> Array:
    """Return rows (n, M) with at most k entries, by pursuit, from measurements (n, m)."""
    k = min(k, *A.shape)
    Y = np.zeros((Z.shape[0], A.shape[1]))
    step = max(1, _CELLS // (3 * k * A.shape[0] + A.shape[1]))
    for start in range(0, Z.shape[0], step):
        Y[start : start + step] = omp(A, Z[start : start + step], k)
    return Y


def omp(A: Array, Z: Array, k: int) -> Array:
    """Orthogonal matching pursuit: k times the column that goes best with what is left, and least
    squares on all columns so far. A row that is met exactly takes no more.

    >>> A = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> omp(A, np.array([[3.0, 0.0]]), 1)
    array([[3., 0., 0.]])
    """
    unit = _unit_columns(A)
    Y = np.zeros((Z.shape[0], A.shape[1]))
    support = np.empty((Z.shape[0], 0), dtype=np.intp)
    rest, lengths = Z.copy(), np.linalg.norm(Z, axis=1)
    rows = np.flatnonzero(lengths > 0)
    for _ in range(k):
        fit = _graded(rest[rows] @ unit)
        np.put_along_axis(fit, support[rows], -1.0, axis=1)
        best = np.zeros((Z.shape[0], 1), dtype=np.intp)
        best[rows, 0] = fit.argmax(axis=1)
        support = np.hstack([support, best])
        own = support[rows]
        weights = _least_squares(A, Z[rows], own)
        Y[rows] = 0.0
        Y[rows[:, None], own] = weights
        rest[rows] = Z[rows] - Y[rows] @ A.T
        rows = rows[np.linalg.norm(rest[rows], axis=1) > _FOUND * lengths[rows]]
        if not rows.size:
            break
    return Y


def _unit_columns(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=0)
    return A / np.where(lengths > 0, lengths, 1.0)


def _graded(values: Array) -> Array:
    """Return magnitudes in units of the largest of their row, to nine digits.

    Entries of -1 and +1 make many of them equal, and rounding must not decide between these.
    """
    sizes = np.abs(values)
    largest = sizes.max(axis=1, keepdims=True, initial=0.0)
    return np.round(sizes / np.where(largest > 0, largest, 1.0), 9)


def _least_squares(A: Array, Z: Array, support: Places) -> Array:
    """Return coefficients (n, s) of least squares and of least norm."""
    columns = A.T[support]  # (n, s, m)
    gram, cross = columns @ columns.transpose(0, 2, 1), columns @ Z[:, :, None]
    sound = _sound(gram) & (support.shape[1] <= A.shape[0])
    found = np.empty(cross.shape)
    found[sound] = np.linalg.solve(gram[sound], cross[sound])
    # Several times slower, and needed only where columns depend on each other.
    inverse = np.linalg.pinv(gram[~sound], rcond=1e-11, hermitian=True)
    found[~sound] = inverse @ cross[~sound]
    return found[:, :, 0]


def _sound(gram: Array) -> NDArray[np.bool_]:
    """Return which Gram matrices (n, s, s) lose no more than ten digits when divided by."""
    try:
        pivots = np.einsum("nss->ns", np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:  # at least one is singular
        return np.zeros(gram.shape[0], dtype=bool)
    return pivots.min(axis=1) > 1e-5 * pivots.max(axis=1)
