"""Compiled ranking returns what SciPy's products return, and starts for large models only."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn import CMLLClassifier, ShortlistClassifier, load_model
from compactlearn.compact._unit_rows import UnitRows
from compactlearn.shortlist import _compiled_ranking as compiled_ranking
from compactlearn.shortlist import _generation as generation
from compactlearn.shortlist import _stages as stages
from compactlearn.shortlist._cooccurrence_reranking import CooccurrenceReranking

SMALL = {"n_candidates": 12, "n_neighbors": 8, "C": 1.0, "random_state": 0}


def data_of(seed=0, n=160, n_features=50, n_labels=30, density=0.12):
    """Return training rows, their labels and new rows.

    The last three features are in no training row, the last label is in none, the one before in
    all; among the new rows are one without entries, one with stored zeros and one with unknown
    features alone.
    """
    rng = np.random.default_rng(seed)
    dense = rng.random((2 * n, n_features)) * (rng.random((2 * n, n_features)) < density)
    scores = dense @ rng.normal(size=(n_features, n_labels))
    Y = (scores + 0.1 * rng.normal(size=scores.shape) > np.quantile(scores, 0.9)).astype(int)
    Y[:, -1] = 0
    Y[:, -2] = 1
    dense[:n, -3:] = 0.0
    dense[n] = dense[n + 1] = 0.0
    dense[n + 1, -3:] = 1.0
    new = sp.csr_array(dense[n:])
    new.data[new.indptr[2] : new.indptr[3]] = 0.0
    return sp.csr_array(dense[:n]), Y[:n], new


@pytest.fixture
def by_route(monkeypatch):
    """Return a function that gives the results of a call by both routes, compiled ones first."""
    pytest.importorskip("numba", reason="the extra 'fast' brings it")

    def both(call):
        found = []
        for smallest in (0, 1 << 60):
            monkeypatch.setattr(stages, "_COMPILED_PARAMETERS", smallest)
            found.append(call())
        return found

    return both


def assert_close(found, expected):
    """Compare scores; where functions are steep, the seventh digit of an input is the fourth."""
    gap = np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)
    assert np.median(gap) < 1e-5
    assert gap.max() < 1e-3


def assert_same(by_route, model, X):
    """Compare scores, probabilities, labels and ranking of both routes."""
    compiled, plain = by_route(lambda: sp.csr_array(model.decision_function(X)))
    np.testing.assert_array_equal(compiled.indptr, plain.indptr)
    np.testing.assert_array_equal(compiled.indices, plain.indices)
    assert_close(compiled.data, plain.data)
    compiled, plain = by_route(lambda: sp.csr_array(model.predict_proba(X)))
    np.testing.assert_allclose(compiled.data, plain.data, atol=5e-4)
    if model.n_labels_ > 1:
        (labels, scores), (others, same) = by_route(lambda: model.predict_topk(X, 2))
        assert_close(scores, same)
        clear = np.diff(same, axis=1).ravel() < -2e-3
        np.testing.assert_array_equal(labels[clear, 0], others[clear, 0])


def is_compiled(model):
    """Return whether the model has a compiled route, and whether it asks the retriever."""
    route = model.stages_._compiled
    return None if route is None else "linear" if route.linear is not None else "asked"


class Wrapped(CMLLClassifier):
    """A retriever of another type, whose scores are not known to be products."""


FITS = {
    "usual": ({}, "linear"),
    "few neighbours": ({"n_neighbors": 1}, "linear"),
    "no neighbours": ({"n_neighbors": 0}, "linear"),
    "all labels": ({"n_candidates": 30}, "linear"),
    "one candidate": ({"n_candidates": 1}, "linear"),
    "two candidates": ({"n_candidates": 2}, "linear"),
    "lengths": ({"unit_rows": False}, "linear"),
    "all weights": ({"smallest_weight": 0.0, "C": 8.0}, "linear"),
    "no weight": ({"smallest_weight": 1e9}, "linear"),
    "codes": ({"retriever": CMLLClassifier(n_label_components=5)}, "asked"),
    "logistic": ({"retriever": CMLLClassifier(n_label_components=5, decoder="logistic")}, "asked"),
    "wide": ({"retriever": CMLLClassifier(feature_map=UnitRows())}, "asked"),
    "scaled": ({"retriever": CMLLClassifier(feature_map=UnitRows(), scale=True)}, "asked"),
    "another type": ({"retriever": Wrapped(None, None)}, "asked"),
}


@pytest.mark.parametrize("name", FITS)
def test_both_routes_agree(by_route, name):
    parameters, kind = FITS[name]
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL | parameters).fit(X, Y)
    assert is_compiled(model) == kind
    assert_same(by_route, model, new)
    assert_same(by_route, model, new[:1])
    assert_same(by_route, model, new[[7]])


@given(
    seed=st.integers(0, 1000),
    n_labels=st.integers(4, 60),
    density=st.floats(0.02, 0.6),
    n_neighbors=st.integers(1, 60),
    candidates=st.floats(0.0, 1.0),
)
@settings(max_examples=10, deadline=None)
def test_both_routes_agree_on_any_data(seed, n_labels, density, n_neighbors, candidates):
    X, Y, new = data_of(seed, 60, 25, n_labels, density)
    size = max(2, round(candidates * n_labels))
    model = ShortlistClassifier(
        n_candidates=size, n_neighbors=n_neighbors, C=1.0, random_state=seed
    ).fit(X, Y)
    with pytest.MonkeyPatch.context() as patch:
        pytest.importorskip("numba", reason="the extra 'fast' brings it")
        patch.setattr(stages, "_COMPILED_PARAMETERS", 0)
        compiled = model.decision_function(new)
        patch.setattr(stages, "_COMPILED_PARAMETERS", 1 << 60)
        plain = model.decision_function(new)
    np.testing.assert_array_equal(compiled.indices, plain.indices)
    assert_close(compiled.data, plain.data)


def test_values_below_zero(by_route):
    """They count in products, and are no evidence."""
    X, Y, new = data_of()
    for rows in (X, new):
        rows.data[::3] *= -1.0
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    inputs = model.stages_.rank(new).inputs
    assert (inputs[:, 12] > 0).any()
    assert_same(by_route, model, new)
    one = np.eye(inputs.shape[1])[:, [11]]
    final = CooccurrenceReranking(np.hstack([one, -one]), np.zeros(2), np.array([1.0, -1.0]), 0)
    own = stages.Stages(**model.stages_.__getstate__() | {"final": final})
    np.testing.assert_allclose(own._compiled.ranked(new)[1], inputs[:, 11], rtol=1e-5, atol=2e-5)


def test_compressed_retriever(by_route, monkeypatch):
    """Its scores are a product of two matrices."""
    for name, value in {"_CODES": 100, "_FEWEST_CODES": 4, "_MOST_CODES": 4}.items():
        monkeypatch.setattr(generation, name, value)
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    assert len(model.stages_._compiled.linear.factors) == 2
    assert_same(by_route, model, new)


def test_every_input_is_that_of_scipy(by_route):
    """Also those that the fitted network hardly uses."""
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    inputs = model.stages_.rank(new[2:]).inputs
    assert inputs.shape[1] == compiled_ranking._INPUTS
    assert (np.ptp(inputs, axis=0) > 0).all()
    for k in range(inputs.shape[1]):
        one = np.eye(inputs.shape[1])[:, [k]]
        final = CooccurrenceReranking(np.hstack([one, -one]), np.zeros(2), np.array([1.0, -1.0]), 0)
        own = stages.Stages(**model.stages_.__getstate__() | {"final": final})
        found = own._compiled.ranked(new[2:])[1]
        np.testing.assert_allclose(found, inputs[:, k], rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_compressed_models(by_route, tmp_path, dtype):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y).compress(dtype)
    assert is_compiled(model) == "linear"
    assert_same(by_route, model, new)
    model.save(tmp_path / "model")
    assert_same(by_route, load_model(tmp_path / "model"), new)


def test_weights_and_repeated_rows(by_route):
    X, Y, new = data_of()
    twice = np.concatenate([np.arange(160), np.arange(40)])
    weights = 1.0 + np.arange(200) % 3
    model = ShortlistClassifier(**SMALL).fit(X[twice], Y[twice], weights)
    assert model.stages_.generator.neighbours.weights is not None
    assert is_compiled(model) == "linear"
    assert_same(by_route, model, new)


def test_types_and_lengths_of_rows(by_route):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    expected = model.decision_function(new).toarray()
    for form in (new.astype(np.float32), sp.csr_matrix(new), new.tocsc(), new.toarray()):
        assert_same(by_route, model, form)
    for factor in (1e-200, 1e200):
        assert_same(by_route, model, factor * new)
        (scores, _) = by_route(lambda factor=factor: model.decision_function(factor * new))
        np.testing.assert_allclose(scores.toarray(), expected, atol=1e-4)
    wide = sp.csr_array(new)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same(by_route, model, wide)
    twice = new.tocoo()
    twice = sp.coo_array(
        (np.tile(twice.data / 2, 2), tuple(np.tile(c, 2) for c in twice.coords)), new.shape
    )
    assert_same(by_route, model, twice)


def test_dense_training_rows_one_label_two_labels_and_classes(by_route):
    X, Y, new = data_of()
    assert_same(by_route, ShortlistClassifier(**SMALL).fit(X.toarray(), Y), new.toarray())
    few = {"n_neighbors": 8, "C": 1.0, "random_state": 0}
    for labels in (sp.csr_array(Y[:, :1]), Y[:, :2]):
        model = ShortlistClassifier(**few).fit(X, labels)
        assert is_compiled(model) is not None
        assert_same(by_route, model, new)
    for classes in (Y[:, 0], Y[:, 0] + 2 * Y[:, 1]):
        model = ShortlistClassifier(**few).fit(X, classes)
        compiled, plain = by_route(lambda model=model: model.predict_proba(new))
        np.testing.assert_allclose(compiled, plain, atol=1e-5)


def test_blocks_of_rows(by_route, monkeypatch):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    monkeypatch.setattr(compiled_ranking, "_BLOCK_SCORES", 1)  # sixteen rows
    assert_same(by_route, model, new)
    monkeypatch.setattr(stages, "BLOCK_ROWS", 70)
    assert_same(by_route, model, new)
    (labels, scores), (others, same) = by_route(lambda: model.predict_topk(new, 25))
    assert_close(scores, same)
    np.testing.assert_array_equal(np.sort(labels), np.sort(others))


def test_unknown_labels_need_scipy(by_route):
    X, Y, new = data_of()
    known = Y.astype(float)
    known[::4, 3] = np.nan
    model = ShortlistClassifier(**SMALL).fit(X, known)
    assert is_compiled(model) is None
    compiled, plain = by_route(lambda: model.decision_function(new))
    np.testing.assert_array_equal(compiled.toarray(), plain.toarray())


def test_explanations_add_up_to_the_compiled_scores(by_route):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    found, _ = by_route(lambda: model.explain(new[10:14], range(30), k=None))
    scores, _ = by_route(lambda: model._scores_to_rank(new[10:14]))
    for one in found:
        assert one.score == pytest.approx(scores[one.row, int(one.label)], abs=1e-9)
        parts = one.base + sum(term.contribution for term in one.terms)
        assert parts == pytest.approx(one.score, abs=3e-4)


def test_threads_get_what_one_thread_gets(by_route):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    together = threading.Barrier(4)

    def ask(start):
        together.wait(timeout=60)
        rows = [(start + step) % 160 for step in range(0, 160, 3)]
        return [(i, model.decision_function(new[[i]]).toarray()) for i in rows]

    def asked():
        with ThreadPoolExecutor(4) as pool:
            return [pair for part in pool.map(ask, (0, 1, 2, 0)) for pair in part]

    expected, _ = by_route(lambda: [model.decision_function(new[[i]]) for i in range(160)])
    found, _ = by_route(asked)
    for i, scores in found:
        np.testing.assert_array_equal(scores, expected[i].toarray())
    assert 1 <= len(model.stages_._compiled._free) <= 4


def test_memory_is_clean_after_a_row(by_route):
    """A row's scores do not depend on the rows before it."""
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    order = np.random.default_rng(0).permutation(160)
    compiled, _ = by_route(
        lambda: [model.decision_function(new[rows]).toarray() for rows in (slice(None), order)]
    )
    # The retriever's products are rounded as the block's size makes them; one more or less of
    # memory that is left over would change whole scores.
    np.testing.assert_allclose(compiled[1], compiled[0][order], atol=2e-3)


