"""Tuned thresholds compared with brute force over all thresholds."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compactlearn.decoding import _thresholds as thresholds
from compactlearn.decoding._thresholds import STRATEGIES, tune

modest = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def columns_of(S):
    return lambda labels: S[:, labels]


def tuned(strategy, S, Y, w=None, min_positives=0):
    return tune(strategy, columns_of(S), sp.csr_array(Y), w, min_positives)


def every_threshold(S):
    """Return one threshold below all scores, one between any two neighbours, one above all."""
    values = np.unique(S)
    return np.concatenate([[values[0] - 1], (values[:-1] + values[1:]) / 2, [values[-1] + 1]])


def f1(S, Y, w, t):
    predicted = S > t
    weight = np.broadcast_to(w.reshape(-1, *[1] * (S.ndim - 1)), S.shape)
    hits = np.sum(weight * predicted * Y)
    both = np.sum(weight * predicted) + np.sum(weight * Y)
    return 2 * hits / both if both else 0.0


def cardinality(S, w, t):
    return float(np.sum(w[:, None] * (S > t)))


@st.composite
def problems(draw, *, ties=True):
    n, n_labels = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    if ties and draw(st.booleans()):
        S = rng.integers(-2, 3, size=(n, n_labels)) / 4
    else:
        S = rng.normal(size=(n, n_labels))
    Y = (rng.random((n, n_labels)) < draw(st.sampled_from([0.1, 0.4, 0.8]))).astype(float)
    if draw(st.booleans()):
        Y[:, rng.integers(n_labels)] = 0.0
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    w = None
    if kind == "whole":
        w = rng.integers(1, 5, size=n).astype(float)
    elif kind == "real":
        w = rng.uniform(0.1, 3.0, size=n)
    return S, Y, w


@modest
@given(problems())
def test_no_threshold_has_a_larger_micro_f1(problem):
    S, Y, w = problem
    ones = np.ones(len(S)) if w is None else w
    t = tuned("f1", S, Y, w)
    assert isinstance(t, float)
    best = max(f1(S, Y, ones, other) for other in every_threshold(S))
    assert f1(S, Y, ones, t) >= best - 1e-12


@modest
@given(problems())
def test_no_threshold_has_a_larger_f1_of_a_label(problem):
    S, Y, w = problem
    ones = np.ones(len(S)) if w is None else w
    t = tuned("per-label", S, Y, w)
    assert t.shape == (S.shape[1],)
    for j in range(S.shape[1]):
        best = max(f1(S[:, j], Y[:, j], ones, other) for other in every_threshold(S[:, j]))
        assert f1(S[:, j], Y[:, j], ones, t[j]) >= best - 1e-12


@modest
@given(problems(ties=False))
def test_no_threshold_comes_closer_to_the_cardinality(problem):
    S, Y, w = problem
    ones = np.ones(len(S)) if w is None else w
    wanted = float((ones @ Y).sum())
    t = tuned("cardinality", S, Y, w)
    best = min(abs(cardinality(S, ones, other) - wanted) for other in every_threshold(S))
    assert abs(cardinality(S, ones, t) - wanted) <= best + 1e-9


@modest
@given(problems(ties=False), st.sampled_from(STRATEGIES))
def test_thresholds_lie_midway_between_scores(problem, strategy):
    S, Y, w = problem
    found = np.atleast_1d(tuned(strategy, S, Y, w))
    for j, t in enumerate(found):
        values = np.sort(S[:, j] if len(found) > 1 or strategy == "per-label" else S.ravel())
        above, below = values[values > t], values[values <= t]
        own = Y[:, j] if strategy == "per-label" else Y
        if not below.size and own.all() and strategy != "cardinality":  # nothing is absent
            assert t == values[0] - thresholds.MARGIN
        elif not below.size:  # everything is predicted
            assert t == np.nextafter(values[0], -np.inf)
        elif above.size:
            np.testing.assert_allclose(t, (above[0] + below[-1]) / 2, rtol=1e-9, atol=1e-12)
        else:
            assert not own.any()
            assert t == values[-1]


@modest
@given(problems(ties=False), st.sampled_from(STRATEGIES), st.sampled_from([1, 7, 20]))
def test_blocks_make_no_difference(problem, strategy, entries):
    S, Y, w = problem
    whole = tuned(strategy, S, Y, w)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "_BLOCK_ENTRIES", entries)
        np.testing.assert_array_equal(tuned(strategy, S, Y, w), whole)


@modest
@given(problems(), st.sampled_from(STRATEGIES[:2]))
def test_weights_are_repetitions(problem, strategy):
    S, Y, _ = problem
    w = np.random.default_rng(S.size).integers(1, 4, size=len(S))
    once = tuned(strategy, S, Y, w.astype(float))
    again = tuned(strategy, np.repeat(S, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(once, again)


def test_the_highest_of_equally_good_thresholds_is_selected():
    S = np.array([[0.9], [0.8], [0.5], [0.4]])
    Y = np.array([[1.0], [0.0], [0.0], [1.0]])
    # {.9}: 2 * 1 / (1 + 2); all four: 2 * 2 / (4 + 2), both two thirds
    assert tuned("f1", S, Y) == pytest.approx(0.85)
    np.testing.assert_allclose(tuned("per-label", S, Y), [0.85])


@pytest.mark.parametrize("low", [0.1, np.nextafter(0.1, 1)], ids=["even", "odd"])
def test_a_threshold_separates_neighbouring_floats(low):
    high = np.nextafter(low, 1)
    S = np.array([[high], [low]])
    Y = np.array([[1.0], [0.0]])
    for strategy in STRATEGIES:
        t = np.ravel(tuned(strategy, S, Y))[0]
        assert low <= t < high, strategy


def test_rare_labels_take_the_common_threshold():
    rng = np.random.default_rng(1)
    S = rng.normal(size=(40, 5))
    Y = np.zeros((40, 5))
    for j, positives in enumerate([0, 1, 4, 5, 20]):
        Y[np.argsort(-S[:, j] + rng.normal(size=40))[:positives], j] = 1.0
    common = tuned("f1", S, Y)
    own = tuned("per-label", S, Y)
    found = tuned("per-label", S, Y, min_positives=5)
    np.testing.assert_array_equal(found[:3], common)
    np.testing.assert_array_equal(found[3:], own[3:])
    assert (found[3:] != common).all()
    np.testing.assert_array_equal(tune("per-label", columns_of(S), sp.csr_array(Y)), found)
    np.testing.assert_array_equal(tuned("per-label", S, Y, min_positives=41), common)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_positives_at_all_predict_nothing(strategy):
    S = np.random.default_rng(2).normal(size=(9, 3))
    t = tuned(strategy, S, np.zeros((9, 3)), min_positives=5)
    assert not (S > t).any()
    assert np.isfinite(t).all()
