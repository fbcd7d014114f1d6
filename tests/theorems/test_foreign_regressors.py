"""Any scikit-learn regressor as the learner: what it is shown, and how its answers are used."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from compactlearn import CMLL, PLST, CompactClassifier, Original
from tests.makers import cmll

from .helpers import assert_scores, new_rows, problem


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps what it is given and answers with a constant row."""

    def __init__(self, answer=1.0):
        self.answer = answer

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y):
        self.X_, self.y_ = np.array(X), np.array(y)
        return self

    def predict(self, X):
        return np.full((len(X), self.y_.shape[1]), self.answer)


def weighted(embedding):
    """Return the learner's targets for the codes of an embedding, and the inverse map."""
    V, W = embedding.codes_, embedding.decoder_
    root = np.real(scipy.linalg.sqrtm(W @ W.T))
    factor = np.sqrt(V.size / np.sum((V @ root) ** 2))
    return factor * V @ root, np.linalg.inv(factor * root)


@pytest.mark.parametrize("d", [3, None])
@pytest.mark.parametrize("shape", [(40, 9, 6), (15, 25, 6)])
def test_learner_sees_projected_features_and_weighted_codes_of_unit_mean_square(shape, d):
    X, Y = problem(*shape, seed=110)
    options = {"n_feature_components": d, "n_label_components": 3}
    regressor = Recorder()
    model = cmll(**options, regressor=regressor).fit(X, Y)
    assert not hasattr(regressor, "X_"), "the given regressor must be cloned"
    embedding = CMLL(**options).fit(X, Y)
    seen = model.regressor_
    P = np.eye(shape[1]) if d is None else embedding.projection_
    np.testing.assert_allclose(seen.X_, X @ P, atol=1e-8)
    np.testing.assert_allclose(seen.y_, weighted(embedding)[0], atol=1e-8)
    np.testing.assert_allclose(np.mean(seen.y_**2), 1, atol=1e-9)


@pytest.mark.parametrize("offset", ["mean", "none"])
def test_answers_are_turned_back_and_decoded(offset):
    X, Y = problem(40, 9, 6, seed=111)
    model = cmll(n_label_components=3, offset=offset, regressor=Recorder(2.5)).fit(X, Y)
    embedding = CMLL(n_label_components=3, offset=offset).fit(X, Y)
    codes = np.full((40, 3), 2.5) @ weighted(embedding)[1]
    assert_scores(model.predict_codes(X), codes, 1e-9)
    expected = codes @ model.embedding_.decoder_ + model.embedding_.offset_
    assert_scores(model.decision_function(X), expected, 1e-12)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("d", ["auto", 2, None])
@pytest.mark.parametrize("shape", [(40, 9, 6), (15, 25, 6)])
def test_foreign_ridge_is_the_built_in_ridge(shape, d, alpha):
    X, Y = problem(*shape, seed=112)
    X_new = new_rows(X)
    options = {"n_feature_components": d, "n_label_components": 4, "threshold": 0.5}
    ours = cmll(**options, alpha=alpha).fit(X, Y)
    foreign = cmll(**options, regressor=Ridge(alpha=alpha, solver="svd")).fit(X, Y)
    assert_scores(foreign.decision_function(X_new), ours.decision_function(X_new))
    assert_scores(foreign.predict_codes(X_new), ours.predict_codes(X_new))
    np.testing.assert_array_equal(foreign.predict(X_new), ours.predict(X_new))


@pytest.mark.parametrize("embedding", [Original(), CMLL(n_label_components=3)])
def test_least_squares_is_the_ridge_without_penalty(embedding):
    X, Y = problem(40, 6, 5, seed=113)
    X_new = new_rows(X)
    foreign = CompactClassifier(embedding, regressor=LinearRegression()).fit(X, Y)
    ours = CompactClassifier(embedding, alpha=0.0).fit(X, Y)
    assert_scores(foreign.decision_function(X_new), ours.decision_function(X_new))


@pytest.mark.parametrize(
    "regressor", [KNeighborsRegressor(1), DecisionTreeRegressor(random_state=0)]
)
@pytest.mark.parametrize("m", [1, 4])
def test_interpolating_learners_return_the_training_codes(regressor, m):
    X, Y = problem(40, 6, 5, seed=115)
    options = {"n_label_components": m}
    model = cmll(**options, regressor=regressor).fit(X, Y)
    codes = CMLL(**options).fit(X, Y).codes_
    assert_scores(model.predict_codes(X), codes, 1e-8)
    assert model.decision_function(X).shape == (40, 5)


@pytest.mark.parametrize("m", [1, 3])
def test_learners_of_one_target_get_one_code_at_a_time(m):
    X, Y = problem(40, 6, 5, seed=120)
    embedding = CMLL(n_label_components=m).fit(X, Y)
    model = cmll(n_label_components=m, regressor=SVR(C=0.5, tol=1e-9)).fit(X, Y)
    U = X @ embedding.projection_
    targets, back = weighted(embedding)
    answers = np.column_stack([SVR(C=0.5, tol=1e-9).fit(U, t).predict(U) for t in targets.T])
    assert_scores(model.predict_codes(X), answers @ back, 1e-6)


def test_learner_without_weights_refuses_them():
    X, Y = problem(40, 6, 5, seed=117)
    model = cmll(n_label_components=3, regressor=KNeighborsRegressor(3))
    with pytest.raises((TypeError, ValueError), match="sample_weight"):
        model.fit(X, Y, sample_weight=np.ones(40))


def test_feature_map_goes_first():
    X, Y = problem(40, 6, 5, seed=119)
    X_new = new_rows(X)
    scaler = StandardScaler()
    model = cmll(n_label_components=3, feature_map=scaler).fit(X, Y)
    assert not hasattr(scaler, "mean_"), "the given feature map must be cloned"
    fitted = StandardScaler().fit(X)
    by_hand = cmll(n_label_components=3).fit(fitted.transform(X), Y)
    assert_scores(
        model.decision_function(X_new), by_hand.decision_function(fitted.transform(X_new)), 1e-10
    )


@pytest.mark.parametrize("d", [3, None])
def test_a_scaled_model_is_one_of_scaled_rows(d):
    X, Y = problem(40, 7, 5, seed=119)
    X = X * np.logspace(-2, 2, 7)
    X_new, deviations = new_rows(X), X.std(axis=0)
    model = cmll(d, 3, regressor=DecisionTreeRegressor(max_depth=3, random_state=0))
    by_hand = clone(model).fit(X / deviations, Y)
    scaled = clone(model).set_params(scale=True).fit(X, Y)
    np.testing.assert_allclose(
        scaled.transform(X_new), by_hand.transform(X_new / deviations), atol=1e-9
    )
    assert_scores(scaled.decision_function(X_new), by_hand.decision_function(X_new / deviations))


@pytest.mark.filterwarnings("ignore:.*label components were asked for")
def test_where_no_label_is_ever_present_the_learner_has_nothing_to_predict():
    X, Y = problem(40, 7, 5, seed=120)
    Y[:] = 0
    model = CompactClassifier(PLST(3), regressor=KNeighborsRegressor(3)).fit(X, Y)
    assert model.embedding_.n_label_components_ == 0
    assert not model.decision_function(new_rows(X)).any()
