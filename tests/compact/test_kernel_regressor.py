"""Kernel ridge as a learner: scikit-learn's, with a width that the rows choose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import (
    MDDM,
    CompactClassifier,
    KernelMap,
    KernelRegressor,
    ModelFileError,
    load_model,
    method,
)
from compactlearn.io import _model_file as model_file
from compactlearn.model_selection import GridSearchMoments
from tests.makers import make_data, modest


@parametrize_with_checks([KernelRegressor()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@modest
@given(
    n=st.integers(2, 20),
    n_features=st.integers(1, 6),
    n_targets=st.integers(0, 3),
    alpha=st.sampled_from([0.01, 1.0, 30.0]),
    seed=st.integers(0, 99),
)
def test_it_is_scikit_learns_with_the_width_of_a_kernel_map(n, n_features, n_targets, alpha, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, n_features)), rng.normal(size=(3, n_features))
    Y = rng.normal(size=(n, n_targets) if n_targets else n)
    gamma = KernelMap().fit(X).gamma_
    found = KernelRegressor(alpha).fit(X, Y)
    expected = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(X, Y)
    np.testing.assert_allclose(found.predict(new), expected.predict(new), atol=1e-8)
    assert found.dual_coef_.shape == Y.shape


@pytest.mark.parametrize("gamma", [0.2, "distance"])
def test_weights_are_rows_repeated(gamma):
    X, Y = make_data(25, 4, 3)
    counts = np.arange(25) % 3
    weighted = KernelRegressor(0.5, gamma).fit(X, Y, sample_weight=counts)
    repeated = KernelRegressor(0.5, gamma).fit(np.repeat(X, counts, 0), np.repeat(Y, counts, 0))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)


@pytest.mark.parametrize("name", ["k-MDDM", "k-CMLL"])
def test_it_learns_from_projected_rows(name, tmp_path):
    """Scores are those of a kernel ridge from XP to the codes, by scikit-learn."""
    X, Y = make_data(40, 6, 5)
    learner = {"regressor": KernelRegressor(0.1), "alpha": 0.1}
    model = method(name, n_feature_components=3, random_state=0, **learner).fit(X, Y)
    U = KernelMap().fit(X).rows(X) @ model.embedding_.projection_
    gamma = KernelMap().fit(U).gamma_
    ridge = KernelRidge(alpha=0.1, kernel="rbf", gamma=gamma)
    codes = Y if name == "k-MDDM" else model.embedding_.codes_
    if codes is None:
        codes = model.make_embedding().fit(KernelMap().fit(X).transform(X), Y).codes_
    decoder = np.eye(5) if name == "k-MDDM" else codes.T @ Y
    expected = ridge.fit(U, codes @ decoder).predict(U)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_search_finds_what_separate_fits_find():
    X, Y = make_data(60, 6, 5)
    model = CompactClassifier(
        MDDM(completion="variance"),
        feature_map=KernelMap(),
        regressor=KernelRegressor(0.1),
        threshold=0.5,
    )
    grid = {"embedding__n_feature_components": [2, 5, 20]}
    cv = KFold(3, shuffle=True, random_state=0)
    ours = GridSearchMoments(model, grid, cv=cv, refit=False).fit(X, Y)
    theirs = GridSearchCV(model, grid, cv=cv, refit=False, scoring=ours.scorer_).fit(X, Y)
    found, expected = (s.cv_results_["mean_test_score"] for s in (ours, theirs))
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_it_is_stored_by_itself(tmp_path):
    X, Y = make_data(20, 4, 3)
    model = KernelRegressor(0.5).fit(X, Y)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize(
    "forged",
    [
        {"dual_coef_": np.ones((19, 3))},
        {"dual_coef_": np.ones(19)},
        {"kernel_map_": KernelMap()},
        {"kernel_map_": 7},
    ],
    ids=["too few rows", "too few numbers", "no rows", "no map"],
)
def test_a_file_whose_parts_do_not_fit_is_refused(forged, tmp_path):
    X, Y = make_data(20, 4, 3)
    model = KernelRegressor().fit(X, Y)
    vars(model).update(forged)
    with pytest.raises(ModelFileError, match="was not saved"):
        model.save(tmp_path / "model")
    with open(tmp_path / "model", "wb") as stream:
        model_file.write(stream, model, "the model", "0")
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "model")


def test_wrong_parameters_are_refused():
    X, Y = make_data(10, 3, 2)
    for wrong in ({"alpha": 0.0}, {"alpha": -1.0}, {"gamma": "scale"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            KernelRegressor(**wrong).fit(X, Y)
