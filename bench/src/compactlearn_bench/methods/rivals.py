"""What others would use, tuned as they would tune it, and the estimator that chooses by itself.

Each takes its labels by its own rule: 0.5 for probabilities, 0 for margins. What a rival needs
beside scikit-learn comes with the extra "rivals"; where it is absent the record says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.svm import LinearSVC

from compactlearn import AutoCompactClassifier
from compactlearn.metrics import predicted_probabilities
from compactlearn.utils import require
from compactlearn_bench.methods.controls import one_vs_rest
from compactlearn_bench.methods.entry import Entry
from compactlearn_bench.methods.judging import n_parameters
from compactlearn_bench.methods.single_fits import SingleFits
from compactlearn_bench.methods.table import MethodRow

__all__ = ["ChainEnsemble", "DenseLabels", "SparseLabels"]

Array = NDArray[np.float64]
Settings = Mapping[str, Any]

_ODD = 1_000_003  # apart by so much, the seeds of chains meet those of no other cell


# ---- one linear model for each label -------------------------------------------------------------


def linear_svm(row: MethodRow) -> Entry:
    """One linear support vector machine for each label."""
    return SingleFits(
        row.name,
        lambda settings, configuration, seed: OneVsRestClassifier(
            LinearSVC(C=configuration["C"], random_state=seed)
        ),
        _weights,
        row.axes,
        row.options,
        row.defaults,
        scores=_margins,
    )


def _margins(model: OneVsRestClassifier, X: Any) -> Array:
    """Those of labels that training rows never had below all others, of those all had above.

    scikit-learn has 0 and 1 for them, which among margins would be the scores of likely labels.
    """
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    low, high = scores.min(initial=0.0) - 1.0, scores.max(initial=0.0) + 1.0
    for label, one in enumerate(model.estimators_):
        if not hasattr(one, "coef_"):
            scores[:, label] = high if one.predict(X[:1])[0] else low
    return scores


def _weights(model: OneVsRestClassifier) -> int:
    """Weights and intercepts; one number for a label whose training rows are all alike."""
    return sum(e.coef_.size + 1 if hasattr(e, "coef_") else 1 for e in model.estimators_)


# ---- chains --------------------------------------------------------------------------------------


class ChainEnsemble(ClassifierMixin, BaseEstimator):
    """Chains of logistic regressions in random orders, and the mean of their probabilities.

    scikit-learn's ``ClassifierChain`` refuses a label that all training rows have, or none; such
    labels are left out of the chains, and have their constant as probability.

    Parameters
    ----------
    C : float
        The penalty is ||w||^2 / (2 C), for every label.
    n_chains : int
        How many.
    random_state : int
        Draws the orders.
    """

    def __init__(self, C: float = 1.0, n_chains: int = 5, random_state: int = 0) -> None:
        self.C = C
        self.n_chains = n_chains
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> ChainEnsemble:
        """Fit every chain to the labels that vary.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
        """
        Y = _dense(Y)
        means = Y.mean(axis=0)
        self.constant_ = means
        self.varies_ = np.flatnonzero((means > 0) & (means < 1))
        self.chains_ = []
        for k in range(self.n_chains if self.varies_.size else 0):
            base = LogisticRegression(solver="liblinear", C=self.C)
            seed = (self.random_state + k * _ODD) % 2**32
            chain = ClassifierChain(base, order="random", random_state=seed)
            self.chains_.append(chain.fit(_csr_matrix(X), Y[:, self.varies_]))
        return self

    def predict_proba(self, X: Any) -> Array:
        """The mean probability of each label over the chains.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        chances = np.tile(self.constant_, (X.shape[0], 1))
        if self.chains_:
            X = _csr_matrix(X)
            chances[:, self.varies_] = np.mean([c.predict_proba(X) for c in self.chains_], axis=0)
        return chances

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The labels whose mean probability is above one half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return (self.predict_proba(X) > 0.5).astype(np.int64)

    @property
    def n_parameters_(self) -> int:
        """Weights, intercepts and constants."""
        logistic = (one for chain in self.chains_ for one in chain.estimators_)
        return sum(one.coef_.size + 1 for one in logistic) + len(self.constant_) - len(self.varies_)


def chains(row: MethodRow) -> Entry:
    """Chains, with the penalty that inner folds choose for one-vs-rest: tuning chains is dear."""
    return SingleFits(
        row.name,
        lambda settings, configuration, seed: ChainEnsemble(
            configuration["C"], settings["chains"], seed
        ),
        n_parameters,
        row.axes,
        row.options,
        row.defaults,
        plain=lambda settings, configuration, seed: one_vs_rest(configuration["C"]),
        scores=lambda model, X: model.predict_proba(X),
        probable=True,
    )


# ---- trees ---------------------------------------------------------------------------------------


class DenseLabels(ClassifierMixin, BaseEstimator):
    """A classifier that wants its labels dense, with one matrix of probabilities.

    Parameters
    ----------
    classifier : classifier of several labels
        Fitted itself, not a copy.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, Y: Any) -> DenseLabels:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
        """
        self.classifier.fit(X, _dense(Y))
        return self

    def predict(self, X: Any) -> Any:
        """Labels by the classifier's own rule.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return self.classifier.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """One probability for each row and label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return np.asarray(predicted_probabilities(self.classifier, X))


