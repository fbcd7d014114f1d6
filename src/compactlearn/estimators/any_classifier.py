"""What can be asked of any fitted classifier: ours, scikit-learn's, or a pipeline that ends in one.

A scikit-learn ``Pipeline`` passes on the methods that scikit-learn knows and no others, so that the
methods of the classifier at its end are out of reach. The functions here go there themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from compactlearn.core.params import Integer
from compactlearn.core.validation import check_partial_targets, n_rows_of
from compactlearn.decoding.topk import as_stored, top_labels
from compactlearn.metrics import evaluation
from compactlearn.metrics.checks import Convention
from compactlearn.metrics.scoring import predicted_scores

Array = NDArray[np.float64]


def evaluate(
    model: Any,
    X: Any,
    Y: Any,
    *,
    convention: Convention = "zhang",
    mask: Any = None,
    k: Iterable[int] = (1, 3, 5),
    train_labels: Any = None,
) -> dict[str, float]:
    """Every metric of the table, for what a fitted classifier says of X.

    Rankings are judged by its scores (``decision_function``, or ``predict_proba`` where it has no
    such method), label sets by its decisions (``predict``): whatever the units of the scores and
    wherever the threshold, the figures are those of the model.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.evaluate(X, Y)``.
    X : as in ``fit``
    Y : as in ``fit``; a label matrix may have NaN where a label is not known
        A vector of classes is read as one label for each class, of which every row has one: then
        "one_error" is the share of wrong answers, "subset_accuracy" and "micro_f1" that of right
        ones, and "average_precision" the mean of 1 / rank of the right class.
    convention, mask, k, train_labels
        As in `compactlearn.metrics.evaluate`.

    Returns
    -------
    dict
        The names and values of `compactlearn.metrics.evaluate`.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from compactlearn import CMLLClassifier, evaluate
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = make_pipeline(StandardScaler(), CMLLClassifier(decoder="logistic", threshold="f1"))
    >>> found = evaluate(model.fit(data.X[:400], data.Y[:400]), data.X[400:], data.Y[400:])
    >>> found["micro_f1"] > 0.6
    True
    """
    model, X = _at_the_end(model, X, "evaluate")
    labels = model.predict(X)
    scores = scores_to_rank(model, X)
    if np.ndim(labels) == 1 and not scipy.sparse.issparse(labels):
        classes = np.asarray(model.classes_)
        labels, Y = _indicators(labels, classes, "predict"), _indicators(Y, classes, "Y")
        if np.ndim(train_labels) == 1:
            train_labels = _indicators(train_labels, classes, "train_labels")
        if scores.ndim == 1:  # of the second of two classes, with 0 as the boundary
            scores = np.column_stack([-scores, scores])
    else:
        Y, mask = _truth(model, Y, mask, n_rows_of(X), labels.shape[1]), None
    return evaluation.evaluate(
        Y,
        scores,
        labels=labels,
        convention=convention,
        mask=mask,
        k=k,
        train_labels=train_labels,
    )


def predict_topk(model: Any, X: Any, k: int, *, sparse: bool = False) -> Any:
    """Return the k best labels of each row and their scores, best first, of any classifier.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.predict_topk(X, k)``.
    X : as in ``fit``
    k : int
    sparse : bool, default=False
        Whether to return one CSR matrix of shape (n_samples, n_labels) with the k scores of each
        row stored, instead of the pair (indices, scores), both of shape (n_samples, k).

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from compactlearn import CMLLClassifier, predict_topk
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = make_pipeline(StandardScaler(), CMLLClassifier()).fit(data.X, data.Y)
    >>> labels, scores = predict_topk(model, data.X[:4], k=3)
    >>> labels.shape, scores.shape
    ((4, 3), (4, 3))
    """
    model, X = _at_the_end(model, X, "predict_topk")
    own = getattr(model, "predict_topk", None)
    return _best(scores_to_rank(model, X), k, sparse) if own is None else own(X, k, sparse=sparse)


class Evaluated:
    """Gives a classifier :func:`evaluate` as a method."""

    def evaluate(
        self,
        X: Any,
        Y: Any,
        *,
        convention: Convention = "zhang",
        mask: Any = None,
        k: Iterable[int] = (1, 3, 5),
        train_labels: Any = None,
    ) -> dict[str, float]:
        """Return every metric: rankings from the scores, label metrics from the decisions.

        Parameters
        ----------
        X, Y : as in ``fit``
            Y may have NaN where a label is not known. A vector of classes is read as one label for
            each class.
        convention, mask, k, train_labels
            As in :func:`compactlearn.metrics.evaluate`, whose names and values are returned.
        """
        return evaluate(
            self, X, Y, convention=convention, mask=mask, k=k, train_labels=train_labels
        )


class RanksScores:
    """``predict_topk`` of a classifier that has all the scores at once."""

    def predict_topk(self, X: Any, k: int, *, sparse: bool = False) -> Any:
        """Return the k best labels of each row and their scores; see ``CompactClassifier``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        k : int
            How many labels, from 1 to all of them.
        sparse : bool, default=False
            Whether to return one CSR matrix of shape (n_samples, n_labels).
        """
        return _best(scores_to_rank(self, X), k, sparse)


def _at_the_end(model: Any, X: Any, asked: str) -> tuple[Any, Any]:
    """The classifier that decides, and X as it will see it."""
    while not isinstance(model, Evaluated):
        if isinstance(model, Pipeline):
            X = model[:-1].transform(X) if len(model) > 1 else X
            model = model[-1]
        elif hasattr(model, "best_estimator_"):  # scikit-learn's searches
            model = model.best_estimator_
        else:
            break
    if not callable(getattr(model, "predict", None)):
        hint = ""
        if asked == "evaluate":
            hint = " (for scores there is compactlearn.metrics.evaluate(Y, scores))"
        raise TypeError(
            f"compactlearn.{asked} needs a fitted classifier or a Pipeline that ends in one as its "
            f"first argument, and was given {type(model).__name__}; pass the model{hint}."
        )
    return model, X


def scores_to_rank(model: Any, X: Any) -> Array:
    """The scores that a classifier's decisions are made from."""
    own = getattr(model, "_scores_to_rank", None)
    scores = predicted_scores(model, X) if own is None else own(X)
    return np.asarray(scores.toarray() if scipy.sparse.issparse(scores) else scores)


