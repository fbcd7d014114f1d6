"""C2AEClassifier: its optimiser against a literal one, and hard cases that were once wrong."""

import errno
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from compactlearn import C2AEClassifier, method
from compactlearn.core._unknown_labels import check_partial_targets
from compactlearn.metrics import average_precision, macro_f1, micro_f1
from compactlearn.related import _c2ae as c2ae
from compactlearn.related._networks import _checkpoint as checkpoints
from compactlearn.related._networks import _training as training
from compactlearn.related._networks._examples import Examples
from compactlearn.related._networks._layers import Layout

from .problems import SMALL, problem, same

torch = pytest.importorskip("torch", reason="the networks are trained by PyTorch")


def unknown_cells(Y, seed=1):
    known = np.random.default_rng(seed).random(Y.shape) < 0.7
    return known, np.where(known, Y, np.nan)


def drawn(random_state=0):
    """The seed that a fit with this random_state draws."""
    return int(np.random.RandomState(random_state).randint(2**31 - 1))


def held_rows(n_rows, n_held, random_state=0):
    order = np.random.default_rng([drawn(random_state), 0]).permutation(n_rows)
    return np.sort(order[:n_held])


# ---- the optimiser, literally -------------------------------------------------------------------


def _forward(layers, X):
    found = [X]
    for place, (W, b) in enumerate(layers):
        Z = found[-1] @ W + b
        last = place == len(layers) - 1
        found.append(1.0 / (1.0 + np.exp(-Z)) if last else np.where(Z > 0, Z, 0.1 * Z))
    return found


def _backward(layers, found, G):
    D, parts = G * found[-1] * (1.0 - found[-1]), []
    for place in range(len(layers) - 1, -1, -1):
        parts = [found[place].T @ D, D.sum(axis=0), *parts]
        D = D @ layers[place][0].T
        if place:
            D = D * np.where(found[place] > 0, 1.0, 0.1)
    return parts, D


def _gradients(networks, X, Y, known, given, *, mode, alpha, lam):
    """As the program has them: by hand, and in mode "code" without the 5 of the chain rule."""
    fx, fe, fd = networks
    hx, he = _forward(fx, X), _forward(fe, given)
    A, E = hx[-1] - 0.5, he[-1] - 0.5
    hd = _forward(fd, E)
    P, one = hd[-1], np.eye(A.shape[1])
    to_A = 2.0 * (A - E) + 4.0 * lam * A @ (A.T @ A - one)
    to_E = 2.0 * (E - A) + 4.0 * lam * E @ (E.T @ E - one)
    to_P = np.zeros_like(P)
    rate, weight = (5.0, 1.0 / alpha) if mode == "code" else (1.0, alpha)
    for n in range(len(X)):
        for r in np.flatnonzero(known[n] & (Y[n] == 1)):
            for i in np.flatnonzero(known[n] & (Y[n] == 0)):
                pairs = (known[n] & (Y[n] == 1)).sum() * (known[n] & (Y[n] == 0)).sum()
                pull = weight * np.exp(-rate * (P[n, r] - P[n, i])) / pairs
                to_P[n, r] -= pull
                to_P[n, i] += pull
    of_d, from_d = _backward(fd, hd, to_P)
    of_e, _ = _backward(fe, he, to_E + from_d)
    of_x, _ = _backward(fx, hx, to_A)
    return of_x + of_e + of_d


def literal_training(layout, flat, X, Y, known, given, orders, size, *, lr, decay, l2, **objective):
    parts = [part.copy() for part in layout.split(flat)]
    roots = velocity = None
    for epoch, order in enumerate(orders):
        for start in range(0, len(order), size):
            rows = order[[(start + k) % len(order) for k in range(size)]]  # wrapped
            gradients = _gradients(
                layout.networks(parts), X[rows], Y[rows], known[rows], given[rows], **objective
            )
            for k in range(0, len(parts), 2):  # weights, not biases
                gradients[k] = gradients[k] + 2.0 * l2 * parts[k].reshape(gradients[k].shape)
            gradients = [g.ravel() for g in gradients]
            if roots is None:
                roots, velocity = [np.abs(g) for g in gradients], [0.0 * g for g in gradients]
            pairs = zip(roots, gradients, strict=True)
            roots = [np.sqrt(0.9 * r**2 + 0.1 * g**2) for r, g in pairs]
            step = lr * decay**epoch
            velocity = [
                0.99 * v + step * g / (r + 1e-8)
                for v, g, r in zip(velocity, gradients, roots, strict=True)
            ]
            parts = [p - v for p, v in zip(parts, velocity, strict=True)]
    return np.concatenate(parts)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("mode", "alpha"), [("code", 2.0), ("paper", 3.0), ("code", None)])
