"""POPClassifier against a slow literal version, against plain one-vs-rest, and at its edges."""

import inspect
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import compactlearn
from compactlearn import POPClassifier
from compactlearn.related import _pop as pop
from tests.sklearn_checks import checks_that_run, run_check

SEEDS = range(6)
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


def held_and_rest(n, fraction, seed):
    order = np.random.RandomState(seed).permutation(n)
    n_held = math.floor(fraction * n)
    return np.sort(order[:n_held]), np.sort(order[n_held:])


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
    held, rest = held_and_rest(len(X), fraction, seed)
    W, b = literal_weights(base, X[rest], Y[rest])
    scores = X[held] @ W + b
    best = literal_performance(scores, Y[held], set())
    lb, ub = 1, M - 1
    while ub - lb > 1:
        mid = (lb + ub) // 2
        if literal_performance(scores, Y[held], set(order[: mid - 1])) >= best - eps - 1e-9:
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


def test_the_literal_runs_meet_interesting_cases():
    """The comparison above is worth something: the searches end low, in the middle and high."""
    found = {
        POPClassifier(BIASED, tolerance=t, validation_fraction=0.3, random_state=s)
        .fit(*make_data(seed=s))
        .n_pruned_labels_
        for s in SEEDS
        for t in (0.1, 3.0, 1000.0)
    }
    assert {0, 7} < found
    assert len(found) >= 5


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
    assert model.n_parameters_ == model.n_parameters_full_


@pytest.mark.parametrize("seed", SEEDS)
def test_kept_weights_are_those_of_the_full_model(seed):
    X, Y = make_data(seed=seed)
    full = POPClassifier(BIASED, tolerance=0, min_weight=0, kept_ratio=1.0).fit(X, Y)
    model = POPClassifier(BIASED, **SMALL, min_weight=0.1, random_state=seed).fit(X, Y)
    W, every = model.coef_.toarray(), full.coef_.toarray()
    kept = W != 0
    np.testing.assert_array_equal(W[kept], every[kept])
    assert (np.abs(every[kept]) > 0.1).all()
    np.testing.assert_array_equal(model.intercept_, full.intercept_)
    rarest = np.argsort(Y.sum(axis=0), kind="stable")
    for rank, j in enumerate(rarest):
        large = np.abs(every[j]) > 0.1
        if rank < model.n_pruned_labels_:
            assert kept[j].sum() == min(3, large.sum())
            assert np.abs(every[j][~kept[j] & large]).max(initial=0) <= np.abs(W[j][kept[j]]).min()
        else:
            np.testing.assert_array_equal(kept[j], large)