def test_neither_files_nor_sizes_know_of_the_compiled_route(by_route, tmp_path):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    before = pickle.dumps(model), model.nbytes_, model.n_parameters_
    model.save(tmp_path / "before")
    by_route(lambda: model.predict_topk(new, 3))
    assert model.stages_._compiled is not None
    assert (pickle.dumps(model), model.nbytes_, model.n_parameters_) == before
    model.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    assert set(vars(pickle.loads(before[0]).stages_)) == set(stages.Stages.__dataclass_fields__)


# ---- when nothing is compiled ------------------------------------------------------------------


@pytest.fixture
def asked_for(monkeypatch):
    """Return the names of the modules that were to be compiled; none is there."""
    names = []
    monkeypatch.setattr(compiled_ranking, "kernels", names.append)
    return names


def test_small_models_compile_nothing(asked_for):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    model.predict_topk(new, 3)
    model.predict_proba(new[:1])
    model.predict(new)
    assert asked_for == []


@pytest.mark.parametrize("limit", ["_COMPILED_PARAMETERS", "_COMPILED_PAIRS"])
def test_large_models_and_many_rows_do(asked_for, monkeypatch, limit):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    expected = model.decision_function(new).toarray()
    at_least = {"_COMPILED_PARAMETERS": model.n_parameters_, "_COMPILED_PAIRS": 160 * 12}[limit]
    monkeypatch.setattr(stages, limit, at_least + 1)
    model.decision_function(new)
    assert asked_for == []
    monkeypatch.setattr(stages, limit, at_least)
    found = model.decision_function(new).toarray()  # without Numba, by SciPy
    np.testing.assert_array_equal(found, expected)
    assert asked_for == ["compactlearn.shortlist._ranking_kernel"]
    model.decision_function(new)
    assert len(asked_for) == 1