def test_the_training_is_the_program_s_step_by_step(mode, alpha, masked):
    """RMS that begins at the first gradient, momentum, decay, penalty, wrapped last batch."""
    X, Y = problem(53, 5, 6)
    Y[0], Y[1] = 0, 1
    known = np.ones(Y.shape, bool)
    given = Y.astype(float)
    if masked:
        known, _ = unknown_cells(Y)
        known[:, 0] |= ~known.any(axis=1)
        frequencies = (Y * known).sum(axis=0) / known.sum(axis=0)
        given = np.where(known, Y, frequencies)
    settings = {"batch_size": 10, "max_epochs": 4, "learning_rate": 1e-3, "random_state": 3}
    model = C2AEClassifier(
        4,
        feature_hidden=(7, 6),
        label_hidden=(8, 3),
        mode=mode,
        alpha=alpha,
        l2=1e-2,
        decay=0.9,
        dtype="float64",
        validation_fraction=0.0,
        device="cpu",
        **settings,
    ).fit(X, Y, mask=known if masked else None)
    seed = drawn(3)
    layout = Layout.of(5, 6, 4, (7, 6), (8, 3))
    orders = [np.random.default_rng([seed, 1, epoch]).permutation(53) for epoch in range(4)]
    slow = literal_training(
        layout,
        layout.initial(np.random.RandomState(seed)),
        *(X, Y, known, given, orders, 10),
        lr=1e-3,
        decay=0.9,
        l2=1e-2,
        mode=mode,
        alpha=0.5 if alpha is None else alpha,
        lam=0.5,
    )
    np.testing.assert_allclose(model.networks_.flat, slow, rtol=0, atol=1e-10)


def test_where_training_begins_is_as_the_authors_draw_it():
    layout = Layout.of(300, 200, 100, (250, 150), (120, 80))
    parts = layout.split(layout.initial(np.random.RandomState(0)))
    widths = [(300, 250, 150, 100), (200, 120, 80, 100), (100, 80, 120, 200)]
    assert [layout.features, layout.labels, layout.decoder] == widths
    place = 0
    for network in widths:
        for k in range(3):
            W, b = parts[place], parts[place + 1]
            place += 2
            if k < 2:
                assert -0.01 <= W.min() < -0.0099
                assert 0.0099 < W.max() <= 0.01
                assert 0.0 <= b.min() < 0.01
                assert 0.09 < b.max() <= 0.1
            else:
                bound = 4.0 * np.sqrt(6.0 / (network[k] + network[k + 1]))
                assert 0.99 * bound < np.abs(W).max() <= bound
                assert not b.any()


def test_the_settings_of_the_program():
    params = method("C2AE").get_params()
    expected = {
        "n_components": 0.8,
        "feature_hidden": (512, 512),
        "label_hidden": (512,),
        "mode": "code",
        "alpha": 2.0,
        "lam": 0.5,
        "batch_size": 500,
        "max_epochs": 50,
        "learning_rate": 1e-4,
        "decay": 0.98,
        "l2": 1e-3,
        "patience": None,
        "threshold": 0.5,
        "scale": False,
    }
    assert {name: params[name] for name in expected} == expected


@pytest.mark.parametrize(("ratio", "size"), [(0.8, 3), (0.6, 2), (0.65, 3), (0.1, 1), (1.0, 4)])
def test_a_ratio_of_the_labels_is_rounded(ratio, size):
    X, Y = problem()
    model = C2AEClassifier(**{**SMALL, "n_components": ratio, "max_epochs": 1}).fit(X, Y)
    assert model.n_components_ == size


# ---- validation rows ----------------------------------------------------------------------------


def test_validation_rows_are_not_trained_on():
    """The training of the other rows alone, with its own order, is another: what is held does
    not move the networks."""
    X, Y = problem()
    rows = held_rows(60, 6)
    other = Y.copy()
    other[rows] = 1 - other[rows]
    settings = {**SMALL, "patience": None}
    one = C2AEClassifier(**settings).fit(X, Y)
    two = C2AEClassifier(**settings).fit(X, other)
    assert one.history_["loss"] == two.history_["loss"]
    assert one.history_["score"] != two.history_["score"]


def test_validation_reads_the_threshold():
    X, Y = problem()
    rows = held_rows(60, 6)
    model = C2AEClassifier(**SMALL, scoring="micro_f1", threshold=0.45).fit(X, Y)
    expected = micro_f1(Y[rows], model.decision_function(X[rows]) > 0.45)
    assert max(model.history_["score"]) == pytest.approx(expected)
    assert expected > 0
    per_label = [0.4, 0.45, 0.5, 0.47]
    model = C2AEClassifier(**SMALL, scoring="macro_f1", threshold=per_label).fit(X, Y)
    expected = macro_f1(Y[rows], model.predict(X[rows]))
    assert max(model.history_["score"]) == pytest.approx(expected)


def test_validation_leaves_out_unknown_labels():
    X, Y = problem()
    known, missing = unknown_cells(Y)
    known[:, 0] |= ~known.any(axis=1)
    missing = np.where(known, Y, np.nan)
    rows = held_rows(60, 24)
    assert not known[rows].all()
    model = C2AEClassifier(**SMALL, validation_fraction=0.4).fit(X, missing)
    scores = model.decision_function(X[rows])
    expected = average_precision(Y[rows], scores, mask=known[rows])
    assert max(model.history_["score"]) == pytest.approx(expected)
    assert expected != pytest.approx(average_precision(Y[rows] * known[rows], scores))


def test_a_vector_of_classes_is_validated_by_its_best_class():
    X, _ = problem()
    y = np.arange(60) % 3
    rows = held_rows(60, 24)
    model = C2AEClassifier(
        **SMALL, scoring="subset_accuracy", threshold=0.999, validation_fraction=0.4
    ).fit(X, y)
    expected = (model.predict(X[rows]) == y[rows]).mean()
    assert expected > 0
    assert max(model.history_["score"]) == pytest.approx(expected)


