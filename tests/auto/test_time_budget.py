"""Time budgets of AutoCompactClassifier, under a clock that only the models move."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import normalize

from compactlearn import AutoCompactClassifier
from compactlearn.auto import _candidates as portfolio
from compactlearn.auto._blend import Blend
from compactlearn.auto._budgets import SizeBudget, TimeBudget
from compactlearn.auto._candidates import Candidate
from compactlearn.auto._candidates import candidates as candidates_of
from compactlearn.auto._choice import best_choice, too_large
from compactlearn.auto._schedule import run_candidates
from compactlearn.auto._small_candidates import small_candidates
from compactlearn.auto._svm import SVM_WEIGHTS, try_svm
from compactlearn.auto._trials import Trial
from compactlearn.compact._quick_svm import QuickSVM
from compactlearn.core._deadline import TimeUp, checkpoint, limited, watched
from compactlearn.core._progress import Steps, track
from compactlearn.decoding._thresholds import tune
from compactlearn.linalg._many_logistic import Problems, solve_many
from compactlearn.shortlist._classifier import ShortlistClassifier
from tests.auto.problems import problem_of

STEP = 0.5  # seconds of a step at most, between which models are stopped


class FakeClock:
    """A clock that does not move until a model spends time."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def spend(self, seconds, step=STEP):
        while seconds > 0:
            self.now += min(step, seconds)
            seconds -= step
            checkpoint()


def fitted(name, score=0.5, numbers=1):
    return Trial(name, Blend(()), np.array([score]), np.arange(1), None, numbers)


def model(clock, name, estimate, cost, score=0.5, **more):
    def run():
        clock.spend(cost)
        return fitted(name, score)

    return Candidate(name, estimate, run, **more)


def names(tried):
    return [one.name for one in tried]


# ---- the schedule --------------------------------------------------------------------------------

costs = st.lists(st.tuples(st.floats(0.01, 500), st.floats(0.1, 10)), min_size=1, max_size=8)


@settings(max_examples=100, deadline=None)
@given(costs, st.floats(1, 300), st.floats(0.3, 5))
def test_the_budget_is_kept_whatever_models_cost(costs, seconds, slow):
    """Estimates are wrong by the machine and by a factor of their own."""
    clock = FakeClock()
    cheap = min(0.8, 0.5 * slow)
    first = model(clock, "cheap", 0.5, cheap, stopgap=True, next_seconds=costs[0][0], usual=True)
    others = [
        model(clock, f"model {k}", estimate, slow * wrong * estimate)
        for k, (estimate, wrong) in enumerate(costs)
    ]
    search = run_candidates([first, *others], TimeBudget(seconds, clock))
    assert clock.now <= 1.2 * seconds + 1
    assert names(search.every)
    listed = set(names(search.every)) | {one["name"] for one in search.skipped}
    assert listed == {"cheap"} | {one.name for one in others}
    assert all(one["reason"] for one in search.skipped)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.3, 20), st.floats(5, 200), st.floats(1, 100))
def test_a_slow_machine_is_known_from_its_first_model(slow, seconds, estimate):
    """A model whose estimate, times the pace of the first, does not fit is not begun."""
    clock = FakeClock()
    first = model(clock, "cheap", 0.2, 0.2 * slow, stopgap=True, next_seconds=estimate)
    search = run_candidates(
        [first, model(clock, "large", estimate, slow * estimate)], TimeBudget(seconds, clock)
    )
    fits = slow * (estimate + 0.2) <= seconds * (1 - 1e-6)
    if fits:
        assert names(search.tried) == ["large"]
    elif slow * (estimate + 0.2) > seconds * (1 + 1e-6):
        assert clock.now == pytest.approx(0.2 * slow)
        assert f"s left of time_budget={seconds:g}" in search.skipped[0]["reason"]