# ---- mistakes that compiled code does not see --------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(by_route, value):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    wrong = new.copy()
    wrong.data[-1] = value
    for rows in (wrong, wrong[[-1]]):
        for call in (model.predict_topk, lambda rows, _: model.predict_proba(rows)):

            def refused(call=call, rows=rows):
                with pytest.raises(ValueError, match="finite numbers only"):
                    call(rows, 2)

            by_route(refused)


def test_columns_that_are_not_there_are_refused(by_route):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL).fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        by_route(lambda: model.predict_topk(new[:, :49], 2))
    wrong = new.copy()
    for index in (50, -1, 1 << 30):
        wrong.indices[-1] = index
        with pytest.raises(ValueError, match="numbered from 0 to 49"):
            by_route(lambda: model.predict_topk(wrong, 2))


def test_long_rows_are_refused_without_unit_rows(by_route):
    X, Y, new = data_of()
    model = ShortlistClassifier(**SMALL | {"unit_rows": False}).fit(X, Y)
    with pytest.raises(ValueError, match="at most 1e\\+08"):
        by_route(lambda: model.predict_topk(1e9 * new, 2))


class Careless(CMLLClassifier):
    """A retriever that names labels that are not there."""

    def predict_topk(self, X, k, **options):
        labels, scores = super().predict_topk(X, k, **options)
        return labels + 1000 * self.wrong_, scores

    wrong_ = 0


