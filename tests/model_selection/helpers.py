"""Data without ties, and scores by explicit fits of a clone to each training part."""

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, settings
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn.model_selection.candidates import sort_candidates
from compactlearn.model_selection.crossval import largest_of
from compactlearn.model_selection.engine import scores_of
from compactlearn.model_selection.folds import Data, hold_folds

#: The same few examples on every machine.
modest = settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def make_data(n=40, n_features=8, n_labels=6, seed=0, density=None):
    """Features and labels that depend on them: generic, hence without ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * rng.uniform(0.5, 2, n_features) + rng.normal(
        size=n_features
    )
    if density is not None:
        X = np.where(rng.random(X.shape) < density, np.abs(X), 0.0)
    latent = (X - X.mean(axis=0)) @ rng.normal(size=(n_features, n_labels))
    latent += np.sqrt(n_features) * rng.normal(size=latent.shape)
    return X, (latent > np.quantile(latent, 0.65, axis=0)).astype(float)


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
        for fold in hold_folds(group.model, largest, data, splits, len(groups)):
            for scored in scores_of(group.embedding, fold, group.wanted):
                for index in scored.indices:
                    assert (index, fold.number) not in found, "scored twice"
                    found[index, fold.number] = scored.scores
    assert len(found) == len(candidates) * len(splits)
    return found


def refit_scores(estimator, params, X, Y, split, weights=None):
    """Scores of the validation rows of a split by a fit of its own to the training rows."""
    train, test = split
    model = clone(estimator).set_params(**params)
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
