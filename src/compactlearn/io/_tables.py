"""Columns of tables in model files: categories, missing values, and a part for each column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from compactlearn.io._checks import require, size
from compactlearn.io._codec import Codec, State
from compactlearn.io._sklearn import fitted, sklearn_codec

_PASSED = "passthrough"


# ---- categories -------------------------------------------------------------------------------


def _check_encoder(encoder: OneHotEncoder) -> None:
    """Compiled code believes the columns of the sparse rows that an encoder makes."""
    state = vars(encoder)
    if "categories_" not in state:
        return  # one that is not fitted
    width = size(encoder.n_features_in_, "the number of features")
    outs, drops = state["_n_features_outs"], state["_drop_idx_after_grouping"]
    grouped = state["_infrequent_enabled"]
    require(len(encoder.categories_) == len(outs) == width, "an encoder has other features")
    require(drops is None or drops.shape == (width,), "dropped categories are others")
    if grouped:
        several = (state["_infrequent_indices"], state["_default_to_infrequent_mappings"])
        require(all(len(part) == width for part in several), "rare categories are others")
    for place, categories in enumerate(encoder.categories_):
        count = len(categories)
        require(isinstance(categories, np.ndarray) and count, "there are no categories")
        if categories.dtype.kind in "biuf":
            rising = (categories[1:] > categories[:-1]) | np.isnan(categories[1:])
            require(rising.all(), "categories do not follow one another")
        rare = state["_infrequent_indices"][place] if grouped else None
        if rare is not None:
            mapping = state["_default_to_infrequent_mappings"][place]
            inside = rare.size and 0 <= rare.min() and rare.max() < count
            require(inside and mapping is not None, "rare categories are none")
            require(mapping.shape == (count,) and mapping.min() >= 0, "groups are others")
            count += 1 - rare.size
            require(mapping.max() == count - 1, "groups are others")
        elif grouped:
            unmapped = state["_default_to_infrequent_mappings"][place] is None
            require(unmapped, "groups are others")
        dropped = None if drops is None else drops[place]
        require(dropped is None or dropped < count, "a dropped category is none")
        require(outs[place] == count - (dropped is not None), "an encoder has other columns")


# ---- missing values ---------------------------------------------------------------------------


def _check_indicator(indicator: MissingIndicator) -> None:
    if hasattr(indicator, "features_"):
        width = size(vars(indicator)["_n_features"], "the number of features")
        features = indicator.features_
        inside = not features.size or (features.min() >= 0 and features.max() < width)
        require(inside, "a missing feature is none")


def _check_imputer(imputer: SimpleImputer) -> None:
    if hasattr(imputer, "statistics_"):
        width = size(imputer.n_features_in_, "the number of features")
        shape = np.shape(imputer.statistics_)
        require(shape == (width,), "an imputer has other features")


# ---- parts of a table -------------------------------------------------------------------------


def _plain_columns(columns: Any, chosen: Any) -> Any:
    """Return columns as plain values: of a selector those that it chose, of an index its names."""
    columns = chosen if callable(columns) else columns
    named = hasattr(columns, "tolist") and not isinstance(columns, np.ndarray)
    return columns.tolist() if named else columns


def _plain_parts(parts: Any, chosen: Any, *, fitted: bool) -> Any:
    listed = isinstance(parts, list) and all(
        isinstance(part, tuple) and len(part) == 3 for part in parts
    )
    if not listed:
        return parts
    places = [*(chosen or ()), *[None] * len(parts)]
    return [
        (name, _PASSED if fitted and _passes(part) else part, _plain_columns(columns, place))
        for (name, part, columns), place in zip(parts, places, strict=False)
    ]


def _passes(part: Any) -> bool:
    """Return whether a part is what a fit makes of "passthrough"."""
    return type(part) is FunctionTransformer and part.func is None and part.inverse_func is None


def _check_columns(table: ColumnTransformer) -> None:
    state = vars(table)
    if "transformers_" not in state:
        return
    width, inputs = size(table.n_features_in_, "the number of features"), _inputs(table)
    for name, part, _ in table.transformers_:
        require(name in inputs, "a part of a table has no columns")
        require(all(place < width for place in inputs[name]), "a column is not there")
        own = len(inputs[name])
        fits = isinstance(part, str) or getattr(part, "n_features_in_", own) == own
        require(fits, "a part of a table has other columns")
    names = getattr(table, "feature_names_in_", None)
    require(names is None or len(names) == width, "names are not those of the columns")


def _inputs(table: ColumnTransformer) -> dict[str, list[int]]:
    inputs = vars(table)["_transformer_to_input_indices"]
    require(all(isinstance(places, list) for places in inputs.values()), "columns are no list")
    return inputs


def _passing(table: ColumnTransformer, name: str) -> Any:
    """Return the fitted transformer that lets the columns of a part through."""
    places = _inputs(table)[name]
    if not places:
        return _PASSED
    part = FunctionTransformer(
        accept_sparse=True, check_inverse=False, feature_names_out="one-to-one"
    )
    config = getattr(table, "_sklearn_output_config", {}).get("transform")
    part.set_output(transform=config or "default")
    part.n_features_in_ = len(places)
    if hasattr(table, "feature_names_in_"):
        part.feature_names_in_ = np.asarray(table.feature_names_in_, dtype=object)[places]
    return part


def _table_codec(type_: type) -> Codec:
    names = ("transformers_", "output_indices_", "sparse_output_")
    names += ("_columns", "_remainder", "_transformer_to_input_indices")
    inner = sklearn_codec(
        type_,
        *names,
        check=_check_columns,
        forget="_transformers_feature_names_out",
        plain=_plain_state,
    )

    def decode(state: State) -> Any:
        table = inner.decode(state)
        if hasattr(table, "transformers_"):
            table.transformers_ = [
                (name, _passing(table, name) if part == _PASSED else part, columns)
                for name, part, columns in table.transformers_
            ]
        return table

    return Codec(inner.encode, decode)


def _plain_state(state: State) -> State:
    """Return a state in which columns are plain values and nothing is a selector."""
    chosen = state.get("_columns")
    plain = {
        name: _plain_parts(state[name], chosen, fitted=name.endswith("_"))
        for name in ("transformers", "transformers_")
        if name in state
    }
    if chosen is not None:
        plain["_columns"] = [_plain_columns(columns, None) for columns in chosen]
        name, part, columns = state["_remainder"]
        plain["_remainder"] = (name, part, _plain_columns(columns, None))
    return {**state, **plain}


CODECS: dict[str, Callable[[type], Codec]] = {
    "ColumnTransformer": _table_codec,
    "MissingIndicator": fitted("features_", "_precomputed", "_n_features", check=_check_indicator),
    "OneHotEncoder": fitted(
        *("categories_", "drop_idx_", "_drop_idx_after_grouping", "_n_features_outs"),
        *("_infrequent_enabled", "_infrequent_indices", "_default_to_infrequent_mappings"),
        check=_check_encoder,
    ),
    "SimpleImputer": fitted(
        *("statistics_", "indicator_", "_fit_dtype", "_fill_dtype"), check=_check_imputer
    ),
}
