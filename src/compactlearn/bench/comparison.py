"""Plain ridge, CMLL_y and CMLL on the same folds, under two protocols that are never mixed.

paper
    The settings of the CMLL paper: its ridge grid, a float beta, no offset, threshold 0.5. Each
    figure is that of the setting with the best mean over the *test* folds, metric by metric: this
    is what the paper's protocol implies, and it flatters every method alike.
fair
    The library's defaults for everything but the ridge penalty, which is chosen from a wide grid
    for each fold by inner folds of its *training* rows, by average precision. The test rows are
    scored once.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils.parallel import Parallel, delayed

from compactlearn.core.progress import track
from compactlearn.datasets import Dataset
from compactlearn.embeddings import Original
from compactlearn.estimators import CMLLClassifier, CompactClassifier
from compactlearn.metrics import average_precision, micro_f1, one_error, ranking_loss

__all__ = [
    "FULL",
    "METHODS",
    "METRICS",
    "PUBLISHED",
    "QUICK",
    "Comparison",
    "Figure",
    "Grid",
    "Row",
    "compare",
]

Protocol = Literal["paper", "fair"]
Setting = Mapping[str, float]

METHODS = ("ORI", "CMLL_y", "CMLL")
METRICS = ("average precision", "micro-F1", "ranking loss", "one error")
_LOWER_IS_BETTER = frozenset({"ranking loss", "one error"})

# (mean, deviation) on enron as published: Lv et al., "Compact Learning for Multi-Label
# Classification", arXiv 2009.08607, the table of linear methods (five folds).
PUBLISHED: Mapping[tuple[str, str], tuple[float, float]] = {
    ("ORI", "average precision"): (0.5039, 0.0111),
    ("CMLL_y", "average precision"): (0.6228, 0.0119),
    ("CMLL", "average precision"): (0.6965, 0.0153),
    ("ORI", "micro-F1"): (0.4045, 0.0057),
    ("CMLL_y", "micro-F1"): (0.4995, 0.0119),
    ("CMLL", "micro-F1"): (0.5335, 0.0147),
    ("ORI", "ranking loss"): (0.2672, 0.0108),
    ("CMLL_y", "ranking loss"): (0.1475, 0.0104),
    ("CMLL", "ranking loss"): (0.1209, 0.0093),
    ("ORI", "one error"): (0.4454, 0.0234),
    ("CMLL_y", "one error"): (0.2930, 0.0236),
    ("CMLL", "one error"): (0.2462, 0.0215),
}


@dataclass(frozen=True)
class Grid:
    """The settings each protocol may choose from.

    Parameters
    ----------
    alphas : tuple of float
        Ridge penalties of the paper protocol.
    betas, label_ratios : tuple of float
        Balances and label compression ratios of the paper protocol; plain ridge has neither.
    wide_alphas : tuple of float
        Ridge penalties of the fair protocol.
    inner_folds : int
        Folds of the training rows by which the fair protocol chooses.
    """

    alphas: tuple[float, ...]
    betas: tuple[float, ...]
    label_ratios: tuple[float, ...]
    wide_alphas: tuple[float, ...]
    inner_folds: int = 3


FULL = Grid(
    alphas=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
    betas=(0.1, 1.0),
    label_ratios=(0.5, 1.0),
    wide_alphas=(1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3),
)
QUICK = Grid(alphas=(1e-1,), betas=(1e-1,), label_ratios=(0.5,), wide_alphas=(1.0, 10.0, 100.0))


@dataclass(frozen=True)
class Figure:
    """One metric of one method: the values on the folds, and the settings that gave them."""

    metric: str
    values: tuple[float, ...]
    settings: tuple[Setting, ...]  # one per fold; in the paper protocol all the same

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        """Standard deviation over the folds, with n - 1."""
        return float(np.std(self.values, ddof=1))


@dataclass(frozen=True)
class Row:
    """One method under one protocol."""

    method: str
    protocol: Protocol
    figures: tuple[Figure, ...]
    fit_seconds: float  # mean over the fits on whole training folds
    n_features: int  # columns the learner sees, in the setting best for average precision
    n_targets: int  # columns the learner predicts
    n_numbers: int  # what must be kept to predict

    def figure(self, metric: str) -> Figure:
        """The figure of one metric."""
        return next(figure for figure in self.figures if figure.metric == metric)


@dataclass(frozen=True)
class Comparison:
    """Every row, and what they were asked."""

    dataset: str
    n_samples: int
    n_features: int
    n_labels: int
    n_folds: int
    seed: int
    grid: Grid
    rows: tuple[Row, ...]
    seconds: float

    def row(self, method: str, protocol: Protocol) -> Row:
        """The row of one method under one protocol."""
        return next(r for r in self.rows if (r.method, r.protocol) == (method, protocol))


def compare(
    data: Dataset,
    *,
    n_folds: int = 5,
    seed: int = 0,
    grid: Grid = FULL,
    n_jobs: int | None = None,
    show_progress: bool = False,
) -> Comparison:
    """Run every method under both protocols on the same shuffled folds.

    Parameters
    ----------
    data : Dataset
    n_folds : int
        Outer folds, at least 2.
    seed : int
        Shuffles the outer and the inner folds; nothing else is random.
    grid : Grid
    n_jobs : int, optional
        Processes to share the folds among, -1 for one per core; each then uses its share of the
        cores' threads. The figures do not depend on it, the fit times do.
    show_progress : bool
        Show a bar at a terminal.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> result = compare(load("emotions"), n_folds=2, grid=QUICK)
    >>> [(row.method, row.protocol) for row in result.rows][:4]
    [('ORI', 'paper'), ('ORI', 'fair'), ('CMLL_y', 'paper'), ('CMLL_y', 'fair')]
    >>> len(result.row("CMLL", "fair").figure("one error").values)
    2
    """
    start = time.perf_counter()
    folds = [
        Fold(data.X[train], data.Y[train], data.X[test], data.Y[test])
        for train, test in _splits(data.X.shape[0], n_folds, seed)
    ]
    work = list(itertools.product(METHODS, _PROTOCOLS, folds))
    answers = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_PROTOCOLS[protocol])(method, fold, grid, seed) for method, protocol, fold in work
    )
    progress = track(answers, description=data.name, total=len(work), disable=not show_progress)
    runs: dict[tuple[str, Protocol], list[list[Run]]] = {}
    for (method, protocol, _), made in zip(work, progress, strict=True):
        runs.setdefault((method, protocol), []).append(made)
    rows = tuple(_row(method, protocol, made) for (method, protocol), made in runs.items())
    return Comparison(
        dataset=data.name,
        n_samples=data.n_samples,
        n_features=data.n_features,
        n_labels=data.n_labels,
        n_folds=n_folds,
        seed=seed,
        grid=grid,
        rows=rows,
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True)
class Fold:
    """The training and test rows of one fold."""

    X_train: Any
    Y_train: Any
    X_test: Any
    Y_test: Any


@dataclass(frozen=True)
class Run:
    """One fitted setting, scored on the rows it did not see."""

    setting: Setting
    scores: Mapping[str, float]
    fit_seconds: float
    size: "Size" = field(compare=False)


@dataclass(frozen=True)
class Size:
    """How large a fitted model is."""

    n_features: int
    n_targets: int
    n_numbers: int


def _paper_runs(method: str, fold: Fold, grid: Grid, seed: int) -> list[Run]:
    del seed  # no choice is made here: every setting meets the test rows
    return [_run(method, "paper", setting, fold) for setting in _paper_settings(method, grid)]


def _fair_runs(method: str, fold: Fold, grid: Grid, seed: int) -> list[Run]:
    X, Y = fold.X_train, fold.Y_train
    inner = [
        Fold(X[train], Y[train], X[test], Y[test])
        for train, test in _splits(X.shape[0], grid.inner_folds, seed)
    ]

    def inner_precision(alpha: float) -> float:
        runs = [_run(method, "fair", {"alpha": alpha}, part) for part in inner]
        return float(np.mean([run.scores["average precision"] for run in runs]))

    chosen = max(grid.wide_alphas, key=inner_precision)
    return [_run(method, "fair", {"alpha": chosen}, fold)]


_PROTOCOLS: Mapping[Protocol, Callable[[str, Fold, Grid, int], list[Run]]] = {
    "paper": _paper_runs,
    "fair": _fair_runs,
}


def _paper_settings(method: str, grid: Grid) -> Iterator[Setting]:
    if method == "ORI":
        yield from ({"alpha": alpha} for alpha in grid.alphas)
        return
    for beta, ratio, alpha in itertools.product(grid.betas, grid.label_ratios, grid.alphas):
        yield {"beta": beta, "label_ratio": ratio, "alpha": alpha}


def _model(method: str, protocol: Protocol, setting: Setting) -> CompactClassifier:
    alpha = setting["alpha"]
    if method == "ORI":
        return CompactClassifier(Original(), alpha=alpha, threshold=0.5)
    d = None if method == "CMLL_y" else "auto"
    if protocol == "fair":
        return CMLLClassifier(n_feature_components=d, alpha=alpha, threshold=0.5)
    return CMLLClassifier(
        n_feature_components=d,
        n_label_components=setting["label_ratio"],
        beta=setting["beta"],
        alpha=alpha,
        offset="none",
        threshold=0.5,
    )


def _run(method: str, protocol: Protocol, setting: Setting, fold: Fold) -> Run:
    model = _model(method, protocol, setting)
    start = time.perf_counter()
    model.fit(fold.X_train, fold.Y_train)
    seconds = time.perf_counter() - start
    scores = model.decision_function(fold.X_test)
    labels = scores > model.threshold_
    truth = fold.Y_test
    measured = {
        "average precision": average_precision(truth, scores),
        "micro-F1": micro_f1(truth, labels.astype(int)),
        "ranking loss": ranking_loss(truth, scores),
        "one error": one_error(truth, scores),
    }
    return Run(setting, {k: float(v) for k, v in measured.items()}, seconds, _size(model))


def _size(model: CompactClassifier) -> Size:
    P, m = model.embedding_.projection_, model.embedding_.n_label_components_
    return Size(model.n_features_in_ if P is None else P.shape[1], m, model.numbers_)


def _row(method: str, protocol: Protocol, folds: Sequence[Sequence[Run]]) -> Row:
    figures = tuple(_figure(metric, folds) for metric in METRICS)
    best = figures[0].settings
    chosen = [_with(setting, runs) for setting, runs in zip(best, folds, strict=True)]
    size = chosen[0].size
    seconds = float(np.mean([run.fit_seconds for runs in folds for run in runs]))
    return Row(method, protocol, figures, seconds, size.n_features, size.n_targets, size.n_numbers)


def _figure(metric: str, folds: Sequence[Sequence[Run]]) -> Figure:
    """The figure of the best common setting; where each fold has one run, of that run."""
    sign = -1 if metric in _LOWER_IS_BETTER else 1
    means = np.mean([[sign * run.scores[metric] for run in runs] for runs in folds], axis=0)
    best = int(np.argmax(means))
    chosen = [runs[best] for runs in folds]
    return Figure(
        metric,
        tuple(run.scores[metric] for run in chosen),
        tuple(run.setting for run in chosen),
    )


def _with(setting: Setting, runs: Sequence[Run]) -> Run:
    return next(run for run in runs if run.setting == setting)


def _splits(n_rows: int, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return KFold(n_folds, shuffle=True, random_state=seed).split(np.empty((n_rows, 1)))
