"""The values that parameters and attributes of scikit-learn's classes may have in a model file.

One table of each. scikit-learn does what a parameter says: reads the files that texts name, keeps a
cache in a folder, searches with any regular expression. So every parameter has a list of values,
which hold when a model is saved and when it is loaded. One that is not in the table (of a newer
version of scikit-learn) must have its default value.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import MissingIndicator
from sklearn.preprocessing import LabelBinarizer

from compactlearn.core._params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Methods,
    Nothing,
    Numbers,
    Real,
    Seed,
)
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._checks import is_number, is_sparse, unpacked
from compactlearn.io._patterns import LinearPattern

__all__ = ["check_attributes", "check_parameters", "default_of", "in_table", "is_columns"]

Rules = tuple[Constraint, ...]

_MOST_OBJECTS = 5_000
_NUMBER_NAMES = ("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64")
_NUMBER_NAMES += ("uint8", "uint16", "uint32", "uint64", "float", "int")
# Codecs by name are modules that Python imports; some of them take quadratic time.
_ENCODINGS = frozenset(
    """
    ascii us-ascii utf-8 utf8 utf-8-sig utf-16 utf-16-le utf-16-be utf-32 utf-32-le
    utf-32-be latin-1 latin1 iso-8859-1 iso8859-1 iso-8859-2 iso-8859-5 iso-8859-7
    iso-8859-9 iso-8859-15 cp437 cp850 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255
    cp1256 cp1257 cp1258 windows-1250 windows-1251 windows-1252 koi8-r koi8-u
    mac-roman gb2312 gbk gb18030 big5 shift-jis euc-jp euc-kr cp932 cp936 cp949
    cp950
    """.split()  # noqa: SIM905, a list of fifty would take fifty lines
)


# ---- kinds of values --------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A constraint in one function and its words."""

    test: Any
    words: str

    def accepts(self, value: object) -> bool:
        """Return whether `value` is allowed."""
        return bool(self.test(value))

    def describe(self) -> str:
        """The allowed values as a noun phrase."""
        return self.words


def _all_texts(value: Any) -> bool:
    listed = isinstance(value, list | tuple | set | frozenset) or _is_array(value, "OU")
    return listed and all(isinstance(part, str) for part in value)


def _is_array(value: Any, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds


def _is_vocabulary(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _all_texts(list(value)) and all(Integer(0).accepts(n) for n in value.values())
    return _all_texts(value)


def _is_encoding(value: Any) -> bool:
    return isinstance(value, str) and value.lower().replace("_", "-") in _ENCODINGS


def _is_pair(value: Any, rule: Constraint) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(rule.accepts(end) for end in value) and value[0] <= value[1]


def _is_number_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _NUMBER_NAMES
    return isinstance(value, type | np.dtype) and np.dtype(value).kind in "biuf"


def _is_weights(value: Any) -> bool:
    return isinstance(value, Mapping) and all(Real(0).accepts(part) for part in value.values())


def _is_numeric(value: Any) -> bool:
    """Return whether a value is a number, or an array or list of them, in half precision too."""
    if isinstance(value, list):
        return all(isinstance(part, np.ndarray | int | float) for part in value)
    value = unpacked(value)
    return is_sparse(value) or is_number(value) or _is_array(value, "biuf")


def _is_output_config(value: Any) -> bool:
    known = isinstance(value, dict) and set(value) <= {"transform"}
    return known and all(part in ("default", "pandas", "polars", None) for part in value.values())


def _is_step_list(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) for step in value
    )


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | np.bool_) or is_number(value)


