"""POPClassifier against a slow literal version, against plain one-vs-rest, and at its edges."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from compactlearn import POPClassifier

SEEDS = range(4)
BIASED = LogisticRegression(solver="liblinear", C=0.5)
# Weighted and repeated rows agree only as far as the solver goes: hence the small tol.
SVM = LinearSVC(dual=False, tol=1e-12)
SMALL = {"min_kept": 3, "kept_ratio": 0.1, "tolerance": 2.0}  # enough to prune on small data


def make_data(n=90, n_features=14, n_labels=10, seed=0):
    """Sparse features, and labels from frequent to rare in no order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.6)
    latent = X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=(n, n_labels))
    shares = rng.permutation(np.linspace(0.55, 0.97, n_labels))
    levels = [np.quantile(latent[:, j], shares[j]) for j in range(n_labels)]
    return X, (latent > levels).astype(int)


def held_out_and_rest(n, fraction, seed):
    order = np.random.RandomState(seed).permutation(n)
    count = math.floor(fraction * n)
    return np.sort(order[:count]), np.sort(order[count:])


# --- the literal version -------------------------------------------------------------------------


def literal_weights(base, X, Y):
    """Weights (D, M) and intercepts, label by label; a constant label scores a million."""
    W, b = np.zeros((X.shape[1], Y.shape[1])), np.zeros(Y.shape[1])
    for j in range(Y.shape[1]):
        if Y[:, j].min() == Y[:, j].max():
            b[j] = 1e6 if Y[0, j] else -1e6
        else:
            model = clone(base).fit(X, Y[:, j])
            W[:, j], b[j] = model.coef_[0], np.ravel(model.intercept_)[0]
    return W, b


def literal_performance(scores, Y, removed):
    """100 (P@1 + P@3 + P@5)/3 with loops; k > M is left out, an empty place is a miss."""
    N, M = Y.shape
    precisions = []
    for k in (1, 3, 5):
        if k > M:
            continue
        count = 0
        for i in range(N):
            left = [j for j in range(M) if j not in removed]
            left.sort(key=lambda j: (-scores[i, j], j))
            for j in left[:k]:
                count += Y[i, j]
        precisions.append(count / (k * N))
    return 100 * sum(precisions) / len(precisions)


def literal_pop(base, X, Y, *, eps, min_kept, ratio, cut, fraction, seed):
    """The steps of the authors' script, with its 1-based bounds, on rows held out of training."""
    D, M = X.shape[1], Y.shape[1]
    order = sorted(range(M), key=lambda j: (Y[:, j].sum(), j))
    held_out, rest = held_out_and_rest(len(X), fraction, seed)
    W, b = literal_weights(base, X[rest], Y[rest])
    scores = X[held_out] @ W + b
    best = literal_performance(scores, Y[held_out], set())
    lb, ub = 1, M - 1
    while ub - lb > 1:
        mid = (lb + ub) // 2
        if literal_performance(scores, Y[held_out], set(order[: mid - 1])) >= best - eps - 1e-9:
            lb = mid
        else:
            ub = mid
    W, b = literal_weights(base, X, Y)
    k = max(min_kept, math.ceil(ratio * D))
    for j in order[: lb - 1]:
        by_size = sorted(range(D), key=lambda i: (-abs(W[i, j]), i))
        for i in by_size[k:]:
            W[i, j] = 0
    for j in range(M):
        for i in range(D):
            if abs(W[i, j]) <= cut:
                W[i, j] = 0
    return lb - 1, W, b


REFERENCE = LogisticRegression(solver="liblinear", C=0.1, fit_intercept=False)


