"""A fit from blocks is the fit on all rows, wherever the blocks begin and end."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from compactlearn import (
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    Original,
)
from compactlearn.core._row_blocks import RowBlocks
from compactlearn.scale import _fit_local as fit_local
from compactlearn.scale import _local as local
from tests.makers import make_data, modest

N = 400
X, Y = make_data(N, 8, 5, seed=3)
X_SPARSE, Y_SPARSE = make_data(N, 30, 6, seed=4, density=0.2)
NEW = np.random.default_rng(9).normal(size=(20, 8))


def cut(X, Y, places, weights=None):
    """Rows in blocks that end at these places."""
    edges = [0, *sorted(places), X.shape[0]]
    rows = [slice(a, b) for a, b in pairwise(edges)]
    if weights is None:
        return [(X[part], Y[part]) for part in rows]
    return [(X[part], Y[part], weights[part]) for part in rows]


def differences(one, other, rows):
    return np.abs(one.decision_function(rows) - other.decision_function(rows)).max()


EMBEDDINGS = [
    Original(),
    PLST(3),
    CPLST(3),
    DMLR(3),
    MDDM(3),
    FaIE(3),
    *(CMLLClassifier(n_label_components=m).make_embedding() for m in ("auto", 3)),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=repr)
def test_every_embedding_has_the_scores_of_a_fit_in_memory(embedding, sparse):
    rows = scipy.sparse.csr_array(X_SPARSE) if sparse else X
    labels = Y_SPARSE if sparse else Y
    model = CompactClassifier(embedding, threshold=0.5, alpha=0.7)
    blocks = model.fit_blocks(cut(rows, labels, [3, 50, 51, 200]))
    assert blocks.n_passes_ == 1
    whole = CompactClassifier(embedding, threshold=0.5, alpha=0.7).fit(rows, labels)
    assert differences(blocks, whole, rows) < 1e-8
    assert not hasattr(whole, "n_passes_")


@modest
@given(st.lists(st.integers(0, N), max_size=6), st.booleans(), st.booleans())
def test_scores_do_not_depend_on_where_blocks_end(places, weighted, scale):
    weights = np.random.default_rng(1).uniform(0.0, 3.0, N) if weighted else None
    if weighted:
        weights[:30] = 0.0
    model = CMLLClassifier(n_label_components=3, threshold=0.5, scale=scale, alpha="auto")
    model.fit_blocks(cut(X, Y, places, weights))
    whole = CMLLClassifier(n_label_components=3, threshold=0.5, scale=scale, alpha="auto")
    whole.fit(X, Y, sample_weight=weights)
    assert differences(model, whole, NEW) < 1e-8


@modest
@given(st.lists(st.integers(0, N), max_size=6), st.sampled_from(["linear", "logistic"]))
def test_decoder_and_threshold_do_not_depend_on_where_blocks_end(places, decoder):
    options = {"n_label_components": 3, "decoder": decoder, "threshold": "f1"}
    one = CMLLClassifier(**options).fit_blocks(cut(X, Y, [100]))
    other = CMLLClassifier(**options).fit_blocks(cut(X, Y, places))
    assert differences(one, other, NEW) < 1e-6
    assert other.threshold_ == pytest.approx(one.threshold_, abs=1e-6)


@modest
@given(st.lists(st.integers(0, N), max_size=4), st.booleans(), st.booleans())
def test_passes_have_the_scores_of_moments(places, sparse, weighted):
    rows, labels = (scipy.sparse.csr_array(X_SPARSE), Y_SPARSE) if sparse else (X, Y)
    weights = np.random.default_rng(1).uniform(0.5, 3.0, N) if weighted else None
    blocks = cut(rows, labels, places, weights)
    options = {"n_feature_components": 3, "n_label_components": 3, "scale": True}
    passes = CMLLClassifier(solver="randomized", **options).fit_blocks(blocks)
    moments = CMLLClassifier(solver="moments", **options).fit_blocks(blocks)
    # So small a matrix is multiplied out in one pass, and everything is exact.
    assert passes.n_passes_ == 3
    assert passes.embedding_.objective_share_ == 1.0
    assert differences(passes, moments, rows) < 1e-8
    assert passes.threshold_ == pytest.approx(moments.threshold_, abs=1e-8)


def large(seed=0):
    """Return 150 features and 60 labels with a few dominant directions."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(600, 4))
    rows = latent @ rng.normal(size=(4, 150)) + rng.normal(size=(600, 150))
    labels = (latent @ rng.normal(size=(4, 60)) > 2.0).astype(float)
    return rows, labels


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
def test_passes_reach_the_share_of_the_objective_that_they_state(decoder):
    rows, labels = large()
    blocks = cut(rows, labels, [100, 350])
    options = {"n_label_components": 6, "n_feature_components": 6, "decoder": decoder}
    passes = CMLLClassifier(solver="randomized", **options).fit_blocks(blocks)
    exact = CMLLClassifier(solver="moments", **options).fit_blocks(blocks)
    assert passes.embedding_.solver_ == "closed-passes"
    assert 4 <= passes.n_passes_ <= 8
    reached = passes.embedding_.objective_ / exact.embedding_.objective_
    share = passes.embedding_.objective_share_
    assert 0.9999 <= share <= reached * (1 + 1e-12) <= 1 + 1e-9
    scores = exact.decision_function(rows)
    assert differences(passes, exact, rows) < 0.02 * np.abs(scores).max()


