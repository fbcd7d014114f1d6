"""Labels that a fit leaves out: those of too few rows, and those that the user excludes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._labels_by_name import read_labels_by_name
from compactlearn.core._params import Integer, nearest
from compactlearn.core._targets import Targets


def leave_out(
    targets: Targets, weights: NDArray[np.float64] | None, min_label_count: int, exclude: Any
) -> tuple[Targets, list[Any]]:
    """Return the labels that are learnt, and the names (or column numbers) of all others.

    ``exclude`` has labels by name or, where labels have no names, by column; labels of fewer rows
    than ``min_label_count``, of which one of weight 2 counts twice, are left out, too.

    >>> from compactlearn.core._targets import check_targets
    >>> tags = check_targets([["jazz", "blues"], ["jazz"], ["jazz", "live"]], 3)
    >>> kept, excluded = leave_out(tags, None, 1, ["live"])
    >>> kept.names, kept.matrix.shape, excluded
    (['blues', 'jazz'], (3, 2), ['live'])
    >>> leave_out(tags, None, 2, None)[1]
    ['blues', 'live']
    """
    if exclude is None and min_label_count <= 1:
        return targets, []
    if targets.kind != "multilabel":
        raise ValueError(
            "min_label_count and exclude leave out labels of rows that may have several, and y is "
            "a vector of classes; leave out the rows of a class instead."
        )
    left = np.zeros(targets.n_labels, dtype=bool)
    left[_columns(exclude, targets)] = True
    if min_label_count > 1:
        left |= _counts(targets.matrix, weights) < min_label_count
    if left.all():
        raise ValueError(
            f"min_label_count={min_label_count!r} and exclude={exclude!r:.80} leave out all "
            f"{targets.n_labels} labels; lower min_label_count, or exclude fewer labels."
        )
    names = targets.classes.tolist() if targets.names is None else targets.names
    kept = np.flatnonzero(~left)
    unknown = targets.unknown
    learnt = replace(
        targets,
        matrix=_select_columns(targets.matrix, kept),
        classes=targets.classes[kept],
        names=None if targets.names is None else [targets.names[j] for j in kept],
        unknown=None if unknown is None else _select_columns(unknown, kept),
    )
    return learnt, [names[j] for j in np.flatnonzero(left)]


def drop_left_out(model: Any, Y: Any, *, sep: str | None = None, owner: str = "fit") -> Any:
    """Return labels of rows, in any form, with the labels that a fitted model has.

    Labels by name become a matrix. A matrix or frame may have all columns of ``fit``; those of
    labels that were left out are dropped. All other labels are returned as they are.
    """
    names: Sequence[str] = getattr(model, "label_names_", None) or ()
    left: Sequence[Any] = getattr(model, "excluded_labels_", None) or ()
    known = [*names, *left] if names else ()
    found = read_labels_by_name(Y, sep=sep, known=known, owner=owner)
    if found is not None:
        return found.matrix[:, : len(names)]
    shape = np.shape(Y) if left else ()
    if len(shape) != 2 or shape[1] != len(model.classes_) + len(left):
        return Y
    if hasattr(Y, "columns") and names:
        own = [str(name) for name in Y.columns]
        places = [own.index(name) for name in names if name in own]
        return Y if len(places) < len(names) else Y.iloc[:, places]
    if names and model.classes_.dtype.kind not in "iu":  # the columns of names have no order
        return Y
    return _select_columns(Y if hasattr(Y, "tocsr") else np.asarray(Y), model.classes_)


def refuse_leaving_out(estimator: Any, owner: str) -> None:
    """Raise ValueError if a classifier, or a step of it, would leave out labels.

    Its folds would leave out different ones.
    """
    usual = {"min_label_count": 1, "exclude": None}
    for name, value in estimator.get_params().items():
        own = name.rpartition("__")[2]
        if own in usual and value is not usual[own] and value != usual[own]:
            raise ValueError(
                f"{owner} needs a classifier that learns all labels in every fold; got "
                f"{name}={value!r:.60}. Leave these labels out of Y instead."
            )


def _columns(exclude: Any, targets: Targets) -> list[int]:
    """The columns of the labels that are excluded."""
    if exclude is None:
        return []
    asked = [exclude] if isinstance(exclude, str) or not np.iterable(exclude) else list(exclude)
    known = targets.names or [str(j) for j in range(targets.n_labels)]
    place = {name: j for j, name in enumerate(known)}
    whole = Integer(0)
    right = [str(one) in place and (targets.names or whole.accepts(one)) for one in asked]
    if not all(right):
        strange = asked[right.index(False)]
        more = ", ..." if len(known) > 5 else ""
        raise ValueError(
            f"exclude must hold labels that the training rows have ({', '.join(known[:5])}{more}); "
            f"got {strange!r}. Leave it out of exclude.{nearest(str(strange), known)}"
        )
    return [place[str(one)] for one in asked]


def _counts(matrix: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    counted = matrix.sum(axis=0) if weights is None else weights @ matrix
    return np.asarray(counted, dtype=np.float64).ravel()


def _select_columns(matrix: Any, columns: NDArray[np.intp]) -> Any:
    """Return some columns of a matrix, sparse or dense as given; all of them without a copy."""
    return (
        scipy.sparse.csr_array(matrix[:, columns])
        if hasattr(matrix, "tocsr")
        else (matrix[:, columns])
    )
