"""Places other than NumPy's: PyTorch, and a device that NumPy cannot read, as a GPU is one.

The second device of array-api-strict stands for a GPU: nothing is copied from it by accident, since
it refuses, and whatever goes beyond the standard fails.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_strict
import numpy as np
import torch

from compactlearn.core._devices import host


@dataclass(frozen=True)
class Place:
    """An array library and device: makes arrays there, and recognises them."""

    name: str
    make: Callable[[Any], Any]
    kind: type
    device: Any

    def has(self, array):
        return isinstance(array, self.kind) and array.device == self.device


_FAR = array_api_strict.Device("device1")

PLACES = [
    Place("torch", torch.asarray, torch.Tensor, torch.device("cpu")),
    Place(
        "strict", lambda a: array_api_strict.asarray(np.asarray(a), device=_FAR),
        type(array_api_strict.asarray(0)), _FAR,
    ),
]  # fmt: skip


def difference(found, expected):
    """The largest, relative to the largest that is expected."""
    found, expected = np.asarray(host(found)), np.asarray(expected, dtype=np.float64)
    assert found.shape == expected.shape
    return float(
        np.abs(found - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300)
    )
