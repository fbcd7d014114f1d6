"""Regression tests of decoders and thresholds: ties, labels absent from a fold, users' matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold

from compactlearn import CMLLClassifier, CompactClassifier, Original, ThresholdTuner
from compactlearn.core import _memory as memory
from compactlearn.crossfit import _scores as scores_module
from compactlearn.decoding import _thresholds as thresholds
from compactlearn.decoding._held_out import DecoderData
from compactlearn.decoding._logistic import learn_logistic_decoder
from compactlearn.decoding._thresholds import tune
from tests.makers import maker

make_data = maker(60, 5, 4, mean=0, share=0.7, dtype=int)


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4))
def test_no_threshold_comes_closer_to_the_cardinality_with_ties(seed, n, m):
    rng = np.random.default_rng(seed)
    S = rng.integers(-2, 3, size=(n, m)) / 4
    Y = (rng.random((n, m)) < 0.4).astype(float)
    t = tune("cardinality", lambda labels: S[:, labels], sp.csr_array(Y))
    wanted = Y.sum()
    best = min(abs((S > u).sum() - wanted) for u in [-9, *(np.unique(S))])
    assert abs((S > t).sum() - wanted) <= best


def test_splitters_that_need_labels():
    X, Y = make_data()

    class ByFirstLabel(StratifiedKFold):
        def split(self, X, y=None, groups=None):
            return super().split(X, np.asarray(y)[:, 0], groups)

    ThresholdTuner(CompactClassifier(Original()), cv=ByFirstLabel(3)).fit(X, Y)


def test_fit_reads_a_read_only_sparse_matrix():
    X, Y = make_data()
    X = sp.csr_array(X)
    X.data[::7] = 0.0
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    CMLLClassifier(threshold="f1").fit(X, Y)


def decoder_data(X, Y):
    linear = np.ones((X.shape[1], Y.shape[1]))
    return DecoderData(
        X, sp.csr_array(Y * 1.0), np.ones(len(X)), linear, lambda labels: (X @ linear)[:, labels]
    )


def test_tiny_codes_are_not_constant():
    X, Y = make_data()
    first, other = (learn_logistic_decoder(decoder_data(scale * X, Y), 1.0) for scale in (1, 1e-14))
    np.testing.assert_allclose(
        1e-14 * X @ other.coefficients + other.intercept,
        X @ first.coefficients + first.intercept,
        atol=1e-6,
    )


def test_top_k_counts_weights():
    X = np.random.default_rng(0).normal(size=(20, 3))
    Y = np.zeros((20, 4), dtype=int)
    Y[:10, 0] = 1
    Y[10:, :3] = 1
    w = np.r_[np.full(10, 1.0), np.full(10, 9.0)]
    base = CompactClassifier(Original())
    once = ThresholdTuner(base, strategy="top-k").fit(X, Y, w)
    k = w.astype(int)
    again = ThresholdTuner(base, strategy="top-k").fit(np.repeat(X, k, 0), np.repeat(Y, k, 0))
    assert once.k_ == again.k_


def test_rows_that_no_fold_holds_out_are_left_out():
    """Rows without an out-of-fold score are dropped; no NaN enters a comparison."""
    X, Y = make_data(60)
    cv = [(np.arange(20, 60), np.arange(20))]
    for strategy in ("f1", "per-label", "cardinality"):
        tuner = ThresholdTuner(CompactClassifier(Original()), strategy=strategy, cv=cv).fit(X, Y)
        model = CompactClassifier(Original()).fit(X[20:], Y[20:])
        S = model.decision_function(X[:20])
        expected = tune(strategy, lambda labels, S=S: S[:, labels], sp.csr_array(Y[:20] * 1.0))
        np.testing.assert_allclose(tuner.threshold_, expected)


class WantsDense(RegressorMixin, BaseEstimator):
    """A ridge that, like some of scikit-learn's regressors, takes no sparse rows."""

    def fit(self, X, y):
        assert isinstance(X, np.ndarray)
        self.model_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        assert isinstance(X, np.ndarray)
        return self.model_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@pytest.mark.parametrize("params", [{"threshold": "f1"}, {"decoder": "logistic"}], ids=str)
def test_a_learner_on_all_features_sees_them_in_the_form_they_came(params):
    """A dense X of mostly zeros is compressed internally; the regressor still gets dense rows."""
    X, Y = make_data(60)
    X = np.hstack([X, np.zeros((60, 200))])
    dense = CompactClassifier(Original(), regressor=WantsDense(), **params).fit(X, Y)
    either = CompactClassifier(Original(), regressor=Ridge(), **params).fit(X, Y)
    np.testing.assert_allclose(dense.decision_function(X), either.decision_function(X))
    np.testing.assert_allclose(dense.threshold_, either.threshold_)


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
def test_tuning_asks_for_a_few_labels_at_a_time(decoder, monkeypatch):
    """No matrix of all rows and labels is formed: the widest is a block."""
    X, Y = make_data(60, n_labels=12)
    whole = CMLLClassifier(decoder=decoder, threshold="f1").fit(X, Y)
    widths = []

    def record(strategy, columns, *args, **options):
        def counted(labels):
            widths.append(labels.stop - labels.start)
            return columns(labels)

        return tune(strategy, counted, *args, **options)

    monkeypatch.setattr(scores_module, "tune", record)
    monkeypatch.setattr(thresholds, "_BLOCK_ENTRIES", 120)
    blocked = CMLLClassifier(decoder=decoder, threshold="f1").fit(X, Y)
    assert max(widths) == 2
    assert blocked.threshold_ == whole.threshold_


def test_logistic_regressions_that_do_not_fit_are_refused(monkeypatch):
    X, Y = make_data(60)
    real = memory.require_memory
    monkeypatch.setattr(
        memory, "require_memory", lambda *args, **options: real(*args, **(options | {"free": 10}))
    )
    with pytest.raises(MemoryError, match=r"4 labels on 60 rows.*decoder='linear'"):
        learn_logistic_decoder(decoder_data(X, Y), 1.0)
