"""MLC-BMaD: labels as unions of a few sets of labels, which are learnt in their place.

Y ~ V o W,  Vhat(x) by ridge regression,  yhat(x) = (Vhat(x) > threshold) o W

Y (N, M) labels, V (N, m) and W (m, M) Boolean, o their Boolean product: a row has the labels of
all the sets that it uses.

A Boolean matrix as a Boolean product of two thin ones: Y ~ V o W, by a greedy search (ASSO).

    (V o W)_nj = 1  where row n uses some factor k (V_nk = 1) that has label j (W_kj = 1)

Candidates for a factor are the labels that go with one label: row i of the candidates has label j
where the share of label i's rows that also have label j is at least tau. One candidate after the
other is selected, each time the one that gains most: the number of ones that it covers first, less
the number of zeros that it covers. A row uses a factor where that gains something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Choice, Constraint, Real, Seed
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.related._scored import ScoredClassifier, predicted_codes, ridge

Array = NDArray[np.float64]

# The score of a label that is in none of the sets: below all others, and finite, because metrics
# refuse to rank infinity.
_NEVER = -1e6


class BooleanClassifier(ScoredClassifier):
    """Labels as unions of a few label sets, found by Boolean matrix decomposition (MLC-BMaD).

    The sets are patterns of labels that occur together, and can be read. A row's score for a label
    is the largest score of the sets that contain it, so labels are decided as by the Boolean
    product.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m, the number of sets. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500).
        Sets that would gain nothing are left out.
    tau : float in (0, 1], default=0.5
        A candidate for a set is a label with all those that this share of its rows also has.
    alpha : float, default=1.0
        Penalty of the ridge regression on the sets' use.
    scores : {"largest", "binary"}, default="largest"
        "binary" are the Boolean product itself, 0 or 1, as published: rankings have many ties.
    threshold : float, default=0.5
        A set is used where its prediction is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Has no effect on the model; methods of a benchmark are given one.

    Attributes
    ----------
    basis_ : csr_array of shape (n_components_, n_labels)
        W, a row for each set.
    gains_ : ndarray of shape (n_components_,)
        What each set gains: labels of rows that it covers first, less those that it adds wrongly.
    coef_ : ndarray of shape (n_components_, n_features)
    intercept_ : ndarray of shape (n_components_,)
        Of the ridge regression.
    n_components_ : int
        m.
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The decomposition is greedy, of the kind called ASSO. MEKA has m = 20 and MLC_toolbox M / 2,
    both with ``tau=0.5``; the authors tried 0.1 to 0.6 and use a search of their own in MEKA.
    Their learner is any multi-label classifier; here it is ridge regression.

    References
    ----------
    J. Wicker, B. Pfahringer, S. Kramer. Multi-label classification using Boolean matrix
    decomposition. ACM Symposium on Applied Computing, 179-186, 2012.

    P. Miettinen, T. Mielikainen, A. Gionis, G. Das, H. Mannila. The discrete basis problem. IEEE
    Transactions on Knowledge and Data Engineering 20(10), 1348-1362, 2008.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import BooleanClassifier
    >>> data = load("emotions")
    >>> model = BooleanClassifier(4).fit(data.X, data.Y)
    >>> model.basis_.toarray().astype(int)[0], model.predict(data.X).shape
    (array([0, 0, 1, 1, 1, 0]), (593, 6))
    """

    _kept: ClassVar[tuple[str, ...]] = ("coef_", "intercept_", "basis_")
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "tau": (Real(0, 1, open_low=True),),
        "alpha": (Real(0),),
        "scores": (Choice("largest", "binary"),),
        "threshold": (Real(),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        *,
        tau: float = 0.5,
        alpha: float = 1.0,
        scores: str = "largest",
        threshold: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.tau = tau
        self.alpha = alpha
        self.scores = scores
        self.threshold = threshold
        self.random_state = random_state

    def _level(self, labels: LabelSpace) -> float:
        # A binary score is 1 or 0, whatever was asked of the sets' predictions.
        return 0.5 if self.scores == "binary" else float(self.threshold)

    def _learn(self, data: TrainingData) -> None:
        Y = scipy.sparse.csr_array(data.targets.matrix)
        m = label_count(self.n_label_components, Y.shape[1])
        found = boolean_factors(Y, m, self.tau)
        self.basis_, self.gains_ = found.basis, found.gains
        self.n_components_ = self.basis_.shape[0]
        coef, self.intercept_ = ridge(data.X, found.usage.toarray(), float(self.alpha))
        self.coef_ = coef.T.copy()
        self._used_above = float(self.threshold) if self.scores == "binary" else None

    def _scored(self, X: Any) -> Array:
        codes = predicted_codes(X, self.coef_, self.intercept_)
        if self._used_above is None:
            return largest_of_sets(codes, self.basis_)
        usage = scipy.sparse.csr_array((codes > self._used_above).astype(np.float64))
        return boolean_product(usage, self.basis_).toarray()


def largest_of_sets(codes: Array, basis: Any) -> Array:
    """Return the largest code (n, M) of the sets that contain a label.

    >>> basis = scipy.sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> largest_of_sets(np.array([[0.2, 0.7]]), basis)[0, :2]
    array([0.2, 0.7])
    """
    scores = np.full((codes.shape[0], basis.shape[1]), _NEVER)
    for k in range(basis.shape[0]):
        labels = basis.indices[basis.indptr[k] : basis.indptr[k + 1]]
        scores[:, labels] = np.maximum(scores[:, labels], codes[:, [k]])
    return scores


_TIE = 1e-9  # shares of rows are equal but for rounding


@dataclass(frozen=True)
class BooleanFactors:
    """The product, and the gain of each factor."""

    usage: scipy.sparse.csr_array  # V (N, m)
    basis: scipy.sparse.csr_array  # W (m, M)
    gains: Array  # (m,), positive


def boolean_factors(Y: Any, size: int, tau: float) -> BooleanFactors:
    """Return up to ``size`` factors; fewer where no candidate gains anything more.

    Y is a CSR matrix of ones, and nothing here is denser than it, the candidates and the product.
    """
    candidates = candidate_rows(Y, tau)
    lengths = np.diff(candidates.indptr).astype(np.float64)
    n_rows = Y.shape[0]
    uncovered, covered = Y.copy(), scipy.sparse.csr_array(Y.shape)
    usage: list[Any] = []
    chosen: list[int] = []
    gains: list[float] = []
    for _ in range(size):
        own = _gains(uncovered, covered, candidates, lengths)
        totals = np.asarray(own.sum(axis=0)).ravel()
        best = int(np.argmax(totals >= totals.max() * (1.0 - _TIE)))
        if totals[best] <= _TIE:
            break
        column = (own[:, [best]] > 0).astype(np.float64)
        newly = (column @ candidates[[best]]).tocsr()
        covered = _ones(covered + newly)
        uncovered = _ones(uncovered - uncovered.multiply(newly))
        usage.append(column)
        chosen.append(best)
        gains.append(float(totals[best]))
    V = scipy.sparse.hstack(usage, format="csr") if usage else scipy.sparse.csr_array((n_rows, 0))
    return BooleanFactors(
        scipy.sparse.csr_array(V), scipy.sparse.csr_array(candidates[chosen]), np.array(gains)
    )


def candidate_rows(Y: Any, tau: float) -> Any:
    """Return (M, M) the labels that at least a share ``tau`` of a label's rows also have."""
    together = scipy.sparse.csr_array(Y.T @ Y)
    own = together.diagonal()
    shares = together.data / np.repeat(np.where(own > 0, own, 1.0), np.diff(together.indptr))
    together.data = (shares >= tau - _TIE).astype(np.float64)
    together.eliminate_zeros()
    return together


def boolean_product(usage: Any, basis: Any) -> Any:
    """Return V o W as a CSR matrix of ones."""
    return _ones(scipy.sparse.csr_array(usage @ basis))


def _gains(uncovered: Any, covered: Any, candidates: Any, lengths: Array) -> Any:
    """Return the positive gains of each row by each candidate (N, M), sparse.

    Of a candidate's labels, a row has some ones that are not covered yet, some labels that are
    covered already, and the rest are zeros that would be. Without the first there is no gain, so
    their pattern is all that is looked at.
    """
    ones = scipy.sparse.csr_array(uncovered @ candidates.T)
    known = ones.sign().multiply(covered @ candidates.T).tocsr()
    zeros = _where(ones, lengths[ones.indices]) - ones - known
    gains = scipy.sparse.csr_array(ones - zeros)
    gains.data[gains.data < _TIE] = 0.0
    gains.eliminate_zeros()
    return gains


def _where(pattern: Any, values: Array) -> Any:
    return scipy.sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def _ones(matrix: Any) -> Any:
    found = scipy.sparse.csr_array(matrix)
    found.data = (found.data > 0).astype(np.float64)
    found.eliminate_zeros()
    return found