def test_a_model_that_takes_longer_than_estimated_is_stopped_and_listed():
    clock = FakeClock()
    source = [
        model(clock, "first", 1.0, 1.0),
        model(clock, "endless", 2.0, 1e9),
        model(clock, "never", 2.0, 2.0),
    ]
    search = run_candidates(source, TimeBudget(20.0, clock))
    assert names(search.tried) == ["first"]
    assert clock.now <= 20.0 + STEP
    assert [one["name"] for one in search.skipped] == ["endless", "never"]
    assert search.skipped[0]["reason"].startswith("stopped after")


def test_the_first_model_is_finished_and_a_budget_below_it_is_said():
    clock = FakeClock()
    source = [model(clock, "cheap", 1.0, 5.0), model(clock, "other", 1.0, 1.0)]
    with pytest.warns(UserWarning, match="time_budget=1 is less than the cheapest model takes"):
        search = run_candidates(source, TimeBudget(1.0, clock))
    assert names(search.tried) == ["cheap"]
    assert [one["name"] for one in search.skipped] == ["other"]


def test_without_a_budget_nothing_is_stopped_before_a_model_bounds_the_search():
    clock = FakeClock()
    source = [
        model(clock, "quick", 0.5, 0.5, stopgap=True, next_seconds=100.0),
        model(clock, "long", 10.0, 100.0),
        model(clock, "longer", 250.0, 1.0),
        model(clock, "not worth it", 15.0, 1.0, worth=20.0),
        model(clock, "other", 1.0, 1.0),
    ]
    search = run_candidates(source, TimeBudget(None, clock))
    assert names(search.tried) == ["long", "other"]  # 250 s do not fit in the 300 that are usual
    assert not search.stopgaps
    assert [one["name"] for one in search.skipped] == ["longer", "not worth it"]
    assert (
        "estimated to take about 15 s, and about 10 s are left for all models"
        in search.skipped[1]["reason"]
    )


@settings(max_examples=50, deadline=None)
@given(st.floats(0.5, 400), st.floats(0.2, 5), costs)
def test_a_model_bounds_the_search(estimate, slow, costs):
    """Estimates decide what is tried, whatever the machine does; the clock stops it."""
    clock = FakeClock()
    source = [
        model(clock, "quick", 0.2, 0.2 * slow, stopgap=True, usual=True),
        model(clock, "shortlist", estimate, slow * estimate, bounds=3.0),
        *(
            model(clock, f"model {k}", own, slow * wrong * own, worth=2.5 * estimate)
            for k, (own, wrong) in enumerate(costs)
        ),
    ]
    search = run_candidates(source, TimeBudget(None, clock))
    assert names(search.tried)[0] == "shortlist"  # no estimate skips the first model
    assert clock.now <= max(3.0 * slow * estimate, slow * (estimate + 0.2)) + STEP
    tried = {one.name for one in search.every}
    tried |= {one["name"] for one in search.skipped if one["reason"].startswith("stopped")}
    spent = sum(one.seconds for one in source if one.name in tried)
    assert spent <= max(2.5 * estimate, estimate + 0.2) + 1e-9


def test_progress_shows_what_is_tried_its_seconds_and_the_best_so_far():
    clock, said = FakeClock(), []
    source = [
        model(clock, "quick", 0.5, 0.5, stopgap=True, usual=True),
        model(clock, "shortlist", 12.0, 12.0, score=0.7),
        model(clock, "linear model", 200.0, 1.0),
    ]
    run_candidates(source, TimeBudget(None, clock), say=said.append)
    assert said == [
        "quick, less than a second",
        "shortlist, about 12 s, best so far 0.500",
        "linear model, about 3 minutes, best so far 0.700",
    ]


@pytest.mark.parametrize(("seconds", "preceded"), [(30.0, True), (200.0, False)])
def test_a_stopgap_precedes_a_model_that_takes_most_of_the_time(seconds, preceded):
    clock = FakeClock()
    source = [
        model(clock, "quick", 0.5, 0.5, stopgap=True, next_seconds=20.0),
        model(clock, "middle", 3.0, 3.0, stopgap=True, next_seconds=20.0),
        model(clock, "large", 20.0, 20.0),
        model(clock, "late", 1.0, 1.0, stopgap=True, next_seconds=20.0),
    ]
    search = run_candidates(source, TimeBudget(seconds, clock))
    assert names(search.tried) == ["large"]
    small = run_candidates(source[2:3], TimeBudget(None, clock), too_large=lambda *_: "too large")
    assert not small.every
    assert [(one["name"], one["reason"]) for one in small.skipped] == [("large", "too large")]
    assert names(search.stopgaps) == (["quick", "middle"] if preceded else ["quick"])


