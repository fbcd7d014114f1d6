import re

import numpy as np
import pytest
from scipy import sparse

from compactlearn.datasets import Dataset, load, statistics

X = np.arange(12.0).reshape(4, 3)
Y = np.array([[1, 0], [0, 0], [1, 0], [1, 1]])


def test_explicit_zeros_and_order_of_indices_make_no_new_label_set():
    stored = sparse.csr_array(
        (np.array([1, 1, 1, 1, 0]), np.array([1, 0, 0, 1, 2]), np.array([0, 2, 5])), shape=(2, 3)
    )
    assert Dataset(X[:2], stored).n_label_sets == 1
    assert stored.nnz == 5, "the caller's matrix is left as it was"


def test_repr():
    text = repr(Dataset(sparse.csr_array(X), Y, name="toy"))
    assert text == "Dataset 'toy': 4 rows, 3 features (sparse), 2 labels, 1.00 labels per row"


def test_split_is_the_customary_one():
    train, test = Dataset(X, Y, name="toy", n_train=3).split()
    np.testing.assert_array_equal(train.X, X[:3])
    np.testing.assert_array_equal(test.Y, Y[3:])
    assert (train.name, test.name) == ("toy-train", "toy-test")
    with pytest.raises(ValueError, match=r"'toy' has no customary split; split X and Y with"):
        Dataset(X, Y, name="toy").split()


def test_it_is_frozen():
    with pytest.raises(AttributeError):
        Dataset(X, Y).X = Y


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Y": Y[:2]}, "X has 4 rows and Y has 2; pass two matrices"),
        ({"feature_names": ("a", "b")}, "feature_names must hold one name per column, 3 in all"),
        ({"label_names": ("a",)}, "label_names must hold one name per column, 2 in all, but 1"),
        ({"n_train": 4}, "lie between 1 and 3, but is 4"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Dataset(**{"X": X, "Y": Y, **given})


# ---- statistics ----------------------------------------------------------------------------------

LABELS = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]])
FEATURES = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 3.0], [0.0, 4.0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_statistics_by_hand(form):
    counted = statistics(Dataset(form(FEATURES), form(LABELS)))
    assert (counted.n_samples, counted.n_features, counted.n_labels) == (4, 2, 4)
    assert counted.cardinality == 5 / 4
    assert counted.density == 5 / 16
    assert counted.n_label_sets == 3
    assert counted.n_unlabelled == 1
    assert counted.n_absent_labels == 2
    assert (counted.mean_imbalance, counted.max_imbalance) == (1.25, 1.5)
    assert counted.imbalance_variation == pytest.approx(np.std([1, 1.5], ddof=1) / 1.25)
    assert counted.feature_share == 0.5


def test_no_label_at_all():
    counted = statistics(Dataset(FEATURES, np.zeros_like(LABELS)))
    assert counted.cardinality == 0
    assert counted.n_unlabelled == 4
    assert np.isnan(counted.mean_imbalance)


def test_enron():
    counted = statistics(load("enron"))
    assert (counted.n_samples, counted.n_label_sets) == (1702, 753)
    assert counted.as_dict()["n_labels"] == 53
