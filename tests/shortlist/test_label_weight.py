"""The label weight of ShortlistClassifier: what it solves, who is counted, and who asks for it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import AutoCompactClassifier, ShortlistClassifier
from compactlearn.auto import _candidates
from compactlearn.core._seeds import seeded
from compactlearn.linalg._many_logistic import solve_many
from compactlearn.metrics import METRICS, get_metric, inverse_propensities, scorer
from compactlearn.shortlist._fitting import FoldFit
from compactlearn.shortlist._generation import GeneratorSettings, Sizes, sparse_rows
from compactlearn.shortlist._label_reranking import label_weights
from compactlearn.shortlist._rows import ShortlistRows


def texts(n=300, n_features=60, n_labels=40, seed=0):
    """Rows of a few words, with labels of 2 to 60 rows."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, n_features, 0.1, random_state=seed, format="csr"))
    scores = X @ rng.normal(size=(n_features, n_labels)) + 0.1 * rng.normal(size=(n, n_labels))
    rank = np.argsort(np.argsort(-scores, axis=0), axis=0)
    return X, sp.csr_array((rank < np.linspace(2, 60, n_labels).astype(int)).astype(int))


X, Y = texts()
INSIDE = np.arange(X.shape[0]) % 5 == 0
SMALL = {"n_candidates": 12, "n_neighbors": 8, "C": 1.0, "random_state": 0, "n_jobs": 1}


def fold_fit(Y=Y, *, label_weight=0.0, weights=None, unknown=None):
    """Return candidates, prior and regressions without the rows inside a fold."""
    settings = GeneratorSettings(None, 8, True, Sizes(12, 6, 6), 1)
    data = ShortlistRows(X, sp.csr_array(Y), weights, unknown)
    rows = sparse_rows(X, unit=True)
    return FoldFit.of(data, rows, INSIDE, settings, seeded(0)).weighted(label_weight)


# ---- what is solved ------------------------------------------------------------------------------


@pytest.mark.parametrize("row_weights", [None, np.linspace(0.5, 2.0, X.shape[0])])
def test_the_weight_of_a_label_is_a_factor_of_its_c(row_weights):
    plain = fold_fit(weights=row_weights).problems
    found = fold_fit(weights=row_weights, label_weight=0.5).problems
    outside = np.ones(X.shape[0]) if row_weights is None else row_weights
    factors = label_weights(Y[~INSIDE].T @ outside[~INSIDE], 0.5)
    assert np.unique(factors).size > 10
    C, learnt = 2.0, plain.problems.among(~INSIDE)
    weighted = found.problems.among(~INSIDE)
    features = plain._features(C)
    for label in range(0, Y.shape[1], 7):
        one = np.array([label])
        options = {"row_weights": row_weights, "positive_only": True, "tol": 1e-4}
        expected = solve_many(features, learnt.chosen(one), C * factors[label], **options)
        given = solve_many(features, weighted.chosen(one), C, **options)
        np.testing.assert_allclose(
            given.coefficients.toarray(), expected.coefficients.toarray(), atol=1e-3
        )
        np.testing.assert_allclose(given.intercepts, expected.intercepts, atol=1e-3)


def test_sampled_pairs_keep_their_counts():
    problems = fold_fit().problems.problems
    counted = replace(problems, counts=np.full(problems.rows.size, 4.0, dtype=np.float32))
    factors = np.linspace(0.5, 2.0, Y.shape[1])
    each = np.repeat(factors, np.diff(problems.starts))
    np.testing.assert_allclose(counted.weighted(factors).counts, 4.0 * each, rtol=1e-6)
    np.testing.assert_allclose(problems.weighted(factors).counts, each, rtol=1e-6)


def test_zero_changes_nothing():
    plain = ShortlistClassifier(**SMALL).fit(X, Y)
    same = ShortlistClassifier(label_weight=0, **SMALL).fit(X, Y)
    other = ShortlistClassifier(label_weight=0.5, **SMALL).fit(X, Y)
    assert fold_fit().problems.problems.counts is None
    assert same.label_weight == 0  # stored as it was given
    assert (plain.decision_function(X) != same.decision_function(X)).nnz == 0
    assert (plain.coef_ != other.coef_).nnz > 0


def test_the_same_c_is_selected():
    auto = SMALL | {"C": "auto"}
    plain, weighted = (ShortlistClassifier(label_weight=w, **auto).fit(X, Y) for w in (0.0, 1.0))
    assert weighted.C_ == plain.C_


def test_rare_labels_have_larger_weights():
    plain = fold_fit().problems.solve(1.0, ~INSIDE).coefficients
    weighted = fold_fit(label_weight=0.5).problems.solve(1.0, ~INSIDE).coefficients
    length, longer = (np.sqrt((W.multiply(W)).sum(axis=1)) for W in (plain, weighted))
    rare = length > 0
    assert (longer[rare] > length[rare]).all()  # all of them have less than 100 rows


def test_weights_are_bounded():
    counts = np.array([0.0, 0.2, 1.0, 100.0, 1e4, 1e9])
    np.testing.assert_allclose(label_weights(counts, 1.0), [10, 10, 10, 1, 1, 1])
    np.testing.assert_allclose(label_weights(counts, 0.25)[[2, 3, 4]], [10**0.5, 1, 1])
    np.testing.assert_array_equal(label_weights(counts, 0.0), np.ones(6))


# ---- who is counted ------------------------------------------------------------------------------


