"""RatioSearchCV: one sweep along each axis, or every pair."""

import numpy as np
import pytest

from compactlearn import CMLL, MDDM, CMLLClassifier, CompactClassifier
from compactlearn.model_selection import GridSearchMoments, RatioSearchCV
from compactlearn.model_selection._outcome import Outcome

from .helpers import folds, make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = make_data(40, 10, 8)
SPLITS = folds(40)
MUS, NUS = (0.2, 0.5, 0.8, 1.0), (0.25, 0.5, 1.0)


def search(**options):
    return RatioSearchCV(
        **{"feature_ratios": MUS, "label_ratios": NUS, "cv": SPLITS, "refit": False, **options}
    )


def tried(found):
    names = ("n_feature_components", "n_label_components")
    return [tuple(params[name] for name in names) for params in found.cv_results_["params"]]


@pytest.fixture(scope="module")
def exhaustive():
    return search(exhaustive=True).fit(X, Y)


def test_one_sweep_along_each_axis(exhaustive):
    """mu with nu = 0.5, then nu with the best mu: len(mus) + len(nus) - 1 pairs."""
    found = search().fit(X, Y)
    assert len(tried(found)) == len(set(tried(found))) == len(MUS) + len(NUS) - 1
    column = exhaustive.surface_[:, NUS.index(0.5)]
    mu = MUS[int(np.argmax(column))]
    assert tried(found)[:4] == [(value, 0.5) for value in MUS]
    assert tried(found)[4:] == [(mu, value) for value in NUS if value != 0.5]
    row = exhaustive.surface_[MUS.index(mu)]
    assert found.best_params_["n_feature_components"] == mu
    assert found.best_params_["n_label_components"] == NUS[int(np.argmax(row))]
    assert found.best_score_ == pytest.approx(row.max(), abs=1e-10)
    assert found.best_score_ <= exhaustive.best_score_ + 1e-12


def test_the_surface_is_known_where_something_was_tried(exhaustive):
    found = search().fit(X, Y)
    assert found.surface_.shape == (4, 3)
    pairs = {(MUS.index(mu), NUS.index(nu)) for mu, nu in tried(found)}
    for i in range(4):
        for j in range(3):
            if (i, j) in pairs:
                expected = exhaustive.surface_[i, j]
                assert found.surface_[i, j] == pytest.approx(expected, abs=1e-10)
            else:
                assert np.isnan(found.surface_[i, j])


def test_every_pair_is_the_table_of_a_grid(exhaustive):
    grid = {"n_feature_components": list(MUS), "n_label_components": list(NUS)}
    estimator = CMLLClassifier(completion="variance")
    other = GridSearchMoments(estimator, grid, cv=SPLITS).fit(X, Y)
    assert np.isfinite(exhaustive.surface_).all()
    np.testing.assert_allclose(
        exhaustive.surface_.ravel(), other.cv_results_["mean_test_score"], atol=1e-10
    )
    assert exhaustive.best_score_ == pytest.approx(other.best_score_, abs=1e-10)
    assert exhaustive.cv_results_["params"] == other.cv_results_["params"]
    assert exhaustive.best_params_ == other.best_params_


def test_a_start_that_is_no_label_ratio():
    found = search(starts=(0.6,)).fit(X, Y)
    assert len(tried(found)) == len(MUS) + len(NUS)
    assert np.isfinite(found.surface_).sum() == len(NUS)


def planted(monkeypatch, surface):
    """Scores as given, by (mu, nu), in place of a cross-validation."""

    def scored(self, problem, candidates):
        rows = []
        for params in candidates:
            pair = (params["n_feature_components"], params["n_label_components"])
            extra = -0.01 * abs(np.log10(params.get("alpha", 1.0)))
            rows.append([surface[pair] + extra] * 3)
        return Outcome(np.array(rows, dtype=float), len(rows))

    monkeypatch.setattr(RatioSearchCV, "_score", scored)


def test_further_rounds_climb(monkeypatch):
    """A diagonal ridge: each round gets one step further up, and none once at the top."""
    surface = {
        (mu, nu): 1 - 2 * abs(i - j) + 0.6 * (i + j) if abs(i - j) <= 1 else -9
        for i, mu in enumerate(MUS)
        for j, nu in enumerate((0.25, 0.5, 0.75, 1.0))
    }
    surface[MUS[1], 0.25] += 3
    surface[MUS[1], 0.5] += 3
    surface[MUS[2], 0.5] += 5
    surface[MUS[2], 0.75] += 7
    surface[MUS[3], 0.75] += 9
    surface[MUS[3], 1.0] += 11
    planted(monkeypatch, surface)
    options = {"label_ratios": (0.25, 0.5, 0.75, 1.0), "starts": (0.25,)}
    best = [search(n_rounds=rounds, **options).fit(X, Y).best_score_ for rounds in (1, 2, 3, 4, 50)]
    assert best[0] < best[1] < best[2] == best[3] == best[4] == max(surface.values())


