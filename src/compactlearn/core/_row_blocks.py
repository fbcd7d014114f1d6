"""Blocks of rows that can be read again: what fits take in the place of X."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any


class RowBlocks(ABC):
    """An iterable of blocks ``(X, Y)`` or ``(X, Y, sample_weight)``, the same at each time.

    Whoever has rows of a kind of their own derives from it, and a classifier's ``fit`` takes it as
    X.
    """

    n_rows: int | None = None  # in all, where that is known beforehand: for the bar
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The blocks, from the first."""
