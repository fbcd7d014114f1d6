"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import warnings
from collections.abc import Iterator

_OURS = ("compactlearn", "sklearn")

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


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out what :func:`warn_user` would say, in this thread only.

    For models that are steps on the way to the user's: what is wrong with them is said of that
    one. ``warnings.catch_warnings`` would silence every thread of the process.
    """
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def warn_at(message: str, category: type[Warning], stacklevel: int) -> None:
    """``warnings.warn``, unless this thread is to be :func:`quiet`."""
    if not _quiet.get():
        warnings.warn(message, category, stacklevel=stacklevel + 1)
