"""GridSearchMoments is GridSearchCV in less time: the same scores, table and best setting."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
)
from sklearn.preprocessing import FunctionTransformer

import compactlearn.model_selection._crossval as crossval
from compactlearn import (
    CMLL,
    CPLST,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
    Original,
)
from compactlearn.compact import PaperClassifier
from compactlearn.metrics import METRICS, average_precision, inverse_propensities, scorer
from compactlearn.model_selection import CMLLClassifierCV, GridSearchMoments

from .helpers import folds, make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")

X, Y = make_data(36, 8, 6)
SPLITS = folds(36)
SMALL = {"n_label_components": [2, 6], "n_feature_components": ["auto", None], "alpha": [0.1, 10.0]}
TINY = {"alpha": [0.1, 10.0]}


def both(estimator, grid, scoring="average_precision", X=X, Y=Y, splits=SPLITS, **fit):
    named = scorer(scoring) if isinstance(scoring, str) else scoring
    theirs = GridSearchCV(estimator, grid, scoring=named, cv=splits, error_score="raise")
    ours = GridSearchMoments(estimator, grid, scoring=scoring, cv=splits)
    return ours.fit(X, Y, **fit), theirs.fit(X, Y, **fit)


def split_scores(search, n_splits=None):
    count = search.n_splits_ if n_splits is None else n_splits
    return np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(count)], axis=1)


def assert_same_table(ours, theirs, atol=1e-8):
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    np.testing.assert_allclose(split_scores(ours), split_scores(theirs), rtol=0, atol=atol)
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=atol)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=atol)
    top = ours.cv_results_["mean_test_score"]
    assert top[theirs.best_index_] == pytest.approx(top.max(), abs=atol)


# --- the same as scikit-learn's search -----------------------------------------------------------

CASES = {
    "CMLL": (CMLLClassifier(), SMALL),
    "CMLL sizes": (
        CMLLClassifier(completion="krylov"),
        {"n_feature_components": [2, 6, 0.5, None], "n_label_components": [3, 0.9, None, "auto"]},
    ),
    "CPLST": (
        CompactClassifier(CPLST(ridge="shared")),
        {"embedding__n_label_components": [1, 0.5], **TINY},
    ),
    "k-CMLL": (CMLLClassifier(feature_map=KernelMap()), {**SMALL, "alpha": [0.1]}),
    "several kernel methods": (
        CompactClassifier(feature_map=KernelMap()),
        {"embedding": [PLST(3), CMLL(None), CMLL(2), MDDM(2), Original()], "alpha": [0.5]},
    ),
    "several methods": (
        CompactClassifier(),
        [
            {"embedding": [PLST(3), CMLL(None), MDDM(2), Original()], "alpha": [1.0]},
            {"embedding": [CMLL()], "embedding__n_label_components": [2, 4], "alpha": [2.0]},
        ],
    ),
    "foreign learner": (CompactClassifier(regressor=Ridge()), {"regressor__alpha": [0.1, 10.0]}),
    "both kinds": (CompactClassifier(), {"regressor": [None, Ridge(2.0)], "alpha": [1.0, 3.0]}),
    "learnt decoder": (CMLLClassifier(), {"decoder": ["linear", "logistic"], "alpha": [1.0]}),
    "no intercept": (PaperClassifier(), {"alpha": [1.0, 3.0]}),
}


@pytest.mark.parametrize(("estimator", "grid"), CASES.values(), ids=CASES.keys())
def test_the_table_is_that_of_scikit_learn(estimator, grid):
    assert_same_table(*both(estimator, grid))


@pytest.mark.parametrize("threshold", [0.3, np.linspace(0.2, 0.6, 6), "f1"])
def test_thresholds_with_a_metric_of_labels(threshold):
    assert_same_table(*both(CMLLClassifier(threshold=threshold), TINY, "micro_f1"))


def test_masked_columns_of_a_list_of_grids():
    grid = [{"alpha": [1.0]}, {"beta": [0.1, 0.2, 0.2]}]
    ours, theirs = both(CMLLClassifier(), grid)
    ranks = ours.cv_results_["rank_test_score"]
    np.testing.assert_array_equal(ranks, theirs.cv_results_["rank_test_score"])
    assert ranks[2] == ranks[3]
    for name in ("param_alpha", "param_beta"):
        np.testing.assert_array_equal(ours.cv_results_[name].mask, theirs.cv_results_[name].mask)
        assert (
            ours.cv_results_[name].compressed().tolist()
            == theirs.cv_results_[name].compressed().tolist()
        )


@pytest.mark.parametrize(
    "estimator",
    [CompactClassifier(CMLL(completion="krylov")), CompactClassifier(CMLL(), regressor=Ridge())],
)
def test_weights_are_repetitions(estimator):
    """In the fits and in the scores of validation rows; rows of weight 0 are not there."""
    weights = np.random.default_rng(3).integers(0, 4, 36)
    grid = {"embedding__n_label_components": [2, 4], "scale": [False, True]}
    search = GridSearchMoments(estimator, grid)
    search.set_params(cv=SPLITS, refit=False).fit(X, Y, sample_weight=weights)
    for index, params in enumerate(search.cv_results_["params"]):
        for number, split in enumerate(SPLITS):
            train, test = (np.repeat(rows, weights[rows]) for rows in split)
            model = clone(estimator).set_params(**params).fit(X[train], Y[train])
            expected = average_precision(Y[test], model.decision_function(X[test]))
            assert split_scores(search)[index, number] == pytest.approx(expected, abs=1e-8)


# --- metrics -------------------------------------------------------------------------------------


OF_PROBABILITIES = [name for name in METRICS if METRICS[name].needs == "probabilities"]
OTHERS = [n for n in METRICS if not n.startswith("ps") and n not in OF_PROBABILITIES]


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_a_metric_of_probabilities_is_refused(name):
    with pytest.raises(ValueError, match="needs probabilities"):
        GridSearchMoments(CMLLClassifier(), SMALL, scoring=name).fit(X, Y)


@pytest.mark.parametrize("name", [*OTHERS, "precision_at_3", "ndcg_at_2"])
def test_every_metric_by_its_name(name):
    ours, theirs = both(CMLLClassifier(), SMALL, name)
    assert_same_table(ours, theirs)
    if name in METRICS and not METRICS[name].greater_is_better:
        assert ours.best_score_ <= 0
    assert ours.scorer_.name == name


@pytest.mark.parametrize(
    "scoring",
    [
        scorer("precision_at_k", k=2),
        scorer("psp_at_3", weights=inverse_propensities(Y)),
        scorer("psndcg_at_k", weights=inverse_propensities(Y), k=2),
    ],
    ids=repr,
)
def test_scorers_with_options(scoring):
    assert_same_table(*both(CMLLClassifier(), SMALL, scoring))


def test_metrics_that_are_defined_nowhere_on_a_fold():
    """The mean is over the folds that have a score."""
    labels = np.zeros((30, 3))
    rows = np.random.default_rng(0).integers(0, 2, (20, 3))
    labels[:20] = rows
    labels[0] = [1, 0, 1]
    labels[11] = [0, 1, 0]
    features = make_data(30, 4, 3)[0]
    search = GridSearchMoments(CMLLClassifier(), TINY, cv=KFold(3)).fit(features, labels)
    scores = split_scores(search)
    assert np.isnan(scores[:, 2]).all()
    assert np.isfinite(scores[:, :2]).all()
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores[:, :2].mean(axis=1))
    np.testing.assert_allclose(search.cv_results_["std_test_score"], scores[:, :2].std(axis=1))
    assert search.best_score_ == scores[:, :2].mean(axis=1).max()
    with pytest.raises(ValueError, match="not defined on any of the validation folds"):
        GridSearchMoments(CMLLClassifier(), TINY, cv=3).fit(features, np.zeros((30, 3)))


# --- vectors of classes --------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "estimator",
    [CMLLClassifier(), CompactClassifier(regressor=Ridge()), CMLLClassifier(scale=True)],
    ids=["engine", "singly", "scaled"],
)
@pytest.mark.parametrize("scoring", ["subset_accuracy", "one_error"])
def test_classes_in_a_vector(n_classes, estimator, scoring):
    """Exactly one class is right in each row: both metrics are then the accuracy."""
    rng = np.random.default_rng(2)
    y = np.array(list("wxyz"))[np.argmax(X @ rng.normal(size=(8, n_classes)), axis=1)]
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    search = GridSearchMoments(estimator, {"alpha": [1.0, 100.0]}, cv=splits, scoring=scoring)
    search.fit(X, y)
    assert set(search.predict(X)) <= set(y)
    np.testing.assert_array_equal(search.classes_, np.unique(y))
    for index, params in enumerate(search.cv_results_["params"]):
        for number, (train, test) in enumerate(splits):
            model = clone(estimator).set_params(**params).fit(X[train], y[train])
            accuracy = accuracy_score(y[test], model.predict(X[test]))
            expected = accuracy - 1 if scoring == "one_error" else accuracy
            assert split_scores(search)[index, number] == pytest.approx(expected, abs=1e-12)


def test_folds_of_classes_are_stratified():
    y = np.repeat([0, 1, 2], [3, 15, 18])  # the rare class has one row for each fold
    search = GridSearchMoments(CMLLClassifier(), TINY, cv=3).fit(X, y)
    explicit = StratifiedKFold(3, shuffle=True, random_state=0)
    other = GridSearchMoments(CMLLClassifier(), TINY, cv=explicit).fit(X, y)
    np.testing.assert_array_equal(split_scores(search), split_scores(other))


def test_weights_that_leave_no_training_row():
    weights = np.ones(36)
    weights[SPLITS[1][0]] = 0
    search = GridSearchMoments(CMLLClassifier(), TINY, cv=SPLITS)
    with pytest.raises(ValueError, match="training rows of a split are zero"):
        search.fit(X, Y, sample_weight=weights)


def test_validation_rows_without_weight_say_nothing():
    weights = np.ones(36)
    weights[SPLITS[1][1]] = 0
    search = GridSearchMoments(CMLLClassifier(), TINY, cv=SPLITS).fit(X, Y, sample_weight=weights)
    scores = split_scores(search)
    assert np.isnan(scores[:, 1]).all()
    assert search.best_score_ == pytest.approx(scores[:, [0, 2]].mean(axis=1).max())


# --- settings that are one and the same ----------------------------------------------------------


def test_distinct_settings_without_a_completion():
    """All numbers of feature components from the rank on are one model, for each penalty."""
    features, labels = make_data(40, 20, 6)
    ratios = [0.05, *np.linspace(0.1, 1, 10).tolist()]
    grid = {"n_feature_components": ratios, "n_label_components": [2], "alpha": [0.1, 1.0, 10.0]}
    search = GridSearchMoments(CMLLClassifier(), grid, cv=3, refit=False).fit(features, labels)
    assert search.n_distinct_ == 2 * 3
    completed = CMLLClassifier(completion="krylov")
    search = GridSearchMoments(completed, grid, cv=3, refit=False).fit(features, labels)
    assert search.n_distinct_ == 11 * 3


def multiplied(X, by):
    return X * by


def test_maps_that_print_alike_are_separate_settings():
    """Long arrays and long estimators are cut when printed; settings are not sorted by that."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(24, 1100))
    labels = (features[:, :4] + 0.5 * rng.normal(size=(24, 4)) > 0).astype(float)
    muted = np.r_[np.ones(4), np.full(1092, 0.01), np.ones(4)]
    maps = [FunctionTransformer(multiplied, kw_args={"by": by}) for by in (np.ones(1100), muted)]
    assert repr(maps[0]) == repr(maps[1])
    grid = {"feature_map": maps, "alpha": [1.0, 10.0]}
    ours, theirs = both(CMLLClassifier(), grid, X=features, Y=labels, splits=folds(24, 2))
    assert_same_table(ours, theirs)
    assert ours.n_distinct_ == 4


