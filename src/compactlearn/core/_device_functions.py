"""Counterparts of NumPy's functions and methods where arrays are on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from compactlearn.core._device_array import FUNCTIONS, METHODS, DeviceArray

_ALSO_FUNCTIONS = ("all", "any", "argmax", "cumsum", "max", "min", "ravel", "reshape", "sum")
_LINEAR_ALGEBRA = ("eigh", "eigvalsh", "inv", "qr", "svd")  # as NumPy and the standard have them


def _together(values: Sequence[Any]) -> tuple[DeviceArray, list[Any]]:
    """Return one of the arrays on a device, and all of them as its library has them."""
    owner = next(value for value in values if isinstance(value, DeviceArray))
    return owner, [owner.to_own_device(value).raw for value in values]


def _filled_like(value: float) -> Callable[..., DeviceArray]:
    def like(a: DeviceArray, dtype: Any = None, shape: Any = None, **_: Any) -> DeviceArray:
        return a.filled(a.shape if shape is None else shape, value, dtype or a.dtype)

    return like


def _concatenate(parts: Sequence[Any], axis: int = 0) -> DeviceArray:
    owner, raws = _together(parts)
    return owner.like(owner.xp.concat(raws, axis=axis))


def _hstack(parts: Sequence[Any]) -> DeviceArray:
    return _concatenate(parts, axis=0 if np.ndim(parts[0]) == 1 else 1)


def _vstack(parts: Sequence[Any]) -> DeviceArray:
    return _concatenate([part[None, :] if np.ndim(part) == 1 else part for part in parts])


def _append(first: Any, second: Any) -> DeviceArray:
    owner, raws = _together([first, second])
    return _concatenate([owner.like(raw).ravel() for raw in raws])


def _split(a: DeviceArray, places: Any) -> list[DeviceArray]:
    edges = [0, *(int(place) for place in places), a.shape[0]]
    return [a[start:stop] for start, stop in pairwise(edges)]


def _where(condition: Any, first: Any, second: Any) -> DeviceArray:
    owner, (condition, *raws) = _together([condition, first, second])
    floats = (owner.like(raw).astype(np.float64, copy=False).raw for raw in raws)
    return owner.like(owner.xp.where(condition, *floats))


def _count_nonzero(a: DeviceArray) -> int:
    raw = a.raw if a.dtype == np.bool_ else a.raw != 0
    return int(a.xp.sum(a.xp.astype(raw, a.xp.int64)))


def _sort(a: DeviceArray, axis: int | None = -1) -> DeviceArray:
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return a.like(a.xp.sort(a.raw, axis=axis))


def _argsort(a: DeviceArray, axis: int | None = -1, kind: Any = None) -> DeviceArray:
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return a.like(a.xp.argsort(a.raw, axis=axis, stable=True))


def _searchsorted(a: DeviceArray, v: Any, side: str = "left") -> DeviceArray:
    return a.like(a.xp.searchsorted(a.raw, a.to_own_device(v).raw, side=side))


def _outer(first: Any, second: Any) -> DeviceArray:
    owner, (rows, columns) = _together([first, second])
    return owner.like(rows)[:, None] * owner.like(columns)[None, :]


def _multi_dot(matrices: Sequence[Any]) -> Any:
    """Multiply from the left or from the right, whichever is shorter."""
    if len(matrices) == 2:
        return matrices[0] @ matrices[1]
    first, *_, last = matrices
    if first.shape[0] <= last.shape[1]:
        return _multi_dot([matrices[0] @ matrices[1], *matrices[2:]])
    return _multi_dot([*matrices[:-2], matrices[-2] @ matrices[-1]])


def _cholesky(a: DeviceArray) -> DeviceArray:
    try:
        return a.like(a.xp.linalg.cholesky(a.raw))
    except RuntimeError as error:  # PyTorch has an error of its own
        raise np.linalg.LinAlgError(str(error)) from error


def _solve(a: Any, b: Any) -> DeviceArray:
    owner, raws = _together([a, b])
    return owner.like(owner.xp.linalg.solve(*raws))


def _of_matrix(name: str) -> Callable[..., Any]:
    """Return a function of linear algebra, of one or several results, by its standard name."""

    def function(a: DeviceArray, **options: Any) -> Any:
        found = getattr(a.xp.linalg, name)(a.raw, **options)
        return tuple(map(a.like, found)) if isinstance(found, tuple) else a.like(found)

    return function


def _reshape(a: DeviceArray, *shape: Any) -> DeviceArray:
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return a.like(a.xp.reshape(a.raw, tuple(shape)))


def _sum(
    a: DeviceArray, axis: Any = None, dtype: Any = None, keepdims: bool = False
) -> DeviceArray:
    if a.dtype == np.bool_:
        a = _astype(a, np.int64)
    kind = None if dtype is None else a.dtype_of(dtype)
    return a.like(a.xp.sum(a.raw, axis=axis, dtype=kind, keepdims=keepdims))


def _astype(a: DeviceArray, dtype: Any, copy: bool = True) -> DeviceArray:
    return a.like(a.xp.astype(a.raw, a.dtype_of(dtype), copy=copy))


def _reduced(name: str) -> Callable[..., DeviceArray]:
    """Return a reduction by its name in the standard."""

    def reduced(a: DeviceArray, axis: Any = None) -> DeviceArray:
        return a.like(getattr(a.xp, name)(a.raw, axis=axis))

    return reduced


def _extreme(name: str, better: np.ufunc) -> Callable[..., Any]:
    """Return the largest or the smallest entries; an empty axis has ``initial``."""

    def extreme(a: DeviceArray, axis: Any = None, initial: float | None = None) -> Any:
        if initial is not None and not a.size:
            return a.filled([n for k, n in enumerate(a.shape) if axis not in (None, k)], initial)
        found = _reduced(name)(a, axis)
        return found if initial is None else better(found, initial)

    return extreme


def _cumsum(a: DeviceArray, axis: int = 0) -> DeviceArray:
    return a.like(a.xp.cumulative_sum(a.raw, axis=axis))


def _identity(a: DeviceArray, size: int) -> DeviceArray:
    return a.like(a.xp.eye(size, dtype=a.xp.float64, device=a.device))


METHODS.update(
    {
        **{name: _reduced(name) for name in ("all", "any", "argmax", "mean")},
        "astype": _astype,
        "copy": lambda a: a.like(a.xp.asarray(a.raw, copy=True)),
        "cumsum": _cumsum,
        "identity": _identity,
        "max": _extreme("max", np.maximum),
        "min": _extreme("min", np.minimum),
        "ravel": lambda a: _reshape(a, -1),
        "reshape": _reshape,
        "sum": _sum,
    }
)

FUNCTIONS.update(
    {
        **{getattr(np, name): METHODS[name] for name in _ALSO_FUNCTIONS},
        np.ndim: lambda a: a.ndim,
        np.shape: lambda a: a.shape,
        np.zeros_like: _filled_like(0),
        np.empty_like: _filled_like(0),
        np.ones_like: _filled_like(1),
        np.concatenate: _concatenate,
        np.hstack: _hstack,
        np.vstack: _vstack,
        np.append: _append,
        np.split: _split,
        np.broadcast_to: lambda a, shape: a.like(a.xp.broadcast_to(a.raw, tuple(shape))),
        np.tile: lambda a, repetitions: a.like(a.xp.tile(a.raw, tuple(repetitions))),
        np.where: _where,
        np.diag: _of_matrix("diagonal"),
        np.count_nonzero: _count_nonzero,
        np.trace: _of_matrix("trace"),
        np.sort: _sort,
        np.argsort: _argsort,
        np.take_along_axis: lambda a, indices, axis: a.like(
            a.xp.take_along_axis(a.raw, a.to_own_device(indices).raw, axis=axis)
        ),
        np.searchsorted: _searchsorted,
        np.outer: _outer,
        np.vdot: lambda first, second: (first * second).sum(),
        np.linalg.multi_dot: _multi_dot,
        **{getattr(np.linalg, name): _of_matrix(name) for name in _LINEAR_ALGEBRA},
        np.linalg.cholesky: _cholesky,
        np.linalg.solve: _solve,
        np.linalg.norm: lambda a, axis=None: a.like(a.xp.linalg.vector_norm(a.raw, axis=axis)),
    }
)
