"""A judge of many matrices of scores gives what the metric gives for each of them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.metrics import _judges as judges
from compactlearn.metrics._judges import Judge, Judges
from compactlearn.metrics._table import METRICS, get_metric

from .data import SCORES, TRUTH, problems, random_problem, steady

RANKED = [
    "average_precision",
    "ranking_loss",
    "one_error",
    "coverage",
    "precision_at_k",
    "ndcg_at_k",
    "precision_at_1",
    "ndcg_at_3",
    "f1_at_3",
]
LABELLED = [name for name, metric in METRICS.items() if metric.needs == "labels"]


def one_by_one(name, truth, answers, **options):
    metric = get_metric(name)
    sign = 1 if metric.greater_is_better else -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([sign * metric.function(truth, answer, **options) for answer in answers])


def several(scores, seed=0):
    """The scores, those of no information, and three shuffles."""
    rng = np.random.default_rng(seed)
    shuffles = [rng.permuted(scores, axis=1) for _ in range(3)]
    return np.stack([scores, np.zeros_like(scores), -scores, *shuffles])


def assert_same(found, expected):
    """Equal, NaN included, but for the order in which rows are added up."""
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@steady
@given(name=st.sampled_from(RANKED), unknown=st.booleans(), data=st.data())
def test_ranked_metrics_one_by_one(name, unknown, data):
    truth, scores = data.draw(problems(unknown=unknown, min_labels=5))
    assert_same(Judge(name, truth)(several(scores)), one_by_one(name, truth, several(scores)))


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("stem", ["precision", "ndcg"])
def test_k_in_the_name_or_as_an_option(stem, k):
    truth, scores = random_problem(5)
    expected = one_by_one(f"{stem}_at_k", truth, several(scores), k=k)
    assert_same(Judge(f"{stem}_at_k", truth, {"k": k})(several(scores)), expected)
    assert_same(Judge(f"{stem}_at_{k}", truth)(several(scores)), expected)


@pytest.mark.parametrize("name", LABELLED)
def test_metrics_of_labels(name):
    truth, scores = random_problem(1)
    labels = several(scores) > 0.1
    found = Judge(name, truth)(several(scores), labels)
    assert_same(found, one_by_one(name, truth, labels))
    assert_same(found, one_by_one(name, sp.csr_array(truth), labels))


@pytest.mark.parametrize("name", ["psp_at_3", "psndcg_at_k"])
def test_propensity_metrics(name):
    truth, scores = random_problem(2)
    options = {"weights": np.linspace(1, 3, truth.shape[1])}
    found = Judge(name, truth, options)(several(scores))
    assert_same(found, one_by_one(name, truth, several(scores), **options))


@pytest.mark.parametrize("name", ["precision_at_1", "ndcg_at_3", *RANKED[:4]])
def test_more_is_always_better(name):
    best, worst = Judge(name, TRUTH)(np.stack([TRUTH - 0.5, 0.5 - TRUTH]))
    assert best > worst


def test_an_undefined_metric_is_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("average_precision", "ranking_loss"):
            assert np.isnan(Judge(name, np.zeros((6, 4)))(SCORES[None])).all()
            assert np.isnan(Judge(name, np.full((6, 4), np.nan))(SCORES[None])).all()


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
    found = Judge(name, truth, weights=weights.astype(float))(several(scores))
    assert_same(found, one_by_one(name, truth[rows], several(scores)[:, rows]))


@pytest.mark.parametrize("together", [1, 800, 1 << 18])
def test_the_size_of_a_batch_does_not_matter(monkeypatch, together):
    monkeypatch.setattr(judges, "TOGETHER", together)
    truth, scores = random_problem(0)
    answers = np.concatenate([several(scores, seed) for seed in range(3)])
    judge = Judge("average_precision", truth)
    assert_same(judge(answers), one_by_one("average_precision", truth, answers))
    assert_same(judge(answers[:2]), one_by_one("average_precision", truth, answers[:2]))


def test_more_places_than_labels_are_refused_as_by_the_metric():
    with pytest.raises(ValueError, match="k"):
        Judge("precision_at_9", TRUTH)(SCORES[None])


EVERY = [*RANKED, *LABELLED]


@steady
@given(problem=problems(unknown=True, min_labels=5), names=st.permutations(EVERY))
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


def test_judges_of_scores_alone():
    truth, scores = random_problem(4)
    judges = Judges(["one_error", "coverage"], truth)
    assert not judges.needs_labels
    assert_same(-judges(scores[None])[0, 1:], one_by_one("coverage", truth, [scores]))
    assert Judges(["one_error", "micro_f1"], truth).needs_labels
