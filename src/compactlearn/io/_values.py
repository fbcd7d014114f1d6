"""Python values as JSON and arrays, and back: the two directions of a model file's description.

None, truth values, texts, integers and finite floats are themselves, and so are lists. Everything
else is a dictionary with one entry, whose name says what it is. Things whose type is in
the table of types stand in a list of their own, each after those that it holds, so that a thing
that is met twice is stored once, and is one thing again when it is loaded.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._tensor_file import NAMES, ModelFileError
from compactlearn.io._checks import ADVICE
from compactlearn.io._codec import Forgotten
from compactlearn.io._types import codec_named, name_of

_LONG_LIST = 16  # texts: a longer list of them lies among the arrays
_DEPTH = 64  # of values in values
_MOST_SPARE = 64 * 2**20  # bytes that all arrays of texts may take above 16 for each that is stored
_MOST_KEYS = 10_000  # of all sets and dictionaries, other than texts
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
        if left < 0:
            return False
        self._letters = left
        return True

    def count_keys(self, keys: Iterable[Any]) -> None:
        """Raise if a file has too many keys that are no texts.

        Whoever writes a file can choose numbers that hash alike, and a dictionary of these takes
        quadratic time. Texts are hashed at random.
        """
        self._keys -= sum(not isinstance(key, str) for key in keys)
        if self._keys < 0:
            raise ModelFileError(
                f"its sets and dictionaries have more than {_MOST_KEYS} keys that are no texts"
            )


class Describer:
    """Takes things apart; ``arrays``, ``things`` and ``forgotten`` fill up on the way."""

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
        """The JSON of a thing that is found at ``where``."""
        if thing is None or type(thing) in (bool, int):
            if thing is not None and abs(thing) > _LARGEST_INTEGER:
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
        simple = self._simple(thing, where)
        return self._thing(thing, where) if simple is None else simple

    def _simple(self, thing: Any, where: str) -> Any:
        """Containers, and what else Python and NumPy have; None for all other things."""
        if type(thing) is list:
            if len(thing) > _LONG_LIST and all(type(part) is str for part in thing):
                return {"texts": self._texts(thing, thing)}
            return self._parts(thing, where)
        if type(thing) is tuple:
            return {"tuple": self._parts(thing, where)}
        if isinstance(thing, set | frozenset | Mapping):
            self._count_keys(thing, where)
        if isinstance(thing, set | frozenset):
            parts = sorted(thing, key=lambda part: (type(part).__name__, repr(part)))
            return {type(thing).__name__: self._parts(parts, where)}
        if isinstance(thing, Mapping):
            pairs = [
                [self.value(key, f"a key of {where}"), self.value(part, f"{where}[{key!r}]")]
                for key, part in thing.items()
            ]
            return {"dict": pairs}
        if isinstance(thing, range):
            return {"range": [thing.start, thing.stop, thing.step]}
        if isinstance(thing, slice):
            return {"slice": self._parts((thing.start, thing.stop, thing.step), where)}
        if isinstance(thing, PurePath):
            return {"path": str(thing)}
        if isinstance(thing, np.dtype) and (thing.name in _NUMBER_TYPES or thing.kind in "OU"):
            return {"dtype": thing.name}
        if isinstance(thing, type) and thing in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[thing]}
        if isinstance(thing, Forgotten | _GENERATORS):
            self.forgotten.append(where)
            return {"forgotten": "path" if isinstance(thing, Forgotten) else "generator"}
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
            return self._array_of_things(array, where)
        if array.dtype.name not in _NUMBER_TYPES:
            raise refused(where, array)
        turned = array.ndim > 1 and array.T.flags.c_contiguous and not array.flags.c_contiguous
        name = self._named(array.T if turned else array)
        return {"turned": name} if turned else {"array": name}

    def _named(self, array: NDArray[Any]) -> str:
        """The name that an array has in the file; what is the same in memory is the same there."""
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

    def _array_of_things(self, array: NDArray[Any], where: str) -> Any:
        parts = array.ravel().tolist()
        shape = list(array.shape)
        if not all(type(part) is str for part in parts):
            return {"objects": [shape, self._parts(parts, where)]}
        name = self._texts(parts, array)
        width = 0  # of an array of objects, also where one of texts would take too much
        if array.dtype.kind == "U":
            widths = (array.dtype.itemsize // 4, max([1, *map(len, parts)]))
            stored = self.arrays[name].size
            fits = (w for w in widths if self._spare.has_room(w, len(parts), stored))
            width = next(fits, 0)
        return {"texts": name, "shape": shape, "width": width}


def _parameters_first(name: str) -> tuple[bool, bool, str]:
    """What cannot be stored is then met where the user has put it."""
    return name.startswith("_"), name.endswith("_"), name


def refused(where: str, thing: Any) -> ModelFileError:
    """Why a thing is in no model file."""
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
    """Puts things together again from a description and arrays, and believes neither."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._made: dict[Any, Any] = {}  # what several places share
        self._things: list[Any] = []
        self._depth = 0
        self._spare = Spare()

    def add(self, described: Any) -> None:
        """The next thing of the list."""
        name, state = described
        codec = codec_named(name)
        if not isinstance(state, dict):
            raise ModelFileError("a part has no attributes")
        self._things.append(
            codec.decode({part: self.value(value) for part, value in state.items()})
        )

    def value(self, given: Any) -> Any:
        """The thing that some JSON stands for."""
        if isinstance(given, str):
            return sys.intern(given)  # one text for all places, as in a program
        if given is None or isinstance(given, bool | int | float):
            return given
        self._depth += 1
        if self._depth > _DEPTH:
            raise ModelFileError("its values are nested too deeply")
        try:
            if isinstance(given, list):
                return self._list(given)
            if set(given) == {"texts", "shape", "width"}:
                return self._once(repr(given), lambda: self._array_of_texts(given))
            ((tag, content),) = given.items()
            return _TAGS[tag](self, content)
        finally:
            self._depth -= 1

    def _list(self, parts: Any) -> list[Any]:
        if not isinstance(parts, list):
            raise ModelFileError("something else stands where a list should")
        return [self.value(part) for part in parts]

    def _keys(self, parts: Any) -> list[Any]:
        keys = self._list(parts)
        self._spare.count_keys(keys)
        return keys

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        keys = self._keys([key for key, _ in pairs])
        found = dict(zip(keys, (self.value(part) for _, part in pairs), strict=True))
        if len(found) != len(pairs):
            raise ModelFileError("a key stands twice")
        return found

    def _scalar(self, given: Any) -> Any:
        name, content = given
        if name == "str":
            return np.str_(_text(content))
        value = self.value(content)
        if type(value) not in (bool, int, float):
            raise ModelFileError("something else stands where a number should")
        return _NUMBER_TYPES[name].type(value)

    # ---- arrays -------------------------------------------------------------------------------

    def _array(self, name: Any) -> NDArray[Any]:
        array = self._arrays[_text(name)]
        if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
            raise ModelFileError("a truth value is neither 0 nor 1")
        return array

    def _turned_array(self, name: Any) -> NDArray[Any]:
        return self._once(("turned", _text(name)), lambda: self._array(name).T)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is one thing at all the places where it stands."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _texts(self, name: Any) -> list[str]:
        texts = json.loads(self._array(name).tobytes())
        if not isinstance(texts, list) or not all(type(text) is str for text in texts):
            raise ModelFileError("something else stands where texts should")
        return texts

    def _array_of_texts(self, given: dict[str, Any]) -> NDArray[Any]:
        texts, width = self._texts(given["texts"]), given["width"]
        if type(width) is not int or width < 0:
            raise ModelFileError("texts have no width")
        stored = self._arrays[given["texts"]].size
        if width and not self._spare.has_room(width, len(texts), stored):
            raise ModelFileError("texts take more room than they need")
        found: NDArray[Any]
        if width:
            found = np.array(texts, dtype=f"<U{width}")
        else:
            found = np.empty(len(texts), dtype=object)
            found[:] = texts
        return _shaped(found, given["shape"])

    def _objects(self, given: Any) -> NDArray[Any]:
        shape, parts = given
        values = self._list(parts)
        found = np.empty(len(values), dtype=object)
        for place, value in enumerate(values):
            found[place] = value
        return _shaped(found, shape)

    def _masked(self, given: Any) -> Any:
        data, mask = (self.value(part) for part in given)
        if mask.shape != data.shape or mask.dtype != np.bool_:
            raise ModelFileError("a mask is not that of its values")
        return np.ma.MaskedArray(data, mask)


