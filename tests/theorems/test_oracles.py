"""The numbers of the oracle table (own computation of the notes, six decimals)."""

import numpy as np
import pytest

from compactlearn import CMLL, CompactClassifier, Original

from .helpers import joint_matrix, spectrum, tiny

HALF_UNIT = 6e-7  # the table has six decimals
CMLL_Y = [7.653717, 5.809713, 3.011585, 1.953149, 1.101920]
CMLL_ROWS = [  # m, d, objective, dependence, recovery
    (2, 1, 13.306981, 9.221058, 8.696452),
    (2, 2, 13.463429, 9.629931, 8.648464),
    (2, 3, 13.463429, 9.629931, 8.648464),
    (3, 1, 14.610381, 9.216748, 10.002007),
    (3, 2, 16.318864, 14.601196, 9.018266),
]
MDDM_P = [23.807049, 2.924379, 0.351906]
ORI_FREE = [0.534389, 0.465611, 0.359309, 0.092822]


def test_eigenvalues_of_the_joint_matrix():
    """Guards the table and the helpers, not the library."""
    X, Y = tiny()
    np.testing.assert_allclose(spectrum(joint_matrix(X, Y, 0.5))[0][:5], CMLL_Y, atol=HALF_UNIT)


@pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_features_kept(m, solver):
    X, Y = tiny()
    model = CMLL(n_feature_components=None, n_label_components=m, beta=0.5, solver=solver)
    model.fit(X, Y)
    np.testing.assert_allclose(model.objective_, sum(CMLL_Y[:m]), atol=m * HALF_UNIT)


@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), CMLL_ROWS)
def test_both_compressed(m, d, value, dep, rec):
    X, Y = tiny()
    model = CMLL(
        n_feature_components=d,
        n_label_components=m,
        beta=0.5,
        label_ridge=0.1,
        tol=1e-15,
        max_iter=20_000,
        completion="variance",
    ).fit(X, Y)
    np.testing.assert_allclose(model.objective_, value, atol=2 * HALF_UNIT)
    # At the optimum the objective is flat, its two parts are not: they converge at half the digits.
    np.testing.assert_allclose([model.dependence_, model.recovery_], [dep, rec], atol=5e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), CMLL_ROWS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_printed_algorithm_from_random_starts(m, d, value, dep, rec, seed):
    X, Y = tiny()
    model = CMLL(
        n_feature_components=d,
        n_label_components=m,
        beta=0.5,
        solver="alternating",
        random_state=seed,
        tol=1e-12,
        max_iter=5000,
    ).fit(X, Y)
    np.testing.assert_allclose(model.objective_, value, atol=5e-6)


def test_bound_of_the_last_row():
    """(m, d) = (3, 2) stays below the sum of the three leading eigenvalues."""
    X, Y = tiny()
    model = CMLL(n_feature_components=2, n_label_components=3, beta=0.5, tol=1e-12).fit(X, Y)
    assert model.objective_ < 16.475015 - 0.1


@pytest.mark.parametrize("d", [1, 2, 3])
def test_labels_kept(d):
    """With the labels in place of codes the projection is that of MDDM."""
    X, Y = tiny()
    model = CMLL(n_feature_components=d, n_label_components=None).fit(X, Y)
    np.testing.assert_allclose(model.dependence_, sum(MDDM_P[:d]), atol=d * HALF_UNIT)
    np.testing.assert_allclose(model.recovery_, np.sum((Y.T @ Y) ** 2), rtol=1e-12)
    np.testing.assert_allclose(model.decode(Y), Y, atol=1e-12)


def test_original_spaces_with_a_free_intercept():
    X, Y = tiny()
    model = CompactClassifier(Original(), alpha=0.1).fit(X, Y)
    scores = model.decision_function(np.ones((1, 3)))
    np.testing.assert_allclose(scores, [ORI_FREE], atol=HALF_UNIT)
