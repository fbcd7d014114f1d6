"""Metrics, best labels and their names of any fitted classifier: ours, scikit-learn's, a pipeline.

A scikit-learn ``Pipeline`` passes on the methods that scikit-learn knows and no others, so that the
methods of the classifier at its end are out of reach. The functions here go there themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from compactlearn.core._chunked import is_dask
from compactlearn.core._devices import host, on_host
from compactlearn.core._lazy import load
from compactlearn.core._left_out import drop_left_out
from compactlearn.core._params import Integer
from compactlearn.core._targets import check_labels
from compactlearn.core._validation import n_rows_of
from compactlearn.core._weight import bytes_in, n_parameters_in
from compactlearn.decoding._picked import Pairs, Picked
from compactlearn.decoding._topk import as_stored, top_labels

Array = NDArray[np.float64]


# Neither metrics nor Dask is needed to fit and to predict, and both take their time to be imported.
def _metrics(module: str) -> Any:
    return load(f"compactlearn.metrics.{module}")


def _on_dask(module: str) -> Any:
    return load(f"compactlearn.scale.dask.{module}")


# ---- metrics ------------------------------------------------------------------------------------


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    k: Iterable[int] = (1, 3, 5),
    train_labels: Any = None,
    sep: str | None = None,
) -> dict[str, float]:
    """Return every metric of a fitted classifier's predictions.

    Rankings are judged by its scores (``decision_function``, or ``predict_proba`` where it has no
    such method), label sets by its decisions (``predict``). Where it has ``predict_proba``, the
    probabilities of the labels that it suggests are compared with their precision.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.evaluate(X, y)``.
    X : as in ``fit``
    y : as in ``fit``; a label matrix may have NaN where a label is not known
        Lists of names are matched with the names of ``fit``. Labels that ``min_label_count`` or
        ``exclude`` left out are not counted; their columns may be in a matrix or not. A vector of
        classes is read as one label for each class, of which every row has one.
    k, train_labels
        As in `compactlearn.metrics.evaluate`.
    sep : str or None, default=None
        The sign between names where y is a column of joined names, as in ``fit``.

    Returns
    -------
    dict
        The names and values of `compactlearn.metrics.evaluate`; of the metrics of probabilities
        those of suggested labels.

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
    if is_dask(X):
        return _evaluate_blocks(model, X, y, k, train_labels, sep)
    truth, *predicted = _answers(model, X, y, sep)
    truth = _metrics("_truth").read_truth(truth)
    train_labels = _training_labels(model, host(train_labels), sep)
    evaluation = _metrics("_evaluation")
    asked = evaluation.Asked.of(k, train_labels, truth.shape[1])
    return evaluation.values(asked, evaluation.tally(asked, truth, *predicted))


def _evaluate_blocks(
    model: Any, X: Any, Y: Any, k: Any, train_labels: Any, sep: Any
) -> dict[str, float]:
    """Judge the blocks of a Dask collection where they are."""
    one_row = _on_dask("_chunks").one_row_of_zeros
    X = _on_dask("_chunks").check_features_unread(X)
    train_labels = _training_labels(model, train_labels, sep)
    n_labels = len(names_of(model))
    if not is_dask(Y):
        Y, sep = drop_left_out(model, Y, sep=sep, owner="evaluate"), None
    elif getattr(Y, "ndim", 0) == 2 and np.ndim(model.predict(one_row(X))) == 2:
        # Its columns are refused here, if they are not those of fit, and not by every block.
        _truth(model, one_row(Y), 1, n_labels, sep=sep)
    asked = _metrics("_evaluation").Asked.of(k, train_labels, n_labels)
    answers = partial(_answers, sep=sep)
    return _on_dask("_evaluating").evaluate_on_dask(model, X, Y, asked, answers)


