"""Whatever kind of labels a classifier is fitted to, it is judged, stored and made smaller."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from compactlearn import evaluate, load_model
from tests.contract.every_classifier import EVERY
from tests.makers import as_dense, make_data

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = make_data(n_labels=4, dtype=int)
NAMES = np.array(["jazz", "blues", "rock", "folk"])
KINDS = {
    "two classes": Y[:, 0],
    "two names": np.where(Y[:, 0] > 0, "yes", "no"),
    "three classes": np.array(["x", "y", "z"])[Y[:, :2].sum(axis=1)],
    "one column": Y[:, :1],
    "matrix": Y,
    "sparse": sp.csr_array(Y),
    "lists of names": [list(NAMES[row > 0]) for row in Y],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_target_is_judged_stored_and_made_smaller(name, kind, tmp_path):
    labels = KINDS[kind]
    model = clone(EVERY[name]).fit(X, labels)
    found = model.evaluate(X, labels)
    assert found == evaluate(model, X, labels)
    assert found["subset_accuracy"] == pytest.approx(model.score(X, labels))
    if hasattr(model, "compress"):  # methods of the related work have none
        small = model.compress("float16", X, labels)
        assert small.compression_["before"] == pytest.approx(found["average_precision"])
    model.save(tmp_path / "one.model")
    loaded = load_model(tmp_path / "one.model")
    np.testing.assert_array_equal(as_dense(loaded.predict(X)), as_dense(model.predict(X)))
    assert loaded.evaluate(X, labels) == found
