"""Checks of X and of weights: with those of labels, the one place that knows scikit-learn's own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_array, validate_data

from compactlearn.core._compress import with_cells_once
from compactlearn.core._devices import (
    SWITCH,
    DeviceArray,
    OnDevices,
    dispatches,
    host,
    library_of,
    place_of,
    refuse_without_switch,
    wrap_rows,
)
from compactlearn.core._forms import refuse_unread, why_not_numbers

Array = NDArray[np.float64]

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give the estimator its attributes back if the block raises.

    Fitted attributes are replaced, never changed in place, so a shallow copy is enough.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as a float ndarray or CSR matrix, finite, with the columns of the estimator."""
    if isinstance(X, DeviceArray):
        return _checked_before(estimator, X, reset=reset)
    if library_of(X) is not None and dispatches():
        return _check_device_features(estimator, X, reset=reset)
    refuse_without_switch(X, "X")
    _require_same_place(estimator, X, reset=reset)
    if not reset and _known_already(estimator, X):
        refuse_not_finite(X)
        return with_cells_once(X)
    refuse_unread(X, "X")
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        advice = next((advice for sign, advice in _ADVICE.items() if sign in str(error)), None)
        if advice is not None:
            raise ValueError(f"{str(error).strip().rstrip('.')}; {advice}") from error
        if "Complex data" in str(error):
            raise ValueError(
                "Complex data not supported: X must hold real numbers, and its type is "
                f"{np.asarray(X).dtype}; pass X.real, or real and imaginary parts as columns."
            ) from error
        reason = why_not_numbers(X)
        if reason is None:
            raise
        if isinstance(error, TypeError):  # scikit-learn's contract asks for NumPy's own words
            raise TypeError(f"{str(error).rstrip('.')}: {reason}") from error
        raise ValueError(reason) from error
    refuse_not_finite(X)
    # Squares and counts of cells would take one that is stored twice for two.
    return with_cells_once(X) if scipy.sparse.issparse(X) else X


def _known_already(estimator: Any, X: Any) -> bool:
    """Return whether X is sparse rows that scikit-learn's checks would hand back as they are.

    For a single row these checks take longer than a prediction.
    """
    return (
        scipy.sparse.issparse(X)
        and X.format == "csr"
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")  # then X without names needs a warning
    )


def n_rows_of(X: Any) -> int:
    """Return how many rows anything array-like, framed or sparse has."""
    refuse_unread(X, "X")
    return int(_num_samples(X))


def with_rows_to_take(X: Any) -> Any:
    """Return X, or where it is a sparse matrix that cannot be indexed, its rows in CSR."""
    return X if not scipy.sparse.issparse(X) or hasattr(X, "indptr") else X.tocsr()


def check_mapped(X: Any, feature_map: Any) -> Any:
    """Check what a feature map returned: a frame becomes an array, and all must be finite."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    try:
        refuse_not_finite(X)
    except ValueError as error:
        raise ValueError(f"feature_map={feature_map!r} returned this: {error}") from error
    return with_cells_once(X) if scipy.sparse.issparse(X) else X


# What scikit-learn's messages leave out: what to do.
_ADVICE = {
    "dim <= 2 is required": "pass one row per sample and one column per feature.",
    "0 sample(s)": "pass at least one row.",
    "0 feature(s)": "pass at least one column.",
    "features as input": "pass the same columns as in fit, in the same order.",
    "feature names should match": "pass X[model.feature_names_in_].",
}


def refuse_not_finite(X: Any) -> None:
    """Raise ValueError, with the first place, if X has NaN or an infinite entry."""
    data = X.data if scipy.sparse.issparse(X) else X
    with np.errstate(all="ignore"):
        total = data.sum()  # not finite only if an entry is, or it overflows; no copy
    if bool(np.isfinite(total)) or bool(np.isfinite(data).all()):
        return
    bad = host(~np.isfinite(data))
    first = int(np.flatnonzero(bad)[0])
    if scipy.sparse.issparse(X):
        row = int(np.searchsorted(X.indptr, first, side="right")) - 1
        column, value = int(X.indices[first]), X.data[first]
    else:
        row, column = divmod(first, X.shape[1])
        value = X[row, column]
    kind = "NaN" if bool(np.isnan(value)) else "infinity (inf)"
    raise ValueError(
        f"X must hold finite numbers only, and contains {kind}, first in row {row}, column "
        f"{column}; drop such rows or fill them, for example with sklearn.impute.SimpleImputer "
        "(compactlearn fit --categories auto in the shell)."
    )


def check_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return row weights as finite numbers >= 0, not all zero; None stays None."""
    if sample_weight is None:
        return None
    sample_weight = on_host_to_check(sample_weight, "sample_weight")
    found = repr(sample_weight)[:60]
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    else:
        weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
        found = f"shape {weights.shape}"
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if weights.shape != (n_rows,) or wrong.any() or not weights.any():
        if weights.shape == (n_rows,):
            found = f"{weights[wrong][0]}" if wrong.any() else "zeros alone"
        raise ValueError(
            f"sample_weight must hold one finite number >= 0 for each of the {n_rows} rows, one of "
            f"them > 0; got {found}. Pass such a vector."
        )
    largest = float(weights.max())
    if not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise ValueError(
            f"The largest sample_weight must lie between {SMALLEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}, so that squares of sums remain numbers, and is {largest:g}; "
            "divide all weights by it, and penalties with them."
        )
    return weights


def on_host_to_check(given: Any, name: str) -> Any:
    """Return labels or weights of another library on the host, where they are checked.

    They follow X. Without the switch NumPy reads what it can.
    """
    if library_of(given) is None:
        return given
    refuse_without_switch(given, name)
    return host(given) if dispatches() else given


# ---- X on a device ------------------------------------------------------------------------------


def _check_device_features(estimator: Any, X: Any, *, reset: bool) -> DeviceArray:
    """Return X as float64 on its device, finite, with the columns of the estimator."""
    name = type(estimator).__name__
    if not (get_tags(estimator).array_api_support or isinstance(estimator, OnDevices)):
        raise ValueError(
            f"{name} works on NumPy arrays and SciPy matrices, and X is on {place_of(X)}; convert "
            "it, for example by numpy.asarray(X.cpu()), or use CompactClassifier, which stays on "
            "the device."
        )
    rows = wrap_rows(X, "X")
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
    refuse_not_finite(rows)
    return _checked_before(estimator, rows, reset=reset)


def _checked_before(estimator: Any, X: DeviceArray, *, reset: bool) -> DeviceArray:
    """Return rows that were checked already, with columns and place learnt or compared."""
    _require_same_place(estimator, X, reset=reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def _require_same_place(estimator: Any, X: Any, *, reset: bool) -> None:
    """Store the place of a fit; raise ValueError for rows that are elsewhere."""
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
    """Return the method of the estimator that was called from outside, for the message."""
    frame, found = inspect.currentframe(), "predict"
    while frame is not None:
        name = frame.f_code.co_name
        known = hasattr(type(estimator), name) and not name.startswith("_")
        if known and frame.f_locals.get("self") is estimator:
            found = name
        frame = frame.f_back
    return found
