"""Forests on projected labels: scikit-learn's where nothing is projected, shares of labels in any
case."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestRegressor

from compactlearn.related import ProjectionForestClassifier
from compactlearn.related._projection_forest import PROJECTIONS, label_projection
from tests.makers import labelled

X, Y = labelled(60, 6, 9, seed=0)
NEW = labelled(30, 6, 9, seed=1)[0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_without_a_projection_it_is_scikit_learns_forest(form):
    settings = {"max_features": 0.5, "min_samples_leaf": 2, "random_state": 7}
    model = ProjectionForestClassifier(8, projection="identity", **settings)
    other = RandomForestRegressor(8, **settings).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(
        model.fit(form(X), Y).decision_function(form(NEW)), other.predict(NEW), atol=1e-12
    )


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_leaves_hold_the_means_of_the_labels_themselves(projection):
    model = ProjectionForestClassifier(
        3, n_label_components=2, projection=projection, min_samples_leaf=4, random_state=0
    ).fit(X, Y)
    rows = X.astype(np.float32)
    samples = model.forest_.estimators_samples_
    for tree, sample in zip(model.forest_.estimators_, samples, strict=True):
        leaves = tree.apply(rows)
        for leaf in np.unique(leaves[sample]):
            mean = Y[sample][leaves[sample] == leaf].mean(axis=0)
            np.testing.assert_allclose(tree.tree_.value[leaf][:, 0], mean, atol=1e-12)
    mean = np.mean([tree.predict(NEW.astype(np.float32)) for tree in model.forest_.estimators_], 0)
    np.testing.assert_allclose(model.decision_function(NEW), mean)
    expected = (3 * mean + (Y.sum(axis=0) + 0.5) / 61) / 4
    np.testing.assert_allclose(model.predict_proba(NEW), expected)
    np.testing.assert_array_equal(model.predict(NEW), mean > 0.5)


def test_projections_keep_distances_on_average():
    """E AA' = I: that of many columns is close to it, by the law of large numbers."""
    A = sp.csr_array(label_projection("gaussian", 4, 20_000, np.random.default_rng(0)))
    assert A.shape == (4, 20_000)
    np.testing.assert_allclose((A @ A.T).toarray(), np.eye(4), atol=0.05)


def test_every_tree_has_a_projection_of_its_own_and_a_seed_repeats_it():
    one, two, other = (
        ProjectionForestClassifier(4, n_label_components=1, random_state=seed).fit(X, Y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.decision_function(NEW), two.decision_function(NEW))
    assert not np.array_equal(one.decision_function(NEW), other.decision_function(NEW))
    drawn = [label_projection("gaussian", 9, 1, np.random.default_rng([0, k])) for k in range(2)]
    assert not np.allclose(*drawn)
    assert one.n_label_components_ == 1
    assert ProjectionForestClassifier(1).fit(X, Y).n_label_components_ == 8
