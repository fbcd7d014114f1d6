"""Python values as JSON and arrays, and back: the two directions of a model file's description.

None, truth values, texts, integers and finite floats are themselves, and so are lists. Everything
else is a dictionary with one entry, whose name says what it is. Things whose type is in
the table of types are in a list of their own, each after those that it holds, so that a thing
that is met twice is stored once, and is one thing again when it is loaded.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._tensor_file import NAMES, ModelFileError
from compactlearn.io._codec import ADVICE, Forgotten, is_count, require
from compactlearn.io._types import codec_named, name_of

_LONG_LIST = 16  # texts: a longer list of them is one of the arrays
_DEPTH = 64  # of values in values
_MOST_SPARE = 64 * 2**20  # bytes that all arrays of texts may take above 16 for each that is stored
_MOST_KEYS = 10_000  # of all sets, dictionaries and arrays of objects, other than texts
_LARGEST_INTEGER = 2**4096
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMBER_TYPES = {dtype.name: dtype for dtype in NAMES}
_TYPES: dict[str, type] = {
    **{name: dtype.type for name, dtype in _NUMBER_TYPES.items()},
    "python int": int,
    "python float": float,
    "python bool": bool,
}
_TYPE_NAMES = {type_: name for name, type_ in _TYPES.items()}
_GENERATORS = np.random.RandomState | np.random.Generator | np.random.BitGenerator


def as_json(value: Any) -> bytes:
    """Return plain values as JSON; texts keep every half of a surrogate pair that they have."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


class Spare:
    """Limits of what one file may claim, counted alike when it is written and when it is read."""

    def __init__(self) -> None:
        self._letters = _MOST_SPARE
        self._keys = _MOST_KEYS

    def has_room(self, width: int, count: int, stored: int) -> bool:
        """Return whether so many texts may each have room for so many letters.

        An array of texts gives each of them the room of the longest: a few bytes in a file could
        ask for any amount of memory.
        """
        left = self._letters - max(0, 4 * width * count - 16 * stored)
        if left >= 0:
            self._letters = left
        return left >= 0

    def count_keys(self, keys: Iterable[Any]) -> None:
        """Raise if a file has too many keys that are no texts.

        Whoever writes a file can choose numbers that hash alike, and a dictionary of these takes
        quadratic time. Texts are hashed at random. Objects in arrays may become keys.
        """
        self._keys -= sum(not isinstance(key, str) for key in keys)
        if self._keys < 0:
            raise ModelFileError(
                f"its sets, dictionaries and arrays of objects have more than {_MOST_KEYS} keys "
                "that are no texts"
            )