@pytest.mark.parametrize("tolerance", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_promise_on_the_validation_rows(seed, tolerance):
    """The removal found keeps the performance; one label more does not, or is out of reach."""
    X, Y = make_data(seed=seed)
    model = POPClassifier(tolerance=tolerance, random_state=seed).fit(X, Y)
    held, rest = held_and_rest(len(X), 0.2, seed)
    W, b = literal_weights(REFERENCE, X[rest], Y[rest])
    rarest = np.argsort(Y.sum(axis=0), kind="stable").tolist()

    def performance(n):
        return literal_performance(X[held] @ W + b, Y[held], set(rarest[:n]))

    r = model.n_pruned_labels_
    bound = performance(0) - tolerance - 1e-9
    assert performance(r) >= bound
    assert r + 1 == Y.shape[1] - 2 or performance(r + 1) < bound


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
    _, rest = held_and_rest(len(X), 0.2, 3)
    assert len(Recorder.log) == 12
    for j, (seen, y) in enumerate(Recorder.log):
        rows = rest if j < 6 else np.arange(len(X))
        np.testing.assert_array_equal(seen, X[rows])
        np.testing.assert_array_equal(y, Y[rows, j % 6])


def test_predicting_learns_nothing():
    X, Y = make_data()
    model = POPClassifier(**SMALL, random_state=0).fit(X[:60], Y[:60])
    before = pickle.dumps(model)
    model.predict(X[60:]), model.predict_topk(X[60:], 3), model.predict_proba(X[60:])
    assert pickle.dumps(model) == before


def test_sizes_are_the_true_ones():
    X, Y = make_data()
    model = POPClassifier(**SMALL, min_weight=0.1, random_state=0).fit(X, Y)
    full = POPClassifier(tolerance=0, min_weight=0, kept_ratio=1.0).fit(X, Y)
    assert model.n_pruned_labels_ > 0
    assert model.n_parameters_ == np.count_nonzero(model.coef_.toarray()) == model.coef_.data.size
    assert model.n_parameters_full_ == np.count_nonzero(full.coef_.toarray())
    assert model.n_parameters_ < model.n_parameters_full_
    arrays = [model.coef_.data, model.coef_.indices, model.coef_.indptr, model.intercept_]
    assert model.size_ == sum(len(a.tobytes()) for a in arrays)
    dense = [full.coef_.toarray(), full.intercept_]
    assert model.size_full_ == full.size_full_ == sum(len(a.tobytes()) for a in dense)


def test_pruning_makes_a_large_model_smaller():
    rng = np.random.default_rng(0)
    X = sp.random_array((150, 400), density=0.05, rng=rng, format="csr")
    Y = (X @ rng.normal(size=(400, 20)) > np.linspace(1, 3, 20)).astype(int)
    model = POPClassifier(tolerance=1.0, kept_ratio=0.02, min_kept=5, random_state=0).fit(X, Y)
    assert model.n_pruned_labels_ > 5
    assert model.size_ < 0.7 * model.size_full_


@pytest.mark.parametrize(
    ("n_features", "min_kept", "ratio", "expected"),
    [(14, 3, 0.1, 3), (14, 1, 0.15, 3), (14, 5, 0.1, 5), (14, 0, 0.0, 0), (14, 50, 0.05, 14)],
)
def test_number_of_kept_weights(n_features, min_kept, ratio, expected):
    X, Y = make_data(n_features=n_features)
    model = POPClassifier(tolerance=1e6, min_kept=min_kept, kept_ratio=ratio, min_weight=0)
    model.fit(X, Y)
    rarest = np.argsort(Y.sum(axis=0), kind="stable")[: model.n_pruned_labels_]
    assert (np.diff(model.coef_.indptr)[rarest] == expected).all()


def test_weights_of_exactly_the_smallest_size_go():
    X, Y = make_data()
    full = POPClassifier(tolerance=0, min_weight=0, kept_ratio=1.0).fit(X, Y).coef_.toarray()
    border = float(np.sort(np.abs(full), axis=None)[20])
    kept = POPClassifier(tolerance=0, min_weight=border, kept_ratio=1.0).fit(X, Y).coef_.toarray()
    np.testing.assert_array_equal(kept != 0, np.abs(full) > border)


def test_equal_weights_keep_the_lowest_index():
    w = np.array([1.0, -2.0, 2.0, 2.0, -1.0])
    np.testing.assert_array_equal(pop._prune(w, 2, 0.0), [0, -2.0, 2.0, 0, 0])


def test_equal_scores_rank_the_lowest_index_first():
    present = np.array([[False, True, False, False]])
    level = np.zeros((1, 4))
    assert pop._precision(present, level, [1]) == 0
    assert pop._precision(present, level, [3]) == pytest.approx(1 / 3)
    assert pop._precision(present[:, 1:], level[:, 1:], [1]) == 1


def test_rows_of_zeros_rank_by_index_whatever_is_removed():
    """Without intercept all their scores are 0: the literal version settles it by the index."""
    for seed in SEEDS:
        X, Y = make_data(seed=seed)
        X[::2] = 0
        n_pruned, *_ = literal_pop(
            REFERENCE, X, Y, eps=1.0, min_kept=3, ratio=0.0, cut=0.0, fraction=0.3, seed=seed
        )
        model = POPClassifier(tolerance=1.0, validation_fraction=0.3, random_state=seed)
        assert model.fit(X, Y).n_pruned_labels_ == n_pruned


def test_what_costs_nothing_goes_even_without_tolerance():
    """Four labels that no row has rank last, so their removal changes no hit."""
    X, Y = make_data(n_labels=8)
    rarest = np.argsort(Y.sum(axis=0))[:4]
    Y[:, rarest] = 0
    assert POPClassifier(tolerance=0, random_state=0).fit(X, Y).n_pruned_labels_ >= 4


def test_the_search_is_the_authors_even_where_performance_is_not_monotone():
    asked = []

    def enough(n):
        asked.append(n)
        return n in {1, 2, 3, 9, 10, 11, 12}

    assert pop._bisect(enough, 20) == 12  # 9, 13, 11, 12: never learns that 4 to 8 are not enough
    assert asked == [9, 13, 11, 12]
    assert pop._bisect(lambda n: n != 9, 20) == 8  # and may miss 17


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_the_labels_is_of_no_account(seed):
    """Where frequencies differ: equally rare labels go by their index."""
    X, Y = make_data(seed=seed)
    assert len(set(Y.sum(axis=0))) == 10
    order = np.random.default_rng(seed).permutation(10)
    one = POPClassifier(**SMALL, random_state=seed).fit(X, Y)
    two = POPClassifier(**SMALL, random_state=seed).fit(X, Y[:, order])
    assert one.n_pruned_labels_ == two.n_pruned_labels_
    np.testing.assert_array_equal(two.coef_.toarray(), one.coef_.toarray()[order])
    np.testing.assert_array_equal(two.decision_function(X), one.decision_function(X)[:, order])
    np.testing.assert_array_equal(two.predict(X), one.predict(X)[:, order])


def test_equally_rare_labels_go_by_index():
    X, Y = make_data(n_labels=4)
    Y = Y[:, [0, 0, 0, 0]]
    params = {"tolerance": 1e6, "min_kept": 1, "kept_ratio": 0.0, "random_state": 0}
    model = POPClassifier(**params).fit(X, Y)
    kept = np.diff(model.coef_.indptr)
    assert kept[0] == 1
    assert (kept[1:] > 1).all()


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


def test_all_labels_constant():
    X, _ = make_data()
    Y = np.tile([0, 1, 0, 1, 1], (90, 1))
    model = POPClassifier(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)
    assert model.n_parameters_ == model.n_parameters_full_ == 0


@pytest.mark.parametrize(
    ("n", "fraction"), [(1, 0.2), (2, 0.9), (4, 0.2), (5, 0.2), (20, 0.04), (20, 0.99)]
)
def test_very_few_rows(n, fraction):
    X, Y = make_data()
    model = POPClassifier(tolerance=1e6, validation_fraction=fraction, random_state=0)
    model.fit(X[:n], Y[:n])
    assert np.isfinite(model.decision_function(X)).all()
    held, _ = held_and_rest(n, fraction, 0)
    assert model.n_pruned_labels_ == (7 if Y[:n][held].any() else 0)


def test_validation_rows_without_labels_measure_nothing():
    X, Y = make_data()
    held, _ = held_and_rest(90, 0.2, 0)
    Y[held] = 0
    assert POPClassifier(random_state=0).fit(X, Y).n_pruned_labels_ == 0


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("estimator", [None, BIASED, SVM], ids=["default", "intercept", "svm"])
def test_labels_are_sigmoids_above_the_threshold(estimator, threshold):
    X, Y = make_data()
    model = POPClassifier(estimator, threshold=threshold, random_state=0).fit(X, Y)
    scores = X @ model.coef_.toarray().T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), 1 / (1 + np.exp(-scores)) > threshold)
    assert 0 < model.predict(X).mean() < 1


