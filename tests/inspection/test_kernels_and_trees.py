"""Kernels by mean slopes, forests by the ways through their trees: against literal versions."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, KernelMap, Original
from compactlearn.compact._kernels import Kernel
from compactlearn.inspection._kernels import kernel_slopes
from compactlearn.inspection._trees import way_terms
from tests.makers import make_data

MAPS = {
    "rbf": KernelMap(),
    "narrow": KernelMap(gamma=2.0),
    "linear": KernelMap("linear"),
    "poly": KernelMap("poly", coef0=0.5),
    "cosine": KernelMap("cosine"),
    "nystroem": KernelMap(algorithm="nystroem", n_components=8, random_state=0),
    "truncated": KernelMap(n_components=5),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("sparse", [False, True])
def test_features_of_a_kernel_model_sum_to_its_score(name, sparse):
    X, Y = make_data(50, density=0.6 if sparse else None)
    rows = scipy.sparse.csr_array(X) if sparse else X
    for scale in (False, True):
        model = CMLLClassifier(feature_map=MAPS[name], decoder="logistic", scale=scale)
        model.fit(rows[:40], Y[:40])
        why = model.explain(rows[40:], range(5), k=None)
        assert max(abs(one.rest) for one in why) < 1e-9
        assert all(term.kind == "feature" for one in why for term in one.terms)
        zeros = model.decision_function(0 * rows[:1])[0]
        assert [one.base for one in why[:5]] == pytest.approx(list(zeros), abs=1e-9)
        for one in why:
            assert all(term.value == X[40 + one.row, int(term.name[1:])] for term in one.terms)


def test_a_linear_kernel_has_the_terms_of_the_linear_model():
    X, Y = make_data(50)
    models = [
        CompactClassifier(Original(), feature_map=mapping, alpha=3.0).fit(X, Y)
        for mapping in (None, KernelMap("linear"))
    ]
    one, other = (model.explain(X[:3], range(5), k=None) for model in models)
    for a, b in zip(one, other, strict=True):
        assert a.base == pytest.approx(b.base, abs=1e-9)
        for term, same in zip(a.terms, b.terms, strict=True):
            assert (term.name, term.value) == (same.name, same.value)
            assert term.contribution == pytest.approx(same.contribution, abs=1e-9)


@pytest.mark.parametrize(
    "kernel", [Kernel("rbf", 0.3), Kernel("rbf", 3.0), Kernel("poly", 0.2, 3, 1.0)], ids=str
)
def test_slopes_are_means_of_derivatives_on_the_straight_way(kernel):
    rng = np.random.default_rng(0)
    X, Z, a = rng.normal(size=(3, 4)), rng.normal(size=(6, 4)), rng.normal(size=(3, 6))
    base, slopes = kernel_slopes(kernel, X, Z, a)
    times, weights = np.polynomial.legendre.leggauss(24)
    step = 1e-5
    for i, x in enumerate(X):
        for j in range(4):
            e = step * np.eye(4)[j]
            mean = 0.0
            for t, w in zip((times + 1) / 2, weights / 2, strict=True):
                up, down = (kernel.values((t * x + s * e)[None], Z)[0] @ a[i] for s in (1, -1))
                mean += w * (up - down) / (2 * step)
            assert slopes[i, j] == pytest.approx(mean, abs=1e-7)
    np.testing.assert_allclose(base, kernel.values(np.zeros((1, 4)), Z)[0] @ a.T)


def test_slopes_of_rows_far_from_landmarks_and_of_zeros():
    Z, a = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, -1.0]])
    for x in ([0.0, 0.0], [1e-9, 0.0], [1e3, 1e3], [0.0, 5.0]):
        base, slopes = kernel_slopes(Kernel("rbf", 1.0), np.array([x]), Z, a)
        said = Kernel("rbf", 1.0).values(np.array([x]), Z) @ a[0]
        assert np.isfinite(slopes).all()
        np.testing.assert_allclose(base + np.dot(slopes, x), said, atol=1e-12)


# ---- forests -------------------------------------------------------------------------------------


def literal_terms(forest, x, output):
    """Down every tree by hand."""
    trees = getattr(forest, "estimators_", [forest])
    base, terms = 0.0, np.zeros(x.size)
    for one in trees:
        tree, node = one.tree_, 0
        value = tree.value[:, output, 0]
        base += value[0]
        while tree.children_left[node] >= 0:
            j = tree.feature[node]
            left = np.float32(x[j]) <= tree.threshold[node]
            child = (tree.children_left if left else tree.children_right)[node]
            terms[j] += value[child] - value[node]
            node = child
    return base / len(trees), terms / len(trees)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(7, random_state=0),
        ExtraTreesRegressor(5, random_state=0, bootstrap=True),
        ExtraTreesRegressor(4, random_state=0, max_leaf_nodes=6),  # grown best first
        DecisionTreeRegressor(random_state=0),
    ],
    ids=lambda forest: type(forest).__name__,
)
def test_ways_through_trees(forest):
    X, Y = make_data(60)
    forest.fit(X[:40], Y[:40])
    which = np.array([0, 4, 2, 2])
    outputs = np.eye(5)
    for rows in (X[40:44], scipy.sparse.csr_array(X[40:44])):
        base, terms = way_terms(forest, rows, outputs, which)
        for i in range(4):
            expected_base, expected = literal_terms(forest, X[40 + i], which[i])
            assert base[i] == pytest.approx(expected_base, abs=1e-12)
            np.testing.assert_allclose(terms.toarray()[i], expected, atol=1e-12)
        total = base + np.asarray(terms.sum(axis=1)).ravel()
        predicted = forest.predict(X[40:44])[np.arange(4), which]
        np.testing.assert_allclose(total, predicted, atol=1e-12)


def test_a_forest_on_a_kernel_speaks_of_directions():
    X, Y = make_data(40)
    forest = RandomForestRegressor(3, random_state=0)
    model = CompactClassifier(CMLL(3, 2), feature_map=KernelMap(), regressor=forest).fit(X, Y)
    why = model.explain(X[:3], range(5), k=None)
    assert max(abs(one.rest) for one in why) < 1e-9
    projected = model.transform(X[:3])
    for one in why:
        for term in one.terms:
            assert term.kind == "direction"
            assert term.value == pytest.approx(projected[one.row, int(term.name.split()[-1])])
