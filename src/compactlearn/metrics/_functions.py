"""Metrics as functions of a truth and of scores, labels or probabilities."""

from typing import Any

from compactlearn.metrics._table import METRICS

# ---- rankings -----------------------------------------------------------------------------------


def average_precision(Y_true: Any, scores: Any) -> float:
    """Return the mean share of present labels at or above each present label; 1 is best.

    For a row with the present labels R, and rank(r) = 1 for the best score,

        mean over r in R of  #{r' in R : rank(r') <= rank(r)} / rank(r),

    averaged over the rows that have a present and an absent label. Of equal scores the higher index
    ranks first.

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is left out of its row's ranking.
    scores : array-like of shape (n_samples, n_labels)
        Finite; higher means more likely.

    Examples
    --------
    The present labels rank first and third: (1/1 + 2/3) / 2.

    >>> average_precision([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.8333333333333333
    """
    return METRICS["average_precision"].function(Y_true, scores)


def ranking_loss(Y_true: Any, scores: Any) -> float:
    """Share of (present, absent) pairs in which the absent label scores as high or higher.

    Averaged over the rows that have a present and an absent label; 0 is best.

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true, scores
        As in `average_precision`.

    Examples
    --------
    Of the four pairs one is in the wrong order:

    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.25
    """
    return METRICS["ranking_loss"].function(Y_true, scores)


def one_error(Y_true: Any, scores: Any) -> float:
    """Share of rows whose best-scored label is absent; 0 is best.

    Of the rows that have a present and an absent label. Where several labels share the best score,
    one present label among them is enough.

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true, scores
        As in `average_precision`.

    Examples
    --------
    >>> one_error([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.9, 0.8, 0.7, 0.1]])
    0.5
    """
    return METRICS["one_error"].function(Y_true, scores)


def coverage(Y_true: Any, scores: Any) -> float:
    """Return the mean rank at which all present labels of a row are found; less is better.

    From the rank of the last present label, max over r in R of rank(r) - 1, averaged over all rows
    with a known label. Of equal scores the higher index ranks first. A row without labels has the
    value -1, as in the MATLAB programs of that line: they add 0 for an empty row and subtract 1
    from the mean.

    It is NaN, with an UndefinedMetricWarning, if no row has a known label.

    Parameters
    ----------
    Y_true, scores
        As in `average_precision`.

    Examples
    --------
    >>> coverage([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    2.0
    """
    return METRICS["coverage"].function(Y_true, scores)


# ---- the best k labels --------------------------------------------------------------------------


def precision_at_k(Y_true: Any, scores: Any, k: int = 5) -> float:
    """Share of present labels among the k best-scored ones; 1 is best.

    Averaged over all rows that have a known label. The division is by k even where a row has fewer
    present labels. Equal scores are ranked lowest index first.

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is left out of its row's ranking.
    scores : array-like or sparse matrix of shape (n_samples, n_labels), or (labels, scores)
        Finite; higher means more likely. Of a sparse matrix only the stored entries are ranked,
        stored zeros too; where a row stores fewer than k, the missing places count as wrong. A
        tuple is read as the output of `predict_topk`: the columns of the best labels and their
        scores, each of shape (n_samples, at least k). Neither is made dense.
    k : int
        From 1 to the number of labels.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]], k=2)
    0.5
    """
    return METRICS["precision_at_k"].function(Y_true, scores, k=k)


def r_precision_at_k(Y_true: Any, scores: Any, k: int = 5) -> float:
    """Present labels among the k best-scored, over the most that there can be; 1 is best.

    Of a row with n present labels, of which h are among the k best, it is h / min(k, n), averaged
    over rows; it is 0 for a row without present labels. For rows with at least k labels it is
    `precision_at_k`, and a row with fewer can reach 1.

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true, scores, k
        As in `precision_at_k`.

    Examples
    --------
    One of the three best labels is present, and two could be:

    >>> r_precision_at_k([[1, 0, 0, 1]], [[0.9, 0.8, 0.7, 0.1]], k=3)
    0.5
    """
    return METRICS["r_precision_at_k"].function(Y_true, scores, k=k)


