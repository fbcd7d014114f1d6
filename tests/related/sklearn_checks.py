"""scikit-learn's checks for the methods of the related work."""

from functools import partial

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def every_check(*estimators):
    """All checks of each, but those of other libraries' arrays, which tests/devices knows of."""
    pairs = [pair for each in estimators for pair in estimator_checks_generator(each)]
    kept = [(estimator, check) for estimator, check in pairs if "array_api" not in _name(check)]
    names = [f"{type(estimator).__name__}-{_name(check)}" for estimator, check in kept]
    return pytest.mark.parametrize(("estimator", "check"), kept, ids=names)


def _name(check):
    while isinstance(check, partial):
        check = check.func
    return check.__name__
