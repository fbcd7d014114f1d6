"""Arrays of other libraries than NumPy: wrapped, unwrapped, moved to the host.

As in scikit-learn, they are worked on as such within ``config_context(array_api_dispatch=True)``,
and labels and weights follow X. Without the switch they become NumPy arrays, or raise ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from compactlearn.core import _device_functions as device_functions
from compactlearn.core import _memory as memory
from compactlearn.core._device_array import DeviceArray
from compactlearn.core._optional import require

assert device_functions is not None  # imported for the tables that it fills

LIBRARIES = {"torch": "PyTorch", "cupy": "CuPy", "array_api_strict": "array-api-strict"}

SWITCH = "sklearn.config_context(array_api_dispatch=True)"


# ---- which they are ---------------------------------------------------------------------------


def library_of(array: Any) -> str | None:
    """Return the import name of an array's library; None for NumPy's and all others.

    >>> library_of(np.zeros(3)) is None
    True
    """
    root = type(array).__module__.partition(".")[0]
    return root if root in LIBRARIES and hasattr(array, "device") else None


def is_array(matrix: Any) -> bool:
    """Return whether a matrix has entries, as opposed to one that only multiplies."""
    return isinstance(matrix, np.ndarray | DeviceArray)


def dispatches() -> bool:
    """Return whether arrays of other libraries are to be worked on as such."""
    return bool(get_config()["array_api_dispatch"])


def place_of(array: Any) -> str:
    """Return the library and the device of an array as a text for messages.

    >>> place_of(np.zeros(3))
    'NumPy on the CPU'
    """
    raw = unwrap(array)
    library = library_of(raw)
    return "NumPy on the CPU" if library is None else f"{LIBRARIES[library]} on {raw.device}"


# ---- in ---------------------------------------------------------------------------------------


def wrap(array: Any) -> Any:
    """Wrap an array of another library, so that NumPy's functions accept it; return all else."""
    return DeviceArray(array) if library_of(array) is not None else array


def wrap_rows(array: Any, name: str) -> DeviceArray:
    """Wrap rows or labels of another library, as float64 on their device."""
    if _is_sparse(array):
        raise ValueError(
            f"{name} is a sparse PyTorch tensor, and tensors must be dense; pass "
            f"{name}.to_dense(), or a SciPy matrix, which is fitted on the CPU and stays sparse."
        )
    found = _with_numbers(array, name)
    if "complex" in str(array.dtype):
        raise ValueError(
            f"Complex data not supported: {name} must hold real numbers, and its type is "
            f"{array.dtype}; pass the real and imaginary parts as columns."
        )
    try:
        raw = found.xp.astype(found.raw, found.xp.float64, copy=False)
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"Sums are made in float64, which the device {array.device} of {name} does not have; "
            "move the data to another device, or to NumPy arrays."
        ) from error
    return DeviceArray(raw, found.xp)


def _is_sparse(array: Any) -> bool:
    return "sparse" in str(getattr(array, "layout", ""))


def _with_numbers(array: Any, name: str) -> DeviceArray:
    """Wrap an array without its gradient: a fit is no step of a network."""
    if "meta" in str(array.device):
        raise ValueError(
            f"{name} is a tensor on the device 'meta', where tensors have a shape and no numbers; "
            f"pass {name} with its numbers, on a device such as 'cpu' or 'cuda'."
        )
    return DeviceArray(array.detach() if getattr(array, "requires_grad", False) else array)


def to_device(rows: Any, device: str) -> DeviceArray:
    """Move checked rows of the host to a device of PyTorch, "cuda:1" for instance; zeros, too."""
    torch = require("torch", extra="deep", purpose="computing on a device")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"device must be what PyTorch calls one, such as 'cuda' or 'cpu'; got {device!r}."
        ) from error
    if place.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} was asked for, but PyTorch finds no CUDA device here; use 'cpu', "
            "or leave the device out."
        )
    dense = rows.toarray() if scipy.sparse.issparse(rows) else rows
    return wrap_rows(torch.asarray(np.ascontiguousarray(dense), device=place), "X")


def refuse_without_switch(array: Any, name: str) -> None:
    """Raise ValueError for an array that NumPy cannot read while the switch is off."""
    library = library_of(array)
    if library is None or dispatches():
        return
    if library == "cupy" or str(getattr(array.device, "type", "cpu")) != "cpu":
        raise ValueError(
            f"{name} is on {place_of(array)}, where NumPy cannot read it; fit and predict within "
            f"{SWITCH}, by which it stays there, or pass {name} as a NumPy array."
        )


def compressed(matrix: DeviceArray) -> Any:
    """Return a dense matrix on a device as CSR on the host: its zeros do not travel."""
    xp = matrix.xp
    flat = xp.reshape(matrix.raw, (-1,))
    places = xp.nonzero(flat)[0]
    values, columns = host(xp.take(flat, places, axis=0)), host(places % matrix.shape[1])
    counts = host((matrix != 0).sum(axis=1))
    pointers = np.concatenate([[0], np.cumsum(counts)])
    return scipy.sparse.csr_array((values, columns, pointers), shape=matrix.shape)