def test_of_equal_scores_the_first_epoch_counts(monkeypatch):
    X, Y = problem()
    monkeypatch.setattr(c2ae.Validation, "score", lambda self: 0.25)
    model = C2AEClassifier(**SMALL, patience=2).fit(X, Y)
    assert (model.best_epoch_, model.n_epochs_) == (1, 3)
    one = C2AEClassifier(**{**SMALL, "max_epochs": 1}).fit(X, Y)
    np.testing.assert_array_equal(model.networks_.flat, one.networks_.flat)


def test_a_score_that_is_never_defined_keeps_the_last_epoch(tmp_path):
    X, _ = problem()
    Y = np.ones((60, 4), int)
    model = C2AEClassifier(**SMALL, patience=1).fit(X, Y)
    assert np.isnan(model.history_["score"]).all()
    assert model.best_epoch_ == model.n_epochs_ == 4
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**{**SMALL, "max_epochs": 2}, checkpoint=path).fit(X, Y)
    same(C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y), model)


def test_scores_that_are_defined_now_and_then(monkeypatch):
    X, Y = problem()
    answers = iter([np.nan, 0.5, np.nan, 0.4, np.nan, 0.1])
    monkeypatch.setattr(c2ae.Validation, "score", lambda self: next(answers))
    model = C2AEClassifier(**{**SMALL, "max_epochs": 6}, patience=3).fit(X, Y)
    assert (model.best_epoch_, model.n_epochs_) == (2, 5)


def test_a_score_that_is_never_defined_is_said():
    X, _ = problem()
    with pytest.warns(UserWarning, match="average_precision.*not defined"):
        C2AEClassifier(**SMALL).fit(X, np.ones((60, 4), int))


@pytest.mark.parametrize("threshold", [0.2, 0.45])
@pytest.mark.parametrize("kind", ["binary", "one label"])
def test_a_single_label_is_validated_as_it_is_predicted(kind, threshold):
    X, Y = problem(seed=2)
    rows = held_rows(60, 24)
    y = Y[:, 0] if kind == "binary" else scipy.sparse.csr_array(Y[:, :1])
    model = C2AEClassifier(
        **SMALL, scoring="micro_f1", threshold=threshold, validation_fraction=0.4
    ).fit(X, y)
    expected = micro_f1(Y[rows, :1], model.predict(X[rows]).reshape(-1, 1))
    assert max(model.history_["score"]) == pytest.approx(expected)


@pytest.mark.parametrize("scoring", ["psp_at_1", "psndcg_at_3"])
def test_metrics_that_need_propensities(scoring):
    X, Y = problem()
    model = C2AEClassifier(**SMALL, scoring=scoring).fit(X, Y)
    assert np.isfinite(model.history_["score"]).all()


@pytest.mark.parametrize("scoring", ["precision_at_k", "precision_at_50", "ndcg_at_0"])
def test_more_labels_at_the_top_than_there_are_is_said_before_training(scoring, monkeypatch):
    X, Y = problem()

    def trained(*args):
        raise AssertionError("trained first")

    monkeypatch.setattr(training.Trainer, "epoch", trained)
    with pytest.raises(ValueError, match="number of labels, 4"):
        C2AEClassifier(**SMALL, scoring=scoring).fit(X, Y)


# ---- divergence ---------------------------------------------------------------------------------


