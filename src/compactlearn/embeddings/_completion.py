"""Columns of a projection beyond those that the problem determines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._arrays import zeros_on_device_of
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]

COMPLETIONS = ("none", "krylov")

RESIDUE = 1e-10  # of a block: what is left of it outside a span is rounding


class CompletedEmbedding(Embedding):
    """Embedding whose parameter ``completion`` adds columns to its projection."""

    completion: str

    def further_directions(self, pair: Pair, P: Array, count: int) -> Array:
        """Return up to ``count`` orthonormal directions outside the span of P.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        P : ndarray
            The columns that the problem determines.
        count : int
            The number of directions.
        """
        if self.completion == "none":
            return zeros_on_device_of((pair.n_left, 0), P)
        return krylov_directions(pair, P, count)


def krylov_directions(pair: Pair, P: Array, count: int) -> Array:
    """Return up to ``count`` directions of Xc'Xc P, (Xc'Xc)^2 P, ... outside the span of P.

    Where P spans Xc'V this is the space in which conjugate gradients look for the ridge regression
    of V on all the features: a few blocks are almost as good as all of them. Each block is ordered
    by decreasing singular value, so that directions are nested; there may be fewer than asked for.
    """
    basis, block = P, P
    while basis.shape[1] - P.shape[1] < count and block.shape[1]:
        images = pair.left.gram @ block
        images = images / (np.abs(images).max(initial=0.0) or 1.0)
        size = float(np.sqrt(np.trace(pair.left.inner(images, images))))
        # As long as the rows are: squares of squares need not be finite, and rounding is judged
        # by that length.
        images *= float(np.sqrt(pair.left.energy)) / (size or 1.0)
        size = float(np.sqrt(pair.left.energy))
        outside = images
        for _ in range(2):  # once leaves rounding, twice does not
            outside = outside - basis @ pair.left.inner(basis, outside)
        block, squares = pair.left.leading_range(outside)
        block = block[:, : int(np.count_nonzero(squares > (RESIDUE * size) ** 2))]
        if squares.size and squares[-1] < (1e-4 * size) ** 2:  # short: its rounding was magnified
            block = pair.left.extension(basis, block)
        basis = np.hstack([basis, block])
    return basis[:, P.shape[1] : P.shape[1] + count]
