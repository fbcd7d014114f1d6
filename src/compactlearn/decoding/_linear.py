"""Scores from features in the cheapest order of products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray
from compactlearn.linalg._arrays import scale_columns, zeros_on_device_of

Array = NDArray[np.float64]

_DEVICE_ENTRIES = 1 << 26  # half a gigabyte: small blocks are slow on a device
_BLOCK_ENTRIES = 1 << 18  # two megabytes of scores: compared with the threshold while in cache


@dataclass(frozen=True)
class Chain:
    """Chain of matrix products: the widths of all steps, and the stops among them.

    Between two stops is one matrix: a step of the chain, or the product of several.
    """

    widths: tuple[int, ...]
    stops: tuple[int, ...]

    @classmethod
    def cheapest(cls, widths: Sequence[int]) -> Chain:
        """Return the chain of fewest matrix entries, of equals the one with fewest in products.

        A row needs one multiplication per entry, so this is also the fastest chain.

        >>> Chain.cheapest((1000, 20, 10, 50)).stops, Chain.cheapest((1000, 20, 20, 50)).stops
        ((0, 2, 3), (0, 1, 3))
        """
        last = len(widths) - 1
        inner = [kept for n in range(last) for kept in combinations(range(1, last), n)]
        chains = [cls(tuple(widths), (0, *kept, last)) for kept in inner]
        return min(chains, key=lambda chain: (chain.numbers, chain.new_numbers))

    def _sizes(self, *, steps: bool) -> int:
        widths = self.widths
        return sum(widths[a] * widths[b] for a, b in pairwise(self.stops) if steps or b > a + 1)

    @property
    def numbers(self) -> int:
        """Number of entries of the matrices between the stops."""
        return self._sizes(steps=True)

    @property
    def new_numbers(self) -> int:
        """Number of entries of those matrices that are products."""
        return self._sizes(steps=False)


def linear_parameters(
    n_inputs: int, n_labels: int, n_features: int | None, n_codes: int | None
) -> int:
    """Return the number of parameters that a linear model must store to predict.

    It goes from D inputs over d projected features and m codes to M labels; either step between
    may be missing (None: the learner sees all inputs, or predicts the labels). Neighbouring
    matrices can be multiplied out beforehand, so the number is that of the smallest of the chains

        D x M,   D x d + d x M,   D x m + m x M,   D x d + d x m + m x M,

    and M constants: every intercept, of the learner, the decoder and the offset, folds into one
    per label, and the scale of a feature into its row of the first matrix. Zeros count where a
    matrix is dense; thresholds do not count.

    >>> linear_parameters(1000, 50, None, None), linear_parameters(1000, 50, 20, 10)
    (50050, 10550)
    >>> linear_parameters(1000, 50, 5, 10)
    5300
    """
    between = [n for n in (n_features, n_codes) if n is not None]
    return n_labels + Chain.cheapest((n_inputs, *between, n_labels)).numbers


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """Linear model ``(X / scale) A_1 A_2 ... + intercept``, given by its factors.

    The arrays are not copied. Products of factors, where a row then needs fewer multiplications,
    are computed when the first row is scored. (Two threads may both do so, with the same result.)

    >>> scorer = LinearScorer((np.ones((4, 1)), np.ones((1, 3))), np.zeros(3))
    >>> len(scorer.factors), scorer.scores(np.eye(4)).shape
    (2, (4, 3))
    """

    steps: tuple[Any, ...]  # (D, d), (d, m), (m, M), or some of these
    intercept: Array  # (M,)
    scale: Array | None = None  # (D,), divisors of the columns of X

    @property
    def chain(self) -> Chain:
        """Positions among the steps at which the factors begin and end."""
        return Chain.cheapest((self.steps[0].shape[0], *(step.shape[1] for step in self.steps)))

    @cached_property
    def factors(self) -> tuple[Any, ...]:
        """Matrices that a row is multiplied by, in this order."""
        return tuple(_product(self.steps[a:b]) for a, b in pairwise(self.chain.stops))

    def scores(self, X: Any) -> Array:
        """Return the scores of all rows of X.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        if self.scale is None or scipy.sparse.issparse(X):
            return self._scores(X if self.scale is None else scale_columns(X, 1.0 / self.scale))
        scores = zeros_on_device_of((X.shape[0], self.intercept.size), X)  # no second X is made
        for rows, block in self.blocks(X):
            scores[rows] = block
        return scores

    def blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield the scores of a few rows at a time, for callers that do not need all at once.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        n_rows, width = X.shape[0], max(1, self.intercept.size)
        factors = None if self.scale is None else 1.0 / self.scale
        if factors is not None and scipy.sparse.issparse(X):
            X, factors = scale_columns(X, factors), None
        if factors is not None:
            width = max(width, X.shape[1])  # a scaled copy of the rows is in the cache as well
        entries = _DEVICE_ENTRIES if isinstance(X, DeviceArray) else _BLOCK_ENTRIES
        step = max(64, entries // width)
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            part = X if step >= n_rows else X[rows]
            yield rows, self._scores(part if factors is None else part * factors)

    def _scores(self, X: Any) -> Array:
        # Products are in the type of the factors if that is smaller; else these would be widened.
        small = self.factors[0].dtype.itemsize < X.dtype.itemsize
        scores = X.astype(self.factors[0].dtype) if small else X
        for factor in self.factors:
            scores = scores @ factor
        scores = scores.astype(np.float64, copy=False)
        scores += self.intercept
        return scores

    def columns(self, labels: NDArray[np.integer[Any]]) -> Array:
        """Return the columns of the (D, M) matrix for these labels; no others are computed.

        Parameters
        ----------
        labels : ndarray of int
            Indices of columns.
        """
        *before, last = self.factors
        product = np.asarray(last[:, labels], dtype=np.float64)
        for factor in reversed(before):
            product = factor @ product
        return product if self.scale is None else product / self.scale[:, None]

    @property
    def coefficients(self) -> Array:
        """The (D, M) matrix, multiplied out."""
        product = _product(self.factors)
        return product if self.scale is None else product / self.scale[:, None]


def _product(matrices: Sequence[Any]) -> Any:
    return matrices[0] if len(matrices) == 1 else np.linalg.multi_dot(matrices)
