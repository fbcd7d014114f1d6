"""The stages of a shortlist, learnt from folds and then from all rows."""

from __future__ import annotations

import numpy as np

from compactlearn.core._progress import track
from compactlearn.linalg._many_logistic import ShareOut, Weights
from compactlearn.shortlist._cooccurrence_reranking import Cooccurrence, CooccurrenceReranking
from compactlearn.shortlist._generation import GeneratorSettings, sparse_rows
from compactlearn.shortlist._held_out import FoldFit, HeldOutPairs, held_out_folds
from compactlearn.shortlist._label_reranking import LabelReranking
from compactlearn.shortlist._rows import ShortlistRows
from compactlearn.shortlist._stages import Stages


def fit_stages(
    data: ShortlistRows,
    settings: GeneratorSettings,
    *,
    C: float | None,
    smallest_weight: float,
    rng: np.random.RandomState,
    verbose: int,
    share_out: ShareOut | None = None,
) -> tuple[Stages, HeldOutPairs]:
    """Fit all stages; return them, and the held-out candidates that the last one was learnt from.

    ``C`` is selected by the first fold if it is None. The regressions of the first fold become
    those of the model: their frequent labels are learnt from all rows at last.
    """
    rows = sparse_rows(data.X, unit=settings.unit_rows)
    folds = held_out_folds(data.groups, rng)
    first: FoldFit | None = None
    start: Weights | None = None
    parts: list[HeldOutPairs] = []
    for inside in track(folds, description="ShortlistClassifier", disable=not verbose):
        fold = FoldFit.of(data, rows, inside, settings, rng, share_out)
        C = C or fold.problems.best_C(inside, rng)
        weights = fold.problems.solve(C, ~inside)
        parts.append(fold.held_out(weights, C))
        if first is None:
            first, start = fold, weights
    assert first is not None
    assert start is not None
    assert C is not None
    generator = settings.fit(data, rows, rng)
    weights = first.problems.refine(C, ~first.inside, start)
    new = HeldOutPairs.together(parts)
    stages = Stages(
        generator,
        first.prior,
        LabelReranking.of(weights, C, smallest_weight),
        Cooccurrence.of(data.Y, data.weights, data.unknown),
        CooccurrenceReranking.learn(new.inputs, new.present, new.weights, rng),
    )
    return stages, new
