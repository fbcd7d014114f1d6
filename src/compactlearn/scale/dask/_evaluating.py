"""Metrics of a model on a Dask collection: workers evaluate blocks, and only sums are sent."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.core._chunked import is_dask
from compactlearn.core._threads import blas_threads
from compactlearn.metrics._evaluation import Asked, Tally, tally, values
from compactlearn.metrics._truth import read_truth
from compactlearn.scale._checking import block_named
from compactlearn.scale.dask._chunks import aligned, counted_array, filled_blocks, one_row_of_zeros
from compactlearn.scale.dask._predicting import slim
from compactlearn.scale.dask._running import call, total, value

# Model, X and Y in; truth, scores, predicted labels and probabilities out.
Answers = Callable[[Any, Any, Any], tuple[Any, Any, Any, Any]]


def evaluate_on_dask(
    model: Any, X: Any, Y: Any, asked: Asked, answers: Answers
) -> dict[str, float]:
    """Return every metric, from the tallies of all blocks of checked features.

    ``Y`` may be in memory.
    """
    model.predict(one_row_of_zeros(X))  # raises at once what every block would raise
    sizes, rows = filled_blocks(X)
    truths = aligned(_rows_to_cut(Y, "Y"), sizes, "Y")
    shared = value((slim(model), asked, answers), "model")
    starts = [*accumulate(sizes, initial=0)][:-1]
    parts = [
        call(_tally_of, shared, *given, what="evaluate")
        for given in zip(rows, truths, range(len(sizes)), starts, strict=True)
    ]
    return values(asked, total(parts, operator.add))


def _rows_to_cut(data: Any, name: str) -> Any:
    if is_dask(data):
        return counted_array(data, name)
    return data if scipy.sparse.issparse(data) or hasattr(data, "iloc") else np.asarray(data)


def _tally_of(shared: tuple[Any, Asked, Answers], X: Any, Y: Any, index: int, start: int) -> Tally:
    """Return the tally of one block, on a worker."""
    model, asked, answers = shared
    with blas_threads(1), block_named(index, start):
        truth, *predicted = answers(model, X, Y)
        return tally(asked, read_truth(truth), *predicted)
