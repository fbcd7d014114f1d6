"""Warnings of the package: they point at the user's line, and one thread can be without them."""

from __future__ import annotations

import contextvars
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_OURS = ("compactlearn", "joblib", "sklearn")  # a Pipeline calls its steps by joblib

_quiet = contextvars.ContextVar("_quiet", default=False)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the first caller outside the package (and scikit-learn's wrappers) as the place.

    Python 3.12 has ``skip_file_prefixes`` for this; 3.11 needs the frames counted.
    """
    if _quiet.get():
        return
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out the warnings of :func:`warn_user`, in this thread only.

    For models that are steps on the way to the user's, which warns by itself.
    """
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)