def _answers(model: Any, X: Any, Y: Any, sep: str | None) -> tuple[Any, Array, Any, Any]:
    """Return truth, scores, predicted labels and probabilities, all on the host."""
    labels, Y = map(host, (model.predict(X), Y))
    scores, probabilities = scores_to_rank(model, X), None
    if hasattr(model, "predict_proba"):
        probabilities = host(_metrics("_scoring").predicted_probabilities(model, X))
    if np.ndim(labels) != 1 or scipy.sparse.issparse(labels):
        truth = _truth(model, Y, n_rows_of(X), labels.shape[1], sep=sep)
        return truth, scores, labels, probabilities
    if sep is not None:
        raise ValueError(
            f"sep={sep!r} splits joined names, and the labels of fit were a vector of classes; "
            "leave sep out."
        )
    classes = np.asarray(model.classes_)
    labels, truth = _indicators(labels, classes, "predict"), _indicators(Y, classes, "Y")
    return truth, _of_both_classes(scores), labels, probabilities


def _of_both_classes(scores: Array) -> Array:
    """Return a column for each class where scores are those of the second of two, around 0."""
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def _training_labels(model: Any, train_labels: Any, sep: str | None) -> Any:
    """Return the labels of the training rows as a matrix, where they are one or can be made one."""
    if train_labels is None:
        return None
    space = getattr(model, "label_space_", None)
    classes = space is None or space.kind != "multilabel"
    if classes and sep is None and not isinstance(model.classes_, list) and _is_flat(train_labels):
        return _indicators(train_labels, np.asarray(model.classes_), "train_labels")
    return drop_left_out(model, train_labels, sep=sep, owner="evaluate")


def _is_flat(labels: Any) -> bool:
    """Return whether there is one class for each row; lists of different lengths are names."""
    try:
        return np.ndim(labels) == 1
    except ValueError:
        return False


def _truth(model: Any, Y: Any, n_rows: int, n_labels: int, *, sep: str | None) -> Any:
    """Return a label matrix in sparse form, NaN where a label is not known."""
    Y = drop_left_out(model, Y, sep=sep, owner="evaluate")
    shape = () if Y is None else np.shape(Y)
    if len(shape) == 1:
        raise ValueError(
            f"evaluate needs the labels in the form that fit had them, a 0/1 matrix with "
            f"{n_labels} columns, and was given a vector of {shape[0]}; pass such a matrix."
        )
    if shape[1:] == (1,) and not scipy.sparse.issparse(Y):
        Y = scipy.sparse.csr_array(np.asarray(Y, dtype=np.float64))  # a label, not classes
    targets = check_labels(Y, n_rows, owner="evaluate")
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
    return targets.truth


def _indicators(y: Any, classes: NDArray[Any], name: str) -> Any:
    """Return a vector of classes as a 0/1 matrix with a column for each."""
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


# ---- best labels --------------------------------------------------------------------------------