def jumping(monkeypatch, epoch, rate):
    monkeypatch.setattr(
        training.Descent, "rate", lambda self, number: 1e-3 if number < epoch else rate
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_after_divergence_without_validation_rows_the_epoch_before_is_kept(monkeypatch):
    X, Y = problem()
    settings = {**SMALL, "validation_fraction": 0.0, "decay": 1.0}
    calm = C2AEClassifier(**{**settings, "max_epochs": 2}).fit(X, Y)
    jumping(monkeypatch, 2, 1e38)
    model = C2AEClassifier(**settings).fit(X, Y)
    assert model.n_epochs_ == model.best_epoch_ == 2
    np.testing.assert_array_equal(model.networks_.flat, calm.networks_.flat)


def test_divergence_by_the_last_step_of_an_epoch_is_seen(monkeypatch):
    """One batch an epoch: the objective is that of before the step, so the parameters tell."""
    X, Y = problem()
    settings = {**SMALL, "validation_fraction": 0.0, "batch_size": 1000, "max_epochs": 3}
    jumping(monkeypatch, 2, 3e38)
    with pytest.warns(ConvergenceWarning, match="diverged in epoch 3"):
        model = C2AEClassifier(**settings, l2=0.0).fit(X * 1e3, Y)
    assert np.isfinite(model.networks_.flat).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_resumed_training_diverges_where_the_whole_one_does(monkeypatch, tmp_path):
    X, Y = problem()
    jumping(monkeypatch, 3, 1e38)
    whole = C2AEClassifier(**{**SMALL, "max_epochs": 8}).fit(X, Y)
    path = tmp_path / "c2ae.npz"
    for epochs in (2, 8, 8):
        part = C2AEClassifier(**{**SMALL, "max_epochs": epochs}, checkpoint=path).fit(X, Y)
    same(part, whole)
    assert part.n_epochs_ == 3


def answering_nan(monkeypatch):
    """Networks of huge numbers answer NaN. Whether they do by themselves depends on the processor:
    where sums saturate before infinities meet, they go on with finite nonsense."""
    plain = training.Trainer._answers

    def answers(self, batch):
        found = plain(self, batch)
        return found * float("nan") if float(self.parameters.abs().max()) > 1e10 else found

    monkeypatch.setattr(training.Trainer, "_answers", answers)


@pytest.mark.parametrize("rate", [1e20, 1e25, 1e37])
def test_networks_that_answer_nan_to_validation_rows_have_diverged(monkeypatch, rate):
    answering_nan(monkeypatch)
    X, Y = problem()
    settings = {**SMALL, "batch_size": 1000, "decay": 1.0}
    calm = C2AEClassifier(**{**settings, "max_epochs": 2}).fit(X, Y)
    jumping(monkeypatch, 2, rate)
    with pytest.warns(ConvergenceWarning, match="diverged in epoch 3.*lower learning_rate"):
        model = C2AEClassifier(**settings).fit(X, Y)
    same(model, calm)


def test_networks_that_answer_nan_in_the_first_epoch(monkeypatch):
    answering_nan(monkeypatch)
    X, Y = problem()
    with pytest.raises(ValueError, match="diverged in its first epoch"):
        C2AEClassifier(**{**SMALL, "batch_size": 1000, "learning_rate": 1e20}).fit(X, Y)


# ---- forms of labels ----------------------------------------------------------------------------


def test_one_label_with_a_mask_is_the_training_of_its_known_rows():
    X, Y = problem()
    known, _ = unknown_cells(Y[:, :1])
    rows = known[:, 0]
    masked = C2AEClassifier(**SMALL).fit(X, scipy.sparse.csr_array(Y[:, :1]), mask=known)
    same(masked, C2AEClassifier(**SMALL).fit(X[rows], scipy.sparse.csr_array(Y[rows, :1])))


def test_nan_and_a_mask_together_hide_both():
    X, Y = problem()
    known, missing = unknown_cells(Y)
    more, _ = unknown_cells(Y, seed=5)
    same(
        C2AEClassifier(**SMALL).fit(X, missing, mask=more),
        C2AEClassifier(**SMALL).fit(X, Y, mask=known & more),
    )


def test_rows_wholly_unknown_by_nan_in_a_sparse_matrix_are_left_out():
    """Explicit zeros among the entries of a row are known, and do not count as unknown."""
    X, Y = problem()
    missing = Y.astype(float)
    missing[::3] = np.nan
    missing[1, 0] = np.nan
    full = scipy.sparse.csr_array(np.ones(Y.shape))
    full.data = missing.ravel().copy()
    same(C2AEClassifier(**SMALL).fit(X, full), C2AEClassifier(**SMALL).fit(X, missing))


@pytest.mark.parametrize(
    "form",
    [
        lambda Y, known: pd.DataFrame(np.where(known, Y, None), columns=list("abcd")),
        lambda Y, known: pd.DataFrame(
            np.where(known, Y.astype(bool), None), columns=list("abcd")
        ).astype("boolean"),
        lambda Y, known: pytest.importorskip("polars").DataFrame(
            np.where(known, Y, None).tolist(), schema=list("abcd"), orient="row"
        ),
        lambda Y, known: pytest.importorskip("polars").DataFrame(
            np.where(known, Y.astype(bool), None).tolist(), schema=list("abcd"), orient="row"
        ),
    ],
    ids=["object", "boolean", "polars", "polars bool"],
)
def test_frames_with_gaps_keep_the_names(form):
    X, Y = problem()
    known, missing = unknown_cells(Y)
    model = C2AEClassifier(**SMALL).fit(X, form(Y, known))
    assert model.label_names_ == list("abcd")
    same(model, C2AEClassifier(**SMALL).fit(X, missing))


def test_arrays_that_cannot_be_written_and_other_forms():
    X, Y = problem()
    _, missing = unknown_cells(Y)
    plain = C2AEClassifier(**SMALL).fit(X, missing)
    for array in (X, missing):
        array.flags.writeable = False
    same(C2AEClassifier(**SMALL).fit(X, missing), plain)
    same(C2AEClassifier(**SMALL).fit(np.asfortranarray(X).astype(">f8"), missing), plain)
    same(C2AEClassifier(**SMALL).fit(X, np.where(np.isnan(missing), None, missing)), plain)


def test_a_memory_map_is_as_good_as_an_array(tmp_path):
    X, Y = problem()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same(C2AEClassifier(**SMALL).fit(mapped, Y), C2AEClassifier(**SMALL).fit(X, Y))


def test_features_given_in_two_parts_count_as_their_sum():
    X, Y = problem()
    whole = scipy.sparse.csr_array(X)
    twice = scipy.sparse.csr_array(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), whole.shape
    )
    same(C2AEClassifier(**SMALL).fit(twice, Y), C2AEClassifier(**SMALL).fit(whole, Y))


