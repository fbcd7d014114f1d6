"""Labels as 0/1, as -1/+1 or centred, and the Gram matrix of either: T = scale Y + 1 shift'.

Methods that work on the labels alone differ between programs in this coding, and need no more of
the labels than T'T = scale^2 Yc'Yc + n u u' with u the mean of T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg._operators import ColumnScaled, Updated
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]

CODINGS = ("centred", "binary", "signed")


@dataclass(frozen=True)
class CodedLabels:
    """The labels of a pair in one of the codings."""

    pair: Pair
    kind: str
    scale: float
    shift: Array  # (M,)

    @classmethod
    def of(cls, pair: Pair, kind: str) -> CodedLabels:
        if kind == "signed":
            return cls(pair, kind, 2.0, np.full(pair.n_right, -1.0))
        mean = pair.mean_right
        return cls(pair, kind, 1.0, -mean if kind == "centred" else np.zeros(pair.n_right))

    @property
    def offset(self) -> Array:
        """Offset that turns decoded T, divided by the scale, into 0/1 labels."""
        return -self.shift / self.scale

    @property
    def encoder_shift(self) -> Array | None:
        """As :meth:`Pair.combined_codes` takes it, for weights that are multiplied by the scale."""
        return None if self.kind == "binary" else self.shift / self.scale

    def gram(self) -> Any:
        """``T'T``, as an array or an operator."""
        if self.kind != "signed":
            return self.pair.right_gram(centre=self.kind == "centred")
        inner = self.pair.right_gram(centre=True)
        u = 2.0 * self.pair.mean_right - 1.0
        if isinstance(inner, np.ndarray):
            return 4.0 * inner + self.pair.count * np.outer(u, u)
        return Updated(ColumnScaled(inner, 4.0), self.pair.count * u, u)

    def gram_columns(self, columns: NDArray[np.intp]) -> Array:
        """Some columns of ``T'T`` (M, k)."""
        chosen = np.zeros((self.pair.n_right, columns.size))
        chosen[columns, np.arange(columns.size)] = 1.0
        return np.asarray(self.gram() @ chosen)


def least_squares(inner: Array, cross: Array) -> Array:
    """``(C'C)^+ C'T`` from the Gram matrix of C and its products with T.

    >>> least_squares(np.diag([4.0, 0.0]), np.array([[8.0], [0.0]]))
    array([[2.],
           [0.]])
    """
    values, vectors = all_eigenpairs((inner + inner.T) / 2)
    rank = numerical_rank(values, values.size)
    E = vectors[:, :rank]
    return (E / values[:rank]) @ (E.T @ cross)
