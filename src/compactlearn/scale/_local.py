"""Blocks that are summed in this process: read ahead, and by several threads.

On several cores each thread sums its own blocks with a BLAS of one thread. The sums are added in
the order of the blocks, so that the result has the same bits for every number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from compactlearn.core._progress import Steps
from compactlearn.core._row_blocks import RowBlocks
from compactlearn.core._threads import blas_threads, look_again, own_cores, user_decided
from compactlearn.linalg._row_source import Block
from compactlearn.scale._checking import Columns, digest_of, n_rows_of
from compactlearn.scale._checkpoint import Checkpoint, PassState

T = TypeVar("T")

AHEAD = 2  # blocks that are read ahead
MOST_THREADS = 8  # that sum at once: each has a block in memory

Numbered = tuple[int, int, Any, int]  # index, start, the block as passed, its digest


class LocalSource:
    """Blocks of an iterable, or of a function that returns an iterator, as a ``RowSource``.

    Parameters
    ----------
    blocks : iterable of tuples, or callable that returns one
        An iterator can be read only once.
    owner : str
        Name of the estimator, for messages and the bar.
    verbose : int
        Whether a bar is shown.
    """

    def __init__(self, blocks: Any, *, owner: str = "fit_blocks", verbose: int = 0) -> None:
        self._open, self.again = _opener(blocks, owner)
        self.owner, self.verbose = owner, verbose
        self.n_rows_expected = getattr(blocks, "n_rows", None)
        self.checkpoint: Checkpoint | None = None
        self.n_passes = 0  # that have been begun
        self._seen: tuple[int, ...] | None = None  # digests of the blocks of a whole pass
        self._waiting: Iterator[Any] | None = iter(self._open())
        first = next(self._waiting, None)
        if first is None:
            raise ValueError(
                f"{owner} was given no block; it needs at least one (X, Y) with rows. An iterator "
                "that has been used up gives none: make a new one."
            )
        columns = Columns.of(first)
        if isinstance(blocks, RowBlocks) and columns.label_names is None:
            columns = replace(columns, label_names=blocks.label_names)
        self.columns = columns
        self.n_features, self.n_labels = columns.n_features, columns.n_labels
        self.feature_names, self.label_names = columns.feature_names, columns.label_names
        self.is_sparse = columns.is_sparse
        self.first_digest = digest_of(first, 0)
        self._waiting = chain([first], self._waiting)

    # ---- a pass -------------------------------------------------------------------------------

    def total(self, part: Callable[[Block], T], add: Callable[[T, T], T], *, what: str) -> T:
        """Return the sum of ``part`` over all blocks, added in their order."""
        self.n_passes += 1
        state = None if self.checkpoint is None else self.checkpoint.read(self.n_passes)
        state = PassState() if state is None else state
        if not state.done:
            digests = list(state.digests)
            with Steps(f"{self.owner}: {what}", self.n_rows_expected, verbose=self.verbose) as bar:
                bar.advance(state.n_rows)
                for n_rows, share, digest in self._shares(part, state):
                    value = share if state.n_blocks == 0 else add(state.value, share)
                    digests.append(digest)
                    done = state.n_blocks + 1, state.n_rows + n_rows
                    state = PassState(value, *done, tuple(digests))
                    self._keep(state)
                    bar.advance(n_rows)
                    bar.say(f"{state.n_rows:,} rows")
            state.done = True
            self._keep(state, now=True)
        self._compare(state)
        if state.n_rows == 0:
            raise ValueError(
                f"{self.owner} was given {state.n_blocks} blocks without any row; it needs at "
                "least one row."
            )
        return state.value

    def _keep(self, state: PassState, *, now: bool = False) -> None:
        if self.checkpoint is not None:
            self.checkpoint.write(self.n_passes, state, now=now)

    def _compare(self, state: PassState) -> None:
        """Raise ValueError if the blocks differ from those of the first pass."""
        if self._seen is None:
            self._seen = state.digests
        if state.digests != self._seen:
            pairs = zip(state.digests, self._seen, strict=False)
            at = next((n for n, (own, first) in enumerate(pairs) if own != first), None)
            what = f"block {at} is another"
            if at is None:
                what = f"there were {len(self._seen)} blocks, and now {len(state.digests)}"
            raise ValueError(
                f"{self.owner} goes through the blocks several times, and they must be the same "
                f"each time; in pass {self.n_passes} {what}. Pass data that nobody changes, and "
                "draw blocks at random with a fixed seed."
            )

    def _shares(self, part: Callable[[Block], T], state: PassState) -> Iterator[tuple[int, T, int]]:
        """Yield number of rows, ``part`` and digest of each block that is not in the state."""
        n_threads = summing_threads()

        def made(item: Numbered) -> tuple[int, T, int]:
            index, start, given, digest = item
            block = self.columns.check(given, index, start)
            return block.n_rows, part(block), digest

        with ExitStack() as stack:
            items = stack.enter_context(closing(_read_ahead(self._numbered(state))))
            if n_threads == 1:
                for item in items:
                    look_again()
                    yield made(item)
                return
            stack.enter_context(blas_threads(1))
            pool = stack.enter_context(ThreadPoolExecutor(n_threads))
            yield from _in_order(pool, made, items, n_threads)

    def _numbered(self, state: PassState) -> Iterator[Numbered]:
        """Yield numbered blocks that are not in the state; check the digests of the others."""
        assert self.again or self._waiting is not None, "by_passes refuses iterators"
        given = iter(self._open()) if self._waiting is None else self._waiting
        self._waiting = None
        index, start, before = 0, 0, None
        for block in given:
            digest = digest_of(block, index)
            if index >= state.n_blocks:
                _refuse_one_buffer(before, (block, digest), index)
                yield index, start, block, digest
            elif digest != state.digests[index]:
                self._refuse_other_data(f"block {index} is not the one that was summed")
            before = block, digest
            start += n_rows_of(block, index)
            index += 1
        if index < state.n_blocks:
            self._refuse_other_data(f"{state.n_blocks} blocks were summed, and there are {index}")

    def _refuse_other_data(self, what: str) -> NoReturn:
        assert self.checkpoint is not None
        raise ValueError(
            f"The checkpoint {str(self.checkpoint.path)!r} is that of other data: {what}; remove "
            "the folder to begin again, or pass another one."
        )


def summing_threads() -> int:
    """Return the number of threads that sum blocks: one if the user has set those of the BLAS."""
    return 1 if user_decided() else min(own_cores(), MOST_THREADS)


def _opener(blocks: Any, owner: str) -> tuple[Callable[[], Iterable[Any]], bool]:
    """Return a function that begins a pass, and whether it can be called again."""
    if callable(blocks) and not isinstance(blocks, Iterable):
        return (lambda: _iterable(blocks(), owner)), True
    return (lambda: _iterable(blocks, owner)), not isinstance(blocks, Iterator)


def _iterable(blocks: Any, owner: str) -> Iterable[Any]:
    if isinstance(blocks, str | bytes | np.ndarray) or not isinstance(blocks, Iterable):
        raise TypeError(
            f"{owner} needs an iterable of blocks (X, Y), or a function that returns one, and was "
            f"given a {type(blocks).__name__}; pass a list or generator of such tuples, or open "
            "files with compactlearn.datasets.open_blocks."
        )
    return blocks


def _refuse_one_buffer(before: Any, given: tuple[Any, int], index: int) -> None:
    """Raise ValueError if a block was overwritten by the next while it was needed."""
    if before is None or before[1] == given[1]:
        return
    one, other = before[0][0], given[0][0]
    if not all(isinstance(X, np.ndarray) and X.size for X in (one, other)):
        return
    places = [X.__array_interface__["data"][0] for X in (one, other)]
    if places[0] == places[1]:
        raise ValueError(
            f"Block {index} lies in the memory of block {index - 1}, which is still in use, since "
            "blocks are read ahead of being summed; yield a new array for each block, for example "
            "X.copy()."
        )


def _in_order(
    pool: ThreadPoolExecutor, made: Callable[[Any], T], items: Iterator[Any], width: int
) -> Iterator[T]:
    """Yield ``made(item)`` for every item, computed by several threads, in order."""
    under_way: deque[Future[T]] = deque(pool.submit(made, item) for item in islice(items, width))
    try:
        while under_way:
            done = under_way.popleft().result()
            under_way.extend(pool.submit(made, item) for item in islice(items, 1))
            yield done
    finally:
        for future in under_way:
            future.cancel()


_END = object()


def _read_ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """Yield the items, read by a separate thread that is a few items ahead."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="compactlearn-reader")
    try:
        waiting = deque(pool.submit(next, items, _END) for _ in range(AHEAD))
        while (item := waiting.popleft().result()) is not _END:
            waiting.append(pool.submit(next, items, _END))
            yield cast(T, item)
    finally:
        pool.shutdown(cancel_futures=True)