def test_unknown_labels_that_are_stored_twice():
    given = np.array([np.nan, np.nan, 1.0, 1.0])
    Y = scipy.sparse.csr_array((given, np.array([0, 0, 1, 0]), np.array([0, 2, 3, 4])), (3, 2))
    _, unknown = check_partial_targets(Y, 3)
    np.testing.assert_array_equal(unknown.toarray(), [[1, 0], [0, 0], [0, 0]])
    # The first row knows that its second label is absent, so it stays.
    labels = check_partial_targets(Y, 3)[0].matrix
    assert Examples.of(np.eye(3), labels, unknown).X.shape[0] == 3


def test_a_sparse_mask_is_not_made_dense(monkeypatch):
    known = scipy.sparse.random_array((300, 400), density=0.9, rng=0, format="csr").astype(bool)
    Y = scipy.sparse.csr_array((300, 400))

    def refused(self, *args, **kwargs):
        raise AssertionError(f"a sparse matrix of shape {self.shape} was made dense")

    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", refused)
    _, unknown = check_partial_targets(Y, 300, mask=known)
    assert unknown.nnz == 300 * 400 - known.nnz


def test_hidden_cells_may_hold_anything():
    X, Y = problem()
    known, missing = unknown_cells(Y)
    same(
        C2AEClassifier(**SMALL).fit(X, np.where(known, Y, -1), mask=known),
        C2AEClassifier(**SMALL).fit(X, missing),
    )


def test_objects_with_pandas_na():
    X, Y = problem()
    known, missing = unknown_cells(Y)
    same(
        C2AEClassifier(**SMALL).fit(X, pd.DataFrame(np.where(known, Y, pd.NA), dtype=object)),
        C2AEClassifier(**SMALL).fit(X, missing),
    )


def test_labels_of_a_frame_are_predicted_in_its_type():
    X, Y = problem()
    frame = pd.DataFrame(Y.astype(np.int8), columns=list("abcd"))
    assert C2AEClassifier(**SMALL).fit(X, frame).predict(X).dtype == np.int8


def test_no_labels_but_a_mask():
    X, Y = problem()
    with pytest.raises(ValueError, match="requires y to be passed"):
        C2AEClassifier(**SMALL).fit(X, None, mask=np.ones(Y.shape, bool))


def test_a_dense_column_with_a_mask_names_the_remedy():
    X, Y = problem()
    with pytest.raises(ValueError, match=r"sparse \(N, 1\) matrix"):
        C2AEClassifier(**SMALL).fit(X, Y[:, :1], mask=np.ones((60, 1), bool))


# ---- predicting ---------------------------------------------------------------------------------


def test_many_rows_are_answered_in_blocks(monkeypatch):
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    whole = model.decision_function(X), model.predict(X), model.transform(X)
    top = model.predict_topk(X, 2)
    for size in (1, 7, 59, 60):
        monkeypatch.setattr(c2ae, "_ROWS", size)
        np.testing.assert_allclose(model.decision_function(X), whole[0], atol=1e-14)
        np.testing.assert_array_equal(model.predict(X), whole[1])
        np.testing.assert_allclose(model.transform(X), whole[2], atol=1e-14)
        np.testing.assert_array_equal(model.predict_topk(X, 2)[0], top[0])


def test_scaled_features_are_scaled_again():
    X, Y = problem()
    X = X * np.array([1e3, 1e-2, 1.0, 7.0, 20.0])
    model = C2AEClassifier(**SMALL, scale=True).fit(X, Y)
    np.testing.assert_allclose(model.scale_, X.std(axis=0))
    plain = C2AEClassifier(**SMALL).fit(X / X.std(axis=0), Y)
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(X / X.std(axis=0)), atol=1e-5
    )
    model.set_params(scale=False).fit(X, Y)
    assert not hasattr(model, "scale_")


def test_the_threshold_of_two_classes_moves_the_boundary():
    X, Y = problem()
    scores = [
        C2AEClassifier(**SMALL, threshold=t).fit(X, Y[:, 0]).decision_function(X)
        for t in (0.5, 0.2)
    ]
    np.testing.assert_allclose(scores[1] - scores[0], 0.3)


def test_parameters_changed_after_fit_do_not_change_predictions():
    X, Y = problem()
    model = C2AEClassifier(**SMALL, scale=True).fit(X, Y)
    before = model.predict(X), model.decision_function(X)
    model.set_params(threshold=0.9, scale=False, n_components=2, feature_hidden=(3,))
    np.testing.assert_array_equal(model.predict(X), before[0])
    np.testing.assert_array_equal(model.decision_function(X), before[1])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), before[0])


def test_a_failed_fit_changes_nothing():
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    before = dict(vars(model))
    for arguments in ((X[:, :3], Y[:-1]), (X, Y + 1), (X, np.full(Y.shape, np.nan))):
        with pytest.raises(ValueError, match=r"."):
            model.fit(*arguments)
        after = vars(model)
        assert after.keys() == before.keys()
        assert all(after[name] is before[name] for name in before)


def test_the_threshold_is_a_copy():
    X, Y = problem()
    threshold = np.full(4, 0.5)
    model = C2AEClassifier(**SMALL, threshold=threshold).fit(X, Y)
    before = model.predict(X)
    threshold[:] = -1.0
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_single_label_is_encoded_from_a_dense_column():
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, scipy.sparse.csr_array(Y[:, :1]))
    column = np.ones((3, 1))
    np.testing.assert_array_equal(
        model.encode(column), model.encode(scipy.sparse.csr_array(column))
    )


