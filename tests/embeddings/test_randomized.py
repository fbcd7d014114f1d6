"""Codes of the randomised route, as an embedding shows them."""

import numpy as np
import pytest

from compactlearn import CMLLClassifier
from compactlearn.embeddings import CMLL


def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 150))
    return X, (X[:, :60] + rng.standard_normal((400, 60)) > 1).astype(float)


def test_codes_that_are_not_exact_say_how_good_they_are():
    """The share that is promised is reached, and an exact solution has all of it."""
    X, Y = problem()
    exact = CMLL(n_label_components=20, solver="krylov").fit(X, Y)
    other = CMLL(n_label_components=20, solver="randomized").fit(X, Y)
    assert (exact.solver_, other.solver_) == ("closed-krylov", "closed-randomized")
    assert exact.objective_share_ == 1.0
    assert 0.9999 <= other.objective_share_ < 1.0
    assert other.objective_share_ <= other.objective_ / exact.objective_ <= 1 + 1e-12


def fitted(random_state, solver="randomized"):
    return CMLL(n_label_components=20, solver=solver, random_state=random_state).fit(*problem())


@pytest.mark.parametrize("make", [int, np.random.RandomState, np.random.default_rng])
def test_random_state_seeds_the_search_for_codes(make):
    """The same seed, the same codes; another, other codes that are as good as is said of them.

    The same up to rounding: sums of the BLAS depend on where in memory an array begins.
    """
    one, again, another = (fitted(make(seed)) for seed in (3, 3, 4))
    np.testing.assert_allclose(one.decoder_, again.decoder_, rtol=0, atol=1e-10)
    assert np.abs(one.decoder_ - another.decoder_).max() > 1e-5
    assert min(one.objective_share_, another.objective_share_) >= 0.9999


def test_a_classifier_hands_its_seed_to_the_search_for_codes():
    X, Y = problem()
    settings = {"n_label_components": 20, "solver": "randomized", "threshold": 0.5}
    one, again, another = (
        CMLLClassifier(random_state=seed, **settings).fit(X, Y).coef_ for seed in (3, 3, 4)
    )
    np.testing.assert_allclose(one, again, rtol=0, atol=1e-10)
    assert np.abs(one - another).max() > 1e-8


def test_exact_codes_draw_no_random_number():
    """Nor do they depend on one: what a generator gives next is left to whom it is for."""
    rng = np.random.RandomState(7)
    one = fitted(rng, solver="krylov")
    assert rng.randint(1000) == np.random.RandomState(7).randint(1000)
    np.testing.assert_allclose(
        one.decoder_, fitted(8, solver="krylov").decoder_, rtol=0, atol=1e-10
    )
