"""Parts of scikit-learn in model files: their parameters, and the attributes that a fit gives them.

scikit-learn does what a parameter says: reads files that texts name, keeps a cache in a folder,
searches with any regular expression. Its own constraints hold for every parameter, when a model is
saved and when it is loaded, and `_LIMITS` for the few whose values could do harm.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._codec import (
    ADVICE,
    Codec,
    Forgotten,
    State,
    check_rule,
    parameter_names,
    require,
)
from compactlearn.io._patterns import is_linear
from compactlearn.io._rules import SKLEARN

_COMMON = {
    "n_features_in_": "size d",
    "feature_names_in_": "names",
    "_sklearn_output_config": "dict",
}
_CACHE = "memory"  # the folder of a pipeline: None in every file
# What a fit leaves behind and predicting does not need: the address of a list that was checked,
# and names that are found again.
_SPENT = ("_stop_words_id", "_transformers_feature_names_out")

# Codecs by name are modules that Python imports; some of them take quadratic time.
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "ascii", "latin-1", "cp1250", "cp1251")
_ENCODINGS += ("cp1252", "iso-8859-1", "iso-8859-2", "iso-8859-15", "koi8-r", "gb18030", "big5")


def _is_encoding(value: Any) -> bool:
    return isinstance(value, str) and value.lower().replace("_", "-") in _ENCODINGS


def _is_range(value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(type(end) is int for end in value) and 1 <= value[0] <= value[1] <= 32


_LIMITS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "input": (lambda value: value == "content", "'content'"),
    "encoding": (_is_encoding, f"one of {', '.join(_ENCODINGS)}"),
    # A text of n words has n times so many n-grams, each as long as that.
    "ngram_range": (_is_range, "a pair of integers from 1 to 32"),
    "token_pattern": (
        lambda value: value is None or is_linear(value),
        "a regular expression that takes linear time on every text, such as "
        r"'(?u)\\b\\w\\w+\\b' (docs/reference/model-files.md has its grammar)",
    ),
    "vocabulary": (
        lambda value: value is None or isinstance(value, dict | list | tuple | set | frozenset),
        "a list or dictionary of terms",
    ),
    "n_jobs": (
        lambda value: value is None or (type(value) is int and abs(value) <= 64),
        "None or an integer from -64 to 64",
    ),
    # A text would be a format, which reads attributes.
    "verbose_feature_names_out": (lambda value: isinstance(value, bool), "True or False"),
}


def check_parameters(type_: Any, parameters: State) -> None:
    """Raise unless every parameter has a value that a file may hold."""
    for name in _LIMITS.keys() & parameters.keys():
        allowed, words = _LIMITS[name]
        # A function is never stored, and whoever describes it has the better words.
        if not (allowed(parameters[name]) or inspect.isroutine(parameters[name])):
            raise ModelFileError(
                f"the parameter {name!r} of {type_.__name__} must be {words} in a model file; got "
                f"{parameters[name]!r:.80}"
            )
    constraints = getattr(type_, "_parameter_constraints", {})
    try:
        validate_parameter_constraints(constraints, parameters, type_.__name__)
    except InvalidParameterError as error:
        raise ModelFileError(f"{error!s:.300}".rstrip(".")) from error


def sklearn_codec(type_: Any, check: Callable[[Any], None] | None = None) -> Codec:
    """Return the codec of a class of scikit-learn: its parameters, and what its rule lists.

    One that has other attributes (of a version that has learnt something new, or of a user who set
    them) is refused, rather than stored by half.
    """
    rule = {**_COMMON, **SKLEARN.get(type_.__name__, {})}
    names = parameter_names(type_)

    def encode(part: Any) -> State:
        state = {name: value for name, value in vars(part).items() if name not in _SPENT}
        strange = ", ".join(sorted(set(state) - names - set(rule)))
        if strange:
            raise ModelFileError(
                f"its type, {type_.__name__}, has attributes ({strange}) that the file format does "
                f"not know of it; {ADVICE}"
            )
        try:
            check_parameters(type_, {name: state[name] for name in names})
        except ModelFileError as error:
            raise ModelFileError(f"{error}; {ADVICE}") from error
        if state.get(_CACHE) is not None:
            state[_CACHE] = Forgotten()
        return _with_terms(state)

    def decode(state: State) -> Any:
        strange = ", ".join(sorted(set(state) - names - set(rule)))
        require(
            not strange,
            f"{type_.__name__} has {strange:.60}, which this version of scikit-learn does not know",
        )
        state = with_defaults(type_, state)
        if _CACHE in state:
            state[_CACHE] = None
        check_parameters(type_, {name: state[name] for name in names})
        part = object.__new__(type_)
        vars(part).update(state)
        _restore_terms(part)
        check_rule(part, {name: words for name, words in rule.items() if name in state})
        if check is not None:
            check(part)
        return part

    return Codec(encode, decode)


def with_defaults(type_: Any, state: State) -> State:
    """Return a state in which parameters that it lacks have their default values: another version
    of scikit-learn did not have them."""
    known = inspect.signature(type_).parameters
    defaults = {name: known[name].default for name in known.keys() - state.keys()}
    require(inspect.Parameter.empty not in defaults.values(), f"{type_.__name__} lacks parameters")
    return {**defaults, **state}


# ---- vocabularies -----------------------------------------------------------------------------


def _with_terms(state: State) -> State:
    """Return a state with its vocabulary as a list of terms: no term has a place out of range."""
    if "vocabulary_" not in state:
        return state
    terms = sorted(state["vocabulary_"].items(), key=lambda pair: pair[1])
    if [int(place) for _, place in terms] != list(range(len(terms))):
        raise ModelFileError(f"its vocabulary does not number its terms from 0 on; {ADVICE}")
    return {**state, "vocabulary_": [str(term) for term, _ in terms]}


def _restore_terms(part: Any) -> None:
    """Give a vectoriser its vocabulary again."""
    terms = getattr(part, "vocabulary_", None)
    if terms is not None:
        distinct = isinstance(terms, list) and len(set(terms)) == len(terms)
        require(distinct, "a vocabulary is no list of terms")
        part.vocabulary_ = {term: place for place, term in enumerate(terms)}
        weights = getattr(part, "_tfidf", None)
        fits = not hasattr(weights, "idf_") or weights.idf_.shape == (len(terms),)
        require(fits, "the weights of terms are not those of the vocabulary")
    if hasattr(part, "stop_words"):
        vars(part)["_stop_words_id"] = id(part.stop_words)
