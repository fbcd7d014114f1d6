"""What scores of networks are made of: features times mean slopes."""

import numpy as np
import pytest

from compactlearn import C2AEClassifier
from tests.makers import make_data

HIDDEN = {"feature_hidden": (8, 5), "label_hidden": (6,)}


@pytest.mark.parametrize("n_labels", [1, 5])
@pytest.mark.parametrize("scale", [False, True])
def test_networks_by_mean_slopes(n_labels, scale):
    X, Y = make_data(60)
    Y = Y[:, 0] if n_labels == 1 else Y
    model = C2AEClassifier(max_epochs=20, random_state=0, scale=scale, **HIDDEN).fit(X, Y)
    scores = model.decision_function(X[:6]).reshape(6, -1)
    if n_labels == 1:
        scores = np.hstack([-scores, scores])
    why = model.explain(X[:6], model.classes_, k=None)
    for one, score in zip(why, scores.ravel(), strict=True):
        assert one.score == score
        assert one.base + sum(term.contribution for term in one.terms) == pytest.approx(
            score, abs=1e-9
        )
    zeros = model.decision_function(np.zeros((1, 7)))
    assert why[-1].base == pytest.approx(np.ravel(zeros)[-1], abs=1e-9)
    # A feature whose weights are all zero changes nothing.
    fx = model.networks_.layout.split(model.networks_.flat)[0].reshape(7, -1)
    fx[2] = 0.0
    assert all(term.name != "x2" for one in model.explain(X[:6]) for term in one.terms)


def test_labels_lie_where_the_weights_of_the_last_layer_point():
    X, Y = make_data(60)
    model = C2AEClassifier(max_epochs=1, random_state=0, **HIDDEN).fit(X, Y)
    W = model.networks_.last_weights
    cosines = [
        W[:, 0] @ W[:, j] / np.linalg.norm(W[:, 0]) / np.linalg.norm(W[:, j]) for j in range(5)
    ]
    (near, cosine), *_ = model.label_neighbours(0)
    assert int(near) == 1 + np.argmax(cosines[1:])
    assert cosine == pytest.approx(cosines[int(near)])
