"""Few rows of columns in very different units, as coordinates of the space they span.

Their kernel matrix has lost the small columns. As the rows lie in a space of no more dimensions
than there are of them, they are turned into coordinates of it, in which they are narrow, and
everything of the ridge is asked of these.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.linalg._graded import direction_floor, graded_coordinates
from compactlearn.linalg._ridge import SMALL_PENALTY
from compactlearn.linalg._routes import GRAM_LIMIT
from compactlearn.linalg._rowwise_pair import RowwisePair

Array = NDArray[np.float64]

# Sparse rows of up to so many cells (64 MB) may be made dense where their columns are in very
# different units.
DENSE_ROWS = 1 << 23


def condensed(
    pair: RowwisePair, penalty: float = 0.0, *, centred: bool = True
) -> tuple[Array, RowwisePair] | None:
    """Orthonormal directions, and the pair of the rows' coordinates; None where not needed.

    A penalty that is no small part of the rows' squares outweighs what the kernel has lost. The
    mean of the rows has coordinates, too, unless they are ``centred``. Sparse rows are not made
    dense, unless there are few of them.
    """
    if pair.narrow or penalty > SMALL_PENALTY * pair.left_energy or not pair.graded:
        return None
    n_rows, n_left = pair.shape
    if scipy.sparse.issparse(pair.left) and n_rows * n_left > DENSE_ROWS:
        return None
    free = memory.available_bytes()
    if n_rows > GRAM_LIMIT or (free is not None and 8 * 4 * n_rows * n_left > free):
        return None
    return pair.condensed(centred=centred)


def coordinates(pair: RowwisePair, rows: Array, *, centred: bool) -> tuple[Array, Array, Array]:
    """Q that spans Xc, given by its ``rows``, and unless ``centred`` the mean; the rows as they
    came in these coordinates; and what rounding leaves of a coordinate that no row has."""
    variances, mean = pair.variances, pair.mean_left
    assert variances is not None
    Q, found = graded_coordinates(rows if centred else np.vstack([rows, mean]))
    own = pair.unweighted(found[: len(rows)])
    if not centred:
        own = own + found[-1]
    squares = variances if centred else variances + pair.count * mean**2
    return Q, own, direction_floor(Q, squares)