class Describer:
    """Take things apart; ``arrays``, ``things`` and ``forgotten`` fill up on the way."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.things: list[Any] = []
        self.forgotten: list[str] = []  # where generators and paths were
        # With the thing itself, so that its address stays its own.
        self._places: dict[int, tuple[Any, int | None]] = {}
        # Arrays by where they lie, since a view of one is another thing; texts by their list.
        self._names: dict[tuple[Any, ...], tuple[Any, str]] = {}
        self._spare = Spare()

    def value(self, thing: Any, where: str) -> Any:
        """Return the JSON of a thing that is found at ``where``."""
        if thing is None or type(thing) is bool:
            return thing
        if type(thing) is int:
            if abs(thing) > _LARGEST_INTEGER:
                raise ModelFileError(f"A model file cannot hold {where}: an integer is too large.")
            return thing
        if isinstance(thing, np.generic):
            return self._scalar(thing, where)
        if isinstance(thing, str):
            return str(thing)
        if type(thing) is float:
            return thing if math.isfinite(thing) else {"float": str(thing)}
        if isinstance(thing, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(thing)
            return {"masked": [self._array(part, where) for part in (thing.data, mask)]}
        if isinstance(thing, np.ndarray):
            return self._array(thing, where)
        if isinstance(thing, Forgotten | _GENERATORS):
            self.forgotten.append(where)
            return {"forgotten": None}
        found = self._container(thing, where)
        return self._thing(thing, where) if found is None else found

    def _container(self, thing: Any, where: str) -> Any:
        """Return the JSON of a container or type; None for all other things."""
        if type(thing) is list:
            if len(thing) > _LONG_LIST and all(type(part) is str for part in thing):
                return {"texts": self._texts(thing, thing)}
            return self._parts(thing, where)
        if type(thing) is tuple:
            return {"tuple": self._parts(thing, where)}
        if isinstance(thing, set | frozenset):
            self._count_keys(thing, where)
            parts = sorted(thing, key=lambda part: (type(part).__name__, repr(part)))
            return {type(thing).__name__: self._parts(parts, where)}
        if isinstance(thing, Mapping):
            self._count_keys(thing, where)
            pairs = [
                [self.value(key, f"a key of {where}"), self.value(part, f"{where}[{key!r}]")]
                for key, part in thing.items()
            ]
            return {"dict": pairs}
        if isinstance(thing, range | slice):
            ends = (thing.start, thing.stop, thing.step)
            return {type(thing).__name__: self._parts(ends, where)}
        if isinstance(thing, np.dtype) and (thing.name in _NUMBER_TYPES or thing.kind in "OU"):
            return {"dtype": thing.name}
        if isinstance(thing, type) and thing in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[thing]}
        return None

    def _count_keys(self, keys: Iterable[Any], where: str) -> None:
        try:
            self._spare.count_keys(keys)
        except ModelFileError as error:
            raise ModelFileError(f"A model file cannot hold {where}: {error}.") from error

    def _parts(self, things: Any, where: str) -> list[Any]:
        return [self.value(part, f"{where}[{place}]") for place, part in enumerate(things)]

    def _scalar(self, thing: np.generic, where: str) -> Any:
        if isinstance(thing, np.str_):
            return {"scalar": ["str", str(thing)]}
        if thing.dtype.name not in _NUMBER_TYPES:
            raise refused(where, thing)
        return {"scalar": [thing.dtype.name, self.value(thing.item(), where)]}

    def _thing(self, thing: Any, where: str) -> Any:
        name = name_of(thing)
        if name is None:
            raise refused(where, thing)
        if id(thing) in self._places:
            place = self._places[id(thing)][1]
            if place is None:
                raise ModelFileError(f"A model file cannot hold {where}: it holds itself.")
            return {"thing": place}
        self._places[id(thing)] = (thing, None)
        try:
            parts = codec_named(name).encode(thing)
        except ModelFileError as error:
            raise ModelFileError(f"A model file cannot hold {where}: {error}.") from error
        order = sorted(parts, key=_parameters_first)
        state = {part: self.value(parts[part], f"{where}.{part}") for part in order}
        self.things.append([name, state])
        self._places[id(thing)] = (thing, len(self.things) - 1)
        return {"thing": len(self.things) - 1}

    # ---- arrays -------------------------------------------------------------------------------

    def _array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype.kind in "OU":
            return self._array_of_objects(array, where)
        if array.dtype.name not in _NUMBER_TYPES:
            raise refused(where, array)
        turned = array.ndim > 1 and array.T.flags.c_contiguous and not array.flags.c_contiguous
        name = self._named(array.T if turned else array)
        return {"turned": name} if turned else {"array": name}

    def _named(self, array: NDArray[Any]) -> str:
        """Return the name of an array in the file; the same memory has the same name."""
        lies = array.__array_interface__
        key = (lies["data"][0], lies["strides"], array.shape, array.dtype)
        if key not in self._names:
            kept = np.ascontiguousarray(array, dtype=_NUMBER_TYPES[array.dtype.name])
            name = str(len(self.arrays))
            # Of an array without dimensions NumPy makes one of one.
            self.arrays[name] = kept.reshape(array.shape)
            self._names[key] = (array, name)
        return self._names[key][1]

    def _texts(self, texts: list[str], owner: Any) -> str:
        key = ("texts", id(owner))
        if key not in self._names:
            encoded = np.frombuffer(as_json(texts), np.uint8)
            self._names[key] = (owner, self._named(encoded))
        return self._names[key][1]

    def _array_of_objects(self, array: NDArray[Any], where: str) -> Any:
        parts, shape = array.ravel().tolist(), list(array.shape)
        if not all(type(part) is str for part in parts):
            self._count_keys(parts, where)
            return {"objects": [shape, self._parts(parts, where)]}
        name = self._texts(parts, array)
        width = 0  # of an array of objects, also where one of texts would take too much
        if array.dtype.kind == "U":
            widths = (array.dtype.itemsize // 4, max([1, *map(len, parts)]))
            stored = self.arrays[name].size
            fits = (w for w in widths if self._spare.has_room(w, len(parts), stored))
            width = next(fits, 0)
        return {"text array": [name, shape, width]}


def _parameters_first(name: str) -> tuple[bool, bool, str]:
    """Sort so that what cannot be stored is met where the user has put it."""
    return name.startswith("_"), name.endswith("_"), name


def refused(where: str, thing: Any) -> ModelFileError:
    """Return the error that says why a thing is in no model file."""
    if inspect.isroutine(thing) or isinstance(thing, type):
        what = f"a function or class ({getattr(thing, '__name__', thing)})"
    elif isinstance(thing, np.ndarray | np.generic):
        what = f"of NumPy's type {thing.dtype}"
    else:
        what = f"of the type {type(thing).__module__}.{type(thing).__qualname__}"
    return ModelFileError(
        f"A model file holds arrays and plain values of known types, nothing that would have to be "
        f"executed, and {where} is {what}; {ADVICE}."
    )


class Rebuilder:
    """Put things together again from a description and arrays, and believe neither."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._made: dict[str, Any] = {}  # what several places share
        self._things: list[Any] = []
        self._depth = 0
        self._spare = Spare()

    def add(self, described: Any) -> None:
        """Add the next thing of the list."""
        name, state = described
        codec = codec_named(name)
        require(isinstance(state, dict), "a part has no attributes")
        parts = {part: self.value(value) for part, value in state.items()}
        self._things.append(codec.decode(parts))

    def value(self, given: Any) -> Any:
        """Return the thing that some JSON stands for."""
        if isinstance(given, str):
            return sys.intern(given)  # one text for all places, as in a program
        if given is None or isinstance(given, bool | int | float):
            return given
        self._depth += 1
        require(self._depth <= _DEPTH, "its values are nested too deeply")
        try:
            if isinstance(given, list):
                return self._list(given)
            ((tag, content),) = given.items()
            if tag not in _SHARED:
                return _TAGS[tag](self, content)
            key = repr(given)
            if key not in self._made:
                self._made[key] = _SHARED[tag](self, content)
            return self._made[key]
        finally:
            self._depth -= 1

    def _list(self, parts: Any, count: int | None = None) -> list[Any]:
        long = isinstance(parts, list) and count in (None, len(parts))
        require(long, "something else is where a list should be")
        return [self.value(part) for part in parts]

    def _keys(self, parts: Any) -> list[Any]:
        keys = self._list(parts)
        self._spare.count_keys(keys)
        return keys

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        keys = self._keys([key for key, _ in pairs])
        found = dict(zip(keys, (self.value(part) for _, part in pairs), strict=True))
        require(len(found) == len(pairs), "a key appears twice")
        return found

    def _scalar(self, given: Any) -> Any:
        name, content = given
        value = self.value(content)
        if name == "str":
            return np.str_(_text(value))
        require(type(value) in (bool, int, float), "something else is where a number should be")
        return _NUMBER_TYPES[name].type(value)

    def _thing(self, place: Any) -> Any:
        there = is_count(place) and place < len(self._things)
        require(there, "it refers to a part that does not exist")
        return self._things[place]

    # ---- arrays -------------------------------------------------------------------------------

    def _array(self, name: Any) -> NDArray[Any]:
        array = self._arrays[_text(name)]
        if array.dtype == np.bool_:
            require(array.view(np.uint8).max(initial=0) <= 1, "a truth value is neither 0 nor 1")
        return array

    def _texts(self, name: Any) -> list[str]:
        texts = json.loads(self._array(name).tobytes())
        listed = isinstance(texts, list) and all(type(text) is str for text in texts)
        require(listed, "something else is where texts should be")
        return texts

    def _text_array(self, given: Any) -> NDArray[Any]:
        name, shape, width = given
        texts = self._texts(name)
        require(is_count(width), "texts have no width")
        if not width:
            return _objects(texts, shape)
        room = self._spare.has_room(width, len(texts), self._arrays[name].size)
        require(room, "texts take more room than they need")
        return np.array(texts, dtype=f"<U{width}").reshape(_shape(shape))

    def _masked(self, given: Any) -> Any:
        data, mask = self._list(given, 2)
        require(
            mask.shape == data.shape and mask.dtype == np.bool_,
            "a mask has another shape than its values",
        )
        return np.ma.MaskedArray(data, mask)

    def _ends(self, given: Any) -> list[Any]:
        ends = self._list(given, 3)
        known = all(end is None or isinstance(end, int | str) for end in ends)
        require(known, "something else is where the ends of a slice should be")
        return ends


