"""Linear decoder learnt from out-of-fold codes.

W = V'Y decodes perfect codes. Predicted codes are shrunken and noisy, so labels are regressed on
out-of-fold codes, with a ridge towards the method's own decoder:

    minimise  ||Yc - Uc W||^2 + penalty ||W - W0||^2

    U (N, m) out-of-fold codes, Y (N, M) labels, both centred, W0 (m, M) the method's decoder.

A large penalty gives the linear decoder, a small one least squares on out-of-fold codes. The
penalty is a share of the mean eigenvalue of U'U, and the share is selected by the squared error on
rows held out of the decoder and of the codes it was learnt from. (Generalised cross-validation
would be biased: W0 depends on the labels of every row, so Uc W0 fits them better than those of new
rows.)

Where some labels are not known, the sum of squares is over the known cells alone. Unknown cells are
filled with the decoder's scores, and the decoder is solved again, until it converges: every round
lowers the sum over the known cells, since a filled cell has no error when it is filled and the
decoder is then the best for all cells. The first fill is by W0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.decoding._held_out import DecoderData, HeldOutFold
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._filling import with_cells
from compactlearn.linalg._ridge import RidgePath
from compactlearn.linalg._row_sums import row_blocks

Array = NDArray[np.float64]

# Shares of the mean eigenvalue of U'U that are tried as penalties, strongest first: of equally good
# ones the strongest is selected, which is closest to the linear decoder.
SHARES = np.logspace(4, -6, 41)

# Codes whose squares vary by no more than this share of their mean's square are constant: the rest
# is rounding.
CONSTANT = 1e-24

# Where labels are unknown:
STEPS = (5, 2, 1)  # of the shares: each is solved by several rounds, so few are tried at first
TOLERANCE = 1e-4  # of the largest change of a filled cell
MOST_ROUNDS = 50


@dataclass(frozen=True)
class CodeSums:
    """Means and products of codes U and labels Y that the ridge is solved from."""

    count: float  # total weight
    mean_codes: Array  # (m,)
    mean_labels: Array  # (M,)
    gram: Array  # (m, m)  Uc'Uc
    cross: Array  # (m, M)  Uc'Y
    energy: float  # ||Yc||^2

    @classmethod
    def of_rows(cls, codes: Array, Y: Any, w: Array) -> CodeSums:
        """Return the sums of these rows.

        ``Y`` is a sparse (N, M) matrix of ones; no dense matrix of that size is formed.
        """
        count = float(w.sum())
        mean, ybar = (w @ codes) / count, np.asarray(Y.T @ w).ravel() / count
        Uc = (codes - mean) * np.sqrt(w)[:, None]
        cross = np.asarray(Y.T @ (Uc * np.sqrt(w)[:, None])).T
        energy = float(_square_sum(Y, w) - count * (ybar @ ybar))
        return cls(count, mean, ybar, self_product(Uc.T), cross, energy)

    def squared_error(self, decoder: CodeDecoder) -> float:
        """Return ``||Y - U W - 1 b'||^2`` of these rows."""
        W = decoder.coefficients
        missed = self.mean_labels - self.mean_codes @ W - decoder.intercept
        inside = float(np.vdot(W, self.gram @ W)) - 2.0 * float(np.vdot(W, self.cross))
        return self.energy + inside + self.count * float(missed @ missed)


@dataclass(frozen=True)
class CodeDecoder:
    """Linear map from codes to scores: ``codes @ coefficients + intercept``."""

    coefficients: Array  # (m, M)
    intercept: Array  # (M,)
    penalty: float


class DecoderPath:
    """Ridge decoders of all penalties, from one decomposition."""

    def __init__(self, sums: CodeSums, prior: Array) -> None:
        self.sums = sums
        self._path = RidgePath.from_gram(sums.gram)
        self._start = self._path.vectors.T @ prior
        # E'(U'Y - U'U W0)
        self._gap = self._path.vectors.T @ sums.cross - self._path.values[:, None] * self._start
        self._scale = float(self._path.values.mean()) if self._path.values.size else 0.0
        if self._scale <= CONSTANT * sums.count * float(sums.mean_codes @ sums.mean_codes):
            self._scale, self._gap = 1.0, np.zeros_like(self._gap)  # constant codes: no slopes

    def at(self, share: float) -> CodeDecoder:
        """Return the decoder for a penalty of that share of the mean eigenvalue."""
        penalty = self._scale * share
        W = self._path.vectors @ (self._start + self._path.inverse(penalty)[:, None] * self._gap)
        return CodeDecoder(W, self.sums.mean_labels - self.sums.mean_codes @ W, penalty)