def test_the_completion_by_krylov_directions_takes_passes_of_its_own():
    rows, labels = large()
    options = {"n_label_components": 6, "completion": "krylov", "threshold": 0.5}
    blocks = cut(rows, labels, [300])
    passes = CMLLClassifier(solver="randomized", **options).fit_blocks(blocks)
    exact = CMLLClassifier(solver="moments", **options).fit_blocks(blocks)
    assert passes.transform(rows).shape == exact.transform(rows).shape
    scores = exact.decision_function(rows)
    assert differences(passes, exact, rows) < 0.02 * np.abs(scores).max()


def test_many_columns_are_fitted_by_passes_by_default(monkeypatch):
    monkeypatch.setattr("compactlearn.scale._fitting.MOMENTS_UP_TO", 100)
    rows, labels = large()
    model = CMLLClassifier(n_label_components=6).fit_blocks(cut(rows, labels, [100]))
    assert model.embedding_.solver_ == "closed-passes"
    ridge = CompactClassifier(Original()).fit_blocks(cut(rows, labels, [100]))
    assert ridge.n_passes_ == 1  # it has no other way


def test_little_memory_costs_passes_and_changes_no_bit(monkeypatch, capsys):
    """Codes for the model and for its threshold are then sought one after the other."""
    rows, labels = large()
    model = CMLLClassifier(n_label_components=6, solver="randomized", verbose=1)
    together = clone(model).fit_blocks(cut(rows, labels, [100]))
    capsys.readouterr()
    monkeypatch.setattr("compactlearn.scale._fitting.TOGETHER_BYTES", 0)
    apart = clone(model).fit_blocks(cut(rows, labels, [100]))
    assert "at most 14 passes over the blocks" in capsys.readouterr().err
    assert together.n_passes_ < apart.n_passes_ <= 14
    assert apart.threshold_ == together.threshold_
    np.testing.assert_array_equal(apart.decision_function(rows), together.decision_function(rows))


# ---- held-out scores --------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("solver", ["moments", "randomized"])
def test_held_out_scores_do_not_depend_on_their_labels(solver, decoder, monkeypatch):
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(size=(2000, 40)), (rng.random((2000, 30)) < 0.3).astype(float)
    model = CMLLClassifier(
        n_label_components=15, beta=1.0, solver=solver, threshold="f1", decoder=decoder
    )
    found = []
    monkeypatch.setattr(CMLLClassifier, "_keep", lambda _, fitted: found.append(fitted))
    model.fit_blocks([(rows[:900], noise[:900]), (rows[900:], noise[900:])])
    out_of_fold = found[0].decided.out_of_fold
    assert out_of_fold.rows.size == 400
    scores, truth = out_of_fold.columns(slice(None)), noise[out_of_fold.rows]
    above = (scores[:, None, :] > scores[None, :, :]).transpose(2, 0, 1)
    pairs = (truth[:, None, :] > truth[None, :, :]).transpose(2, 0, 1)
    assert abs((above & pairs).sum() / pairs.sum() - 0.5) < 0.02