def test_labels_of_held_out_rows_do_not_count():
    """Neither the regressions nor what they are weighted by know the labels of the fold."""
    changed = Y.toarray()
    changed[INSIDE] = np.random.default_rng(1).permutation(changed[INSIDE].T).T
    assert (changed.sum(axis=0) != Y.sum(axis=0)).any()
    found = [fold_fit(y, label_weight=0.5) for y in (Y, changed)]
    a, b = (one.problems.solve(1.0, ~INSIDE) for one in found)
    assert (a.coefficients != b.coefficients).nnz == 0
    np.testing.assert_array_equal(a.intercepts, b.intercepts)
    held_out = [one.held_out(w, 1.0) for one, w in zip(found, (a, b), strict=True)]
    np.testing.assert_array_equal(held_out[0].inputs, held_out[1].inputs)


def test_unknown_labels_do_not_count():
    hidden = sp.csr_array(np.random.default_rng(2).random(Y.shape) < 0.2)
    known = sp.csr_array(Y.multiply(~hidden.toarray()).astype(int))
    plain, found = (
        fold_fit(known, label_weight=w, unknown=sp.csr_array(hidden, dtype=float))
        for w in (0.0, 0.5)
    )
    given = found.problems.problems.counts[found.problems.problems.starts[:-1]]
    outside = ShortlistRows(X, known, None, sp.csr_array(hidden, dtype=float))
    counts = outside.subset(np.flatnonzero(~INSIDE)).label_counts
    np.testing.assert_allclose(given, label_weights(counts, 0.5), rtol=1e-6)
    assert plain.problems.problems.counts is None


def test_a_row_of_weight_two_is_that_row_twice():
    w = np.where(np.arange(X.shape[0]) % 3, 1.0, 2.0)
    twice = np.repeat(np.arange(X.shape[0]), w.astype(int))
    by_weight = ShortlistClassifier(label_weight=0.5, **SMALL).fit(X, Y, w)
    repeated = ShortlistClassifier(label_weight=0.5, **SMALL).fit(X[twice], Y[twice])
    a, b = (model.decision_function(X[:50]).toarray() for model in (by_weight, repeated))
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("given", [-0.1, 1.5, "auto", None, np.nan, True])
def test_other_weights_are_refused(given):
    with pytest.raises(ValueError, match=r"'label_weight' .* a finite number >= 0 and <= 1; got"):
        ShortlistClassifier(label_weight=given).fit(X, Y)


# ---- who asks for it -----------------------------------------------------------------------------


EQUAL = {"macro_f1", "psp_at_k", "psndcg_at_k"}


def test_metrics_say_whether_labels_count_equally():
    assert {name for name, metric in METRICS.items() if metric.equal_labels} == EQUAL
    assert get_metric("psp@3").equal_labels
    assert scorer("macro_f1").equal_labels


@pytest.mark.parametrize("name", ["psp", "precision", "ndcg", "psndcg", "f1", "r_precision"])
def test_a_number_may_follow_an_at_sign(name):
    for k in (1, 5, "k"):
        short, long = get_metric(f"{name}@{k}"), get_metric(f"{name}_at_{k}")
        assert (short.name, short.title, short.fixed) == (long.name, long.title, long.fixed)
    with pytest.raises(ValueError, match="got 'psp@x'"):
        get_metric("psp@x")


def shortlist_of(monkeypatch, scoring, **options):
    """Return the search and the shortlist that it fitted."""
    monkeypatch.setattr(_candidates, "SHORTLIST_ROWS", 100)
    monkeypatch.setattr(_candidates, "MANY_LABELS", 5)
    tried = []
    own = _candidates.try_shortlist
    monkeypatch.setattr(
        _candidates, "try_shortlist", lambda p, model: tried.append(model) or own(p, model)
    )
    model = AutoCompactClassifier(scoring=scoring, random_state=0, n_jobs=1).fit(X, Y, **options)
    (shortlist,) = tried
    return model, shortlist


@pytest.mark.parametrize(
    ("scoring", "weight"),
    [
        ("psp@5", 0.5),
        ("psndcg_at_3", 0.5),
        ("macro_f1", 0.5),
        (scorer("psp_at_k", k=2, weights=inverse_propensities(Y)), 0.5),
        ("precision@5", 0.0),
        ("average_precision", 0.0),
        ("micro_f1", 0.0),
    ],
)
def test_a_search_weights_rare_labels_where_the_metric_does(monkeypatch, scoring, weight):
    model, shortlist = shortlist_of(monkeypatch, scoring)
    assert shortlist.label_weight == weight
    assert np.isfinite(model.best_score_)
    assert model.scoring is scoring  # stored as it was given


def test_propensities_come_from_the_labels_of_fit(monkeypatch):
    named, _ = shortlist_of(monkeypatch, "psp@3")
    explicit = scorer("psp_at_3", weights=inverse_propensities(Y))
    given, _ = shortlist_of(monkeypatch, explicit)
    assert named.best_score_ == pytest.approx(given.best_score_, rel=1e-12)
    weights = np.where(np.arange(X.shape[0]) % 3, 1.0, 2.0)
    weighted, _ = shortlist_of(monkeypatch, "psp@3", sample_weight=weights)
    assert 0.0 < weighted.best_score_ <= 1.0


def test_propensities_of_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=80)
    rows = rng.normal(size=(80, 4)) + 2 * np.eye(3, 4)[y]
    search = AutoCompactClassifier(scoring="psp@1", cv=2, random_state=0)
    assert 0.5 < search.fit(rows, y).best_score_ <= 1.0
    with pytest.raises(ValueError, match=r"scoring='psp@1' .* three classes or more; y has two"):
        search.fit(rows, y > 0)