def _objects(values: list[Any], shape: Any) -> NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        found[place] = value
    return found.reshape(_shape(shape))


def _shape(given: Any) -> list[int]:
    known = isinstance(given, list) and all(is_count(n) for n in given)
    require(known, "a shape is invalid or negative")
    return given


def _dtype(name: Any) -> np.dtype[Any]:
    if name == "object":
        return np.dtype(object)
    if _text(name).startswith("str"):
        return np.dtype(f"<U{int(name[3:]) // 32}")
    return _NUMBER_TYPES[name]


def _text(given: Any) -> str:
    require(isinstance(given, str), "something else is where a text should be")
    return given


# Tables of the module and not of each rebuilder: one that referred to itself would keep all arrays
# of a file until the next collection of garbage.
_TAGS: dict[str, Callable[[Rebuilder, Any], Any]] = {
    "float": lambda _, name: _SPECIAL[name],
    "scalar": Rebuilder._scalar,
    "tuple": lambda own, parts: tuple(own._list(parts)),
    "set": lambda own, parts: set(own._keys(parts)),
    "frozenset": lambda own, parts: frozenset(own._keys(parts)),
    "dict": Rebuilder._dict,
    "range": lambda own, ends: range(*own._ends(ends)),
    "slice": lambda own, ends: slice(*own._ends(ends)),
    "dtype": lambda _, name: _dtype(name),
    "type": lambda _, name: _TYPES[name],
    "forgotten": lambda *_: None,
    "array": Rebuilder._array,
    "masked": Rebuilder._masked,
    "objects": lambda own, given: _objects(own._keys(given[1]), given[0]),
    "thing": Rebuilder._thing,
}
# What is one thing at all the places that have it.
_SHARED: dict[str, Callable[[Rebuilder, Any], Any]] = {
    "turned": lambda own, name: own._array(name).T,
    "texts": Rebuilder._texts,
    "text array": Rebuilder._text_array,
}
