"""Rembrandt: label directions that the features predict, by randomised range finding.

    maximise  tr O' Y' Hat Y O   with  O'O = I_m

    Y (N, M) labels, uncentred, Hat = Z (Z'Z + c I)^-1 Z' the hat matrix of a ridge on the features,
    O (M, m) directions, V = Y O (N, m) codes; decoded scores are v O', plus what they lack of the
    labels' mean.

This is CPLST's problem without centring the labels.

Leading eigenvectors of a positive semi-definite matrix from a few products with a random block.

The block is multiplied, made orthonormal and multiplied again (Halko, Martinsson and Tropp 2011).
With as many columns as the matrix has it is the exact decomposition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Constraint, Integer, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._base import Embedded, Plan, Traits, note_shortfall
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.embeddings._encoders import OFFSETS, Encoder, LabelProblem
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import numerical_rank
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]


class Rembrandt(Encoder):
    """Fast label embeddings: the labels' directions that a ridge on the features predicts best.

    A few products with a random block of ``n_label_components + oversampling`` columns take the
    place of an eigenproblem. It suits many labels of which few directions are wanted.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). No more than the
        rank of X'Y exist; others are cut, with a warning.
    lam : float, default=1.0
        The penalty of the hat matrix, in units of the mean square of a feature: the penalty is
        ``lam * trace(Z'Z) / D``.
    oversampling : int, default=20
        Columns of the random block beyond m.
    n_power : int, default=1
        How often the block is multiplied before the last product.
    offset : {"mean", "none"}, default="mean"
        "mean" adds to the scores what the decoded codes lack of the labels' mean, "none" adds
        nothing.
    random_state : int, RandomState, Generator or None, default=None
        Draws the block.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
        O', orthonormal rows.
    offset_ : ndarray of shape (n_labels,)
    eigenvalues_ : ndarray of shape (n_label_components_,)
        ``o' Y' Hat Y o`` of every direction.
    ridge_ : float
        The penalty that was used.
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_ : float
        The sum of the eigenvalues.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    Where ``m + oversampling`` reaches the number of labels, the outcome is the exact decomposition.
    Otherwise, each further product brings the share of the objective nearer to 1.

    The authors' program (randembed) solves the ridge by ten steps of conjugate gradients; here it
    is solved to the end. Its default ``lam`` is 1 and its scripts for small data sets use 1e-4, two
    products and a constant feature. After that it
    learns the codes with a penalty of 1e-6 times this one and the labels by logistic regressions
    on random features, for which here are ``alpha``, ``decoder="logistic"`` and ``KernelMap``.

    References
    ----------
    P. Mineiro, N. Karampatziakis. Fast label embeddings via randomized linear algebra. ECML-PKDD
    2015.

    N. Halko, P.-G. Martinsson, J. A. Tropp. Finding structure with randomness. SIAM Review 53(2),
    217-288, 2011.

    Examples
    --------
    >>> from compactlearn import CompactClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import Rembrandt
    >>> data = load("enron")
    >>> model = CompactClassifier(Rembrandt(10, random_state=0), alpha=100.0).fit(data.X, data.Y)
    >>> model.predict_codes(data.X).shape
    (1702, 10)
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "lam": (Real(0),),
        "oversampling": (Integer(0),),
        "n_power": (Integer(0),),
        "offset": OFFSETS,
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        lam: float = 1.0,
        oversampling: int = 20,
        n_power: int = 1,
        offset: str = "mean",
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.lam = lam
        self.oversampling = oversampling
        self.n_power = n_power
        self.offset = offset
        self.random_state = random_state

    @property
    def traits(self) -> Traits:
        return Traits()

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        return replace(super().plan(n_features, n_labels, given_features), hat=True)

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        problem = self._matrix(pair)
        width = min(m + self.oversampling, pair.n_right)
        found = leading_range(problem.matrix, m, width, self.n_power, seeded(self.random_state))
        O = found * peak_signs(found)
        codes = pair.combined_codes(O, problem.shift)
        codes = replace(codes, values=np.sum(O * (problem.matrix @ O), axis=0))
        note_shortfall(self, m, codes, pair)
        return self._embedded(pair, codes, None, problem.ridge)

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        if m + self.oversampling < pair.n_right:
            return None  # a smaller block, and so another outcome
        return super().leading(pair, result, m)

    def _matrix(self, pair: Pair) -> LabelProblem:
        ridge = self._penalty(pair)
        rank = min(pair.n_left + 1, pair.n_right)
        return LabelProblem(ridge_of(pair).hat_gram(ridge, centred=False), rank, None, ridge=ridge)

    def _penalty(self, pair: Pair) -> float:
        by_rows = isinstance(pair, RowsPair)  # where a mean may be known by products alone
        mean, known = pair.mean_left, pair.left.mean_products[1] if by_rows else None
        energy = pair.left.energy + pair.count * (float(mean @ mean) if known is None else known)
        return self.lam * energy / pair.given_left


def leading_range(
    matrix: Any, size: int, width: int, n_power: int, rng: np.random.RandomState
) -> Array:
    """Return up to ``size`` orthonormal columns that span about the leading eigenvectors.

    ``width`` columns are multiplied ``n_power + 1`` times; the left singular vectors of the last
    product come back, on the host, as many as are more than rounding.

    >>> leading_range(np.diag([1.0, 0.0, 3.0]), 3, 3, 1, np.random.RandomState(0)).shape
    (3, 2)
    """
    block = rng.standard_normal((matrix.shape[0], width))
    for _ in range(n_power):
        block = dense.qr(np.asarray(matrix @ block))[0]
    images = np.asarray(matrix @ block)
    vectors, lengths, _ = dense.svd(images)
    return vectors[:, : min(size, numerical_rank(lengths, matrix.shape[0]))]
