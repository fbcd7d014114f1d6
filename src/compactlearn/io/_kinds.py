"""The table of types that a model file may hold, each with a way to take it apart and together.

A file names a type by its name in this table, and by nothing else: no module is imported and no
class is looked up because a file says so. Those who own a type add it (:func:`allow`) when they are
imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import Any

from sklearn.base import BaseEstimator

from compactlearn.core._lazy import load
from compactlearn.io._errors import ModelFileError

State = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A type by its name in files: what it is taken apart into, and how that is put together.

    ``together`` meets values of any type that a file can hold, and has to refuse what would do harm
    later. What it raises becomes a `ModelFileError`.
    """

    name: str
    type: type
    apart: Callable[[Any], Mapping[str, Any]]
    together: Callable[[State], Any]


class Forgotten:
    """Stands for a value that is not stored, and is None in a model that is loaded."""


#: Whose imports fill the table. A program that only loads a model may have imported neither.
OWNERS = (
    "compactlearn.io._foreign",
    "compactlearn.io._models",
    "compactlearn.io._searches",
    "compactlearn.io._shortlists",
    "compactlearn.io._tables",
    "compactlearn.io._trees",
    "compactlearn.related._stored_features",
    "compactlearn.related._stored_label_side",
    "compactlearn.related._stored_own",
)

_BY_NAME: dict[str, Kind] = {}
_BY_TYPE: dict[type, Kind] = {}


def allow(*kinds: Kind) -> None:
    """Add types to the table."""
    for kind in kinds:
        if _BY_NAME.setdefault(kind.name, kind) is not kind:
            raise ValueError(f"There is a kind of the name {kind.name!r} already.")
        _BY_TYPE[kind.type] = kind


def kind_of(thing: Any) -> Kind | None:
    """The kind of exactly this type: what a subclass adds would be lost."""
    if type(thing) not in _BY_TYPE:
        _fill()
    return _BY_TYPE.get(type(thing))


def kind_named(name: Any) -> Kind:
    """The kind that a file names."""
    if name not in _BY_NAME:
        _fill()
    kind = _BY_NAME.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ModelFileError(
            f"it holds a part of the type {name!r:.60}, which this version of compactlearn does "
            "not know; install a newer one"
        )
    return kind


def known_kinds() -> list[str]:
    """The names in the table, in their order."""
    _fill()
    return sorted(_BY_NAME)


def _fill() -> None:
    for owner in OWNERS:
        load(owner)


def whole(
    type_: type,
    check: Callable[[Any], None] | None = None,
    *,
    name: str | None = None,
    later: Mapping[str, Any] | None = None,
    paths: tuple[str, ...] = (),
) -> Kind:
    """A type that is its attributes: those that it is pickled with, and no others.

    ``check`` sees the thing when it is put together, and raises where its parts do not fit.
    ``later`` are parameters that files of older versions lack, and what they are for those.
    ``paths`` are parameters that name files: None in every file, and whatever a file says.
    """

    def apart(thing: Any) -> State:
        state = attributes(thing)
        given = {name: Forgotten() for name in paths if state.get(name) is not None}
        return {**state, **given}

    def together(state: State) -> Any:
        state = {**(later or {}), **state, **dict.fromkeys(paths)}
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

    return Kind(name or type_.__name__, type_, apart, together)


def attributes(thing: Any) -> State:
    """What a thing is pickled with."""
    state = thing.__getstate__()
    return {} if state is None else dict(state)


@cache
def parameter_names(type_: type) -> frozenset[str]:
    """The parameters of an estimator."""
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