def test_a_score_on_the_boundary_is_not_enough():
    X, Y = make_data()
    model = POPClassifier(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(np.zeros((1, 14))), np.zeros((1, 10)))
    assert not model.predict(np.zeros((1, 14))).any()


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


def test_several_classes():
    X, Y = make_data(n_labels=6)
    y = np.array(list("abcdef"))[(Y * np.arange(1, 7)).argmax(axis=1)]
    model = POPClassifier(BIASED, min_weight=0, tolerance=0, kept_ratio=1.0).fit(X, y)
    plain = OneVsRestClassifier(BIASED).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    far = model.predict_proba(1e6 * X)
    np.testing.assert_allclose(far.sum(axis=1), 1)
    assert model.predict_topk(X, 2)[0].shape == (90, 2)


def test_probabilities_are_sigmoids_of_pruned_scores():
    X, Y = make_data()
    model = POPClassifier(**SMALL, random_state=0).fit(X, Y)
    np.testing.assert_allclose(
        model.predict_proba(X), 1 / (1 + np.exp(-model.decision_function(X))), atol=1e-12
    )


@pytest.mark.parametrize("estimator", [SVM, Perceptron(), SGDClassifier(loss="log_loss")], ids=repr)
def test_other_classifiers_have_no_probabilities(estimator):
    model = POPClassifier(estimator)
    assert not hasattr(model, "predict_proba")
    model.fit(*make_data())
    assert not hasattr(model, "predict_proba")
    # What was fitted decides, not what will be.
    assert not hasattr(model.set_params(estimator=None), "predict_proba")
    with pytest.raises(AttributeError):
        model.predict_proba(make_data()[0])


