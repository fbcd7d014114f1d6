"""The ridge decoder where some labels are not known.

The problem of :mod:`compactlearn.decoding._learned`, with its sum of squares over the known cells
alone. Unknown cells are filled with what the decoder makes of their codes, and the decoder is
solved again, until it stays: every such round lowers the sum over the known cells, since a filled
cell costs nothing when it is filled and the decoder is then the best for all of them. The first
fill is by the linear decoder that the ridge pulls to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.decoding._held_out import DecoderData, HeldOutFold
from compactlearn.decoding._learned import (
    SHARES,
    CodeDecoder,
    CodeSums,
    learn_from_rows,
    learn_linear_decoder,
)
from compactlearn.linalg._filling import with_cells
from compactlearn.linalg._row_sums import row_blocks

Array = NDArray[np.float64]

STEPS = (5, 2, 1)  # of the shares: each is solved by several rounds, so few are tried at first
TOLERANCE = 1e-4  # of the largest change of a filled cell
MOST_ROUNDS = 50


def learn_from_known_cells(data: DecoderData, share: float) -> CodeDecoder:
    """Ridge of the known labels on out-of-fold codes, shrunken towards the linear decoder."""
    if data.unknown is None or not data.unknown.nnz:
        return learn_from_rows(data, share)
    return _solved(data, share, None)[0]


def choose_known_share(folds: Sequence[HeldOutFold]) -> float:
    """The share of least squared error on known labels of new rows, summed over folds.

    Shares far apart are tried first, then those about the best, nearer and nearer.
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
    """That of the known labels of new rows."""
    total = 0.0
    for rows in row_blocks(*part.labels.shape):
        missed = part.codes[rows] @ decoder.coefficients + decoder.intercept
        missed -= part.labels[rows].toarray()
        if part.unknown is not None:
            missed[part.unknown[rows].nonzero()] = 0.0
        total += float(part.weights[rows] @ np.einsum("ij,ij->i", missed, missed))
    return total


def _solved(data: DecoderData, share: float, cells: Array | None) -> tuple[CodeDecoder, Array]:
    """The decoder, and what it makes of the unknown cells; ``cells`` are a first guess of these."""
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
    """(nnz,) what a decoder makes of the codes at the marked cells, in the order of rows."""
    found = np.empty(unknown.indices.size)
    for rows in row_blocks(*unknown.shape):
        cells = slice(unknown.indptr[rows.start], unknown.indptr[min(rows.stop, unknown.shape[0])])
        scores = codes[rows] @ W + b
        own = np.repeat(np.arange(len(scores)), np.diff(unknown.indptr[rows.start : rows.stop + 1]))
        found[cells] = scores[own, unknown.indices[cells]]
    return found
