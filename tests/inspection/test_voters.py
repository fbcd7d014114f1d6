"""The training rows that voted for a label are named by their numbers in fit."""

import numpy as np
import pytest
import scipy.sparse

from compactlearn import CMLLClassifier, ShortlistClassifier, load_model, save_model

N_NEIGHBORS = 7


def make_rows(seed, n_rows=60):
    """Sparse rows, of which no two are equally similar to another, but for three copies."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n_rows, 25)) * rng.uniform(0.5, 2.0, (n_rows, 25))
    Y = (rng.random((n_rows, 6)) < 0.3).astype(int)
    X[10:13], Y[10:13] = X[:3], Y[:3]
    return X, Y


def fitted(X, Y, weights=None):
    model = ShortlistClassifier(n_neighbors=N_NEIGHBORS, random_state=0, n_jobs=1)
    return model.fit(scipy.sparse.csr_array(X), Y, sample_weight=weights)


def literal_votes(X, Y, weights, row):
    """Votes of the nearest training rows, by their numbers; equal rows are one of their weights."""
    groups = {}
    for i in range(len(X)):
        if weights[i] > 0:
            groups.setdefault((*X[i], *Y[i]), []).append(i)
    unit = row / np.linalg.norm(row)
    votes = []
    for members in groups.values():
        first = members[0]
        similarity = X[first] @ unit / (np.linalg.norm(X[first]) or 1.0)
        votes.append((similarity**2, first, sum(weights[i] for i in members)))
    nearest = sorted(votes, key=lambda vote: -vote[0])[:N_NEIGHBORS]
    found = {first: square * weight for square, first, weight in nearest}
    return {first: vote / sum(found.values()) for first, vote in found.items()}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_they_are_the_nearest_rows_that_have_the_label(seed, weighted):
    X, Y = make_rows(seed)
    weights = np.ones(len(X))
    if weighted:
        weights = np.random.default_rng(seed).integers(0, 3, len(X)).astype(float)
    model = fitted(X, Y, weights if weighted else None)
    new = np.random.default_rng(seed + 50).poisson(0.6, (8, 25)).astype(float)
    why = model.explain(scipy.sparse.csr_array(new), labels=list(range(6)), k=2)
    for one in why:
        label = int(one.label)
        votes = literal_votes(X, Y, weights, new[one.row])
        expected = {row: share for row, share in votes.items() if Y[row, label]}
        shares = [neighbour.share for neighbour in one.neighbours]
        assert shares == sorted(shares, reverse=True)
        assert shares == pytest.approx(sorted(expected.values(), reverse=True)[:5], abs=1e-5)
        for neighbour in one.neighbours:
            assert neighbour.share == pytest.approx(expected[neighbour.row], abs=1e-5)


def test_they_are_in_the_text_and_the_values(tmp_path):
    X, Y = make_rows(1)
    model = fitted(X, Y)
    (one,) = model.explain(X[:1], labels=int(np.flatnonzero(Y[0])[0]))
    best = one.neighbours[0]
    assert f"votes of training rows: {best.row} ({100 * best.share:.0f} %)" in repr(one)
    assert one.to_dict()["neighbours"][0] == {"row": best.row, "share": best.share}
    save_model(model, tmp_path / "model")
    (again,) = load_model(tmp_path / "model").explain(X[:1], labels=one.label)
    assert again == one
    (small,) = model.compress("float16").explain(X[:1], labels=one.label)
    assert [n.row for n in small.neighbours] == [n.row for n in one.neighbours]


def test_models_that_know_no_rows_name_none():
    X, Y = make_rows(2)
    assert CMLLClassifier().fit(X, Y).explain(X[:2])[0].neighbours == ()
    alone = ShortlistClassifier(n_neighbors=0, random_state=0).fit(X, Y)
    assert alone.explain(X[:2])[0].neighbours == ()