@pytest.mark.parametrize("codes", [np.full((1, 4), np.nan), "abc", scipy.sparse.csr_array((2, 4))])
def test_codes_that_are_no_numbers(codes):
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    with pytest.raises(ValueError, match="decode needs"):
        model.decode(codes)


# ---- parameters ---------------------------------------------------------------------------------


def test_widths_are_not_an_iterator():
    X, Y = problem()
    with pytest.raises(ValueError, match="feature_hidden"):
        C2AEClassifier(**{**SMALL, "feature_hidden": iter([16])}).fit(X, Y)


def test_widths_are_not_a_set():
    X, Y = problem()
    with pytest.raises(ValueError, match="feature_hidden"):
        C2AEClassifier(**{**SMALL, "feature_hidden": {16, 8}}).fit(X, Y)


def test_widths_may_be_an_array():
    X, Y = problem()
    same(
        C2AEClassifier(**{**SMALL, "feature_hidden": np.array([16])}).fit(X, Y),
        C2AEClassifier(**SMALL).fit(X, Y),
    )


def test_an_empty_path_is_refused():
    X, Y = problem()
    with pytest.raises(ValueError, match="checkpoint"):
        C2AEClassifier(**SMALL, checkpoint="").fit(X, Y)


def test_networks_too_large_for_the_memory_are_refused(monkeypatch):
    X, Y = problem()
    asked = []
    monkeypatch.setattr(c2ae, "require_memory", lambda needed, **words: asked.append(needed))
    model = C2AEClassifier(**SMALL).fit(X, Y)
    assert asked[0] >= 8 * 4 * model.networks_.flat.size
    monkeypatch.undo()
    with pytest.raises(MemoryError, match="feature_hidden"):
        C2AEClassifier(**{**SMALL, "feature_hidden": (10**7, 10**7)}).fit(X, Y)


@pytest.mark.parametrize("name", ["no_grad", "inference_mode"])
def test_who_switches_gradients_off_can_train_all_the_same(name):
    X, Y = problem()
    with getattr(torch, name)():
        model = C2AEClassifier(**SMALL).fit(X, Y)
    same(model, C2AEClassifier(**SMALL).fit(X, Y))


def test_who_computes_in_another_type_can_train_all_the_same():
    X, Y = problem()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        model = C2AEClassifier(**SMALL).fit(X, Y)
    same(model, C2AEClassifier(**SMALL).fit(X, Y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_learning_rate_that_no_number_holds_diverges_in_words(dtype):
    X, Y = problem()
    with pytest.raises(ValueError, match=r"diverged in its first epoch.*lower learning_rate"):
        C2AEClassifier(**{**SMALL, "learning_rate": 1e308, "dtype": dtype}).fit(X, Y)


def test_a_batch_of_more_rows_than_there_are_needs_no_room_for_them():
    X, Y = problem()
    every = {**SMALL, "validation_fraction": 0.0}
    same(
        C2AEClassifier(**{**every, "batch_size": 10**12}).fit(X, Y),
        C2AEClassifier(**{**every, "batch_size": len(X)}).fit(X, Y),
    )


# ---- checkpoints --------------------------------------------------------------------------------


def tampered(path, edit=None, arrays=None, **params):
    """A checkpoint of four epochs, with another text or other arrays."""
    X, Y = problem()
    C2AEClassifier(**{**SMALL, **params}, checkpoint=path).fit(X, Y)
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    about = json.loads(parts["about"].tobytes())
    text = (edit or (lambda about: None))(about)
    text = json.dumps(about) if text is None else text
    parts["about"] = np.frombuffer(text.encode(), np.uint8)
    parts.update({name: change(parts[name]) for name, change in (arrays or {}).items()})
    np.savez(path, **parts)
    return X, Y


def refused(path, X, Y, **params):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"cannot be read .*; remove it to begin anew"):
        C2AEClassifier(**{**SMALL, "max_epochs": 6, **params}, checkpoint=path).fit(X, Y)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [{"alpha": 0.7}, {"decay": 0.9}, {"l2": 0.1}, {"feature_hidden": (8, 8)}, {"label_hidden": ()}],
)
def test_every_setting_of_the_epochs_tells_trainings_apart(tmp_path, change):
    X, Y = problem()
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    with pytest.raises(ValueError, match="remove it to begin anew"):
        C2AEClassifier(**{**SMALL, **change}, checkpoint=path).fit(X, Y)


def test_a_seed_that_was_not_given_draws_the_same_validation_rows(tmp_path):
    X, Y = problem()
    free = {**SMALL, "random_state": None, "patience": None}
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**{**free, "max_epochs": 2}, checkpoint=path).fit(X, Y)
    copied = tmp_path / "copy.npz"
    copied.write_bytes(path.read_bytes())
    same(
        C2AEClassifier(**{**free, "max_epochs": 8}, checkpoint=path).fit(X, Y),
        C2AEClassifier(**{**free, "max_epochs": 8}, checkpoint=copied).fit(X, Y),
    )


def test_parts_that_belong_to_nothing_are_refused(tmp_path):
    path = tmp_path / "c2ae.npz"
    X, Y = tampered(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("stranger.npy", b"0")
    refused(path, X, Y)


@pytest.mark.parametrize("name", ["parameters", "squares", "velocity", "best"])
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a[None], lambda a: a.astype(">f4")])
def test_arrays_of_another_shape_or_type_are_refused(tmp_path, name, change):
    path = tmp_path / "c2ae.npz"
    refused(path, *tampered(path, arrays={name: change}))


