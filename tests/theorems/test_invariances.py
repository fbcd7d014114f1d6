"""Changes of the data that may not change the answer.

Where the leading codes are unique (a clear eigengap) scores are compared; at ties only the
objective and the constraints are.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compactlearn import CMLL, CMLLClassifier
from tests.makers import modest

from .helpers import (
    GAP,
    assert_orthonormal,
    assert_same_span,
    assert_scores,
    is_well_posed,
    new_rows,
    problem,
)

shapes = st.tuples(st.integers(14, 30), st.integers(2, 16), st.integers(2, 7))
seeds = st.integers(0, 10_000)
# How the method is run; None keeps the features, "all" asks for d = D with a completion.
VARIANTS = ["auto", None, "variance"]


def options_for(variant, n_features, m):
    if variant == "variance":
        extra = min(n_features, m + 2)
        return {"n_feature_components": extra, "completion": "variance", "n_label_components": m}
    return {"n_feature_components": variant, "n_label_components": m}


def fit_if_unique(X, Y, variant, m, **more):
    """A fitted classifier, or give up on the example where codes or projection are not unique."""
    model = CMLLClassifier(**options_for(variant, X.shape[1], m), **more).fit(X, Y)
    d = None if variant is None else min(m, X.shape[1])
    assume(is_well_posed(X, Y, model.embedding_.beta_, m, d))
    if variant == "variance":
        P = model.embedding_.projection_[:, :d]
        rest = (X - X.mean(axis=0)) @ (np.eye(X.shape[1]) - P @ P.T)
        values = np.append(np.linalg.svd(rest, compute_uv=False) ** 2, 0.0)
        k = min(2, X.shape[1] - d)
        assume(k == 0 or values[k - 1] - values[k] > GAP * values[0])
    return model


def half(n_labels):
    return max(1, (n_labels + 1) // 2)


@pytest.mark.parametrize("variant", VARIANTS)
@modest
@given(shape=shapes, seed=seeds)
def test_permutations_permute(variant, shape, seed):
    X, Y = problem(*shape, seed=seed)
    rng = np.random.default_rng(seed)
    rows, columns, labels = (rng.permutation(size) for size in shape)
    model = fit_if_unique(X, Y, variant, half(shape[2]))
    moved = CMLLClassifier(**model.get_params()).fit(X[rows][:, columns], Y[rows][:, labels])
    X_new = new_rows(X)
    expected = model.decision_function(X_new)[:, labels]
    assert_scores(moved.decision_function(X_new[:, columns]), expected)


@pytest.mark.parametrize("variant", VARIANTS)
@modest
@given(shape=shapes, seed=seeds)
def test_rotated_features_change_no_score(variant, shape, seed):
    X, Y = problem(*shape, seed=seed)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(shape[1], shape[1])))[0]
    model = fit_if_unique(X, Y, variant, half(shape[2]))
    moved = CMLLClassifier(**model.get_params()).fit(X @ Q, Y)
    X_new = new_rows(X)
    assert_scores(moved.decision_function(X_new @ Q), model.decision_function(X_new))


@pytest.mark.parametrize("variant", VARIANTS)
@modest
@given(shape=shapes, seed=seeds, size=st.sampled_from([1.0, 30.0, 1000.0]))
def test_constant_added_to_a_feature_changes_no_score(variant, shape, seed, size):
    X, Y = problem(*shape, seed=seed)
    shift = size * np.random.default_rng(seed).normal(size=shape[1])
    model = fit_if_unique(X, Y, variant, half(shape[2]))
    moved = CMLLClassifier(**model.get_params()).fit(X + shift, Y)
    X_new = new_rows(X)
    assert_scores(moved.decision_function(X_new + shift), model.decision_function(X_new))


def test_ties_keep_the_objective_under_every_change():
    """Equal eigenvalues at the cut: the codes are not unique, their value is."""
    X = np.kron(np.eye(3), np.ones((4, 1))) @ np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]])
    Y = np.kron(np.eye(4), np.ones((3, 1)))
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    rows = np.random.default_rng(1).permutation(12)
    changed = [
        (X, Y),
        (X, Y[:, ::-1].copy()),
        (X[rows], Y[rows]),
        (X @ Q, Y),
        (X + np.array([5.0, -1.0, 2.0]), Y),
    ]
    for beta in (0.0, 0.2):
        for m in (1, 2, 3):
            fitted = [CMLL(n_label_components=m, beta=beta).fit(*pair) for pair in changed]
            for model in fitted:
                np.testing.assert_allclose(model.objective_, fitted[0].objective_, rtol=1e-9)
                assert_orthonormal(model.codes_)
                assert_orthonormal(model.projection_)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
@pytest.mark.parametrize("shape", [(40, 7, 5), (15, 25, 6)])
def test_units_of_the_features_do_not_matter(variant, shape, solver):
    X, Y = problem(*shape, seed=40)
    X_new = new_rows(X)
    options = {**options_for(variant, shape[1], 3), "solver": solver}
    model = CMLLClassifier(**options, alpha=2.0).fit(X, Y)
    large = CMLLClassifier(**options, alpha=2e6).fit(1000 * X, Y)
    assert_scores(large.decision_function(1000 * X_new), model.decision_function(X_new))
    np.testing.assert_allclose(large.embedding_.beta_, 1e-6 * model.embedding_.beta_, rtol=1e-10)


def test_units_of_the_features_do_not_matter_with_no_other_argument():
    X, Y = problem(50, 12, 20, seed=41)
    X_new = new_rows(X)
    scores = CMLLClassifier().fit(X, Y).decision_function(X_new)
    large = CMLLClassifier(alpha=1e6).fit(1000 * X, Y)
    assert_scores(large.decision_function(1000 * X_new), scores)


def test_duplicated_rows_keep_constraints_and_share_codes():
    X, Y = problem(8, 6, 4, seed=43)
    X, Y = np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0)
    model = CMLL(n_label_components=4, beta=0.2).fit(X, Y)
    assert_orthonormal(model.codes_)
    np.testing.assert_allclose(model.codes_[::3], model.codes_[1::3], atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
def test_all_features_give_the_codes_of_features_kept(solver):
    X, Y = problem(40, 7, 6, seed=44)
    X_new = new_rows(X)
    options = {"n_label_components": 4, "solver": solver, "beta": 0.1}
    full = {"n_feature_components": 7, "completion": "variance"}
    assert_same_span(
        CMLL(**options, **full).fit(X, Y).codes_,
        CMLL(**options, n_feature_components=None).fit(X, Y).codes_,
    )
    rotated = CMLLClassifier(**options, **full).fit(X, Y)
    kept = CMLLClassifier(**options, n_feature_components=None).fit(X, Y)
    assert_scores(rotated.decision_function(X_new), kept.decision_function(X_new))


def test_all_features_of_wide_data_give_the_scores_of_features_kept():
    """D above N: the completion runs out of variance, the scores may not notice."""
    X, Y = problem(15, 25, 6, seed=45)
    X_new = new_rows(X)
    full = CMLLClassifier(
        n_feature_components=1.0, completion="variance", n_label_components=4
    ).fit(X, Y)
    kept = CMLLClassifier(n_feature_components=None, n_label_components=4).fit(X, Y)
    assert_scores(full.decision_function(X), kept.decision_function(X))
    assert_scores(full.decision_function(X_new), kept.decision_function(X_new))
