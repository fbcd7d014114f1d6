"""Promises of every related embedding inside a CompactClassifier."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn import CompactClassifier, KernelMap, method
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments
from compactlearn.related import (
    CCA,
    CSSP,
    LPP,
    MIFS,
    MLSI,
    NPE,
    OPLS,
    PCA,
    GroPLE,
    KernelLabelSpace,
    Rembrandt,
)
from tests.makers import labelled

SHAPES = {"narrow": (60, 7, 6), "wide": (24, 40, 6)}
OF_LABELS = {
    "CSSP": CSSP(4),
    "CSSP, sampled": CSSP(4, selection="sampled", coding="signed", random_state=3),
    "GroPLE": GroPLE(4, n_groups=2, l2=0.01, tol=1e-3),
    "GroPLE, signed": GroPLE(4, coding="signed", l1=0.0, tol=1e-3),
    "KLST": KernelLabelSpace(4),
    "KLST, joined": KernelLabelSpace(4, joined=True, ridge=2.0, label_penalty=0.3),
    "KLST, linear": KernelLabelSpace(3, "linear", label_penalty=0.0),
    "Rembrandt": Rembrandt(4, random_state=0),
    "Rembrandt, small block": Rembrandt(3, oversampling=1, random_state=0),
}
OF_FEATURES = {"CCA": CCA(3), "OPLS": OPLS(3), "MLSI": MLSI(3), "PCA": PCA(3)}
OF_NEAR_ROWS = {"LPP": LPP(3), "NPE": NPE(3), "MIFS": MIFS(3, random_state=0)}
METHODS = OF_LABELS | OF_FEATURES | OF_NEAR_ROWS
every_method = pytest.mark.parametrize("name", METHODS)
every_shape = pytest.mark.parametrize("shape", SHAPES)


def scores(name, X, Y, weights=None, **options):
    model = CompactClassifier(clone(METHODS[name]), alpha=3.0, threshold=0.5, **options)
    return model.fit(X, Y, weights).decision_function(X[:15])


@every_method
@every_shape
def test_sparse_rows_and_labels_are_dense_ones(name, shape):
    X, Y = labelled(*SHAPES[shape], seed=0)
    found = scores(name, sp.csr_array(X), sp.csr_matrix(Y))
    np.testing.assert_allclose(found, scores(name, X, Y), atol=1e-7)


@every_method
@every_shape
def test_a_weight_of_two_is_a_row_twice(name, shape):
    X, Y = labelled(*SHAPES[shape], seed=0)
    weights = 1.0 + np.arange(len(X)) % 3
    if name in OF_NEAR_ROWS:
        with pytest.raises(ValueError, match="takes no sample_weight: a graph of nearest rows"):
            scores(name, X, Y, weights)
        return
    weights[:15] = 1.0  # those that are scored
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    found = scores(name, X, Y, weights)
    np.testing.assert_allclose(found, scores(name, X[rows], Y[rows]), atol=1e-7)


@every_method
@every_shape
def test_a_linear_kernel_is_the_features(name, shape):
    X, Y = labelled(*SHAPES[shape], seed=0)
    kernel = {"feature_map": KernelMap("linear")}
    if name == "MIFS":
        with pytest.raises(ValueError, match="chooses among the features, and was given a kernel"):
            scores(name, X, Y, **kernel)
        return
    np.testing.assert_allclose(scores(name, X, Y, **kernel), scores(name, X, Y), atol=1e-7)


@every_method
def test_a_search_scores_separate_fits(name):
    X, Y = labelled(60, 7, 6, seed=0)
    size = "n_label_components" if name in OF_LABELS else "n_feature_components"
    grid = {f"embedding__{size}": [2, 4], "alpha": [0.5, 20.0]}
    cv = KFold(3, shuffle=True, random_state=0)
    model = CompactClassifier(METHODS[name], threshold=0.5)
    search = GridSearchMoments(model, grid, cv=cv, scoring="average_precision").fit(X, Y)
    for params, found in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        each = []
        for train, test in cv.split(X):
            alone = clone(model).set_params(**params).fit(X[train], Y[train])
            each.append(average_precision(Y[test], alone.decision_function(X[test])))
        assert found == pytest.approx(np.mean(each), abs=1e-9)


@pytest.mark.parametrize("name", ["CCA", "OPLS", "MLSI", "KLST"])
def test_a_shared_ridge_is_the_learners(name):
    X, Y = labelled(60, 7, 6, seed=0)
    model = CompactClassifier(clone(METHODS[name]), alpha=3.0).fit(X, Y)
    assert model.embedding_.ridge_ == 3.0
    assert clone(METHODS[name]).fit(X, Y).ridge_ == 1.0


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"CSSP, sampled", "GroPLE, signed"}))
@pytest.mark.filterwarnings("ignore:.*label components were asked for")
def test_rows_or_labels_without_variance_leave_the_mean(name):
    """This holds for codings with an intercept."""
    X, Y = labelled(20, 3, 6, seed=0)
    for rows, labels in ((np.ones_like(X), Y), (X, np.tile([0, 1, 1, 0, 1, 0], (20, 1)))):
        model = CompactClassifier(clone(METHODS[name]), alpha=1.0, threshold=0.5)
        model.fit(rows, labels)
        expected = np.tile(labels.mean(axis=0), (20, 1))
        np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-8)


@pytest.mark.parametrize("name", ["CSSP", "GroPLE", "KLST", "Rembrandt", *OF_FEATURES, "LPP"])
def test_each_is_a_method_by_its_name(name):
    X, Y = labelled(60, 7, 6, seed=0)
    for protocol in ("paper", "recommended"):
        model = method(name, protocol=protocol, random_state=0)
        assert model.fit(X, Y).predict(X).shape == Y.shape