def labels_on_host(Y: Any) -> Any:
    """Return labels of another library as NumPy or CSR: the places of ones, not the matrix."""
    array = _with_numbers(Y.to_dense() if _is_sparse(Y) else Y, "Y")
    if array.ndim != 2 or array.shape[1] == 1 or array.dtype.kind not in "biuf":
        return host(array)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    found = compressed(array)
    if found.data.size and not (found.data == 1).all():
        return host(array)  # to be refused in the words that all labels are refused in
    return found


def dense_on_device_of(Y: Any, left: DeviceArray) -> DeviceArray:
    """Return a CSR matrix as a dense one of float64 on the device of ``left``; entries travel."""
    rows = np.repeat(np.arange(Y.shape[0], dtype=np.int64), np.diff(Y.indptr))
    flat = left.to_own_device(rows * Y.shape[1] + Y.indices)
    found = left.filled(Y.shape[0] * Y.shape[1], 0.0)
    found[flat] = Y.data.astype(np.float64)
    return found.reshape(Y.shape)


def decodable(codes: Any) -> Any:
    """Return codes as float64, on their device where they are on one and may stay."""
    if library_of(codes) is not None and dispatches():
        return wrap_rows(codes, "codes")
    refuse_without_switch(codes, "codes")
    return np.asarray(codes, dtype=np.float64)


# ---- out --------------------------------------------------------------------------------------


def unwrap(array: Any) -> Any:
    """Return the library's own array; all else as it is."""
    return array.raw if isinstance(array, DeviceArray) else array


def host(array: Any) -> Any:
    """Return a copy as a NumPy array; all else as it is.

    >>> host(np.zeros(2))
    array([0., 0.])
    """
    raw = unwrap(array)
    library = library_of(raw)
    if library is None:
        return array
    if library == "torch":
        return raw.detach().cpu().numpy()
    if library == "cupy":
        return raw.get()
    return np.from_dlpack(raw, device="cpu", copy=True)


def unwrap_like(found: Any, X: Any) -> Any:
    """Return what was made of rows as an array of the rows' library."""
    if not isinstance(X, DeviceArray):
        return found
    if isinstance(found, tuple):
        return tuple(unwrap_like(part, X) for part in found)
    if isinstance(found, np.ndarray) and found.dtype.kind in "biuf":
        found = X.to_own_device(found)
    if not isinstance(found, DeviceArray):
        return found
    return found.raw


def on_host(model: Any) -> Any:
    """Return a fitted model for NumPy arrays: a copy of one on a device, any other as it is."""
    steps = [step for _, step in getattr(model, "steps", ())]
    on_device = any(hasattr(part, "place_") for part in (model, *steps))
    return _copied(model, {}) if on_device else model


def _copied(value: Any, arrays: dict[int, Any]) -> Any:
    """Return the value with every array on the host; ``arrays`` has shared ones by identity."""
    raw = unwrap(value)
    if library_of(raw) is not None:
        if id(raw) not in arrays:
            arrays[id(raw)] = host(raw)[()]  # a number where there is no axis
        return arrays[id(raw)]
    if isinstance(value, dict):
        return {key: _copied(part, arrays) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_copied(part, arrays) for part in value)
    ours = type(value).__module__.partition(".")[0] == "compactlearn"
    if not (ours or isinstance(value, BaseEstimator)) or not hasattr(value, "__dict__"):
        return value
    other = object.__new__(type(value))
    parts = {name: part for name, part in vars(value).items() if name != "place_"}
    vars(other).update(_copied(parts, arrays))  # not by setattr, which frozen ones refuse
    return other


class OnDevices:
    """Gives an estimator the way back from a device."""

    place_: str  # library and device of the rows of fit, where these were on one

    def to_numpy(self) -> Self:
        """Return the fitted model for NumPy arrays; one that is such already returns itself.

        A model that was fitted to arrays on a device predicts there and nowhere else. Its copy has
        the same numbers on the host. Files, ONNX graphs, explanations and compressed models are
        made of such a copy without being asked.
        """
        check_is_fitted(self)
        return on_host(self)


# ---- memory -----------------------------------------------------------------------------------


def free_bytes(array: Any) -> int | None:
    """Return the memory that is free where an array is; None where that is not known."""
    raw = unwrap(array)
    library = library_of(raw)
    if library == "cupy":
        pool = DeviceArray(raw).xp.get_default_memory_pool()
        return int(raw.device.mem_info[0]) + int(pool.free_bytes())
    if library == "torch" and raw.device.type == "cuda":
        cuda = DeviceArray(raw).xp.cuda
        stats = cuda.memory_stats(raw.device)  # empty before the first use
        reserved, used = (
            int(stats.get(f"{name}_bytes.all.current", 0)) for name in ("reserved", "allocated")
        )
        return int(cuda.mem_get_info(raw.device)[0]) + reserved - used
    return memory.available_bytes()


@contextmanager
def full_in_words(X: Any) -> Iterator[None]:
    """Turn a library's own error of a full device into a MemoryError that says what to do."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError" or library_of(unwrap(X)) is None:
            raise
        n_rows, n_columns = X.shape
        free = free_bytes(X)
        room = "" if free is None else f", where {memory.human_bytes(free)} are free"
        raise MemoryError(
            f"The memory of {place_of(X)} is full{room}: X alone, {n_rows} rows of {n_columns} "
            f"features in float64, takes {memory.human_bytes(8 * n_rows * n_columns)}; "
            "use fewer rows, KernelMap(algorithm='nystroem') where there is a kernel, or NumPy "
            "arrays on the CPU."
        ) from error
