"""Codecs: what a type is encoded as in a model file, and how it is decoded again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import Any

from sklearn.base import BaseEstimator

from compactlearn.core._tensor_file import ModelFileError

State = dict[str, Any]


@dataclass(frozen=True)
class Codec:
    """How one type is stored: `encode` returns named values, `decode` makes the thing of them.

    ``decode`` meets values of any type that a file can hold, and has to refuse what would do harm
    later. What it raises becomes a `ModelFileError`.
    """

    encode: Callable[[Any], Mapping[str, Any]]
    decode: Callable[[State], Any]


class Forgotten:
    """Marks a value that is not stored, and is None in a model that is loaded."""


def attributes_codec(
    type_: type, check: Callable[[Any], None] | None = None, *, paths: tuple[str, ...] = ()
) -> Codec:
    """Return the codec of a type that is its attributes: those that it is pickled with.

    ``check`` sees the decoded thing, and raises where its parts do not fit. ``paths`` are
    parameters that name files: None in every file, and whatever a file says.
    """

    def encode(thing: Any) -> State:
        state = attributes(thing)
        given = {name: Forgotten() for name in paths if state.get(name) is not None}
        return {**state, **given}

    def decode(state: State) -> Any:
        state = {**state, **dict.fromkeys(paths)}
        refuse_foreign_attributes(type_, state)
        thing = object.__new__(type_)
        restore = getattr(thing, "__setstate__", None)
        if restore is None:
            vars(thing).update(state)
        else:
            restore(state)
        if check is not None:
            check(thing)
        return thing

    return Codec(encode, decode)


def attributes(thing: Any) -> State:
    """Return what a thing is pickled with."""
    state = thing.__getstate__()
    return {} if state is None else dict(state)


@cache
def parameter_names(type_: type) -> frozenset[str]:
    """Return the names of the parameters of an estimator."""
    return frozenset(inspect.signature(type_).parameters)


def refuse_foreign_attributes(type_: type, state: State) -> None:
    """Refuse attributes that hide a method, and the lack of a field or parameter."""
    for name in state:
        there = getattr(type_, name, None)
        if (
            not name.isidentifier()
            or name.startswith("__")
            or callable(there)
            or isinstance(there, property | cached_property)
        ):
            raise ModelFileError(f"{type_.__name__} has no attribute {name!r:.60} to be set")
    needed: frozenset[str] = frozenset()
    if is_dataclass(type_):
        needed = frozenset(field.name for field in fields(type_))
        if set(state) - needed:
            raise ModelFileError(f"{type_.__name__} has other fields")
    elif issubclass(type_, BaseEstimator):
        needed = parameter_names(type_)
    if needed - set(state):
        missing = ", ".join(sorted(needed - set(state)))
        raise ModelFileError(f"{type_.__name__} lacks {missing}")
