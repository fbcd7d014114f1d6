"""How large fitted classifiers are: the bytes they are saved as, the numbers they predict by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import Any

import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.core._devices import on_host
from compactlearn.core._weight import bytes_in, n_parameters_in


class Weighed(ABC):
    """``nbytes_`` of a classifier, and the promise of ``n_parameters_``."""

    @property
    def nbytes_(self) -> int:
        """Bytes of all arrays that the model is saved with, each counted once."""
        check_is_fitted(self)
        return bytes_in(on_host(self))

    @property
    @abstractmethod
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict."""


def n_parameters_of(classifier: Any) -> int:
    """``n_parameters_`` of a fitted classifier; of one that has none, all numbers of its arrays."""
    own = getattr(classifier, "n_parameters_", None)
    return n_parameters_in(classifier) if own is None else int(own)


def mapped_numbers(feature_map: Any, n_columns: int) -> tuple[int, int]:
    """How many columns a linear model has to multiply after a feature map, and what that keeps.

    With a kernel these are the kernel values at the landmarks, whatever features were made of them:
    that is a product, which folds into the next. The landmarks themselves have to be kept. Any
    other map has all its numbers, and ``n_columns`` features.
    """
    if isinstance(feature_map, KernelMap) and hasattr(feature_map, "landmarks_"):
        landmarks = feature_map.landmarks_
        entries = landmarks.nnz if scipy.sparse.issparse(landmarks) else prod(landmarks.shape)
        return landmarks.shape[0], int(entries)
    return n_columns, n_parameters_in(feature_map)
