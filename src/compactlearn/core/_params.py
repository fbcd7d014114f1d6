"""What a constructor parameter may be, and the sentence a user reads when it is not.

A class lists, for each parameter, the constraints of which one must hold:

>>> constraints = {"solver": [Choice("auto", "alternating")], "tol": [Real(0, open_low=True)]}
>>> class Method:
...     solver, tol = "alternate", 1e-5
>>> check_parameters(Method(), constraints)  # doctest: +NORMALIZE_WHITESPACE
Traceback (most recent call last):
    ...
ValueError: The parameter 'solver' of Method must be 'auto' or 'alternating'; got 'alternate'.
Set solver to one of these. Did you mean 'alternating'?
"""

import difflib
import math
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.utils import get_tags

__all__ = [
    "Choice",
    "Constraint",
    "Flag",
    "Integer",
    "Methods",
    "Nothing",
    "Numbers",
    "Real",
    "Regressor",
    "Seed",
    "SomeLabels",
    "Widths",
    "check_parameters",
    "nearest",
]


class Constraint(Protocol):
    """Anything that can judge a value and say in words what it accepts."""

    def accepts(self, value: object) -> bool:
        """Whether `value` is allowed."""
        ...

    def describe(self) -> str:
        """The allowed values as a noun phrase."""
        ...


@dataclass(frozen=True)
class Integer:
    """A whole number in [low, high]; bool is refused.

    >>> Integer(1, 5).accepts(np.int64(5)), Integer(1).accepts(True), Integer(1).accepts(2.0)
    (True, False, False)
    >>> Integer(1).describe()
    'an integer >= 1'
    """

    low: int | None = None
    high: int | None = None

    def accepts(self, value: object) -> bool:
        """Whether `value` is an integer between the bounds."""
        return (
            isinstance(value, numbers.Integral)
            and not isinstance(value, bool)
            and (self.low is None or int(value) >= self.low)
            and (self.high is None or int(value) <= self.high)
        )

    def describe(self) -> str:
        """The bounds in words."""
        return "an integer" + _range(self.low, self.high)


@dataclass(frozen=True)
class Real:
    """A finite number between two bounds, each closed unless said otherwise; bool is refused.

    >>> ratio = Real(0, 1, open_low=True)
    >>> ratio.accepts(np.float32(0.5)), ratio.accepts(0.0), ratio.accepts(float("nan"))
    (True, False, False)
    >>> ratio.describe()
    'a finite number > 0 and <= 1'
    """

    low: float | None = None
    high: float | None = None
    open_low: bool = field(default=False, kw_only=True)
    open_high: bool = field(default=False, kw_only=True)

    def accepts(self, value: object) -> bool:
        """Whether `value` is a finite number between the bounds."""
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer beyond all floats
            return False
        if not math.isfinite(number):
            return False
        above = self.low is None or number > self.low or (number == self.low and not self.open_low)
        below = (
            self.high is None or number < self.high or (number == self.high and not self.open_high)
        )
        return above and below

    def describe(self) -> str:
        """The bounds in words."""
        return "a finite number" + _range(self.low, self.high, self.open_low, self.open_high)


@dataclass(frozen=True, init=False)
class Choice:
    """One of a few strings, compared exactly.

    >>> Choice("mean", "none").describe()
    "'mean' or 'none'"
    """

    options: tuple[str, ...]

    def __init__(self, *options: str) -> None:
        object.__setattr__(self, "options", options)

    def accepts(self, value: object) -> bool:
        """Whether `value` is one of the strings."""
        return isinstance(value, str) and value in self.options

    def describe(self) -> str:
        """The strings, quoted."""
        return _join([repr(option) for option in self.options])


@dataclass(frozen=True)
class Nothing:
    """None."""

    def accepts(self, value: object) -> bool:
        """Whether `value` is None."""
        return value is None

    def describe(self) -> str:
        """None, by name."""
        return "None"


@dataclass(frozen=True)
class Flag:
    """A Python or NumPy bool; 0 and 1 are refused."""

    def accepts(self, value: object) -> bool:
        """Whether `value` is a bool."""
        return isinstance(value, bool | np.bool_)

    def describe(self) -> str:
        """The two values."""
        return "True or False"


