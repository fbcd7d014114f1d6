"""scikit-learn's own checks: how one is run, and which of them must not be skipped."""

from functools import partial
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

#: A library of arrays that is not installed, and a method that there is not.
MAY_BE_SKIPPED = (
    "check_array_api",
    "check_classifiers_multilabel_output_format_predict_proba",
)


def run_check(check, estimator):
    """Run it; one that is skipped, and was counted, fails."""
    try:
        check(estimator)
    except SkipTest:
        if name_of(check).startswith(MAY_BE_SKIPPED):
            raise
        pytest.fail(f"{name_of(check)} is skipped")


def checks_that_run(estimator):
    """The names of those that `run_check` does not let be skipped.

    A tag can switch most checks off; then nothing would fail and nothing would be tested.
    """
    names = [name_of(check) for _, check in estimator_checks_generator(estimator)]
    return [name for name in names if not name.startswith(MAY_BE_SKIPPED)]


def name_of(check):
    """The name of a check, bare."""
    return check.func.__name__ if isinstance(check, partial) else check.__name__
