"""Constraints of constructor parameters, and the sentence a user reads when one is not met.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.utils import get_tags


class Constraint:
    """Allowed values of a parameter: a test and a description of the values.

    Parameters
    ----------
    words : str
        The allowed values as a noun phrase.
    test : callable
        Value in, bool out.
    """

    def __init__(self, words: str, test: Callable[[Any], bool]) -> None:
        self._words, self._test = words, test

    def accepts(self, value: object) -> bool:
        """Return whether `value` is allowed.

        Parameters
        ----------
        value : object
        """
        return bool(self._test(value))

    def describe(self) -> str:
        """Return the allowed values as a noun phrase."""
        return self._words


class Integer(Constraint):
    """A whole number in [low, high]; bool is refused.

    >>> Integer(1, 5).accepts(np.int64(5)), Integer(1).accepts(True), Integer(1).accepts(2.0)
    (True, False, False)
    >>> Integer(1).describe()
    'an integer >= 1'
    """

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        def test(value: Any) -> bool:
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            return whole and _within(int(value), low, high)

        super().__init__("an integer" + _range(low, high), test)


class Real(Constraint):
    """A finite number between two bounds, each closed unless said otherwise; bool is refused.

    >>> ratio = Real(0, 1, open_low=True)
    >>> ratio.accepts(np.float32(0.5)), ratio.accepts(0.0), ratio.accepts(float("nan"))
    (True, False, False)
    >>> ratio.describe()
    'a finite number > 0 and <= 1'
    """

    def __init__(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        open_low: bool = False,
        open_high: bool = False,
    ) -> None:
        def test(value: Any) -> bool:
            if not isinstance(value, numbers.Real) or isinstance(value, bool):
                return False
            try:
                number = float(value)
            except OverflowError:  # an integer beyond all floats
                return False
            excluded = (open_low and number == low) or (open_high and number == high)
            return math.isfinite(number) and _within(number, low, high) and not excluded

        super().__init__("a finite number" + _range(low, high, open_low, open_high), test)


class Choice(Constraint):
    """One of a few strings, compared exactly.

    >>> Choice("mean", "none").describe()
    "'mean' or 'none'"
    """

    def __init__(self, *options: str) -> None:
        self.options = options
        words = _join([repr(option) for option in options])
        super().__init__(words, lambda value: isinstance(value, str) and value in options)


class Nothing(Constraint):
    """None."""

    def __init__(self) -> None:
        super().__init__("None", lambda value: value is None)


class Flag(Constraint):
    """A Python or NumPy bool; 0 and 1 are refused."""

    def __init__(self) -> None:
        super().__init__("True or False", lambda value: isinstance(value, bool | np.bool_))


class Text(Constraint):
    """A text that is not empty."""

    def __init__(self) -> None:
        super().__init__("a text", lambda value: isinstance(value, str) and value != "")


class Seed(Constraint):
    """Source of random numbers: None, an integer of 32 bits, RandomState or Generator."""

    def __init__(self) -> None:
        whole, generators = Integer(0, 2**32 - 1), np.random.RandomState | np.random.Generator
        super().__init__(
            f"None, {whole.describe()}, a numpy RandomState or a numpy Generator",
            lambda value: value is None or isinstance(value, generators) or whole.accepts(value),
        )


class Methods(Constraint):
    """An object (not a class) that has the named methods.

    >>> Methods("append", "pop").accepts([]), Methods("append", "pop").accepts(())
    (True, False)
    >>> Methods("fit", "predict").describe()
    'an object with the methods fit and predict'
    """

    def __init__(self, *names: str) -> None:
        def test(value: Any) -> bool:
            # Asked of the class too: a method may be there only once the object is fitted.
            return not isinstance(value, type) and all(
                callable(getattr(value, name, None)) or hasattr(type(value), name) for name in names
            )

        plural = "s" if len(names) > 1 else ""
        super().__init__(f"an object with the method{plural} {_join(list(names), 'and')}", test)


class Regressor(Constraint):
    """An object with fit and predict that does not say it is something else than a regressor."""

    def __init__(self) -> None:
        methods = Methods("fit", "predict")
        super().__init__(
            "a regressor with the methods fit and predict",
            lambda value: methods.accepts(value) and _kind_of(value) in (None, "regressor"),
        )


def _kind_of(value: object) -> str | None:
    """Return "classifier", "regressor" and the like of scikit-learn estimators, else None."""
    known = hasattr(value, "__sklearn_tags__") and not isinstance(value, type)
    return get_tags(value).estimator_type if known else None


class Numbers(Constraint):
    """A 1-D array-like of at least one finite number.

    >>> Numbers().accepts([0.1, 0.5]), Numbers().accepts([[0.1]]), Numbers().accepts("0.1")
    (True, False, False)
    """

    def __init__(self) -> None:
        def test(value: Any) -> bool:
            if isinstance(value, str | bytes | Mapping):
                return False
            try:
                array = np.asarray(value)
            except (TypeError, ValueError):
                return False
            vector = array.dtype.kind in "iuf" and array.ndim == 1 and array.size > 0
            return vector and bool(np.isfinite(array).all())

        super().__init__("a one-dimensional array of finite numbers", test)


class SomeLabels(Constraint):
    """Labels: a name or a number, or a collection of these.

    >>> SomeLabels().accepts("jazz"), SomeLabels().accepts([3, "jazz"]), SomeLabels().accepts(0.5)
    (True, True, False)
    """

    def __init__(self) -> None:
        def is_label(value: Any) -> bool:
            return isinstance(value, str) or Integer().accepts(value)

        def test(value: Any) -> bool:
            many = isinstance(value, Iterable) and not isinstance(value, Mapping)
            return is_label(value) or (many and all(map(is_label, value)))

        super().__init__("a label or a list of labels, by name or number", test)


class Widths(Constraint):
    """A sequence of whole numbers >= 1, possibly empty."""

    def __init__(self) -> None:
        def test(value: Any) -> bool:
            many = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
            return many and all(map(Integer(1).accepts, value))

        super().__init__("a sequence of integers >= 1", test)


class Constrained(Protocol):
    """A class that lists the constraints of its parameters."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]]


