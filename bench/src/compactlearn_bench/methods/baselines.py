"""Baselines that others would use, tuned as they would tune them, and the automatic search.

Each decides by its own rule: 0.5 for probabilities, 0 for margins. What a baseline needs
in addition to scikit-learn comes with the extra "baselines"; the record reports what is absent.
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
from compactlearn_bench.methods.single_fits import Reading, SingleFits
from compactlearn_bench.methods.table import MethodRow

__all__ = ["ChainEnsemble", "DenseLabels", "SparseLabels"]

Array = NDArray[np.float64]
Settings = Mapping[str, Any]

_ODD = 1_000_003  # apart by so much, the seeds of chains meet those of no other cell


def _probable(numbers: Any = n_parameters) -> Reading:
    """Return the reading of a classifier that is judged by its matrix of probabilities."""
    return Reading(numbers=numbers, scores=lambda model, X: model.predict_proba(X), probable=True)


# ---- one linear model for each label -------------------------------------------------------------


def linear_svm(row: MethodRow) -> Entry:
    """Return one linear support vector machine for each label."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        return OneVsRestClassifier(LinearSVC(C=configuration["C"], random_state=seed))

    return SingleFits(row, make, Reading(numbers=_weights, scores=_margins))


def _margins(model: OneVsRestClassifier, X: Any) -> Array:
    """Put labels that training rows never had below all others, and those that all had above.

    scikit-learn has 0 and 1 for them, which among margins would be the scores of likely labels.
    """
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    low, high = scores.min(initial=0.0) - 1.0, scores.max(initial=0.0) + 1.0
    for label, one in enumerate(model.estimators_):
        if not hasattr(one, "coef_"):
            scores[:, label] = high if one.predict(X[:1])[0] else low
    return scores


def _weights(model: OneVsRestClassifier) -> int:
    """Count weights and intercepts; one number for a label whose training rows are all alike."""
    return sum(e.coef_.size + 1 if hasattr(e, "coef_") else 1 for e in model.estimators_)


# ---- chains --------------------------------------------------------------------------------------


class ChainEnsemble(ClassifierMixin, BaseEstimator):
    """Chains of logistic regressions in random orders, and the mean of their probabilities.

    The penalty is ||w||^2 / (2 C) for every label. scikit-learn's ``ClassifierChain`` refuses a
    label that all training rows have, or none; such labels are left out of the chains, and have
    their constant as probability.
    """

    def __init__(self, C: float = 1.0, n_chains: int = 5, random_state: int = 0) -> None:
        self.C = C
        self.n_chains = n_chains
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> ChainEnsemble:
        """Fit every chain to the labels that vary."""
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
        """Return the mean probability of each label over the chains."""
        probabilities = np.tile(self.constant_, (X.shape[0], 1))
        if self.chains_:
            X = _csr_matrix(X)
            parts = [chain.predict_proba(X) for chain in self.chains_]
            probabilities[:, self.varies_] = np.mean(parts, axis=0)
        return probabilities

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the labels whose mean probability is above one half."""
        return (self.predict_proba(X) > 0.5).astype(np.int64)

    @property
    def n_parameters_(self) -> int:
        """The number of weights, intercepts and constants."""
        logistic = (one for chain in self.chains_ for one in chain.estimators_)
        return sum(one.coef_.size + 1 for one in logistic) + len(self.constant_) - len(self.varies_)


def chains(row: MethodRow) -> Entry:
    """Return chains with the penalty that inner folds choose for one-vs-rest, which is cheaper."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        return ChainEnsemble(configuration["C"], settings["chains"], seed)

    def plain(settings: Settings, configuration: Settings, seed: int) -> Any:
        return one_vs_rest(configuration["C"])

    return SingleFits(row, make, _probable(), plain)


# ---- trees ---------------------------------------------------------------------------------------