def _is_categories(value: Any) -> bool:
    """Return whether a value is an array or list of categories.

    Categories that are objects become keys of a dictionary, and the hashes of numbers can be
    chosen: a few thousand such objects are allowed.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.ndim == 1
    listed = isinstance(value, list | tuple) or (_is_array(value, "O") and value.ndim == 1)
    few = listed and sum(not isinstance(part, str) for part in value) <= _MOST_OBJECTS
    return few and all(map(_is_scalar, value))


def _is_list(value: Any, test: Any) -> bool:
    return isinstance(value, list) and all(map(test, value))


def _is_places(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"


def is_columns(value: Any) -> bool:
    """Return whether a value names columns of a table, by name, position, mask or slice."""
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return all(end is None or isinstance(end, int | str) for end in ends)
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1:
        value = list(value)
        return any(
            all(isinstance(part, type_) for part in value)
            for type_ in (str, int | np.integer, bool | np.bool_)
        )
    return isinstance(value, str | int)


def _is_column_list(value: Any) -> bool:
    return _is_list(value, lambda part: isinstance(part, tuple) and _is_column_part(part))


def _is_column_part(part: Any) -> bool:
    return (
        len(part) == 3
        and isinstance(part[0], str)
        and (part[1] in ("drop", "passthrough") if isinstance(part[1], str) else True)
        and (isinstance(part[1], str) or Methods("fit", "transform").accepts(part[1]))
        and is_columns(part[2])
    )


def _is_dropped(value: Any) -> bool:
    return _is_array(value, "O") and all(n is None or Integer(0).accepts(n) for n in value.flat)


def _is_index(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and (isinstance(part, slice) or _is_list(part, Integer(0).accepts))
        for name, part in value.items()
    )


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype) and value.kind in "biufOU"


def _pair(rule: Constraint, words: str) -> Rules:
    return (Rule(lambda value: _is_pair(value, rule), words),)


_FLAG: Rules = (Flag(),)
_SEED: Rules = (Seed(),)
_VERBOSE: Rules = (Flag(), Integer(0, 1000))
_POSITIVE: Rules = (Real(0),)
_COUNT: Rules = (Integer(0),)
_OPTIONAL_COUNT: Rules = (Integer(0), Nothing())
_SHARE: Rules = (Real(0), Nothing())
_N_JOBS: Rules = (Integer(-64, 64), Nothing())
_INFINITE = Rule(lambda value: isinstance(value, float) and value == np.inf, "infinity")
_CLASS_WEIGHT: Rules = (
    Choice("balanced"),
    Rule(_is_weights, "a dictionary of numbers"),
    Nothing(),
)
_LEARNER: Rules = (Methods("fit", "predict"),)
_NUMBER_TYPE: Rules = (Rule(_is_number_type, "a type of numbers"),)
_TEXTS = Rule(_all_texts, "a list of texts")

_SCALAR: Rules = (Rule(_is_scalar, "a number, a text or None"),)
_COLUMN_PARTS: Rules = (
    Rule(_is_column_list, "a list of a name, a transformer and columns, each by name or position"),
)

# ---- parameters -------------------------------------------------------------------------------

_READING: dict[str, Rules] = {
    "input": (Choice("content"),),
    "encoding": (Rule(_is_encoding, "a usual encoding such as 'utf-8'"),),
    "decode_error": (Choice("strict", "ignore", "replace"),),
    "strip_accents": (Choice("ascii", "unicode"), Nothing()),
    "lowercase": _FLAG,
    "preprocessor": (Nothing(),),
    "tokenizer": (Nothing(),),
    "stop_words": (Choice("english"), _TEXTS, Nothing()),
    "token_pattern": (LinearPattern(), Nothing()),
    # A text of n words has n times so many n-grams, each as long as that.
    "ngram_range": _pair(Integer(1, 32), "a pair of integers from 1 to 32"),
    "analyzer": (Choice("word", "char", "char_wb"),),
    "binary": _FLAG,
    "dtype": _NUMBER_TYPE,
}
_COUNTING: dict[str, Rules] = {
    **_READING,
    "max_df": _POSITIVE,
    "min_df": _POSITIVE,
    "max_features": (Integer(1), Nothing()),
    "vocabulary": (Rule(_is_vocabulary, "texts, or a dictionary of texts and places"), Nothing()),
}
_WEIGHTING: dict[str, Rules] = {
    "norm": (Choice("l1", "l2"), Nothing()),
    "use_idf": _FLAG,
    "smooth_idf": _FLAG,
    "sublinear_tf": _FLAG,
}
_LEAST_SQUARES: dict[str, Rules] = {
    "fit_intercept": _FLAG,
    "copy_X": _FLAG,
    "tol": _POSITIVE,
    "positive": _FLAG,
}
_CLASSIFYING: dict[str, Rules] = {
    "penalty": (Choice("l1", "l2", "elasticnet", "none", "deprecated"), Nothing()),
    "C": (Real(0), _INFINITE),
    "dual": (Flag(), Choice("auto", "warn")),
    "tol": _POSITIVE,
    "fit_intercept": _FLAG,
    "intercept_scaling": _POSITIVE,
    "class_weight": _CLASS_WEIGHT,
    "random_state": _SEED,
    "max_iter": _COUNT,
    "verbose": _VERBOSE,
    "multi_class": (Choice("auto", "ovr", "multinomial", "crammer_singer", "deprecated", "warn"),),
}
_FOREST: dict[str, Rules] = {
    "n_estimators": _COUNT,
    "criterion": (Choice("squared_error", "absolute_error", "friedman_mse", "poisson"),),
    "max_depth": _OPTIONAL_COUNT,
    "min_samples_split": _POSITIVE,
    "min_samples_leaf": _POSITIVE,
    "min_weight_fraction_leaf": _POSITIVE,
    "max_features": (Real(0), Choice("sqrt", "log2"), Nothing()),
    "max_leaf_nodes": _OPTIONAL_COUNT,
    "min_impurity_decrease": _POSITIVE,
    "bootstrap": _FLAG,
    "oob_score": _FLAG,
    "n_jobs": _N_JOBS,
    "random_state": _SEED,
    "verbose": _VERBOSE,
    "warm_start": _FLAG,
    "ccp_alpha": _POSITIVE,
    "max_samples": _SHARE,
    "monotonic_cst": (Numbers(), Nothing()),
}
_FOLDS: dict[str, Rules] = {"n_splits": _COUNT, "shuffle": _FLAG, "random_state": _SEED}
_SHUFFLES: dict[str, Rules] = {
    "n_splits": _COUNT,
    "test_size": _SHARE,
    "train_size": _SHARE,
    "random_state": _SEED,
    "_default_test_size": _SHARE,
}

PARAMETERS: dict[str, dict[str, Rules]] = {
    "CountVectorizer": _COUNTING,
    "TfidfVectorizer": {**_COUNTING, **_WEIGHTING},
    "HashingVectorizer": {
        **_READING,
        "n_features": (Integer(1, 2**31 - 1),),
        "norm": _WEIGHTING["norm"],
        "alternate_sign": _FLAG,
    },
    "TfidfTransformer": _WEIGHTING,
    "StandardScaler": {"copy": _FLAG, "with_mean": _FLAG, "with_std": _FLAG},
    "MaxAbsScaler": {"copy": _FLAG, "clip": _FLAG},
    "MinMaxScaler": {
        "feature_range": _pair(Real(), "a pair of numbers"),
        "copy": _FLAG,
        "clip": _FLAG,
    },
    "RobustScaler": {
        "with_centering": _FLAG,
        "with_scaling": _FLAG,
        "quantile_range": _pair(Real(0, 100), "a pair of numbers from 0 to 100"),
        "copy": _FLAG,
        "unit_variance": _FLAG,
    },
    "Normalizer": {"norm": (Choice("l1", "l2", "max"),), "copy": _FLAG},
    "TruncatedSVD": {
        "n_components": _COUNT,
        "algorithm": (Choice("arpack", "randomized"),),
        "n_iter": _COUNT,
        "n_oversamples": _COUNT,
        "power_iteration_normalizer": (Choice("auto", "QR", "LU", "none", "OR"),),
        "random_state": _SEED,
        "tol": _POSITIVE,
    },
    "RBFSampler": {
        "gamma": (Choice("scale"), Real(0)),
        "n_components": _COUNT,
        "random_state": _SEED,
    },
    "Ridge": {
        **_LEAST_SQUARES,
        "alpha": (Real(0), Numbers()),
        "max_iter": _OPTIONAL_COUNT,
        "solver": (Choice("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),),
        "random_state": _SEED,
    },
    "LinearRegression": {**_LEAST_SQUARES, "n_jobs": _N_JOBS},
    "LogisticRegression": {
        **_CLASSIFYING,
        "l1_ratio": _SHARE,
        "solver": (
            Choice("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "warn"),
        ),
        "warm_start": _FLAG,
        "n_jobs": _N_JOBS,
    },
    "LinearSVC": {**_CLASSIFYING, "loss": (Choice("hinge", "squared_hinge"),)},
    "RandomForestRegressor": _FOREST,
    "ExtraTreesRegressor": _FOREST,
    "MultiOutputRegressor": {"estimator": _LEARNER, "n_jobs": _N_JOBS},
    "OneVsRestClassifier": {"estimator": _LEARNER, "n_jobs": _N_JOBS, "verbose": _VERBOSE},
    "ColumnTransformer": {
        "transformers": _COLUMN_PARTS,
        "remainder": (Choice("drop", "passthrough"), Methods("fit", "transform")),
        "sparse_threshold": (Real(0, 1),),
        "n_jobs": _N_JOBS,
        "transformer_weights": (Rule(_is_weights, "a dictionary of numbers"), Nothing()),
        "verbose": _VERBOSE,
        "verbose_feature_names_out": _FLAG,  # a text would be a format, which reads attributes
        "force_int_remainder_cols": (Flag(), Choice("deprecated")),
    },
    "SimpleImputer": {
        "missing_values": _SCALAR,
        "strategy": (Choice("mean", "median", "most_frequent", "constant"),),
        "fill_value": _SCALAR,
        "copy": _FLAG,
        "add_indicator": _FLAG,
        "keep_empty_features": _FLAG,
    },
    "MissingIndicator": {
        "missing_values": _SCALAR,
        "features": (Choice("missing-only", "all"),),
        "sparse": (Flag(), Choice("auto")),
        "error_on_new": _FLAG,
    },
    "OneHotEncoder": {
        "categories": (
            Choice("auto"),
            Rule(lambda value: _is_list(value, _is_categories), "a list of categories"),
        ),
        "drop": (
            Choice("first", "if_binary"),
            Rule(_is_categories, "an array of categories"),
            Nothing(),
        ),
        "sparse_output": _FLAG,
        "dtype": _NUMBER_TYPE,
        "handle_unknown": (Choice("error", "ignore", "infrequent_if_exist", "warn"),),
        "min_frequency": _SHARE,
        "max_categories": _OPTIONAL_COUNT,
        "feature_name_combiner": (Choice("concat"),),
    },
    "LabelBinarizer": {
        "neg_label": (Integer(),),
        "pos_label": (Integer(),),
        "sparse_output": _FLAG,
    },
    "Pipeline": {
        "steps": (Rule(_is_step_list, "a list of pairs of a name and a step"),),
        "transform_input": (_TEXTS, Nothing()),
        "memory": (Nothing(),),
        "verbose": _VERBOSE,
    },
    "KFold": _FOLDS,
    "StratifiedKFold": _FOLDS,
    "GroupKFold": _FOLDS,
    "ShuffleSplit": _SHUFFLES,
    "StratifiedShuffleSplit": _SHUFFLES,
}

# ---- attributes -------------------------------------------------------------------------------

_NUMERIC: Rules = (Rule(_is_numeric, "numbers"),)
_OPTIONAL_NUMERIC: Rules = (*_NUMERIC, Nothing())
_TEXT: Rules = (Rule(lambda value: isinstance(value, str), "a text"),)
_CLASSES: Rules = (Rule(lambda value: isinstance(value, np.ndarray | list), "an array of classes"),)

_INDEX: Rules = (Rule(_is_index, "the columns of each part"),)
_DTYPE: Rules = (Rule(_is_dtype, "a type of numbers or texts"),)
_DROPPED: Rules = (Rule(_is_dropped, "an array of places"), Nothing())
_OPTIONAL_PLACES: Rules = (
    Rule(
        lambda value: _is_list(value, lambda part: part is None or _is_places(part)),
        "a list of arrays of places",
    ),
)

ATTRIBUTES: dict[str, Rules] = {
    **dict.fromkeys(("coef_", "intercept_", "singular_"), _NUMERIC),
    **dict.fromkeys(("mean_", "var_", "scale_", "center_"), _OPTIONAL_NUMERIC),
    **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_", "max_abs_"), _NUMERIC),
    **dict.fromkeys(("components_", "explained_variance_", "singular_values_"), _NUMERIC),
    **dict.fromkeys(("explained_variance_ratio_", "random_weights_", "random_offset_"), _NUMERIC),
    **dict.fromkeys(("n_samples_seen_", "idf_"), _NUMERIC),
    **dict.fromkeys(("n_iter_", "rank_"), _OPTIONAL_NUMERIC),
    **dict.fromkeys(("n_features_in_", "n_outputs_", "_n_features_out"), _COUNT),
    **dict.fromkeys(("_n_samples", "_n_samples_bootstrap"), _OPTIONAL_COUNT),
    **dict.fromkeys(("solver_", "y_type_"), _TEXT),
    "feature_names_in_": (_TEXTS,),
    "_sklearn_output_config": (Rule(_is_output_config, "the type of an output"),),
    "_gamma": _POSITIVE,
    "sparse_input_": _FLAG,
    "fixed_vocabulary_": _FLAG,
    "vocabulary_": (Rule(lambda value: isinstance(value, dict), "terms and their places"),),
    "_tfidf": (Rule(lambda value: isinstance(value, TfidfTransformer), "weights of terms"),),
    "classes_": _CLASSES,
    "transformers_": _COLUMN_PARTS,
    "_columns": (Rule(lambda value: _is_list(value, is_columns), "a list of columns"),),
    "_remainder": (
        Rule(
            lambda value: isinstance(value, tuple) and _is_column_part(value), "the other columns"
        ),
    ),
    "_transformer_to_input_indices": _INDEX,
    "output_indices_": _INDEX,
    "sparse_output_": _FLAG,
    "statistics_": (Rule(_is_categories, "an array of values"),),
    "indicator_": (
        Rule(lambda value: isinstance(value, MissingIndicator), "a MissingIndicator"),
        Nothing(),
    ),
    "_fit_dtype": _DTYPE,
    "_fill_dtype": _DTYPE,
    "_precomputed": _FLAG,
    "_n_features": _COUNT,
    "features_": (Rule(_is_places, "places of features"),),
    "categories_": (Rule(lambda value: _is_list(value, _is_categories), "lists of categories"),),
    "_infrequent_enabled": _FLAG,
    "_infrequent_indices": _OPTIONAL_PLACES,
    "_default_to_infrequent_mappings": _OPTIONAL_PLACES,
    "_drop_idx_after_grouping": _DROPPED,
    "drop_idx_": _DROPPED,
    "_n_features_outs": (
        Rule(lambda value: _is_list(value, Integer(0).accepts), "a list of integers"),
    ),
    "estimators_": (Rule(lambda value: isinstance(value, list), "a list of estimators"),),
    "label_binarizer_": (
        Rule(lambda value: isinstance(value, LabelBinarizer), "a LabelBinarizer"),
    ),
}


# ---- checks -----------------------------------------------------------------------------------


def check_parameters(type_: type, state: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise unless each of these parameters of a class has a value that a file may hold."""
    table = _table(type_)
    for name in names:
        rules = table.get(name, ())
        if not _accepted(rules, state[name]) and not _is_default(type_, name, state[name]):
            words = " or ".join(rule.describe() for rule in rules) or "its default value"
            raise ModelFileError(
                f"the parameter {name!r} of {type_.__name__} must be {words} in a model file; got "
                f"{state[name]!r:.80}"
            )