# ---- deadlines -----------------------------------------------------------------------------------


def test_steps_and_loops_are_checkpoints():
    clock = FakeClock()

    def by_steps():
        with Steps("work", 3) as steps:
            for _ in range(3):
                clock.now += 0.6
                steps.done()

    def by_items():
        for _ in track(range(9), description="work"):
            clock.now += 0.6

    for work in (by_steps, by_items):
        clock.now = 0.0
        with limited(1.0, clock), pytest.raises(TimeUp):
            work()
        assert clock.now == pytest.approx(1.2)
    checkpoint()  # outside nothing is limited


def test_an_outer_limit_stays_in_force_and_threads_know_it():
    clock = FakeClock()
    with limited(1.0, clock):
        inside = watched(checkpoint)
        with limited(100.0, clock):
            clock.now = 2.0
            with pytest.raises(TimeUp):
                checkpoint()
    with pytest.raises(TimeUp):
        inside()


def test_a_shortlist_is_stopped_between_its_steps_and_stays_as_it_was():
    problem = text_problem(300, 400, 40)
    ticks = []

    def clock():
        ticks.append(0)
        return float(len(ticks))

    model = ShortlistClassifier(random_state=0, threshold=0.5)
    with limited(1e9, clock):
        portfolio.try_shortlist(problem, ShortlistClassifier(random_state=0, threshold=0.5))
    n_steps = len(ticks)
    assert n_steps > 10
    ticks.clear()
    with limited(n_steps // 2, clock), pytest.raises(TimeUp):
        portfolio.try_shortlist(problem, model)
    assert len(ticks) <= n_steps // 2 + 2
    assert not hasattr(model, "retriever_")


# ---- what is tried at size -----------------------------------------------------------------------


def text_problem(n_rows, n_features, n_labels, *, seed=0):
    rng = np.random.default_rng(seed)
    words = np.minimum(rng.zipf(1.3, (n_rows, 12)) - 1, n_features - 1)
    rows = np.repeat(np.arange(n_rows), 12)
    X = sp.csr_array((np.ones(rows.size), (rows, words.ravel())), shape=(n_rows, n_features))
    X.data[:] = 1.0
    labels = rng.integers(0, n_labels, (n_rows, 2))
    Y = np.zeros((n_rows, n_labels))
    Y[np.arange(n_rows)[:, None], labels] = 1.0
    Y[:, 0] = X[:, [3]].toarray()[:, 0] > 0
    return problem_of(X, sp.csr_array(Y), seed=seed)


def shape_of(n_rows, n_features, n_labels, *, sparse=True, stored=12):
    """A problem of which estimates see the sizes only."""
    X = sp.csr_array((n_rows, n_features)) if sparse else np.zeros((n_rows, 1))
    if sparse:
        nnz = n_rows * stored
        parts = (np.ones(nnz), np.zeros(nnz, dtype=np.int32), np.arange(n_rows + 1) * stored)
        X = sp.csr_array(parts, shape=X.shape)
    Y = sp.csr_array(
        (np.ones(n_rows), np.zeros(n_rows, int), np.arange(n_rows + 1)), shape=(n_rows, n_labels)
    )
    return SimpleNamespace(
        X=X,
        Y=Y,
        n_rows=n_rows,
        n_features=n_features,
        n_labels=n_labels,
        unknown=None,
        density=stored / n_features if sparse else 1.0,
        splits=range(5),
        n_jobs=None,
        seed=0,
        folds_given=False,
    )


AT_SIZE = [
    (15_212, 70_815, 1_179, 25),
    (24_076, 25_078, 527, 12),
    (15_000, 20_000, 500, 80),
    (25_000, 100_000, 1_200, 60),
    (60_000, 25_000, 8_800, 12),
]


@pytest.mark.parametrize(("n_rows", "n_features", "n_labels", "stored"), AT_SIZE)
def test_sparse_texts_at_size_begin_cheap_and_continue_with_the_shortlist(
    n_rows, n_features, n_labels, stored
):
    problem = shape_of(n_rows, n_features, n_labels, stored=stored)
    found = list(candidates_of(problem))
    assert portfolio.at_size(problem)
    assert found[0].stopgap
    assert found[0].usual
    assert found[0].seconds <= 2.0
    full = [one for one in found if not one.stopgap]
    assert full[0].name == "shortlist"
    assert_follows(full)
    small = [one for one in small_candidates(problem, 5_000_000, 20_000_000) if not one.stopgap]
    assert small[0].seconds <= full[0].seconds


def assert_follows(full):
    """Assert that later models are limited by estimates, and stopped before three fits."""
    first, *others = full
    assert 1.0 < first.bounds < 3.0
    assert first.worth == np.inf
    assert all(first.seconds < one.worth < 3.0 * first.seconds for one in others)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_labels", "stored", "second"),
    [
        (24_000, 25_000, 527, 12, "quick linear SVM"),
        (8_000, 9_600, 500, 150, "quick linear SVM"),
        (2_000, 500, 50, 12, "quick linear SVM"),
        (60_000, 25_000, 8_800, 12, "compact model of 256 codes"),
        (25_000, 100_000, 1_200, 60, "compact model of 256 codes"),
    ],
)
def test_the_second_stopgap_is_an_svm_unless_it_takes_long(
    n_rows, n_features, n_labels, stored, second
):
    problem = shape_of(n_rows, n_features, n_labels, stored=stored)
    quick, other = (one for one in candidates_of(problem) if one.stopgap)
    assert quick.name.startswith("quick compact model")
    assert quick.usual
    assert other.name == second
    assert not other.usual
    if second == "quick linear SVM":
        compact = portfolio.codes_seconds(problem, min(n_labels, 256), n_rows)
        assert other.seconds <= max(compact, 0.25 * other.next_seconds)
    problem.unknown = sp.csr_array((n_rows, n_labels))
    assert "quick linear SVM" not in [one.name for one in candidates_of(problem)]