def ndcg_at_k(Y_true: Any, scores: Any, k: int = 5) -> float:
    """Discounted gain of the k best-scored labels over that of a perfect ranking; 1 is best.

    With y_t = 1 where the label of rank t is present, and the n present labels of a row,

        sum over t <= k of y_t / log2(t + 1)   over   sum over t <= min(k, n) of 1 / log2(t + 1),

    averaged over rows.

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true, scores, k
        As in `precision_at_k`.

    Examples
    --------
    1 / log2(2) against 1 / log2(2) + 1 / log2(3):

    >>> ndcg_at_k([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]], k=2)
    0.613147...
    """
    return METRICS["ndcg_at_k"].function(Y_true, scores, k=k)


def f1_at_k(Y_true: Any, scores: Any, k: int = 5) -> float:
    """F1 of the k best-scored labels of each row, averaged over rows; 1 is best.

    Of a row with n present labels, of which h are among the k best, it is 2 h / (k + n), the
    harmonic mean of h / k (`precision_at_k`) and h / n (recall). A row with fewer or more than k
    labels cannot reach 1. This is the sample average of scikit-learn's `f1_score` for the sets of
    the k best labels, and with k = 5 what Annif calls "F1@5" (averaged over documents).

    It is NaN, with an UndefinedMetricWarning, if no row counts.

    Parameters
    ----------
    Y_true, scores, k
        As in `precision_at_k`.

    Examples
    --------
    Of two labels, one is among the two best:

    >>> f1_at_k([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]], k=2)
    0.5
    """
    return METRICS["f1_at_k"].function(Y_true, scores, k=k)


def psp_at_k(Y_true: Any, scores: Any, k: int = 5, *, weights: Any) -> float:
    """Propensity-scored precision: the weight of the hits over the best possible; 1 is best.

    With the weights w of the labels and y = 1 where present, the sum over all rows of

        sum over the k best-scored labels of w y

    over the same sum for a ranking by w y. Each sum runs over all rows before they are divided;
    a row without present labels adds to neither sum. Equal scores: lowest index first.

    It is NaN, with an UndefinedMetricWarning, if no row has a present label.

    Parameters
    ----------
    Y_true, scores, k
        As in `precision_at_k`.
    weights : array-like of shape (n_labels,)
        Above 0; see `inverse_propensities`.

    Examples
    --------
    >>> psp_at_k([[1, 0, 1]], [[0.9, 0.8, 0.7]], k=1, weights=[1, 1, 4])
    0.25
    """
    return METRICS["psp_at_k"].function(Y_true, scores, k=k, weights=weights)


def psndcg_at_k(Y_true: Any, scores: Any, k: int = 5, *, weights: Any) -> float:
    """Propensity-scored discounted gain over the best possible; 1 is best.

    As `psp_at_k`, with w y / log2(rank + 1) in place of w y, and each row's sums divided by the
    unweighted gain of a perfect ranking, sum over t <= min(k, n) of 1 / log2(t + 1).

    It is NaN, with an UndefinedMetricWarning, if no row has a present label.

    Parameters
    ----------
    Y_true, scores, k, weights
        As in `psp_at_k`.

    Examples
    --------
    >>> psndcg_at_k([[1, 0, 1]], [[0.9, 0.8, 0.7]], k=1, weights=[1, 1, 4])
    0.25
    """
    return METRICS["psndcg_at_k"].function(Y_true, scores, k=k, weights=weights)


# ---- label sets ---------------------------------------------------------------------------------


def hamming_loss(Y_true: Any, labels: Any) -> float:
    """Share of cells in which truth and prediction differ; 0 is best.

    It is NaN, with an UndefinedMetricWarning, if no cell is known.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a cell is not counted.
    labels : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 and 1.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.3333333333333333
    """
    return METRICS["hamming_loss"].function(Y_true, labels)


def subset_accuracy(Y_true: Any, labels: Any) -> float:
    """Share of rows in which every known label is predicted right; 1 is best.

    It is NaN, with an UndefinedMetricWarning, if no row has a known label.

    Parameters
    ----------
    Y_true, labels
        As in `hamming_loss`.

    Examples
    --------
    >>> subset_accuracy([[1, 0, 1], [0, 1, 0]], [[1, 0, 1], [0, 0, 0]])
    0.5
    """
    return METRICS["subset_accuracy"].function(Y_true, labels)


def example_f1(Y_true: Any, labels: Any) -> float:
    """F1 of each row, 2 TP / (2 TP + FP + FN), averaged over rows; 1 is best.

    A row without labels for which none is predicted has the value 0.

    It is NaN, with an UndefinedMetricWarning, if no row has a known label.

    Parameters
    ----------
    Y_true, labels
        As in `hamming_loss`.

    Examples
    --------
    >>> example_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.4
    """
    return METRICS["example_f1"].function(Y_true, labels)


