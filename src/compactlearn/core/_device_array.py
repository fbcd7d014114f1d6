"""Arrays on a device that NumPy's functions accept.

The numerics of this package are written in NumPy. NumPy lets other arrays take part in its own
functions (NEP 13 for ``np.sqrt`` and its like, NEP 18 for ``np.hstack``, ``np.linalg.eigh`` and
theirs), and a :class:`DeviceArray` does so for every library that follows the array API standard:
PyTorch, CuPy, array-api-strict. The same lines then run on a GPU as on a CPU, and no array leaves
its device on the way.

NumPy arrays that meet one are moved to its device: they are small (identities, signs, weights).
The other way nothing is moved unasked: :func:`compactlearn.core._devices.host` does it, and what
would copy by accident is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Self

import numpy as np

from compactlearn.core._optional import require

# Operators are what every library has at its fastest; the rest goes by the standard's names.
_UFUNCS: dict[Any, Callable[..., Any] | str] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.matmul: operator.matmul,
    np.negative: operator.neg,
    np.absolute: operator.abs,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.logical_and: operator.and_,
    np.logical_or: operator.or_,
    np.logical_not: operator.invert,
    np.invert: operator.invert,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.sign: "sign",
    np.sqrt: "sqrt",
    np.square: "square",
    np.exp: "exp",
    np.log: "log",
    np.log1p: "log1p",
    np.tanh: "tanh",
    np.cos: "cos",
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.isfinite: "isfinite",
    np.isnan: "isnan",
}

# NumPy's functions, by name, with what stands for each; filled by core/_device_functions.py.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def namespace_of(raw: Any) -> Any:
    """The library of an array, with the names of the standard."""
    compat = require(
        "array_api_compat", extra="arrays", purpose="fitting arrays of other libraries than NumPy"
    )
    return compat.array_namespace(raw)


class _Indexed:
    """Shape and type, and parts by slices, numbers, lists of places and masks."""

    __slots__ = ()

    raw: Any
    xp: Any
    like: Any
    beside: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.raw.shape)

    @property
    def ndim(self) -> int:
        return self.raw.ndim

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> np.dtype[Any]:
        return in_numpy(self.raw.dtype)

    @property
    def device(self) -> Any:
        return self.raw.device

    def __getitem__(self, key: Any) -> Any:
        key = key if isinstance(key, tuple) else (key,)
        raw, xp = self.raw, self.xp
        arrays = [place for place, part in enumerate(key) if _is_array(part)]
        if not arrays:
            plain, turned = _forward(key, self.shape)
            raw = raw[plain]
            return self.like(xp.flip(raw, axis=turned) if turned else raw)
        if len(arrays) == 2 and len(key) == 2:
            rows, columns = (self._places(part) for part in key)
            if rows.ndim == 2:  # as np.ix_ makes them
                raw = xp.take(raw, xp.reshape(rows, (-1,)), axis=0)
                return self.like(xp.take(raw, xp.reshape(columns, (-1,)), axis=1))
            flat = rows * self.shape[1] + columns
            return self.like(xp.take(xp.reshape(raw, (-1,)), flat, axis=0))
        (place,) = arrays
        part = key[place]
        mask = part.dtype == np.bool_ if isinstance(part, DeviceArray) else None
        if mask and len(key) == 1 and part.ndim == self.ndim:
            return self.like(raw[part.raw])
        raw = xp.take(raw, self._places(part), axis=place)
        others = tuple(slice(None) if _is_array(part) else part for part in key)
        whole = all(isinstance(part, slice) and part == slice(None) for part in others)
        return self.like(raw) if whole else self.like(raw)[others]

    def _places(self, part: Any) -> Any:
        """Which entries along one axis are meant: by their numbers, on the device."""
        if isinstance(part, DeviceArray):
            if part.dtype != np.bool_:
                return part.raw
            return self.xp.nonzero(part.raw)[0]
        part = np.asarray(part)
        if part.dtype == np.bool_:
            part = np.flatnonzero(part)
        return self.beside(part.astype(np.int64)).raw

    def __setitem__(self, key: Any, value: Any) -> None:
        key = key if isinstance(key, tuple) else (key,)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, float | int):
            raw = value
        else:
            raw = self.xp.astype(self.beside(value).raw, self.raw.dtype, copy=False)
        if any(_is_array(part) for part in key):
            self._scatter(key, raw)
            return
        plain, turned = _forward(key, self.shape)
        assert not turned
        self.raw[plain] = raw

    def _scatter(self, key: tuple[Any, ...], raw: Any) -> None:
        """Write at places that are given by numbers along one axis. The standard leaves that to
        libraries; where they have it not, everything is made anew, what stays with what it has."""
        (place,) = (place for place, part in enumerate(key) if _is_array(part))
        xp, places = self.xp, self._places(key[place])
        if not places.shape[0]:
            return
        if not self.xp.__name__.endswith("strict"):
            self.raw[(*(slice(None),) * place, places)] = raw
            return
        size = self.shape[place]
        order = xp.full((size,), -1, dtype=xp.int64, device=self.device)
        every = xp.arange(size, dtype=xp.int64, device=self.device)
        chosen = xp.any(xp.expand_dims(every, axis=1) == xp.expand_dims(places, axis=0), axis=1)
        # The k-th of the places in ascending order holds the row of `raw` with its number.
        ranks = xp.argsort(places)
        counted = xp.cumulative_sum(xp.astype(chosen, xp.int64)) - 1
        order = xp.where(chosen, counted, order)
        if isinstance(raw, float | int):
            new = xp.full_like(self.raw, raw)
        else:
            shape = tuple(places.shape[0] if p == place else n for p, n in enumerate(self.shape))
            new = xp.take(xp.broadcast_to(raw, shape), ranks, axis=place)
            new = xp.take(new, xp.where(chosen, order, xp.zeros_like(order)), axis=place)
        mask = xp.reshape(chosen, tuple(size if p == place else 1 for p in range(self.ndim)))
        self.raw[...] = xp.where(mask, new, self.raw)


class _Reduced(_Indexed):
    """Sums and extremes, other shapes and types, and arithmetic in place."""

    __slots__ = ()

    dtype_of: Any
    filled: Any
    operand: Any

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        return self.like(self.xp.astype(self.raw, self.dtype_of(dtype), copy=copy))

    def copy(self) -> Any:
        return self.like(self.xp.asarray(self.raw, copy=True))

    def reshape(self, *shape: Any) -> Any:
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self.like(self.xp.reshape(self.raw, tuple(shape)))

    def ravel(self) -> Any:
        return self.reshape(-1)

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if self.dtype == np.bool_:
            return self.astype(np.int64).sum(axis, dtype, keepdims)
        kind = None if dtype is None else self.dtype_of(dtype)
        return self.like(self.xp.sum(self.raw, axis=axis, dtype=kind, keepdims=keepdims))

    def mean(self, axis: Any = None) -> Any:
        return self.like(self.xp.mean(self.raw, axis=axis))

    def max(self, axis: Any = None, initial: float | None = None) -> Any:
        return self._extreme("max", axis, initial)

    def min(self, axis: Any = None, initial: float | None = None) -> Any:
        return self._extreme("min", axis, initial)

    def _extreme(self, name: str, axis: Any, initial: float | None) -> Any:
        if initial is None:
            return self.like(getattr(self.xp, name)(self.raw, axis=axis))
        if not self.size:
            kept = [n for place, n in enumerate(self.shape) if axis not in (None, place)]
            return self.filled(kept, initial)
        found = self._extreme(name, axis, None)
        return np.maximum(found, initial) if name == "max" else np.minimum(found, initial)

    def all(self, axis: Any = None) -> Any:
        return self.like(self.xp.all(self.raw, axis=axis))

    def any(self, axis: Any = None) -> Any:
        return self.like(self.xp.any(self.raw, axis=axis))

    def argmax(self, axis: Any = None) -> Any:
        return self.like(self.xp.argmax(self.raw, axis=axis))

    def item(self) -> Any:
        return self.raw.item() if hasattr(self.raw, "item") else float(self.raw)

    def cumsum(self, axis: int = 0) -> Any:
        return self.like(self.xp.cumulative_sum(self.raw, axis=axis))

    # In place, as NumPy's own: where views of an array are filled, it is.

    def _own(self, other: Any) -> Any:
        """The other operand in the type that this array has and keeps."""
        value = self.operand(other)
        own = self.raw.dtype
        return value if isinstance(value, float | int) else self.xp.astype(value, own, copy=False)

    def __iadd__(self, other: Any) -> Self:
        self.raw += self._own(other)
        return self

    def __isub__(self, other: Any) -> Self:
        self.raw -= self._own(other)
        return self

    def __imul__(self, other: Any) -> Self:
        self.raw *= self._own(other)
        return self

    def __itruediv__(self, other: Any) -> Self:
        self.raw /= self._own(other)
        return self


class DeviceArray(_Reduced, np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library, with as much of NumPy's manners as this package asks for."""

    __slots__ = ("raw", "xp")

    def __init__(self, raw: Any, xp: Any = None) -> None:
        self.raw = raw
        self.xp = namespace_of(raw) if xp is None else xp

    # ---- what it is ---------------------------------------------------------------------------

    @property
    def T(self) -> DeviceArray:
        return self if self.ndim < 2 else self.like(self.xp.matrix_transpose(self.raw))

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[DeviceArray]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"DeviceArray({self.raw!r})"

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __float__(self) -> float:
        return float(self.raw)

    def __int__(self) -> int:
        return int(self.raw)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "An array on a device was about to be copied to the host unasked, which is a mistake "
            "of compactlearn; please report it, and call to_numpy or pass NumPy arrays meanwhile."
        )

    def __getstate__(self) -> Any:
        return self.raw

    def __setstate__(self, raw: Any) -> None:
        self.raw = raw
        self.xp = namespace_of(self.raw)

    # ---- others beside it ---------------------------------------------------------------------

    def like(self, raw: Any) -> DeviceArray:
        return DeviceArray(raw, self.xp)

    def dtype_of(self, dtype: Any) -> Any:
        """A NumPy type by the library's own name."""
        return getattr(self.xp, _name_of(dtype))

    def beside(self, value: Any) -> DeviceArray:
        """Any array on this one's device; floats become float64."""
        if isinstance(value, DeviceArray):
            return value
        value = np.asarray(value)
        kind = {"b": np.bool_, "f": np.float64}.get(value.dtype.kind, np.int64)
        value = np.ascontiguousarray(value, dtype=kind).reshape(value.shape)
        return self.like(self.xp.asarray(value, device=self.device))

    def filled(self, shape: Any, value: float, dtype: Any = None) -> DeviceArray:
        """A new array of one value on this one's device."""
        kind = self.dtype_of(np.float64 if dtype is None else dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return self.like(self.xp.full(shape, value, dtype=kind, device=self.device))

    def identity(self, size: int) -> DeviceArray:
        """The identity matrix on this one's device."""
        return self.like(self.xp.eye(size, dtype=self.xp.float64, device=self.device))

    def operand(self, value: Any) -> Any:
        """What the library takes: its own arrays and Python's numbers."""
        if isinstance(value, DeviceArray):
            return value.raw
        if isinstance(value, np.ndarray) and value.ndim:
            return self.beside(value).raw
        if isinstance(value, np.generic | np.ndarray):
            return value.item()
        return value

    # ---- NumPy's protocols --------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        out = keywords.pop("out", None)
        if method != "__call__" or keywords or ufunc not in _UFUNCS:
            return NotImplemented
        for value in inputs:
            if not isinstance(value, DeviceArray | np.ndarray | np.generic | float | int | bool):
                return NotImplemented
        operands = _promoted(self, [self.operand(value) for value in inputs])
        call = _UFUNCS[ufunc]
        if isinstance(call, str):
            call, operands = getattr(self.xp, call), _arrays(self, operands)
        found = self.like(call(*operands))
        if out is None:
            return found
        (target,) = out
        target[...] = found
        return target

    def __array_function__(self, func: Any, types: Any, args: Any, keywords: Any) -> Any:
        if func not in FUNCTIONS:
            raise TypeError(f"np.{func.__name__} has no counterpart for arrays on a device.")
        return FUNCTIONS[func](*args, **keywords)


def _promoted(owner: DeviceArray, operands: list[Any]) -> list[Any]:
    """Operands of one type, where some are floats: the standard does not mix kinds."""
    arrays = [value for value in operands if not isinstance(value, float | int)]
    kinds = [in_numpy(value.dtype) for value in arrays]
    floats = [kind for kind in kinds if kind.kind == "f"]
    plain = any(isinstance(value, float) for value in operands)
    if len({*kinds}) == 1 and (floats or not plain):
        return operands
    if floats or plain:
        kind = owner.dtype_of(max(floats, key=lambda kind: kind.itemsize, default=np.float64))
    else:
        kind = owner.xp.int64
    return [
        value if isinstance(value, float | int) else owner.xp.astype(value, kind, copy=False)
        for value in operands
    ]


def _arrays(owner: DeviceArray, operands: list[Any]) -> list[Any]:
    """Operands of one type, numbers among them as arrays: not every library takes them."""
    kind = next(in_numpy(value.dtype) for value in operands if not isinstance(value, float | int))
    return [
        owner.filled((), value, kind).raw if isinstance(value, float | int) else value
        for value in operands
    ]


@cache
def _name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray | list) or (isinstance(part, DeviceArray) and part.ndim > 0)


def _forward(
    key: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The key with whole axes read forwards, within bounds and all axes named, as the standard has
    it, and the axes that are to be turned round afterwards."""
    named = sum(part is not None and part is not Ellipsis for part in key)
    plain: list[Any] = []
    turned: list[int] = []
    axis = place = 0  # in what is read, and in what comes of it
    for part in (*key, *(() if Ellipsis in key else (Ellipsis,))):
        if part is Ellipsis:
            skipped = len(shape) - named
            plain.append(part)
            axis, place = axis + skipped, place + skipped
        elif part is None:
            plain.append(part)
            place += 1
        elif isinstance(part, slice):
            backwards = part == slice(None, None, -1)
            start, stop, step = (slice(None) if backwards else part).indices(shape[axis])
            turned += [place] if backwards else []
            plain.append(slice(start, max(start, stop), step))
            axis, place = axis + 1, place + 1
        else:
            plain.append(int(part))
            axis += 1
    return tuple(plain), tuple(turned)


@cache
def in_numpy(kind: Any) -> np.dtype[Any]:
    """What NumPy calls a type of a library: ``torch.float64`` is ``float64``."""
    return np.dtype(str(kind).rpartition(".")[2])
