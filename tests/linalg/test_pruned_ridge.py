"""Ridge regressions on few of their weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import Ridge

from compactlearn.linalg._pruned_ridge import largest_places, refit_kept


@given(
    arrays(np.float64, st.integers(0, 30), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])),
    st.integers(0, 40),
)
def test_no_entry_that_is_left_out_is_larger(sizes, count):
    places = largest_places(sizes, count)
    assert places.size == min(count, np.count_nonzero(sizes))
    assert (np.diff(places) > 0).all()
    rest = np.delete(sizes, places)
    assert not places.size or rest.max(initial=0.0) <= sizes[places].min()
    assert not (sizes[places] == 0).any()
    # Of equal ones the first.
    assert places.tolist() == sorted(np.argsort(-sizes, kind="stable")[: places.size].tolist())


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 9)) * (rng.random((40, 9)) < 0.5) + 0.0
    T = (rng.random((40, 5)) < 0.4).astype(float)
    T[:, 4] = 0.0
    kept = rng.random((5, 9)) < 0.5
    kept[3] = False
    return X, T, kept, rng.uniform(0.5, 3.0, 9), rng.integers(1, 4, 40).astype(float)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_target_has_the_ridge_of_its_columns(rows, form, weighted):
    X, T, kept, penalties, weights = rows
    given_weights = weights if weighted else None
    found, intercepts = refit_kept(
        form(X), sp.csr_array(T), sp.csr_array(kept), penalties, given_weights
    )
    assert ((found.toarray() != 0) <= kept).all()
    for label in range(5):
        own = np.flatnonzero(kept[label])
        if not own.size:
            expected = np.average(T[:, label], weights=given_weights)
            assert intercepts[label] == pytest.approx(expected)
            continue
        # A penalty of its own for a column is a unit of its own.
        root = np.sqrt(penalties[own])
        one = Ridge(1.0).fit(X[:, own] / root, T[:, label], sample_weight=given_weights)
        np.testing.assert_allclose(found.toarray()[label, own], one.coef_ / root, atol=1e-10)
        assert intercepts[label] == pytest.approx(one.intercept_)