def learn_linear_decoder(sums: CodeSums, prior: Array, share: float) -> CodeDecoder:
    """Fit a ridge of the labels on out-of-fold codes, shrunken towards ``prior``.

    >>> import scipy.sparse
    >>> codes = np.array([[2.0], [-2.0], [2.0], [-2.0]])
    >>> Y = scipy.sparse.csr_array(np.array([[1.0], [0.0], [1.0], [0.0]]))
    >>> sums = CodeSums.of_rows(codes, Y, np.ones(4))
    >>> decoder = learn_linear_decoder(sums, np.array([[1.0]]), 1e-6)
    >>> np.round(decoder.coefficients, 2), decoder.intercept
    (array([[0.25]]), array([0.5]))
    """
    return DecoderPath(sums, prior).at(share)


def learn_from_rows(data: DecoderData, share: float) -> CodeDecoder:
    """Fit a ridge of the labels on out-of-fold codes, shrunken towards the linear decoder."""
    return learn_linear_decoder(
        CodeSums.of_rows(data.codes, data.labels, data.weights), data.linear, share
    )


def choose_share(folds: Iterable[HeldOutFold]) -> float:
    """Return the share of least squared error on held-out rows, summed over the folds.

    Without any fold, the linear decoder is kept.
    """
    losses = np.zeros(SHARES.size)
    for part in folds:
        train = part.train
        sums = CodeSums.of_rows(train.codes, train.labels, train.weights)
        held_out = CodeSums.of_rows(part.codes, part.labels, part.weights)
        path = DecoderPath(sums, train.linear)
        losses += [held_out.squared_error(path.at(share)) for share in SHARES]
    # Differences within rounding are ties.
    return float(SHARES[int(np.argmax(losses <= losses.min() * (1 + 1e-12)))])


def _square_sum(Y: Any, weights: Array) -> float:
    return float(np.repeat(weights, np.diff(Y.indptr)) @ (Y.data * Y.data))


def learn_from_known_cells(data: DecoderData, share: float) -> CodeDecoder:
    """Fit a ridge of the known labels on out-of-fold codes, shrunken towards the linear decoder."""
    if data.unknown is None or not data.unknown.nnz:
        return learn_from_rows(data, share)
    return _solved(data, share, None)[0]


def choose_known_share(folds: Sequence[HeldOutFold]) -> float:
    """Return the share of least squared error on known labels of held-out rows.

    Shares far apart are tried first, then shares ever closer to the best.
    """
    if not folds:
        return float(SHARES[0])
    cells: list[Array | None] = [None] * len(folds)  # each solution is the start of the next

    @cache
    def loss(place: int) -> float:
        total = 0.0
        for number, part in enumerate(folds):
            decoder, cells[number] = _solved(part.train, float(SHARES[place]), cells[number])
            total += squared_error(decoder, part)
        return total

    best = min(range(0, SHARES.size, STEPS[0]), key=loss)
    for step in STEPS[1:]:
        near = (best, best - step, best + step)
        best = min((place for place in near if 0 <= place < SHARES.size), key=loss)
    return float(SHARES[best])


def squared_error(decoder: CodeDecoder, part: HeldOutFold) -> float:
    """Return the squared error on the known labels of held-out rows."""
    total = 0.0
    for rows in row_blocks(*part.labels.shape):
        missed = part.codes[rows] @ decoder.coefficients + decoder.intercept
        missed -= part.labels[rows].toarray()
        if part.unknown is not None:
            missed[part.unknown[rows].nonzero()] = 0.0
        total += float(part.weights[rows] @ np.einsum("ij,ij->i", missed, missed))
    return total


def _solved(data: DecoderData, share: float, cells: Array | None) -> tuple[CodeDecoder, Array]:
    """Return the decoder and its scores of the unknown cells; ``cells`` is a first guess."""
    unknown, Y, w = data.unknown, data.labels, data.weights
    if unknown is None:
        return learn_from_rows(data, share), np.empty(0)
    if cells is None:
        mean = (w @ data.codes) / w.sum()
        known = np.maximum(w.sum() - np.asarray(unknown.T @ w).ravel(), 1e-300)
        offset = np.asarray(Y.T @ w).ravel() / known - mean @ data.linear
        cells = predicted_cells(data.codes, data.linear, offset, unknown)
    decoder = None
    for _ in range(MOST_ROUNDS):
        sums = CodeSums.of_rows(data.codes, with_cells(Y, unknown, cells), w)
        decoder = learn_linear_decoder(sums, data.linear, share)
        after = predicted_cells(data.codes, decoder.coefficients, decoder.intercept, unknown)
        change, cells = float(np.abs(after - cells).max(initial=0.0)), after
        if change <= TOLERANCE:
            break
    assert decoder is not None
    return decoder, cells


def predicted_cells(codes: Array, W: Array, b: Array, unknown: Any) -> Array:
    """Return the scores (nnz,) of a decoder at the unknown cells, in the order of rows."""
    found = np.empty(unknown.indices.size)
    for rows in row_blocks(*unknown.shape):
        cells = slice(unknown.indptr[rows.start], unknown.indptr[min(rows.stop, unknown.shape[0])])
        scores = codes[rows] @ W + b
        own = np.repeat(np.arange(len(scores)), np.diff(unknown.indptr[rows.start : rows.stop + 1]))
        found[cells] = scores[own, unknown.indices[cells]]
    return found