@pytest.mark.parametrize("n_rows", [2_000, 6_000, 25_000, 100_000])
@pytest.mark.parametrize("n_labels", [20, 150, 1_000, 20_000])
@pytest.mark.parametrize("n_features", [500, 30_000])
def test_the_shortlist_is_the_first_model_of_sparse_rows(n_rows, n_labels, n_features):
    full = [
        one
        for one in candidates_of(shape_of(n_rows, n_features, n_labels))
        if not one.stopgap and not one.reference
    ]
    assert full[0].name == "shortlist"
    assert_follows(full)
    assert len(full) == (3 if n_labels <= 2_000 else 1)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_labels", "sparse"),
    [
        (1_702, 1_001, 53, True),  # enron
        (43_907, 120, 101, False),  # mediamill
        (43_907, 60, 101, True),  # a fifth of the values is not zero
    ],
)
def test_other_sets_begin_with_the_linear_model(n_rows, n_features, n_labels, sparse):
    problem = shape_of(n_rows, n_features, n_labels, sparse=sparse)
    found = list(candidates_of(problem))
    assert not any(one.usual for one in found)
    full = [one for one in found if not one.stopgap]
    assert full[0].name == "linear model"
    assert all(one.bounds == np.inf for one in full)
    assert all((one.worth < np.inf) == (sparse and n_features > 60) for one in full)


@pytest.mark.parametrize("name", ["kernel", "ridge"])
def test_models_need_no_model_before_them(name):
    """Settings of the linear model are searched by others if it was skipped or stopped."""
    problem = text_problem(120, 30, 4)
    (candidate,) = [one for one in candidates_of(problem) if one.name == name]
    assert np.isfinite(candidate.run().score)


