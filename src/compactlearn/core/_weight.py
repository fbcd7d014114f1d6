"""Size of fitted models: the arrays they are saved with, each counted once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray

_POINTER = 8  # bytes of a place in a list


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in C order and in memory of its own.

    A part of a larger array keeps all of that in memory, and a transposed one would be saved in
    another order than it was multiplied in.

    >>> whole = np.arange(6.0).reshape(2, 3)
    >>> owned(whole) is whole, owned(whole[:1]).base is None, owned(whole.T).flags.c_contiguous
    (True, True, True)
    """
    if isinstance(array, DeviceArray):
        return array.copy()
    base = array.base
    alone = base is None or getattr(base, "nbytes", None) == array.nbytes
    return array if alone and array.flags.c_contiguous else np.array(array, order="C")


def bytes_in(thing: Any) -> int:
    """Return the bytes of the arrays, and of the names, that a thing is saved with.

    >>> values = np.zeros((3, 4))
    >>> bytes_in({"once": values, "again": values.T})
    96
    """
    buffers: dict[int, int] = {}
    texts = 0
    for part in _parts(thing):
        if isinstance(part, np.ndarray):
            whole = part
            while isinstance(whole.base, np.ndarray):
                whole = whole.base
            buffers[whole.__array_interface__["data"][0]] = whole.nbytes
        else:
            texts += _POINTER + len(part.encode())
    return texts + sum(buffers.values())


def n_parameters_in(thing: Any) -> int:
    """Return the number of parameters in the arrays of an object; stored ones if sparse.

    >>> n_parameters_in([np.zeros((3, 4)), scipy.sparse.eye_array(5, format="csr")])
    17
    """
    return sum(
        part.size
        for part in _parts(thing, of_sparse=lambda matrix: [matrix.data])
        if isinstance(part, np.ndarray) and part.dtype != object
    )


def _parts(thing: Any, of_sparse: Any = vars) -> Iterator[NDArray[Any] | str]:
    """Yield every array and text that a thing is saved with, those of its parts included."""
    # What was seen is kept: a state that is made on request and dropped would free its address.
    seen: dict[int, Any] = {}
    waiting = [thing]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type) or inspect.isroutine(part):
            continue
        seen[id(part)] = part
        if isinstance(part, np.ndarray | str):
            yield part
        if isinstance(part, np.ndarray):
            waiting.extend(part.ravel() if part.dtype == object else ())
        elif scipy.sparse.issparse(part):
            arrays = of_sparse(part)
            waiting.extend(arrays.values() if isinstance(arrays, dict) else arrays)
        elif isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend(part)
        elif not isinstance(part, str | bytes | int | float | complex | None):
            waiting.append(_state(part))


def _state(thing: Any) -> Any:
    """Return what a thing is saved as; None where it cannot be."""
    if inspect.ismodule(thing) or isinstance(thing, np.generic):
        return None
    try:
        return thing.__getstate__()
    except TypeError:
        return None
