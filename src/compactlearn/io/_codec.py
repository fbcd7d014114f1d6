"""Codecs of stored types, and rules for what is decoded.

A rule lists the values that the attributes of a class may have in a file:

    "number", "count", "text", ...  kinds of values, see `_KINDS`
    "d k"         a dense array of real numbers; equal letters are equal sizes, * is any size
    "sparse d k"  a sparse matrix ("csr d k": one by rows); "matrix d k" either
    "size q"      an integer that is the size q
    "layers d m"  pairs of weights and biases of a network from d to m numbers
    "LabelSpace"  an instance of the class of this name
    "d or none"   one of several

The attribute may be one of a part, as in "label_space_.n_labels"; one with a question mark may be
absent. An estimator that is not fitted lacks the first attribute of its rule, and is not checked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from compactlearn.compact._compression import Half, HalfSparse
from compactlearn.core._tensor_file import ModelFileError

State = dict[str, Any]
Rule = Mapping[str, str]

ADVICE = (
    "use parts of compactlearn, or those of scikit-learn that docs/how-to/save.md lists, or keep "
    "the model with skops or joblib"
)


@dataclass(frozen=True)
class Codec:
    """A pair of functions: `encode` returns named values, `decode` makes the object from them.

    ``decode`` is given values of any type that a file can contain, and must refuse whatever would
    do harm later. Every error that it raises becomes a `ModelFileError`.
    """

    encode: Callable[[Any], Mapping[str, Any]]
    decode: Callable[[State], Any]


class Forgotten:
    """Mark a value that is not stored, and is None in a model that is loaded."""


def attributes_codec(type_: type, rule: Rule, check: Callable[[Any], None] | None = None) -> Codec:
    """Return the codec of a type that is stored by the attributes that it is pickled with.

    ``check`` sees the decoded thing after its rule, and raises if its parts do not fit.
    """

    def decode(state: State) -> Any:
        _refuse_foreign_attributes(type_, state)
        thing = object.__new__(type_)
        restore = getattr(thing, "__setstate__", vars(thing).update)
        restore(state)
        if rule and (is_dataclass(type_) or hasattr(thing, next(iter(rule)))):
            check_rule(thing, rule)
            if check is not None:
                check(thing)
        return thing

    return Codec(attributes, decode)


def attributes(thing: Any) -> State:
    """Return the state that a thing is pickled with."""
    return dict(thing.__getstate__() or {})


@cache
def parameter_names(type_: type) -> frozenset[str]:
    """Return the names of the parameters of a class."""
    return frozenset(inspect.signature(type_).parameters)


def _refuse_foreign_attributes(type_: type, state: State) -> None:
    """Refuse attributes that hide a method, and the lack of a field or parameter."""
    for name in state:
        there = getattr(type_, name, None)
        hides = callable(there) or isinstance(there, property | cached_property)
        if not name.isidentifier() or name.startswith("__") or hides:
            raise ModelFileError(f"{type_.__name__} has no attribute {name!r:.60} to be set")
    needed: frozenset[str] = frozenset()
    if is_dataclass(type_):
        needed = frozenset(field.name for field in fields(type_))
        require(not set(state) - needed, f"{type_.__name__} has other fields")
    elif issubclass(type_, BaseEstimator):
        needed = parameter_names(type_)
    missing = ", ".join(sorted(needed - set(state)))
    require(not missing, f"{type_.__name__} lacks {missing}")


# ---- rules ------------------------------------------------------------------------------------


def require(condition: Any, what: str) -> None:
    """Refuse the file unless the condition holds."""
    if not condition:
        raise ModelFileError(what)


def is_count(value: Any) -> bool:
    """Return whether a value is an integer of at least 0."""
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return bool(integer and value >= 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "none": lambda value: value is None,
    "number": _is_number,
    "count": is_count,
    "flag": lambda value: isinstance(value, bool | np.bool_),
    "text": lambda value: isinstance(value, str),
    "texts": lambda value: isinstance(value, list) and _are_texts(value),
    "names": lambda value: isinstance(value, np.ndarray) and _are_texts(value),
    "array": lambda value: isinstance(value, np.ndarray),
    "dtype": lambda value: isinstance(value, np.dtype),
    "list": lambda value: isinstance(value, list),
    "tuple": lambda value: isinstance(value, tuple),
    "dict": lambda value: isinstance(value, dict),
    "frozenset": lambda value: isinstance(value, frozenset),
}
_SPARSE: dict[str, Any] = {
    "csr": scipy.sparse.csr_array,
    "sparse": (scipy.sparse.sparray, scipy.sparse.spmatrix),
    "matrix": (scipy.sparse.sparray, scipy.sparse.spmatrix),
}


def check_rule(thing: Any, rule: Rule) -> None:
    """Raise unless every attribute of a rule has one of its values."""
    sizes: dict[str, int] = {}
    for path, allowed in rule.items():
        if path.endswith("?"):
            path = path[:-1]
            if not hasattr(thing, path):
                continue
        value = attrgetter(path)(thing)
        if not any(_fits(value, *one.split(), sizes=sizes) for one in allowed.split(" or ")):
            known = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
            shape = f" of the shape {value.shape}" if hasattr(value, "shape") else ""
            raise ModelFileError(
                f"the attribute {path!r} of {type(thing).__name__} must be {allowed!r} "
                f"({known or 'sizes are free'}), and is {type(value).__name__}{shape}"
            )


def _fits(value: Any, kind: str, *letters: str, sizes: dict[str, int]) -> bool:
    if kind in _KINDS:
        return _KINDS[kind](value)
    if kind == "size":
        return is_count(value) and _has_shape((int(value),), letters, sizes)
    if kind == "layers":
        return _are_layers(value, letters, sizes)
    if kind[0].isupper():
        return any(base.__name__ == kind for base in type(value).__mro__)
    # What is in half precision has the type and shape that it will have.
    type_ = value.kind if isinstance(value, HalfSparse) else type(value)
    if kind in _SPARSE and issubclass(type_, _SPARSE[kind]):
        return _has_shape(value.shape, letters, sizes)
    if kind in _SPARSE and kind != "matrix":
        return False
    array = value.values if isinstance(value, Half) else value
    dense = isinstance(array, np.ndarray) and array.dtype.kind in "fiu"
    return dense and _has_shape(
        array.shape, letters if kind == "matrix" else (kind, *letters), sizes
    )


def _are_layers(value: Any, letters: tuple[str, ...], sizes: dict[str, int]) -> bool:
    """Return whether a value is a network whose layers fit each other."""
    if not isinstance(value, tuple) or not value:
        return False
    names = [letters[0], *(f"layer {k}" for k in range(1, len(value))), letters[1]]
    own = {letter: sizes[letter] for letter in letters if letter in sizes}
    fits = all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and _fits(pair[0], *names[k : k + 2], sizes=own)
        and _fits(pair[1], names[k + 1], sizes=own)
        for k, pair in enumerate(value)
    )
    sizes.update({letter: own[letter] for letter in letters if letter in own})
    return fits


def _has_shape(shape: tuple[int, ...], letters: tuple[str, ...], sizes: dict[str, int]) -> bool:
    """Return whether a shape has the sizes of its letters, of which new ones are noted."""
    return len(shape) == len(letters) and all(
        letter == "*" or sizes.setdefault(letter, size) == size
        for letter, size in zip(letters, shape, strict=True)
    )
