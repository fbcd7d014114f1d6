"""The loss and its gradient: against a literal double loop, and by finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn.related._networks._layers import Layout, Networks
from compactlearn.related._networks._training import Objective, label_loss

from . import literal

torch = pytest.importorskip("torch", reason="the networks are trained by PyTorch")

LAYOUT = Layout.of(4, 5, 3, (6, 2), (4,))


def tensors(*arrays):
    return [None if a is None else torch.from_numpy(np.asarray(a, dtype=float)) for a in arrays]


def problem(seed, n_rows=7, *, unknown=False):
    rng = np.random.default_rng(seed)
    flat = rng.normal(scale=0.7, size=LAYOUT.total)
    X = rng.normal(size=(n_rows, 4))
    Y = (rng.random((n_rows, 5)) < 0.4).astype(float)
    Y[0], Y[1] = 0.0, 1.0  # no label, and all of them
    known = np.ones_like(Y)
    if unknown:
        known = (rng.random(Y.shape) < 0.6).astype(float)
        Y = Y * known
    filled = Y + (1.0 - known) * rng.random(5)
    return flat, X, Y, known, filled


def value(objective, flat, X, Y, known, filled):
    networks = LAYOUT.networks(flat.split(LAYOUT.sizes))
    return objective.value(networks, *tensors(X, Y, known, filled))


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize(("mode", "alpha"), [("code", 2.0), ("code", 0.3), ("paper", 1.7)])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_the_objective_is_the_double_loop(mode, alpha, lam, unknown):
    flat, X, Y, known, filled = problem(1, unknown=unknown)
    objective = Objective.of(mode, alpha, lam)
    ours = float(value(objective, torch.from_numpy(flat), X, Y, known, filled))
    networks = LAYOUT.networks(LAYOUT.split(flat))
    slow = literal.objective(networks, X, Y, known, filled, mode=mode, alpha=alpha, lam=lam)
    assert ours == pytest.approx(slow, rel=1e-11)
    if not unknown:  # all known may be said by leaving the mask out
        assert float(value(objective, torch.from_numpy(flat), X, Y, None, filled)) == pytest.approx(
            slow, rel=1e-11
        )


@pytest.mark.parametrize("mode", ["code", "paper"])
def test_the_gradient_is_that_of_the_double_loop(mode):
    """Central differences of the literal objective, entry by entry."""
    flat, X, Y, known, filled = problem(2, n_rows=4, unknown=True)
    objective = Objective.of(mode, 1.5, 0.5)
    leaf = torch.from_numpy(flat).requires_grad_()
    (gradient,) = torch.autograd.grad(value(objective, leaf, X, Y, known, filled), leaf)

    def slow(at):
        networks = LAYOUT.networks(LAYOUT.split(at))
        return literal.objective(networks, X, Y, known, filled, mode=mode, alpha=1.5, lam=0.5)

    step, numeric = 1e-6, np.empty_like(flat)
    for k in range(flat.size):
        up, down = flat.copy(), flat.copy()
        up[k] += step
        down[k] -= step
        numeric[k] = (slow(up) - slow(down)) / (2 * step)
    np.testing.assert_allclose(gradient.numpy(), numeric, rtol=1e-5, atol=1e-7)


def test_finite_differences_of_the_fast_objective():
    flat, X, Y, known, filled = problem(3)
    objective = Objective.of("code", 2.0, 0.5)
    leaf = torch.from_numpy(flat).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda at: value(objective, at, X, Y, known, filled), (leaf,), eps=1e-6, atol=1e-6
    )


def test_features_are_trained_by_the_alignment_alone():
    """The label loss never reaches the network of the features."""
    flat, X, Y, known, filled = problem(4)
    found = []
    for alpha in (1e-3, 1e3):
        leaf = torch.from_numpy(flat).requires_grad_()
        loss = value(Objective.of("paper", alpha, 0.5), leaf, X, Y, known, filled)
        (gradient,) = torch.autograd.grad(loss, leaf)
        n_first = sum(LAYOUT.sizes[:6])
        found.append((gradient[:n_first].numpy(), gradient[n_first:].numpy()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert not np.allclose(found[0][1], found[1][1])


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
    Y = (rng.random(P.shape) < 0.5).astype(float)
    known = (rng.random(P.shape) < 0.8).astype(float)
    Y = Y * known
    ours = float(label_loss(*tensors(P, Y, known), rate))
    assert ours == pytest.approx(literal.label_loss(P, Y, known, rate), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("labels", [np.zeros((3, 4)), np.ones((3, 4))])
def test_rows_with_no_or_all_labels_add_nothing(labels):
    P = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    loss = label_loss(P, torch.from_numpy(labels), None, 5.0)
    (gradient,) = torch.autograd.grad(loss, P)
    assert float(loss.detach()) == 0.0
    assert not gradient.any()


def test_the_fitted_networks_answer_as_the_literal_ones():
    flat, X, Y, *_ = problem(5)
    fx, fe, fd = LAYOUT.networks(LAYOUT.split(flat))
    networks = Networks(LAYOUT, flat)
    codes = np.array([literal.forward(fx, row) for row in X]) - 0.5
    np.testing.assert_allclose(networks.latent(X), codes, atol=1e-14)
    labelled = np.array([literal.forward(fe, row) for row in Y]) - 0.5
    np.testing.assert_allclose(networks.codes_of_labels(Y), labelled, atol=1e-14)
    scores = np.array([literal.forward(fd, row) for row in codes])
    np.testing.assert_allclose(networks.decoded(codes), scores, atol=1e-14)
