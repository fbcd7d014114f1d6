"""First and second moments of two blocks of columns, [left, right], that add and subtract.

With a ridge learner every linear method of this library is a function of these sums, so one
pass over the rows is enough: blocks of rows, folds and machines are merged exactly.

The sums are kept as a mean and a *centred* scatter matrix in float64. Raw sums of squares would
be simpler to add, but a feature with a large offset (a year, a temperature in kelvin) would
then lose its variance to cancellation; merging centred scatters (Chan, Golub and LeVeque,
"Algorithms for computing the sample variance", 1983) does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._compress import with_cells_once
from compactlearn.core._device_array import DeviceArray
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._row_sums import (
    BLOCK_BYTES,
    device_sums,
    row_blocks,
    scale_rows,
    sparse_squared_deviations,
)

Array = NDArray[np.float64]


# Share of non-zeros above which a Gram matrix is summed from dense blocks (one thread: 2.6 times
# faster on enron, 8 %, 3.4 times on llog, 19 %; 3.8 times slower on bibtex, 3.7 %).
DENSE_BLOCKS_ABOVE = 0.05

# Squared mean over variance up to which sums need no shift: two of sixteen digits.
SMALL_OFFSET = 100.0

EPS = float(np.finfo(np.float64).eps)

# Relative rounding of a mean, and of a sum of n squares over the root of n, that a difference of
# moments allows for.
ROUNDING = 16 * EPS


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Weight, mean and centred scatter of the columns ``[left, right]``.

    Parameters
    ----------
    count : float
        Total weight of the rows; their number when no weights were given.
    mean : ndarray of shape (n_left + n_right,)
    scatter : ndarray of shape (n_left + n_right, n_left + n_right)
        Sum over the rows of ``w (z - mean)(z - mean)'``.
    n_left : int
        How many of the columns belong to the left block (features).
    rounding : float
        The size of what was taken off uncentred sums of the left block to centre them: their
        rounding is in the scatter. 0 where the rows were centred before they were summed, as dense
        ones are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(6, 3)), rng.integers(0, 2, size=(6, 2))
    >>> whole = Moments.from_arrays(X, Y)
    >>> parts = Moments.from_blocks([(X[:2], Y[:2]), (X[2:], Y[2:])])
    >>> bool(np.allclose(whole.scatter, parts.scatter))
    True
    >>> rest = whole - Moments.from_arrays(X[:2], Y[:2])
    >>> bool(np.allclose(rest.scatter, Moments.from_arrays(X[2:], Y[2:]).scatter))
    True
    """

    count: float
    mean: Array
    scatter: Array
    n_left: int
    rounding: float = 0.0

    @classmethod
    def from_arrays(cls, left: Any, right: Any, sample_weight: Array | None = None) -> Moments:
        """Sum the rows of a pair of dense or sparse matrices of equal height.

        Rows are not checked here beyond their shapes; the estimators check before they sum.

        Parameters
        ----------
        left, right : ndarray or sparse matrix of shape (n_rows, n_columns)
            Features and labels of the same rows.
        sample_weight : ndarray of shape (n_rows,), optional
            A row of weight 2 counts as that row twice.
        """
        if isinstance(left, DeviceArray):
            return cls(*device_sums(left, right, sample_weight), left.shape[1])
        left, right = _two_dimensional(left, "left"), _two_dimensional(right, "right")
        if left.shape[0] != right.shape[0]:
            raise ValueError(
                f"Moments need as many rows on the left as on the right, and were given "
                f"{left.shape[0]} and {right.shape[0]}; pass blocks cut at the same rows."
            )
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights is not None and (weights.shape != (left.shape[0],) or not (weights >= 0).all()):
            raise ValueError(
                f"sample_weight must hold one number per row ({left.shape[0]}), none below 0 or "
                f"NaN; got an array of shape {weights.shape}. Pass a vector of such weights."
            )
        return _sum_rows(left, right, weights)

    @classmethod
    def from_blocks(cls, blocks: Iterable[tuple[Any, ...]]) -> Moments:
        """Sum an iterable of ``(left, right)`` or ``(left, right, sample_weight)`` blocks.

        Parameters
        ----------
        blocks : iterable of tuples
            Any generator will do: a block may be forgotten once it was summed.
        """
        total: Moments | None = None
        for block in blocks:
            if not isinstance(block, tuple | list) or len(block) not in (2, 3):
                raise TypeError(
                    f"Moments.from_blocks needs blocks (left, right) or (left, right, "
                    f"sample_weight), and was given a {type(block).__name__}; pass tuples."
                )
            part = cls.from_arrays(*block)
            total = part if total is None else total + part
        if total is None:
            raise ValueError(
                "Moments.from_blocks was given no block; it needs at least one (left, right) pair."
            )
        return total

    @property
    def n_right(self) -> int:
        """The number of columns of the right block (labels)."""
        return self.mean.size - self.n_left

    @property
    def mean_left(self) -> Array:
        """Means of the left columns (a view)."""
        return self.mean[: self.n_left]

    @property
    def mean_right(self) -> Array:
        """Means of the right columns (a view)."""
        return self.mean[self.n_left :]

    @property
    def left_left(self) -> Array:
        """Centred Gram matrix of the left block (a view)."""
        return self.scatter[: self.n_left, : self.n_left]

    @property
    def left_right(self) -> Array:
        """Centred cross products, left by right (a view)."""
        return self.scatter[: self.n_left, self.n_left :]

    @property
    def right_right(self) -> Array:
        """*Uncentred* Gram matrix of the right block."""
        mean = self.mean_right
        return self.scatter[self.n_left :, self.n_left :] + self.count * np.outer(mean, mean)

    def __repr__(self) -> str:
        return (
            f"Moments of {self.count:g} rows, {self.n_left} left and {self.n_right} right columns"
        )

    def __radd__(self, other: object) -> Moments:
        """Lets ``sum(parts)`` work, which starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        self._check_same_columns(other)
        count = self.count + other.count
        if count == 0:
            return self
        shift = other.mean - self.mean
        mean = self.mean + shift * (other.count / count)
        scatter = self.scatter + other.scatter
        _add_outer(scatter, shift, self.count * other.count / count)
        return Moments(count, mean, scatter, self.n_left, self.rounding + other.rounding)

    def __sub__(self, other: Moments) -> Moments:
        """Return the moments of the rows of ``self`` that are not in ``other``.

        Results within the rounding error of the terms are set to 0: the deviations of a column that
        is constant in the remaining rows, and the mean of a column that is 0 there.
        """
        if not isinstance(other, Moments):
            return NotImplemented
        self._check_same_columns(other)
        count = self.count - other.count
        if count < 0:
            raise ValueError(
                f"Cannot take moments of weight {other.count:g} out of moments of weight "
                f"{self.count:g}; subtract only rows that were added before."
            )
        if count == 0:
            return Moments(0.0, np.zeros_like(self.mean), np.zeros_like(self.scatter), self.n_left)
        mean = self.mean + (self.mean - other.mean) * (other.count / count)
        mean_error = ROUNDING * (np.abs(self.mean) + np.abs(other.mean)) * (self.count / count)
        mean[np.abs(mean) <= mean_error] = 0.0
        shift, factor = mean - other.mean, count * other.count / self.count
        scatter = self.scatter - other.scatter
        _add_outer(scatter, shift, -factor)
        terms = np.diag(self.scatter) + np.diag(other.scatter) + factor * shift**2
        # Sums of sparse rows, and of the right block, were centred after they were added up.
        first = 0 if self.rounding or other.rounding else self.n_left
        terms[first:] += (self.count * self.mean**2 + other.count * other.mean**2)[first:]
        error = ROUNDING * np.sqrt(max(self.count, 1.0)) * terms
        error += 2.0 * factor * np.abs(shift) * mean_error + count * mean_error**2
        constant = np.diag(scatter) <= error
        scatter[constant] = scatter[:, constant] = 0.0
        return Moments(count, mean, scatter, self.n_left, self.rounding)

    def rescaled(self, factors: Array) -> Moments:
        """The moments after the left columns are multiplied by ``factors``.

        Parameters
        ----------
        factors : ndarray of shape (n_left,)
            One for each left column.
        """
        full = np.concatenate([factors, np.ones(self.n_right)])
        scatter = np.outer(full, full)
        scatter *= self.scatter
        rounding = self.rounding
        if rounding:
            own = self.mean_left
            rounding *= float(np.sum((factors * own) ** 2) / (own @ own))
        return Moments(self.count, self.mean * full, scatter, self.n_left, rounding)

    def _check_same_columns(self, other: Moments) -> None:
        if (self.n_left, self.n_right) != (other.n_left, other.n_right):
            raise ValueError(
                f"Moments can be combined only over the same columns; one has {self.n_left} left "
                f"and {self.n_right} right, the other {other.n_left} and {other.n_right}."
            )


def without_each(parts: Sequence[Moments]) -> Iterator[Moments]:
    """For each part the sum of all the others, in order.

    Sums from either end take three additions for each part, and nothing is subtracted: a column
    that varies in one fold only would otherwise keep no digit in the others.
    """
    after = [None, *accumulate(reversed(parts[1:]))][::-1]  # of the parts after each
    before: Moments | None = None
    for place, part in enumerate(parts):
        rest = [sums for sums in (before, after[place]) if sums is not None]
        yield sum(rest[1:], start=rest[0])
        after[place] = None  # no longer needed
        before = part if before is None else before + part


def _two_dimensional(block: Any, side: str) -> Any:
    block = with_cells_once(block) if scipy.sparse.issparse(block) else np.asarray(block)
    if block.ndim != 2:
        raise ValueError(
            f"The {side} block of Moments must be a matrix, and has {block.ndim} dimension(s); "
            "pass one row per sample."
        )
    return block


def _add_outer(scatter: Array, vector: Array, factor: float) -> None:
    """``scatter += factor * vector vector'`` in bands, so that no second matrix is made."""
    band = max(1, BLOCK_BYTES // (8 * max(1, vector.size)))
    vector = vector * np.sqrt(abs(factor))  # both sides alike: the sum stays symmetric to the bit
    for start in range(0, vector.size, band):
        rows = slice(start, start + band)
        scatter[rows] += np.outer(np.sign(factor) * vector[rows], vector)


def _sum_rows(left: Any, right: Any, weights: Array | None) -> Moments:
    count = float(left.shape[0]) if weights is None else float(weights.sum())
    n_left, n_right = left.shape[1], right.shape[1]
    if count <= 0:
        width = n_left + n_right
        return Moments(0.0, np.zeros(width), np.zeros((width, width)), n_left)
    right = scipy.sparse.csr_array(right, dtype=np.float64)
    roots = None if weights is None else np.sqrt(weights)
    rooted_right = scale_rows(right, roots)
    weighted_right = scale_rows(rooted_right, roots)
    mean_right = np.asarray(weighted_right.sum(axis=0)).ravel() / count
    scatter = np.empty((n_left + n_right, n_left + n_right))
    corner = scatter[n_left:, n_left:]
    corner[:] = (rooted_right.T @ rooted_right).toarray()
    _add_outer(corner, mean_right, -count)
    sum_left = _sparse_left if scipy.sparse.issparse(left) else _dense_left
    mean_left = sum_left(left, weighted_right, weights, count, mean_right, scatter)
    scatter[n_left:, :n_left] = scatter[:n_left, n_left:].T
    rounding = count * float(mean_left @ mean_left) if scipy.sparse.issparse(left) else 0.0
    return Moments(count, np.concatenate([mean_left, mean_right]), scatter, n_left, rounding)


def _sparse_left(
    left: Any,
    right: Any,
    weights: Array | None,
    count: float,
    mean_right: Array,
    scatter: Array,
) -> Array:
    """Uncentred sparse products with a rank-one correction: zeros have no offset to lose."""
    left = scipy.sparse.csr_array(left, dtype=np.float64)
    n_left = left.shape[1]
    mean = np.asarray(left.sum(axis=0) if weights is None else left.T @ weights).ravel() / count
    rooted = scale_rows(left, None if weights is None else np.sqrt(weights))
    _sparse_gram(rooted, out=scatter[:n_left, :n_left])
    _add_outer(scatter[:n_left, :n_left], mean, -count)
    # Off the diagonal a large mean costs digits; on it, a constant column must come out as one.
    np.fill_diagonal(
        scatter[:n_left, :n_left], sparse_squared_deviations(left, mean, weights, count)
    )
    scatter[:n_left, n_left:] = (left.T @ right).toarray()
    scatter[:n_left, n_left:] -= np.outer(count * mean, mean_right)
    return mean


def _sparse_gram(left: Any, out: Array) -> None:
    """``left' left`` of a CSR matrix.

    A sparse product costs entries-per-row times entries; beyond a few per cent of non-zeros a
    symmetric update by blocks of a few megabytes, dense one at a time, is faster.
    """
    n_rows, n_left = left.shape
    if left.nnz <= DENSE_BLOCKS_ABOVE * n_rows * n_left:
        out[:] = (left.T @ left).toarray()
        return
    out[:] = 0.0
    for rows in row_blocks(n_rows, n_left):
        block = left[rows].toarray()
        out += self_product(block.T)


def _dense_left(
    left: Any,
    right: Any,
    weights: Array | None,
    count: float,
    mean_right: Array,
    scatter: Array,
) -> Array:
    """One pass over rows less a provisional mean; a second, less the true one, only if needed.

    Small offsets (most data) need no shift and no copy at all. The first rows say whether they
    are small; if all of them say otherwise, the sums are made again about the mean found.
    """
    shift = _provisional_shift(left)
    offset, safe = _shifted_sums(left, right, weights, count, mean_right, scatter, shift)
    if not safe:
        shift = offset if shift is None else shift + offset
        offset, _ = _shifted_sums(left, right, weights, count, mean_right, scatter, shift)
    return offset if shift is None else shift + offset


def _provisional_shift(left: Any) -> Array | None:
    block = left[: 1 << 8].astype(np.float64, copy=False)
    mean, variance = block.mean(axis=0), block.var(axis=0)
    return mean if np.any(mean**2 > SMALL_OFFSET * variance) else None


def _shifted_sums(
    left: Any,
    right: Any,
    weights: Array | None,
    count: float,
    mean_right: Array,
    scatter: Array,
    shift: Array | None,
) -> tuple[Array, bool]:
    """Fill the left rows of ``scatter``; return the mean less the shift and whether it was small.

    Sums about a point at a distance from the mean lose as many digits as the square of that
    distance exceeds the variance.
    """
    n_left = left.shape[1]
    gram = scatter[:n_left, :n_left]
    gram[:] = 0.0
    cross = np.zeros((right.shape[1], n_left))
    total = np.zeros(n_left)
    for rows in row_blocks(left.shape[0], n_left):
        block = left[rows].astype(np.float64, copy=False)
        if shift is not None:
            block = block - shift
        cross += right[rows].T @ block  # the right block carries its weights already
        if weights is None:
            total += block.sum(axis=0)
        else:
            total += weights[rows] @ block
            block = block * np.sqrt(weights[rows])[:, None]
        gram += self_product(block.T)
    offset = total / count
    cross -= count * np.outer(mean_right, offset)
    _add_outer(gram, offset, -count)
    diagonal = np.einsum("ii->i", gram)
    np.maximum(diagonal, 0.0, out=diagonal)
    scatter[:n_left, n_left:] = cross.T
    rounding = 0.0 if shift is None else (100 * EPS * shift) ** 2
    return offset, bool(np.all(offset**2 <= 10 * SMALL_OFFSET * diagonal / count + rounding))