def predict_topk(model: Any, X: Any, k: int, *, sparse: bool = False, names: bool = False) -> Any:
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
    names : bool, default=False
        Whether to return names of labels in place of their indices.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier, predict_topk
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = CMLLClassifier().fit(data.X, data.Y)
    >>> labels, scores = predict_topk(model, data.X[:4], k=3)
    >>> labels.shape, scores.shape
    ((4, 3), (4, 3))
    """
    model, X = _at_the_end(model, X, "predict_topk")
    if hasattr(model, "predict_topk"):
        return model.predict_topk(X, k, sparse=sparse, names=names)
    return named_topk(model, _best(scores_to_rank(model, X), k), sparse=sparse, names=names)


def predict_labels(model: Any, X: Any, k: int | None = None) -> Pairs:
    """Return for each row a list of pairs of a label's name and its score, of any classifier.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.predict_labels(X)``.
    X : as in ``fit``
    k : int or None, default=None
        None returns the labels that ``predict`` gives, a number the k best; both best first.

    Returns
    -------
    list of lists of (str, float)
        Names are those that ``fit`` had, or the numbers of the columns; for a vector y the classes,
        as strings. Scores are probabilities where the model has them, and otherwise those of
        ``decision_function``.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from compactlearn import CMLLClassifier, predict_labels
    >>> texts = ["boil the pasta", "bake the bread", "rain and wind", "rain, no wind"]
    >>> tags = [["food", "pasta"], ["food", "bread"], ["weather"], ["weather"]]
    >>> model = make_pipeline(TfidfVectorizer(), CMLLClassifier(threshold=0.5)).fit(texts, tags)
    >>> [name for name, score in predict_labels(model, ["fresh bread"], k=2)[0]]
    ['food', 'bread']
    """
    model, X = _at_the_end(model, X, "predict_labels")
    if hasattr(model, "predict_labels"):
        return model.predict_labels(X, k)
    return named_labels(model, X, k)


class Evaluated(ABC):
    """Gives a classifier ``evaluate``, ``score`` and ``nbytes_``."""

    @property
    @abstractmethod
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict."""

    @property
    def nbytes_(self) -> int:
        """Bytes of all arrays that the model is saved with, each counted once."""
        check_is_fitted(cast(Any, self))
        return bytes_in(on_host(self))

    def evaluate(
        self,
        X: Any,
        y: Any,
        *,
        k: Iterable[int] = (1, 3, 5),
        train_labels: Any = None,
        sep: str | None = None,
    ) -> dict[str, float]:
        """Return every metric: rankings from the scores, label metrics from the decisions.

        Parameters
        ----------
        X, y, sep : as in ``fit``
            A matrix may have NaN where a label is not known.
        k, train_labels
            As in :func:`compactlearn.metrics.evaluate`, whose names and values are returned.
        """
        return evaluate(self, X, y, k=k, train_labels=train_labels, sep=sep)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sep: str | None = None) -> float:
        """Return the share of rows whose labels are all right, as scikit-learn's classifiers do.

        Parameters
        ----------
        X, y, sep : as in ``fit``
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        """
        check_is_fitted(cast(Any, self))
        if is_dask(X) and sample_weight is None:  # the same value, and nothing is gathered
            return self.evaluate(X, y, sep=sep)["subset_accuracy"]
        truth = drop_left_out(self, y, sep=sep, owner="score")
        return float(ClassifierMixin.score(cast(Any, self), X, truth, sample_weight))


class RanksScores(Evaluated):
    """Gives a classifier ``predict_topk`` and ``predict_labels``, from all scores at once."""

    def predict_topk(self, X: Any, k: int, *, sparse: bool = False, names: bool = False) -> Any:
        """Return the k best labels of each row and their scores, best first.

        Parameters
        ----------
        X : as in ``fit``
        k : int
            How many labels, from 1 to all of them.
        sparse : bool, default=False
            Whether to return one CSR matrix of shape (n_samples, n_labels) with the k scores of
            each row stored, instead of the pair (indices, scores), both of shape (n_samples, k).
        names : bool, default=False
            Whether to return names of labels in place of their indices; see ``predict_labels``.
        """
        found = _best(scores_to_rank(self, X), k)
        return named_topk(self, found, sparse=sparse, names=names)

    def predict_labels(self, X: Any, k: int | None = None) -> Pairs:
        """Return for each row a list of pairs of a label's name and its score, best first.

        Parameters
        ----------
        X : as in ``fit``
        k : int or None, default=None
            None returns the labels that ``predict`` gives, a number the k best.

        Returns
        -------
        list of lists of (str, float)
            Names are those of ``label_names_``, or the numbers of the columns where ``fit`` had no
            names; for a vector y the classes, as strings. Scores are probabilities where the model
            has them, and otherwise those of ``decision_function``.
        """
        return named_labels(self, X, k)


# ---- parts --------------------------------------------------------------------------------------


def _at_the_end(model: Any, X: Any, asked: str) -> tuple[Any, Any]:
    """Return the classifier that decides, and X as it will see it."""
    while not isinstance(model, Evaluated):
        if isinstance(model, Pipeline):
            X = model[:-1].transform(X) if len(model) > 1 else X
            model = model[-1]
        elif hasattr(model, "best_estimator_"):  # scikit-learn's searches
            model = model.best_estimator_
        else:
            break
    if not callable(getattr(model, "predict", None)):
        raise TypeError(
            f"compactlearn.{asked} needs a fitted classifier or a Pipeline that ends in one as its "
            f"first argument, and was given {type(model).__name__}; pass the model. (For scores "
            "there is compactlearn.metrics.evaluate.)"
        )
    return model, X


