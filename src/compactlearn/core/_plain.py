"""Values as Python source: what is printed can be pasted back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return the value with Python's own numbers and lists in place of NumPy's.

    >>> plain({"alpha": np.float64(1), "m": np.int64(1), "sizes": [np.float64(0.5)]})
    {'alpha': 1.0, 'm': 1, 'sizes': [0.5]}
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(plain(part) for part in value)
    return value


def python_value(value: Any) -> str:
    """Return the value as one would write it in Python; a ratio of 1.0 is not a count of 1.

    >>> python_value(1.0), python_value(1), python_value("auto"), python_value(np.float64(0.5))
    ('1.0', '1', "'auto'", '0.5')
    """
    return repr(plain(value))


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call with keywords, as Python source.

    >>> call("CMLLClassifier", {"alpha": np.float64(10), "n_label_components": 1.0})
    'CMLLClassifier(alpha=10.0, n_label_components=1.0)'
    """
    return (
        f"{name}({', '.join(f'{key}={python_value(value)}' for key, value in arguments.items())})"
    )
