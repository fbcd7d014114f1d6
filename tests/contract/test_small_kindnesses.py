"""Mistakes people make, each answered by the sentence that helps."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from compactlearn import CMLLClassifier, CompactClassifier, Moments
from tests.makers import make_data


def test_labels_in_another_order_are_not_summed_together():
    X, Y = make_data(60)
    frame = pd.DataFrame(Y.astype(int), columns=[f"label {j}" for j in range(Y.shape[1])])
    model = CMLLClassifier().partial_fit(X, frame)
    with pytest.raises(ValueError, match=r"began with .* labels .* Y\[model.label_names_\]"):
        model.partial_fit(X, frame[frame.columns[::-1]])
    model.partial_fit(X, frame[model.label_names_])


def test_a_missing_label_of_pandas_is_a_missing_label():
    Y = pd.DataFrame({"a": [0, 1, None], "b": [1, 1, 0]}, dtype="Int64")
    with pytest.raises(ValueError, match="NaN, which would mean an unknown label"):
        CMLLClassifier().partial_fit(np.eye(3), Y)


def test_a_class_where_an_instance_is_meant():
    X, Y = make_data(60)
    with pytest.raises(ValueError, match=r"Pass an instance: regressor=Ridge\(\)"):
        CompactClassifier(regressor=Ridge).fit(X, Y)


def test_one_class_in_the_first_block():
    X, _ = make_data(60)
    with pytest.raises(ValueError, match="classes= at the first call"):
        CMLLClassifier().partial_fit(X, np.zeros(60, dtype=int))


def test_moments_sum_and_show_themselves():
    X, Y = make_data(60)
    parts = [Moments.from_arrays(X[i : i + 20], Y[i : i + 20]) for i in (0, 20, 40)]
    whole = sum(parts)
    np.testing.assert_allclose(whole.scatter, Moments.from_arrays(X, Y).scatter, atol=1e-10)
    assert repr(whole) == f"Moments of 60 rows, {X.shape[1]} left and {Y.shape[1]} right columns"
    with pytest.raises(TypeError, match="unsupported operand"):
        whole + 1
    with pytest.raises(TypeError, match="pass tuples"):
        Moments.from_blocks([X, X])


def test_labels_not_passed_at_all():
    X, _ = make_data(60)
    with pytest.raises(ValueError, match="y is None"):
        CMLLClassifier().fit(X)


def test_every_parameter_is_explained_where_people_look():
    for name in CMLLClassifier().get_params():
        assert f"\n    {name} : " in CMLLClassifier.__doc__, name
