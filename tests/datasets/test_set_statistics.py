"""Counts that can be checked by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.datasets import Dataset, load, statistics

Y = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]])
X = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 3.0], [0.0, 4.0]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_by_hand(form):
    counted = statistics(Dataset(form(X), form(Y)))
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
    counted = statistics(Dataset(X, np.zeros_like(Y)))
    assert counted.cardinality == 0
    assert counted.n_unlabelled == 4
    assert np.isnan(counted.mean_imbalance)


def test_enron():
    counted = statistics(load("enron"))
    assert (counted.n_samples, counted.n_label_sets) == (1702, 753)
    assert counted.as_dict()["n_labels"] == 53