@pytest.mark.parametrize("estimator", [None, BIASED, SVM], ids=["default", "intercept", "svm"])
@pytest.mark.parametrize("tolerance", [0.1, 3.0, 1000.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_equals_the_literal_version(seed, tolerance, estimator):
    X, Y = make_data(seed=seed)
    n_pruned, W, b = literal_pop(
        REFERENCE if estimator is None else estimator,
        X,
        Y,
        eps=tolerance,
        min_kept=2,
        ratio=0.25,
        cut=0.05,
        fraction=0.3,
        seed=seed,
    )
    model = POPClassifier(
        estimator,
        tolerance=tolerance,
        min_kept=2,
        kept_ratio=0.25,
        min_weight=0.05,
        validation_fraction=0.3,
        random_state=seed,
    ).fit(X, Y)
    assert model.n_pruned_labels_ == n_pruned
    np.testing.assert_allclose(model.coef_.toarray(), W.T, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), X @ W + b, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_labels", range(1, 8))
def test_few_labels(n_labels):
    """A huge tolerance prunes all but three labels, and none where there are three or fewer."""
    X, Y = make_data(n_labels=n_labels)
    model = POPClassifier(tolerance=1e6, min_kept=1, kept_ratio=0.0, random_state=0)
    model.fit(X, sp.csr_array(Y))
    assert model.n_pruned_labels_ == max(0, n_labels - 3)
    kept = np.diff(model.coef_.indptr)
    rarest = np.argsort(Y.sum(axis=0), kind="stable")
    assert (kept[rarest[: model.n_pruned_labels_]] == 1).all()
    assert (kept[rarest[model.n_pruned_labels_ :]] > 1).all()
    assert model.predict(X).shape == (90, n_labels)


# --- what is kept, what is promised --------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_without_pruning_it_is_one_vs_rest(container):
    X, Y = make_data()
    model = POPClassifier(tolerance=0, min_weight=0, kept_ratio=1.0, random_state=0)
    plain = OneVsRestClassifier(REFERENCE).fit(X, Y)
    model.fit(container(X), Y)
    np.testing.assert_allclose(
        model.decision_function(container(X)), plain.decision_function(X), rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(container(X)), plain.predict(X))
    np.testing.assert_allclose(
        model.predict_proba(container(X)), plain.predict_proba(X), rtol=0, atol=1e-9
    )
    assert model.n_weights_ == model.n_weights_full_


class Recorder(LogisticRegression):
    """Remembers on what it was fitted."""

    log = ()

    def fit(self, X, y, sample_weight=None):
        Recorder.log = (*Recorder.log, (np.array(X), np.array(y)))
        return super().fit(X, y, sample_weight)


def test_the_search_sees_no_held_out_row_and_the_model_every_row():
    X, Y = make_data(n_labels=6)
    Recorder.log = ()
    POPClassifier(Recorder(), random_state=3).fit(X, Y)
    _, rest = held_out_and_rest(len(X), 0.2, 3)
    assert len(Recorder.log) == 12
    for j, (seen, y) in enumerate(Recorder.log):
        rows = rest if j < 6 else np.arange(len(X))
        np.testing.assert_array_equal(seen, X[rows])
        np.testing.assert_array_equal(y, Y[rows, j % 6])


def test_sizes_are_the_true_ones():
    X, Y = make_data()
    model = POPClassifier(**SMALL, min_weight=0.1, random_state=0).fit(X, Y)
    full = POPClassifier(tolerance=0, min_weight=0, kept_ratio=1.0).fit(X, Y)
    assert model.n_pruned_labels_ > 0
    assert model.n_weights_ == np.count_nonzero(model.coef_.toarray()) == model.coef_.data.size
    assert model.n_weights_full_ == np.count_nonzero(full.coef_.toarray())
    assert model.n_weights_ < model.n_weights_full_


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [None, BIASED, SVM], ids=["default", "intercept", "svm"])
@pytest.mark.parametrize("threshold", [1e-300, 0.01, 0.5, 1 - 1e-16])
def test_constant_labels(estimator, threshold):
    X, Y = make_data(n_labels=6)
    Y[:, 1], Y[:, 4] = 0, 1
    model = POPClassifier(estimator, threshold=threshold, random_state=0).fit(X, Y)
    far = 1000 * X
    assert (model.predict(far)[:, 1] == 0).all()
    assert (model.predict(far)[:, 4] == 1).all()
    scores = model.decision_function(X)
    np.testing.assert_array_equal(scores[:, [1, 4]], np.tile([-1e6, 1e6], (len(X), 1)))
    assert np.diff(model.coef_.indptr)[[1, 4]].tolist() == [0, 0]
    np.testing.assert_array_equal(model.predict_topk(X, 6)[0][:, [0, 5]], np.tile([4, 1], (90, 1)))


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("estimator", [None, SVM], ids=["default", "svm"])
def test_two_classes(estimator, threshold):
    X, Y = make_data()
    y = np.where(Y[:, 0], "yes", "no")
    model = POPClassifier(estimator, threshold=threshold, min_weight=0).fit(X, y)
    plain = clone(REFERENCE if estimator is None else estimator).fit(X, y)
    scores = model.decision_function(X)
    assert scores.shape == (90,)
    offset = math.log(threshold / (1 - threshold))
    np.testing.assert_allclose(scores, plain.decision_function(X) - offset, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])
    assert model.n_pruned_labels_ == 0
    if estimator is None:
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    with pytest.raises(ValueError, match="two classes"):
        model.predict_topk(X, 1)


# --- estimators -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), DecisionTreeClassifier(), SVC(kernel="rbf")], ids=repr
)
def test_estimators_that_are_no_linear_classifiers_are_refused(estimator):
    X, Y = make_data()
    with pytest.raises(ValueError, match=f"linear .* and {type(estimator).__name__} has not; pass"):
        POPClassifier(estimator).fit(X, Y)


@pytest.mark.parametrize("estimator", [SVC(kernel="linear"), Perceptron(), BIASED], ids=repr)
def test_linear_classifiers_keep_their_decision_function(estimator):
    """Label by label, where nothing is pruned; what was fitted decides on probabilities."""
    X, Y = make_data()
    model = POPClassifier(estimator, tolerance=0, kept_ratio=1.0, min_weight=0).fit(X, Y)
    expected = [clone(estimator).fit(X, y).decision_function(X) for y in Y.T]
    np.testing.assert_allclose(model.decision_function(X), np.transpose(expected), atol=1e-9)
    assert hasattr(model.set_params(estimator=None), "predict_proba") == (estimator is BIASED)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_whose_squares_vanish_are_refused(form):
    """LIBLINEAR never comes back from them."""
    X, Y = make_data()
    with pytest.raises(ValueError, match=r"at least 1e-150.*and is \d.*e-300; multiply"):
        POPClassifier(random_state=0).fit(form(X * 1e-300), Y)
    assert POPClassifier(random_state=0).fit(form(X * 0.0), Y).n_weights_ == 0
