"""Small multi-label data for the contract tests."""

import numpy as np


def make_data(n=40, n_features=7, n_labels=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) + rng.normal(size=n_features)
    latent = (X - X.mean(axis=0)) @ rng.normal(size=(n_features, n_labels))
    latent += rng.normal(size=latent.shape)
    return X, (latent > np.quantile(latent, 0.6, axis=0)).astype(float)
