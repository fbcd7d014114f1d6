"""Figures of searches: what they show is what was found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import AutoCompactClassifier
from compactlearn.auto._leaderboard import frontier
from compactlearn.datasets import load

# ---- accuracy against size -----------------------------------------------------------------------

ROWS = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 5)), min_size=1, max_size=12).map(
    lambda pairs: [{"n_parameters": n, "score": s / 5, "at": k} for k, (n, s) in enumerate(pairs)]
)


@given(ROWS)
def test_nothing_smaller_beats_the_frontier_and_something_there_beats_all_else(rows):
    best = frontier(rows)
    for row in best:
        smaller = [one for one in rows if one["n_parameters"] <= row["n_parameters"]]
        assert all(one["score"] <= row["score"] for one in smaller)
    for row in rows:
        as_good = [
            b
            for b in best
            if b["n_parameters"] <= row["n_parameters"] and b["score"] >= row["score"]
        ]
        assert as_good
        assert row in best or any(b["at"] != row["at"] for b in as_good)
    sizes, scores = ([row[key] for row in best] for key in ("n_parameters", "score"))
    assert all(np.diff(sizes) > 0)
    assert all(np.diff(scores) > 0)


@pytest.fixture(scope="module")
def small():
    data = load("enron")
    model = AutoCompactClassifier(size_budget=0.1, time_budget=60, cv=2, random_state=0)
    return model.fit(data.X[:300], data.Y[:300])


def test_the_frontier_of_a_search_ends_with_the_best(small):
    assert len(small.leaderboard_) > 2
    assert small.frontier_[-1]["score"] == small.leaderboard_[0]["score"] == small.best_score_
    assert all(row in small.leaderboard_ for row in small.frontier_)


def test_the_figure_shows_all_that_was_tried_and_the_baseline(small):
    ridge = (53106, 0.7)
    line, points, baseline = small.plot_frontier({"ridge": ridge}).data
    assert line.mode == "lines"
    rows = small.leaderboard_
    assert list(points.x) == [row["n_parameters"] for row in rows]
    assert list(points.y) == [row["score"] for row in rows]
    assert list(points.text) == [row["name"] for row in rows]
    assert list(line.x) == [row["n_parameters"] for row in small.frontier_]
    assert list(line.y) == [row["score"] for row in small.frontier_]
    assert ((baseline.x[-1], baseline.y[-1]), baseline.text[-1]) == (ridge, "ridge")


@pytest.mark.parametrize("references", [{"ridge": 0.7}, {"ridge": (0, 0.7)}, (1, 2)])
def test_references_that_mean_nothing_are_refused(small, references):
    message = "references must be a dictionary of names, .* Pass for instance"
    with pytest.raises(ValueError, match=message):
        small.plot_frontier(references)