@pytest.mark.parametrize("k", [1, 4, 10])
def test_topk_is_the_sorted_decision_function(k, monkeypatch):
    monkeypatch.setattr("compactlearn.metrics._checks.BLOCK_CELLS", 250)  # several blocks
    X, Y = make_data()
    model = POPClassifier(**SMALL, random_state=0).fit(X, Y)
    indices, best = model.predict_topk(sp.csr_array(X), k)
    scores = model.decision_function(X)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(best, np.take_along_axis(scores, expected, axis=1), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), scores > 0)


# --- forms of the data ----------------------------------------------------------------------------


def wide_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


FORMS = {
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "64-bit indices": wide_indices,
    "frame": lambda X: pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("seed", SEEDS)
def test_forms_of_features(form, seed):
    X, Y = make_data(seed=seed)
    dense = POPClassifier(**SMALL, random_state=seed).fit(X, Y)
    other = POPClassifier(**SMALL, random_state=seed).fit(form(X), Y)
    assert other.n_pruned_labels_ == dense.n_pruned_labels_
    np.testing.assert_allclose(other.coef_.toarray(), dense.coef_.toarray(), atol=1e-9)
    np.testing.assert_allclose(
        other.decision_function(form(X)), dense.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize(
    "form", [sp.csr_array, sp.csc_matrix, pd.DataFrame, lambda Y: Y.astype(bool), np.float32]
)
def test_forms_of_labels(form):
    X, Y = make_data()
    expected = POPClassifier(**SMALL, random_state=0).fit(X, Y)
    model = POPClassifier(**SMALL, random_state=0).fit(X, y=form(Y))
    np.testing.assert_array_equal(model.coef_.toarray(), expected.coef_.toarray())
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_names_and_types_are_kept_and_forgotten():
    X, Y = make_data()
    frames = FORMS["frame"](X), pd.DataFrame(Y.astype(np.int8), columns=list("abcdefghij"))
    model = POPClassifier(random_state=0).fit(*frames)
    assert model.label_names_ == list("abcdefghij")
    assert model.feature_names_in_.tolist() == [f"f{i}" for i in range(14)]
    assert model.predict(frames[0]).dtype == np.int8
    model.fit(X, Y)
    assert vars(model).keys() == vars(POPClassifier(random_state=0).fit(X, Y)).keys()
    assert not hasattr(model, "label_names_")


def test_weights_and_features_stay_sparse(monkeypatch):
    """Neither X nor coef_ is made dense: only the scores are."""
    X, Y = make_data()
    model = POPClassifier(**SMALL, random_state=0).fit(sp.csr_array(X), Y)
    assert isinstance(model.coef_, sp.csr_array)
    shapes = []
    plain = sp.csr_array.toarray

    def toarray(self, *args, **kwargs):
        shapes.append(self.shape)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(sp.csr_array, "toarray", toarray)
    model.predict(sp.csr_array(X[:7]))
    assert shapes == [(7, 10)]


# --- weights of rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_weight_zero_are_absent(seed):
    X, Y = make_data(seed=seed)
    weights = np.random.default_rng(seed).integers(0, 3, 90).astype(float)
    some = weights > 0
    one = POPClassifier(**SMALL, random_state=seed).fit(X, Y, sample_weight=weights)
    two = POPClassifier(**SMALL, random_state=seed).fit(X[some], Y[some], weights[some])
    assert one.n_pruned_labels_ == two.n_pruned_labels_
    np.testing.assert_array_equal(one.coef_.toarray(), two.coef_.toarray())


def test_weights_reach_the_estimator():
    X, Y = make_data()
    weights = np.random.default_rng(0).uniform(0.1, 3, 90)
    model = POPClassifier(min_weight=0, tolerance=0, kept_ratio=1.0).fit(X, Y, weights)
    expected = [clone(REFERENCE).fit(X, y, weights).coef_[0] for y in Y.T]
    np.testing.assert_allclose(model.coef_.toarray(), expected, atol=1e-12)


def test_weights_count_in_frequencies():
    X, Y = make_data(n_labels=4)
    params = {"tolerance": 1e6, "min_kept": 1, "kept_ratio": 0.0, "random_state": 0}
    rarest = int(np.argmin(Y.sum(axis=0)))
    assert np.diff(POPClassifier(**params).fit(X, Y).coef_.indptr)[rarest] == 1
    weights = np.where(Y[:, rarest], 100.0, 1.0)
    assert np.diff(POPClassifier(**params).fit(X, Y, weights).coef_.indptr)[rarest] > 1


def test_weights_count_in_performance():
    """A light validation row cannot hold a label back that a heavy one would."""
    X, Y = make_data(n_labels=6, seed=1)
    held, rest = held_and_rest(90, 0.2, 0)
    W, b = literal_weights(BIASED, X[rest], Y[rest])
    scores, truth = X[held] @ W + b, Y[held]
    rarest = np.argsort(Y.sum(axis=0), kind="stable").tolist()
    rows = range(len(held))
    losses = [
        literal_performance(scores[[i]], truth[[i]], set())
        - literal_performance(scores[[i]], truth[[i]], set(rarest[:2]))
        for i in rows
    ]
    assert max(losses) > 1
    heavy = np.ones(90)
    heavy[held] = np.where(np.array(losses) > 0, 1.0, 1e-9)
    light = np.ones(90)
    light[held] = np.where(np.array(losses) > 0, 1e-9, 1.0)
    base = Unweighted(solver="liblinear", C=0.5)  # the same weights of the model either way
    params = {"tolerance": 1.0, "random_state": 0}
    assert POPClassifier(base, **params).fit(X, Y, heavy).n_pruned_labels_ < 2
    assert POPClassifier(base, **params).fit(X, Y, light).n_pruned_labels_ >= 2


class Unweighted(LogisticRegression):
    """Takes weights and ignores them."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


# --- seeds, copies, parameters --------------------------------------------------------------------


@pytest.mark.parametrize(
    "make_seed", [lambda: 5, lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)]
)
@pytest.mark.parametrize("estimator", [None, SGDClassifier()], ids=["default", "sgd"])
def test_same_seed_same_model(make_seed, estimator):
    X, Y = make_data()
    one, two = (
        POPClassifier(estimator, **SMALL, random_state=make_seed()).fit(X, Y) for _ in range(2)
    )
    assert one.n_pruned_labels_ == two.n_pruned_labels_
    np.testing.assert_array_equal(one.coef_.toarray(), two.coef_.toarray())


def test_an_estimator_keeps_a_seed_of_its_own():
    X, Y = make_data()
    params = {"tolerance": 0, "kept_ratio": 1.0}  # so that only the estimator's seed can matter
    one, two = (
        POPClassifier(SGDClassifier(random_state=1), **params, random_state=s).fit(X, Y)
        for s in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_.toarray(), two.coef_.toarray())


@pytest.mark.parametrize("estimator", [None, SGDClassifier()], ids=["default", "sgd"])
def test_number_of_processes_is_of_no_account(estimator):
    X, Y = make_data()
    one, two = (
        POPClassifier(estimator, **SMALL, n_jobs=jobs, random_state=0).fit(X, Y)
        for jobs in (None, 2)
    )
    assert one.n_pruned_labels_ == two.n_pruned_labels_
    np.testing.assert_array_equal(one.coef_.toarray(), two.coef_.toarray())
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@pytest.mark.parametrize("estimator", [None, SVM], ids=["default", "svm"])
def test_copies(estimator):
    X, Y = make_data()
    model = POPClassifier(estimator, **SMALL, random_state=0)
    before = dict(vars(model))
    model.fit(X, Y)
    assert all(vars(model)[name] is value for name, value in before.items())
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    fresh = clone(model)
    assert repr(fresh) == repr(model)
    assert not hasattr(fresh, "coef_")
    np.testing.assert_array_equal(fresh.fit(X, Y).coef_.toarray(), model.coef_.toarray())


def test_parameters_set_after_fit_wait_for_the_next_fit():
    X, Y = make_data()
    model = POPClassifier(random_state=0).fit(X, Y)
    labels, scores = model.predict(X), model.decision_function(X)
    model.set_params(threshold=0.9, min_weight=1.0, estimator=SVM)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert hasattr(model, "predict_proba")


def test_nested_parameters_and_pipelines():
    X, Y = make_data()
    model = POPClassifier(LogisticRegression()).set_params(estimator__C=2.0)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert pipeline.predict(X).shape == (90, 10)
    assert not hasattr(model.estimator, "coef_")


def test_public_name_and_signature():
    assert "POPClassifier" in compactlearn.__all__
    parameters = inspect.signature(POPClassifier).parameters
    assert {name: p.default for name, p in parameters.items()} == {
        "estimator": None,
        "tolerance": 0.1,
        "min_kept": 50,
        "kept_ratio": 0.05,
        "min_weight": 0.01,
        "validation_fraction": 0.2,
        "threshold": 0.5,
        "n_jobs": None,
        "random_state": None,
        "verbose": 0,
    }
    kinds = [p.kind for p in parameters.values()]
    assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds[1:]) == {inspect.Parameter.KEYWORD_ONLY}


def test_documented_attributes_are_the_fitted_ones():
    X, Y = make_data()
    model = POPClassifier().fit(FORMS["frame"](X), pd.DataFrame(Y, columns=list("abcdefghij")))
    section = re.search(r"Attributes\n-+\n(.*?)\nNotes\n", inspect.getdoc(POPClassifier), re.DOTALL)
    heads = re.findall(r"^(\S[^:;\n]*?)\s*(?:[:;].*)?$", section.group(1), re.MULTILINE)
    documented = {name.strip() for head in heads for name in head.split(",")}
    learnt = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    computed = {"nbytes_", "numbers_", "size_", "compression_"}  # the last by compress
    assert documented == learnt | computed
    assert all(hasattr(model.compress(), name) for name in computed)


# --- refusals -------------------------------------------------------------------------------------


def fitted_state(model):
    return pickle.dumps({k: v for k, v in vars(model).items() if k not in model.get_params()})


def refused(change, match, *data, sample_weight=None):
    """A full sentence, and the model that was fitted before is still the same."""
    X, Y = make_data()
    model = POPClassifier(**SMALL, random_state=0).fit(X, Y)
    before, scores = fitted_state(model), model.decision_function(X)
    model.set_params(**change)
    with pytest.raises(ValueError, match=match) as caught:
        model.fit(*(data or (X, Y)), sample_weight=sample_weight)
    assert fitted_state(model) == before
    np.testing.assert_array_equal(model.decision_function(X), scores)
    text = str(caught.value)
    assert len(text.split()) >= 10, text
    assert text.endswith("."), text
    return text


NUMBERS = [
    ("tolerance", -0.1, ">= 0"),
    ("tolerance", float("nan"), ">= 0"),
    ("tolerance", "none", ">= 0"),
    ("min_kept", -1, ">= 0"),
    ("min_kept", 2.5, "integer"),
    ("kept_ratio", -0.1, ">= 0 and <= 1"),
    ("kept_ratio", 1.1, ">= 0 and <= 1"),
    ("min_weight", -1e-9, ">= 0"),
    ("min_weight", None, ">= 0"),
    ("validation_fraction", 0.0, "> 0 and < 1"),
    ("validation_fraction", 1.0, "> 0 and < 1"),
    ("threshold", 0.0, "> 0 and < 1"),
    ("threshold", 1.0, "> 0 and < 1"),
    ("threshold", [0.5] * 10, "> 0 and < 1"),
    ("n_jobs", "two", "integer"),
    ("random_state", -1, "integer"),
]


@pytest.mark.parametrize(("name", "value", "bound"), NUMBERS, ids=str)
def test_numbers_out_of_range(name, value, bound):
    text = refused({name: value}, re.escape(name))
    assert bound in text


class TwoRows(ClassifierMixin, BaseEstimator):
    """A classifier with one row of weights for each of two classes."""

    def fit(self, X, y):
        self.classes_, self.coef_ = np.unique(y), np.zeros((2, X.shape[1]))
        return self


class TwoIntercepts(TwoRows):
    def fit(self, X, y):
        self.coef_, self.intercept_ = np.zeros((1, X.shape[1])), np.zeros(2)
        return self


class Overflow(TwoRows):
    def fit(self, X, y):
        self.coef_ = np.full((1, X.shape[1]), np.inf)
        return self


class Bare:
    """Neither scikit-learn's nor a classifier."""

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}


ESTIMATORS = [
    ("liblinear", "'liblinear'"),
    (LogisticRegression, "Pass an instance"),
    (LinearRegression(), "LinearRegression"),
    (Bare(), "Bare"),
    (DecisionTreeClassifier(), "coef_.*DecisionTreeClassifier"),
    (KNeighborsClassifier(), "KNeighborsClassifier"),
    (SVC(kernel="rbf"), "SVC"),
    (TwoRows(), r"\(1, 14\).*TwoRows.*\(2, 14\)"),
    (TwoIntercepts(), "one intercept.* and 2"),
    (Overflow(), "infinite"),
]


@pytest.mark.parametrize(("estimator", "match"), ESTIMATORS, ids=lambda value: repr(value)[:30])
def test_estimators_that_will_not_do(estimator, match):
    refused({"estimator": estimator}, match)


def test_estimators_without_weights_of_rows():
    weights = np.ones(90)
    text = refused(
        {"estimator": LinearDiscriminantAnalysis()}, "sample_weight", sample_weight=weights
    )
    assert "LinearDiscriminantAnalysis" in text


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel="linear"),
        RidgeClassifier(),
        Perceptron(),
        LinearSVC(dual=False, fit_intercept=False),
        LogisticRegression(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_estimators_that_will_do(estimator, container):
    """Their own decision function, label by label, where nothing is pruned."""
    X, Y = make_data()
    model = POPClassifier(estimator, tolerance=0, kept_ratio=1.0, min_weight=0)
    model.fit(container(X), Y)
    expected = [clone(estimator).fit(container(X), y).decision_function(container(X)) for y in Y.T]
    np.testing.assert_allclose(
        model.decision_function(container(X)), np.transpose(expected), atol=1e-9
    )


def test_bad_data():
    X, Y = make_data()
    refused({}, "NaN", np.where(X == X[3, 2], np.nan, X), Y)
    refused({}, "0 or 1", X, 2 * Y)
    refused({}, "88", X, Y[:88])
    refused({}, "negative|-1", X, Y, sample_weight=np.r_[-1, np.ones(89)])
    model = POPClassifier().fit(X, Y)
    for k in (0, 11, 1.5, True):
        with pytest.raises(ValueError, match=re.escape(f"(10), and was given {k!r}")):
            model.predict_topk(X, k)
    with pytest.raises(ValueError, match="14"):
        model.predict(X[:, :3])
    with pytest.raises(Exception, match="not fitted"):
        POPClassifier().predict(X)


# --- scikit-learn's checks ------------------------------------------------------------------------

CHECKED = [
    POPClassifier(),
    POPClassifier(**SMALL),
    POPClassifier(BIASED),
    POPClassifier(SVM),
    POPClassifier(LinearSVC(dual=False, tol=1e-12, fit_intercept=False)),
]


@parametrize_with_checks(CHECKED)
def test_sklearn_contract(estimator, check):
    run_check(check, estimator)


@pytest.mark.parametrize("estimator", CHECKED, ids=repr)
def test_the_checks_are_many(estimator):
    run = checks_that_run(estimator)
    assert len(run) >= 60, run


def test_tags():
    for estimator in CHECKED:
        tags = get_tags(estimator)
        assert tags.classifier_tags.multi_label
        assert tags.input_tags.sparse
        assert tags.target_tags.required
    assert not get_tags(POPClassifier(LinearDiscriminantAnalysis())).input_tags.sparse


def test_a_seeded_fit_leaves_numpy_s_common_generator_alone():
    X, Y = make_data()
    before = np.random.get_state()  # noqa: NPY002
    POPClassifier(random_state=0).fit(X, Y)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_whose_squares_vanish_are_refused(form):
    """LIBLINEAR never comes back from them."""
    X, Y = make_data()
    with pytest.raises(ValueError, match=r"at least 1e-150.*and is \d.*e-300; multiply"):
        POPClassifier(random_state=0).fit(form(X * 1e-300), Y)
    assert POPClassifier(random_state=0).fit(form(X * 0.0), Y).n_parameters_ == 0
