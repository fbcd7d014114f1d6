"""Numbers of components: counts, ratios and "auto"."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from compactlearn.core._params import Choice, Integer, Nothing, Real

COUNTS = (Integer(1), Real(0, 1, open_low=True), Choice("auto"))
COUNTS_OR_NONE = (*COUNTS, Nothing())


# The most that "auto" asks for. On wordnet (65,041 rows, 8,821 labels, penalty 0.5) precision at 1,
# 3 and 5, and seconds of one core, are with 100 components .637, .537, .427 in 5 s, with 200 .666,
# .571, .464 in 10 s, with 300 .678, .587, .482 in 18 s, with 500 .692, .606, .503 in 35 s. Accuracy
# keeps rising, time and memory faster. Up to 1000 labels (delicious: 983) half of them are less.
LARGEST_AUTO = 500


def default_label_size(n_labels: int) -> int:
    """Return ``min(M, max(16, ceil(M / 2)), 500)``: up to 16 labels are all kept.

    >>> [default_label_size(n_labels) for n_labels in (6, 53, 374, 17_829)]
    [6, 27, 187, 500]
    """
    return min(n_labels, max(16, -(-n_labels // 2)), LARGEST_AUTO)


def label_count(value: Any, n_labels: int) -> int:
    """Return the number of label components of a method that cannot keep the labels as they are.

    Parameters
    ----------
    value : int, float or "auto"
        Parameter of the user: a number, or a share of the labels.
    n_labels : int
    """
    count = component_count(value, n_labels, "n_label_components", "labels", default_label_size)
    assert count is not None
    return count


def feature_count(value: Any, n_features: int, n_labels: int, given_features: int) -> int:
    """Return the number of feature components of a method; "auto" is the number of labels."""
    noun = left_noun(n_features, given_features)
    count = component_count(
        value,
        n_features,
        "n_feature_components",
        noun,
        lambda size: min(size, n_labels),
        ratio_of=given_features,
    )
    assert count is not None
    return count


def left_noun(n_features: int, given_features: int) -> str:
    """Return the name of the features in messages; a kernel has as many as there are rows."""
    return "features" if n_features == given_features else "dimensions of the kernel's features"


def component_count(
    value: Any, size: int, name: str, what: str, automatic: Any, ratio_of: int | None = None
) -> int | None:
    """Turn a count, a ratio, "auto" or None into a number of components.

    ``size`` bounds it; a ratio refers to ``ratio_of`` where that is another number.

    >>> component_count(0.25, 10, "n_label_components", "labels", default_label_size)
    3
    >>> component_count(11, 10, "n_label_components", "labels", default_label_size)
    Traceback (most recent call last):
        ...
    ValueError: n_label_components=11 asks for more components than there are labels (10); ...
    """
    if value is None:
        return None
    if isinstance(value, str):
        return int(automatic(size))
    if not isinstance(value, numbers.Integral):
        whole = size if ratio_of is None else ratio_of
        return min(size, max(1, int(np.floor(float(value) * whole + 0.5))))
    value = int(value)
    if value > size:
        raise ValueError(
            f"{name}={value} asks for more components than there are {what} ({size}); lower it "
            f"to at most {size}, or pass a ratio in (0, 1]."
        )
    return value
