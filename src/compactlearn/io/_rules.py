"""Rules for values of scikit-learn's parameters and attributes in model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from compactlearn.core._params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Methods,
    Nothing,
    Real,
    Seed,
)
from compactlearn.io._checks import is_number, is_sparse, unpacked

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


def is_vocabulary(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _all_texts(list(value)) and all(Integer(0).accepts(n) for n in value.values())
    return _all_texts(value)


def is_encoding(value: Any) -> bool:
    return isinstance(value, str) and value.lower().replace("_", "-") in _ENCODINGS


def _is_pair(value: Any, rule: Constraint) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(rule.accepts(end) for end in value) and value[0] <= value[1]


def _is_number_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _NUMBER_NAMES
    return isinstance(value, type | np.dtype) and np.dtype(value).kind in "biuf"


def is_weights(value: Any) -> bool:
    return isinstance(value, Mapping) and all(Real(0).accepts(part) for part in value.values())


def _is_numeric(value: Any) -> bool:
    """Return whether a value is a number, or an array or list of them, in half precision too."""
    if isinstance(value, list):
        return all(isinstance(part, np.ndarray | int | float) for part in value)
    value = unpacked(value)
    return is_sparse(value) or is_number(value) or _is_array(value, "biuf")


def is_output_config(value: Any) -> bool:
    known = isinstance(value, dict) and set(value) <= {"transform"}
    return known and all(part in ("default", "pandas", "polars", None) for part in value.values())


def is_step_list(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) for step in value
    )


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | np.bool_) or is_number(value)


def is_categories(value: Any) -> bool:
    """Return whether a value is an array or list of categories.

    Categories that are objects become keys of a dictionary, and the hashes of numbers can be
    chosen: a few thousand such objects are allowed.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.ndim == 1
    listed = isinstance(value, list | tuple) or (_is_array(value, "O") and value.ndim == 1)
    few = listed and sum(not isinstance(part, str) for part in value) <= _MOST_OBJECTS
    return few and all(map(_is_scalar, value))


def is_list(value: Any, test: Any) -> bool:
    return isinstance(value, list) and all(map(test, value))


def is_places(value: Any) -> bool:
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
    return is_list(value, lambda part: isinstance(part, tuple) and is_column_part(part))


def is_column_part(part: Any) -> bool:
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
        isinstance(name, str) and (isinstance(part, slice) or is_list(part, Integer(0).accepts))
        for name, part in value.items()
    )


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype) and value.kind in "biufOU"


def pair_of(rule: Constraint, words: str) -> Rules:
    return (Rule(lambda value: _is_pair(value, rule), words),)


FLAG: Rules = (Flag(),)
SEED: Rules = (Seed(),)
VERBOSE: Rules = (Flag(), Integer(0, 1000))
POSITIVE: Rules = (Real(0),)
COUNT: Rules = (Integer(0),)
OPTIONAL_COUNT: Rules = (Integer(0), Nothing())
SHARE: Rules = (Real(0), Nothing())
N_JOBS: Rules = (Integer(-64, 64), Nothing())
INFINITE = Rule(lambda value: isinstance(value, float) and value == np.inf, "infinity")
CLASS_WEIGHT: Rules = (
    Choice("balanced"),
    Rule(is_weights, "a dictionary of numbers"),
    Nothing(),
)
LEARNER: Rules = (Methods("fit", "predict"),)
NUMBER_TYPE: Rules = (Rule(_is_number_type, "a type of numbers"),)
TEXTS = Rule(_all_texts, "a list of texts")

SCALAR: Rules = (Rule(_is_scalar, "a number, a text or None"),)
COLUMN_PARTS: Rules = (
    Rule(_is_column_list, "a list of a name, a transformer and columns, each by name or position"),
)
NUMERIC: Rules = (Rule(_is_numeric, "numbers"),)
OPTIONAL_NUMERIC: Rules = (*NUMERIC, Nothing())
TEXT: Rules = (Rule(lambda value: isinstance(value, str), "a text"),)
CLASSES: Rules = (Rule(lambda value: isinstance(value, np.ndarray | list), "an array of classes"),)

INDEX: Rules = (Rule(_is_index, "the columns of each part"),)
DTYPE: Rules = (Rule(_is_dtype, "a type of numbers or texts"),)
DROPPED: Rules = (Rule(_is_dropped, "an array of places"), Nothing())
OPTIONAL_PLACES: Rules = (
    Rule(
        lambda value: is_list(value, lambda part: part is None or is_places(part)),
        "a list of arrays of places",
    ),
)
