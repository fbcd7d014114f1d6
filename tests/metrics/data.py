"""Six rows with known results, and random truths and scores with many equal scores."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

# The same examples on every machine and in every order of the tests.
steady = settings(derandomize=True, deadline=None, max_examples=60, database=None)

# Six rows, four labels: a tie above and one below, an empty row, a full one, negative scores.
TRUTH = np.array(
    [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]]
)
SCORES = np.array(
    [
        [0.9, 0.8, 0.7, 0.1],
        [0.5, 0.5, 0.2, 0.1],
        [0.5, 0.5, 0.2, 0.1],
        [0.3, 0.2, 0.1, 0.0],
        [0.3, 0.2, 0.1, -0.4],
        [-0.1, -0.3, -0.2, -0.4],
    ]
)


def random_problem(seed, n_rows=30, n_labels=12, levels=5, share=0.3, unknown=0.0):
    """Return truth (float, NaN where unknown) and scores of a few levels; 0 levels: no two equal.

    The first rows are empty, full and, with unknown labels, unknown altogether.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random((n_rows, n_labels)) < share).astype(float)
    truth[0], truth[1 % n_rows] = 0, 1
    if levels:
        scores = rng.integers(0, levels, truth.shape) / 4 - 0.5
    else:
        scores = rng.permutation(truth.size).reshape(truth.shape) / 7 - 3.0
    if unknown:
        truth[rng.random(truth.shape) < unknown] = np.nan
        truth[2 % n_rows] = np.nan
    return truth, scores


@st.composite
def problems(draw, unknown=False, min_labels=1):
    """Draw problems of all sizes, with no, some or only ties."""
    return random_problem(
        draw(st.integers(0, 10**6)),
        draw(st.integers(1, 40)),
        draw(st.integers(min_labels, 15)),
        draw(st.sampled_from([0, 1, 2, 4, 10, 50])),
        draw(st.sampled_from([0.05, 0.3, 0.7])),
        draw(st.sampled_from([0.1, 0.5, 0.9])) if unknown else 0.0,
    )


def same(value, expected):
    """Return whether values agree up to rounding, NaN included."""
    return value == pytest.approx(expected, abs=1e-12, nan_ok=True)


def probabilities(scores, steep=1.0):
    """Return probabilities of scores."""
    return 1 / (1 + np.exp(-steep * scores))