def micro_f1(Y_true: Any, labels: Any) -> float:
    """F1 from the counts over all rows and labels, 2 TP / (2 TP + FP + FN); 1 is best.

    All rows count, empty ones too.

    It is 0, with an UndefinedMetricWarning, if no label is present and none is predicted.

    Parameters
    ----------
    Y_true, labels
        As in `hamming_loss`.

    Examples
    --------
    Two hits, one label too many, one missed:

    >>> micro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    return METRICS["micro_f1"].function(Y_true, labels)


def macro_f1(Y_true: Any, labels: Any) -> float:
    """F1 of each label, 2 TP / (2 TP + FP + FN), averaged over labels; 1 is best.

    A label that no row has and none is predicted to have has the value 0; one of which nothing is
    known is left out.

    It is NaN, with an UndefinedMetricWarning, if nothing is known of any label.

    Parameters
    ----------
    Y_true, labels
        As in `hamming_loss`.

    Examples
    --------
    >>> macro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    return METRICS["macro_f1"].function(Y_true, labels)


# ---- probabilities ------------------------------------------------------------------------------


def log_loss(Y_true: Any, probabilities: Any) -> float:
    """Mean over all cells of -log of the probability of the truth; 0 is best.

    This is the mean over the labels of scikit-learn's `log_loss` of each. Probabilities are kept
    1e-6 from 0 and 1, lest one wrong certainty cost without end.

    It is NaN, with an UndefinedMetricWarning, if no cell is known.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a cell is not counted.
    probabilities : array-like of shape (n_samples, n_labels)
        Of the label being present, as ``predict_proba`` returns them.

    Examples
    --------
    >>> log_loss([[1, 0], [0, 0]], [[0.5, 0.5], [0.5, 0.5]])
    0.693147...
    """
    return METRICS["log_loss"].function(Y_true, probabilities)


def calibration_error(Y_true: Any, probabilities: Any, *, bins: int = 15) -> float:
    """Expected calibration error over all pairs of a row and a label; 0 is best.

    It is the mean absolute gap of `reliability_table`, each bin weighted by its count. With many
    labels nearly all pairs are trivial zeros, and it is close to 0 for every model: to judge the
    probabilities of suggested labels use `calibration_error_at_k` or `predicted_calibration_error`.

    It is NaN, with an UndefinedMetricWarning, if no pair is known.

    Parameters
    ----------
    Y_true, probabilities
        As in `log_loss`.
    bins : int
        As in `reliability_table`.

    Examples
    --------
    Two pairs of 0.9, of which one is present:

    >>> calibration_error([[1, 0]], [[0.9, 0.9]])
    0.4
    """
    return METRICS["calibration_error"].function(Y_true, probabilities, bins=bins)


def calibration_error_at_k(Y_true: Any, probabilities: Any, k: int = 5, *, bins: int = 10) -> float:
    """Expected calibration error of the k labels of largest probability; 0 is best.

    It is NaN, with an UndefinedMetricWarning, if no label counts.

    Parameters
    ----------
    Y_true, probabilities, k, bins
        As in `reliability_table`, of whose table this is the mean absolute gap, each bin weighted
        by its count.

    Examples
    --------
    A first label of probability 0.9 is right in one row of two:

    >>> calibration_error_at_k([[1, 0, 0], [0, 1, 0]], [[0.9, 0, 0], [0.9, 0, 0]], k=1)
    0.4
    """
    return METRICS["calibration_error_at_k"].function(Y_true, probabilities, k=k, bins=bins)


def predicted_calibration_error(
    Y_true: Any, probabilities: Any, threshold: Any = 0.5, *, labels: Any = None, bins: int = 10
) -> float:
    """Expected calibration error of the labels that are predicted; 0 is best.

    It is NaN, with an UndefinedMetricWarning, if no label is predicted.

    Parameters
    ----------
    Y_true, probabilities, threshold, labels, bins
        As in `reliability_table`, of whose table this is the mean absolute gap, each bin weighted
        by its count.

    Examples
    --------
    >>> predicted_calibration_error([[1, 0, 0], [0, 1, 0]], [[0.9, 0.1, 0], [0.9, 0.1, 0]])
    0.4
    """
    return METRICS["predicted_calibration_error"].function(
        Y_true, probabilities, labels=labels, threshold=threshold, bins=bins
    )
