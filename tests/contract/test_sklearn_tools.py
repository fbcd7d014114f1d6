"""The classifier inside scikit-learn's own tools."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, Original
from tests.makers import make_data


def test_a_search_over_the_parameters_of_both_halves():
    X, Y = make_data(60)
    search = GridSearchCV(
        CMLLClassifier(), {"n_label_components": [2, 0.5], "alpha": [0.1, 10.0]}, cv=3
    ).fit(X, Y)
    assert search.best_params_.keys() == {"n_label_components", "alpha"}
    assert search.predict(X).shape == Y.shape


def test_a_search_over_embeddings_and_their_parameters():
    X, Y = make_data(60)
    grid = [
        {"embedding": [Original()]},
        {"embedding": [CMLL()], "embedding__n_label_components": [1, 3]},
    ]
    search = GridSearchCV(CompactClassifier(), grid, cv=3, scoring="f1_micro").fit(X, Y)
    assert len(search.cv_results_["params"]) == 3
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_cross_validation_and_out_of_fold_scores():
    X, Y = make_data(60)
    results = cross_validate(CMLLClassifier(), X, Y, cv=4, scoring=["f1_micro", "f1_macro"])
    assert not np.isnan(results["test_f1_micro"]).any()
    scores = cross_val_predict(CMLLClassifier(), X, Y, cv=4, method="decision_function")
    assert scores.shape == Y.shape


def test_a_pipeline_is_the_steps_one_after_the_other():
    X, Y = make_data(60)
    pipeline = make_pipeline(StandardScaler(), CMLLClassifier()).fit(X, Y)
    direct = CMLLClassifier().fit(StandardScaler().fit_transform(X), Y)
    expected = direct.decision_function(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(pipeline.decision_function(X), expected, atol=1e-10)


def test_the_embedding_as_a_step_before_another_estimator():
    X, Y = make_data(60)
    pipeline = Pipeline([("small", CMLL(3, 3)), ("ridge", Ridge())]).fit(X, Y)
    assert pipeline.predict(X).shape == Y.shape
    assert pipeline["small"].transform(X).shape == (60, 3)


@pytest.mark.parametrize("estimator", [CMLL(3, 3), CMLLClassifier(3, 3)])
def test_set_output_names_the_columns(estimator):
    X, Y = make_data(60)
    frame = estimator.set_output(transform="pandas").fit(X, Y).transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(estimator.get_feature_names_out())


def test_weights_are_routed_to_the_fit():
    X, Y = make_data(60)
    weights = np.where(np.arange(60) < 30, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = CMLLClassifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), classifier)
        pipeline.fit(X, Y, sample_weight=weights)
    scaled = StandardScaler().fit_transform(X)
    expected = CMLLClassifier().fit(scaled[:30], Y[:30]).decision_function(scaled)
    np.testing.assert_allclose(pipeline.decision_function(X), expected, atol=1e-8)
