"""Data without ties, and scores by explicit fits of a clone to each training part."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn.model_selection._candidates import largest_of, sort_candidates
from compactlearn.model_selection._engine import scores_of
from compactlearn.model_selection._folds import Data, prepare_folds
from tests.makers import maker

make_data = maker(40, 8, 6, scale=True, share=0.65)


def folds(n, k=3, seed=0):
    return list(KFold(k, shuffle=True, random_state=seed).split(np.zeros(n)))


def engine_scores(estimator, candidates, X, Y, splits, weights=None):
    """Scores of the validation rows from the engine, by (candidate, split)."""
    data = Data(X, sp.csr_array(Y), weights)
    shape = (*X.shape, Y.shape[1])
    groups, singles = sort_candidates(estimator, candidates, shape, needs_labels=False)
    assert not singles, "these settings are not the engine's"
    found = {}
    for group in groups:
        largest = largest_of([group], Y.shape[1])
        for fold in prepare_folds(group.model, largest, data, splits, len(groups)):
            for scored in scores_of(group, fold):
                for index in scored.indices:
                    assert (index, fold.number) not in found, "scored twice"
                    found[index, fold.number] = scored.scores
    assert len(found) == len(candidates) * len(splits)
    return found


def refit_scores(estimator, params, X, Y, split, weights=None):
    """Scores of the validation rows of a split by a fit of its own to the training rows."""
    train, test = split
    model = clone(estimator).set_params(**params)
    if model.threshold == "auto":
        model.threshold = 0.5  # scores are the same, and tuning it is most of a small fit
    model.fit(X[train], Y[train], sample_weight=None if weights is None else weights[train])
    scores = model.decision_function(X[test])
    if scores.ndim == 1:  # a single label is read as two classes, with the threshold taken off
        scores = scores[:, None] + model.threshold
    return scores


def code_gap(X, Y, beta, m):
    """Relative eigengap at m of beta XcXc' + YY': 0 where the leading codes are not unique."""
    Xc = X - X.mean(axis=0)
    values = np.linalg.eigvalsh(beta * Xc @ Xc.T + Y @ Y.T)[::-1]
    values = np.append(values, 0.0)
    if values[0] <= 0:
        return 0.0
    rank = int(np.sum(values > 1e-10 * values[0]))
    if rank < len(values) and values[rank] > 1e-14 * values[0]:
        return 0.0  # the rank itself is undecided
    m = min(m, rank)
    return float((values[m - 1] - values[m]) / values[0])
