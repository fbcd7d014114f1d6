"""Blocks that are gone through in this process: read ahead, summed by several threads, kept.

While blocks are being summed the next ones are read, by a thread of its own and no more than a few
ahead. Where there are several cores each sums
blocks of its own with a BLAS of one thread, which needs no waiting for each other, and so does not
matter to neighbours either; the sums are added in the order of the blocks, whoever was first, so
that the outcome has the same bits however many threads there were.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from compactlearn.core._progress import RowsBar
from compactlearn.core._row_blocks import RowBlocks
from compactlearn.core._threads import VARIABLES, blas_threads, look_again, own_cores
from compactlearn.linalg._row_source import Block
from compactlearn.scale._checking import Columns, digest_of, n_rows_of
from compactlearn.scale._checkpoint import Checkpoint, PassState

T = TypeVar("T")

AHEAD = 2  # blocks that are read before they are asked for
MOST_THREADS = 8  # that sum at once: each has a block of its own in memory

Numbered = tuple[int, int, Any, int]  # index, start, the block as it came, its digest


class LocalSource:
    """Blocks of an iterable, or of a function that returns an iterator, as a ``RowSource``.

    Parameters
    ----------
    blocks : iterable of tuples, or callable that returns one
        What is its own iterator can be gone through once.
    owner : str
        Whose fit it is, for messages and the bar.
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
        self.first_digest = digest_of(first, 0)
        self._waiting = chain([first], self._waiting)

    @property
    def n_features(self) -> int:
        return self.columns.n_features

    @property
    def n_labels(self) -> int:
        return self.columns.n_labels

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.columns.feature_names

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return self.columns.label_names

    @property
    def is_sparse(self) -> bool:
        return self.columns.is_sparse

    # ---- a pass -------------------------------------------------------------------------------

    def total(self, part: Callable[[Block], T], add: Callable[[T, T], T], *, what: str) -> T:
        """``part`` of every block, added up in their order."""
        self.n_passes += 1
        state = None if self.checkpoint is None else self.checkpoint.read(self.n_passes)
        state = PassState() if state is None else state
        if not state.done:
            digests = list(state.digests)
            with RowsBar(
                f"{self.owner}: {what}", self.n_rows_expected, verbose=self.verbose
            ) as bar:
                bar.advance(state.n_rows, read_before=True)
                for n_rows, share, digest in self._shares(part, state):
                    value = share if state.n_blocks == 0 else add(state.value, share)
                    digests.append(digest)
                    done = state.n_blocks + 1, state.n_rows + n_rows
                    state = PassState(value, *done, tuple(digests))
                    self._keep(state)
                    bar.advance(n_rows)
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
        """Refuse rows that are not those of the first pass."""
        if self._seen is None:
            self._seen = state.digests
            return
        if state.digests == self._seen:
            return
        pairs = zip(state.digests, self._seen, strict=False)
        at = next((n for n, (own, first) in enumerate(pairs) if own != first), None)
        what = (
            f"there were {len(self._seen)} blocks in the first pass and {len(state.digests)} in "
            f"pass {self.n_passes}"
            if at is None
            else f"block {at} of pass {self.n_passes} is not that of the first"
        )
        raise ValueError(
            f"{self.owner} goes through the blocks several times, and they must be the same each "
            f"time: {what}; pass data that nobody changes, and blocks that are drawn at random "
            "with a fixed seed."
        )

    def _shares(self, part: Callable[[Block], T], state: PassState) -> Iterator[tuple[int, T, int]]:
        """Of each block after those in the state: its rows, what ``part`` makes of it, digest."""
        n_threads = summing_threads()

        def made(item: Numbered) -> tuple[int, T, int]:
            index, start, given, digest = item
            block = self.columns.check(given, index, start)
            return block.n_rows, part(block), digest

        with ExitStack() as stack:
            items = stack.enter_context(_read_ahead(self._numbered(state)))
            if n_threads == 1:
                for item in items:
                    look_again()
                    yield made(item)
                return
            stack.enter_context(blas_threads(1))
            pool = stack.enter_context(ThreadPoolExecutor(n_threads))
            yield from _in_order(pool, made, items, n_threads)

    def _numbered(self, state: PassState) -> Iterator[Numbered]:
        """Blocks with their numbers, from where the state stands; those before are compared."""
        index, start = 0, 0
        given = self._again() if self._waiting is None else self._waiting
        self._waiting = None
        before: tuple[Any, int] | None = None
        for given_block in given:
            digest = digest_of(given_block, index)
            if index < state.n_blocks:
                if digest != state.digests[index]:
                    raise ValueError(
                        f"The checkpoint {str(self._path)!r} is that of other data: block {index} "
                        "is not the one that was summed; remove the folder to begin again, or pass "
                        "another one."
                    )
            else:
                _refuse_one_buffer(before, (given_block, digest), index)
                yield index, start, given_block, digest
            before = given_block, digest
            start += n_rows_of(given_block, index)
            index += 1
        if index < state.n_blocks:
            raise ValueError(
                f"The checkpoint {str(self._path)!r} is that of other data: {state.n_blocks} "
                f"blocks had been summed, and there are {index}; remove the folder to begin "
                "again, or pass another one."
            )

    @property
    def _path(self) -> Any:
        assert self.checkpoint is not None
        return self.checkpoint.path

    def _again(self) -> Iterator[Any]:
        if not self.again:
            raise ValueError(refused_second_pass(self.owner))
        return iter(self._open())


