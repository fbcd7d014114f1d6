"""Columns of tables in model files: categories, missing values, and a part for each column."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.impute import MissingIndicator
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from compactlearn.io._codec import Codec, State, is_count, require
from compactlearn.io._sklearn import sklearn_codec

_PASSED = "passthrough"


def _check_encoder(encoder: OneHotEncoder) -> None:
    """Compiled code believes the columns of the sparse rows that an encoder makes."""
    state = vars(encoder)
    if "categories_" not in state:
        return  # one that is not fitted
    n = encoder.n_features_in_
    outs, drops = state["_n_features_outs"], state["_drop_idx_after_grouping"]
    rare = groups = [None] * n
    if state["_infrequent_enabled"]:
        rare, groups = state["_infrequent_indices"], state["_default_to_infrequent_mappings"]
    drops = [None] * n if drops is None else drops
    same = {len(part) for part in (encoder.categories_, outs, drops, rare, groups)} == {n}
    require(same, "the parts of an encoder have different lengths")
    for categories, out, drop, few, group in zip(
        encoder.categories_, outs, drops, rare, groups, strict=True
    ):
        require(isinstance(categories, np.ndarray), "an encoder has no categories")
        require(categories.ndim == 1 and categories.size, "an encoder has no categories")
        if categories.dtype.kind in "biuf":
            rising = (categories[1:] > categories[:-1]) | np.isnan(categories[1:])
            require(rising.all(), "the categories of an encoder are not sorted")
        count = categories.size
        require((few is None) == (group is None), "rare categories of an encoder have no group")
        if group is not None:
            inside = few.size and few.min() >= 0 and few.max() < count
            require(inside and group.shape == (count,), "a rare category is out of range")
            count += 1 - few.size
            require(
                group.min() >= 0 and group.max() == count - 1,
                "a group of rare categories is out of range",
            )
        require(
            drop is None or (is_count(drop) and drop < count), "a dropped category is out of range"
        )
        require(out == count - (drop is not None), "an encoder has the wrong number of columns")


def _check_indicator(indicator: MissingIndicator) -> None:
    features = getattr(indicator, "features_", np.zeros(0))
    inside = not features.size or features.max() < vars(indicator)["_n_features"]
    require(inside, "a feature of a missing-value indicator is out of range")


# ---- parts of a table -------------------------------------------------------------------------


def _plain_columns(columns: Any, chosen: Any = None) -> Any:
    """Return columns as plain values: of a selector those that it chose, of an index its names."""
    columns = chosen if callable(columns) else columns
    named = hasattr(columns, "tolist") and not isinstance(columns, np.ndarray)
    return columns.tolist() if named else columns


def _passes(part: Any) -> bool:
    """Return whether a part is what a fit makes of "passthrough"."""
    return type(part) is FunctionTransformer and part.func is None and part.inverse_func is None


def _encode_table(inner: Codec, table: Any) -> State:
    """Return a state in which columns are plain values and nothing is a selector."""
    state = dict(inner.encode(table))
    chosen = state.get("_columns", [])
    more = [
        *chosen,
        *[None] * len(state["transformers"]),
    ]  # the last of the fitted ones is the rest
    state["transformers"] = [
        (name, part, _plain_columns(columns, place))
        for (name, part, columns), place in zip(state["transformers"], more, strict=False)
    ]
    if "transformers_" in state:
        state["transformers_"] = [
            (name, _PASSED if _passes(part) else part, _plain_columns(columns, place))
            for (name, part, columns), place in zip(
                state["transformers_"], [*chosen, None], strict=False
            )
        ]
        state["_columns"] = [_plain_columns(columns) for columns in chosen]
        state["_remainder"] = (*state["_remainder"][:2], _plain_columns(state["_remainder"][2]))
    return state


def _decode_table(inner: Codec, state: State) -> Any:
    table = inner.decode(state)
    if hasattr(table, "transformers_"):
        table.transformers_ = [
            (name, _passing(table, name) if part == _PASSED else part, columns)
            for name, part, columns in table.transformers_
        ]
    return table


def _passing(table: Any, name: str) -> Any:
    """Return the fitted transformer that lets the columns of a part through."""
    places = vars(table)["_transformer_to_input_indices"][name]
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
    inner = sklearn_codec(type_)
    return Codec(partial(_encode_table, inner), partial(_decode_table, inner))


CODECS: dict[str, Any] = {
    "ColumnTransformer": _table_codec,
    "MissingIndicator": partial(sklearn_codec, check=_check_indicator),
    "OneHotEncoder": partial(sklearn_codec, check=_check_encoder),
}
