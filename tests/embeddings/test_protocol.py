"""Methods that answer no more than they must: paths, searches and decoders are right for them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn import CPLST, CompactClassifier
from compactlearn.embeddings._base import Embedded, Embedding, Plan, Traits
from compactlearn.embeddings._components import label_count
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments

rng = np.random.default_rng(3)
X = rng.standard_normal((90, 9))
Y = (X @ rng.standard_normal((9, 6)) + 0.5 * rng.standard_normal((90, 6)) > 0.7).astype(int)


class Turned(Embedding):
    """PLST's codes, turned by a rotation that depends on their number: they are not nested."""

    def __init__(self, n_label_components=3, solver="auto"):
        self.n_label_components, self.solver = n_label_components, solver

    @property
    def traits(self):
        return Traits(solver=self.solver)

    def plan(self, n_features, n_labels, given_features):
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="right")

    def solve(self, pair):
        m = label_count(self.n_label_components, pair.n_right)
        gram = pair.right_gram(centre=True) @ np.eye(pair.n_right)
        O = leading_eigenpairs(gram, m).vectors
        turn = np.linalg.qr(np.random.default_rng(m).standard_normal((m, m)))[0]
        O = O @ turn * np.arange(1, m + 1)  # of different lengths: the ridge sees the difference
        codes = pair.combined_codes(O, -pair.mean_right)
        decoder = np.linalg.pinv(O)
        return Embedded(codes, None, decoder, pair.mean_right, f"closed-{pair.solver}")


class TwoDirections(Turned):
    """Method with the same codes and always two principal directions of the features."""

    def plan(self, n_features, n_labels, given_features):
        plan = super().plan(n_features, n_labels, given_features)
        return replace(plan, keeps_features=False, extra_directions=2)

    def solve(self, pair):
        return replace(super().solve(pair), projection=self.project(pair, None, 2))

    def project(self, pair, codes, d):
        return pair.left.principal_directions(2, np.empty((pair.n_left, 0)))[0]


METHODS = {"kept": Turned(), "projected": TwoDirections()}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@every_method
def test_a_search_scores_separate_fits(method):
    grid = {"embedding__n_label_components": [2, 4], "alpha": [0.5, 20.0]}
    cv = KFold(3, shuffle=True, random_state=0)
    model = CompactClassifier(method, threshold=0.5)
    search = GridSearchMoments(model, grid, cv=cv, scoring="average_precision").fit(X, Y)
    for params, found in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        scores = []
        for train, test in cv.split(X):
            alone = clone(model).set_params(**params).fit(X[train], Y[train])
            scores.append(average_precision(Y[test], alone.decision_function(X[test])))
        assert found == pytest.approx(np.mean(scores), abs=1e-10)


@every_method
def test_routes_agree_with_learnt_decoders(method):
    scores = [
        CompactClassifier(clone(method).set_params(solver=solver), decoder="logistic")
        .fit(X, Y)
        .decision_function(X)
        for solver in ("moments", "dual", "krylov")
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)
    np.testing.assert_allclose(scores[0], scores[2], atol=1e-6)


def test_the_classifier_gives_its_penalty_to_a_method_that_shares_it():
    shared = CPLST(3)
    assert shared.traits.shares_penalty
    assert shared.sharing(7.0).ridge == 7.0
    assert shared.ridge == "shared"
    own = CPLST(3, ridge=2.0)
    assert own.sharing(7.0) is own
    model = CompactClassifier(shared, alpha=7.0).fit(X, Y)
    assert model.embedding_.ridge_ == 7.0
    assert model.make_embedding().ridge == "shared"
