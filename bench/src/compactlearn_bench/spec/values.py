"""Single values of a spec, each judged in a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from compactlearn.utils import Constraint, Integer, nearest

_UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


class SpecError(ValueError):
    """A mistake in a spec; the text is a sentence."""


def known_keys(
    found: Any, allowed: Iterable[str], where: str, elsewhere: Iterable[str] = ()
) -> None:
    """Refuse what is not a table, or has keys that mean nothing there."""
    if not isinstance(found, Mapping):
        raise SpecError(
            f"{where[:1].upper()}{where[1:]} must be given as a table; got {found!r}. Make it one."
        )
    for key in found:
        if key not in allowed:
            hint = nearest(key, allowed)
            if key in elsewhere:
                hint = (
                    f" In TOML, whatever follows the heading of {where} is in it: move the key up."
                )
            raise SpecError(
                f"The key {key!r} means nothing in {where}, which may have "
                f"{', '.join(allowed)}; leave it out.{hint}"
            )


def list_of(found: Mapping[str, Any], key: str, *, required: bool = True) -> list[Any]:
    """A list, and unless said otherwise not an empty one."""
    value = found.get(key, [])
    if not isinstance(value, list) or (required and not value):
        raise SpecError(
            f"The key {key!r} must hold a list of at least one item; got {value!r}. Write it as "
            f"{key} = [...]."
        )
    return value


def checked(found: Mapping[str, Any], key: str, rule: Constraint, default: Any) -> Any:
    """One value that a rule accepts, or what it is without being said."""
    value = found.get(key, default)
    if key in found and not rule.accepts(value):
        raise SpecError(
            f"The key {key!r} must be {rule.describe()}; got {value!r}. Give it such a value."
        )
    return value


def words_of(
    found: Mapping[str, Any], key: str, known: Iterable[str], default: tuple[str, ...] | None
) -> tuple[str, ...]:
    """A list of names, each of them known and none twice."""
    if key not in found and default is not None:
        return default
    words, known = list_of(found, key), list(known)
    for word in list(words):
        if word not in known or words.count(word) > 1:
            raise SpecError(
                f"The key {key!r} must list some of {', '.join(known)}, each once; got {word!r} "
                f"in {words!r}. Use these names.{nearest(str(word), known)}"
            )
    return tuple(words)


def check_text(value: Any, key: str, accepts: Callable[[str], bool], what: str) -> None:
    """Refuse what is not text of the right kind."""
    if not isinstance(value, str) or not accepts(value):
        raise SpecError(f"The key {key!r} of a method must be {what}; got {value!r}. Change it.")


def bytes_of(value: Any) -> int:
    """A count of bytes, or a number with a unit."""
    match = (
        re.fullmatch(r"\s*([0-9.]{1,20})\s*([A-Za-z]+)\s*", value)
        if isinstance(value, str)
        else None
    )
    if match and match[2].upper() in _UNITS and match[1].count(".") < 2 and match[1] != ".":
        value = int(float(match[1]) * _UNITS[match[2].upper()])
    if not Integer(1).accepts(value):
        raise SpecError(
            "The memory of a budget must be a count of bytes, or a number with one of the units "
            f'KiB, MiB, GiB, TiB; got {value!r}. Write memory = "8 GiB", for instance.'
        )
    return value
