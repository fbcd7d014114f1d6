"""Kernels of rows far from the origin, of equal rows, of any scale: what rounding must not do."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression

from compactlearn import CMLL, MDDM, PLST, CompactClassifier, KernelMap, Original

from .helpers import new_rows, problem


def kernel_version(embedding, alpha=1.0, **kernel):
    return CompactClassifier(embedding, feature_map=KernelMap(**kernel), alpha=alpha)


@pytest.mark.parametrize("offset", [0.0, 10.0, 100.0, 1e4])
def test_no_penalty_is_least_squares_wherever_the_origin_is(offset):
    X, Y = problem(40, 6, 5)
    X, Z = X + offset, new_rows(X) + offset
    model = kernel_version(Original(), alpha=0.0, kernel="linear").fit(X, Y)
    expected = LinearRegression().fit(X, Y).predict(Z)
    np.testing.assert_allclose(
        model.decision_function(Z), expected, atol=1e-13 * (1 + offset) ** 2 + 1e-9
    )


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_rank_is_that_of_the_features(offset):
    X, Y = problem(60, 4, 5)
    model = kernel_version(CMLL(), kernel="linear").fit(X + offset, Y)
    assert model.embedding_.n_feature_components_ == 4


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 3, 30)], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", ["rbf", "cosine", "poly", "linear"])
@pytest.mark.parametrize(
    "embedding",
    [
        MDDM(),
        MDDM(4, completion="krylov"),
        CMLL(n_label_components=None),
        CMLL(2, 4),
        Original(),
    ],
    ids=["MDDM", "MDDM krylov", "labels kept", "binding", "ORI"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_equal_rows_are_answered_by_the_labels_mean(embedding, kernel, weights):
    _, Y = problem(30, 4, 5)
    X = np.full((30, 4), 100.0) + np.arange(4)
    model = kernel_version(embedding, kernel=kernel).fit(X, Y, sample_weight=weights)
    mean = np.average(Y, axis=0, weights=weights)
    np.testing.assert_allclose(model.decision_function(X[:2]), [mean, mean], atol=1e-6)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e12])
def test_the_automatic_balance_follows_the_units(unit):
    X, Y = problem(40, 6, 5)
    linear = CMLL().fit(X * unit, Y).beta_
    kernel = kernel_version(CMLL(), kernel="linear").fit(X * unit, Y).embedding_.beta_
    np.testing.assert_allclose(kernel, linear, rtol=1e-6)


@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 3, 12)], ids=["plain", "weighted"])
@pytest.mark.parametrize("method", [MDDM, CMLL, PLST])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_equal_sparse_rows_without_a_penalty(method, weights, solver):
    _, Y = problem(12, 5, 4)
    X = sp.csr_array(np.repeat(np.random.default_rng(0).normal(size=(1, 5)), 12, axis=0))
    model = CompactClassifier(method(solver=solver), alpha=0.0).fit(X, Y, sample_weight=weights)
    mean = np.average(Y, axis=0, weights=weights)
    np.testing.assert_allclose(model.decision_function(X[:1]), [mean], atol=1e-9)
