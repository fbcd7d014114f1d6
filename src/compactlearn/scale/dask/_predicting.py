"""Lazy predictions for Dask collections, block by block, by a model that is sent once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any

import numpy as np

from compactlearn.core._chunked import is_dask_frame
from compactlearn.scale._checking import block_named
from compactlearn.scale.dask._chunks import check_features_unread, one_row_of_zeros
from compactlearn.scale.dask._running import call, dask, value


def ask_lazily(method: Callable[..., Any], model: Any, X: Any, *given: Any, **options: Any) -> Any:
    """Return the results of a method of the model for a collection as Dask arrays.

    The method is first called with one row of zeros, to find the type and shape of its result. It
    raises its errors there: other columns, a model that is not fitted, an invalid option.
    """
    X = check_features_unread(X, counted=False)
    sample = method(model, one_row_of_zeros(X), *given, **options)
    ask = _Ask(method.__name__, given, options, sample, _first_rows(X))
    lazily = _of_frame if is_dask_frame(X) else _of_array
    return lazily(ask, X, value(slim(model), "model"))


@dataclass(frozen=True, eq=False)
class _Ask:
    """Call of a model's method, one row of its result, and the blocks' first rows if known."""

    name: str
    given: Any
    options: Any
    sample: Any
    first_rows: list[int] | None

    def of_block(self, block: Any, model: Any, block_id: tuple[int, ...]) -> Any:
        number = block_id[0]
        if block.shape[0] == 0:  # a partition that a filter has left empty
            parts = self.sample
            return tuple(one[:0] for one in parts) if isinstance(parts, tuple) else parts[:0]
        first = None if self.first_rows is None else self.first_rows[number]
        with block_named(number, first):
            return getattr(model, self.name)(block, *self.given, **self.options)


def _of_array(ask: _Ask, X: Any, model: Any) -> Any:
    if isinstance(ask.sample, tuple):  # blocks of pairs, taken apart lazily
        first, *_ = ask.sample
        pairs = _mapped(X, ask.of_block, first, model=model)
        return tuple(
            _mapped(pairs, itemgetter(place), part) for place, part in enumerate(ask.sample)
        )
    return _mapped(X, ask.of_block, ask.sample, model=model)


def _mapped(X: Any, function: Callable[..., Any], sample: Any, **options: Any) -> Any:
    """Apply ``function`` to each block; its result has the type and columns of ``sample``."""
    flat = sample.ndim == 1
    return X.map_blocks(
        function,
        **options,
        chunks=(X.chunks[0],) if flat else (X.chunks[0], (sample.shape[1],)),
        drop_axis=1 if flat and X.ndim == 2 else None,
        dtype=sample.dtype,
        meta=sample[:0],
    )


def _of_frame(ask: _Ask, X: Any, model: Any) -> Any:
    """Return arrays with one block for each partition, whose lengths are not known."""
    array, blocks = dask("array"), X.to_delayed()
    answers = [
        call(ask.of_block, block, model, (number,), what=ask.name)
        for number, block in enumerate(blocks)
    ]

    def joined(answers: list[Any], sample: Any) -> Any:
        shape = (np.nan, *sample.shape[1:])
        parts = [array.from_delayed(one, shape, meta=sample[:0]) for one in answers]
        return array.concatenate(parts, allow_unknown_chunksizes=True)

    if not isinstance(ask.sample, tuple):
        return joined(answers, ask.sample)
    return tuple(
        joined([call(itemgetter(place), one, what=ask.name) for one in answers], part)
        for place, part in enumerate(ask.sample)
    )


def _first_rows(X: Any) -> list[int] | None:
    if is_dask_frame(X) or np.isnan(X.chunks[0]).any():
        return None
    return [*accumulate(X.chunks[0], initial=0)][:-1]


def slim(model: Any) -> Any:
    """Return the model without the sums for ``partial_fit``, which are larger than itself."""
    other = copy(model)
    vars(other).pop("_sums", None)
    if "best_estimator_" in vars(other):  # a search
        other.best_estimator_ = slim(other.best_estimator_)
    return other