def test_a_search_ends_when_nothing_changes(monkeypatch):
    surface = {(mu, nu): -((mu - 0.5) ** 2) - (nu - 0.5) ** 2 for mu in MUS for nu in NUS}
    planted(monkeypatch, surface)
    one, many = (search(n_rounds=rounds).fit(X, Y) for rounds in (1, 30))
    assert tried(one) == tried(many)
    assert many.best_params_ == {"n_feature_components": 0.5, "n_label_components": 0.5}


def test_a_local_best_may_be_missed_by_one_start_and_found_by_others(monkeypatch):
    surface = dict.fromkeys(((mu, nu) for mu in MUS for nu in NUS), 0.0)
    surface[0.2, 0.5], surface[1.0, 1.0] = 1.0, 2.0
    planted(monkeypatch, surface)
    assert search().fit(X, Y).best_score_ == 1.0
    assert search(starts=(0.5, 1.0)).fit(X, Y).best_score_ == 2.0


def test_further_parameters_are_tried_at_every_pair():
    alphas = [0.01, 1.0, 100.0]
    found = search(param_grid={"alpha": alphas}).fit(X, Y)
    n_pairs = len(MUS) + len(NUS) - 1
    assert len(found.cv_results_["params"]) == n_pairs * len(alphas)
    best = {}
    for params, score in zip(
        found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True
    ):
        pair = (params["n_feature_components"], params["n_label_components"])
        best[pair] = max(best.get(pair, -np.inf), score)
    for (mu, nu), score in best.items():
        assert found.surface_[MUS.index(mu), NUS.index(nu)] == pytest.approx(score, abs=1e-12)
    assert "alpha" in found.best_params_
    assert found.best_score_ == pytest.approx(np.nanmax(found.surface_), abs=1e-12)


def test_sizes_have_no_place_in_the_grid_of_others():
    """They would silently take the place of the ratios, and the surface would be wrong."""
    with pytest.raises(ValueError, match="pass these as feature_ratios and label_ratios"):
        search(param_grid={"n_label_components": [2, 4]}).fit(X, Y)


def test_a_fold_without_a_score_does_not_blind_the_search():
    """Where a metric is undefined on one fold, the others still say which ratio is better."""
    labels = Y.copy()
    labels[28:] = 0
    splits = [
        (np.r_[14:40], np.r_[:14]),
        (np.r_[:14, 28:40], np.r_[14:28]),
        (np.r_[:28], np.r_[28:40]),
    ]
    found = search(cv=splits).fit(X, labels)
    assert np.isnan(found.cv_results_["split2_test_score"]).all()
    known = search(cv=splits[:2]).fit(X, labels)
    np.testing.assert_allclose(found.surface_, known.surface_, atol=1e-10)
    assert tried(found) == tried(known)
    assert not np.isinf(found.surface_).any()


def test_the_estimator_by_default_is_completed(exhaustive):
    """Without a completion all ratios above the rank would be one."""
    explicit = search(estimator=CMLLClassifier(completion="variance"), exhaustive=True).fit(X, Y)
    np.testing.assert_allclose(explicit.surface_, exhaustive.surface_, atol=1e-12)
    cut = search(estimator=CMLLClassifier(), exhaustive=True, label_ratios=(0.25,)).fit(X, Y)
    np.testing.assert_allclose(cut.surface_, cut.surface_[0, 0])


def test_an_embedding_inside_a_classifier(exhaustive):
    estimator = CompactClassifier(CMLL(completion="variance"))
    found = search(estimator=estimator, exhaustive=True).fit(X, Y)
    np.testing.assert_allclose(found.surface_, exhaustive.surface_, atol=1e-10)
    assert set(found.best_params_) == {
        "embedding__n_feature_components",
        "embedding__n_label_components",
    }
    with pytest.raises(ValueError, match=r"has not both .* GridSearchMoments"):
        search(estimator=CompactClassifier(MDDM())).fit(X, Y)