def test_a_checkpoint_without_its_best_epoch_is_refused(tmp_path):
    path = tmp_path / "c2ae.npz"
    X, Y = tampered(path)
    with np.load(path) as file:
        np.savez(path, **{name: file[name] for name in file.files if name != "best"})
    refused(path, X, Y)


def test_a_part_that_unpacks_to_much_more_is_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "c2ae.npz"
    X, Y = tampered(path)
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    np.savez_compressed(path, **{**parts, "about": np.zeros(1 << 25, np.uint8)})

    def read(*args, **kwargs):
        raise AssertionError("read")

    monkeypatch.setattr(checkpoints.np, "load", read)
    refused(path, X, Y)


BAD_TEXTS = {
    "seed below zero": lambda about: about.update(seed=-1),
    "seed infinite": lambda about: about.update(seed=float("inf")),
    "seed a fraction": lambda about: about.update(seed=1.5),
    "fewer losses": lambda about: about.update(losses=[1.0]),
    "more losses": lambda about: about.update(losses=[1.0] * 7),
    "losses NaN": lambda about: about.update(losses=[float("nan")] * 4),
    "losses a mapping": lambda about: about.update(losses={"1": 2}),
    "losses a text": lambda about: about.update(losses="1234"),
    "losses too large": lambda about: about.update(losses=[10**400] * 4),
    "no losses": lambda about: about.update(losses=[]),
    "no scores": lambda about: about.update(scores=[]),
    "fewer scores": lambda about: about.update(scores=[0.9]),
    "more scores": lambda about: about.update(scores=[0.1] * 8),
    "infinite scores": lambda about: about.update(scores=[float("inf")] * 4),
    "training a list": lambda about: about.update(training=[1]),
    "training nothing": lambda about: about.update(training=None),
    "nested": lambda about: "[" * 200_000,
    "nested losses": lambda about: json.dumps(about).replace(
        '"losses": [', '"losses": [' + "[" * 100_000 + "]" * 100_000 + ","
    ),
}


@pytest.mark.parametrize("kind", BAD_TEXTS)
def test_a_text_that_no_training_writes_is_refused(tmp_path, kind):
    path = tmp_path / "c2ae.npz"
    X, Y = tampered(path, BAD_TEXTS[kind], random_state=None)
    refused(path, X, Y, random_state=None)


@pytest.mark.parametrize("name", ["parameters", "squares", "velocity", "best"])
def test_numbers_that_no_training_writes_are_refused(tmp_path, name):
    path = tmp_path / "c2ae.npz"
    refused(path, *tampered(path, arrays={name: lambda array: array * np.float32(np.nan)}))


def header(shape, kind="<f4"):
    stream = io.BytesIO()
    about = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue()


def odd_header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def repacked(path, method=zipfile.ZIP_STORED, **members):
    with zipfile.ZipFile(path) as archive:
        parts = {member.filename: archive.read(member) for member in archive.infolist()}
    parts.update({f"{name}.npy": content for name, content in members.items()})
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def garbled(path, method):
    repacked(path, method)
    content = bytearray(path.read_bytes())
    for k in range(60, 300):
        content[k] ^= 0x5A
    path.write_bytes(content)


def flagged(path, *, flag=0, packing=0):
    repacked(path)
    tail = bytes([flag, 0, packing, 0])
    content = path.read_bytes()
    for start in (b"PK\x01\x02\x14\x03\x14\x00", b"PK\x03\x04\x14\x00"):
        content = content.replace(start + bytes(4), start + tail)
    path.write_bytes(content)