@pytest.mark.parametrize("strategy", ["f1", "cardinality"])
def test_one_fit_of_a_shortlist_is_judged_by_the_scores_that_its_threshold_is_tuned_on(strategy):
    """They are in the order of the rows that were given, of which some are copies of others."""
    problem = text_problem(300, 60, 12)
    order = np.random.default_rng(1).permutation(np.r_[np.arange(300), np.arange(40)])
    X, Y = problem.X[order], problem.Y[order]
    model = ShortlistClassifier(n_candidates=8, threshold=strategy, random_state=0)
    scored = model.fit_scored(X, Y)
    assert (np.diff(scored.rows) > 0).all()
    _, first = np.unique(order, return_index=True)
    assert set(order[scored.rows]) <= set(order[first])
    assert len(set(order[scored.rows])) == scored.rows.size
    weights = np.bincount(order)[order[scored.rows]].astype(float)
    tuned = tune(strategy, scored.columns, Y[scored.rows], weights)
    np.testing.assert_allclose(tuned, model.threshold_, atol=1e-6)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_regressions_are_stopped_between_blocks_of_labels(monkeypatch, n_threads):
    monkeypatch.setattr("compactlearn.linalg._many_logistic._BLOCK_PROBLEMS", 1)
    X = sp.csr_array(np.eye(4))
    starts, rows = np.arange(0, 44, 4), np.tile(np.arange(4), 10)
    problems = Problems(starts, rows, rows == 0, np.zeros(40))
    clock = FakeClock()
    with limited(0.5, clock):
        solve_many(X, problems, 1.0, n_threads=n_threads)
        clock.now = 1.0
        with pytest.raises(TimeUp):
            solve_many(X, problems, 1.0, n_threads=n_threads)


# ---- the classifier ------------------------------------------------------------------------------


@pytest.fixture
def small_at_size(monkeypatch):
    """The rules of large texts, for small ones."""
    for name, value in {"SHORTLIST_ROWS": 50, "KEPT_FEATURES": 50}.items():
        monkeypatch.setattr(portfolio, name, value)
    monkeypatch.setattr(portfolio, "SHORT_SECONDS", 0.0)


def test_at_size_the_classifier_is_the_shortlist(small_at_size):
    problem = text_problem(300, 400, 30)
    X, Y = problem.X, problem.Y
    model = AutoCompactClassifier(random_state=0).fit(X, Y)
    assert isinstance(model.best_estimator_, ShortlistClassifier)
    alone = ShortlistClassifier(threshold=0.5, random_state=0).fit(X, Y)
    best, _ = model.predict_topk(X[:50], k=1)
    np.testing.assert_array_equal(best, alone.predict_topk(X[:50], k=1)[0])
    assert [row["name"] for row in model.skipped_] == ["linear model", "kernel"]
    assert all(row["reason"] in model.why_ for row in model.skipped_)
    assert model.why_.startswith("Selected: shortlist")


