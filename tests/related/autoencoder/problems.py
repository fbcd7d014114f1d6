"""A small classifier and a small problem for it."""

import numpy as np

SMALL = {
    "n_components": 4,
    "feature_hidden": (16,),
    "label_hidden": (8,),
    "batch_size": 16,
    "max_epochs": 4,
    "learning_rate": 1e-3,
    "random_state": 0,
    "device": "cpu",
}


def problem(n_rows=60, n_features=5, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    Y = (X @ rng.normal(size=(n_features, n_labels)) > 0.3).astype(int)
    return X, Y


def same(one, other):
    np.testing.assert_array_equal(one.networks_.flat, other.networks_.flat)
    np.testing.assert_array_equal(one.history_["score"], other.history_["score"])  # NaN may be
    assert one.history_["loss"] == other.history_["loss"]
    assert one.best_epoch_ == other.best_epoch_
