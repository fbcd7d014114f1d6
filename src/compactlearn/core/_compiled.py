"""Functions that Numba compiles, where it is installed (extra ``fast``)."""

import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

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
    compiled function does not hold Python's lock.
    """
    numba = require("numba", extra="fast", purpose="a compiled function")
    fastmath = {"reassoc", "contract", "nsz"}
    return numba.njit(nogil=True, cache=True, fastmath=fastmath)(function)