def _best(scores: Array, k: int, sparse: bool) -> Any:
    if scores.ndim != 2:
        raise ValueError(
            "predict_topk ranks labels, and two classes have a single score; use predict or "
            "decision_function."
        )
    if not Integer(1, scores.shape[1]).accepts(k):
        raise ValueError(
            f"predict_topk needs k between 1 and the number of labels ({scores.shape[1]}), and "
            f"was given {k!r}; pass such an integer."
        )
    indices, best = top_labels(scores, k)
    return as_stored(indices, best, scores.shape[1]) if sparse else (indices, best)


def _truth(model: Any, Y: Any, mask: Any, n_rows: int, n_labels: int) -> Any:
    """A label matrix in sparse form, NaN where a label is not known."""
    shape = () if Y is None else np.shape(Y)
    if len(shape) == 1:
        raise ValueError(
            f"evaluate needs the labels in the form that fit had them, a 0/1 matrix with "
            f"{n_labels} columns, and was given a vector of {shape[0]}; pass such a matrix."
        )
    if shape[1:] == (1,) and not scipy.sparse.issparse(Y):
        Y = scipy.sparse.csr_array(np.asarray(Y, dtype=np.float64))  # a label, not classes
    targets, unknown = check_partial_targets(Y, n_rows, mask=mask, owner="evaluate")
    if targets.n_labels != n_labels:
        raise ValueError(
            f"evaluate needs one column for each of the {n_labels} labels of fit, and Y has "
            f"{targets.n_labels}; pass the same columns as in fit, in the same order."
        )
    known = getattr(model, "label_names_", None)
    if known is not None and targets.names is not None and list(known) != targets.names:
        raise ValueError(
            f"evaluate needs the columns that fit had, {known!r:.200}, and Y has "
            f"{targets.names!r:.200}; pass the same columns in the same order, for example "
            "Y[model.label_names_]."
        )
    return targets.matrix if unknown is None else targets.matrix + unknown * np.nan


def _indicators(y: Any, classes: NDArray[Any], name: str) -> Any:
    """A vector of classes as a 0/1 matrix with a column for each."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(
            f"evaluate needs the labels in the form that fit had them, a vector with one class for "
            f"each row, and {name} has the shape {y.shape}; pass such a vector."
        )
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    strange = classes[places] != y
    if strange.any():
        raise ValueError(
            f"evaluate can judge the classes that fit had, {classes.tolist()!r:.200}, and {name} "
            f"holds {y[strange].tolist()[0]!r}; leave out the rows of other classes."
        )
    n = len(y)
    return scipy.sparse.csr_array(
        (np.ones(n, dtype=np.int64), places, np.arange(n + 1)), shape=(n, len(classes))
    )
