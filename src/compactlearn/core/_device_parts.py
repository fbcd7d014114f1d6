"""Parts of arrays on a device, and the methods that NumPy's arrays have."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np


class Indexed:
    """Reading and writing parts, by slices, numbers, lists of places and masks."""

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
        mask = part.dtype == np.bool_ if isinstance(part, Indexed) else None
        if mask and len(key) == 1 and part.ndim == self.ndim:
            return self.like(raw[part.raw])
        raw = xp.take(raw, self._places(part), axis=place)
        others = tuple(slice(None) if _is_array(part) else part for part in key)
        whole = all(isinstance(part, slice) and part == slice(None) for part in others)
        return self.like(raw) if whole else self.like(raw)[others]

    def _places(self, part: Any) -> Any:
        """Which entries along one axis are meant: by their numbers, on the device."""
        if isinstance(part, Indexed):
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


class Summed(Indexed):
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


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray | list) or (isinstance(part, Indexed) and part.ndim > 0)


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