@dataclass(frozen=True)
class Text:
    """A text that is not empty."""

    def accepts(self, value: Any) -> bool:
        """Whether the value satisfies the constraint."""
        return isinstance(value, str) and bool(value)

    def describe(self) -> str:
        """In words, for the error message."""
        return "a text"


@dataclass(frozen=True)
class Seed:
    """What may feed a random generator: None, an integer >= 0, RandomState or Generator.

    NumPy's generator takes 32 bits.
    """

    def accepts(self, value: object) -> bool:
        """Whether a generator can be made from `value`."""
        generators = np.random.RandomState | np.random.Generator
        return value is None or isinstance(value, generators) or _SEEDS.accepts(value)

    def describe(self) -> str:
        """The four kinds."""
        return f"None, {_SEEDS.describe()}, a numpy RandomState or a numpy Generator"


_SEEDS = Integer(0, 2**32 - 1)


@dataclass(frozen=True, init=False)
class Methods:
    """An object (not a class) that has the named methods.

    >>> Methods("append", "pop").accepts([]), Methods("append", "pop").accepts(())
    (True, False)
    >>> Methods("fit", "predict").describe()
    'an object with the methods fit and predict'
    """

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)

    def accepts(self, value: object) -> bool:
        """Whether every named attribute of `value` can be called."""
        if isinstance(value, type):
            return False
        # Asked of the class too: a method may be there only once the object is fitted.
        return all(
            callable(getattr(value, name, None)) or hasattr(type(value), name)
            for name in self.names
        )

    def describe(self) -> str:
        """The methods by name."""
        plural = "s" if len(self.names) > 1 else ""
        return f"an object with the method{plural} {_join(list(self.names), 'and')}"


@dataclass(frozen=True)
class Regressor:
    """An object with fit and predict, and none that says it is something else than a regressor."""

    def accepts(self, value: object) -> bool:
        """Whether `value` can learn real numbers, as far as it says."""
        return Methods("fit", "predict").accepts(value) and _kind_of(value) in (None, "regressor")

    def describe(self) -> str:
        """The methods by name."""
        return "a regressor with the methods fit and predict"


def _kind_of(value: object) -> str | None:
    """What a scikit-learn estimator calls itself: "classifier", "regressor"; None for others."""
    known = hasattr(value, "__sklearn_tags__") and not isinstance(value, type)
    return get_tags(value).estimator_type if known else None


@dataclass(frozen=True)
class Numbers:
    """A 1-D array-like of at least one finite number.

    >>> Numbers().accepts([0.1, 0.5]), Numbers().accepts([[0.1]]), Numbers().accepts("0.1")
    (True, False, False)
    """

    def accepts(self, value: object) -> bool:
        """Whether `value` becomes a 1-D array of finite numbers."""
        if isinstance(value, str | bytes | Mapping):
            return False
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            return False
        kind = array.dtype.kind in "iuf"
        return kind and array.ndim == 1 and array.size > 0 and bool(np.isfinite(array).all())

    def describe(self) -> str:
        """The shape and content in words."""
        return "a one-dimensional array of finite numbers"


@dataclass(frozen=True)
class SomeLabels:
    """Labels: a name or a number, or a collection of these.

    >>> SomeLabels().accepts("jazz"), SomeLabels().accepts([3, "jazz"]), SomeLabels().accepts(0.5)
    (True, True, False)
    """

    def accepts(self, value: object) -> bool:
        """Return whether `value` is a string or an integer, or a collection of these."""
        if isinstance(value, str) or Integer().accepts(value):
            return True
        if isinstance(value, Mapping) or not isinstance(value, Iterable):
            return False
        return all(isinstance(one, str) or Integer().accepts(one) for one in value)

    def describe(self) -> str:
        """The kinds in words."""
        return "a label or a list of labels, by name or number"


