"""Labels that are flipped at known rates, corrected so that sums of them are right on average.

An absent label is observed as present with probability ``false_positive`` (f), and a present label
as absent with probability ``false_negative`` (m), independently of everything else. Then

    y' = (y - f) / (1 - f - m)

has, whatever was flipped, the true label as its mean (Natarajan et al. 2013). So have all sums that
are linear in it: column sums, X'Y', and products of two different labels. Every loss that is linear
in the label, such as the squared loss less its constant and the logistic loss, has the mean that it
would have with true labels. Squares of a label are larger on average, by its variance.

Labels with missing positives are the case f = 0 and m = 1 - p, where the propensity p is the
probability that a present label is observed: y' = y / p (Jain, Prabhu and Varma 2016).

References
----------
N. Natarajan, I. Dhillon, P. Ravikumar, A. Tewari, "Learning with noisy labels", NIPS 2013.
H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging,
ranking & other missing label applications", KDD 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._memory import require_memory

Array = NDArray[np.float64]

LEAST_LEFT = 0.05  # of 1 - f - m: what is divided by it is noise beyond use


@dataclass(frozen=True)
class Correction:
    """Rates at which labels are flipped."""

    false_positive: Array  # (M,) of absent labels, seen as present
    false_negative: Array  # (M,) of present labels, seen as absent

    @property
    def left(self) -> Array:
        """(M,) what is left of the difference between a present and an absent label."""
        return 1.0 - self.false_positive - self.false_negative

    def corrected(self, Y: Any, unknown: Any = None) -> Any:
        """Return the labels, a csr_array of ones, corrected; those that are unknown stay 0.

        Without false positives the result is as sparse as the labels.

        >>> half = Correction(np.zeros(2), np.array([0.5, 0.0]))
        >>> half.corrected(scipy.sparse.csr_array([[1.0, 1.0], [0.0, 1.0]])).toarray()
        array([[2., 1.],
               [0., 1.]])
        """
        if not self.false_positive.any():
            data = Y.data / self.left[Y.indices]
            return scipy.sparse.csr_array((data, Y.indices, Y.indptr), shape=Y.shape)
        n_rows, n_labels = Y.shape
        require_memory(
            40 * n_rows * n_labels,
            what=f"Correcting {n_labels} labels of {n_rows} rows for false positives",
            remedy="Give false negatives alone, as positive_unlabelled=True does, or fewer rows.",
        )
        cells = (Y.toarray() - self.false_positive) / self.left
        if unknown is not None:
            cells[unknown.nonzero()] = 0.0
        return scipy.sparse.csr_array(cells)


def check_rates(label_noise: Any, n_labels: int) -> Correction:
    """Return a pair of rates, numbers or one for each label, checked."""
    try:
        pair = [np.asarray(rate, dtype=np.float64) for rate in label_noise]
    except (TypeError, ValueError):
        pair = []
    if len(pair) != 2 or any(rate.shape not in ((), (n_labels,)) for rate in pair):
        raise ValueError(
            f"label_noise must be None, 'auto' or a pair of rates, of false positives and of false "
            f"negatives, each a number or one for each of the {n_labels} labels, and is "
            f"{label_noise!r:.80}; pass for example (0.1, 0.1)."
        )
    f, m = (np.broadcast_to(rate, (n_labels,)).copy() for rate in pair)
    rates = np.concatenate([f, m])
    if not (np.isfinite(rates).all() and (rates >= 0).all() and (f + m <= 1 - LEAST_LEFT).all()):
        raise ValueError(
            f"The two rates of label_noise must be at least 0 and together at most "
            f"{1 - LEAST_LEFT:g}, and {label_noise!r:.80} was given; pass smaller ones."
        )
    return Correction(f, m)


def check_propensities(propensities: Any, n_labels: int) -> Correction:
    """Return the correction for the probability that a present label is seen, for each label."""
    try:
        p = np.asarray(propensities, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.empty(0)
    if p.shape != (n_labels,):
        raise ValueError(
            f"propensities must hold one number for each of the {n_labels} labels, and has shape "
            f"{p.shape}; pass a vector of that length."
        )
    if not (np.isfinite(p).all() and (p >= LEAST_LEFT).all() and (p <= 1).all()):
        raise ValueError(
            f"propensities must lie between {LEAST_LEFT:g} and 1, and range from {p.min():g} to "
            f"{p.max():g}; pass the probability that a present label is in Y."
        )
    return Correction(np.zeros(n_labels), 1.0 - p)