def test_a_logistic_decoder_of_blocks_is_as_good_as_one_of_all_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 10))
    odds = rows @ rng.normal(size=(10, 6)) - 1.0
    labels = (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)
    model = CMLLClassifier(decoder="logistic").fit_blocks(cut(rows[:3000], labels[:3000], [999]))
    p, truth = model.predict_proba(rows[3000:]), labels[3000:]
    loss = -np.mean(truth * np.log(p) + (1 - truth) * np.log(1 - p))
    whole = CMLLClassifier(decoder="logistic").fit(rows[:3000], labels[:3000])
    p = whole.predict_proba(rows[3000:])
    best = -np.mean(truth * np.log(p) + (1 - truth) * np.log(1 - p))
    assert loss < best + 0.01


# ---- forms ------------------------------------------------------------------------------------


def test_iterators_functions_lists_and_sources_will_do():
    class Own(RowBlocks):
        label_names = ("a", "b", "c", "d", "e")

        def __iter__(self):
            yield from cut(X, Y, [70])

    whole = CMLLClassifier(threshold=0.5).fit(X, Y)
    for blocks in (iter(cut(X, Y, [70])), lambda: iter(cut(X, Y, [70])), Own()):
        model = CMLLClassifier(threshold=0.5).fit_blocks(blocks)
        assert differences(model, whole, NEW) < 1e-8
    assert model.label_names_ == ["a", "b", "c", "d", "e"]
    assert differences(CMLLClassifier(threshold=0.5).fit(Own()), whole, NEW) < 1e-8


def test_frames_bring_their_names():
    pandas = pytest.importorskip("pandas")
    names = [f"x{j}" for j in range(8)]
    frames = [
        (pandas.DataFrame(a, columns=names), pandas.DataFrame(b, columns=list("vwxyz")))
        for a, b in cut(X, Y.astype(int), [70])
    ]
    model = CMLLClassifier(threshold=0.5).fit_blocks(frames)
    assert model.feature_names_in_.tolist() == names
    assert model.label_names_ == list("vwxyz")
    other = frames[1][0].rename(columns={"x3": "other"})
    with pytest.raises(ValueError, match=r"Block 1, .*: every block .* has .*'other'"):
        CMLLClassifier().fit_blocks([frames[0], (other, frames[1][1])])


def test_rows_can_be_added_to_a_model_of_blocks():
    model = CMLLClassifier(threshold=0.5).fit_blocks(cut(X[:300], Y[:300], [70]))
    model.partial_fit(X[300:], Y[300:])
    assert differences(model, CMLLClassifier(threshold=0.5).fit(X, Y), NEW) < 1e-8


def test_bits_do_not_depend_on_the_number_of_threads(monkeypatch):
    found = []
    for n_threads in (1, 3):
        monkeypatch.setattr(local, "summing_threads", lambda n=n_threads: n)
        # Of so few rows all would be set aside first if a threshold were to be tuned.
        found.append(CMLLClassifier(threshold=0.5).fit_blocks(cut(X, Y, range(20, 400, 20))))
    one, other = (model.decision_function(NEW) for model in found)
    assert one.tobytes() == other.tobytes()


def test_a_large_offset_costs_no_digits():
    far = X + 1e6
    model = CMLLClassifier(threshold=0.5).fit_blocks(cut(far, Y, [70]))
    whole = CMLLClassifier(threshold=0.5).fit(X, Y)
    difference = np.abs(model.decision_function(NEW + 1e6) - whole.decision_function(NEW)).max()
    assert difference < 1e-6


# ---- memory maps ------------------------------------------------------------------------------


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


def test_a_large_memory_map_is_fitted_in_blocks(mapped, monkeypatch):
    monkeypatch.setattr(fit_local, "MAPPED_ABOVE", 1000)
    monkeypatch.setattr(fit_local, "_BLOCK_BYTES", 8 * 8 * 33)
    weights = np.linspace(0.5, 2.0, N)
    model = CMLLClassifier(threshold=0.5).fit(mapped, Y, sample_weight=weights)
    assert model.n_passes_ == 1
    whole = CMLLClassifier(threshold=0.5).fit(X, Y, sample_weight=weights)
    assert differences(model, whole, NEW) < 1e-8
    assert np.array_equal(mapped, X)  # pages that were given back are read again
    assert not hasattr(CMLLClassifier(feature_map=_Same()).fit(mapped, Y), "n_passes_")


class _Same:
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def get_params(self, deep=True):
        return {}
