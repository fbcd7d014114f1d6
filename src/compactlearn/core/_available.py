"""Methods that an estimator has only under some parameters, with the reason in the message.

scikit-learn's decorator of the same name leaves the reason to the error behind its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from types import MethodType
from typing import Any

_OURS = re.compile(r"^This '\w+' has no attribute '\w+': ")  # the beginning of our messages


class _Method:
    """A method that is there while ``check`` of its estimator does not raise AttributeError."""

    def __init__(self, function: Callable[..., Any], check: Callable[[Any], Any]) -> None:
        self.function, self.check = function, check
        self.__doc__ = function.__doc__

    def _require(self, estimator: Any) -> None:
        try:
            self.check(estimator)
        except AttributeError as error:
            name, owner = self.function.__name__, type(estimator).__name__
            reason = _OURS.sub("", str(error))
            message = f"This {owner!r} has no attribute {name!r}: {reason}"
            raise AttributeError(message) from error

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
    AttributeError: This 'Number' has no attribute 'half': Only even numbers have halves, and this
    is 5.
    """
    return lambda function: _Method(function, check)


def reason_of(error: AttributeError) -> str:
    """Return why a method is missing, where that is said; scikit-learn leaves it to the cause."""
    reason = _OURS.sub("", str(error))
    if reason != str(error):
        return reason
    return "" if error.__cause__ is None else str(error.__cause__)
