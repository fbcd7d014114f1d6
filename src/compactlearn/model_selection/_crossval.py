"""Cross-validated scores of many settings of one classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._deadline import checkpoint
from compactlearn.core._progress import track
from compactlearn.core._targets import take_rows
from compactlearn.core._threads import blas_threads
from compactlearn.core._warn import quiet
from compactlearn.metrics._judges import TOGETHER, Judges
from compactlearn.metrics._table import get_metric_of_scores
from compactlearn.model_selection._candidates import (
    Group,
    Single,
    largest_of,
    sharing_folds,
    sort_candidates,
)
from compactlearn.model_selection._engine import SplitScores, scores_of
from compactlearn.model_selection._folds import Fold, SummedData, prepare_folds
from compactlearn.model_selection._outcome import Outcome
from compactlearn.model_selection._search_data import SearchData

Array = NDArray[np.float64]
FEWEST = 5  # settings that are never dropped from a race

Values = list[tuple[list[int], float]]  # settings, and the score that they have in common
Task = Callable[[], tuple[int, Values]]


def cross_validate_grid(
    estimator: CompactClassifier,
    candidates: Sequence[Mapping[str, Any]],
    problem: SearchData,
    *,
    racing: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Outcome:
    """Score every candidate on every split; more is better.

    With ``racing`` only the best third of the settings, and at least ``FEWEST``, is kept from one
    split to the next; on the first, if it is large, penalties are tried from the largest on until
    two in a row have not been better. Ctrl-C ends the search with the scores found so far.
    """
    judges = [FoldJudge(problem, test) for _, test in problem.splits]
    # For two classes scores are relative to the threshold, so it matters as for labels.
    needs_labels = judges[0].needs_labels or problem.targets.kind == "binary"
    groups, singles = sort_candidates(
        estimator,
        candidates,
        problem.shape,
        needs_labels=needs_labels,
        vector=problem.targets.kind != "multilabel",
        partial=problem.targets.unknown is not None,
    )
    if singles and isinstance(problem.data, SummedData):
        raise ValueError(
            "A search on Dask tries settings that can be learnt from the sums of each fold: the "
            "built-in ridge with a free intercept, the linear decoder, and with a metric of labels "
            f"a threshold in numbers; {singles[0][1]!r} is none of these. Leave such settings "
            "out, or search on rows in memory."
        )
    n_splits = len(problem.splits)
    scores = np.full((len(candidates), n_splits), np.nan)
    going = np.ones(len(candidates), dtype=bool)
    distinct = [0] * n_splits
    together = sharing_folds(groups)
    prepared = [
        prepare_folds(
            members[0].model,
            largest_of(members, problem.shape[2]),
            problem.data,
            problem.splits,
            len(members),
        )
        for members in together
    ]

    def tasks(number: int) -> Iterator[Task]:
        """Yield the work of a split, for the settings that are still going when it begins."""
        judge = judges[number]
        for members, folds in zip(together, prepared, strict=True):
            fold = next(folds)
            for group in members:
                own = replace(group, wanted=[w for w in group.wanted if going[w.index]])
                if own.wanted:
                    yield partial(_score_group, own, fold, judge, racing and number == 0)
        for single in singles:
            if going[single[0]]:
                yield partial(_score_single, single, number, problem, judge)

    rounds = map(tasks, range(n_splits))
    parts = rounds if racing else [chain.from_iterable(rounds)]
    n_tasks = (len(groups) + len(singles)) * (1 if racing else n_splits)
    jobs = effective_n_jobs(n_jobs)
    alone = jobs > 1 or _is_small(problem.shape)
    interrupted = False
    # Quiet, since each fold would repeat the warnings of the last fit.
    with quiet(), blas_threads(1 if alone else None):
        try:
            for part in parts:
                done = _completed(part, jobs)
                bar = track(done, description="settings", total=n_tasks, disable=not verbose)
                for number, values in bar:
                    distinct[number] += len(values)
                    for indices, value in values:
                        scores[indices, number] = value
                if racing:
                    _drop_the_last(going, scores)
        except KeyboardInterrupt:
            interrupted = True
    return Outcome(scores, max(distinct), interrupted)


def _is_small(shape: tuple[int, int, int]) -> bool:
    """Return whether products are too small to gain from threads of a BLAS.

    Measured on two cores: one thread takes half the time on llog and yeast, a third more on
    corel5k.
    """
    _, n_features, n_labels = shape
    return n_features + n_labels <= 1200 and n_labels <= 256


def _drop_the_last(going: NDArray[np.bool_], scores: Array) -> None:
    """Leave the best third of those in the race, but no fewer than ``FEWEST``."""
    racers = np.flatnonzero(going)
    merits = Outcome(scores[racers], 0).merits
    if not np.isfinite(merits).any():  # the metric is not defined on these splits
        return
    kept = max(FEWEST, -(-racers.size // 3))
    going[racers[np.argsort(-merits, kind="stable")[kept:]]] = False


def _score_group(group: Group, fold: Fold, judge: FoldJudge, racing: bool) -> tuple[int, Values]:
    values: Values = []
    waiting: list[SplitScores] = []
    falls = _Falls(group)

    def flush() -> None:
        found = judge.of_scores(np.stack([part.scores for part in waiting]), group.model.threshold)
        for part, value in zip(waiting, found.tolist(), strict=True):
            values.append((part.indices, value))
            if racing and part.scores.size >= TOGETHER:  # one judged at a time, and expensive
                falls.note(part.indices, value)
        waiting.clear()

    for part in scores_of(group, fold, falls.skip):
        checkpoint()
        waiting.append(part)
        if sum(one.scores.size for one in waiting) >= TOGETHER:
            flush()
    if waiting:
        flush()
    return fold.number, values


class _Falls:
    """Settings to skip: all smaller penalties, after two in a row that have not been better."""

    def __init__(self, group: Group) -> None:
        self.skip: set[int] = set()
        # By text: 1 is a count and 1.0 a ratio, yet they are equal.
        self.line = {w.index: repr(replace(w, index=0, alpha=0.0)) for w in group.wanted}
        self.best: dict[str, tuple[float, int]] = {}

    def note(self, indices: Sequence[int], value: float) -> None:
        """Record the score of settings; penalties come in decreasing order."""
        for line in {self.line[index] for index in indices}:
            best, falls = self.best.get(line, (-np.inf, 0))
            self.best[line] = (value, 0) if value > best else (best, falls + 1)
            if self.best[line][1] == 2:
                self.skip |= {index for index, other in self.line.items() if other == line}


def _score_single(
    single: Single, number: int, problem: SearchData, judge: FoldJudge
) -> tuple[int, Values]:
    index, model = single
    train, test = problem.splits[number]
    weights, groups = problem.data.weights, problem.groups
    model = clone(model).fit(
        take_rows(problem.X, train),
        take_rows(problem.y, train),
        sample_weight=None if weights is None else weights[train],
        groups=None if groups is None else np.asarray(groups)[train],
    )
    rows = take_rows(problem.X, test)
    if scipy.sparse.issparse(rows):
        rows = problem.data.held_out_rows(train, test)
    return number, [([index], judge.of_model(model, rows))]


def _completed(tasks: Iterable[Task], n_jobs: int) -> Iterator[tuple[int, Values]]:
    """Yield results as they come; few tasks run ahead, so that few folds are in memory."""
    if n_jobs == 1:
        for task in tasks:
            checkpoint()
            yield task()
        return
    pending: set[Future[tuple[int, Values]]] = set()
    # Threads, since the BLAS and the sorts that do the work release the interpreter lock.
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            for task in tasks:
                # In this context, which is quiet; a thread of the pool has its own.
                pending.add(pool.submit(copy_context().run, task))
                while len(pending) > n_jobs:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            for future in pending:
                future.cancel()


class FoldJudge:
    """Metric on the validation rows of one split, for every kind of labels."""

    def __init__(self, problem: SearchData, test: NDArray[np.intp]) -> None:
        self.kind = problem.targets.kind
        self.classes = problem.targets.classes
        Y = problem.targets.take(test).truth
        if self.kind == "binary":  # one column of scores, but two classes to rank
            Y = scipy.sparse.hstack([1.0 - Y.toarray(), Y], format="csr")
        name, weights = problem.scoring.name, problem.data.weights
        metric = get_metric_of_scores(name)
        self.needs_labels = metric.needs == "labels"
        self.sign = 1.0 if metric.greater_is_better else -1.0
        own = None if weights is None else weights[test]
        self.judges = Judges([name], Y, options=problem.scoring.options, sample_weight=own)

    def of_scores(self, scores: Array, threshold: Any) -> Array:
        """Return the metric of each of the scores (C, N, M) of the linear decoder."""
        if self.kind == "binary":
            # A tuned threshold is found by the last fit; here it would change no ranking.
            boundary = 0.5 if isinstance(threshold, str) else float(np.ravel(threshold)[0])
            scores = np.concatenate([boundary - scores, scores - boundary], axis=2)
            threshold = 0.0
        labels = None
        if self.needs_labels:
            labels = self._best(scores) if self.kind == "multiclass" else scores > threshold
        return self.sign * self.judges(scores, labels)[:, 0]

    def of_model(self, model: Any, X: Any) -> float:
        """Return the metric of the predictions of a fitted classifier."""
        scores, labels = np.asarray(model.decision_function(X), dtype=np.float64), None
        if self.kind != "multilabel":
            scores = self._of_all_classes(scores, model.classes_)
        if self.needs_labels:
            multilabel = self.kind == "multilabel"
            labels = np.asarray(model.predict(X))[None] if multilabel else self._best(scores[None])
        return self.sign * float(self.judges(scores[None], labels)[0, 0])

    def _of_all_classes(self, scores: Array, known: Any) -> Array:
        """A column for every class; those that were not in the training part come last."""
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        every = np.full((len(scores), len(self.classes)), scores.min(initial=0.0) - 1.0)
        every[:, np.searchsorted(self.classes, known)] = scores
        return every

    @staticmethod
    def _best(scores: Array) -> NDArray[np.bool_]:
        return np.arange(scores.shape[2]) == scores.argmax(axis=2)[..., None]
