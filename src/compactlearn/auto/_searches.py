"""Searches for the settings of linear and kernel models, with shared decompositions.

Settings are selected by rankings of the linear decoder, which takes a small part of the time; the
same penalty and size suit the logistic decoder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel
from sklearn.model_selection import ParameterGrid

from compactlearn.auto._preprocessing import PREPROCESSINGS, Prepared, Preprocessing
from compactlearn.auto._problem import Problem, mean_score
from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._kernels import centre
from compactlearn.compact._penalty import penalty_of_rows
from compactlearn.core._deadline import checkpoint
from compactlearn.crossfit._leave_out import held_out_predictions
from compactlearn.embeddings._components import LARGEST_AUTO
from compactlearn.linalg._dense import solve_definite
from compactlearn.linalg._filling import column_means
from compactlearn.linalg._unseen_features import drop_confined_features
from compactlearn.model_selection._crossval import cross_validate_grid

Array = NDArray[np.float64]

MULTIPLES = tuple(np.logspace(-3, 2, 11).tolist())
SIZES = (0.1, 0.25, 0.5, 1.0)
FEW_LABELS = 100  # up to this number of labels, fewer codes do not help the logistic decoder
SEARCH_ROWS = 4_000  # rows that are enough to select penalty and size
PART_ROWS = (500, 1_500)  # bounds of the rows for widths and preprocessings, a quarter of all
WIDTH_STEP = 3.0  # from one width to the next, in units of gamma="distance"
MOST_WIDTHS = 5
RANK_SLACK = 1e-10  # added to the diagonal of an RBF kernel, which is 1, to make it definite
KERNEL_PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class SearchResult:
    """The best settings of a search, and their score."""

    preprocessing: Preprocessing
    score: float
    params: dict[str, Any]


def search_linear(problem: Problem, preprocessing: Preprocessing) -> SearchResult:
    """Select penalty and number of codes, with twice as many features as codes."""
    part = problem.some(SEARCH_ROWS)
    rows = preprocessing.fit(part.X, part.weights)
    unit = penalty_of_rows(rows.X, part.weights)
    grid = {
        "n_label_components": label_sizes(part.n_labels),
        "alpha": [unit * multiple for multiple in MULTIPLES],
    }
    settings = [dict(params) for params in ParameterGrid(grid)]
    n_folds = 5 if part.n_rows <= 1000 else 3 if part.n_rows <= 2500 else 2
    outcome = cross_validate_grid(
        CMLLClassifier(completion="krylov", threshold=0.5),
        settings,
        part.searched(rows.X, part.splits[:n_folds], rows.units),
        racing=True,
        n_jobs=part.n_jobs,
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    best = int(np.argmax(outcome.merits))
    return SearchResult(preprocessing, float(outcome.merits[best]), settings[best])


def search_kernel(problem: Problem, *, exact: bool = True) -> SearchResult:
    """Select preprocessing, width and penalty of an RBF kernel, by held-out rows.

    If the model's kernel is not ``exact``, landmarks approximate it here as well, since that costs
    narrow kernels more than wide ones.
    """
    part = _search_part(problem)
    truth = _targets(part)
    searches = [
        _KernelSearch(part, truth, preprocessing.fit(part.X, part.weights), exact)
        for preprocessing in PREPROCESSINGS
    ]
    best, search = max(((one.at(1.0), one) for one in searches), key=lambda found: found[0].score)
    tried, width = {0}, 0  # powers of the step from one width to the next
    while len(tried) <= MOST_WIDTHS:
        # Continue while a width next to the best one has not been tried.
        beyond = [step for step in (width - 1, width + 1) if step not in tried]
        if not beyond:
            break
        for step in beyond:
            tried.add(step)
            found = search.at(WIDTH_STEP**step)
            if found.score > best.score:
                best, width = found, step
    return best


def best_preprocessing(problem: Problem) -> Preprocessing:
    """Select the preprocessing that suits plain ridge best, by held-out rows."""
    part = _search_part(problem)
    truth = _targets(part)

    def reached(preprocessing: Preprocessing) -> float:
        rows = preprocessing.fit(part.X, part.weights)
        unit = penalty_of_rows(rows.X, part.weights)
        penalties = [unit * multiple for multiple in MULTIPLES]
        new = _as_new(part, rows)
        held_out = None if new is None else linear_kernel(new, rows.X)
        return _best_penalty(part, truth, linear_kernel(rows.X), penalties, held_out)[0]

    return max(PREPROCESSINGS, key=reached)


def _search_part(problem: Problem) -> Problem:
    """Return enough rows to compare preprocessings and widths, by rankings."""
    fewest, most = PART_ROWS
    return problem.some(min(most, max(fewest, problem.n_rows // 4))).by_rankings


def _as_new(part: Problem, rows: Prepared) -> Any:
    """Return all prepared rows without the features that only their own fold has, or None."""
    new = drop_confined_features(part.X, part.fold)
    return None if new is part.X else rows.rows(new)


def _targets(part: Problem) -> Array:
    """Return dense labels; an unknown one is the mean of the known ones."""
    Y = part.Y.toarray().astype(np.float64)
    if part.unknown is None:
        return Y
    means = column_means(part.Y, part.unknown, part.weights)
    return np.where(part.unknown.toarray() > 0, means, Y)


@dataclass(frozen=True)
class _KernelSearch:
    """RBF kernels of some rows, whose distances are found once for all widths."""

    part: Problem
    truth: Array
    rows: Prepared
    exact: bool

    @cached_property
    def distances(self) -> Array:
        return self._distances_from(self.rows.X)

    @cached_property
    def new_distances(self) -> Array | None:
        """Distances of the rows without features that only their own fold has, or None."""
        new = _as_new(self.part, self.rows)
        return None if new is None else self._distances_from(new)

    def _distances_from(self, rows: Any) -> Array:
        origin, X = centre(self.rows.X), self.rows.X
        if origin is not None:
            rows, X = rows - origin, X - origin
        return euclidean_distances(rows, X, squared=True)

    @cached_property
    def unit(self) -> float:
        """The kernel's ``gamma="distance"`` on these rows."""
        kernel = KernelMap(random_state=self.part.seed)
        gamma = kernel.fit_rows(self.rows.X, self.part.weights).gamma_
        assert gamma is not None
        return float(gamma)

    def at(self, width: float) -> SearchResult:
        """Return the best penalty of a kernel with this width, in units of ``gamma``."""
        gamma = width * self.unit
        K = np.exp(-gamma * self.distances)
        new = None if self.new_distances is None else np.exp(-gamma * self.new_distances)
        if not self.exact:
            full, seed = K, self.part.seed
            K = _by_landmarks(full, np.random.default_rng(seed))
            if new is not None:
                new = _by_landmarks(full, np.random.default_rng(seed), new)
        score, alpha = _best_penalty(self.part, self.truth, K, KERNEL_PENALTIES, new)
        return SearchResult(self.rows.preprocessing, score, {"gamma": gamma, "alpha": alpha})


