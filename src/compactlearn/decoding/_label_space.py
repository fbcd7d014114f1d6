"""Labels that a classifier was fitted to, and their prediction from scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import DeviceArray, host
from compactlearn.core._targets import Targets
from compactlearn.core._warn import warn_user
from compactlearn.linalg._arrays import zeros_on_device_of

Array = NDArray[np.float64]
Blocks = Iterable[tuple[slice, Array]]  # some rows, and their scores


@dataclass(frozen=True)
class LabelSpace:
    """Labels that a classifier was fitted to.

    ``kind`` is "multilabel" for a label matrix; a vector of classes is "binary" or "multiclass".
    """

    kind: str
    classes: NDArray[Any]
    n_labels: int
    dtype: np.dtype[Any]
    names: list[str] | None = None

    @classmethod
    def of(cls, targets: Targets) -> LabelSpace:
        return cls(targets.kind, targets.classes, targets.n_labels, targets.dtype, targets.names)

    @classmethod
    def numbered(cls, n_labels: int) -> LabelSpace:
        """Return the label space of ``n_labels`` labels without names."""
        return cls("multilabel", np.arange(n_labels), n_labels, np.dtype(np.int64))

    @property
    def vector_classes(self) -> NDArray[Any] | None:
        """The classes of a vector; None where the labels are a matrix."""
        return None if self.kind == "multilabel" else self.classes

    def checked_threshold(self, given: Any) -> float | Array:
        """Return a threshold as a number or an array of one per label, checked."""
        threshold = np.array(given, dtype=np.float64)  # a copy: the user's array may change
        if threshold.ndim and self.kind != "multilabel":
            raise ValueError(
                f"threshold must be a single number when y is a vector of classes, and has "
                f"{threshold.size} entries; pass a float."
            )
        if threshold.ndim and threshold.size != self.n_labels:
            raise ValueError(
                f"threshold must be a number or hold one for each of the {self.n_labels} labels, "
                f"and has {threshold.size} entries; pass an array of {self.n_labels}."
            )
        return threshold if threshold.ndim else float(threshold)

    def given_threshold(self, threshold: Any, decoder: str) -> float | Array:
        """Return a threshold that was given, in the units of the scores.

        One that is to be tuned is 0 until there are scores; "auto" that cannot be tuned is 0.5.
        """
        if isinstance(threshold, str) and threshold != "auto":
            return 0.0
        given = 0.5 if isinstance(threshold, str) else threshold
        checked = np.asarray(self.checked_threshold(given))
        if decoder == "logistic":
            if not ((checked > 0) & (checked < 1)).all():
                raise ValueError(
                    f"With decoder='logistic' a threshold is a probability between 0 and 1, and "
                    f"{threshold!r} was given; pass such a number, for example 0.5."
                )
            checked = np.log(checked) - np.log1p(-checked)
        elif ((checked < 0) | (checked > 1)).any():
            warn_user(
                f"Scores of labels lie about 0 and 1, where a threshold parts them, and threshold="
                f"{threshold!r} was given: nothing may be predicted, or everything; pass a "
                "number between 0 and 1, or 'f1' to have it tuned."
            )
        return checked if checked.ndim else float(checked)

    def placed(self, threshold: float | Array) -> tuple[float | Array, float]:
        """Return the threshold that scores are compared with, and the shift subtracted from them.

        The boundary of two classes is 0, as everywhere in scikit-learn: the threshold is subtracted
        from the scores instead.
        """
        if self.kind != "binary":
            return threshold, 0.0
        return 0.0, float(np.ravel(host(threshold))[0])

    def decided(
        self, blocks: Blocks, n_rows: int, threshold: float | Array, to_device_of: Any = None
    ) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_rows, n_labels), or the classes of a vector y.

        The result is on the device of the array ``to_device_of``, where that is on one.
        """
        if self.kind == "multilabel":
            labels = zeros_on_device_of((n_rows, self.n_labels), to_device_of, dtype=self.dtype)
            for rows, scores in blocks:
                labels[rows] = scores > threshold
            return labels
        places: Any = zeros_on_device_of((n_rows,), to_device_of, dtype=np.intp)
        for rows, scores in blocks:
            places[rows] = scores[:, 0] > 0 if self.kind == "binary" else scores.argmax(axis=1)
        if isinstance(places, DeviceArray) and self.classes.dtype.kind in "biuf":
            classes: Any = places.to_own_device(self.classes)
            return classes[places]
        return self.classes[host(places)]  # no device has names