def check_own_parameters(owner: Constrained, only: str | None = None) -> None:
    """Check all parameters, or ``only`` one, by the constraints that the owner lists."""
    listed = owner._constraints
    check_parameters(owner, listed if only is None else {only: listed[only]})


def check_parameters(owner: object, constraints: Mapping[str, Sequence[Constraint]]) -> None:
    """Raise ValueError for the first parameter of `owner` that meets none of its constraints."""
    for name, allowed in constraints.items():
        value = getattr(owner, name)
        if not any(constraint.accepts(value) for constraint in allowed):
            raise ValueError(_refusal(type(owner).__name__, name, value, allowed))


def listed(values: Any, name: str, remedy: str = "pass a list or a tuple.") -> list[Any]:
    """Return a sequence of values to try as a list; raise ValueError if it is empty."""
    found = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if not found:
        raise ValueError(f"{name} must hold at least one value to try, and is {values!r}; {remedy}")
    return found


def nearest(word: str, candidates: Iterable[str]) -> str:
    """Return a question that offers the candidate most like `word`; empty when none is close.

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
    choices = [c for one in allowed if isinstance(one, Choice) for c in one.options]
    several = len(allowed) > 1 or len(choices) > 1
    advice = f"Set {name} to {'one of these' if several else 'such a value'}."
    if any(isinstance(one, Methods | Regressor) for one in allowed) and isinstance(value, type):
        advice = f"Pass an instance: {name}={value.__name__}()."
    elif any(isinstance(one, Regressor) for one in allowed) and _kind_of(value) == "classifier":
        advice = "A classifier cannot learn real numbers: pass a regressor such as Ridge()."
    if isinstance(value, str) and choices:
        advice += nearest(value, choices)
    return f"The parameter {name!r} of {owner} must be {accepted}; got {_show(value)}. {advice}"


def _show(value: object) -> str:
    """Return a short repr on one line: a big array must not bury the sentence."""
    text = re.sub(r"\s+", " ", repr(value))
    if len(text) > 80:
        text = text[:77] + "..."
    quiet = value is None or isinstance(value, str | bool | int | float)
    return text if quiet else f"{text} ({type(value).__name__})"


def _within(number: float, low: float | None, high: float | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)


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
