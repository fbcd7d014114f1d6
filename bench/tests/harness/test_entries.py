"""An entry's scores are those of separate fits, and depend on the task alone."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import compactlearn
from compactlearn import METHODS, CompactClassifier, method
from compactlearn.metrics import (
    average_precision,
    inverse_propensities,
    micro_f1,
    psndcg_at_k,
    psp_at_k,
)
from compactlearn.model_selection import GridSearchMoments
from compactlearn_bench.methods.completions import method_with_completion
from compactlearn_bench.methods.engine_entry import EngineEntry
from compactlearn_bench.methods.frequency import by_frequency
from compactlearn_bench.methods.grids import configurations
from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.records import Cell, Record

from .baseline_helpers import PACKAGES, AutoStandIn
from .tasks import INNER, METRICS, SEED, judged, make_task

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SMALL = {
    "alphas": [0.01, 1.0],
    "betas": [0.1, 10.0],
    "label_ridges": [0.0, 0.5],
    "label_ratios": [0.5, 1.0],
    "feature_ratios": [0.2, 0.7, 1.0],
    "Cs": [0.1, 1.0],
}
COMPACT = [name for name in METHODS if isinstance(ENTRIES[name], EngineEntry)]
OTHERS = ["CMLL+f1", "RRR", "PCA+ridge", "Random P", "MDDM+CMLL_y", "CMLL+logistic"]


def fixed(name, completion="variance"):
    """Return the parameters that the settings fix."""
    stem = name.removeprefix("k-")
    given = {"random_state": SEED}
    if stem in ("CMLL", "MDDM"):
        given["completion"] = completion
    if stem == "FaIE":
        given["ridge"] = 0.1
    return given


def own_estimator(name, task):
    """The unfitted classifier of an entry, with everything but the configuration."""
    entry = ENTRIES[name]
    return entry.make(entry.settings(task.settings), task.seed)


def configured(estimator, configuration):
    known = estimator.get_params()
    params = {k if k in known else f"embedding__{k}": v for k, v in configuration.items()}
    return clone(estimator).set_params(**params)


def plain(params):
    return {name.removeprefix("embedding__"): value for name, value in params.items()}


@pytest.mark.parametrize("name", COMPACT)
@pytest.mark.parametrize("sparse", [False, True])
def test_paper_values_are_those_of_separate_fits(name, sparse):
    task = make_task("paper", SMALL, sparse=sparse)
    answer = ENTRIES[name].answer(task)
    assert answer.values.shape == (len(answer.configurations), len(METRICS))
    for configuration, values in zip(answer.configurations, answer.values, strict=True):
        model = method_with_completion(name, **fixed(name), **configuration)
        model.fit(task.X_train, task.Y_train)
        np.testing.assert_allclose(values, judged(model, task), atol=1e-9, rtol=0)


@pytest.mark.parametrize("completion", ["none", "variance", "random", "krylov"])
def test_completions(completion):
    task = make_task("paper", SMALL | {"betas": [1.0]})
    answer = ENTRIES[f"CMLL/{completion}"].answer(task)
    for configuration, values in zip(answer.configurations, answer.values, strict=True):
        model = method_with_completion("CMLL", **fixed("CMLL", completion), **configuration)
        np.testing.assert_allclose(
            values, judged(model.fit(task.X_train, task.Y_train), task), atol=1e-9, rtol=0
        )


@pytest.mark.parametrize("name", OTHERS)
def test_the_others_too_are_separate_fits(name):
    task = make_task("paper", SMALL)
    answer = ENTRIES[name].answer(task)
    estimator = own_estimator(name, task)
    for configuration, values in zip(answer.configurations, answer.values, strict=True):
        model = configured(estimator, configuration).fit(task.X_train, task.Y_train)
        np.testing.assert_allclose(values, judged(model, task), atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", [*COMPACT, "CMLL+f1", "PCA+ridge", "MDDM+CMLL_y", "CMLL/random"])
def test_nested_chooses_what_a_plain_loop_chooses(name):
    # One method is enough to see that the label ridge does not change a ranking.
    settings = SMALL if name == "CMLL_y" else SMALL | {"label_ridges": [0.0], "betas": [1.0]}
    task = make_task("nested", settings)
    answer = ENTRIES[name].answer(task)
    estimator = own_estimator(name, task)
    grid = configurations(ENTRIES[name].settings(settings), ENTRIES[name].axes)
    means = []
    for configuration in grid:
        scores = []
        for train, test in KFold(3, shuffle=True, random_state=INNER).split(task.X_train):
            model = configured(estimator, configuration).fit(
                task.X_train[train], task.Y_train[train]
            )
            found = model.decision_function(task.X_train[test])
            scores.append(average_precision(task.Y_train[test], found))
        means.append(np.mean(scores))
    best = float(np.max(means))
    assert answer.details["inner_score"] == pytest.approx(best, abs=1e-9)
    # Equal ones may be swapped.
    equal = [c for c, mean in zip(grid, means, strict=True) if mean > best - 1e-9]
    assert answer.configurations[0] in equal
    model = configured(estimator, answer.configurations[0]).fit(task.X_train, task.Y_train)
    np.testing.assert_allclose(answer.values[0], judged(model, task), atol=1e-9, rtol=0)


def test_nested_coordinate_search_is_the_papers():
    settings = SMALL | {"search": "coordinate", "centre": [0.7, 0.5], "betas": [1.0]}
    task = make_task("nested", settings)
    answer = ENTRIES["CMLL"].answer(task)
    search = GridSearchMoments(
        own_estimator("CMLL", task),
        {
            "embedding__n_feature_components": [0.2, 0.7, 1.0],
            "embedding__n_label_components": [0.5, 1.0],
            "alpha": [0.01, 1.0],
            "embedding__beta": [1.0],
        },
        cv=KFold(3, shuffle=True, random_state=INNER),
        refit=False,
    ).fit(task.X_train, task.Y_train)
    means = {}
    rows = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    for params, score in rows:
        own = plain(params)
        pair = own["n_feature_components"], own["n_label_components"]
        means[pair] = max(score, means.get(pair, 0.0))
    mu = max((0.2, 0.7, 1.0), key=lambda mu: means[mu, 0.5])
    best = max(*(means[other, 0.5] for other in (0.2, 0.7, 1.0)), means[mu, 1.0])
    chosen = answer.configurations[0]
    assert means[chosen["n_feature_components"], chosen["n_label_components"]] == best
    assert answer.details["inner_score"] == pytest.approx(best)
    assert answer.details["search"] == "coordinate"
    assert answer.details["n_tried"] == 2 * (3 + 1)


@pytest.mark.parametrize("name", sorted(ENTRIES))
@pytest.mark.parametrize("selection", ["paper", "nested"])
def test_nothing_but_the_task_decides(name, selection, monkeypatch):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], reason=f"{name} needs it (extra 'baselines')")
    if name == "Auto":
        monkeypatch.setattr(compactlearn, "AutoCompactClassifier", AutoStandIn, raising=False)
    settings = SMALL | {"betas": [1.0], "alphas": [0.1], "label_ratios": [0.5, 1.0]}
    settings |= {"trees": 5, "latent": [0.5, 1.0], "max_epochs": 3}
    first, second = (
        _as_record(name, ENTRIES[name].answer(make_task(selection, settings)), selection)
        for _ in range(2)
    )
    assert first.answer() == second.answer()
    back = Record.from_json(first.to_json())  # plain values throughout
    assert back.answer() == first.answer()


def _as_record(name, answer, selection):
    return Record(
        Cell("made", name, selection, 0, settings=ENTRIES[name].settings({})),
        "done",
        metrics=METRICS,
        configurations=answer.configurations,
        values=answer.values,
        sizes=answer.sizes,
        details=answer.details,
    )


def test_finalists_are_judged_with_their_own_decoder():
    settings = {"alphas": [0.1, 1.0, 10.0], "label_ratios": [0.5, 1.0], "finalists": 6}
    task = make_task("nested", settings)
    answer = ENTRIES["CMLL+logistic"].answer(task)
    estimator = own_estimator("CMLL+logistic", task)
    means = {}
    for alpha in settings["alphas"]:
        for ratio in settings["label_ratios"]:
            model = configured(estimator, {"alpha": alpha, "n_label_components": ratio})
            scores = []
            for train, test in KFold(3, shuffle=True, random_state=INNER).split(task.X_train):
                fitted = clone(model).fit(task.X_train[train], task.Y_train[train])
                found = fitted.decision_function(task.X_train[test])
                scores.append(average_precision(task.Y_train[test], found))
            means[ratio, alpha] = np.mean(scores)
    chosen = answer.configurations[0]
    assert answer.details["inner_score"] == pytest.approx(max(means.values()), abs=1e-6)
    key = (chosen["n_label_components"], chosen["alpha"])
    assert means[key] == pytest.approx(max(means.values()), abs=1e-6)


def test_a_single_finalist_is_the_linear_decoders_choice_and_costs_one_fit(monkeypatch):
    settings = {"alphas": [0.1, 1.0, 10.0], "label_ratios": [0.5, 1.0]}
    entry = ENTRIES["CMLL+logistic"]
    task = make_task("nested", {**settings, "finalists": 1})
    searched = clone(own_estimator("CMLL+logistic", task)).set_params(decoder="linear")
    search = GridSearchMoments(
        searched,
        {
            "alpha": settings["alphas"],
            "embedding__n_label_components": settings["label_ratios"],
        },
        cv=KFold(3, shuffle=True, random_state=INNER),
        refit=False,
    ).fit(task.X_train, task.Y_train)
    fits = []
    learn = CompactClassifier.fit
    monkeypatch.setattr(
        CompactClassifier, "fit", lambda self, *given: fits.append(self) or learn(self, *given)
    )
    answer = entry.answer(task)
    assert plain(search.best_params_).items() <= answer.configurations[0].items()
    assert answer.details["inner_score"] is None
    assert answer.details["n_tried"] == 6
    assert [model.decoder for model in fits] == ["logistic"]


@pytest.mark.parametrize("name", ["CMLL", "CMLL_y"])
def test_trace(name):
    betas = [10.0, 0.1, 1.0]
    task = make_task("paper", {"trace": True, "betas": betas, "alphas": [0.1, 1.0]})
    answer = ENTRIES[name].answer(task)
    assert [c["beta"] for c in answer.configurations] == [10.0, 10.0, 0.1, 0.1, 1.0, 1.0]
    first = dict(answer.configurations[0])
    model = method_with_completion(name, **fixed(name), **first).fit(task.X_train, task.Y_train)
    assert answer.details["dependence"][0] == pytest.approx(model.embedding_.dependence_)
    assert answer.details["recovery"][0] == pytest.approx(model.embedding_.recovery_)
    ends = []
    for beta in (0.0, 1e10):
        embedding = model.make_embedding().set_params(beta=beta)
        ends.append(embedding.fit(task.X_train, task.Y_train).dependence_)
    between = (model.embedding_.dependence_ - ends[0]) / (ends[1] - ends[0])
    assert answer.details["dependence_between"][0] == pytest.approx(between)
    assert answer.details["recovery_between"][2] > answer.details["recovery_between"][0]


def test_by_frequency_in_nested_answers():
    task = make_task("nested", SMALL)
    answer = ENTRIES["PLST"].answer(task)
    model = configured(own_estimator("PLST", task), answer.configurations[0])
    scores = model.fit(task.X_train, task.Y_train).decision_function(task.X_test)
    expected = by_frequency(task.Y_train, task.Y_test, scores, scores > 0.5)
    found = answer.details["by_frequency"]
    assert sum(band["n_labels"] for band in found.values()) == 7
    for band, values in expected.items():
        assert found[band] == pytest.approx(values, nan_ok=True)
    assert "by_frequency" not in ENTRIES["PLST"].answer(make_task("paper", SMALL)).details


@pytest.mark.parametrize("selection", ["paper", "nested"])
def test_c2ae_tries_its_latent_sizes(selection):
    pytest.importorskip("torch", reason="the networks are trained by PyTorch")
    given = {"latent": [3, 1.0], "max_epochs": 3, "batch_size": 20, "learning_rate": 1e-3}
    settings = ENTRIES["C2AE"].settings(given | {"inner_folds": 2, "ridge": "wide"})
    assert "alphas" not in settings
    task = make_task(selection, settings)
    answer = ENTRIES["C2AE"].answer(task)
    latents = [c["latent"] for c in answer.configurations]
    assert latents == [3, 1.0] if selection == "paper" else latents[0] in (3, 1.0)
    assert all(set(c) == {"latent"} for c in answer.configurations)  # alpha is the protocol's
    for latent, row, size in zip(latents, answer.values, answer.sizes, strict=True):
        params = {name: value for name, value in given.items() if name != "latent"}
        model = method("C2AE", n_components=latent, random_state=SEED, device="cpu", **params)
        model.fit(task.X_train, task.Y_train)
        np.testing.assert_allclose(row, judged(model, task), atol=1e-12)
        K = model.n_components_
        assert size == (14 + 1) * 512 + 513 * 512 + 513 * K + (K + 1) * 512 + 513 * 7


@pytest.mark.parametrize("selection", ["paper", "nested"])
@pytest.mark.parametrize("name", ["k-ORI", "POP"])
def test_metrics_that_weigh_rare_labels_know_the_training_labels(name, selection):
    entry = ENTRIES[name]
    metrics = ("psp_at_1", "micro_f1", "psndcg_at_3")
    settings = entry.settings({"inner_folds": 2, "alphas": [0.5]})
    task = make_task(selection, settings, metrics)
    answer = entry.answer(task)
    given = {} if name == "POP" else {"alpha": 0.5}
    model = method(name, random_state=SEED, **given).fit(task.X_train, task.Y_train)
    scores, weights = model.decision_function(task.X_test), inverse_propensities(task.Y_train)
    expected = [
        psp_at_k(task.Y_test, scores, k=1, weights=weights),
        micro_f1(task.Y_test, model.predict(task.X_test)),
        psndcg_at_k(task.Y_test, scores, k=3, weights=weights),
    ]
    np.testing.assert_allclose(answer.values[0], expected, atol=1e-10)
