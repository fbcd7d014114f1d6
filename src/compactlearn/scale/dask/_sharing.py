"""Work that needs all rows, and is divided among workers by labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compactlearn.core._chunked import is_dask, is_dask_array
from compactlearn.core._memory import require_memory
from compactlearn.core._threads import blas_threads
from compactlearn.linalg._many_logistic import BlockSolver, Problems, Solved, Weights
from compactlearn.scale.dask._chunks import check_features_unread, has_sparse_blocks
from compactlearn.scale.dask._running import call, computed, value


def share_out(
    solver: BlockSolver, blocks: Sequence[tuple[Problems, Weights | None]]
) -> list[Solved]:
    """Solve blocks of problems on the workers; the rows are sent to each worker once."""
    shared = value(solver, "regressions")
    return list(computed(*[call(_solved, shared, *block, what="labels") for block in blocks]))


def _solved(solver: BlockSolver, part: Problems, start: Weights | None) -> Solved:
    with blas_threads(1):
        return solver(part, start)


def gathered(X: Any, *others: Any) -> tuple[Any, ...]:
    """Return the rows of Dask collections in memory; other arguments are returned unchanged."""
    X = check_features_unread(X)
    if is_dask_array(X):
        require_memory(
            # How many entries sparse blocks have is not known beforehand.
            0 if has_sparse_blocks(X) else X.shape[0] * X.shape[1] * X.dtype.itemsize,
            what=f"Gathering a Dask array of shape {X.shape}",
            remedy="Fit to fewer rows.",
        )
    wanted = [X, *others]
    lazy = [place for place, one in enumerate(wanted) if is_dask(one)]
    for place, found in zip(lazy, computed(*[wanted[p] for p in lazy]), strict=True):
        wanted[place] = found
    return tuple(wanted)
