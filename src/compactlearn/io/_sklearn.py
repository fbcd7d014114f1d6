"""Parts of scikit-learn in model files: what comes before a classifier, and a few learners.

Each has a list of the attributes that a fit gives it. One that has others (of a version that has
learnt something new, or of a user who set them) is refused, rather than stored by half.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._allowed import check_attributes, check_parameters, default_of, in_table
from compactlearn.io._checks import ADVICE, is_number, numbers, require, size
from compactlearn.io._codec import Codec, Forgotten, State, attributes_codec, parameter_names

_COMMON = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")
_LINEAR = ("coef_", "intercept_", "n_iter_", "solver_", "classes_", "rank_", "singular_")

Check = Callable[[Any], None]


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The parameters, as they were passed."""
    return estimator.get_params(deep=False)


def sklearn_codec(
    type_: type,
    *fitted: str,
    check: Check | None = None,
    forget: str = "",
    paths: tuple[str, ...] = (),
    plain: Callable[[State], State] | None = None,
) -> Codec:
    """Return the codec of an estimator of scikit-learn: its parameters, and these attributes where
    it has them, all with values that :mod:`compactlearn.io._allowed` lists.

    The attribute ``forget`` is left out, and the parameters ``paths`` are None in a file. ``plain``
    makes values that a file can hold of those that it cannot.
    """
    known = {*_COMMON, *fitted}

    def encode(estimator: Any) -> dict[str, Any]:
        parameters = parameters_of(estimator)
        for name in paths:
            parameters[name] = None if parameters.get(name) is None else Forgotten()
        found = {name: value for name, value in vars(estimator).items() if name not in parameters}
        found.pop(forget, None)
        if set(found) - known:
            strange = ", ".join(sorted(set(found) - known))
            raise ModelFileError(
                f"its type, {type_.__name__}, has attributes ({strange}) that the file format does "
                f"not know of it; {ADVICE}"
            )
        if plain is not None:
            whole_state = plain({**parameters, **found})
            parameters = {name: whole_state[name] for name in parameters}
            found = {name: whole_state[name] for name in found}
        advised(check_parameters, type_, parameters, set(parameters) - set(paths))
        advised(check_attributes, type_, found, found)
        return {**in_table(type_, parameters), **found}

    def decode(state: State) -> Any:
        state = with_defaults(type_, {**state, **dict.fromkeys(paths)}, known)
        check_attributes(type_, state, known & set(state))
        estimator = object.__new__(type_)
        vars(estimator).update(state)
        if check is not None:
            check(estimator)
        return estimator

    return Codec(encode, decode)


def fitted(*names: str, check: Check | None = None, **options: Any) -> Callable[[type], Codec]:
    """Return what makes the codec of an estimator with these fitted attributes."""
    return lambda type_: sklearn_codec(type_, *names, check=check, **options)


def advised(check: Callable[..., None], *given: Any) -> None:
    """Call a check, and add to what it raises what the owner of a model can do."""
    try:
        check(*given)
    except ModelFileError as error:
        raise ModelFileError(f"{error}; {ADVICE}") from error


def with_defaults(type_: Any, state: State, known: set[str]) -> State:
    """Return parameters and attributes, the former checked; parameters that another version of
    scikit-learn did not have take their default values."""
    names = parameter_names(type_)
    strange = set(state) - names - known
    require(
        not strange,
        f"{type_.__name__} has {', '.join(sorted(strange))!s:.60}, which this version of "
        "scikit-learn does not know",
    )
    check_parameters(type_, state, names & set(state))
    defaults = {name: default_of(type_, name) for name in names - set(state)}
    require(inspect.Parameter.empty not in defaults.values(), f"{type_.__name__} lacks parameters")
    return {**defaults, **state}


def _splitter_codec(type_: type) -> Codec:
    """Return the codec of a class that divides rows: its attributes, and no others."""
    plain = attributes_codec(type_)

    def encode(splitter: Any) -> dict[str, Any]:
        state = dict(plain.encode(splitter))
        advised(check_parameters, type_, state, state)
        return state

    def decode(state: State) -> Any:
        check_parameters(type_, state, state)
        return plain.decode(state)

    return Codec(encode, decode)


# ---- texts ------------------------------------------------------------------------------------

_STOP_WORDS = "_stop_words_id"  # the address of a list that was checked


