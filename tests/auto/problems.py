"""Problems of an automatic search, made without a classifier."""

import numpy as np

from compactlearn.auto._problem import Problem
from compactlearn.core._targets import check_targets
from compactlearn.metrics import scorer


def problem_of(X, Y, *, weights=None, scoring="average_precision", n_folds=5, seed=0):
    targets = check_targets(Y, X.shape[0])
    fold = np.random.default_rng(seed).permutation(np.arange(X.shape[0]) % n_folds)
    return Problem(X, targets.matrix, weights, targets, fold, scorer(scoring), "f1", seed)
