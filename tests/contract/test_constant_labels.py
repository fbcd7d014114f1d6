"""Labels that all rows have, or none: every classifier fits, and is sure of them."""

import numpy as np
import pytest
from sklearn.base import clone

from compactlearn import ShortlistClassifier
from tests.contract.every_classifier import EVERY
from tests.makers import as_dense, make_data

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = make_data(n_labels=3, dtype=int)
CONSTANT = {
    "none": np.zeros_like(Y),
    "all": np.ones_like(Y),
    "either": np.tile([0, 1, 1], (len(Y), 1)),
    "two of three": np.column_stack([np.zeros(len(Y), int), Y[:, 1], np.ones(len(Y), int)]),
}
# Whose scores of a label are not its own: of random measurements, of Boolean sets, of a network
# that has hardly been trained.
LOOSE = ("CompressedSensingClassifier", "BooleanClassifier", "C2AEClassifier")
# Whose metric is not defined where labels are all alike, which they say.
SEARCHES = ("CMLLClassifierCV",)


@pytest.mark.parametrize("case", CONSTANT)
@pytest.mark.parametrize("name", EVERY)
def test_constant_labels_are_fitted_and_predicted(name, case):
    model, labels = clone(EVERY[name]), CONSTANT[case]
    if name in SEARCHES and case in ("none", "all"):
        with pytest.raises(ValueError, match="is not defined on any"):
            model.fit(X, labels)
        return
    model.fit(X, labels)
    assert np.isfinite(as_dense(model.decision_function(X))).all()
    constant = np.ptp(labels, axis=0) == 0
    if name not in LOOSE:
        found = as_dense(model.predict(X))
        np.testing.assert_array_equal(found[:, constant], labels[:, constant])


@pytest.mark.parametrize("threshold", ["auto", "f1", "per-label", "cardinality", 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_a_shortlist_without_any_label_predicts_none(threshold, seed):
    model = ShortlistClassifier(threshold=threshold, random_state=seed)
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(X))
    assert not model.fit(X, np.zeros_like(Y), sample_weight=weights).predict(X).any()
