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
from functools import cache, partial
from typing import Any

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
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.isfinite: "isfinite",
    np.isnan: "isnan",
}


# NumPy's functions, and methods of its arrays by name; filled by core/_device_functions.py.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}


def namespace_of(raw: Any) -> Any:
    """Return the library of an array, with the names of the standard."""
    compat = require(
        "array_api_compat", extra="arrays", purpose="fitting arrays of other libraries than NumPy"
    )
    return compat.array_namespace(raw)


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library, with as much of NumPy's interface as this package uses."""

    __slots__ = ("raw", "xp")

    def __init__(self, raw: Any, xp: Any = None) -> None:
        self.raw = raw
        self.xp = namespace_of(raw) if xp is None else xp

    # ---- what it is ---------------------------------------------------------------------------

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
        self.raw, self.xp = raw, namespace_of(raw)

    # ---- parts --------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        key = key if isinstance(key, tuple) else (key,)
        raw, xp = self.raw, self.xp
        arrays = [place for place, part in enumerate(key) if _is_array(part)]
        if not arrays:
            plain, turned = _forward(key, self.shape)
            raw = raw[plain]
            return self.like(xp.flip(raw, axis=turned) if turned else raw)
        if len(arrays) == 2 and len(key) == 2:
            rows, columns = (_places(self, part) for part in key)
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
        raw = xp.take(raw, _places(self, part), axis=place)
        others = tuple(slice(None) if _is_array(part) else part for part in key)
        whole = all(isinstance(part, slice) and part == slice(None) for part in others)
        return self.like(raw) if whole else self.like(raw)[others]

    def __setitem__(self, key: Any, value: Any) -> None:
        key = key if isinstance(key, tuple) else (key,)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if not isinstance(value, float | int):
            value = self.xp.astype(self.to_own_device(value).raw, self.raw.dtype, copy=False)
        if any(_is_array(part) for part in key):
            _write_at(self, key, value)
            return
        plain, turned = _forward(key, self.shape)
        assert not turned
        self.raw[plain] = value

    # ---- new arrays on the same device --------------------------------------------------------

    def like(self, raw: Any) -> DeviceArray:
        """Return another array of the library, wrapped."""
        return DeviceArray(raw, self.xp)

    def dtype_of(self, dtype: Any) -> Any:
        """Return a NumPy type by the library's own name."""
        return getattr(self.xp, _name_of(dtype))

    def to_own_device(self, value: Any) -> DeviceArray:
        """Return any array on this one's device; floats become float64."""
        if isinstance(value, DeviceArray):
            return value
        value = np.asarray(value)
        kind = {"b": np.bool_, "f": np.float64}.get(value.dtype.kind, np.int64)
        value = np.ascontiguousarray(value, dtype=kind).reshape(value.shape)
        return self.like(self.xp.asarray(value, device=self.device))

    def filled(self, shape: Any, value: float, dtype: Any = None) -> DeviceArray:
        """Return a new array of one value on this one's device."""
        kind = self.dtype_of(np.float64 if dtype is None else dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return self.like(self.xp.full(shape, value, dtype=kind, device=self.device))

    def operand(self, value: Any) -> Any:
        """Return what the library takes: its own arrays and Python's numbers."""
        if isinstance(value, DeviceArray):
            return value.raw
        if isinstance(value, np.ndarray) and value.ndim:
            return self.to_own_device(value).raw
        if isinstance(value, np.generic | np.ndarray):
            return value.item()
        return value

    # ---- NumPy's protocols --------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Return a method of NumPy's arrays, from the table."""
        if name not in METHODS:
            raise AttributeError(f"An array on a device has no attribute {name!r}.")
        return partial(METHODS[name], self)

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
        target[...] = found  # in place: where views of an array are filled, it is
        return target

    def __array_function__(self, func: Any, types: Any, args: Any, keywords: Any) -> Any:
        if func not in FUNCTIONS:
            raise TypeError(f"np.{func.__name__} has no counterpart for arrays on a device.")
        return FUNCTIONS[func](*args, **keywords)


# ---- operands -----------------------------------------------------------------------------------


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


def _places(a: DeviceArray, part: Any) -> Any:
    """Return the numbers of the entries along one axis that are meant, on the device."""
    if isinstance(part, DeviceArray):
        return part.raw if part.dtype != np.bool_ else a.xp.nonzero(part.raw)[0]
    part = np.asarray(part)
    if part.dtype == np.bool_:
        part = np.flatnonzero(part)
    return a.to_own_device(part.astype(np.int64)).raw


def _write_at(a: DeviceArray, key: tuple[Any, ...], value: Any) -> None:
    """Write at numbered places along one axis; where a library cannot, one after the other."""
    (axis,) = (axis for axis, part in enumerate(key) if _is_array(part))
    before, places = (slice(None),) * axis, _places(a, key[axis])
    if not a.xp.__name__.endswith("strict"):
        a.raw[(*before, places)] = value
        return
    shape = (*a.shape[:axis], places.shape[0], *a.shape[axis + 1 :])
    each = value if isinstance(value, float | int) else a.xp.broadcast_to(value, shape)
    for k in range(places.shape[0]):
        at = (*before, int(places[k]), ...)
        a.raw[at] = each if isinstance(each, float | int) else each[(*before, k, ...)]


@cache
def _name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray | list) or (isinstance(part, DeviceArray) and part.ndim > 0)


def _forward(
    key: tuple[Any, ...], shape: tuple[int, ...]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the key as the standard has it: axes read forwards, within bounds, all of them named;
    and the axes that are to be turned round afterwards."""
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
    """Return the NumPy type of a library's type: ``torch.float64`` is ``float64``."""
    return np.dtype(str(kind).rpartition(".")[2])
