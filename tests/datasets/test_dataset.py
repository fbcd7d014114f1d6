import pickle
import re

import numpy as np
import pytest
from scipy import sparse

from compactlearn.datasets import DataFileError, Dataset

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


def test_the_error_of_a_file_survives_pickling():
    error = pickle.loads(pickle.dumps(DataFileError("a.csv", "it is empty.", line=3)))
    assert (str(error), error.path, error.line) == ("a.csv, line 3: it is empty.", "a.csv", 3)
