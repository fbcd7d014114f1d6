"""Sizes of models that keep no more than so many numbers.

A linear model that goes over d projected features or m codes has rank r = min(d, m), and the chain
of fewest numbers from D features to M labels is D x r and r x M, whatever the wider of the two is:
r (D + M) numbers and M constants. So a budget is a rank, and what is left to choose is by which
method its directions are found.
"""

from __future__ import annotations

from typing import NamedTuple

from compactlearn.decoding._linear import linear_numbers
from compactlearn.embeddings._base import Embedding
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._cplst import CPLST
from compactlearn.embeddings._original import Original

# Shares of the largest rank that are promising as well: a smaller model may be the better one.
SHARES = (1.0, 0.5, 0.25)


class SizeSetting(NamedTuple):
    """A method and its sizes; None where features, or labels, are kept."""

    embedding: str
    n_feature_components: int | None
    n_label_components: int | None

    def make(self) -> Embedding:
        """The embedding, not fitted."""
        if self.embedding == "Original":
            return Original()
        if self.embedding == "CPLST":
            assert self.n_label_components is not None
            return CPLST(self.n_label_components)
        d, m = self.n_feature_components, self.n_label_components
        wider = d is not None and m is not None and d > m
        return CMLL(d, m, completion="krylov" if wider else "none")

    def numbers(self, n_features: int, n_labels: int) -> int:
        """How many numbers a model of these sizes keeps, or fewer where the rank is smaller."""
        return linear_numbers(
            n_features, n_labels, self.n_feature_components, self.n_label_components
        )


def sizes_within(budget: float, n_features: int, n_labels: int) -> list[SizeSetting]:
    """Promising sizes of linear models with at most ``budget`` numbers, the largest first.

    Of each rank there are reduced-rank ridge (CPLST) and CMLL with as many features as codes and,
    krylov, with twice as many: which is best depends on the data (docs/SELECTION.md).

    They are for ``CompactClassifier(setting.make(), decoder="logistic", alpha=...)``, whose
    ``numbers_`` is then within the budget, for dense and sparse rows alike. None is listed where
    not even one direction fits.

    Parameters
    ----------
    budget : float
        How many numbers.
    n_features, n_labels : int
        D and M.

    Examples
    --------
    >>> for setting in sizes_within(10_000, 500, 300):
    ...     print(*setting, setting.numbers(500, 300))
    CPLST None 12 9900
    CMLL 12 12 9900
    CMLL 24 12 9900
    CPLST None 6 5100
    CMLL 6 6 5100
    CMLL 12 6 5100
    CPLST None 3 2700
    CMLL 3 3 2700
    CMLL 6 3 2700
    """
    D, M = n_features, n_labels
    found: list[SizeSetting] = []
    largest = min(int((budget - M) // (D + M)), D, M)
    ranks = [max(1, round(share * largest)) for share in SHARES] if largest > 0 else []
    for rank in dict.fromkeys(ranks):
        found.append(SizeSetting("CPLST", None, rank))
        widths = dict.fromkeys((rank, min(2 * rank, D)))
        found += [SizeSetting("CMLL", width, rank) for width in widths]
    whole = SizeSetting("Original", None, None)
    if whole.numbers(D, M) <= budget:  # everything fits
        found.insert(0, whole)
    return found
