"""Data of a search: checked rows, their labels, splits and the metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._chunked import is_dask
from compactlearn.core._seeds import seeded
from compactlearn.core._targets import Targets, check_labels
from compactlearn.core._unknown_labels import rows_that_count
from compactlearn.core._validation import check_features, check_weights, with_rows_to_take
from compactlearn.crossfit._fold_sums import sum_folds
from compactlearn.crossfit._folds import Split, make_splits, member_splits
from compactlearn.crossfit._together import held_out_together
from compactlearn.metrics._scoring import Scorer, scorer
from compactlearn.model_selection._folds import Data, SummedData
from compactlearn.scale.dask._source import source_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SearchData:
    """Data of a search as passed and as checked, its splits and its metric."""

    X: Any  # as passed, for fits of single settings
    y: Any
    data: Data
    targets: Targets
    splits: Sequence[Split]
    scoring: Scorer
    groups: Any = None
    sample_weight: Any = None  # for fits of all rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the numbers of rows, features and labels."""
        return (*self.data.X.shape, self.data.Y.shape[1])


def read_rows(
    search: Any,
    choose_cv: Callable[[Data | None, str], Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    sep: str | None,
    unknown: Any = None,
) -> SearchData:
    """Check the arguments of the ``fit`` of a search, and divide the rows into folds.

    ``choose_cv`` returns the user's ``cv`` or one of the search's own, for these data.
    """
    given = with_rows_to_take(X)
    X = check_features(search, given, reset=True)
    y = with_rows_to_take(y)
    owner = f"{type(search).__name__}.fit"
    targets = check_labels(y, X.shape[0], unknown=unknown, sep=sep, owner=owner, features=X)
    read = targets.by_name or targets.unknown is not None
    if read:
        y = targets  # read once, for all the fits
    weights = check_weights(sample_weight, X.shape[0])
    rows_that_count(targets, weights)  # raises ValueError if there are none
    data = Data(X, targets.matrix, weights, targets.unknown)
    to_split = targets.matrix if read else y
    cv = choose_cv(data, targets.kind)
    splits = _splits(search, cv, given, to_split, targets.kind, groups, X.shape[0], X)
    _refuse_uncounted(data, splits)
    return SearchData(
        given, y, data, targets, splits, checked_scorer(search.scoring), groups, weights
    )


def sum_rows(
    search: Any,
    choose_cv: Callable[[Data | None, str], Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    sep: str | None,
) -> SearchData:
    """Do the same for a Dask collection, whose folds are summed on the workers in one pass."""
    owner = f"{type(search).__name__}.fit"
    source = source_of(search, X, y, sample_weight, groups=groups, sep=sep, owner=owner)
    n_rows, kind = source.n_rows, source.labels.kind
    to_split = y
    if is_dask(y):  # of classes, which folds are stratified by, there is one for each row
        to_split = None if kind == "multilabel" else np.ravel(np.asarray(y))
    cv = choose_cv(None, kind)
    splits = _splits(
        search, cv, np.broadcast_to(np.zeros(1), (n_rows, 1)), to_split, kind, None, n_rows
    )
    summed = sum_folds(source, n_rows, splits)
    rows, nothing = summed.rows, np.zeros(0, dtype=np.intp)
    data = SummedData(rows.X, rows.Y, rows.weights, training=summed.training, total=summed.total)
    if not data.training or not all(part.count for part in data.training):
        raise ValueError(_UNWEIGHTED)
    labels = source.labels
    targets = Targets(data.Y, labels.classes, kind, labels.names, labels.dtype)
    return SearchData(
        X,
        y,
        data,
        targets,
        [(nothing, places) for places in summed.held_out],
        checked_scorer(search.scoring),
        None,
        sample_weight,
    )


def checked_scorer(scoring: Any) -> Scorer:
    """Return the scorer that ``scoring`` names or is."""
    if isinstance(scoring, Scorer):
        return scoring
    if isinstance(scoring, str):
        return scorer(scoring)
    raise ValueError(
        f"scoring must be the name of a metric or what compactlearn.metrics.scorer returns, "
        f"and is {scoring!r}; for other scorers use scikit-learn's GridSearchCV."
    )


def _splits(
    search: Any,
    cv: Any,
    X: Any,
    y: Any,
    kind: str,
    groups: Any,
    n_rows: int,
    rows: Any = None,
) -> list[Split]:
    """Return training and validation rows of every split.

    Folds that are not the user's own keep groups together, or else equal ``rows``.
    """

    def together() -> NDArray[np.intp]:
        return np.arange(n_rows) if rows is None else held_out_together(rows, groups)

    if cv is not search.cv and hasattr(cv, "split"):
        splits = list(member_splits(cv, together()))
    else:
        # Seeded in any case: the same search twice has the same answer.
        seed = 0 if search.random_state is None else seeded(search.random_state)
        classes = None if kind == "multilabel" else y
        splits = make_splits(
            cv, X, y, groups, n_rows, seed=seed, together=together, classes=classes
        )
    if kind != "multilabel":
        _refuse_one_class(splits, y)
    return splits


def _refuse_one_class(splits: Sequence[Split], y: Any) -> None:
    """Raise ValueError, as ``fit`` does, for a training part with a single class."""
    classes = np.asarray(y)
    for number, (train, _) in enumerate(splits):
        if (classes[train] == classes[train[0]]).all():
            raise ValueError(
                f"A classifier needs at least two classes in y, and the training rows of split "
                f"{number} have one class only; use other splits, for example stratified ones."
            )


def _refuse_uncounted(data: Data, splits: Sequence[Split]) -> None:
    """Raise ValueError, as ``fit`` does, for a training part of which no row counts."""
    if data.counted_rows is None:
        return
    for train, _ in splits:
        if data.weights is not None and not data.weights[train].any():
            raise ValueError(_UNWEIGHTED)
        if not np.isin(train, data.counted_rows).any():
            raise ValueError(
                "Of the training rows of a split no label is known, so that there is nothing to "
                "learn from; use other splits, or leave out rows whose labels are all unknown."
            )


_UNWEIGHTED = (
    "All sample_weight of the training rows of a split are zero, so no row would count; use other "
    "splits, or give at least one of these rows a positive weight."
)
