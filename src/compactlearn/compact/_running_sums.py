"""Learning from sums of rows, part by part: when that is possible, and what is kept for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from compactlearn.compact._inputs import without_zero_weights
from compactlearn.compact._noisy_labels import is_corrected
from compactlearn.core._chunked import is_dask
from compactlearn.core._lazy import load
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import check_features, check_weights
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._arrays import right_beside, working_form
from compactlearn.linalg._build import require_room_for_moments
from compactlearn.linalg._moments import Moments


@dataclass(frozen=True)
class RunningSums:
    """The sums of all rows so far, that ``partial_fit`` goes on from.

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


def fits_in_parts(classifier: Any) -> bool:
    if classifier.decoder == "learned":
        raise AttributeError(
            "partial_fit keeps the moments of all rows together, and decoder='learned' needs "
            "those of each fold; gather them apart and pass them to fit_moments as a list, or use "
            "fit."
        )
    return fits_from_moments(classifier)


def fits_from_moments(classifier: Any) -> bool:
    if is_corrected(classifier):
        raise AttributeError(
            "Fitting from moments takes labels as they are, and positive_unlabelled or label_noise "
            "asks for corrected ones; use fit."
        )
    tunes = isinstance(classifier.threshold, str) and classifier.threshold != "auto"
    if classifier.decoder == "logistic" or tunes:
        raise AttributeError(
            f"Fitting from moments needs decoder='linear' or 'learned' and a threshold in "
            f"numbers, and decoder={classifier.decoder!r} and threshold={classifier.threshold!r} "
            "were given: these are learnt from the scores of rows, for which one more pass over "
            "the rows is needed; use fit."
        )
    for name in ("regressor", "feature_map"):
        if getattr(classifier, name) is not None:
            raise AttributeError(
                f"Fitting from moments needs the built-in ridge on the features as they are, and "
                f"{name}={getattr(classifier, name)!r} was given; set {name}=None or use fit."
            )
    return True


def refuse_to_go_on(embedding: Embedding) -> NoReturn:
    """Say why ``partial_fit`` has no sums to go on from."""
    if "moments" in embedding.solver_:
        raise ValueError(
            "partial_fit goes on from the sums of all rows so far, and this model has "
            "none: being larger than the model, they are saved only with one that was "
            "learnt by partial_fit; start with partial_fit on a new estimator, or add up "
            "Moments and call fit_moments."
        )
    way = "fit with solver='moments', or " if "solver" in embedding.get_params() else ""
    raise ValueError(
        f"partial_fit can go on only from a fit that ran from moments, and the last "
        f"one took the route {embedding.solver_!r}; {way}start with partial_fit "
        "on a new estimator."
    )


def refuse_other_labels(known: LabelSpace, targets: LabelSpace) -> None:
    """Refuse labels that are not those of the parts before."""
    if (targets.kind, targets.n_labels) != (known.kind, known.n_labels):
        raise ValueError(
            f"partial_fit began with {known.n_labels} {known.kind} labels, and was now "
            f"given {targets.n_labels} {targets.kind} labels; pass the same columns, or "
            "call fit to start again."
        )
    if known.names and targets.names and known.names != targets.names:
        raise ValueError(
            f"partial_fit began with the labels {known.names}, and was now given "
            f"{targets.names}; pass the same columns in the same order, for example "
            "Y[model.label_names_]."
        )


def sum_of_rows(
    classifier: Any, X: Any, y: Any, classes: Any, sample_weight: Any, sep: str | None
) -> tuple[LabelSpace, Moments]:
    """The labels and the moments of rows that ``partial_fit`` was given, here or on Dask."""
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
        targets = check_targets(y, X.shape[0], features=X, **asked)
        weights = check_weights(sample_weight, X.shape[0])
        X, targets, weights = without_zero_weights(X, targets, weights)
        labels = LabelSpace.of(targets)
        rows = working_form(X)
        sum_up = partial(Moments.from_arrays, rows, right_beside(targets.matrix, rows), weights)
    if known is not None:
        refuse_other_labels(known, labels)
    require_room_for_moments(classifier.n_features_in_, labels.n_labels)
    return labels, sum_up()
