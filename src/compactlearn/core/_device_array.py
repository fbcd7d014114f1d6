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
from typing import Any

import numpy as np

from compactlearn.core._device_parts import Summed, in_numpy
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

# NumPy's functions, by name, with what stands for each; filled by core/device_functions.py.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def namespace_of(raw: Any) -> Any:
    """The library of an array, with the names of the standard."""
    compat = require(
        "array_api_compat", extra="arrays", purpose="fitting arrays of other libraries than NumPy"
    )
    return compat.array_namespace(raw)


class DeviceArray(Summed, np.lib.mixins.NDArrayOperatorsMixin):
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
