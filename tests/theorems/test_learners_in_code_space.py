"""A learner in code space minimises what it would minimise in label space.

Codes V decoded by W stand for the labels Y^ = VW + offset. A learner that minimises a sum of
squares over its targets must do to codes what it does to Y^, whatever the lengths and angles of the
decoder's rows; where the codes recover the labels, what it does to Y itself.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from compactlearn import CMLL, CPLST, DMLR, PLST, CompactClassifier, FaIE
from compactlearn.compact._preparation import RowMap
from compactlearn.crossfit._cross_fit import CrossFit
from compactlearn.crossfit._learner import ForeignLearner, RidgeLearner
from compactlearn.crossfit._training_rows import TrainingRows
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import modest

from .helpers import assert_scores, new_rows, problem

# Large leaves and many rows: no two splits part the rows alike, so that nothing is tied.
TREE = DecisionTreeRegressor(max_depth=3, min_samples_leaf=25, random_state=0)
ROWS = (300, 6, 5)
SHARES = (0.3, 0.5, 0.7, 0.85, 0.93)  # labels of very different frequency

COMPLETE = {
    "PLST": PLST(5),
    "CPLST": CPLST(5),
    "DMLR": DMLR(5),
    "CMLL without balance": CMLL(None, 5, beta=0.0),
}
PARTIAL = {
    "PLST": PLST(2),
    "CPLST": CPLST(2),
    "DMLR": DMLR(2),
    "FaIE": FaIE(3),
    "CMLL": CMLL(None, 3),
    "CMLL, all codes": CMLL(None, 5),
    "CMLL, large balance": CMLL(None, 4, beta=10.0),
    "CMLL, no offset": CMLL(None, 3, offset="none", label_ridge=0.5),
}
complete = pytest.mark.parametrize("embedding", COMPLETE.values(), ids=COMPLETE.keys())
partial = pytest.mark.parametrize("embedding", PARTIAL.values(), ids=PARTIAL.keys())


def decoded_labels(embedding, X, Y):
    """Return the labels decoded from the codes of the training rows."""
    fitted = embedding.fit(X, Y)
    return fitted.decode(fitted.codes_)


@complete
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("learner", [TREE, KNeighborsRegressor(7), LinearRegression()])
def test_with_all_codes_it_is_the_learner_of_the_labels(embedding, learner, seed):
    X, Y = problem(*ROWS, seed=130 + seed, share=SHARES)
    X_new = new_rows(X)
    model = CompactClassifier(embedding, regressor=learner).fit(X, Y)
    assert_scores(model.decision_function(X_new), learner.fit(X, Y).predict(X_new))


@partial
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("learner", [TREE, KNeighborsRegressor(7), LinearRegression()])
def test_it_is_the_learner_of_the_decoded_labels(embedding, learner, seed):
    X, Y = problem(*ROWS, seed=140 + seed, share=SHARES)
    X_new = new_rows(X)
    model = CompactClassifier(embedding, regressor=learner).fit(X, Y)
    expected = learner.fit(X, decoded_labels(embedding, X, Y)).predict(X_new)
    assert_scores(model.decision_function(X_new), expected)


@given(
    n=st.integers(12, 40),
    d=st.integers(1, 8),
    m=st.integers(2, 6),
    beta=st.sampled_from([0.01, 1.0, 30.0]),
    copies=st.integers(1, 2),
    seed=st.integers(0, 10**6),
)
@modest
@pytest.mark.filterwarnings("ignore:.*label components were asked for")
def test_whatever_the_shape_and_the_rank_of_the_decoder(n, d, m, beta, copies, seed):
    """With every label twice, WW' of all codes is singular."""
    X, Y = problem(n, d, m, seed=seed)
    Y = np.tile(Y, copies)
    X_new, learner = new_rows(X), KNeighborsRegressor(3)
    embedding = CMLL(None, m * copies, beta=beta)
    model = CompactClassifier(embedding, regressor=learner).fit(X, Y)
    expected = learner.fit(X, decoded_labels(embedding, X, Y)).predict(X_new)
    assert_scores(model.decision_function(X_new), expected, 1e-6)
    assert np.isfinite(model.predict_codes(X_new)).all()


@pytest.mark.parametrize("embedding", [PLST(2), CPLST(3), CMLL(None, 2, beta=0.0)])
def test_the_error_of_the_labels_is_that_of_the_targets_and_what_codes_leave_out(embedding):
    """Where what is left out is orthogonal to the decoder's rows, the two errors add up."""
    X, Y = problem(*ROWS, seed=152, share=SHARES)
    model = CompactClassifier(embedding, regressor=TREE).fit(X, Y)
    fitted = embedding.fit(X, Y)
    left_out = Y - fitted.decode(fitted.codes_)
    np.testing.assert_allclose(left_out @ fitted.decoder_.T, 0, atol=1e-9)
    grown = model.regressor_.tree_  # mean squared errors of its leaves, over rows and targets
    leaves = grown.children_left < 0
    m = fitted.n_label_components_
    of_targets = m * np.sum((grown.impurity * grown.n_node_samples)[leaves])
    squared_factor = len(X) * m / np.sum((fitted.codes_ @ fitted.decoder_) ** 2)
    of_labels = np.sum((Y - model.decision_function(X)) ** 2)
    assert of_labels == pytest.approx(of_targets / squared_factor + np.sum(left_out**2))


class Stretched(PLST):
    """The same labels by codes in other units."""

    def solve(self, pair):
        result = super().solve(pair)
        factors = np.array([1.0, 30.0, 1000.0])
        return replace(
            result, codes=result.codes.scaled(factors), decoder=result.decoder / factors[:, None]
        )


def test_units_of_codes_do_not_matter():
    """Neither to the scores nor, cross-fitted, to a threshold that is tuned on them."""
    X, Y = problem(*ROWS, seed=153, share=SHARES)
    options = {"regressor": TREE, "threshold": "f1"}
    plain, other = (CompactClassifier(e, **options).fit(X, Y) for e in (PLST(3), Stretched(3)))
    assert_scores(other.decision_function(X), plain.decision_function(X))
    assert other.threshold_ == pytest.approx(plain.threshold_)


def test_out_of_fold_codes_are_by_the_same_learner():
    """Out-of-fold codes change with the units of the codes, and in no other respect."""
    X, Y = problem(*ROWS, seed=154, share=SHARES)
    found = []
    for embedding in (PLST(3), Stretched(3)):
        pair = RowsPair.of_rows(X, scipy.sparse.csr_array(Y))
        learner = ForeignLearner(TREE, None, RidgeLearner(1.0))
        training = TrainingRows(
            pair, RowMap(), labels=pair.right, features=X, blocks=(X, pair.right)
        )
        result = embedding.solve(pair)
        cross_fit = CrossFit(training, result, embedding, learner, np.arange(len(X)))
        found.append((cross_fit.codes(), next(cross_fit.held_out_folds()).train.codes))
    for plain, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, plain * [1.0, 30.0, 1000.0], atol=1e-7)
