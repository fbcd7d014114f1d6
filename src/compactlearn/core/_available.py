"""Methods that an estimator has only under some parameters, and a refusal that says why.

scikit-learn's decorator of the same name raises an error without the reason, which is left to the
error behind it; whoever reads the last line alone never sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import MethodType
from typing import Any


class Unavailable(AttributeError):
    """A method that the estimator does not have as it stands; ``reason`` says why."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class _Method:
    """A method that is there while ``check`` of its estimator does not raise AttributeError."""

    def __init__(self, function: Callable[..., Any], check: Callable[[Any], Any]) -> None:
        self.function, self.check = function, check
        self.__doc__ = function.__doc__

    def _require(self, estimator: Any) -> None:
        try:
            self.check(estimator)
        except AttributeError as error:
            reason = error.reason if isinstance(error, Unavailable) else str(error)
            name = self.function.__name__
            raise Unavailable(
                f"This {type(estimator).__name__!r} has no attribute {name!r}: {reason}", reason
            ) from error

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is not None:
            self._require(estimator)
            return MethodType(self.function, estimator)

        @wraps(self.function)
        def unbound(itself: Any, *args: Any, **keywords: Any) -> Any:
            self._require(itself)
            return self.function(itself, *args, **keywords)

        return unbound


def available_if(check: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Offer the decorated method while ``check(estimator)`` raises no AttributeError.

    >>> def even(number):
    ...     if number.value % 2:
    ...         raise AttributeError(f"Only even numbers have halves, and this is {number.value}.")
    >>> class Number:
    ...     value = 4
    ...     @available_if(even)
    ...     def half(self):
    ...         return self.value // 2
    >>> number = Number()
    >>> number.half()
    2
    >>> number.value = 5
    >>> hasattr(number, "half")
    False
    >>> number.half()
    Traceback (most recent call last):
        ...
    compactlearn.core._available.Unavailable: This 'Number' has no attribute 'half': Only even
    numbers have halves, and this is 5.
    """
    return lambda function: _Method(function, check)


def reason_of(error: BaseException) -> str:
    """Why an attribute is missing, where that is said; scikit-learn leaves it to the cause."""
    if isinstance(error, Unavailable):
        return error.reason
    return "" if error.__cause__ is None else str(error.__cause__)
