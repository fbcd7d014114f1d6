"""Functions that Numba compiles, where it is installed (extra ``fast``)."""

import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._optional import require


@functools.cache
def kernels(module: str) -> ModuleType | None:
    """Return a module of compiled functions; None where Numba is not installed."""
    return importlib.import_module(module) if compiles() else None


def compiles() -> bool:
    """Return whether Numba is installed."""
    return importlib.util.find_spec("numba") is not None


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function at its first call, and keep the compiled code on disk.

    Sums may be reordered, and products and sums fused; nothing else of "fast math" is assumed. A
    compiled function does not hold Python's lock. What is on disk is compiled again when the file
    of the function changes, but not when a function of another file that it calls does: delete
    ``__pycache__`` then.
    """
    numba = require("numba", extra="fast", purpose="a compiled function")
    fastmath = {"reassoc", "contract", "nsz"}
    return numba.njit(nogil=True, cache=True, fastmath=fastmath)(function)


def read_only(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Return an array as compiled functions read it, copied only where that is necessary.

    A function is compiled for the types of its arguments, and arrays of models differ: indices have
    32 or 64 bits, and arrays of model files are not writeable. So all are given in one type.

    >>> indices = np.array([0, 2], dtype=np.int32)
    >>> found = read_only(indices, np.uint32)
    >>> found.dtype, np.shares_memory(found, indices), found.flags.writeable
    (dtype('uint32'), True, False)
    """
    kind = np.dtype(kind)
    array = np.asarray(array)
    if kind.kind == "u" and array.dtype == np.dtype(f"i{kind.itemsize}"):
        array = array.view(kind)  # indices are not negative
    found = np.require(array, kind, ["C", "A"]).view()
    found.flags.writeable = False
    return found
