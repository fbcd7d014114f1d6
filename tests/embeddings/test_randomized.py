"""Codes of the randomised regime, as an embedding shows them."""

import numpy as np

from compactlearn.embeddings import CMLL


def test_codes_that_are_not_exact_say_how_good_they_are():
    """The share that is promised is reached, and an exact solution has all of it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 150))
    Y = (X[:, :60] + rng.standard_normal((400, 60)) > 1).astype(float)
    exact = CMLL(n_label_components=20, solver="krylov").fit(X, Y)
    other = CMLL(n_label_components=20, solver="randomized").fit(X, Y)
    assert (exact.solver_, other.solver_) == ("closed-krylov", "closed-randomized")
    assert exact.objective_share_ == 1.0
    assert 0.9999 <= other.objective_share_ < 1.0
    assert other.objective_share_ <= other.objective_ / exact.objective_ <= 1 + 1e-12
