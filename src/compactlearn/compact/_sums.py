"""Fits from sums of rows: when that is possible, the sums of rows, and sums that were given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from compactlearn.compact._inputs import without_zero_weights
from compactlearn.compact._noisy_labels import is_corrected
from compactlearn.core._chunked import is_dask
from compactlearn.core._lazy import load
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import check_features, check_weights
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.linalg._arrays import right_on_device_of, working_form
from compactlearn.linalg._build import require_room_for_moments
from compactlearn.linalg._moments import Moments


@dataclass(frozen=True)
class RunningSums:
    """The sums of all rows so far, from which ``partial_fit`` resumes.

    They have (n_features + n_labels)^2 numbers and are not needed to predict, so that they are
    saved only where a model was learnt by ``partial_fit``. A copy in memory has them.
    """

    moments: Moments | None
    saved: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {"moments": self.moments if self.saved else None, "saved": self.saved}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __copy__(self) -> RunningSums:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RunningSums:
        return self  # moments are never changed


def fits_from_moments(classifier: Any) -> bool:
    """Raise AttributeError where moments of rows are not enough to fit."""
    tunes = isinstance(classifier.threshold, str) and classifier.threshold != "auto"
    wrong = {
        "regressor": classifier.regressor is not None,
        "feature_map": classifier.feature_map is not None,
        "decoder": classifier.decoder != "linear",
        "threshold": tunes,
        "positive_unlabelled": bool(classifier.positive_unlabelled),
        "label_noise": classifier.label_noise is not None,
    }
    for name, refused in wrong.items():
        if refused:
            raise AttributeError(
                "Fitting from moments needs the built-in ridge on features and labels as they are, "
                "decoder='linear', and a threshold in numbers; got "
                f"{name}={getattr(classifier, name)!r:.80}. Set another, or use fit, which sees "
                "the rows."
            )
    return True


def refuse_corrected(classifier: Any, owner: str) -> None:
    """Raise ValueError where labels are to be corrected, and only their sums will be seen."""
    if is_corrected(classifier):
        raise ValueError(
            f"{owner} takes labels as they are, and positive_unlabelled="
            f"{classifier.positive_unlabelled!r} and label_noise={classifier.label_noise!r:.60} "
            "were given; use fit with rows in memory."
        )


def require_sums(before: RunningSums, solver: str) -> Moments:
    """Return the sums that ``partial_fit`` resumes from."""
    if before.moments is None:
        raise ValueError(
            "partial_fit resumes from the sums of all rows so far, and this model has none: its "
            f"fit took the route {solver!r}, or it was saved after fit, without its sums; start "
            "with partial_fit on a new estimator, or add up Moments and call fit_moments."
        )
    return before.moments


def _refuse_other_labels(known: LabelSpace, targets: LabelSpace) -> None:
    """Raise ValueError for labels that are not those of the parts before."""
    same = (targets.kind, targets.n_labels) == (known.kind, known.n_labels)
    if known.names and targets.names and known.names != targets.names:
        same = False
    if not same:
        raise ValueError(
            f"partial_fit began with {_described(known)}, and was now given {_described(targets)}; "
            "pass the same columns in the same order, for example Y[model.label_names_], or call "
            "fit to start again."
        )


def _described(labels: LabelSpace) -> str:
    """Return the number, kind and names of labels for a message."""
    names = f" ({labels.names!r:.200})" if labels.names else ""
    return f"{labels.n_labels} {labels.kind} labels{names}"


def sum_of_rows(
    classifier: Any, X: Any, y: Any, classes: Any, sample_weight: Any, sep: str | None
) -> tuple[LabelSpace, Moments]:
    """Return labels and moments of the rows given to ``partial_fit``, in memory or on Dask."""
    first = not hasattr(classifier, "embedding_")
    known = None if first else classifier.label_space_
    if known is not None and known.kind != "multilabel":
        classes = known.classes
    names = None if known is None else known.names or ()
    asked = {"classes": classes, "names": names, "sep": sep, "owner": "partial_fit"}
    if is_dask(X):
        source_of = load("compactlearn.scale.dask._source").source_of
        source = source_of(classifier, X, y, sample_weight, reset=first, **asked)
        labels, sum_up = source.labels, source.moments
    else:
        X = check_features(classifier, X, reset=first)
        targets = check_targets(y, X.shape[0], **asked)
        weights = check_weights(sample_weight, X.shape[0])
        X, targets, weights = without_zero_weights(X, targets, weights)
        labels = LabelSpace.of(targets)
        rows = working_form(X)
        sum_up = partial(
            Moments.from_arrays, rows, right_on_device_of(targets.matrix, rows), weights
        )
    if known is not None:
        _refuse_other_labels(known, labels)
    require_room_for_moments(classifier.n_features_in_, labels.n_labels)
    return labels, sum_up()


def check_moments(moments: Moments) -> None:
    """Raise for moments that cannot be those of finite features and 0/1 labels."""
    if not isinstance(moments, Moments):
        raise TypeError(
            f"fit_moments needs compactlearn.Moments, and was given {type(moments).__name__}; "
            "gather them with Moments.from_blocks."
        )
    if moments.count <= 0:
        raise ValueError("These moments hold no rows; add at least one block before fit_moments.")
    if not (np.isfinite(moments.mean).all() and np.isfinite(moments.scatter).all()):
        raise ValueError(
            "These moments contain NaN or infinity; check the blocks they were gathered from."
        )
    counts = moments.count * moments.mean_right
    squares = np.diag(moments.right_right)
    if not np.allclose(squares, counts, rtol=1e-6, atol=1e-6 * moments.count):
        worst = int(np.argmax(np.abs(squares - counts)))
        raise ValueError(
            f"The right block of these moments must hold labels 0 or 1, whose squares sum to the "
            f"same as the labels, and in column {worst} they sum to {squares[worst]:g} and "
            f"{counts[worst]:g}; gather the moments from 0/1 labels."
        )