# --- threads and Ctrl-C --------------------------------------------------------------------------


def test_threads_give_the_same_table():
    grid = {**SMALL, "beta": [0.1, 1.0]}
    one = GridSearchMoments(CMLLClassifier(), grid, cv=SPLITS).fit(X, Y)
    two = GridSearchMoments(CMLLClassifier(), grid, cv=SPLITS, n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(split_scores(two), split_scores(one), rtol=0, atol=1e-12)
    assert two.best_params_ == one.best_params_
    assert two.n_distinct_ == one.n_distinct_


def interrupted_after(monkeypatch, n_tasks):
    done = []
    original = crossval._score_group

    def impatient(*args):
        if len(done) >= n_tasks:
            raise KeyboardInterrupt
        done.append(1)
        return original(*args)

    monkeypatch.setattr(crossval, "_score_group", impatient)


BALANCES = {"beta": [0.1, 0.2, 0.3], "alpha": [0.1, 100.0]}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_keeps_the_scores_so_far(monkeypatch, n_jobs):
    """Three balances on three folds are nine tasks, fold by fold; the fifth does not end."""
    whole = GridSearchMoments(CMLLClassifier(), BALANCES, cv=SPLITS).fit(X, Y)
    interrupted_after(monkeypatch, 4)
    search = GridSearchMoments(CMLLClassifier(), BALANCES, cv=SPLITS, n_jobs=n_jobs)
    with pytest.warns(UserWarning, match=r"interrupted: 0 of 6 settings .* all 3 splits"):
        search.fit(X, Y)
    assert search.interrupted_ is True
    scores, every = split_scores(search), split_scores(whole)
    known = np.isfinite(scores)
    np.testing.assert_allclose(scores[known], every[known], atol=1e-12)
    if n_jobs is None:  # with threads, what had ended is up to them
        assert known.sum(axis=1).tolist() == [2, 1, 1, 2, 1, 1]
        assert set(search.cv_results_["rank_test_score"][[0, 3]]) == {1, 2}
    reached = known.sum(axis=1)
    assert reached[search.best_index_] == reached.max()
    assert search.best_score_ == pytest.approx(np.nanmean(scores[search.best_index_]))


# --- bad input -----------------------------------------------------------------------------------


def with_cv(cv):
    return GridSearchMoments(CMLLClassifier(), TINY, cv=cv)


NUMBERS = "numbers of the 36 rows, from 0 on, or masks of that length, and hold others"
BAD = {
    "numbers beyond": (with_cv([([0, 1, 2], [36])]), NUMBERS),
    "fractions": (with_cv([([0.5, 1.5], [2.5])]), NUMBERS),
    "short masks": (with_cv([([True, False], [1])]), NUMBERS),
    "no pairs": (with_cv([1, 2, 3]), r"a splitter or pairs of row numbers, and is \[1, 2, 3\]"),
    "thresholds": (
        GridSearchMoments(CMLLClassifier(threshold=[0.5, 0.2]), TINY),
        r"one for each of the 6 labels, and has 2 entries",
    ),
    "embedding": (
        GridSearchMoments(CompactClassifier(), {"embedding__beta": [1.0]}),
        r"the classifier was given none; pass CompactClassifier\(CMLL\(\)\)",
    ),
    "folds above rows": (with_cv(37), "36 rows, .* and is 37"),
    "one fold": (with_cv(1), "cv must be at least 2 folds"),
    "no split": (with_cv([]), "at least one split"),
    "empty split": (with_cv([(np.arange(36), np.arange(0))]), "training and validation rows"),
    "empty grid": (GridSearchMoments(CMLLClassifier(), []), "grid is empty"),
    "empty values": (GridSearchMoments(CMLLClassifier(), {"alpha": []}), "non-empty|empty"),
    "unknown parameter": (GridSearchMoments(CMLLClassifier(), {"alhpa": [1.0]}), "alhpa"),
    "unknown size": (
        GridSearchMoments(CompactClassifier(MDDM()), {"embedding__n_label_components": [2]}, cv=3),
        "MDDM has no parameter n_label_components",
    ),
    "negative penalty": (GridSearchMoments(CMLLClassifier(), {"alpha": [1.0, -1.0]}), "alpha"),
    "too many labels": (
        GridSearchMoments(CMLLClassifier(), {"n_label_components": [2, 7]}),
        r"more components than there are labels \(6\)",
    ),
    "callable": (
        GridSearchMoments(CMLLClassifier(), TINY, scoring=lambda *_: 1.0),
        "scoring must be the name of a metric",
    ),
    "metric misspelt": (
        GridSearchMoments(CMLLClassifier(), TINY, scoring="average_precison"),
        "(?s)one of the names.*'average_precison'.*average_precision",
    ),
    "refit": (GridSearchMoments(CMLLClassifier(), TINY, refit="yes"), "refit"),
    "CV: no penalty": (CMLLClassifierCV(alphas=[]), "alphas must hold at least one value"),
    "CV: a name": (CMLLClassifierCV(completions="none"), "completions must hold"),
    "CV: decoder": (CMLLClassifierCV(decoders=["tree"]), "decoders must hold some of.*'tree'"),
    "CV: balance": (CMLLClassifierCV(betas=[-1.0]), "beta"),
    "CV: label ratio": (CMLLClassifierCV(n_label_components=[1.5]), "n_label_components"),
    "CV: threshold": (CMLLClassifierCV(threshold="best"), "threshold"),
}


@pytest.mark.parametrize(("search", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input(search, sentence):
    search = clone(search)
    before = dict(vars(search))
    with pytest.raises(ValueError, match=sentence):
        search.fit(X, Y)
    assert vars(search) == before


def test_a_training_part_of_one_class_is_named():
    with pytest.raises(ValueError, match="training rows of split 0 have one class only"):
        with_cv(KFold(2)).fit(X, np.repeat(["a", "b"], 18))


def test_estimators_of_other_packages():
    search = GridSearchMoments(LogisticRegression(), {"C": [1.0]})
    with pytest.raises(TypeError, match="LogisticRegression"):
        search.fit(X, Y)
    assert not [name for name in vars(search) if name.endswith("_")]


# --- the rest of scikit-learn's manners ----------------------------------------------------------


def test_an_int_is_a_seeded_shuffle():
    first, second = (GridSearchMoments(CMLLClassifier(), TINY).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(split_scores(first), split_scores(second))
    assert first.n_splits_ == 5
    other = GridSearchMoments(CMLLClassifier(), TINY, random_state=1).fit(X, Y)
    assert not np.array_equal(split_scores(first), split_scores(other))
    explicit = GridSearchMoments(
        CMLLClassifier(), TINY, cv=KFold(5, shuffle=True, random_state=1)
    ).fit(X, Y)
    np.testing.assert_array_equal(split_scores(explicit), split_scores(other))


def test_groups_and_masks():
    groups = np.arange(36) % 4
    ours = GridSearchMoments(CMLLClassifier(), TINY, cv=GroupKFold(4)).fit(X, Y, groups=groups)
    theirs = GridSearchCV(
        CMLLClassifier(), TINY, cv=GroupKFold(4), scoring=scorer("average_precision")
    ).fit(X, Y, groups=groups)
    assert_same_table(ours, theirs)
    mask = np.arange(36) < 20
    masked = GridSearchMoments(CMLLClassifier(), TINY, cv=[(mask, ~mask)]).fit(X, Y)
    numbers = [(np.flatnonzero(mask), np.flatnonzero(~mask))]
    numbered = GridSearchMoments(CMLLClassifier(), TINY, cv=numbers).fit(X, Y)
    np.testing.assert_array_equal(split_scores(masked), split_scores(numbered))