def _dtype(name: Any) -> np.dtype[Any]:
    if name == "object":
        return np.dtype(object)
    if _text(name).startswith("str"):
        return np.dtype(f"<U{int(name[3:]) // 32}")
    return _NUMBER_TYPES[name]


def _slice(parts: list[Any]) -> slice:
    if len(parts) != 3 or not all(part is None or isinstance(part, int | str) for part in parts):
        raise ModelFileError("something else stands where a slice should")
    return slice(*parts)


def _shaped(found: NDArray[Any], shape: Any) -> NDArray[Any]:
    return found.reshape(_integers(shape, None))


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ModelFileError("something else stands where a text should")
    return given


def _place(given: Any, end: int) -> int:
    if type(given) is not int or not 0 <= given < end:
        raise ModelFileError("it refers to a part that is not there")
    return given


def _integers(given: Any, count: int | None) -> list[int]:
    known = isinstance(given, list) and all(type(n) is int for n in given)
    if not known or (count is not None and len(given) != count):
        raise ModelFileError("something else stands where integers should")
    if count is None and any(n < 0 for n in given):
        raise ModelFileError("a shape is negative")
    return given


# A table of the class and not of each rebuilder: one that referred to itself would keep all arrays
# of a file until the next collection of garbage.
_TAGS: dict[str, Callable[[Rebuilder, Any], Any]] = {
    "float": lambda _, name: _SPECIAL[name],
    "scalar": Rebuilder._scalar,
    "tuple": lambda own, parts: tuple(own._list(parts)),
    "set": lambda own, parts: set(own._keys(parts)),
    "frozenset": lambda own, parts: frozenset(own._keys(parts)),
    "dict": Rebuilder._dict,
    "range": lambda _, ends: range(*_integers(ends, 3)),
    "slice": lambda own, parts: _slice(own._list(parts)),
    "path": lambda _, text: Path(_text(text)),
    "dtype": lambda _, name: _dtype(name),
    "type": lambda _, name: _TYPES[name],
    "forgotten": lambda *_: None,
    "array": Rebuilder._array,
    "turned": Rebuilder._turned_array,
    "masked": Rebuilder._masked,
    "objects": Rebuilder._objects,
    "texts": lambda own, name: own._once(("texts", name), lambda: own._texts(name)),
    "thing": lambda own, place: own._things[_place(place, len(own._things))],
}
