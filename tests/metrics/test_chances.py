"""Log-loss and calibration error: by their definitions, and by what must be true of them."""

import re

import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn import C2AEClassifier, CMLLClassifier, metrics
from compactlearn.metrics import _checks as checks
from compactlearn.metrics._judges import Judge, Judges
from compactlearn.model_selection import GridSearchMoments

from . import literal
from .data import problems, random_problem, steady

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def same(value, expected):
    return value == pytest.approx(expected, abs=1e-12, nan_ok=True)


def chances(scores, steep=1.0):
    return 1 / (1 + np.exp(-steep * scores))


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_by_the_word_of_the_definition(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    # Sixteenths hit the boundaries of 8 bins, and 0 and 1 themselves.
    P = data.draw(st.sampled_from([chances(scores), np.round(16 * chances(scores, 9)) / 16]))
    clip = data.draw(st.sampled_from([1e-6, 0.01]))
    bins = data.draw(st.sampled_from([1, 8, 15]))
    known = ~np.isnan(truth)
    for Y, mask in (
        (truth, None),
        (sparse.csr_array(truth), None),
        (np.nan_to_num(truth, nan=1.0), known),
    ):
        assert same(metrics.log_loss(Y, P, clip=clip, mask=mask), literal.log_loss(truth, P, clip))
        assert same(
            metrics.calibration_error(Y, P, bins=bins, mask=mask),
            literal.calibration_error(truth, P, bins),
        )


@pytest.mark.parametrize("cells", [1, 12, 40])
def test_blocks_change_nothing(monkeypatch, cells):
    truth, scores = random_problem(4, unknown=0.2)
    found = [f(truth, chances(scores)) for f in (metrics.log_loss, metrics.calibration_error)]
    monkeypatch.setattr(checks, "BLOCK_CELLS", cells)
    again = [f(truth, chances(scores)) for f in (metrics.log_loss, metrics.calibration_error)]
    assert same(found, again)


@pytest.mark.parametrize("seed", range(4))
def test_log_loss_is_the_mean_of_scikit_learns_over_the_labels(seed):
    truth, scores = random_problem(seed, levels=0)
    P = chances(scores / 10)
    one_by_one = [theirs.log_loss(y, p, labels=[0, 1]) for y, p in zip(truth.T, P.T, strict=True)]
    assert same(metrics.log_loss(truth, P), np.mean(one_by_one))


def test_the_frequency_of_each_label_is_the_best_constant_and_has_no_error_in_one_bin():
    truth, _ = random_problem(1, n_rows=200)
    share = np.tile(truth.mean(axis=0), (200, 1))
    best = metrics.log_loss(truth, share)
    for other in (0.9 * share, share + 0.05, np.full_like(share, truth.mean())):
        assert metrics.log_loss(truth, other) > best
    assert metrics.calibration_error(truth, share, bins=1) == pytest.approx(0, abs=1e-12)


def test_certainty_is_best_where_right_and_bounded_where_wrong():
    truth, _ = random_problem(2)
    assert metrics.log_loss(truth, truth) == pytest.approx(1e-6, rel=1e-5)
    assert metrics.log_loss(truth, 1 - truth) == pytest.approx(-np.log(1e-6))
    assert metrics.calibration_error(truth, truth) == 0
    assert metrics.calibration_error(truth, 1 - truth) == 1


def test_probabilities_that_are_true_have_less_error_than_overconfident_ones():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, size=(4000, 5))
    truth = (rng.random(p.shape) < p).astype(int)
    sharp = p**2 / (p**2 + (1 - p) ** 2)
    assert metrics.calibration_error(truth, p) < 0.01 < metrics.calibration_error(truth, sharp)
    assert metrics.log_loss(truth, p) < metrics.log_loss(truth, sharp)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_any_numbers_will_do(dtype):
    truth, _ = random_problem(2)
    for metric in (metrics.log_loss, metrics.calibration_error):
        assert same(metric(truth, truth.astype(dtype)), metric(truth, truth))


Y1, P1 = [[1, 0, 0]], [[0.3, 0.2, 0.1]]
REFUSALS = {
    "scores": (lambda: metrics.log_loss(Y1, [[0.3, -0.2, 0.1]]), "between 0 and 1, but hold -0.2;"),
    "above": (lambda: metrics.calibration_error(Y1, [[0, 0, 2]]), "but hold 2; pass what predict"),
    "nan": (lambda: metrics.log_loss(Y1, [[0, np.nan, 1]]), "but hold nan;"),
    "shape": (lambda: metrics.log_loss(Y1, [[0.1]]), "must have the shape of Y_true, (1, 3)"),
    "clip": (lambda: metrics.log_loss(Y1, P1, clip=0), "above 0 and below 0.5, but is 0; pass"),
    "bins": (lambda: metrics.calibration_error(Y1, P1, bins=0), "an integer >= 1, but is 0; pass"),
    "evaluate": (lambda: metrics.evaluate(Y1, P1, probabilities=[[2, 0, 0]]), "but hold 2;"),
    "search": (
        lambda: GridSearchMoments(CMLLClassifier(), {"alpha": [1.0]}, scoring="log_loss").fit(
            np.eye(6), np.eye(6)[:, :3]
        ),
        "The metric 'log_loss' needs probabilities, and here there are scores and labels alone;",
    ),
    "C2AE": (
        lambda: C2AEClassifier(scoring="log_loss").fit(np.eye(6), np.eye(6)[:, :3]),
        "The metric 'log_loss' needs probabilities",
    ),
    "judge": (lambda: Judge("calibration_error", Y1), "'calibration_error' needs probabilities"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    call, message = REFUSALS[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_sparse_probabilities_are_refused():
    with pytest.raises(TypeError, match=r"must be a dense array.*pass probabilities.toarray"):
        metrics.log_loss(Y1, sparse.csr_array(P1))


def test_judges_take_probabilities_and_leave_a_gap_without():
    truth, scores = random_problem(3, unknown=0.2)
    S = np.stack([scores, -scores])
    P = chances(S)
    judges = Judges(["log_loss", "micro_f1", "one_error", "calibration_error"], truth)
    assert judges.needs_probabilities
    assert not Judges(["micro_f1"], truth).needs_probabilities
    found = judges(S, S > 0, P)
    for row, s, p in zip(found, S, P, strict=True):
        expected = [
            metrics.log_loss(truth, p),
            metrics.micro_f1(truth, s > 0),
            metrics.one_error(truth, s),
            metrics.calibration_error(truth, p),
        ]
        assert same(row, expected)
    without = judges(S, S > 0)
    np.testing.assert_array_equal(np.isnan(without), [[True, False, False, True]] * 2)
    assert same(without[:, 1:3], found[:, 1:3])


def test_evaluate_has_the_values_of_the_functions():
    truth, scores = random_problem(5, unknown=0.1)
    P = chances(scores)
    found = metrics.evaluate(truth, scores, threshold=0.0, probabilities=P)
    rest = metrics.evaluate(truth, scores, threshold=0.0)
    own = {name: value for name, value in found.items() if name not in rest}
    assert rest == {name: value for name, value in found.items() if name in rest}
    assert len(own) == 10
    for name, value in own.items():  # the predicted labels are those of a probability above 1/2
        assert value == metrics.get_metric(name).function(truth, P), name
