"""Labels predicted from blocks of scores."""

import numpy as np
import pytest

from compactlearn.decoding._label_space import LabelSpace

SCORES = np.array([[0.0, 0.2], [0.3, 0.3], [0.5, -0.1]])
BLOCKS = [(slice(0, 2), SCORES[:2]), (slice(2, 3), SCORES[2:])]


def space(kind, classes=("a", "b")):
    return LabelSpace(kind, np.array(classes), 2, np.dtype(np.int8))


def test_a_label_is_predicted_strictly_above_its_threshold():
    found = space("multilabel").decided(BLOCKS, 3, np.array([0.3, 0.2]))
    np.testing.assert_array_equal(found, [[0, 0], [0, 1], [1, 0]])
    assert found.dtype == np.int8


def test_the_second_class_is_predicted_strictly_above_zero():
    np.testing.assert_array_equal(space("binary").decided(BLOCKS, 3, 0.0), ["a", "b", "b"])


def test_several_classes_go_by_the_largest_score_and_the_first_of_equals():
    np.testing.assert_array_equal(space("multiclass").decided(BLOCKS, 3, 0.4), ["b", "a", "a"])


@pytest.mark.parametrize(
    ("kind", "placed"),
    [("binary", (0.0, 0.3)), ("multiclass", (0.3, 0.0)), ("multilabel", (0.3, 0.0))],
)
def test_the_threshold_of_two_classes_is_subtracted_from_their_scores(kind, placed):
    assert space(kind).placed(0.3) == placed