def random_forest(row: MethodRow) -> Entry:
    """One forest for all labels."""
    return _forest(row, RandomForestClassifier)


def extra_trees(row: MethodRow) -> Entry:
    """The same, with splits that are drawn."""
    return _forest(row, ExtraTreesClassifier)


def _forest(row: MethodRow, kind: Any) -> Entry:
    return _probable(
        row,
        lambda settings, configuration, seed: DenseLabels(
            kind(settings["trees"], n_jobs=1, random_state=seed)
        ),
        _numbers_of_forest,
    )


def _numbers_of_forest(model: DenseLabels) -> int:
    trees = [one.tree_ for one in model.classifier.estimators_]
    return sum(_numbers_of_tree(tree.n_leaves, tree.n_outputs) for tree in trees)


def _numbers_of_tree(n_leaves: int, n_outputs: int) -> int:
    """Feature, threshold and two children of every split, one number of every leaf and output."""
    return 4 * (n_leaves - 1) + n_leaves * n_outputs


def lightgbm(row: MethodRow) -> Entry:
    """Boosted trees, one model for each label, with LightGBM's defaults."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        package = require(
            "lightgbm", extra="rivals", purpose="gradient boosting", package="compactlearn-bench"
        )
        one = package.LGBMClassifier(n_jobs=1, random_state=seed, verbosity=-1)
        return OneVsRestClassifier(one)

    return _probable(row, make, _numbers_of_boosted)


def _numbers_of_boosted(model: OneVsRestClassifier) -> int:
    """By the text that LightGBM keeps of a model; one number for a label that does not vary."""
    boosted = [one for one in model.estimators_ if hasattr(one, "booster_")]
    texts = [one.booster_.model_to_string() for one in boosted]
    leaves = [
        int(count) for text in texts for count in re.findall(r"^num_leaves=(\d+)", text, re.M)
    ]
    constants = len(model.estimators_) - len(boosted)
    return constants + sum(_numbers_of_tree(n_leaves, 1) for n_leaves in leaves)


# ---- neighbours ----------------------------------------------------------------------------------


class SparseLabels(DenseLabels):
    """A classifier that wants sparse matrices, of the older kind, for rows and labels.

    Parameters
    ----------
    classifier : classifier of several labels
        Fitted itself, not a copy.
    """

    def fit(self, X: Any, Y: Any) -> SparseLabels:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
        """
        self.classifier.fit(scipy.sparse.lil_matrix(X), scipy.sparse.lil_matrix(Y))
        return self

    def predict(self, X: Any) -> Any:
        """Labels by the classifier's own rule.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return self.classifier.predict(scipy.sparse.lil_matrix(X)).toarray()

    def predict_proba(self, X: Any) -> Array:
        """One probability for each row and label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        return self.classifier.predict_proba(scipy.sparse.lil_matrix(X)).toarray()


def ml_knn(row: MethodRow) -> Entry:
    """ML-kNN of scikit-multilearn-ng, its number of neighbours chosen by inner folds."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        package = require(
            "skmultilearn.adapt", extra="rivals", purpose="ML-kNN", package="compactlearn-bench"
        )
        return SparseLabels(package.MLkNN(k=configuration["k"]))

    return _probable(row, make)


def _probable(row: MethodRow, make: Any, numbers: Any = n_parameters) -> Entry:
    """A classifier that is judged by its probabilities, in one matrix."""
    return SingleFits(
        row.name,
        make,
        numbers,
        row.axes,
        row.options,
        row.defaults,
        scores=lambda model, X: model.predict_proba(X),
        probable=True,
    )


# ---- the estimator that chooses by itself --------------------------------------------------------


def auto(row: MethodRow) -> Entry:
    """``AutoCompactClassifier``, with nothing to be chosen from outside."""
    return SingleFits(
        row.name, _auto, n_parameters, row.axes, row.options, row.defaults, told=_told
    )


def _auto(settings: Settings, configuration: Settings, seed: int) -> Any:
    given = {name: settings[name] for name in ("size_budget", "time_budget") if name in settings}
    return AutoCompactClassifier(random_state=seed, **given)


def _told(model: Any) -> dict[str, Any]:
    """What it has chosen, as it prints."""
    chosen = getattr(model, "best_estimator_", None)
    return {} if chosen is None else {"chosen": " ".join(repr(chosen).split())}


# ---- forms of rows and labels --------------------------------------------------------------------


def _dense(Y: Any) -> NDArray[np.int64]:
    Y = Y.toarray() if scipy.sparse.issparse(Y) else np.asarray(Y)
    return Y.astype(np.int64)


def _csr_matrix(X: Any) -> Any:
    """Sparse rows as the older kind of matrix, which a chain puts its labels beside."""
    return scipy.sparse.csr_matrix(X) if scipy.sparse.issparse(X) else X
