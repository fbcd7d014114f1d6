"""Changes of the rows of a fold that a spec may ask for, whatever the method.

The paper's scores need it: some of its sets are not the ones that it names
(docs/results/paper.md, "As printed").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from compactlearn.utils import nearest

__all__ = ["drawn", "kept_labels", "scaled", "with_empty_rows"]

#: What a row without labels is worth where it counts, as in Mulan: nothing can be ranked wrongly,
#: and the label that is ranked first is wrong. Average precision leaves such rows out there, too.
WORTH: Mapping[str, float] = {"ranking_loss": 0.0, "one_error": 1.0}


def drawn(train: NDArray[np.intp], count: int | None, seed: int) -> NDArray[np.intp]:
    """At most ``count`` of the training rows, in their order; the same for every method.

    >>> drawn(np.arange(6), 3, seed=0).size, drawn(np.arange(6), None, seed=0).size
    (3, 6)
    """
    if count is None or count >= train.size:
        return train
    chosen = np.random.RandomState(seed).permutation(train.size)[:count]
    return train[np.sort(chosen)]


def kept_labels(
    names: Sequence[str] | None, left_out: Sequence[str] | None, dataset: str
) -> NDArray[np.intp] | None:
    """The columns of the labels that are not left out; None where all are kept.

    >>> kept_labels(("jazz", "blues", "folk"), ["blues"], "songs")
    array([0, 2])
    """
    if left_out is None:
        return None
    known = list(names or ())
    for name in left_out:
        if name not in known:
            raise ValueError(
                f"left_out_labels must name labels of {dataset}, and {name!r} is none of its "
                f"{len(known)}; correct the name.{nearest(name, known)}"
            )
    return np.array([k for k, name in enumerate(known) if name not in left_out], dtype=np.intp)


def with_empty_rows(values: Any, metrics: Sequence[str], share: float) -> NDArray[np.float64]:
    """Means over the rows that have labels, as means over all rows; ``share`` have none.

    >>> with_empty_rows([[0.5, 0.2, 0.6]], ["average_precision", "ranking_loss", "one_error"], 0.5)
    array([[0.5, 0.1, 0.8]])
    """
    found = np.array(values, dtype=np.float64)
    for k, metric in enumerate(metrics):
        if metric in WORTH:
            found[:, k] = (1.0 - share) * found[:, k] + share * WORTH[metric]
    return found


def scaled(X_train: Any, X_test: Any, scaling: str | None) -> tuple[Any, Any]:
    """Both with the columns as ``scaling`` says: "standard" has mean 0 and deviation 1 in training.

    Sparse columns keep their zeros, and so their means. Inner folds see columns that were scaled by
    all training rows; the labels have no part in it.
    """
    if scaling != "standard":
        return X_train, X_test
    scaler = StandardScaler(with_mean=not sparse.issparse(X_train)).fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)
