"""Metrics of the order in which the scores of a row put its labels.

The default conventions are those of the code that goes with Zhang and Zhou's review: a row counts
only if it has a present and an absent label, since without both there is nothing to rank. What
other programs do with such rows and with equal scores can be asked for by name. A row of which
nothing is known never counts.

References
----------
M.-L. Zhang, Z.-H. Zhou, "A review on multi-label learning algorithms", IEEE Transactions on
Knowledge and Data Engineering 26(8), 1819-1837, 2014, section 2.2.
"""

from typing import Any

import numpy as np

from compactlearn.metrics._averages import RANKABLE, average
from compactlearn.metrics._checks import Convention, check_scores
from compactlearn.metrics._label_ranks import label_ranks
from compactlearn.metrics._row_values import (
    average_precision_measure,
    coverage_measure,
    one_error_measure,
    ranking_loss_measure,
)
from compactlearn.metrics._truth import read_truth

__all__ = ["average_precision", "coverage", "one_error", "rankable_rows", "ranking_loss"]


def average_precision(
    Y_true: Any, scores: Any, *, convention: Convention = "zhang", mask: Any = None
) -> float:
    """How pure the labels ranked at or above each present label are; 1 is best.

    For a row with the present labels R, and rank(r) = 1 for the best score,

        mean over r in R of  #{r' in R : rank(r') <= rank(r)} / rank(r),

    averaged over rows.

    ==========  ===================================  ===========  ===========
    convention  equal scores                         no label     all labels
    ==========  ===================================  ===========  ===========
    zhang       the higher index ranks first         not counted  not counted
    sklearn     all have the last rank of the group  1            1
    mulan       the higher index ranks first         not counted  1
    ==========  ===================================  ===========  ===========

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is left out of its row's ranking.
    scores : array-like of shape (n_samples, n_labels)
        Finite; higher means more likely.
    convention : "zhang", "sklearn" or "mulan"
        Whose rules hold for equal scores and for rows with no or with every label.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    The present labels rank first and third: (1/1 + 2/3) / 2.

    >>> average_precision([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.8333333333333333
    """
    truth = read_truth(Y_true, mask)
    measure = average_precision_measure(convention)
    S = check_scores(scores, truth.shape)
    return average("average_precision", measure, label_ranks(truth, S), truth.shape[0])


def ranking_loss(
    Y_true: Any, scores: Any, *, convention: Convention = "zhang", mask: Any = None
) -> float:
    """Share of (present, absent) pairs in which the absent label scores as high or higher.

    Averaged over rows; 0 is best.

    ==========  ============================  ======================
    convention  equal scores                  no label or all labels
    ==========  ============================  ======================
    zhang       count as lost                 not counted
    sklearn     count as lost                 0
    mulan       the higher index ranks first  0
    ==========  ============================  ======================

    Parameters
    ----------
    Y_true, scores, convention, mask
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    Of the four pairs one is in the wrong order:

    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.25
    """
    truth = read_truth(Y_true, mask)
    measure = ranking_loss_measure(convention)
    S = check_scores(scores, truth.shape)
    return average("ranking_loss", measure, label_ranks(truth, S), truth.shape[0])


def one_error(
    Y_true: Any, scores: Any, *, convention: Convention = "zhang", mask: Any = None
) -> float:
    """Share of rows whose best-scored label is absent; 0 is best.

    ==========  ======================================  ===========  ===========
    convention  several labels share the best score     no label     all labels
    ==========  ======================================  ===========  ===========
    zhang       one present label among them is enough  not counted  not counted
    mulan       that of the highest index decides       1            0
    ==========  ======================================  ===========  ===========

    scikit-learn has no such metric; "sklearn" is taken for "zhang".

    Parameters
    ----------
    Y_true, scores, convention, mask
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    >>> one_error([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.9, 0.8, 0.7, 0.1]])
    0.5
    """
    truth = read_truth(Y_true, mask)
    measure = one_error_measure(convention)
    S = check_scores(scores, truth.shape)
    return average("one_error", measure, label_ranks(truth, S), truth.shape[0])


def coverage(
    Y_true: Any,
    scores: Any,
    *,
    convention: Convention = "zhang",
    normalize: bool = False,
    mask: Any = None,
) -> float:
    """How far down its ranking a row must be read to meet all its present labels; less is better.

    From the rank of the last present label,

        max over r in R of rank(r)  -  1,

    averaged over all rows; "sklearn" does not subtract the 1.

    ==========  ===================================  ========
    convention  equal scores                         no label
    ==========  ===================================  ========
    zhang       the higher index ranks first         -1
    sklearn     all have the last rank of the group  0
    mulan       the higher index ranks first         0
    ==========  ===================================  ========

    The -1 is what the MATLAB programs of that line compute: they add 0 for an empty row and
    subtract 1 from the mean.

    Parameters
    ----------
    Y_true, scores, convention, mask
        As in `average_precision`.
    normalize : bool
        Divide each row's value by the number of its known labels, as some programs do.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has a known label.

    Examples
    --------
    >>> coverage([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    2.0
    """
    truth = read_truth(Y_true, mask)
    measure = coverage_measure(convention, normalize)
    S = check_scores(scores, truth.shape)
    return average("coverage", measure, label_ranks(truth, S), truth.shape[0])


def rankable_rows(Y_true: Any, *, mask: Any = None) -> np.ndarray:
    """Which rows have a present and an absent label.

    Those are the rows that count in `average_precision`, `ranking_loss` and `one_error` under
    the convention "zhang".

    Parameters
    ----------
    Y_true, mask :
        As in `average_precision`.

    Examples
    --------
    >>> rankable_rows([[1, 0, 1], [0, 0, 0], [1, 1, 1]])
    array([ True, False, False])
    """
    truth = read_truth(Y_true, mask)
    return RANKABLE.holds(truth.n_present, truth.n_known)
