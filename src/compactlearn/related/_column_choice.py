"""Which columns of a matrix T stand for all of them, from products with T'T alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._eigen import leading_eigenpairs

Array = NDArray[np.float64]
Places = NDArray[np.intp]

# Scores that differ by less than this are one: rounding, which differs between regimes, must not
# decide between columns that are equally good. The first of them is taken.
TIE = 1e-9

_WIDTH = 128  # columns that are multiplied at a time


def leverages(gram: Any, rank: int) -> Array:
    """Squared lengths of the rows of T's leading right singular vectors; they sum to their number.

    >>> leverages(np.diag([1.0, 3.0, 2.0]), 2)
    array([0., 1., 1.])
    """
    vectors = leading_eigenpairs(gram, rank).vectors
    return np.einsum("ij,ij->i", vectors, vectors)


def largest_first(scores: Array, count: int) -> Places:
    """The columns of largest scores, less those whose score is zero.

    >>> largest_first(np.array([0.2, 0.0, 0.5, 0.2]), 4)
    array([2, 0, 3])
    """
    order = np.argsort(-np.round(scores / TIE), kind="stable")[:count]
    return order[scores[order] > TIE]


def drawn(scores: Array, count: int, rng: np.random.RandomState) -> Places:
    """Different columns, one after the other, each with a chance in proportion to its score among
    those that are left (the first to arrive of waiting times with these rates)."""
    waiting = rng.exponential(size=scores.size)
    arrivals = np.full(scores.size, np.inf)
    np.divide(waiting, scores, out=arrivals, where=scores > TIE)
    order = np.argsort(arrivals, kind="stable")[:count]
    return order[np.isfinite(arrivals[order])]


def greedy(gram: Any, count: int) -> Places:
    """One column after the other: that which, with those before it, lets least squares recover most
    of T. Columns that are combinations of those before are none.

    With R the part of T outside the span of the chosen columns, column j gains
    ``||R'r_j||^2 / ||r_j||^2``. Both are carried along (Farahat, Ghodsi and Kamel 2013), so that a
    step costs one product with T'T.
    """
    n = gram.shape[0]
    energies, lengths = _squares(gram)  # ||R'r_j||^2, ||r_j||^2
    # What is no longer than this is rounding: of its own length, or of the longest where centring
    # has left nothing of a constant label.
    shortest = np.maximum(1e-10 * lengths, 1e-12 * lengths.max(initial=0.0))
    basis = np.zeros((n, min(count, n)))
    chosen: list[int] = []
    for step in range(min(count, n)):
        left = lengths > shortest
        left[chosen] = False
        if not left.any():
            break
        gains = np.divide(energies, lengths, out=np.full(n, -np.inf), where=left)
        best = int(np.argmax(gains >= gains.max() * (1.0 - TIE)))
        w = _product(gram, np.eye(n, 1, -best)) - basis @ basis[best]
        w /= np.sqrt(w[best])
        Rw = _product(gram, w[:, None]) - basis @ (basis.T @ w)
        energies += -2.0 * w * Rw + (w @ w) * w**2
        lengths -= w**2
        basis[:, step] = w
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)


def _squares(gram: Any) -> tuple[Array, Array]:
    """Squared lengths of the columns of ``T'T`` and of T."""
    n = gram.shape[0]
    energies, lengths = np.empty(n), np.empty(n)
    for start in range(0, n, _WIDTH):
        stop = min(start + _WIDTH, n)
        part = np.asarray(gram @ np.eye(n, stop - start, -start))
        energies[start:stop] = np.einsum("ij,ij->j", part, part)
        lengths[start:stop] = np.diagonal(part[start:stop])
    return energies, lengths


def _product(gram: Any, column: Array) -> Array:
    return np.asarray(gram @ column)[:, 0]