def scores_to_rank(model: Any, X: Any) -> Array:
    """Return the scores that a classifier's decisions are made from."""
    own = getattr(model, "_scores_to_rank", None)
    scores = _metrics("_scoring").predicted_scores(model, X) if own is None else own(X)
    return np.asarray(scores.toarray() if scipy.sparse.issparse(scores) else host(scores))


def _best(scores: Array, k: int) -> tuple[NDArray[np.intp], Array]:
    if scores.ndim != 2:
        raise ValueError(
            "predict_topk ranks labels, and two classes have a single score; use predict or "
            "decision_function."
        )
    check_k(k, scores.shape[1], "predict_topk")
    return top_labels(scores, k)


def names_of(model: Any) -> list[str]:
    """Return the names of a fitted classifier's labels: those of ``fit``, or numbers."""
    names = getattr(model, "label_names_", None)
    if names is not None:
        return names
    classes = model.classes_
    if isinstance(classes, list):  # scikit-learn: the classes of every label by itself
        classes = range(len(classes))
    return [str(name) for name in classes]


def check_k(k: Any, n_labels: int, asked: str) -> None:
    """Raise ValueError for a number of labels that there are not."""
    if not Integer(1, n_labels).accepts(k):
        raise ValueError(
            f"{asked} needs k between 1 and the number of labels ({n_labels}), and was given "
            f"{k!r}; pass such an integer."
        )


def named_topk(
    model: Any, found: tuple[NDArray[np.intp], Array], *, sparse: bool, names: bool
) -> Any:
    """Return the best labels in the form that was asked for."""
    if not sparse and not names:
        return found
    indices, best = map(host, found)
    if sparse and names:
        raise ValueError(
            "predict_topk returns names or a sparse matrix, whose columns are the labels, and was "
            "asked for both; leave one of sparse and names out."
        )
    if sparse:
        return as_stored(indices, best, getattr(model, "n_labels_", None) or len(names_of(model)))
    return np.array(names_of(model), dtype=object)[indices], best


def named_classes(model: Any, X: Any, k: int | None) -> Pairs:
    """Return names and scores of the class that is predicted, or of the k best, for a vector y."""
    if hasattr(model, "predict_proba"):
        table = np.asarray(model.predict_proba(X))
    else:
        table = _of_both_classes(np.asarray(model.decision_function(X)))
    if k is None:
        places = np.searchsorted(model.classes_, model.predict(X))[:, None]
        picked = Picked.best(places, np.take_along_axis(table, places, axis=1))
    else:
        check_k(k, table.shape[1], "predict_labels")
        picked = Picked.best(*top_labels(table, k))
    return picked.named(names_of(model))


def named_labels(model: Any, X: Any, k: int | None) -> Pairs:
    """Return names and scores of the labels that a classifier predicts, or of the k best."""
    decided = model.predict(X)
    if np.ndim(decided) == 1 and not scipy.sparse.issparse(decided):
        return named_classes(model, X, k)
    ranked = scores_to_rank(model, X)
    if k is None:
        rows, labels = decided.nonzero()
        picked = Picked.ordered(rows, labels, ranked[rows, labels], ranked.shape[0])
    else:
        check_k(k, ranked.shape[1], "predict_labels")
        picked = Picked.best(*top_labels(ranked, k))
    shown = None
    if hasattr(model, "predict_proba"):
        probabilities = _metrics("_scoring").predicted_probabilities(model, X)
        rows = np.repeat(np.arange(ranked.shape[0]), np.diff(picked.starts))
        shown = np.asarray(probabilities[rows, picked.labels], dtype=np.float64)
    return picked.named(names_of(model), shown)


def n_parameters_of(classifier: Any) -> int:
    """Return ``n_parameters_`` of a fitted classifier, or all numbers that its arrays hold."""
    own = getattr(classifier, "n_parameters_", None)
    return n_parameters_in(classifier) if own is None else int(own)