def test_folds_that_are_given_judge_the_shortlist(small_at_size, monkeypatch):
    """The folds of a shortlist know nothing of rows that a user keeps together."""
    problem = text_problem(300, 60, 10)
    asked = []

    def by_folds(problem, name, model, **more):
        asked.append(problem.fold)
        raise MemoryError

    monkeypatch.setattr(portfolio, "try_by_folds", by_folds)
    groups = np.arange(300) // 60
    splits = [(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(5)]
    with pytest.warns(UserWarning, match="shortlist was left out"):
        AutoCompactClassifier(cv=splits, random_state=0).fit(problem.X, problem.Y)
    np.testing.assert_array_equal(asked[0], groups)


def test_models_after_a_shortlist_have_at_most_nine_times_its_bytes():
    shortlist = ShortlistClassifier()
    shortlist.stages_ = np.zeros(1_000)

    def trial(model):
        return SimpleNamespace(model=model, numbers=7)

    first, small, large = (trial(one) for one in (shortlist, np.zeros(4_000), np.zeros(6_000)))
    assert too_large(first, [], None) is None
    assert too_large(small, [first], None) is None
    assert too_large(large, [first], None) is None
    assert "above 10 times the 0.0 MB of the shortlist" in too_large(large, [first, small], None)
    assert too_large(large, [small], None) is None  # without a shortlist there is no bound
    assert too_large(small, [], SizeBudget(6)) == "7 parameters, above size_budget"


def test_a_stopgap_is_never_blended(small_at_size):
    problem = text_problem(300, 400, 30)
    rows, odds = np.arange(300), np.zeros((300, 30), dtype=np.float32)
    better, worse = (
        Trial(name, Blend(()), np.array([score]), rows, odds, 1)
        for name, score in (("full", 0.6), ("stopgap", 0.5))
    )
    assert best_choice(problem, [better], np.inf, [worse]).name == "full"
    assert best_choice(problem, [], np.inf, [worse]).name == "stopgap"


@pytest.mark.parametrize("stopped", [False, True])
def test_without_its_shortlist_a_search_returns_an_svm_of_all_rows(
    small_at_size, monkeypatch, stopped
):
    """The shortlist is stopped by the deadline, or skipped since its estimate is too large."""
    monkeypatch.setattr(portfolio, "QUICK_CODES", 4)
    problem = tagged_problem(300, 60, 40)
    clock = FakeClock()

    def on_clock(candidate):
        def run():
            clock.spend(1e9 if candidate.name == "shortlist" else candidate.seconds)
            return candidate.run()

        return replace(candidate, run=run)

    first = (one for one in candidates_of(problem) if one.stopgap or one.name == "shortlist")
    short = next(one.seconds for one in candidates_of(problem) if one.name == "shortlist")
    budget = TimeBudget((1.5 if stopped else 0.9) * short, clock)
    search = run_candidates(map(on_clock, first), budget)
    assert not search.tried
    assert search.skipped[0]["name"] == "shortlist"
    assert search.skipped[0]["reason"].startswith("stopped" if stopped else "estimated")
    assert names(search.stopgaps) == ["quick compact model of 4 codes", "quick linear SVM"]
    chosen = best_choice(problem, search.tried, np.inf, search.stopgaps)
    assert chosen.name == "quick linear SVM"
    rows = normalize(problem.X)
    train, _ = problem.splits[0]
    first = QuickSVM(SVM_WEIGHTS).fit(rows[train], problem.Y[train])
    last = QuickSVM(SVM_WEIGHTS).fit(rows, problem.Y, start=first)
    scores = chosen.model.decision_function(problem.X)
    np.testing.assert_allclose(scores, last.decision_function(rows), atol=1e-6)


def test_weights_of_rows_count_in_both_fits_of_the_svm():
    weights = 1.0 + np.arange(200) % 4
    problem = replace(tagged_problem(200, 60, 10), weights=weights)
    rows, (train, _) = normalize(problem.X), problem.splits[0]
    first = QuickSVM(SVM_WEIGHTS).fit(rows[train], problem.Y[train], weights[train])
    last = QuickSVM(SVM_WEIGHTS).fit(rows, problem.Y, weights, start=first)
    scores = try_svm(problem).model.decision_function(problem.X)
    np.testing.assert_allclose(scores, last.decision_function(rows), atol=1e-6)
    once = try_svm(replace(problem, weights=None)).model.decision_function(problem.X)
    assert np.abs(scores - once).max() > 1e-3


def tagged_problem(n_rows, n_features, n_labels):
    """Rows whose labels are their first words."""
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((n_rows, n_features)) < 0.1) * 1.0)
    return problem_of(X, X[:, :n_labels], seed=0)


def test_the_smallest_budget_gives_a_model(small_at_size):
    problem = text_problem(300, 400, 30)
    model = AutoCompactClassifier(time_budget=1e-6, random_state=0).fit(problem.X, problem.Y)
    assert [row["name"] for row in model.leaderboard_] == ["quick compact model of 30 codes"]
    assert {row["name"] for row in model.skipped_} >= {"shortlist"}
    assert model.predict(problem.X[:5]).shape == (5, 30)
