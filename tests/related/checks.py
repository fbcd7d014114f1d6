"""scikit-learn's checks of an estimator, for its methods of the related work."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def sklearn_checks(*estimators):
    """A mark with all of them; those of other libraries' arrays are for estimators that take such,
    and tests/related/test_other_arrays.py has what the others say."""
    pairs = [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}-{k}")
        for model in estimators
        for k, (estimator, check) in enumerate(estimator_checks_generator(model))
    ]
    return pytest.mark.parametrize(("estimator", "check"), pairs)