def test_labels_that_are_not_there_are_refused(by_route, monkeypatch):
    X, Y, new = data_of()
    model = ShortlistClassifier(Careless(None, None), **SMALL).fit(X, Y)
    assert_same(by_route, model, new)
    for wrong in (-1, 1):
        monkeypatch.setattr(Careless, "wrong_", wrong)
        with pytest.raises(ValueError, match="labels from 0 to 29"):
            by_route(lambda: model.predict_topk(new, 2))


WRONG = ["prior", "labels", "cooccurrence", "neighbours", "centroids", "evidence", "usual"]
WRONG += ["first", "second", "inputs"]


@pytest.mark.parametrize("part", WRONG)
def test_parts_that_do_not_fit_together_are_left_to_scipy(part):
    """Compiled code checks no bounds, and a file may hold anything."""
    X, Y, _ = data_of()
    whole = ShortlistClassifier(**SMALL).fit(X, Y).stages_
    route = compiled_ranking.CompiledRanking.of
    wrong = {
        "prior": ("prior", "centres", whole.prior.centres[1:]),
        "labels": ("labels", "intercepts", whole.labels.intercepts[1:]),
        "cooccurrence": ("cooccurrence", "shares", whole.cooccurrence.shares[:, 1:]),
        "centroids": ("centroids", "columns", whole.centroids.columns[1:]),
        "evidence": ("evidence", "columns", whole.evidence.columns[:, 1:]),
        "usual": ("evidence", "usual", whole.evidence.usual[1:]),
        "first": ("final", "first", whole.final.first[:, 1:]),
        "second": ("final", "second", whole.final.second[1:]),
        "inputs": ("final", "first", whole.final.first[1:]),
        "neighbours": ("generator", "neighbours", None),
    }
    name, attribute, value = wrong[part]
    broken, own = object.__new__(stages.Stages), object.__new__(type(getattr(whole, name)))
    if part == "neighbours":
        near = whole.generator.neighbours
        value = object.__new__(type(near))
        vars(value).update(vars(near), labels=near.labels[1:])
    vars(own).update(vars(getattr(whole, name)), **{attribute: value})
    vars(broken).update(whole.__getstate__(), **{name: own})
    assert route(broken) is None
