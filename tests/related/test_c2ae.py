"""C2AE: its training against a literal one, the epoch that is kept, single labels."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from compactlearn import C2AEClassifier, method
from compactlearn.metrics import get_metric, micro_f1
from compactlearn.related._c2ae import c2ae_layout, initial, label_loss
from compactlearn.related._networks import Trainer
from tests.makers import labelled

torch = pytest.importorskip("torch", reason="the networks are trained by PyTorch")

SMALL = {
    "n_components": 4,
    "feature_hidden": (16,),
    "label_hidden": (8,),
    "batch_size": 16,
    "max_epochs": 4,
    "learning_rate": 1e-3,
    "random_state": 0,
    "device": "cpu",
}


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread, since results are compared bit for bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def problem(n_rows=60, n_features=5, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X @ rng.normal(size=(n_features, n_labels)) > 0.3).astype(int)


def flat(model):
    return np.concatenate(
        [part.ravel() for layer in model.encoder_ + model.decoder_ for part in layer]
    )


def same(one, other):
    np.testing.assert_array_equal(flat(one), flat(other))
    assert one.history_ == other.history_
    assert one.best_epoch_ == other.best_epoch_


def drawn(random_state=0):
    """The seed that a fit with this random_state draws."""
    return int(np.random.RandomState(random_state).randint(2**31 - 1))


def held_out_rows(n_rows, count):
    return np.sort(np.random.default_rng([drawn(), 0]).permutation(n_rows)[:count])


# ---- the training, literally --------------------------------------------------------------------


def forward(layers, X):
    found = [X]
    for place, (W, b) in enumerate(layers):
        Z = found[-1] @ W + b
        found.append(expit(Z) if place == len(layers) - 1 else np.where(Z > 0, Z, 0.1 * Z))
    return found


def backward(layers, found, G):
    D, parts = G * found[-1] * (1.0 - found[-1]), []
    for place in range(len(layers) - 1, -1, -1):
        parts = [found[place].T @ D, D.sum(axis=0), *parts]
        D = D @ layers[place][0].T
        if place:
            D = D * np.where(found[place] > 0, 1.0, 0.1)
    return parts, D


def gradients(networks, X, Y, *, mode, alpha, lam):
    """Return the gradients of the program by hand; mode "code" lacks the 5 of the chain rule."""
    fx, fe, fd = networks
    hx, he = forward(fx, X), forward(fe, Y)
    A, E = hx[-1] - 0.5, he[-1] - 0.5
    hd = forward(fd, E)
    P, one = hd[-1], np.eye(A.shape[1])
    to_A = 2.0 * (A - E) + 4.0 * lam * A @ (A.T @ A - one)
    to_E = 2.0 * (E - A) + 4.0 * lam * E @ (E.T @ E - one)
    to_P = np.zeros_like(P)
    rate, weight = (5.0, 1.0 / alpha) if mode == "code" else (1.0, alpha)
    for n in range(len(X)):
        present, absent = Y[n] == 1, Y[n] == 0
        for r in np.flatnonzero(present):
            for i in np.flatnonzero(absent):
                pull = weight * np.exp(-rate * (P[n, r] - P[n, i])) / (present.sum() * absent.sum())
                to_P[n, r] -= pull
                to_P[n, i] += pull
    of_d, from_d = backward(fd, hd, to_P)
    of_e, _ = backward(fe, he, to_E + from_d)
    of_x, _ = backward(fx, hx, to_A)
    return of_x + of_e + of_d


def literal_training(layout, data, orders, size, *, lr, decay, l2, **objective):
    """Return all parameters after epochs of these orders."""
    networks = layout.of_flat(initial(layout, np.random.RandomState(drawn(3))))
    parts = [part.copy() for layers in networks for layer in layers for part in layer]
    roots = velocity = None
    for epoch, order in enumerate(orders):
        for start in range(0, len(order), size):
            rows = order[[(start + k) % len(order) for k in range(size)]]  # wrapped
            own = gradients(layout.networks(parts), *(one[rows] for one in data), **objective)
            for k in range(0, len(parts), 2):  # weights, not biases
                own[k] = own[k] + 2.0 * l2 * parts[k]
            if roots is None:
                roots, velocity = [np.abs(g) for g in own], [0.0 * g for g in own]
            roots = [np.sqrt(0.9 * r**2 + 0.1 * g**2) for r, g in zip(roots, own, strict=True)]
            step = lr * decay**epoch
            velocity = [
                0.99 * v + step * g / (r + 1e-8)
                for v, g, r in zip(velocity, own, roots, strict=True)
            ]
            parts = [p - v for p, v in zip(parts, velocity, strict=True)]
    return layout.networks(parts)


@pytest.mark.parametrize(("mode", "alpha"), [("code", 2.0), ("paper", 3.0), ("code", None)])
def test_the_training_is_the_program_s_step_by_step(mode, alpha):
    """RMS that begins at the first gradient, momentum, decay, penalty, wrapped last batch."""
    X, Y = problem(53, 5, 6)
    Y[0], Y[1] = 0, 1
    own = {"batch_size": 10, "learning_rate": 1e-3, "random_state": 3, "l2": 1e-2, "decay": 0.9}
    own |= {"feature_hidden": (7, 6), "label_hidden": (8, 3), "dtype": "float64"}
    model = C2AEClassifier(4, mode=mode, alpha=alpha, max_epochs=4, validation_fraction=0.0, **own)
    model.set_params(device="cpu").fit(X, Y)
    layout = c2ae_layout(5, 6, 4, (7, 6), (8, 3))
    orders = [np.random.default_rng([drawn(3), 1, epoch]).permutation(53) for epoch in range(4)]
    objective = {"mode": mode, "alpha": 0.5 if alpha is None else alpha, "lam": 0.5}
    data = (X, Y.astype(float))
    fx, _, fd = literal_training(layout, data, orders, 10, lr=1e-3, decay=0.9, l2=1e-2, **objective)
    for ours, theirs in ((model.encoder_, fx), (model.decoder_, fd)):
        for (W, b), (V, c) in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(W, V, rtol=0, atol=1e-10)
            np.testing.assert_allclose(b, c, rtol=0, atol=1e-10)
    scores = forward(fd, forward(fx, X)[-1] - 0.5)[-1]
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_labels=st.integers(1, 6),
    n_rows=st.integers(1, 5),
    rate=st.sampled_from([1.0, 5.0]),
)
def test_the_product_of_sums_is_the_sum_of_pairs(seed, n_labels, n_rows, rate):
    rng = np.random.default_rng(seed)
    P = rng.random((n_rows, n_labels))
    Y = rng.random(P.shape) < 0.5
    literal = 0.0
    for p, y in zip(P, Y, strict=True):
        pairs = [np.exp(-rate * (r - i)) for r in p[y] for i in p[~y]]
        literal += np.mean(pairs) if pairs else 0.0
    ours = label_loss(*(torch.from_numpy(part.astype(float)) for part in (P, Y)), rate)
    assert float(ours) == pytest.approx(literal, rel=1e-12, abs=1e-14)


def test_where_training_begins_is_as_the_authors_draw_it():
    layout = c2ae_layout(300, 200, 100, (250, 150), (120, 80))
    assert layout.widths == ((300, 250, 150, 100), (200, 120, 80, 100), (100, 80, 120, 200))
    for *hidden, (W, b) in layout.of_flat(initial(layout, np.random.RandomState(0))):
        for V, c in hidden:
            assert 0.0099 < np.abs(V).max() <= 0.01
            assert 0.0 <= c.min() < 0.01 < 0.09 < c.max() <= 0.1
        bound = 4.0 * np.sqrt(6.0 / sum(W.shape))
        assert 0.99 * bound < np.abs(W).max() <= bound
        assert not b.any()


# ---- the epoch that is kept ---------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["average_precision", "ranking_loss", "micro_f1"])
def test_the_best_epoch_of_rows_that_are_not_trained_on_is_kept(metric):
    X, Y = problem(120)
    own = {**SMALL, "max_epochs": 15, "scoring": metric, "learning_rate": 3e-3}
    model = C2AEClassifier(**own).fit(X, Y)
    scores = model.history_["score"]
    assert len(scores) == model.n_epochs_ == 15
    assert scores.index(max(scores)) == model.best_epoch_ - 1
    shorter = C2AEClassifier(**{**own, "max_epochs": model.best_epoch_}).fit(X, Y)
    np.testing.assert_array_equal(flat(shorter), flat(model))
    rows = held_out_rows(120, 12)
    table = get_metric(metric)
    answer = model.predict if table.needs == "labels" else model.decision_function
    sign = 1.0 if table.greater_is_better else -1.0
    assert max(scores) == pytest.approx(sign * table.function(Y[rows], answer(X[rows])))
    other = np.where(np.isin(np.arange(120), rows)[:, None], 1 - Y, Y)
    without = C2AEClassifier(**own).fit(X, other)
    assert without.history_["loss"] == model.history_["loss"]
    assert without.history_["score"] != scores


@pytest.mark.parametrize("kind", ["two classes", "one label", "three classes"])
def test_vectors_and_single_labels_are_validated_as_they_are_predicted(kind):
    X, Y = problem(seed=2)
    y = {"two classes": Y[:, 0], "one label": scipy.sparse.csr_array(Y[:, :1])}.get(
        kind, np.arange(60) % 3
    )
    rows = held_out_rows(60, 24)
    metric = "subset_accuracy" if kind == "three classes" else "micro_f1"
    own = {"scoring": metric, "threshold": 0.45, "validation_fraction": 0.4}
    model = C2AEClassifier(**SMALL, **own).fit(X, y)
    predicted = model.predict(X[rows]).reshape(24, -1)
    expected = (predicted[:, 0] == y[rows]).mean() if kind == "three classes" else None
    expected = micro_f1(Y[rows, :1], predicted) if expected is None else expected
    assert max(model.history_["score"]) == pytest.approx(expected)
    assert expected > 0


def test_patience_stops_and_none_never_does():
    X, Y = problem(120)
    own = {**SMALL, "learning_rate": 3e-3}
    model = C2AEClassifier(**{**own, "max_epochs": 200}, patience=3).fit(X, Y)
    assert model.n_epochs_ - model.best_epoch_ == 3
    assert model.n_epochs_ < 200
    whole = C2AEClassifier(**{**own, "max_epochs": 30}, patience=None).fit(X, Y)
    assert whole.n_epochs_ == 30
    assert whole.history_["loss"][: model.n_epochs_] == model.history_["loss"][:30]
    still = C2AEClassifier(**{**own, "learning_rate": 1e-30}, patience=2).fit(X, Y)
    assert (still.best_epoch_, still.n_epochs_) == (1, 3)  # of equal epochs the first


def test_features_that_validation_rows_alone_have_do_not_count():
    X, Y = problem()
    own = np.isin(np.arange(60), held_out_rows(60, 6))[:, None] * 1e4
    both = [scipy.sparse.csr_array(np.hstack([X, part])) for part in (own, 0.0 * own)]
    same(*(C2AEClassifier(**SMALL).fit(rows, Y) for rows in both))


def test_the_last_epoch_is_kept_where_none_can_be_compared():
    X, Y = problem()
    model = C2AEClassifier(**SMALL, validation_fraction=0.0).fit(X, Y)
    assert model.best_epoch_ == model.n_epochs_ == 4
    assert model.history_["score"] == []
    with pytest.warns(UserWarning, match="average_precision.*not defined"):
        model = C2AEClassifier(**SMALL, patience=1).fit(X, np.ones((60, 4), int))
    assert np.isnan(model.history_["score"]).all()
    assert model.best_epoch_ == model.n_epochs_ == 4


def test_the_same_seed_gives_the_same_networks():
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    same(C2AEClassifier(**SMALL).fit(X, Y), model)
    assert C2AEClassifier(**{**SMALL, "random_state": 1}).fit(X, Y).history_ != model.history_


@pytest.mark.filterwarnings("ignore:overflow")
def test_divergence_ends_with_advice_and_the_best_epoch(monkeypatch):
    X, Y = problem()
    with pytest.raises(ValueError, match=r"diverged in its first epoch.*StandardScaler"):
        C2AEClassifier(**{**SMALL, "learning_rate": 1e38}).fit(X, Y)
    calm, epoch = C2AEClassifier(**{**SMALL, "max_epochs": 3}).fit(X, Y), Trainer.epoch

    def wild(trainer, number, order):
        trainer.learning_rate = 1e-3 if number < 3 else 1e38
        return epoch(trainer, number, order)

    monkeypatch.setattr(Trainer, "epoch", wild)
    model = C2AEClassifier(**{**SMALL, "max_epochs": 400})
    with pytest.warns(ConvergenceWarning, match="diverged in epoch 4.*lower learning_rate"):
        same(model.fit(X, Y), calm)


# ---- single labels, where there is no PyTorch -----------------------------------


@pytest.mark.parametrize("kind", ["two classes", "three classes", "one label"])
def test_a_single_column_or_a_vector_is_learnt(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 2.0 * np.eye(3)[np.arange(200) % 3]
    y = np.array(["a", "b", "c"])[np.arange(200) % 3]
    if kind == "two classes":
        y = np.where(X[:, 0] > 0.7, "yes", "no")
    if kind == "one label":
        y = scipy.sparse.csr_array((X[:, :1] > 0.7).astype(int))
    model = C2AEClassifier(**{**SMALL, "max_epochs": 60}).fit(X, y)
    truth = y.toarray() if kind == "one label" else y
    assert (model.predict(X) == truth).mean() > 0.85


def test_wrong_parameters():
    X, Y = labelled(20, 3, 4, 0)
    with pytest.raises(ValueError, match="feature_hidden"):
        C2AEClassifier(**{**SMALL, "feature_hidden": 512}).fit(X, Y)
    with pytest.raises(ValueError, match="Did you mean 'average_precision'"):
        C2AEClassifier(**SMALL, scoring="average_precison").fit(X, Y)
    assert method("C2AE").get_params()["batch_size"] == 500
    assert repr(method("C2AE", protocol="recommended")) == "C2AEClassifier()"


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import pickle, numpy as np
from compactlearn.related import C2AEClassifier, DeepCMLLClassifier, ManiacClassifier
model = pickle.load(open("model.pickle", "rb"))
np.save("scores.npy", model.decision_function(np.load("X.npy")))
for kind in (C2AEClassifier, DeepCMLLClassifier, ManiacClassifier):
    try:
        kind().fit(np.eye(4), np.eye(4))
    except ImportError as error:
        print(error)
"""


def test_pytorch_is_needed_for_training_alone(tmp_path):
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), model.decision_function(X))
    assert done.stdout.splitlines() == [
        f"Training a {name} needs the package 'torch', which is not installed; install it "
        "with: pip install 'compactlearn[deep]'"
        for name in ("C2AEClassifier", "DeepCMLLClassifier", "ManiacClassifier")
    ]
