"""Order of products and the best labels of a row."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from compactlearn.decoding import LinearScorer, top_labels
from compactlearn.decoding._linear import linear_parameters

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    "widths", [(30, 5, 5, 20), (30, 9, 4, 20), (30, 4, 9, 20), (30, 12, 20, 6), (4, 3, 2, 50)]
)
@pytest.mark.parametrize("scaled", [False, True])
def test_three_steps_are_multiplied_in_the_cheapest_order(widths, scaled, monkeypatch):
    D, d, m, M = widths
    steps = tuple(rng.normal(size=shape) for shape in ((D, d), (d, m), (m, M)))
    b, X = rng.normal(size=M), rng.normal(size=(11, D))
    scale = rng.uniform(0.5, 2.0, size=D) if scaled else None
    P, B, W = steps
    rows = X if scale is None else X / scale
    scorer = LinearScorer(steps, b, scale)
    costs = [D * M, D * d + d * M, D * m + m * M, D * d + d * m + m * M]
    assert sum(factor.size for factor in scorer.factors) == min(costs)
    assert linear_parameters(D, M, d, m) == min(costs) + M
    monkeypatch.setattr("compactlearn.decoding._linear._BLOCK_ENTRIES", 10)
    for given_ in (X, sp.csr_array(X)):
        np.testing.assert_allclose(scorer.scores(given_), rows @ P @ B @ W + b, atol=1e-12)
    own = np.eye(D) if scale is None else np.diag(1 / scale)
    np.testing.assert_allclose(scorer.coefficients, own @ P @ B @ W, atol=1e-12)


def test_blocks_cover_every_row_once(monkeypatch):
    monkeypatch.setattr("compactlearn.decoding._linear._BLOCK_ENTRIES", 10)
    X = rng.normal(size=(200, 3))
    scorer = LinearScorer((np.eye(3),), np.ones(3))
    pieces = list(scorer.blocks(X))
    assert len(pieces) > 1
    np.testing.assert_allclose(np.vstack([scores for _, scores in pieces]), X + 1)
    assert [rows.start for rows, _ in pieces] == [0, 64, 128, 192]


@given(
    scores=hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, 6), st.integers(1, 40)),
        elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, 2.0, np.nan]),
    ),
    k=st.integers(1, 9),
)
def test_top_labels_are_a_stable_sort(scores, k):
    """Ties go to the lower index, as in a stable sort by decreasing score; NaN comes last."""
    k = min(k, scores.shape[1])
    indices, best = top_labels(scores, k)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(best, np.take_along_axis(scores, expected, axis=1))
