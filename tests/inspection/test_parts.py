"""Sums of terms: whatever is done to them, they stay sums of what was done to the scores."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from compactlearn.inspection._terms import Parts, Terms, mean_slope
from tests.makers import modest

NUMBERS = st.floats(-5, 5, allow_subnormal=False).map(lambda x: round(x, 3))


@st.composite
def some_parts(draw, n=3, width=4):
    base = draw(npst.arrays(float, n, elements=NUMBERS))
    terms = draw(npst.arrays(float, (n, width), elements=NUMBERS))
    return Parts(base, (Terms("feature", scipy.sparse.csr_array(terms)),))


def entries(parts):
    return parts.groups[0].contributions.toarray()


FUNCTIONS = {
    "tanh": np.tanh,
    "clip": lambda x: np.clip(2 * x + 1, -3, 3),
    "square": np.square,
    "corners": lambda x: np.interp(x, [-2.0, 0.0, 1.0], [1.0, -1.0, 4.0]),
}


@modest
@given(some_parts(), st.sampled_from(sorted(FUNCTIONS)))
def test_a_function_of_a_sum_has_terms_that_add_up_to_it(parts, name):
    function = FUNCTIONS[name]
    found = parts.through(function)
    np.testing.assert_allclose(found.total, function(parts.total), atol=1e-9)
    # The base is the function of the base; where nothing changes both are the same in any case.
    np.testing.assert_allclose(found.base, function(parts.base), atol=1e-6)


@modest
@given(some_parts())
def test_a_function_keeps_the_proportions_of_the_terms(parts):
    before, after = entries(parts), entries(parts.through(np.exp))
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(np.outer(a, b), np.outer(b, a), atol=1e-6 * np.abs(b).max())


@modest
@given(some_parts(), some_parts())
def test_sums_of_parts_are_parts_of_sums(one, other):
    both = one + other
    assert len(both.groups) == 1
    np.testing.assert_allclose(entries(both), entries(one) + entries(other))
    np.testing.assert_allclose(both.total, one.total + other.total, atol=1e-12)
    np.testing.assert_allclose(one.times(-2.5).plus(3.0).total, 3.0 - 2.5 * one.total, atol=1e-12)


def test_terms_of_different_things_stay_apart():
    entry = scipy.sparse.csr_array([[1.0]])
    one = Parts(np.zeros(1), (Terms("row", entry, names=["row 0"]),))
    both = one.named("a kernel") + one.named("another")
    assert [group.names for group in both.groups] == [["a kernel: row 0"], ["another: row 0"]]
    assert len((one + one).groups) == 1
    assert (one + one).total == [2.0]


@pytest.mark.parametrize("change", [1e-12, 1e-8, 1e-6, 0.5])
def test_the_slope_of_a_small_step_is_the_derivative(change):
    slope = mean_slope(np.exp, np.array([1.0]), np.array([change]))
    assert slope == pytest.approx(np.e * np.expm1(change) / change, rel=1e-7)
