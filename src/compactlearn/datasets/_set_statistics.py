"""The numbers people compare multi-label data sets by."""

from dataclasses import asdict, dataclass

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset

__all__ = ["Statistics", "statistics"]


@dataclass(frozen=True)
class Statistics:
    """Counts of a data set's rows, columns and labels.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
    cardinality : float
        Mean number of labels per row.
    density : float
        Cardinality divided by the number of labels.
    n_label_sets : int
        Number of different label sets; the empty one counts where it occurs.
    n_unlabelled : int
        Rows without any label.
    n_absent_labels : int
        Labels that no row has.
    mean_imbalance, max_imbalance : float
        Of IRLbl, the count of the most frequent label over a label's own count, over the labels
        that occur (Charte, Rivera, del Jesus and Herrera, Neurocomputing 163, 2015, section 3).
    imbalance_variation : float
        Coefficient of variation of IRLbl (CVIR there).
    feature_share : float
        Share of the entries of X that are not zero.
    """

    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    n_label_sets: int
    n_unlabelled: int
    n_absent_labels: int
    mean_imbalance: float
    max_imbalance: float
    imbalance_variation: float
    feature_share: float

    def as_dict(self) -> dict[str, int | float]:
        """The same by name, for tables."""
        return asdict(self)


def statistics(dataset: Dataset) -> Statistics:
    """Count a data set.

    Parameters
    ----------
    dataset : Dataset
        With features and labels in any form.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> counted = statistics(load("emotions"))
    >>> counted.n_label_sets, round(counted.cardinality, 4), round(counted.mean_imbalance, 3)
    (27, 1.8685, 1.478)
    """
    n, M = dataset.Y.shape
    Y = sparse.csr_array(dataset.Y)
    per_row = np.asarray(Y.sum(axis=1)).ravel()
    per_label = np.asarray(Y.sum(axis=0)).ravel()
    present = per_label[per_label > 0]
    ratios = present.max() / present if present.size else np.array([np.nan])
    mean = float(ratios.mean())
    spread = float(ratios.std(ddof=1)) if ratios.size > 1 else 0.0
    X = dataset.X
    filled = int(X.count_nonzero()) if sparse.issparse(X) else int(np.count_nonzero(X))
    return Statistics(
        n_samples=n,
        n_features=dataset.n_features,
        n_labels=M,
        cardinality=dataset.cardinality,
        density=dataset.cardinality / max(1, M),
        n_label_sets=dataset.n_label_sets,
        n_unlabelled=int(np.count_nonzero(per_row == 0)),
        n_absent_labels=int(np.count_nonzero(per_label == 0)),
        mean_imbalance=mean,
        max_imbalance=float(ratios.max()),
        imbalance_variation=spread / mean,
        feature_share=filled / max(1, n * dataset.n_features),
    )