def _vectorizer_codec(type_: type) -> Codec:
    """Store the vocabulary as a list of terms in their order: no term has a place out of range."""
    inner = sklearn_codec(type_, "_tfidf", "fixed_vocabulary_", "vocabulary_", forget=_STOP_WORDS)

    def encode(words: Any) -> dict[str, Any]:
        state = dict(inner.encode(words))
        if "vocabulary_" in state:
            terms = sorted(state["vocabulary_"].items(), key=lambda pair: pair[1])
            if [int(place) for _, place in terms] != list(range(len(terms))):
                raise ModelFileError(
                    f"its vocabulary does not number its terms from 0 on; {ADVICE}"
                )
            state["vocabulary_"] = [str(term) for term, _ in terms]
        return state

    def decode(state: State) -> Any:
        terms = state.get("vocabulary_")
        if terms is not None:
            listed = isinstance(terms, list) and all(isinstance(term, str) for term in terms)
            require(listed and len(set(terms)) == len(terms), "a vocabulary is no list of terms")
            state["vocabulary_"] = {term: place for place, term in enumerate(terms)}
        words = inner.decode(state)
        setattr(words, _STOP_WORDS, id(words.stop_words))
        weights = getattr(words, "_tfidf", None)
        if terms is not None and hasattr(weights, "idf_"):
            numbers(weights.idf_, (len(terms),), "the weights of terms")
        return words

    return Codec(encode, decode)


# ---- columns ----------------------------------------------------------------------------------


def _of_columns(*names: str) -> Check:
    """Attributes that have a number for each feature, where they are there."""

    def check(estimator: Any) -> None:
        if hasattr(estimator, "n_features_in_"):
            width = size(estimator.n_features_in_, "the number of features")
            for name in names:
                if getattr(estimator, name, None) is not None:
                    numbers(getattr(estimator, name), (width,), f"{name} of a scaler")

    return check


def _check_sampler(sampler: Any) -> None:
    if hasattr(sampler, "random_weights_"):
        width = size(sampler.n_features_in_, "the number of features")
        count = size(sampler.n_components, "the number of random features")
        numbers(sampler.random_weights_, (width, count), "random features")
        numbers(sampler.random_offset_, (count,), "random features")


def _check_linear(model: Any) -> None:
    if hasattr(model, "coef_"):
        width = size(model.n_features_in_, "the number of features")
        require(isinstance(model.coef_, np.ndarray), "coefficients are missing")
        numbers(model.coef_, (*model.coef_.shape[:1][: model.coef_.ndim - 1], width), "coef_")
        require(hasattr(model, "intercept_"), "an intercept is missing")
        if isinstance(model.intercept_, np.ndarray):
            numbers(model.intercept_, model.coef_.shape[:-1], "intercept_")
        else:
            require(is_number(model.intercept_), "an intercept is no number")


def _check_several(model: Any) -> None:
    if hasattr(model, "estimators_"):
        require(isinstance(model.estimators_, list) and model.estimators_, "estimators are missing")
        require(all(hasattr(part, "predict") for part in model.estimators_), "estimators are none")


def _check_pipeline(pipeline: Pipeline) -> None:
    steps = pipeline.steps
    require(isinstance(steps, list) and steps, "a pipeline has no steps")
    for step in steps:
        named = isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)
        require(named, "a step of a pipeline is none")
    for _, step in steps[:-1]:
        require(_is_passed(step) or hasattr(step, "transform"), "a step transforms nothing")
    last = steps[-1][1]
    require(_is_passed(last) or hasattr(last, "fit"), "the last step of a pipeline learns nothing")


def _is_passed(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


_SPLITTERS = ("GroupKFold", "KFold", "ShuffleSplit", "StratifiedKFold", "StratifiedShuffleSplit")

CODECS: dict[str, Callable[[type], Codec]] = {
    **dict.fromkeys(("CountVectorizer", "TextVectorizer", "TfidfVectorizer"), _vectorizer_codec),
    "HashingVectorizer": fitted(forget=_STOP_WORDS),
    "TfidfTransformer": fitted("idf_", check=_of_columns("idf_")),
    "StandardScaler": fitted(
        *("mean_", "var_", "scale_", "n_samples_seen_"), check=_of_columns("mean_", "scale_")
    ),
    "MaxAbsScaler": fitted("max_abs_", "scale_", "n_samples_seen_", check=_of_columns("scale_")),
    "MinMaxScaler": fitted(
        *("min_", "scale_", "data_min_", "data_max_", "data_range_", "n_samples_seen_"),
        check=_of_columns("min_", "scale_"),
    ),
    "RobustScaler": fitted("center_", "scale_", check=_of_columns("center_", "scale_")),
    "Normalizer": sklearn_codec,
    "TruncatedSVD": fitted(
        *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")
    ),
    "RBFSampler": fitted(
        *("random_weights_", "random_offset_", "_n_features_out", "_gamma"), check=_check_sampler
    ),
    **dict.fromkeys(
        ("LinearRegression", "LinearSVC", "LogisticRegression", "Ridge"),
        fitted(*_LINEAR, check=_check_linear),
    ),
    "MultiOutputRegressor": fitted("estimators_", check=_check_several),
    "OneVsRestClassifier": fitted(
        *("estimators_", "label_binarizer_", "classes_"), check=_check_several
    ),
    "LabelBinarizer": fitted("y_type_", "sparse_input_", "classes_"),
    "Pipeline": fitted(check=_check_pipeline, paths=("memory",)),
    **dict.fromkeys(_SPLITTERS, _splitter_codec),
}
