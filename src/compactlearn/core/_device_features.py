"""Checks of X where it is an array of another library than NumPy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from compactlearn.core._device_array import DeviceArray
from compactlearn.core._device_models import OnDevices
from compactlearn.core._devices import SWITCH, host, library_of, place_of, taken


def check_device_features(estimator: Any, X: Any, *, reset: bool) -> DeviceArray:
    """X as float64 on its device, finite, with the columns that the estimator knows."""
    name = type(estimator).__name__
    if not (get_tags(estimator).array_api_support or isinstance(estimator, OnDevices)):
        raise ValueError(
            f"{name} works on NumPy arrays and SciPy matrices, and X is on {place_of(X)}; convert "
            "it, for example by numpy.asarray(X.cpu()), or use CompactClassifier, which stays on "
            "the device."
        )
    rows = taken(X, "X")
    if rows.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {rows.ndim}D array instead: X has shape {rows.shape}; pass "
            "one row per sample and one column per feature."
        )
    if 0 in rows.shape:
        what = "0 sample(s)" if rows.shape[0] == 0 else "0 feature(s)"
        raise ValueError(
            f"Found array with {what} (shape={rows.shape}) while a minimum of 1 is required by "
            f"{name}; pass at least one row and one column."
        )
    _refuse_not_finite(rows)
    return checked_before(estimator, rows, reset=reset)


def checked_before(estimator: Any, X: DeviceArray, *, reset: bool) -> DeviceArray:
    """Rows that were checked already; the estimator learns, or compares, columns and place."""
    require_same_place(estimator, X, reset=reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def require_same_place(estimator: Any, X: Any, *, reset: bool) -> None:
    """Keep in mind where a fit was; refuse to go on with rows that are elsewhere."""
    on_device = isinstance(X, DeviceArray)
    if reset:
        vars(estimator).pop("place_", None)
        if on_device:
            estimator.place_ = place_of(X)
        return
    own = getattr(estimator, "place_", None)
    here = place_of(X) if on_device else None
    if own == here:
        return
    given = here or f"{type(X).__name__} on the CPU"
    if library_of(X) is not None:
        given = f"{place_of(X)}, read as NumPy outside of {SWITCH}"
    raise ValueError(
        f"Inputs passed to {type(estimator).__name__}.{_asked(estimator)}() must use the same "
        "namespace and the same device as those passed to fit(): that was "
        f"{own or 'NumPy on the CPU'}, and this is {given}; pass X there"
        + (", or predict by what to_numpy() returns." if own else ".")
    )


def _asked(estimator: Any) -> str:
    """The method of the estimator that was called from outside, which an error has to name."""
    frame, found = inspect.currentframe(), "predict"
    while frame is not None:
        name = frame.f_code.co_name
        known = hasattr(type(estimator), name) and not name.startswith("_")
        if known and frame.f_locals.get("self") is estimator:
            found = name
        frame = frame.f_back
    return found


def _refuse_not_finite(X: DeviceArray) -> None:
    if bool(np.isfinite(X.sum())) or bool(np.isfinite(X).all()):
        return
    bad = host(~np.isfinite(X))
    row, column = (int(place[0]) for place in bad.nonzero())
    kind = "NaN" if bool(np.isnan(X[row, column])) else "infinity (inf)"
    raise ValueError(
        f"X must hold finite numbers only, and contains {kind}, first in row {row}, column "
        f"{column}; drop such rows or fill them."
    )