def _by_landmarks(K: Array, rng: np.random.Generator, new: Array | None = None) -> Array:
    """Return the Nyström approximation of a kernel matrix, with half of the rows as landmarks.

    With ``new``, return the approximate kernel between other rows and the rows of K.
    """
    chosen = np.sort(rng.choice(len(K), max(1, len(K) // 2), replace=False))
    columns = K[:, chosen]
    corner = columns[chosen] + RANK_SLACK * np.eye(len(chosen))
    return (columns if new is None else new[:, chosen]) @ solve_definite(corner, columns.T)


def _best_penalty(
    part: Problem,
    truth: Array,
    K: Array,
    penalties: Sequence[float],
    held_out: Array | None = None,
) -> tuple[float, float]:
    """Return the score of the best penalty, and the penalty."""
    checkpoint()
    everything = np.arange(part.n_rows)
    predicted = held_out_predictions(K, truth, part.fold, penalties, part.weights, held_out)
    reached = [mean_score(part.score_folds(everything, scores)) for scores in predicted]
    best = int(np.argmax(reached))
    return reached[best], penalties[best]


def label_sizes(n_labels: int) -> list[Any]:
    """Return the numbers of codes to try."""
    if n_labels <= FEW_LABELS:
        return [1.0]
    if n_labels > LARGEST_AUTO:
        return [math.ceil(size * LARGEST_AUTO) for size in SIZES]
    return list(SIZES)
