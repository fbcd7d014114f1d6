"""Models and files: fitting with the names of columns, and finding these again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from compactlearn.compact._any_classifier import names_of
from compactlearn.core._targets import check_targets
from compactlearn.datasets._blocks import BlockFiles
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._formats.for_model import ModelColumns, TextColumns
from compactlearn.datasets._formats.mixed import MixedColumns, MixedTable
from compactlearn.datasets._formats.texts import Texts

# The attribute of the last step that remembers; it is stored with the model like any other.
_KNOWN = "columns_"


def fit_to(
    model: Any,
    data: Dataset | Texts | MixedTable,
    columns: TextColumns | None = None,
    *,
    header: bool = True,
) -> Any:
    """Fit a model to what a reader has returned, and let it remember the names of the columns.

    It is the model that ``model.fit(data.X, data.Y)`` makes, or ``model.fit(texts, tags)``, and its
    labels have the data set's names.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> model = fit_to(CMLLClassifier(), data)
    >>> model.label_names_ == list(data.label_names)
    True
    >>> columns_of(model).features == data.feature_names
    True
    """
    known: ModelColumns | TextColumns | MixedColumns | None
    if isinstance(data, Texts):
        if data.tags is None:
            raise ValueError(
                "A model is fitted to texts and their tags, and these texts have none; name the "
                "column of the tags (tags, or --tags on the command line)."
            )
        model.fit(list(data.texts), [list(row) for row in data.tags])
        known = TextColumns(_fields_of(model)) if columns is None else columns
    elif isinstance(data, MixedTable):
        tagged = data.columns.tags is not None
        model.fit(data.X, data.Y if tagged else _named(data, data.columns.labels))
        known = replace(data.columns, labels=tuple(names_of(last_step(model))))
    else:
        names = data.label_names
        model.fit(data.X, data.Y if names is None else _named(data, names))
        known = _table_columns(model, data.feature_names, header=header)
    setattr(last_step(model), _KNOWN, known)
    return model


def fit_blocks_to(
    model: Any, data: BlockFiles, checkpoint: Path | None = None, *, header: bool = True
) -> Any:
    """Fit a model to files that are read in blocks, and let it remember their columns."""
    model.fit_blocks(data, checkpoint=checkpoint)
    setattr(model, _KNOWN, _table_columns(model, data.feature_names, header=header))
    return model


def columns_of(model: Any) -> ModelColumns | TextColumns | MixedColumns | None:
    """Return the columns that a fitted model expects, or None if that is not known."""
    known = getattr(last_step(model), _KNOWN, None)
    if isinstance(known, ModelColumns | TextColumns | MixedColumns):
        return known
    fields = _fields_of(model)
    if fields is not None:
        return TextColumns(fields)
    return _table_columns(model, getattr(model, "feature_names_in_", None))


def _fields_of(model: Any) -> tuple[str, ...] | None:
    """Return the fields of the texts that a pipeline begins with, or None if it has none."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    fields = getattr(first, "fields_", None)
    return None if fields is None else tuple(fields)


def _table_columns(model: Any, features: Any, *, header: bool = True) -> ModelColumns | None:
    count, last = getattr(model, "n_features_in_", None), last_step(model)
    if count is None:
        return None
    labels = getattr(last, "label_names_", None)
    return ModelColumns(
        int(count),
        len(names_of(last)),
        None if features is None else tuple(map(str, features)),
        None if labels is None else tuple(labels),
        header,
    )


def last_step(model: Any) -> Any:
    """Return the classifier at the end of a pipeline, or the model itself."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def _named(data: Dataset | MixedTable, names: Sequence[str]) -> Any:
    """Return labels with their names, in the order of their columns."""
    return replace(check_targets(data.Y, data.n_samples), names=list(names))


# ---- categories and missing values --------------------------------------------------------------


def with_columns(classifier: Any, table: MixedTable) -> Pipeline:
    """Return a pipeline that encodes the columns of a table for a classifier.

    Categories become columns of 0 and 1, one for each value that a fit meets, a missing one
    included; other values have zeros in all of them. Missing numbers become the median.
    """
    names, chosen = table.columns.features, set(table.columns.categories)
    categories = [j for j, name in enumerate(names) if name in chosen]
    numbers = [j for j, name in enumerate(names) if name not in chosen]
    steps = [
        ("categories", OneHotEncoder(handle_unknown="ignore"), categories),
        ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), numbers),
    ]
    columns = ColumnTransformer([step for step in steps if step[2]])
    return Pipeline([("columns", columns), ("classifier", classifier)])


def encoded_names(model: Any, columns: MixedColumns) -> tuple[str, ...]:
    """Return what the classifier's columns are called: "colour=red", or "price"."""
    found = [
        f"{name}={value or '(missing)'}"
        for name, known in _known_values(model, columns).items()
        for value in known
    ]
    return (*found, *(name for name in columns.features if name not in columns.categories))


def strange_values(model: Any, table: MixedTable) -> dict[str, int]:
    """Return how many values of each column of categories a fitted model does not know."""
    found = {}
    for name, known in _known_values(model, table.columns).items():
        values = table.X[:, table.columns.features.index(name)]
        found[name] = int(np.isin(values.astype(str), list(known), invert=True).sum())
    return {name: count for name, count in found.items() if count}


def _known_values(model: Any, columns: MixedColumns) -> dict[str, Sequence[str]]:
    """Return the categories of each column, in the order of the encoder."""
    if not columns.categories:
        return {}
    encoder = model[0].named_transformers_["categories"]
    chosen = [name for name in columns.features if name in columns.categories]
    return dict(zip(chosen, encoder.categories_, strict=True))
