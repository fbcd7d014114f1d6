"""The values that parameters and attributes of scikit-learn's classes may have in a model file.

One table of each. scikit-learn does what a parameter says: reads the files that texts name, keeps a
cache in a folder, searches with any regular expression. So every parameter has a list of values,
which hold when a model is saved and when it is loaded. One that is not in the table (of a newer
version of scikit-learn) must have its default value.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import MissingIndicator
from sklearn.preprocessing import LabelBinarizer

from compactlearn.core._params import Choice, Flag, Integer, Methods, Nothing, Numbers, Real
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._patterns import LinearPattern
from compactlearn.io._rules import (
    CLASS_WEIGHT,
    CLASSES,
    COLUMN_PARTS,
    COUNT,
    DROPPED,
    DTYPE,
    FLAG,
    INDEX,
    INFINITE,
    LEARNER,
    N_JOBS,
    NUMBER_TYPE,
    NUMERIC,
    OPTIONAL_COUNT,
    OPTIONAL_NUMERIC,
    OPTIONAL_PLACES,
    POSITIVE,
    SCALAR,
    SEED,
    SHARE,
    TEXT,
    TEXTS,
    VERBOSE,
    Rule,
    Rules,
    is_categories,
    is_column_part,
    is_columns,
    is_encoding,
    is_list,
    is_output_config,
    is_places,
    is_step_list,
    is_vocabulary,
    is_weights,
    pair_of,
)

__all__ = ["check_attributes", "check_parameters", "default_of", "in_table"]

# ---- parameters -------------------------------------------------------------------------------

_READING: dict[str, Rules] = {
    "input": (Choice("content"),),
    "encoding": (Rule(is_encoding, "a usual encoding such as 'utf-8'"),),
    "decode_error": (Choice("strict", "ignore", "replace"),),
    "strip_accents": (Choice("ascii", "unicode"), Nothing()),
    "lowercase": FLAG,
    "preprocessor": (Nothing(),),
    "tokenizer": (Nothing(),),
    "stop_words": (Choice("english"), TEXTS, Nothing()),
    "token_pattern": (LinearPattern(), Nothing()),
    # A text of n words has n times so many n-grams, each as long as that.
    "ngram_range": pair_of(Integer(1, 32), "a pair of integers from 1 to 32"),
    "analyzer": (Choice("word", "char", "char_wb"),),
    "binary": FLAG,
    "dtype": NUMBER_TYPE,
}
_COUNTING: dict[str, Rules] = {
    **_READING,
    "max_df": POSITIVE,
    "min_df": POSITIVE,
    "max_features": (Integer(1), Nothing()),
    "vocabulary": (Rule(is_vocabulary, "texts, or a dictionary of texts and places"), Nothing()),
}
_WEIGHTING: dict[str, Rules] = {
    "norm": (Choice("l1", "l2"), Nothing()),
    "use_idf": FLAG,
    "smooth_idf": FLAG,
    "sublinear_tf": FLAG,
}
_LEAST_SQUARES: dict[str, Rules] = {
    "fit_intercept": FLAG,
    "copy_X": FLAG,
    "tol": POSITIVE,
    "positive": FLAG,
}
_CLASSIFYING: dict[str, Rules] = {
    "penalty": (Choice("l1", "l2", "elasticnet", "none", "deprecated"), Nothing()),
    "C": (Real(0), INFINITE),
    "dual": (Flag(), Choice("auto", "warn")),
    "tol": POSITIVE,
    "fit_intercept": FLAG,
    "intercept_scaling": POSITIVE,
    "class_weight": CLASS_WEIGHT,
    "random_state": SEED,
    "max_iter": COUNT,
    "verbose": VERBOSE,
    "multi_class": (Choice("auto", "ovr", "multinomial", "crammer_singer", "deprecated", "warn"),),
}
_FOREST: dict[str, Rules] = {
    "n_estimators": COUNT,
    "criterion": (Choice("squared_error", "absolute_error", "friedman_mse", "poisson"),),
    "max_depth": OPTIONAL_COUNT,
    "min_samples_split": POSITIVE,
    "min_samples_leaf": POSITIVE,
    "min_weight_fraction_leaf": POSITIVE,
    "max_features": (Real(0), Choice("sqrt", "log2"), Nothing()),
    "max_leaf_nodes": OPTIONAL_COUNT,
    "min_impurity_decrease": POSITIVE,
    "bootstrap": FLAG,
    "oob_score": FLAG,
    "n_jobs": N_JOBS,
    "random_state": SEED,
    "verbose": VERBOSE,
    "warm_start": FLAG,
    "ccp_alpha": POSITIVE,
    "max_samples": SHARE,
    "monotonic_cst": (Numbers(), Nothing()),
}
_FOLDS: dict[str, Rules] = {"n_splits": COUNT, "shuffle": FLAG, "random_state": SEED}
_SHUFFLES: dict[str, Rules] = {
    "n_splits": COUNT,
    "test_size": SHARE,
    "train_size": SHARE,
    "random_state": SEED,
    "_default_test_size": SHARE,
}

PARAMETERS: dict[str, dict[str, Rules]] = {
    "CountVectorizer": _COUNTING,
    "TfidfVectorizer": {**_COUNTING, **_WEIGHTING},
    "HashingVectorizer": {
        **_READING,
        "n_features": (Integer(1, 2**31 - 1),),
        "norm": _WEIGHTING["norm"],
        "alternate_sign": FLAG,
    },
    "TfidfTransformer": _WEIGHTING,
    "StandardScaler": {"copy": FLAG, "with_mean": FLAG, "with_std": FLAG},
    "MaxAbsScaler": {"copy": FLAG, "clip": FLAG},
    "MinMaxScaler": {
        "feature_range": pair_of(Real(), "a pair of numbers"),
        "copy": FLAG,
        "clip": FLAG,
    },
    "RobustScaler": {
        "with_centering": FLAG,
        "with_scaling": FLAG,
        "quantile_range": pair_of(Real(0, 100), "a pair of numbers from 0 to 100"),
        "copy": FLAG,
        "unit_variance": FLAG,
    },
    "Normalizer": {"norm": (Choice("l1", "l2", "max"),), "copy": FLAG},
    "TruncatedSVD": {
        "n_components": COUNT,
        "algorithm": (Choice("arpack", "randomized"),),
        "n_iter": COUNT,
        "n_oversamples": COUNT,
        "power_iteration_normalizer": (Choice("auto", "QR", "LU", "none", "OR"),),
        "random_state": SEED,
        "tol": POSITIVE,
    },
    "RBFSampler": {
        "gamma": (Choice("scale"), Real(0)),
        "n_components": COUNT,
        "random_state": SEED,
    },
    "Ridge": {
        **_LEAST_SQUARES,
        "alpha": (Real(0), Numbers()),
        "max_iter": OPTIONAL_COUNT,
        "solver": (Choice("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),),
        "random_state": SEED,
    },
    "LinearRegression": {**_LEAST_SQUARES, "n_jobs": N_JOBS},
    "LogisticRegression": {
        **_CLASSIFYING,
        "l1_ratio": SHARE,
        "solver": (
            Choice("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "warn"),
        ),
        "warm_start": FLAG,
        "n_jobs": N_JOBS,
    },
    "LinearSVC": {**_CLASSIFYING, "loss": (Choice("hinge", "squared_hinge"),)},
    "RandomForestRegressor": _FOREST,
    "ExtraTreesRegressor": _FOREST,
    "MultiOutputRegressor": {"estimator": LEARNER, "n_jobs": N_JOBS},
    "OneVsRestClassifier": {"estimator": LEARNER, "n_jobs": N_JOBS, "verbose": VERBOSE},
    "ColumnTransformer": {
        "transformers": COLUMN_PARTS,
        "remainder": (Choice("drop", "passthrough"), Methods("fit", "transform")),
        "sparse_threshold": (Real(0, 1),),
        "n_jobs": N_JOBS,
        "transformer_weights": (Rule(is_weights, "a dictionary of numbers"), Nothing()),
        "verbose": VERBOSE,
        "verbose_feature_names_out": FLAG,  # a text would be a format, which reads attributes
        "force_int_remainder_cols": (Flag(), Choice("deprecated")),
    },
    "SimpleImputer": {
        "missing_values": SCALAR,
        "strategy": (Choice("mean", "median", "most_frequent", "constant"),),
        "fill_value": SCALAR,
        "copy": FLAG,
        "add_indicator": FLAG,
        "keep_empty_features": FLAG,
    },
    "MissingIndicator": {
        "missing_values": SCALAR,
        "features": (Choice("missing-only", "all"),),
        "sparse": (Flag(), Choice("auto")),
        "error_on_new": FLAG,
    },
    "OneHotEncoder": {
        "categories": (
            Choice("auto"),
            Rule(lambda value: is_list(value, is_categories), "a list of categories"),
        ),
        "drop": (
            Choice("first", "if_binary"),
            Rule(is_categories, "an array of categories"),
            Nothing(),
        ),
        "sparse_output": FLAG,
        "dtype": NUMBER_TYPE,
        "handle_unknown": (Choice("error", "ignore", "infrequent_if_exist", "warn"),),
        "min_frequency": SHARE,
        "max_categories": OPTIONAL_COUNT,
        "feature_name_combiner": (Choice("concat"),),
    },
    "LabelBinarizer": {
        "neg_label": (Integer(),),
        "pos_label": (Integer(),),
        "sparse_output": FLAG,
    },
    "Pipeline": {
        "steps": (Rule(is_step_list, "a list of pairs of a name and a step"),),
        "transform_input": (TEXTS, Nothing()),
        "memory": (Nothing(),),
        "verbose": VERBOSE,
    },
    "KFold": _FOLDS,
    "StratifiedKFold": _FOLDS,
    "GroupKFold": _FOLDS,
    "ShuffleSplit": _SHUFFLES,
    "StratifiedShuffleSplit": _SHUFFLES,
}

# ---- attributes -------------------------------------------------------------------------------

ATTRIBUTES: dict[str, Rules] = {
    **dict.fromkeys(("coef_", "intercept_", "singular_"), NUMERIC),
    **dict.fromkeys(("mean_", "var_", "scale_", "center_"), OPTIONAL_NUMERIC),
    **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_", "max_abs_"), NUMERIC),
    **dict.fromkeys(("components_", "explained_variance_", "singular_values_"), NUMERIC),
    **dict.fromkeys(("explained_variance_ratio_", "random_weights_", "random_offset_"), NUMERIC),
    **dict.fromkeys(("n_samples_seen_", "idf_"), NUMERIC),
    **dict.fromkeys(("n_iter_", "rank_"), OPTIONAL_NUMERIC),
    **dict.fromkeys(("n_features_in_", "n_outputs_", "_n_features_out"), COUNT),
    **dict.fromkeys(("_n_samples", "_n_samples_bootstrap"), OPTIONAL_COUNT),
    **dict.fromkeys(("solver_", "y_type_"), TEXT),
    "feature_names_in_": (TEXTS,),
    "_sklearn_output_config": (Rule(is_output_config, "the type of an output"),),
    "_gamma": POSITIVE,
    "sparse_input_": FLAG,
    "fixed_vocabulary_": FLAG,
    "vocabulary_": (Rule(lambda value: isinstance(value, dict), "terms and their places"),),
    "_tfidf": (Rule(lambda value: isinstance(value, TfidfTransformer), "weights of terms"),),
    "classes_": CLASSES,
    "transformers_": COLUMN_PARTS,
    "_columns": (Rule(lambda value: is_list(value, is_columns), "a list of columns"),),
    "_remainder": (
        Rule(lambda value: isinstance(value, tuple) and is_column_part(value), "the other columns"),
    ),
    "_transformer_to_input_indices": INDEX,
    "output_indices_": INDEX,
    "sparse_output_": FLAG,
    "statistics_": (Rule(is_categories, "an array of values"),),
    "indicator_": (
        Rule(lambda value: isinstance(value, MissingIndicator), "a MissingIndicator"),
        Nothing(),
    ),
    "_fit_dtype": DTYPE,
    "_fill_dtype": DTYPE,
    "_precomputed": FLAG,
    "_n_features": COUNT,
    "features_": (Rule(is_places, "places of features"),),
    "categories_": (Rule(lambda value: is_list(value, is_categories), "lists of categories"),),
    "_infrequent_enabled": FLAG,
    "_infrequent_indices": OPTIONAL_PLACES,
    "_default_to_infrequent_mappings": OPTIONAL_PLACES,
    "_drop_idx_after_grouping": DROPPED,
    "drop_idx_": DROPPED,
    "_n_features_outs": (
        Rule(lambda value: is_list(value, Integer(0).accepts), "a list of integers"),
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