@dataclass(frozen=True)
class Widths:
    """A sequence of whole numbers >= 1, possibly empty."""

    def accepts(self, value: object) -> bool:
        """Whether `value` is such a sequence."""
        if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
            return False
        return all(Integer(1).accepts(entry) for entry in value)

    def describe(self) -> str:
        """The content in words."""
        return "a sequence of integers >= 1"


class Constrained(Protocol):
    """What lists the constraints of its parameters."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]]


def check_own_parameters(owner: Constrained, only: str | None = None) -> None:
    """:func:`check_parameters` by the owner's constraints, of all parameters or of `only` one."""
    listed = owner._constraints
    check_parameters(owner, listed if only is None else {only: listed[only]})


def check_parameters(owner: object, constraints: Mapping[str, Sequence[Constraint]]) -> None:
    """Refuse the first parameter of `owner` that meets none of its constraints.

    Parameters
    ----------
    owner : object
        Its attributes are read by the names in `constraints`; its class names it to the user.
    constraints : mapping from parameter name to a sequence of constraints
        One of the sequence must accept the value.

    Raises
    ------
    ValueError
        In one sentence: the parameter and its owner, what is accepted, what was given, what to
        do; for a misspelt string also the accepted one nearest to it.
    """
    for name, allowed in constraints.items():
        value = getattr(owner, name)
        if not any(constraint.accepts(value) for constraint in allowed):
            raise ValueError(_refusal(type(owner).__name__, name, value, allowed))


def listed(values: Any, name: str, remedy: str = "pass a list or a tuple.") -> list[Any]:
    """A sequence of values to try as a list; refused where there is nothing in it."""
    found = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if not found:
        raise ValueError(f"{name} must hold at least one value to try, and is {values!r}; {remedy}")
    return found


def nearest(word: str, candidates: Iterable[str]) -> str:
    """A question that offers the candidate most like `word`, or nothing when none is close.

    >>> nearest("alternate", ["auto", "closed", "alternating"])
    " Did you mean 'alternating'?"
    >>> nearest("banana", ["auto", "closed"])
    ''
    """
    known = {candidate.casefold(): candidate for candidate in candidates}
    close = difflib.get_close_matches(word.casefold(), list(known), n=1, cutoff=0.6)
    return f" Did you mean {known[close[0]]!r}?" if close else ""


def _refusal(owner: str, name: str, value: object, allowed: Sequence[Constraint]) -> str:
    accepted = _join([constraint.describe() for constraint in allowed])
    choices = [
        c for constraint in allowed if isinstance(constraint, Choice) for c in constraint.options
    ]
    advice = (
        f"Set {name} to one of these."
        if len(allowed) > 1 or len(choices) > 1
        else f"Set {name} to such a value."
    )
    objects = Methods | Regressor
    kind = _kind_of(value)
    if kind == "classifier" and any(isinstance(c, Regressor) for c in allowed):
        advice = (
            "This is a classifier, and what it would have to learn are real numbers: pass a "
            "regressor such as Ridge() or RandomForestRegressor()."
        )
    if isinstance(value, type) and any(isinstance(c, objects) for c in allowed):
        advice = f"Pass an instance: {name}={value.__name__}()."
    if isinstance(value, str) and choices:
        advice += nearest(value, choices)
    return f"The parameter {name!r} of {owner} must be {accepted}; got {_show(value)}. {advice}"


def _show(value: object) -> str:
    """A short repr on one line: a big array or frame must not bury the sentence."""
    text = re.sub(r"\s+", " ", repr(value))
    if len(text) > 80:
        text = text[:77] + "..."
    quiet = value is None or isinstance(value, str | bool | int | float)
    return text if quiet else f"{text} ({type(value).__name__})"


def _range(
    low: float | None, high: float | None, open_low: bool = False, open_high: bool = False
) -> str:
    parts = []
    if low is not None:
        parts.append(f"{'>' if open_low else '>='} {_plain(low)}")
    if high is not None:
        parts.append(f"{'<' if open_high else '<='} {_plain(high)}")
    return f" {' and '.join(parts)}" if parts else ""


def _plain(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"  # all digits of a whole number


def _join(phrases: list[str], word: str = "or") -> str:
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} {word} {phrases[-1]}"
