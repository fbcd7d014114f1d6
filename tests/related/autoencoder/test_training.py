"""C2AEClassifier: its optimiser against a literal one, and which epoch validation rows choose."""

import numpy as np
import pytest
import scipy.sparse

from compactlearn import C2AEClassifier, method
from compactlearn.metrics import average_precision, macro_f1, micro_f1
from compactlearn.related import _c2ae as c2ae
from compactlearn.related._networks._layers import Layout

from .problems import SMALL, problem, same

pytest.importorskip("torch", reason="the networks are trained by PyTorch")


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
    ).fit(X, Y, unknown=~known if masked else None)
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
    with pytest.warns(UserWarning, match="average_precision.*not defined"):
        model = C2AEClassifier(**SMALL, patience=1).fit(X, Y)
    assert np.isnan(model.history_["score"]).all()
    assert model.best_epoch_ == model.n_epochs_ == 4
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**{**SMALL, "max_epochs": 2}, checkpoint=path).fit(X, Y)
    same(C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y), model)


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
