"""Compare what an estimator holds before and after a call."""

import copy

import numpy as np
import scipy.sparse as sp

from tests.makers import as_dense


def snapshot(estimator):
    """Deep copy of everything learnt: all attributes but the constructor's parameters."""
    params = estimator.get_params(deep=False)
    return copy.deepcopy({k: v for k, v in vars(estimator).items() if k not in params})


def assert_same_state(actual, expected, path="state"):
    """The same attributes, and in them the same numbers, bit by bit."""
    assert type(actual) is type(expected), path
    if isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype, path
        np.testing.assert_array_equal(actual, expected, err_msg=path)
    elif sp.issparse(expected):
        np.testing.assert_array_equal(actual.toarray(), expected.toarray(), err_msg=path)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected), path
        for key in expected:
            assert_same_state(actual[key], expected[key], f"{path}[{key!r}]")
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected), path
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            assert_same_state(a, e, f"{path}[{i}]")
    elif type(expected).__module__.startswith(("compactlearn", "sklearn")):
        slots = getattr(type(expected), "__slots__", ())
        for name in dict.fromkeys([*vars_of(expected), *slots]):
            assert_same_state(
                getattr(actual, name, None), getattr(expected, name, None), f"{path}.{name}"
            )
    elif isinstance(expected, float) and np.isnan(expected):
        assert np.isnan(actual), path
    elif type(expected).__eq__ is not object.__eq__:
        assert actual == expected, path


def vars_of(thing):
    return vars(thing) if hasattr(thing, "__dict__") else {}


class Unchanged:
    """Context in which an estimator may be used, but may not learn or forget anything.

    >>> with Unchanged(model, X):
    ...     with pytest.raises(ValueError):
    ...         model.fit(bad, Y)
    """

    def __init__(self, estimator, X):
        self.estimator, self.X = estimator, X

    def __enter__(self):
        self.answers = self.answer()  # first: answering may fill a cache
        self.state = snapshot(self.estimator)
        return self.estimator

    def __exit__(self, kind, value, trace):
        if kind is not None:
            return False
        assert_same_state(snapshot(self.estimator), self.state, type(self.estimator).__name__)
        np.testing.assert_array_equal(self.answer(), self.answers)
        return False

    def answer(self):
        method = getattr(self.estimator, "decision_function", None) or self.estimator.transform
        return np.array(as_dense(method(self.X)))
