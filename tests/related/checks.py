"""scikit-learn's checks of an estimator, for its methods of the related work."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def sklearn_checks(*estimators):
    """A mark with all of them, but for those of arrays on devices, which have a folder of tests."""
    pairs = [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}-{k}")
        for model in estimators
        for k, (estimator, check) in enumerate(estimator_checks_generator(model))
        if "array_api" not in check.func.__name__
    ]
    return pytest.mark.parametrize(("estimator", "check"), pairs)
