"""Order of products and the best labels of a row."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from compactlearn.decoding import LinearScorer, top_labels

rng = np.random.default_rng(0)


@pytest.mark.parametrize(("D", "m", "M"), [(30, 2, 20), (30, 20, 20), (4, 3, 50), (5, 1, 1)])
def test_the_cheaper_form_is_kept_and_both_agree(D, m, M):
    A, W, b = rng.normal(size=(D, m)), rng.normal(size=(m, M)), rng.normal(size=M)
    X = rng.normal(size=(11, D))
    scorer = LinearScorer.build(A, W, b)
    multiplications = sum(factor.size for factor in scorer.factors)
    assert multiplications == min(D * M, D * m + m * M)
    np.testing.assert_allclose(scorer.scores(X), X @ A @ W + b, atol=1e-12)
    np.testing.assert_allclose(scorer.scores(sp.csr_array(X)), X @ A @ W + b, atol=1e-12)
    np.testing.assert_allclose(scorer.coefficients, A @ W, atol=1e-12)


def test_blocks_cover_every_row_once(monkeypatch):
    monkeypatch.setattr("compactlearn.decoding.linear._BLOCK_ENTRIES", 10)
    X = rng.normal(size=(200, 3))
    scorer = LinearScorer.build(np.eye(3), None, np.ones(3))
    pieces = list(scorer.blocks(X))
    assert len(pieces) > 1
    np.testing.assert_allclose(np.vstack([scores for _, scores in pieces]), X + 1)
    assert [rows.start for rows, _ in pieces] == [0, 64, 128, 192]


@given(
    scores=hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, 6), st.integers(1, 9)),
        elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, 2.0]),
    ),
    k=st.integers(1, 9),
)
def test_top_labels_are_a_stable_sort(scores, k):
    """Ties go to the lower index, as in a stable sort by decreasing score."""
    k = min(k, scores.shape[1])
    indices, best = top_labels(scores, k)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(best, np.take_along_axis(scores, expected, axis=1))
