"""The completions of the paper's tables: what they add to a projection, and that searches agree."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid

from compactlearn import CMLL, MDDM, CompactClassifier, KernelMap, Original
from compactlearn.metrics import scorer
from compactlearn.model_selection import GridSearchMoments, scores_on_split
from compactlearn_bench import PaperCMLL, PaperMDDM
from tests.makers import make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

KINDS = {"CMLL": (CMLL(3, 3), PaperCMLL(8, 3)), "MDDM": (MDDM(5), PaperMDDM(8))}
every_kind = pytest.mark.parametrize(("plain", "paper"), KINDS.values(), ids=KINDS.keys())
every_solver = pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
both = pytest.mark.parametrize("completion", ["variance", "random"])


def centred(X):
    return X - X.mean(axis=0)


@every_kind
@both
@every_solver
@pytest.mark.parametrize("shape", [(40, 10, 5), (9, 14, 5), (7, 14, 5)])
def test_columns_are_added_up_to_the_requested_size(plain, paper, completion, solver, shape):
    """Beyond the rank of the rows, too: the directions there have no variance."""
    X, Y = make_data(*shape, seed=88)
    core = clone(plain).set_params(solver=solver).fit(X, Y)
    model = clone(paper).set_params(solver=solver, completion=completion, random_state=0).fit(X, Y)
    P, rank = model.projection_, core.n_feature_components_
    assert P.shape == (shape[1], 8)
    np.testing.assert_allclose(P.T @ P, np.eye(8), atol=1e-9)
    np.testing.assert_allclose(P[:, :rank], core.projection_, atol=1e-7)
    # The further columns see nothing of the codes, so they add nothing to the objective.
    targets = Y if isinstance(plain, MDDM) else model.codes_
    np.testing.assert_allclose(P[:, rank:].T @ centred(X).T @ targets, 0, atol=1e-7)
    np.testing.assert_allclose(model.objective_, core.objective_, rtol=1e-9)


@every_kind
def test_directions_of_largest_variance(plain, paper):
    X, Y = make_data(40, 10, 5, seed=89)
    rank = clone(plain).fit(X, Y).n_feature_components_
    P = clone(paper).set_params(completion="variance").fit(X, Y).projection_
    rest = centred(X) @ (np.eye(10) - P[:, :rank] @ P[:, :rank].T)
    variances = np.linalg.svd(rest, compute_uv=False)[: 8 - rank] ** 2
    np.testing.assert_allclose(np.sum((rest @ P[:, rank:]) ** 2, axis=0), variances, rtol=1e-8)


@every_kind
@every_solver
def test_directions_of_variance_are_nested_and_need_no_seed(plain, paper, solver):
    X, Y = make_data(40, 10, 5, seed=90)
    model = clone(paper).set_params(completion="variance", solver=solver, random_state=1)
    wide = model.set_params(n_feature_components=10).fit(X, Y).projection_
    for d in range(5, 10):
        narrow = model.set_params(n_feature_components=d, random_state=d).fit(X, Y).projection_
        np.testing.assert_allclose(np.abs(narrow.T @ wide), np.eye(d, 10), atol=1e-7)


@every_kind
def test_the_classifiers_seed_reaches_random_directions(plain, paper):
    X, Y = make_data(40, 10, 5)
    embedding = clone(paper).set_params(completion="random")
    one, same, other = (
        CompactClassifier(embedding, random_state=s).fit(X, Y).embedding_.projection_
        for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


@both
@pytest.mark.parametrize("embedding", [PaperCMLL(1.0, 3), PaperMDDM(1.0)], ids=["CMLL", "MDDM"])
@pytest.mark.parametrize("shape", [(40, 20, 5), (15, 25, 5)], ids=["tall", "wide"])
def test_all_directions_are_all_features(embedding, completion, shape):
    X, Y = make_data(*shape, seed=214)
    kept = CMLL(None, 3) if isinstance(embedding, CMLL) else Original()
    full = CompactClassifier(clone(embedding).set_params(completion=completion, random_state=0))
    np.testing.assert_allclose(
        full.fit(X, Y).decision_function(X + 0.1),
        CompactClassifier(kept).fit(X, Y).decision_function(X + 0.1),
        atol=1e-7,
    )


@both
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_kernel_has_no_more_directions_than_rank(completion, kernel):
    X, Y = make_data(12, 4, 3)
    embedding = PaperMDDM(12, completion, random_state=0)
    model = CompactClassifier(embedding, feature_map=KernelMap(kernel)).fit(X, Y)
    assert model.embedding_.n_feature_components_ == (11 if kernel == "rbf" else 4)
    equal = np.full((12, 4), 100.0) + np.arange(4)
    scores = clone(model).fit(equal, Y).decision_function(equal[:1])
    np.testing.assert_allclose(scores[0], Y.mean(axis=0), atol=1e-6)


SIZES = {
    "CMLL": {
        "embedding__n_feature_components": ["auto", 2, 6, 1.0, None],
        "embedding__n_label_components": [2, 1.0, None],
    },
    "MDDM": {"embedding__n_feature_components": ["auto", 2, 7, 1.0]},
}


@both
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("feature_map", [None, KernelMap()], ids=["linear", "kernel"])
@pytest.mark.parametrize("shape", [(40, 8, 5), (16, 24, 4)], ids=["tall", "wide"])
def test_a_search_has_the_scores_of_separate_fits(name, completion, feature_map, shape):
    X, Y = make_data(*shape, seed=3)
    new = X[:6] + 0.2
    embedding = clone(KINDS[name][1]).set_params(completion=completion, random_state=0)
    model = CompactClassifier(embedding, feature_map=feature_map, threshold=0.5)
    settings = list(ParameterGrid({**SIZES[name], "alpha": [0.1, 10.0]}))
    seen = []
    for part in scores_on_split(model, settings, X, Y, new):
        for index in part.indices:
            own = clone(model).set_params(**settings[index]).fit(X, Y)
            np.testing.assert_allclose(part.scores, own.decision_function(new), atol=1e-7)
            seen.append(index)
    assert sorted(seen) == list(range(len(settings)))


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_a_generator_as_the_seed_begins_anew_for_every_setting(n_jobs):
    X, Y = make_data(60, 8, 6)
    embedding = PaperCMLL(5, 2, completion="random", random_state=np.random.RandomState(0))
    model = CompactClassifier(embedding, threshold=0.5)
    grid = {"embedding__n_feature_components": [5, 6], "alpha": [1.0, 10.0]}
    ours = GridSearchMoments(model, grid, cv=KFold(5), n_jobs=n_jobs, refit=False).fit(X, Y)
    theirs = GridSearchCV(
        model, grid, cv=KFold(5), scoring=scorer("average_precision"), refit=False
    ).fit(X, Y)
    for search in (ours, theirs):
        search.scores = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-12)
