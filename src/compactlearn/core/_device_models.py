"""Models that were fitted on a device, as models of NumPy arrays."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from compactlearn.core._devices import bare, host, library_of


def on_host(model: Any) -> Any:
    """A fitted model for NumPy arrays: a copy of one on a device, and any other as it is.

    What leaves the device anyway begins here: files, ONNX graphs, explanations, smaller numbers.
    """
    steps = [step for _, step in getattr(model, "steps", ())]
    on_device = any(hasattr(part, "place_") for part in (model, *steps))
    return _copied(model, {}) if on_device else model


def _copied(value: Any, arrays: dict[int, Any]) -> Any:
    """The value with every array in it on the host. What two parts share they share again: those
    that came by now are in ``arrays``, by their identity."""
    raw = bare(value)
    if library_of(raw) is not None:
        if id(raw) not in arrays:
            arrays[id(raw)] = host(raw)
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
