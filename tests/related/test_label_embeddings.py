"""What holds for every embedding of the related work that compresses labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn import CompactClassifier, KernelMap, method
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments
from compactlearn.related import CSSP, GroPLE, KernelLabelSpace, Rembrandt
from compactlearn.related._compressed_sensing import RandomCodes
from tests.makers import maker

make_data = maker(60, 7, 6, dtype=int)
X, Y = make_data()
X_new = make_data(15, seed=1)[0]

METHODS = {
    "CSSP": CSSP(4),
    "CSSP, leverage": CSSP(4, selection="leverage", coding="binary"),
    "CSSP, sampled": CSSP(4, selection="sampled", coding="signed", random_state=3),
    "CSSP, fixed rank": CSSP(4, selection="sampled", rank=3, random_state=3),
    "GroPLE": GroPLE(4, n_groups=2, l2=0.01, tol=1e-3),
    "GroPLE, signed": GroPLE(4, coding="signed", l1=0.0, tol=1e-3),
    "KLST": KernelLabelSpace(4),
    "KLST, joined": KernelLabelSpace(4, joined=True, ridge=2.0, label_penalty=0.3),
    "KLST, linear": KernelLabelSpace(3, "linear", label_penalty=0.0),
    "Gaussian codes": RandomCodes(4, "gaussian", random_state=0),
    "Rembrandt": Rembrandt(4, random_state=0),
    "Rembrandt, small block": Rembrandt(3, centre=True, oversampling=1, ridge=2.0, random_state=0),
}
every_method = pytest.mark.parametrize("embedding", METHODS.values(), ids=METHODS)


def scores(embedding, X=X, Y=Y, weights=None, **options):
    model = CompactClassifier(clone(embedding), alpha=3.0, **options)
    return model.fit(X, Y, weights).decision_function(X_new)


def regimes(embedding):
    """Those that it may be asked for; one whose codes are no sums of labels has no moments."""
    return [name for name in embedding._constraints["solver"][0].options if name != "auto"]


@every_method
def test_the_regimes_agree(embedding):
    first, *others = regimes(embedding)
    expected = scores(clone(embedding).set_params(solver=first))
    assert "krylov" in others
    for solver in others:
        found = scores(clone(embedding).set_params(solver=solver))
        np.testing.assert_allclose(found, expected, atol=1e-8)


@every_method
def test_sparse_rows_and_labels_are_dense_ones(embedding):
    for solver in regimes(embedding):
        own = clone(embedding).set_params(solver=solver)
        found = scores(own, sp.csr_array(X), sp.csr_matrix(Y))
        np.testing.assert_allclose(found, scores(own), atol=1e-8)


@every_method
def test_a_weight_of_two_is_a_row_twice(embedding):
    weights = 1.0 + np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    np.testing.assert_allclose(
        scores(embedding, weights=weights), scores(embedding, X[rows], Y[rows]), atol=1e-8
    )


@every_method
def test_the_order_of_the_rows_does_not_matter(embedding):
    order = np.random.default_rng(5).permutation(len(X))
    np.testing.assert_allclose(scores(embedding, X[order], Y[order]), scores(embedding), atol=1e-8)


@every_method
def test_codes_of_the_training_labels_are_encoded_labels(embedding):
    fitted = clone(embedding).fit(X, Y)
    codes = fitted.codes_.toarray() if sp.issparse(fitted.codes_) else fitted.codes_
    np.testing.assert_allclose(fitted.encode(Y), codes, atol=1e-10)
    np.testing.assert_allclose(
        fitted.decode(codes), codes @ fitted.decoder_ + fitted.offset_, atol=1e-10
    )


@pytest.mark.parametrize("name", [name for name in METHODS if name != "Rembrandt"])
def test_a_linear_kernel_is_the_features(name):
    """Rembrandt's hat matrix without intercept needs the features themselves, and refuses."""
    found = scores(METHODS[name], feature_map=KernelMap("linear"))
    np.testing.assert_allclose(found, scores(METHODS[name]), atol=1e-7)


@every_method
def test_a_search_scores_separate_fits(embedding):
    grid = {"embedding__n_label_components": [2, 4], "alpha": [0.5, 20.0]}
    cv = KFold(3, shuffle=True, random_state=0)
    model = CompactClassifier(embedding, threshold=0.5)
    search = GridSearchMoments(model, grid, cv=cv, scoring="average_precision").fit(X, Y)
    for params, found in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        each = []
        for train, test in cv.split(X):
            alone = clone(model).set_params(**params).fit(X[train], Y[train])
            each.append(average_precision(Y[test], alone.decision_function(X[test])))
        assert found == pytest.approx(np.mean(each), abs=1e-10)


@pytest.mark.parametrize("name", ["CSSP", "GroPLE", "KLST", "Rembrandt"])
def test_each_is_a_method_by_its_name(name):
    for protocol in ("paper", "recommended"):
        model = method(name, protocol=protocol, n_label_components=3, random_state=0)
        assert model.fit(X, Y).predict(X).shape == Y.shape
