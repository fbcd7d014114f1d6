"""Rows, labels and features in another order, turned, moved or in other units: the same scores."""

import numpy as np
import pytest
from sklearn.base import clone

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, CompactClassifier, FaIE, KernelMap, Original
from compactlearn.related import CCA, LPP, MLSI, NPE, OPLS, PCA
from tests.contract.every_classifier import EVERY
from tests.makers import as_dense, make_data, untuned

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = make_data(50, 6, 4, dtype=int)
NEW, _ = make_data(20, 6, 4, seed=1)
ROWS, LABELS = (np.random.default_rng(0).permutation(size) for size in (50, 4))
TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
UNITS = 10.0 ** np.arange(-3, 3)
LINEAR = (CMLL, CPLST, DMLR, MDDM, PLST, FaIE, Original, CCA, LPP, MLSI, NPE, OPLS, PCA)

# Folds, held-out rows, batches or trees are drawn by the place of a row.
BY_PLACE = (
    "DeepCMLLClassifier",
    "ManiacClassifier",
    "C2AEClassifier",
    "CMLLClassifierCV",
    "ProjectionForestClassifier",
)
# Random numbers belong to the place of a label.
DRAWN_FOR_LABELS = (
    "MIFS",
    "CompressedSensingClassifier",
    "TopicClassifier",
    "ShortlistClassifier",
    "ManiacClassifier",
    "C2AEClassifier",
    "ProjectionForestClassifier",
)


def scores(model, rows, labels, new):
    return as_dense(clone(model).fit(rows, labels).decision_function(new))


@pytest.mark.parametrize("name", [name for name in EVERY if name not in BY_PLACE])
def test_the_order_of_rows_makes_no_difference(name):
    expected = scores(EVERY[name], X, Y, NEW)
    found = scores(EVERY[name], X[ROWS], Y[ROWS], NEW)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", [name for name in EVERY if name not in DRAWN_FOR_LABELS])
def test_labels_in_another_order_have_the_same_scores(name):
    expected = scores(EVERY[name], X, Y, NEW)
    found = scores(EVERY[name], X, Y[:, LABELS], NEW)
    atol = 1e-4 if name == "OutputCodesClassifier" else 1e-6  # it settles label by label
    np.testing.assert_allclose(found, expected[:, LABELS], atol=atol * np.abs(expected).max())


@pytest.mark.parametrize("embedding", LINEAR)
def test_scores_of_linear_methods_do_not_depend_on_axes_and_origin(embedding):
    model = untuned(embedding())
    expected = scores(model, X, Y, NEW)
    for change in (lambda A: A @ TURN, lambda A: A + 7.0, np.negative, lambda A: A[:, ::-1]):
        np.testing.assert_allclose(scores(model, change(X), Y, change(NEW)), expected, atol=1e-9)


@pytest.mark.parametrize("embedding", [CMLL, CPLST, DMLR, MDDM, PLST, FaIE, Original])
def test_penalties_that_follow_the_data_make_units_irrelevant(embedding):
    common = untuned(embedding(), alpha="auto")
    own = untuned(embedding(), scale=True)
    for model, units in ((common, 1e-6), (common, 1e6), (own, UNITS), (own, 1e9)):
        found = scores(model, X * units, Y, NEW * units)
        np.testing.assert_allclose(found, scores(model, X, Y, NEW), atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "changes"),
    [
        ("rbf", [lambda A: A @ TURN, lambda A: A + 3.0, lambda A: 8.0 * A]),
        ("poly", [lambda A: A @ TURN]),
        ("linear", [lambda A: A @ TURN, lambda A: A + 3.0]),
        ("cosine", [lambda A: A @ TURN, lambda A: A * np.geomspace(1, 9, len(A))[:, None]]),
    ],
)
def test_kernels_see_what_they_say(kernel, changes):
    model = untuned(CMLL(), feature_map=KernelMap(kernel))
    expected = scores(model, X, Y, NEW)
    for change in changes:
        np.testing.assert_allclose(scores(model, change(X), Y, change(NEW)), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "correction", [{"positive_unlabelled": True}, {"label_noise": (0.13, 0.2)}]
)
def test_a_constant_label_has_no_part_in_canonical_correlations(correction, seed):
    """Where labels are corrected its cells are no whole numbers, and centred they are rounding."""
    rows, labels = make_data(70, 9, 5, dtype=int, seed=seed)
    model = CompactClassifier(CCA(), threshold=0.5, **correction)
    both = np.column_stack([labels, np.ones(70, dtype=int), np.zeros(70, dtype=int)])
    with_constant = model.fit(rows, both)
    found, rates = with_constant.decision_function(rows)[:, :5], with_constant.label_noise_
    same = CompactClassifier(CCA(), threshold=0.5, label_noise=tuple(r[:5] for r in rates))
    np.testing.assert_allclose(found, same.fit(rows, labels).decision_function(rows), atol=1e-9)
