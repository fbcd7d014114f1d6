"""The curve of dependence and recovery over the balance: what scalarisation promises."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CMLL, PLST
from compactlearn.model_selection import balance_curve
from tests.makers import modest

from .helpers import make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = make_data(40, 8, 6)


def literal(X, Y, beta, m):
    """dep and rec of the leading eigenvectors of beta XcXc' + YY', for d >= m."""
    Xc = X - X.mean(axis=0)
    V = np.linalg.eigh(beta * Xc @ Xc.T + Y @ Y.T)[1][:, ::-1][:, :m]
    return np.sum((Xc.T @ V) ** 2), np.sum((Y.T @ V) ** 2)


def test_terms_are_those_of_the_eigenvectors():
    betas = [0.01, 0.1, 1.0, 10.0]
    curve = balance_curve(X, Y, betas=betas, embedding=CMLL(n_label_components=3))
    expected = np.array([literal(X, Y, beta, 3) for beta in betas])
    np.testing.assert_allclose(curve.raw_dependence, expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(curve.raw_recovery, expected[:, 1], rtol=1e-9)
    dep_min, rec_max = literal(X, Y, 0.0, 3)
    dep_max, rec_min = literal(X, 0 * Y, 1.0, 3)[0], literal(X, Y, 1e8, 3)[1]
    np.testing.assert_allclose(
        curve.dependence, (expected[:, 0] - dep_min) / (dep_max - dep_min), atol=1e-6
    )
    np.testing.assert_allclose(
        curve.recovery, (expected[:, 1] - rec_min) / (rec_max - rec_min), atol=1e-6
    )


@modest
@given(
    n=st.integers(8, 40),
    n_features=st.integers(2, 12),
    n_labels=st.integers(2, 6),
    seed=st.integers(0, 10**6),
    m=st.sampled_from([1, 0.5, 0.8]),
)
def test_monotone(n, n_features, n_labels, seed, m):
    """A larger weight on one term never lowers it, nor raises the other."""
    X, Y = make_data(n, n_features, n_labels, seed)
    curve = balance_curve(X, Y, embedding=CMLL(n_label_components=m))
    assert np.all(np.diff(curve.betas) > 0)
    assert np.all(np.diff(curve.dependence) >= -1e-8)
    assert np.all(np.diff(curve.recovery) <= 1e-8)
    for values in (curve.dependence, curve.recovery):
        assert values.min() >= 0
        assert values.max() <= 1
    if curve.raw_dependence[-1] > curve.raw_dependence[0] * (1 + 1e-6):
        assert curve.suggested_beta in curve.betas


def test_extremes():
    curve = balance_curve(X, Y, embedding=CMLL(n_label_components=2))
    assert len(curve.betas) == 25
    for value, expected in zip(
        [curve.dependence[0], curve.dependence[-1], curve.recovery[0], curve.recovery[-1]],
        [0, 1, 1, 0],
        strict=True,
    ):
        assert value == pytest.approx(expected, abs=1e-4)
    equal = np.sum(Y**2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert curve.betas[[0, 12, 24]] == pytest.approx([equal * 1e-6, equal, equal * 1e6])


@pytest.mark.parametrize("near", [0.5, 0.9, 0.99, 1.0])
def test_the_suggestion_is_the_smallest_that_is_near(near):
    curve = balance_curve(X, Y, near=near)
    reached = curve.betas[curve.dependence >= near]
    assert curve.suggested_beta == (reached.min() if reached.size else curve.betas[-1])
    assert curve.suggested_beta in curve.betas


def test_the_suggestion_where_nothing_is_near():
    curve = balance_curve(X, Y, betas=[1e-9, 1e-8], embedding=CMLL(n_label_components=2))
    assert curve.suggested_beta == 1e-8


@pytest.mark.parametrize("factor", [0.01, 30.0])
def test_units_of_the_features_do_not_matter(factor):
    """X times c asks for a balance divided by c^2, and for nothing else."""
    plain, scaled = balance_curve(X, Y), balance_curve(factor * X + 5.0, Y)
    np.testing.assert_allclose(scaled.betas, plain.betas / factor**2, rtol=1e-8)
    np.testing.assert_allclose(scaled.dependence, plain.dependence, atol=1e-7)
    np.testing.assert_allclose(scaled.recovery, plain.recovery, atol=1e-7)
    np.testing.assert_allclose(scaled.raw_dependence, factor**2 * plain.raw_dependence, rtol=1e-7)
    assert scaled.suggested_beta == pytest.approx(plain.suggested_beta / factor**2)


def test_given_balances_are_sorted():
    curve = balance_curve(X, Y, betas=(3.0, 0.1, 1.0))
    assert curve.betas.tolist() == [0.1, 1.0, 3.0]


def test_sparse_rows_and_regimes_give_the_same():
    plain = balance_curve(X, Y)
    sparse = balance_curve(sp.csr_array(X), sp.csr_array(Y))
    dual = balance_curve(X, Y, embedding=CMLL(n_label_components=0.5, solver="dual"))
    for other in (sparse, dual):
        np.testing.assert_allclose(other.dependence, plain.dependence, atol=1e-8)
        np.testing.assert_allclose(other.recovery, plain.recovery, atol=1e-8)


def test_the_embedding_passed_is_left_alone():
    embedding = CMLL(n_label_components=2, beta=0.7)
    balance_curve(X, Y, embedding=embedding)
    assert embedding.get_params() == CMLL(n_label_components=2, beta=0.7).get_params()
    assert not [name for name in vars(embedding) if name.endswith("_")]


def test_nothing_to_balance():
    """Constant features have no dependence at all: the curve is flat, not undefined."""
    curve = balance_curve(np.ones((40, 3)), Y)
    assert np.isfinite(curve.dependence).all()
    assert np.isfinite(curve.recovery).all()


def test_plot():
    figure = balance_curve(X, Y).plot()
    go = pytest.importorskip("plotly.graph_objects")
    assert isinstance(figure, go.Figure)
    assert [trace.name for trace in figure.data] == ["dep'", "rec'"]
    assert figure.layout.xaxis.type == "log"


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"near": 0.0}, ValueError, "near must be a number above 0"),
        ({"near": 1.5}, ValueError, "near must be a number above 0"),
        ({"betas": []}, ValueError, "betas must hold at least one value"),
        ({"betas": [1.0, 0.0]}, ValueError, "betas must hold finite numbers above 0"),
        ({"betas": [1.0, np.inf]}, ValueError, "betas must hold finite numbers above 0"),
        ({"embedding": PLST()}, TypeError, "balance_curve is about CMLL"),
        ({"embedding": CMLL(n_label_components=-1)}, ValueError, "n_label_components"),
    ],
)
def test_bad_input(options, error, sentence):
    with pytest.raises(error, match=sentence):
        balance_curve(X, Y, **options)
