"""Learnt decoders and tuned thresholds inside the classifiers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import (
    CMLL,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
    Moments,
    Original,
)
from compactlearn.compact import PaperClassifier
from compactlearn.core._progress import Steps
from compactlearn.crossfit import _decoder_fitter as decisions
from compactlearn.crossfit import _plan as plan
from compactlearn.crossfit import _scores as scores_module
from compactlearn.crossfit._cross_fit import CrossFit
from compactlearn.crossfit._plan import N_HELD_OUT
from compactlearn.decoding._logistic import choose_penalty, learn_logistic_decoder
from compactlearn.decoding._logistic_at_size import choose_penalty_at_size, learn_at_size
from compactlearn.decoding._thresholds import tune
from tests.makers import maker

DECODERS = ["linear", "logistic"]
TUNED = ["f1", "per-label", "cardinality"]


make_data = maker(70, 8, 5, share=0.7, dtype=int)


def log_odds(p):
    return np.log(p) - np.log1p(-np.asarray(p))


@parametrize_with_checks(
    [
        CMLLClassifier(threshold="per-label"),
        CompactClassifier(Original(), decoder="logistic"),
    ]
)
def test_sklearn_contract(estimator, check):
    check(estimator)


MODELS = {
    "CMLL": CMLLClassifier(4, 3),
    "Original": CompactClassifier(Original()),
    "PLST": CompactClassifier(PLST(3)),
    "MDDM": CompactClassifier(MDDM(3)),
    "kernel": CompactClassifier(CMLL(4, 3), feature_map=KernelMap()),
    "kernel kept": CompactClassifier(Original(), feature_map=KernelMap()),
    "nystroem": CompactClassifier(
        CMLL(4, 3), feature_map=KernelMap(algorithm="nystroem", n_components=20, random_state=0)
    ),
    "foreign": CompactClassifier(CMLL(4, 3), regressor=Ridge()),
    "neighbours": CompactClassifier(Original(), regressor=KNeighborsRegressor()),
    "scaled": CMLLClassifier(4, 3, scale=True),
    "no intercept": PaperClassifier(Original()),
}
every_model = pytest.mark.parametrize("name", MODELS)


def made(name, **params):
    model = MODELS[name]
    return type(model)(**{**model.get_params(deep=False), **params})


@pytest.mark.parametrize("threshold", ["array", "f1", "per-label"])
@pytest.mark.parametrize("decoder", DECODERS)
@every_model
def test_labels_strictly_above_the_threshold_are_predicted(name, decoder, threshold):
    X, Y = make_data(seed=1)
    if threshold == "array":
        threshold = np.linspace(0.2, 0.6, 5)
    model = made(name, decoder=decoder, threshold=threshold).fit(X, Y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(model.predict(X), scores > model.threshold_)
    if not isinstance(threshold, str):
        unit = log_odds(threshold) if decoder == "logistic" else threshold
        np.testing.assert_allclose(model.threshold_, unit)
    else:
        assert np.shape(model.threshold_) == ((5,) if threshold == "per-label" else ())
    assert hasattr(model, "decoding_") == (decoder != "linear")
    if decoder != "linear":
        codes = model.predict_codes(X)
        expected = codes @ model.decoding_.coefficients + model.decoding_.intercept
        np.testing.assert_allclose(scores, expected, atol=1e-8)
        assert model.decoding_.penalty > 0


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("threshold", TUNED)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("name", ["CMLL", "Original", "kernel", "foreign"])
def test_decoder_and_threshold_come_from_out_of_fold_codes(
    name, decoder, threshold, weighted, cross_fit_of
):
    """The decoder is learnt from all out-of-fold codes, the threshold from out-of-fold scores."""
    X, Y = make_data(60, seed=2)
    w = np.random.default_rng(2).uniform(0.3, 2.0, size=60) if weighted else None
    model = made(name, decoder=decoder, threshold=threshold)
    cross_fit = cross_fit_of(model, X, Y, sample_weight=w)
    if decoder == "linear":
        S = cross_fit.scores().columns(slice(0, 5))
    else:
        folds = list(cross_fit.held_out_folds())
        judges = folds[:N_HELD_OUT]
        penalty = choose_penalty(judges)
        whole = learn_logistic_decoder(cross_fit.data(), penalty)
        assert model.decoding_.penalty == pytest.approx(whole.penalty)
        np.testing.assert_allclose(model.decoding_.coefficients, whole.coefficients, atol=1e-8)
        np.testing.assert_allclose(model.decoding_.intercept, whole.intercept, atol=1e-8)
        S = np.empty(Y.shape)
        for part in folds:
            other = learn_logistic_decoder(part.train, penalty)
            S[part.rows] = part.codes @ other.coefficients + other.intercept
    expected = tune(threshold, lambda labels: S[:, labels], sp.csr_array(Y.astype(float)), w)
    np.testing.assert_allclose(model.threshold_, expected, atol=1e-7)


@pytest.mark.parametrize("threshold", [0.5, *TUNED])
@pytest.mark.parametrize("name", ["CMLL", "Original", "kernel"])
def test_weights_are_repetitions(name, threshold):
    X, Y = make_data(50, seed=3)
    w = np.random.default_rng(3).integers(1, 4, size=50)
    once = made(name, decoder="logistic", threshold=threshold).fit(X, Y, w)
    again = made(name, decoder="logistic", threshold=threshold)
    again.fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    # gamma="distance" of a kernel reads weights as repetitions too
    np.testing.assert_allclose(
        once.decision_function(X), again.decision_function(X), atol=2e-3, rtol=2e-3
    )
    np.testing.assert_allclose(once.threshold_, again.threshold_, atol=2e-3, rtol=2e-3)


def test_a_single_group_and_very_few_rows():
    X, Y = make_data(seed=7)
    for decoder in DECODERS:
        model = CMLLClassifier(decoder=decoder, threshold="f1").fit(X, Y, groups=np.zeros(70))
        assert np.isfinite(model.decision_function(X)).all()
        model = CMLLClassifier(decoder=decoder, threshold="per-label").fit(X[:2], Y[:2])
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.threshold_).all()


# --- probabilities -------------------------------------------------------------------------------


def test_probabilities_are_calibrated():
    X, Y = make_data(600, 10, 4, seed=9)
    model = CMLLClassifier(decoder="logistic").fit(X[:400], Y[:400])
    P = model.predict_proba(X[400:])
    np.testing.assert_allclose(P.mean(axis=0), Y[400:].mean(axis=0), atol=0.08)
    order = np.argsort(P, axis=None)
    for half in (order[:400], order[400:]):
        assert abs(P.ravel()[half].mean() - Y[400:].ravel()[half].mean()) < 0.06


@pytest.mark.parametrize("threshold", [0.5, 0.2, "f1", "cardinality"])
@pytest.mark.parametrize("regressor", [None, Ridge()], ids=["built-in", "foreign"])
def test_two_classes(threshold, regressor):
    X, Y = make_data(seed=10)
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = CompactClassifier(decoder="logistic", threshold=threshold, regressor=regressor)
    model.fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (70, 2)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    scores = model.decision_function(X)
    assert model.threshold_ == 0.0
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    # the boundary is subtracted from the scores, not from the probabilities
    codes = model.predict_codes(X)
    S = codes @ model.decoding_.coefficients + model.decoding_.intercept
    np.testing.assert_allclose(log_odds(P[:, 1]), S[:, 0], atol=1e-8)
    shift = S[:, 0] - scores
    np.testing.assert_allclose(shift, shift[0], atol=1e-9)
    if not isinstance(threshold, str):
        np.testing.assert_allclose(shift[0], log_odds(threshold), atol=1e-9)
    elif threshold == "f1":
        assert shift[0] != 0


@pytest.mark.parametrize("threshold", [0.5, "f1"])
def test_several_classes(threshold):
    X, Y = make_data(seed=11)
    y = np.argmax(Y + 0.1 * np.arange(5), axis=1)
    model = CMLLClassifier(decoder="logistic", threshold=threshold).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (70, len(model.classes_))
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(P, axis=1)])
    assert model.threshold_ == 0.0  # the largest score decides: 0.5 as log-odds, none tuned


# --- what does not go together -------------------------------------------------------------------


@pytest.mark.parametrize("params", [{"decoder": "logistic"}, {"threshold": "f1"}], ids=str)
@pytest.mark.parametrize("method", ["partial_fit", "fit_moments"])
def test_moments_are_not_enough_for_learnt_decoders_and_thresholds(method, params):
    X, Y = make_data(seed=13)
    model = CMLLClassifier(**params)
    assert not hasattr(model, method)
    assert hasattr(CMLLClassifier(), method)
    arguments = (X, Y) if method == "partial_fit" else (Moments.from_arrays(X, sp.csr_array(Y)),)
    with pytest.raises(AttributeError) as caught:
        getattr(model, method)(*arguments)
    text = str(caught.value.__cause__)
    assert "use fit, which sees the rows" in text
    assert repr(next(iter(params.values()))) in text


@pytest.mark.parametrize("threshold", [0.0, 1.0, [0.1, 0.2, 0.0, 0.5, 0.5]], ids=str)
def test_a_probability_lies_between_0_and_1(threshold):
    X, Y = make_data(seed=15)
    with pytest.raises(ValueError, match="a threshold is a probability between 0 and 1"):
        CMLLClassifier(decoder="logistic", threshold=threshold).fit(X, Y)


# --- the default threshold -----------------------------------------------------------------------


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("name", ["CMLL", "Original", "PLST", "kernel"])
def test_the_default_threshold_is_the_one_of_largest_f1(name, decoder):
    """Up to a probability of one half, above which no threshold of largest F1 lies."""
    X, Y = make_data(seed=21)
    found = made(name, decoder=decoder).fit(X, Y).threshold_
    tuned = made(name, decoder=decoder, threshold="f1").fit(X, Y).threshold_
    assert found == min(tuned, 0.0 if decoder == "logistic" else 0.5)


@pytest.mark.parametrize(("decoder", "half"), [("linear", 0.5), ("logistic", 0.0)])
def test_the_default_threshold_of_frequent_labels_is_at_most_one_half(decoder, half):
    X, Y = make_data(seed=22)
    Y[:, :] = np.arange(70)[:, None] > 0
    tuned = CMLLClassifier(decoder=decoder, threshold="f1").fit(X, Y).threshold_
    assert tuned > half == CMLLClassifier(decoder=decoder).fit(X, Y).threshold_


@pytest.mark.parametrize(("n_rows", "n_refits"), [(60, 5), (100, 4), (150, 3), (200, 2), (400, 1)])
def test_a_default_threshold_needs_few_refits(n_rows, n_refits, monkeypatch):
    """Enough rows are scored, or all of them."""
    X, Y = make_data(n_rows, seed=23)
    fitted, tuned = [], []
    fit, tune = CrossFit._fit, scores_module.tune
    monkeypatch.setattr(plan, "ENOUGH_ROWS", 70)
    monkeypatch.setattr(CrossFit, "_fit", lambda own, out: fitted.append(out) or fit(own, out))
    monkeypatch.setattr(
        scores_module,
        "tune",
        lambda s, c, Y, *w, **k: tuned.append(Y.shape[0]) or tune(s, c, Y, *w, **k),
    )
    CMLLClassifier(4, 3).fit(X, Y, groups=np.arange(n_rows))
    assert len(fitted) == n_refits
    assert tuned == [n_rows * n_refits // 5]
    assert tuned[0] >= 70 or n_refits == 5


def test_where_nothing_can_be_tuned_the_default_is_one_half():
    X, Y = make_data(seed=25)
    sums = Moments.from_arrays(X, sp.csr_array(Y))
    assert CMLLClassifier().fit_moments(sums).threshold_ == 0.5
    assert CMLLClassifier().partial_fit(X, Y).threshold_ == 0.5
    assert CompactClassifier(regressor=Ridge()).fit(X, Y).threshold_ == 0.5
    y = Y[:, 0]
    half = CMLLClassifier(threshold=0.5).fit(X, y)
    np.testing.assert_array_equal(
        CMLLClassifier().fit(X, y).decision_function(X), half.decision_function(X)
    )


@pytest.mark.parametrize("threshold", [2, -0.5, 1.01, [0.5, 0.5, 0.5, 0.5, 7.0]], ids=str)
def test_a_threshold_far_from_every_score_raises_a_warning(threshold):
    X, Y = make_data(seed=27)
    with pytest.warns(UserWarning, match=r"nothing may be predicted.*number between 0 and 1"):
        CMLLClassifier(threshold=threshold).fit(X, Y)


# --- long work -----------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", ["f1", "auto", 0.5])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("name", ["CMLL", "PLST", "kernel", "foreign"])
def test_the_progress_bar_ends_with_the_work(name, decoder, threshold, monkeypatch):
    X, Y = make_data(seed=28)
    seen = []

    class Counted(Steps):
        def __init__(self, description, total, **options):
            super().__init__(description, total, **options)
            seen.append(["asked", total, 0])

        def done(self):
            seen[-1][2] += 1

    monkeypatch.setattr(decisions, "Steps", Counted)
    made(name, decoder=decoder, threshold=threshold).fit(X, Y)
    for _, total, done in seen:
        assert done == total
    tunes = threshold == "f1" or (threshold == "auto" and name != "foreign")
    assert len(seen) == (decoder != "linear" or tunes)


def test_a_long_fit_announces_its_duration(monkeypatch, capsys):
    X, Y = make_data(seed=29)
    CMLLClassifier(decoder="logistic", verbose=1).fit(X, Y)
    assert capsys.readouterr().err == ""  # this one is short
    monkeypatch.setattr(plan, "LOGISTIC_SECONDS", 1.0)
    CMLLClassifier(decoder="logistic").fit(X, Y)
    assert capsys.readouterr().err == ""  # not asked for, and nobody sits at a terminal
    CMLLClassifier(decoder="logistic", verbose=1).fit(X, Y)
    said = capsys.readouterr().err
    assert "CMLLClassifier: the logistic decoder will take about" in said
    assert said.count("\n") == 1


# --- at size -------------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch):
    """Treat every problem as a large one."""
    monkeypatch.setattr(plan, "LARGE", dict.fromkeys(DECODERS, 0.0))
    monkeypatch.setattr(plan, "ENOUGH_ROWS", 20)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("threshold", ["auto", *TUNED])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("name", ["CMLL", "Original", "kernel"])
def test_large_problems_have_few_folds(name, decoder, threshold, cross_fit_of):
    """Decoder and threshold follow the same rules with three folds, one of which judges."""
    X, Y = make_data(60, seed=31)
    model = made(name, decoder=decoder, threshold=threshold)
    cross_fit = cross_fit_of(model, X, Y)
    np.testing.assert_array_equal(np.unique(cross_fit.folds.number), [0, 1, 2])
    count = 3 if threshold == "per-label" else 1
    rows = cross_fit.scored(count)
    if decoder == "linear":
        S = cross_fit.scores(count).columns(slice(0, 5))
    else:
        folds = list(cross_fit.held_out_folds(count))
        penalty = choose_penalty_at_size(folds[:1])
        whole = learn_at_size(cross_fit.data(), penalty)
        np.testing.assert_allclose(model.decoding_.coefficients, whole.coefficients, atol=1e-8)
        S = np.empty(Y.shape)
        for part in folds:
            other = learn_at_size(part.train, penalty)
            S[part.rows] = part.codes @ other.coefficients + other.intercept
        S = S[rows]
    how = "f1" if threshold == "auto" else threshold
    expected = tune(how, lambda labels: S[:, labels], sp.csr_array(Y[rows].astype(float)), None)
    if threshold == "auto":
        expected = min(expected, 0.0 if decoder == "logistic" else 0.5)
    np.testing.assert_allclose(model.threshold_, expected, atol=1e-7)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("threshold", [0.5, "f1"])
def test_half_of_a_large_fold_judges_with_three_models(threshold, monkeypatch):
    X, Y = make_data(130, seed=36)
    fits = []
    original = CrossFit._fit
    monkeypatch.setattr(CrossFit, "_fit", lambda self, out: fits.append(out) or original(self, out))
    CMLLClassifier(decoder="logistic", threshold=threshold).fit(X, Y)
    assert sorted(fits) == [(0,), (1,), (2,)]
    fits.clear()  # a threshold for each label needs all rows, and so the other models
    CMLLClassifier(decoder="logistic", threshold="per-label").fit(X, Y)
    assert sorted(fits) == [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)]
