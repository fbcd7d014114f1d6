"""What stands for NumPy's functions where arrays are on a device: one line or two for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from compactlearn.core._device_array import FUNCTIONS, DeviceArray


def _stands_for(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for one in functions:
            FUNCTIONS[one] = function
        return function

    return add


def _owner(*values: Any) -> DeviceArray:
    return next(value for value in values if isinstance(value, DeviceArray))


def _beside(values: Sequence[Any]) -> tuple[DeviceArray, list[Any]]:
    owner = _owner(*values)
    return owner, [owner.beside(value).raw for value in values]


# ---- what they are ------------------------------------------------------------------------------


@_stands_for(np.ndim)
def _ndim(a: DeviceArray) -> int:
    return a.ndim


@_stands_for(np.shape)
def _shape(a: DeviceArray) -> tuple[int, ...]:
    return a.shape


@_stands_for(np.size)
def _size(a: DeviceArray) -> int:
    return a.size


# ---- new arrays -------------------------------------------------------------------------------


@_stands_for(np.zeros_like)
def _zeros_like(a: DeviceArray, dtype: Any = None, shape: Any = None, **_: Any) -> DeviceArray:
    return a.filled(a.shape if shape is None else shape, 0, dtype or a.dtype)


@_stands_for(np.empty_like)
def _empty_like(a: DeviceArray, dtype: Any = None, shape: Any = None, **_: Any) -> DeviceArray:
    return a.filled(a.shape if shape is None else shape, 0, dtype or a.dtype)


@_stands_for(np.ones_like)
def _ones_like(a: DeviceArray, dtype: Any = None, shape: Any = None, **_: Any) -> DeviceArray:
    return a.filled(a.shape if shape is None else shape, 1, dtype or a.dtype)


@_stands_for(np.full_like)
def _full_like(
    a: DeviceArray, fill_value: Any, dtype: Any = None, shape: Any = None, **_: Any
) -> DeviceArray:
    return a.filled(a.shape if shape is None else shape, fill_value, dtype or a.dtype)


# ---- put together, turned, taken apart ----------------------------------------------------------


@_stands_for(np.concatenate)
def _concatenate(parts: Sequence[Any], axis: int = 0) -> DeviceArray:
    owner, raws = _beside(parts)
    return owner.like(owner.xp.concat(raws, axis=axis))


@_stands_for(np.hstack)
def _hstack(parts: Sequence[Any]) -> DeviceArray:
    return _concatenate(parts, axis=0 if np.ndim(parts[0]) == 1 else 1)


@_stands_for(np.vstack)
def _vstack(parts: Sequence[Any]) -> DeviceArray:
    return _concatenate([part[None, :] if np.ndim(part) == 1 else part for part in parts])


@_stands_for(np.append)
def _append(first: Any, second: Any) -> DeviceArray:
    owner = _owner(first, second)
    return _concatenate(
        [
            owner.beside(np.atleast_1d(part) if not isinstance(part, DeviceArray) else part).ravel()
            for part in (first, second)
        ]
    )


@_stands_for(np.split)
def _split(a: DeviceArray, places: Any) -> list[DeviceArray]:
    edges = [0, *(int(place) for place in places), a.shape[0]]
    return [a[start:stop] for start, stop in pairwise(edges)]


@_stands_for(np.reshape)
def _reshape(a: DeviceArray, shape: Any) -> DeviceArray:
    return a.reshape(shape)


@_stands_for(np.ravel)
def _ravel(a: DeviceArray) -> DeviceArray:
    return a.ravel()


@_stands_for(np.broadcast_to)
def _broadcast_to(a: DeviceArray, shape: Any) -> DeviceArray:
    return a.like(a.xp.broadcast_to(a.raw, tuple(shape)))


@_stands_for(np.tile)
def _tile(a: DeviceArray, repetitions: Any) -> DeviceArray:
    return a.like(a.xp.tile(a.raw, tuple(repetitions)))


@_stands_for(np.where)
def _where(condition: Any, first: Any, second: Any) -> DeviceArray:
    owner, (condition, first, second) = _beside([condition, first, second])
    first, second = (
        owner.like(part).astype(np.float64, copy=False).raw for part in (first, second)
    )
    return owner.like(owner.xp.where(condition, first, second))


@_stands_for(np.diag)
def _diag(a: DeviceArray) -> DeviceArray:
    return a.like(a.xp.linalg.diagonal(a.raw))


# ---- sums and extremes --------------------------------------------------------------------------


@_stands_for(np.sum)
def _sum(a: DeviceArray, axis: Any = None, **keywords: Any) -> DeviceArray:
    return a.sum(axis=axis, **keywords)


@_stands_for(np.max)
def _max(a: DeviceArray, axis: Any = None, **keywords: Any) -> DeviceArray:
    return a.max(axis=axis, **keywords)


@_stands_for(np.min)
def _min(a: DeviceArray, axis: Any = None, **keywords: Any) -> DeviceArray:
    return a.min(axis=axis, **keywords)


@_stands_for(np.all)
def _all(a: DeviceArray, axis: Any = None) -> DeviceArray:
    return a.all(axis)


@_stands_for(np.any)
def _any(a: DeviceArray, axis: Any = None) -> DeviceArray:
    return a.any(axis)


@_stands_for(np.argmax)
def _argmax(a: DeviceArray, axis: Any = None) -> DeviceArray:
    return a.argmax(axis)


@_stands_for(np.count_nonzero)
def _count_nonzero(a: DeviceArray) -> int:
    raw = a.raw if a.dtype == np.bool_ else a.raw != 0
    return int(a.xp.sum(a.xp.astype(raw, a.xp.int64)))


@_stands_for(np.trace)
def _trace(a: DeviceArray) -> DeviceArray:
    return a.like(a.xp.linalg.trace(a.raw))


@_stands_for(np.cumsum)
def _cumsum(a: DeviceArray, axis: int = 0) -> DeviceArray:
    return a.cumsum(axis)


# ---- order --------------------------------------------------------------------------------------


@_stands_for(np.sort)
def _sort(a: DeviceArray, axis: int | None = -1) -> DeviceArray:
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return a.like(a.xp.sort(a.raw, axis=axis))


@_stands_for(np.argsort)
def _argsort(a: DeviceArray, axis: int | None = -1, kind: Any = None) -> DeviceArray:
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return a.like(a.xp.argsort(a.raw, axis=axis, stable=True))


@_stands_for(np.take_along_axis)
def _take_along_axis(a: DeviceArray, indices: Any, axis: int) -> DeviceArray:
    return a.like(a.xp.take_along_axis(a.raw, a.beside(indices).raw, axis=axis))


@_stands_for(np.searchsorted)
def _searchsorted(a: DeviceArray, v: Any, side: str = "left") -> DeviceArray:
    return a.like(a.xp.searchsorted(a.raw, a.beside(v).raw, side=side))


# ---- products and factorisations ----------------------------------------------------------------


@_stands_for(np.outer)
def _outer(first: Any, second: Any) -> DeviceArray:
    owner = _owner(first, second)
    return owner.beside(first)[:, None] * owner.beside(second)[None, :]


@_stands_for(np.vdot)
def _vdot(first: DeviceArray, second: DeviceArray) -> DeviceArray:
    return first.like(first.xp.sum((first * second).raw))


@_stands_for(np.linalg.multi_dot)
def _multi_dot(matrices: Sequence[Any]) -> Any:
    """From the left or from the right, whichever is the shorter way."""
    if len(matrices) == 2:
        return matrices[0] @ matrices[1]
    first, *_, last = matrices
    if first.shape[0] <= last.shape[1]:
        return _multi_dot([matrices[0] @ matrices[1], *matrices[2:]])
    return _multi_dot([*matrices[:-2], matrices[-2] @ matrices[-1]])


@_stands_for(np.linalg.eigh)
def _eigh(a: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    values, vectors = a.xp.linalg.eigh(a.raw)
    return a.like(values), a.like(vectors)


@_stands_for(np.linalg.eigvalsh)
def _eigvalsh(a: DeviceArray) -> DeviceArray:
    return a.like(a.xp.linalg.eigvalsh(a.raw))


@_stands_for(np.linalg.svd)
def _svd(a: DeviceArray, full_matrices: bool = False) -> tuple[DeviceArray, ...]:
    return tuple(a.like(part) for part in a.xp.linalg.svd(a.raw, full_matrices=full_matrices))


@_stands_for(np.linalg.qr)
def _qr(a: DeviceArray) -> tuple[DeviceArray, ...]:
    return tuple(a.like(part) for part in a.xp.linalg.qr(a.raw))


@_stands_for(np.linalg.cholesky)
def _cholesky(a: DeviceArray) -> DeviceArray:
    try:
        return a.like(a.xp.linalg.cholesky(a.raw))
    except RuntimeError as error:  # PyTorch has an error of its own
        raise np.linalg.LinAlgError(str(error)) from error


@_stands_for(np.linalg.inv)
def _inv(a: DeviceArray) -> DeviceArray:
    return a.like(a.xp.linalg.inv(a.raw))


@_stands_for(np.linalg.solve)
def _solve(a: Any, b: Any) -> DeviceArray:
    owner, raws = _beside([a, b])
    return owner.like(owner.xp.linalg.solve(*raws))


@_stands_for(np.linalg.norm)
def _norm(a: DeviceArray, axis: Any = None) -> DeviceArray:
    return a.like(a.xp.linalg.vector_norm(a.raw, axis=axis))