class DenseLabels(ClassifierMixin, BaseEstimator):
    """A classifier that wants its labels dense, with one matrix of probabilities."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, Y: Any) -> DenseLabels:
        """Fit the classifier itself, not a copy."""
        self.classifier.fit(X, _dense(Y))
        return self

    def predict(self, X: Any) -> Any:
        """Return labels by the classifier's own rule."""
        return self.classifier.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return one probability for each row and label."""
        return np.asarray(predicted_probabilities(self.classifier, X))


def random_forest(row: MethodRow) -> Entry:
    """Return one forest for all labels."""
    return _forest(row, RandomForestClassifier)


def extra_trees(row: MethodRow) -> Entry:
    """Return the same, with splits that are drawn."""
    return _forest(row, ExtraTreesClassifier)


def _forest(row: MethodRow, kind: Any) -> Entry:
    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        return DenseLabels(kind(settings["trees"], n_jobs=1, random_state=seed))

    return SingleFits(row, make, _probable(_numbers_of_forest))


def _numbers_of_forest(model: DenseLabels) -> int:
    trees = [one.tree_ for one in model.classifier.estimators_]
    return sum(_numbers_of_tree(tree.n_leaves, tree.n_outputs) for tree in trees)


def _numbers_of_tree(n_leaves: int, n_outputs: int) -> int:
    """Count four numbers of every split, and one of every leaf and output."""
    return 4 * (n_leaves - 1) + n_leaves * n_outputs


def lightgbm(row: MethodRow) -> Entry:
    """Return boosted trees, one model for each label, with LightGBM's defaults."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        package = require(
            "lightgbm", extra="baselines", purpose="gradient boosting", package="compactlearn-bench"
        )
        one = package.LGBMClassifier(n_jobs=1, random_state=seed, verbosity=-1)
        return OneVsRestClassifier(one)

    return SingleFits(row, make, _probable(_numbers_of_boosted))


def _numbers_of_boosted(model: OneVsRestClassifier) -> int:
    """Count by the text that LightGBM keeps of a model; one for a label that does not vary."""
    boosted = [one for one in model.estimators_ if hasattr(one, "booster_")]
    texts = [one.booster_.model_to_string() for one in boosted]
    leaves = [
        int(count) for text in texts for count in re.findall(r"^num_leaves=(\d+)", text, re.M)
    ]
    constants = len(model.estimators_) - len(boosted)
    return constants + sum(_numbers_of_tree(n_leaves, 1) for n_leaves in leaves)


# ---- neighbours ----------------------------------------------------------------------------------


class SparseLabels(DenseLabels):
    """A classifier that wants sparse matrices, of the older kind, for rows and labels."""

    def fit(self, X: Any, Y: Any) -> SparseLabels:
        """Fit the classifier itself, not a copy."""
        self.classifier.fit(scipy.sparse.lil_matrix(X), scipy.sparse.lil_matrix(Y))
        return self

    def predict(self, X: Any) -> Any:
        """Return labels by the classifier's own rule."""
        return self.classifier.predict(scipy.sparse.lil_matrix(X)).toarray()

    def predict_proba(self, X: Any) -> Array:
        """Return one probability for each row and label."""
        return self.classifier.predict_proba(scipy.sparse.lil_matrix(X)).toarray()


def ml_knn(row: MethodRow) -> Entry:
    """Return ML-kNN of scikit-multilearn-ng, its number of neighbours chosen by inner folds."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        package = require(
            "skmultilearn.adapt", extra="baselines", purpose="ML-kNN", package="compactlearn-bench"
        )
        return SparseLabels(package.MLkNN(k=configuration["k"]))

    return SingleFits(row, make, _probable())


# ---- the estimator that chooses by itself --------------------------------------------------------


def auto(row: MethodRow) -> Entry:
    """Return ``AutoCompactClassifier``, with nothing to be chosen from outside."""

    def make(settings: Settings, configuration: Settings, seed: int) -> Any:
        budgets = ("size_budget", "time_budget")
        given = {name: settings[name] for name in budgets if name in settings}
        return AutoCompactClassifier(random_state=seed, **given)

    return SingleFits(row, make, Reading(details=_selected))


def _selected(model: Any) -> dict[str, Any]:
    """Return what it has chosen, as it prints."""
    chosen = getattr(model, "best_estimator_", None)
    return {} if chosen is None else {"chosen": " ".join(repr(chosen).split())}


# ---- forms of rows and labels --------------------------------------------------------------------


def _dense(Y: Any) -> NDArray[np.int64]:
    Y = Y.toarray() if scipy.sparse.issparse(Y) else np.asarray(Y)
    return Y.astype(np.int64)


def _csr_matrix(X: Any) -> Any:
    """Return sparse rows as the older kind of matrix, to which a chain can append its labels."""
    return scipy.sparse.csr_matrix(X) if scipy.sparse.issparse(X) else X
