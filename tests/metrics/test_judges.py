"""A judge of many matrices of scores gives the metric of each of them."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.metrics import METRICS, Judges, get_metric
from compactlearn.metrics import _judges as judges

from .data import SCORES, probabilities, problems, random_problem, same, steady

RANKED = ["average_precision", "ranking_loss", "one_error", "coverage", "precision_at_k"]
RANKED += ["ndcg_at_3", "f1_at_3"]
LABELLED = [name for name, metric in METRICS.items() if metric.needs == "labels"]


def one_by_one(name, truth, answers, **options):
    metric = get_metric(name)
    sign = 1 if metric.greater_is_better else -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([sign * metric.function(truth, answer, **options) for answer in answers])


def judged(name, truth, scores, options=None, weights=None):
    """Return a metric of scores by one judge; more is better."""
    sign = 1 if get_metric(name).greater_is_better else -1
    return sign * Judges([name], truth, options=options, sample_weight=weights)(scores)[:, 0]


def several(scores, seed=0):
    """Return the scores, constant and reversed scores, and three shuffles."""
    rng = np.random.default_rng(seed)
    shuffles = [rng.permuted(scores, axis=1) for _ in range(3)]
    return np.stack([scores, np.zeros_like(scores), -scores, *shuffles])


def assert_same(found, expected):
    """Compare values, NaN included, up to the rounding of sums."""
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("stem", ["precision", "psndcg"])
def test_k_in_the_name_or_as_an_option(stem, k):
    truth, scores = random_problem(5)
    options = {"weights": np.linspace(1, 3, 12)} if stem == "psndcg" else {}
    expected = one_by_one(f"{stem}_at_k", truth, several(scores), k=k, **options)
    assert_same(judged(f"{stem}_at_k", truth, several(scores), {"k": k, **options}), expected)
    assert_same(judged(f"{stem}_at_{k}", truth, several(scores), options), expected)


def test_an_undefined_metric_is_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("average_precision", "ranking_loss"):
            assert np.isnan(judged(name, np.zeros((6, 4)), SCORES[None])).all()
            assert np.isnan(judged(name, np.full((6, 4), np.nan), SCORES[None])).all()


@steady
@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(RANKED),
    unknown=st.sampled_from([0.0, 0.3]),
)
def test_weights_are_repetitions(seed, name, unknown):
    """A row of weight 2 counts as two rows, one of weight 0 not at all."""
    truth, scores = random_problem(seed, unknown=unknown)
    weights = np.random.default_rng(seed).integers(0, 4, len(truth))
    rows = np.repeat(np.arange(len(truth)), weights)
    found = judged(name, truth, several(scores), weights=weights.astype(float))
    assert_same(found, one_by_one(name, truth[rows], several(scores)[:, rows]))


@pytest.mark.parametrize("together", [1, 800, 1 << 18])
def test_the_size_of_a_batch_does_not_matter(monkeypatch, together):
    monkeypatch.setattr(judges, "TOGETHER", together)
    truth, scores = random_problem(0)
    answers = np.concatenate([several(scores, seed) for seed in range(3)])
    judge = Judges(["average_precision"], truth)
    assert_same(judge(answers)[:, 0], one_by_one("average_precision", truth, answers))
    assert_same(judge(answers[:2])[:, 0], one_by_one("average_precision", truth, answers[:2]))


@steady
@given(problem=problems(unknown=True, min_labels=5), names=st.permutations([*RANKED, *LABELLED]))
def test_several_metrics_at_once_each_in_its_own_direction(problem, names):
    truth, scores = problem
    S = several(scores)
    labels = S > 0.1
    before = labels.copy()
    found = Judges(names, truth)(S, labels)
    np.testing.assert_array_equal(labels, before)
    for column, name in zip(found.T, names, strict=True):
        metric = get_metric(name)
        sign = 1 if metric.greater_is_better else -1
        answers = labels if metric.needs == "labels" else S
        assert_same(sign * column, one_by_one(name, truth, answers))


def test_judges_take_probabilities_and_leave_a_gap_without():
    truth, scores = random_problem(3, unknown=0.2)
    S = np.stack([scores, -scores])
    P = probabilities(S)
    names = ["log_loss", "micro_f1", "one_error", "calibration_error"]
    judges, alone = Judges(names, truth), Judges(["one_error"], truth)
    assert (judges.needs_probabilities, judges.needs_labels) == (True, True)
    assert (alone.needs_probabilities, alone.needs_labels) == (False, False)
    found = judges(S, S > 0, P)
    given_ = {"probabilities": P, "labels": S > 0, "scores": S}
    for column, name in zip(found.T, names, strict=True):
        answers = given_[get_metric(name).needs]
        assert same(column, [get_metric(name).function(truth, one) for one in answers])
    without = judges(S, S > 0)
    np.testing.assert_array_equal(np.isnan(without), [[True, False, False, True]] * 2)
    assert same(without[:, 1:3], found[:, 1:3])
