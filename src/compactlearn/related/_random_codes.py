"""Random measurements of the labels: V = Y A' with a matrix A (m, M) that knows no data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Seed
from compactlearn.core._seeds import seeded
from compactlearn.core._weight import owned
from compactlearn.embeddings._base import Embedded, Plan, Traits
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.embeddings._encoders import ROUTES, EncodesLabels
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]

MEASUREMENTS = ("hadamard", "gaussian")


class RandomCodes(EncodesLabels):
    """Codes that are random combinations of the labels, and the linear decoder of least norm.

    :class:`~compactlearn.related.CompressedSensingClassifier` decodes them better.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500).
    measurement : {"hadamard", "gaussian"}, default="hadamard"
        Different columns of a Hadamard matrix, entries -1 and +1, or normal numbers.
    random_state : int, RandomState, Generator or None, default=None
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"

    Attributes
    ----------
    measurements_ : ndarray of shape (n_label_components_, n_labels)
        A.
    decoder_, offset_, codes_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "measurement": (Choice(*MEASUREMENTS),),
        "random_state": (Seed(),),
        "solver": ROUTES,
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        measurement: str = "hadamard",
        random_state: Any = None,
        solver: str = "auto",
    ) -> None:
        self.n_label_components = n_label_components
        self.measurement = measurement
        self.random_state = random_state
        self.solver = solver

    @property
    def traits(self) -> Traits:
        return Traits(regime=self.solver)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=0, keeps_features=True, n_codes=m, problem="right")

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        rng = seeded(self.random_state)
        if self.measurement == "gaussian":
            return _embedded(pair, rng.standard_normal((m, pair.n_right)))
        return _embedded(pair, hadamard_rows(pair.n_right, m, rng))

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded:
        assert result.codes.right_weights is not None
        return _embedded(pair, result.codes.right_weights.T[:m])

    def adopt(
        self,
        result: Embedded,
        codes: Any = None,
        *,
        classes: NDArray[Any] | None = None,
        names: list[str] | None = None,
    ) -> None:
        super().adopt(result, codes, classes=classes, names=names)
        weights = result.codes.right_weights
        assert weights is not None
        self.measurements_ = owned(weights.T)

    def _encoded(self, labels: Any) -> Array:
        return labels @ self.measurements_.T


def hadamard_rows(n_labels: int, count: int, rng: np.random.RandomState) -> Array:
    """So many different columns, drawn at random, of the first ``n_labels`` rows of the smallest
    Hadamard matrix (Sylvester's) that has them; as rows, the constant one among them.

    >>> hadamard_rows(3, 4, np.random.RandomState(0)).shape
    (4, 3)
    """
    order = 1 << (n_labels - 1).bit_length()
    columns = rng.permutation(order)[:count]
    common = columns[:, None] & np.arange(n_labels)  # its entry is -1 where these bits are odd
    for shift in (32, 16, 8, 4, 2, 1):
        common ^= common >> shift
    return 1.0 - 2.0 * (common & 1).astype(np.float64)


def _embedded(pair: Pair, A: Array) -> Embedded:
    weights = A.T.copy()
    return Embedded(
        codes=pair.combined_codes(weights),
        projection=None,
        decoder=np.asarray(np.linalg.pinv(A).T, dtype=np.float64),
        offset=np.zeros(pair.n_right),
        solver=f"closed-{pair.regime}",
    )