def in_table(type_: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are in the table; others, which have their default value, need not
    be stored, and a version of scikit-learn that does not know them can read the file."""
    return {name: value for name, value in parameters.items() if name in _table(type_)}


def _table(type_: type) -> dict[str, Rules]:
    names = (base.__name__ for base in type_.__mro__)
    return next(PARAMETERS[name] for name in names if name in PARAMETERS)


def check_attributes(type_: type, state: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise unless each of these attributes of a fitted estimator is what a fit makes of it."""
    for name in names:
        if not _accepted(ATTRIBUTES[name], state[name]):
            words = " or ".join(rule.describe() for rule in ATTRIBUTES[name])
            raise ModelFileError(f"the attribute {name!r} of {type_.__name__} must be {words}")


@cache
def default_of(type_: type, name: str) -> Any:
    """Return the default value of a parameter; ``inspect.Parameter.empty`` where it has none."""
    parameter = inspect.signature(type_).parameters.get(name)
    return inspect.Parameter.empty if parameter is None else parameter.default


def _accepted(rules: Rules, value: Any) -> bool:
    # A function is never stored, and whoever describes it has the better words.
    return inspect.isroutine(value) or any(rule.accepts(value) for rule in rules)


def _is_default(type_: type, name: str, value: Any) -> bool:
    default = default_of(type_, name)
    if type(value) is not type(default) or isinstance(value, np.ndarray | BaseEstimator):
        return False
    return bool(value == default or (value != value and default != default))
