"""Each constraint accepts what it says, and a refusal is a sentence a user can act on."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from compactlearn.core._params import (
    Choice,
    Flag,
    Integer,
    Methods,
    Nothing,
    Numbers,
    Real,
    Seed,
    check_parameters,
)

NAN, INF = float("nan"), float("inf")

CASES = [  # constraint, accepted values, refused values
    pytest.param(
        Integer(1, 5),
        [1, 5, np.int32(3), np.uint8(2)],
        [0, 6, 2.0, True, np.bool_(True), "2", None],
        id="integer",
    ),
    pytest.param(Integer(), [-7, 0, 10**30], [0.5, None], id="unbounded integer"),
    pytest.param(
        Real(0, 1),
        [0, 1, 0.5, np.float32(0.25), np.int64(1)],
        [-0.1, 1.1, NAN, INF, True, np.bool_(False), "0.5", None, 1j, np.array([0.5])],
        id="closed",
    ),
    pytest.param(Real(0, 1, open_low=True, open_high=True), [0.5], [0, 1, 0.0, 1.0], id="open"),
    pytest.param(Real(), [-1e300, 0], [NAN, -INF, INF], id="any number"),
    pytest.param(Choice("a", "b"), ["a", "b"], ["A", "", None, 1, ["a"]], id="choice"),
    pytest.param(Nothing(), [None], [0, False, ""], id="nothing"),
    pytest.param(Flag(), [True, False, np.bool_(True)], [0, 1, None, "yes"], id="flag"),
    pytest.param(
        Seed(),
        [None, 0, np.int64(3), 2**32 - 1, np.random.RandomState(0), np.random.default_rng(0)],
        [-1, 2**32, 0.5, True, "0"],
        id="seed",
    ),
    pytest.param(Methods("append", "pop"), [[]], [(), None, list], id="methods"),
    pytest.param(
        Numbers(),
        [[0, 1], (0.5,), np.arange(3), range(2)],
        [[], 0.5, [[1.0]], [1, NAN], [INF], ["a"], "12", None, [True], [[1], [1, 2]], {0: 1}],
        id="numbers",
    ),
]


@pytest.mark.parametrize(("constraint", "accepted", "refused"), CASES)
def test_a_constraint_accepts_what_it_says(constraint, accepted, refused):
    assert [value for value in accepted if not constraint.accepts(value)] == []
    assert [value for value in refused if constraint.accepts(value)] == []


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Integer(), "an integer"),
        (Integer(1, 5), "an integer >= 1 and <= 5"),
        (Real(0, open_low=True), "a finite number > 0"),
        (Real(high=1, open_high=True), "a finite number < 1"),
        (Choice("a", "b", "c"), "'a', 'b' or 'c'"),
        (Methods("fit"), "an object with the method fit"),
        (Methods("fit", "predict"), "an object with the methods fit and predict"),
    ],
)
def test_a_constraint_describes_itself(constraint, words):
    assert constraint.describe() == words


class Owner(SimpleNamespace):
    pass


def test_a_refusal_names_owner_parameter_bound_value_and_remedy():
    sentence = (
        "The parameter 'm' of Owner must be an integer >= 1, 'auto' or None; got 0. "
        "Set m to one of these."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check_parameters(Owner(m=0), {"m": [Integer(1), Choice("auto"), Nothing()]})


def test_a_large_value_does_not_bury_the_sentence():
    with pytest.raises(ValueError, match=r"\.\.\. \(ndarray\)\. Set s") as caught:
        check_parameters(Owner(s=np.zeros((50, 50))), {"s": [Real(0)]})
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)
