"""Result of a search: the scores of its settings, and the table of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """Scores of the settings of a search on its splits."""

    scores: Array  # (n_candidates, n_splits), NaN where it did not get there
    n_distinct: int  # settings that differ in their scores on some fold
    interrupted: bool = False
    partners: Mapping[int, int] = field(default_factory=dict)  # the setting that another varies

    @property
    def reached(self) -> NDArray[np.intp]:
        """Return the number of splits on which each candidate has a score."""
        return np.sum(~np.isnan(self.scores), axis=1)

    @property
    def means(self) -> Array:
        """Return the mean score of each candidate over its splits; NaN if it has none.

        A variation that was tried on fewer splits than its partner has the mean of the partner
        plus its mean gain on the common splits, since splits differ more than settings do.
        """
        total = np.where(np.isnan(self.scores), 0.0, self.scores).sum(axis=1)
        means = np.divide(
            total, self.reached, out=np.full(len(total), np.nan), where=self.reached > 0
        )
        for place, other in self._varied.items():
            means[place] = means[other] + np.nanmean(self.scores[place] - self.scores[other])
        return means

    @property
    def _varied(self) -> dict[int, int]:
        """Return the variations that were tried on a proper subset of their partner's splits."""
        known = ~np.isnan(self.scores)
        return {
            place: other
            for place, other in self.partners.items()
            if 0 < known[place].sum() < known[other].sum() and known[other][known[place]].all()
        }

    @property
    def merits(self) -> Array:
        """Return the means that rank the settings; -inf unless tried on the most splits."""
        most, counted = self.reached.max(initial=0), self.reached.copy()
        for place, other in self._varied.items():
            counted[place] = counted[other]
        return np.where((counted == most) & (most > 0), self.means, -np.inf)

    @classmethod
    def joined(cls, *stages: Outcome) -> Outcome:
        """Join the results of several stages; later stages may have fewer splits."""
        n_splits = max(stage.scores.shape[1] for stage in stages)
        parts = []
        for stage in stages:
            missing = n_splits - stage.scores.shape[1]
            parts.append(np.pad(stage.scores, ((0, 0), (0, missing)), constant_values=np.nan))
        return cls(
            np.vstack(parts),
            sum(stage.n_distinct for stage in stages),
            any(stage.interrupted for stage in stages),
        )


def results_table(candidates: Sequence[Mapping[str, Any]], outcome: Outcome) -> dict[str, Any]:
    """Return ``cv_results_``: one entry per setting, in the columns of scikit-learn's searches."""
    scores, mean, merits = outcome.scores, outcome.means, outcome.merits
    reached = np.maximum(outcome.reached, 1)
    own = np.where(np.isnan(scores), 0.0, scores).sum(axis=1) / reached
    squares = np.where(np.isnan(scores), 0.0, (scores - own[:, None]) ** 2)
    std = np.sqrt(squares.sum(axis=1) / reached)
    results: dict[str, Any] = {}
    for name in dict.fromkeys(name for params in candidates for name in params):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for place, params in enumerate(candidates):
            if name in params:
                column[place] = params[name]
        results[f"param_{name}"] = column
    results["params"] = [dict(params) for params in candidates]
    for number in range(scores.shape[1]):
        results[f"split{number}_test_score"] = scores[:, number]
    results["mean_test_score"], results["std_test_score"] = mean, std
    results["rank_test_score"] = rankdata(-merits, method="min").astype(np.int64)
    return results
