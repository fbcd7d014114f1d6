"""Dask's collections, recognised without Dask: who has none need not have the package."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from compactlearn.core._lazy import load

Method = TypeVar("Method", bound=Callable[..., Any])


def is_dask(data: Any) -> bool:
    """Return whether ``data`` is a collection of Dask's, of whatever kind.

    >>> is_dask([[1.0, 2.0]])
    False
    """
    kind = type(data)
    home = kind.__module__.partition(".")[0]
    return home in ("dask", "dask_expr") and hasattr(kind, "__dask_graph__")


def is_dask_array(data: Any) -> bool:
    """Return whether ``data`` is a ``dask.array.Array``."""
    # Asked of the type: a Delayed object claims to have every attribute.
    return is_dask(data) and hasattr(type(data), "chunks")


def is_dask_frame(data: Any) -> bool:
    """Return whether ``data`` is a ``DataFrame`` or a ``Series`` of ``dask.dataframe``."""
    return is_dask(data) and hasattr(type(data), "divisions")


def refuse_dask(data: Any, name: str) -> None:
    """Raise TypeError for Dask's collections where rows are needed in memory."""
    if is_dask(data):
        raise TypeError(
            f"{name} must hold data in memory here, and is a Dask {type(data).__name__}; pass "
            f"{name}.compute(), or use a method that reads blocks (see the guide to Dask)."
        )


def lazy_on_dask(method: Method) -> Method:
    """Let a method of rows return Dask arrays for a Dask collection, computed when asked for."""

    @wraps(method)
    def asked(self: Any, X: Any, *given: Any, **options: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *given, **options)
        ask_lazily = load("compactlearn.scale.dask._predicting").ask_lazily
        return ask_lazily(method, self, X, *given, **options)

    return cast(Method, asked)
