"""Warnings that point at the user's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

_OURS = ("compactlearn", "sklearn")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the first caller outside the package (and scikit-learn's wrappers) as the place.

    Python 3.12 has ``skip_file_prefixes`` for this; 3.11 needs the frames counted.
    """
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
