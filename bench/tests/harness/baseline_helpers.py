"""Parts that tests of baselines share: required packages, and a small Auto."""

from sklearn.base import BaseEstimator

from compactlearn import CMLLClassifier

PACKAGES = {"LightGBM": "lightgbm", "ML-kNN": "skmultilearn"}


class AutoStandIn(BaseEstimator):
    """The interface of AutoCompactClassifier, with a single classifier to choose from."""

    def __init__(self, *, size_budget=None, time_budget=None, random_state=None):
        self.size_budget = size_budget
        self.time_budget = time_budget
        self.random_state = random_state

    def fit(self, X, Y):
        self.best_estimator_ = CMLLClassifier(
            decoder="logistic", threshold="f1", random_state=self.random_state
        ).fit(X, Y)
        self.leaderboard_ = [{"budget": self.size_budget}]
        return self

    def predict(self, X):
        return self.best_estimator_.predict(X)

    def decision_function(self, X):
        return self.best_estimator_.decision_function(X)

    def predict_proba(self, X):
        return self.best_estimator_.predict_proba(X)

    @property
    def n_parameters_(self):
        return self.best_estimator_.n_parameters_
