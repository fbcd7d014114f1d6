"""LabelRanks of the present labels: the parts that the values of the metrics do not show."""

import numpy as np
import pytest

from compactlearn.metrics import _label_ranks as label_ranks
from compactlearn.metrics import _truth as truth

from .data import random_problem


def spied(monkeypatch):
    """How many rows each second, full sort has."""
    sizes, exact = [], label_ranks._ranks_among_equals
    monkeypatch.setattr(
        label_ranks,
        "_ranks_among_equals",
        lambda scores, row, label: sizes.append(len(scores)) or exact(scores, row, label),
    )
    return sizes


@pytest.mark.parametrize("unknown", [0.0, 0.3], ids=["known", "unknown"])
def test_rows_without_equals_are_sorted_once(monkeypatch, unknown):
    sizes = spied(monkeypatch)
    Y, scores = random_problem(0, levels=0, unknown=unknown)
    label_ranks.ranks_of_block(truth.read_truth(Y), scores)
    assert sizes == []


def test_only_rows_in_which_a_present_label_has_an_equal_are_sorted_again(monkeypatch):
    sizes = spied(monkeypatch)
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    scores = np.array([[0.1, 0.7, 0.7], [0.7, 0.1, 0.7], [0.1, 0.2, 0.3]])
    found = label_ranks.ranks_of_block(truth.read_truth(Y), scores)
    assert sizes == [1]
    np.testing.assert_array_equal(found.above, [2, 0, 0])
    np.testing.assert_array_equal(found.upto, [3, 2, 1])
    np.testing.assert_array_equal(found.lowest_first, [3, 1, 1])
    np.testing.assert_array_equal(found.highest_first, [3, 2, 1])
    assert not found.untied