BAD_FILES = {
    "claims much": lambda path: repacked(path, parameters=header((10**13,))),
    "claims much text": lambda path: repacked(path, about=header((10**13,), "|u1")),
    "open bracket": lambda path: repacked(path, parameters=odd_header(b"{'descr': ((((\n")),
    "deep header": lambda path: repacked(path, parameters=odd_header(b"-" * 3500 + b"1")),
    "garbled deflate": lambda path: garbled(path, zipfile.ZIP_DEFLATED),
    "garbled lzma": lambda path: garbled(path, zipfile.ZIP_LZMA),
    "encrypted": lambda path: flagged(path, flag=1),
    "unknown packing": lambda path: flagged(path, packing=99),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_that_is_broken_in_any_way_is_refused(tmp_path, kind):
    path = tmp_path / "c2ae.npz"
    X, Y = tampered(path)
    BAD_FILES[kind](path)
    refused(path, X, Y)


@pytest.mark.parametrize("what", ["threshold", "kind"])
def test_what_validation_depends_on_tells_trainings_apart(tmp_path, what):
    X, _ = problem()
    y = np.arange(60) % 3
    Y = np.eye(3, dtype=int)[y]
    path = tmp_path / "c2ae.npz"
    settings = {**SMALL, "scoring": "micro_f1", "checkpoint": path}
    if what == "kind":
        C2AEClassifier(**settings).fit(X, y)
        changed = C2AEClassifier(**settings)
    else:
        C2AEClassifier(**settings, threshold=0.1).fit(X, Y)
        changed = C2AEClassifier(**settings, threshold=0.6)
    with pytest.raises(ValueError, match="belongs to another training"):
        changed.fit(X, Y)


def test_patience_may_change_and_a_stopped_training_goes_on(tmp_path):
    X, Y = problem()
    path = tmp_path / "c2ae.npz"
    settings = {**SMALL, "max_epochs": 20, "learning_rate": 3e-3}
    stopped = C2AEClassifier(**settings, patience=2, checkpoint=path).fit(X, Y)
    assert stopped.n_epochs_ < 20
    before = path.read_bytes()
    same(C2AEClassifier(**settings, patience=2, checkpoint=path).fit(X, Y), stopped)
    assert path.read_bytes() == before
    whole = C2AEClassifier(**settings, patience=None).fit(X, Y)
    same(C2AEClassifier(**settings, patience=None, checkpoint=path).fit(X, Y), whole)


def test_fewer_epochs_than_the_checkpoint_has_are_refused(tmp_path):
    X, Y = problem()
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    with pytest.raises(ValueError, match=r"has 4 epochs.*max_epochs=2"):
        C2AEClassifier(**{**SMALL, "max_epochs": 2}, checkpoint=path).fit(X, Y)


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    X, Y = problem()
    path = tmp_path / "c2ae.npz"
    original, count = os.fsync, []

    def full(handle):
        count.append(1)
        if len(count) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(handle)

    monkeypatch.setattr(os, "fsync", full)
    model = C2AEClassifier(**SMALL, checkpoint=path)
    with pytest.raises(OSError, match="No space left"):
        model.fit(X, Y)
    monkeypatch.undo()
    assert not hasattr(model, "networks_")
    assert os.listdir(tmp_path) == ["c2ae.npz"]
    same(model.fit(X, Y), C2AEClassifier(**SMALL).fit(X, Y))


def test_a_full_disk_is_said_in_a_sentence(tmp_path, monkeypatch):
    X, Y = problem()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"checkpoint .*c2ae\.npz.* cannot be written .*No space"):
        C2AEClassifier(**SMALL, checkpoint=tmp_path / "c2ae.npz").fit(X, Y)


@pytest.mark.parametrize("path", ["/proc/c2ae.npz", "/tmp/a\0b.npz", "/tmp/" + "a" * 300])
def test_a_path_that_cannot_be_written_is_said_before_training(path, monkeypatch):
    X, Y = problem()

    def trained(*args):
        raise AssertionError("trained first")

    monkeypatch.setattr(training.Trainer, "epoch", trained)
    with pytest.raises((ValueError, OSError), match=r"checkpoint.*another path"):
        C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_what_is_no_file_is_refused_before_it_is_read(tmp_path):
    """Reading a pipe would wait for someone to write, for ever."""
    X, Y = problem()
    os.mkfifo(tmp_path / "c2ae.npz")
    with pytest.raises(OSError, match=r"cannot be written .*something else than a file"):
        C2AEClassifier(**SMALL, checkpoint=tmp_path / "c2ae.npz").fit(X, Y)


def test_a_link_stays_and_the_file_it_points_to_is_written(tmp_path):
    """The small disk of a home folder may hold the link, and a large one the file."""
    X, Y = problem()
    (tmp_path / "large").mkdir()
    link, target = tmp_path / "c2ae.npz", tmp_path / "large" / "c2ae.npz"
    link.symlink_to(target)
    part = C2AEClassifier(**{**SMALL, "max_epochs": 2}, checkpoint=link).fit(X, Y)
    assert part.n_epochs_ == 2
    assert link.is_symlink()
    assert target.is_file()
    whole = C2AEClassifier(**SMALL, checkpoint=link).fit(X, Y)
    same(whole, C2AEClassifier(**SMALL).fit(X, Y))
    assert os.listdir(target.parent) == ["c2ae.npz"]


def test_the_history_of_a_million_epochs_can_be_read(tmp_path):
    kind = {"n_parameters": 2, "dtype": "float32", "validated": True}
    rng, part = np.random.default_rng(0), np.zeros(2, np.float32)
    losses, scores = (tuple(rng.random(10**6).tolist()) for _ in range(2))
    state = dict.fromkeys(("parameters", "squares", "velocity"), part)
    checkpoints.save(
        tmp_path / "long.npz", checkpoints.Progress(1, state, losses, scores, part), kind
    )
    assert checkpoints.load(tmp_path / "long.npz", kind).losses == losses


KILLED_WHILE_WRITING = """
import os, signal, sys
import numpy as np
from compactlearn import C2AEClassifier
count, original = [], os.fsync
def fsync(handle):
    count.append(1)
    if len(count) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    original(handle)
os.fsync = fsync
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
Y = (X @ rng.normal(size=(5, 4)) > 0.3).astype(int)
C2AEClassifier(4, feature_hidden=(16,), label_hidden=(8,), batch_size=16, max_epochs=4,
               learning_rate=1e-3, random_state=0, device="cpu", checkpoint=sys.argv[1]).fit(X, Y)
"""


def test_a_kill_while_writing_leaves_nothing_behind_once_resumed(tmp_path):
    path = tmp_path / "c2ae.npz"
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    X, Y = problem()
    model = C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    same(model, C2AEClassifier(**SMALL).fit(X, Y))
    assert os.listdir(tmp_path) == ["c2ae.npz"]
