"""evaluate: every metric at once, equal to each alone."""

import inspect
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn import metrics
from compactlearn.metrics import METRICS, evaluate, get_metric, inverse_propensities

from .data import SCORES, TRUTH, probabilities, problems, random_problem, steady

FIRST = ["average_precision", "micro_f1", "ranking_loss", "one_error"]
ALL_PAIRS = ["log_loss", "calibration_error"]
PREDICTED = ["predicted_calibration_error"]
NAMES = [*FIRST, "coverage", "hamming_loss", "subset_accuracy", "example_f1", "macro_f1"]
TRAIN = (np.random.default_rng(0).random((50, 12)) < 0.3).astype(int)


def single(name, truth, given, weights):
    """Return the metric by the function of that name."""
    metric = get_metric(name)
    options = {"weights": weights} if name.startswith("ps") else {}
    options |= {"labels": given["labels"]} if name in PREDICTED else {}
    return metric.function(truth, given[metric.needs], **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_every_value_is_that_of_its_function(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    threshold = data.draw(st.sampled_from([-0.25, 0.0, 0.25]))
    train = TRAIN[:, : truth.shape[1]] if truth.shape[1] <= 12 else np.eye(truth.shape[1])
    P = probabilities(scores)
    found = evaluate(truth, scores, threshold=threshold, probabilities=P, train_labels=train)
    assert list(found)[: len(NAMES)] == NAMES
    given_ = {"scores": scores, "labels": scores > threshold, "probabilities": P}
    weights = inverse_propensities(train)
    for name, value in found.items():
        expected = single(name, truth, given_, weights)
        assert value == pytest.approx(expected, abs=1e-14, nan_ok=True), name
        assert type(value) is float


def test_names_and_their_order():
    truth, scores = random_problem(0)
    assert list(evaluate(TRUTH, SCORES))[:4] == FIRST
    best = ("precision", "ndcg", "f1", "r_precision")
    at = [f"{name}_at_{k}" for name in best for k in (1, 3, 5)]
    assert list(evaluate(truth, scores)) == NAMES + at
    weighted = [f"{name}_at_{k}" for name in ("psp", "psndcg") for k in (1, 3, 5)]
    assert list(evaluate(truth, scores, train_labels=TRAIN)) == NAMES + at + weighted
    P = probabilities(scores)
    sure = [f"calibration_error_at_{k}" for k in (1, 3, 5)]
    found = evaluate(truth, scores, probabilities=P, train_labels=TRAIN)
    assert list(found) == NAMES + ALL_PAIRS + PREDICTED + at + sure + weighted
    found = evaluate(truth, scores, probabilities=sparse.csr_array(P))
    assert list(found) == NAMES + PREDICTED + at + sure
    names = {metric.replace("_at_k", "_at_1") for metric in METRICS}
    assert names < {*found, *weighted, *ALL_PAIRS}


def test_each_k_once_and_none_beyond_the_labels():
    found = evaluate(TRUTH, SCORES, k=(4, 2, np.int64(2), 5))
    assert list(found)[len(NAMES) :] == [
        "precision_at_4", "precision_at_2", "ndcg_at_4", "ndcg_at_2", "f1_at_4", "f1_at_2",
        "r_precision_at_4", "r_precision_at_2",
    ]  # fmt: skip
    assert list(evaluate(TRUTH, SCORES, k=())) == NAMES


@pytest.mark.parametrize("name", METRICS)
def test_the_direction_is_right(name):
    """The truth as scores has the best value, its opposite the worst."""
    Y = TRUTH[[0, 1, 2, 5]]
    own = name.replace("_at_k", "_at_1")
    best, worst = (evaluate(Y, S, k=[1], train_labels=Y, probabilities=S)[own] for S in (Y, 1 - Y))
    assert METRICS[name].greater_is_better == (best > worst)
    assert get_metric(name) is METRICS[name]
    options = list(inspect.signature(getattr(metrics, name)).parameters)[2:]
    assert sorted(METRICS[name].options) == sorted(set(options) - {"labels"})


def test_one_warning_for_each_reason():
    with pytest.warns(UndefinedMetricWarning) as caught:
        found = evaluate(np.full((3, 4), np.nan), SCORES[:3], k=[1], train_labels=TRAIN[:, :4])
    messages = [str(warning.message) for warning in caught]
    assert messages[0] == (
        "average_precision and ranking_loss and one_error need a row with a present and an absent "
        "label, and none of the 3 rows has one; the result is nan. Evaluate on other rows."
    )
    assert [message.partition(" need")[0] for message in messages[1:]] == [
        "coverage and precision_at_1 and ndcg_at_1 and f1_at_1 and r_precision_at_1",
        "psp_at_1 and psndcg_at_1",
        "micro_f1",
        "hamming_loss and subset_accuracy and example_f1 and macro_f1",
    ]
    assert messages[3].endswith("the result is 0.0. Evaluate on other rows.")
    assert {warning.filename for warning in caught} == {__file__}, "they point at the caller"
    assert found.pop("micro_f1") == 0
    assert all(math.isnan(value) for value in found.values())


@pytest.mark.parametrize("name", METRICS)
def test_the_warning_of_a_single_function_points_at_its_caller(name):
    metric = METRICS[name]
    options = {"k": 1} if name.endswith("_at_k") else {}
    options |= {"weights": np.ones(4)} if name.startswith("ps") else {}
    given_ = SCORES[:2] if metric.needs == "scores" else np.zeros((2, 4))
    with pytest.warns(UndefinedMetricWarning, match=f"^{name} need") as caught:
        metric.function(np.full((2, 4), np.nan), given_, **options)
    assert [warning.filename for warning in caught] == [__file__]


def test_defined_metrics_give_no_warning():
    truth, scores = random_problem(7, unknown=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(truth, scores, train_labels=TRAIN)


# --- what was given ------------------------------------------------------------------------------


def test_labels_given_with_the_scores_decide_the_metrics_of_labels():
    truth, scores = random_problem(5, unknown=0.2)
    labels = (scores > np.quantile(scores, 0.7)).astype(int)
    for L in (labels, labels.astype(bool), sparse.csr_array(labels)):
        found = evaluate(truth, scores, labels=L)
        for name, value in found.items():
            metric = get_metric(name)
            given_ = scores if metric.needs == "scores" else labels
            assert value == pytest.approx(metric.function(truth, given_)), name


RANKINGS = [name for name, metric in METRICS.items() if metric.needs == "scores"]


@pytest.mark.parametrize("name", ["evaluate", *RANKINGS])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
def test_labels_given_as_scores_give_a_warning(name, dtype):
    truth, _ = random_problem(3)
    options = {"weights": np.ones(truth.shape[1])} if name.startswith("ps") else {}
    options |= {"k": 1} if name.endswith("_at_k") else {}
    function = getattr(metrics, name)
    with pytest.warns(UserWarning, match="every value given is 0 or 1.*pass scores") as caught:
        function(truth, truth.astype(dtype), **options)
    assert [warning.filename for warning in caught] == [__file__], "one, that points at the caller"


def test_scores_that_are_no_labels_give_no_warning():
    rng = np.random.default_rng(0)
    flat = rng.normal(0.1, 0.4, size=(300, 4))  # a regression, with outliers as bad as they come
    flat[0] = -30.0, 40.0, -2.0, 2.0
    truth = (rng.random((300, 4)) > 0.6).astype(int)
    ranks, nothing_learnt = np.tile(np.arange(4), (300, 1)), np.zeros((300, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scores in (rng.random((300, 4)), flat, ranks, nothing_learnt):
            evaluate(truth, scores)


def test_threshold_is_strict_and_may_differ_by_label():
    assert evaluate(TRUTH, SCORES)["micro_f1"] == metrics.micro_f1(TRUTH, SCORES > 0.5)
    bounds = np.array([0.5, 0.4, 0.1, 0.0])
    found = evaluate(TRUTH, SCORES, threshold=bounds)
    assert found["micro_f1"] == metrics.micro_f1(TRUTH, SCORES > bounds)


def test_a_threshold_of_one_half_on_log_odds_warns():
    P = np.random.default_rng(0).beta(1, 5, size=(300, 4))
    odds = np.log(P / (1 - P))
    truth = (np.random.default_rng(1).random((300, 4)) < P).astype(int)
    with pytest.warns(UserWarning, match=r"threshold=0.5, .* have the mean -2.*model.threshold_"):
        evaluate(truth, odds)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(truth, odds, threshold=0.0)
        assert found == evaluate(truth, odds, labels=odds > 0)
    assert found["micro_f1"] == evaluate(truth, P)["micro_f1"]


def test_probabilities_of_predicted_labels_are_those_of_the_labels_given():
    truth, scores = random_problem(5, unknown=0.2)
    labels = (scores > np.quantile(scores, 0.7)).astype(int)
    P = probabilities(scores)
    few = sparse.csr_array(np.where(scores > np.quantile(scores, 0.4), P, 0))
    for L in (labels, sparse.csr_array(labels)):
        for given_ in (P, few):
            found = evaluate(truth, scores, labels=L, probabilities=given_)
            expected = metrics.predicted_calibration_error(truth, P, labels=labels)
            assert found["predicted_calibration_error"] == pytest.approx(expected)
            table = metrics.reliability_table(truth, given_, k=3)
            assert found["calibration_error_at_3"] == table.expected_calibration_error