def summing_threads() -> int:
    """How many threads sum blocks: one where the user has decided on those of the BLAS."""
    decided = any(os.environ.get(name) for name in VARIABLES)
    return 1 if decided else min(own_cores(), MOST_THREADS)


def refused_second_pass(owner: str) -> str:
    """Why an iterator will not do."""
    return (
        f"{owner} has to go through these blocks several times, and was given an iterator, which "
        "can be gone through once; pass something that begins again: a list of blocks, what "
        "compactlearn.datasets.open_blocks returns, or a function that returns a new iterator."
    )


def _opener(blocks: Any, owner: str) -> tuple[Callable[[], Iterable[Any]], bool]:
    """What begins a pass, and whether it can be begun again."""
    if isinstance(blocks, str | bytes | np.ndarray) or scipy.sparse.issparse(blocks):
        raise TypeError(
            f"{owner} needs an iterable of blocks (X, Y), and was given a {type(blocks).__name__}; "
            "pass a list or generator of such tuples, or open files with "
            "compactlearn.datasets.open_blocks."
        )
    if isinstance(blocks, Iterable):
        again = not isinstance(blocks, Iterator)
        return (lambda: blocks), again
    if callable(blocks):
        return (lambda: _called(blocks, owner)), True
    raise TypeError(
        f"{owner} needs an iterable of blocks (X, Y), or a function that returns one, and was "
        f"given a {type(blocks).__name__}; pass a list or generator of such tuples."
    )


def _called(blocks: Callable[[], Any], owner: str) -> Iterable[Any]:
    made = blocks()
    if not isinstance(made, Iterable):
        raise TypeError(
            f"{owner} was given a function, which must return an iterator of blocks (X, Y), and "
            f"returned a {type(made).__name__}; let it be a generator function."
        )
    return made


def _refuse_one_buffer(before: Any, given: tuple[Any, int], index: int) -> None:
    """Two blocks at the same place in memory: the first was overwritten while it was needed."""
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
    """``made`` of every item by several threads, in the order of the items."""
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


@contextmanager
def _read_ahead(items: Iterator[T], ahead: int = AHEAD) -> Iterator[Iterator[T]]:
    """The items, made by a thread of its own that is a few of them ahead."""
    waiting: queue.Queue[Any] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(thing: Any) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(thing, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((_END, None))
        except BaseException as error:  # whatever it is, it is raised where the items are wanted
            put((_END, error))

    def taken() -> Iterator[T]:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item

    thread = threading.Thread(target=read, name="compactlearn-reader", daemon=True)
    thread.start()
    try:
        yield taken()
    finally:
        stopped.set()
        thread.join()
