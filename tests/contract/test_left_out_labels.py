"""Labels that are left out of a fit: the model is that of the other labels alone."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    load_model,
    predict_labels,
    save_model,
    text_classifier,
)
from compactlearn.inspection import inspect_model
from compactlearn.metrics import scorer
from tests.makers import as_dense

NAMES = ["ants", "bees", "cats", "dogs", "eels", "foxes", "gulls"]
COUNTS = [60, 3, 40, 2, 30, 5, 25]  # rows of each label


def make_rows(seed=0, n_rows=90):
    """Rows whose features show their labels, of which some are rare."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n_rows, len(NAMES)), dtype=int)
    for j, count in enumerate(COUNTS):
        Y[rng.permutation(n_rows)[:count], j] = 1
    X = rng.poisson(0.4, (n_rows, 30)) + np.repeat(Y, 3, axis=1) @ np.eye(21, 30, dtype=int)
    return X.astype(float), Y


def as_lists(Y):
    return [[NAMES[j] for j in np.flatnonzero(row)] for row in np.asarray(Y)]


FORMS = {
    "matrix": (lambda Y: Y, lambda Y, kept: Y[:, kept]),
    "sparse": (scipy.sparse.csr_array, lambda Y, kept: scipy.sparse.csr_array(Y[:, kept])),
    "frame": (
        lambda Y: pd.DataFrame(Y, columns=NAMES),
        lambda Y, kept: pd.DataFrame(Y[:, kept], columns=[NAMES[j] for j in kept]),
    ),
    "names": (as_lists, lambda Y, kept: as_lists(Y * np.isin(np.arange(Y.shape[1]), kept))),
}
MODELS = {
    "shortlist": lambda **options: ShortlistClassifier(random_state=0, n_jobs=1, **options),
    "auto": lambda **options: AutoCompactClassifier(
        time_budget=0.01, cv=2, random_state=0, **options
    ),
}


def both(model, form, *, options, kept, seed=0, weights=None):
    """The model that leaves labels out, that of the other labels, and rows with their labels."""
    X, Y = make_rows(seed)
    whole, part = FORMS[form]
    one = MODELS[model](**options).fit(X, whole(Y), sample_weight=weights)
    other = MODELS[model]().fit(X, part(Y, kept), sample_weight=weights)
    new, true = make_rows(seed + 100)
    return one, other, new, whole(true), part(true, kept)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(2))
def test_the_model_is_that_of_the_other_labels(model, form, seed):
    left = ["ants", "cats"] if form in ("frame", "names") else [0, np.int64(2)]
    options, kept = {"exclude": left, "min_label_count": 4}, [4, 5, 6]
    one, other, X, whole, part = both(model, form, options=options, kept=kept, seed=seed)
    out = [j for j in range(len(NAMES)) if j not in kept]
    named = form in ("frame", "names")
    assert one.excluded_labels_ == ([NAMES[j] for j in out] if named else out)
    assert other.excluded_labels_ == []
    assert one.n_labels_ == len(kept)
    assert [str(name) for name in one.classes_] == [
        NAMES[j] if form == "names" else str(j) for j in kept
    ]
    np.testing.assert_array_equal(
        as_dense(one.decision_function(X)), as_dense(other.decision_function(X))
    )
    np.testing.assert_array_equal(as_dense(one.predict_proba(X)), as_dense(other.predict_proba(X)))
    np.testing.assert_array_equal(as_dense(one.predict(X)), as_dense(other.predict(X)))
    # Rows may be judged with all their labels, or with those of the model.
    expected = other.evaluate(X, part)
    assert one.evaluate(X, whole) == expected
    assert one.evaluate(X, part) == expected
    assert one.score(X, whole) == other.score(X, part)
    judge = scorer("micro_f1")
    assert judge(one, X, whole) == judge(other, X, part) == expected["micro_f1"]
    assert inspect_model(one, X, whole, n_mistakes=2).metrics == expected


def test_they_are_never_suggested():
    X, Y = make_rows()
    model = MODELS["shortlist"](exclude=["ants"]).fit(X, as_lists(Y))
    given = {name for row in predict_labels(model, X, k=model.n_labels_) for name, _ in row}
    assert given == set(NAMES) - {"ants"}


@pytest.mark.parametrize("weight", [0.0, 1.0, 2.0])
def test_a_row_of_weight_two_counts_twice(weight):
    X, Y = make_rows()
    weights = np.where(Y[:, 3] == 1, weight, 1.0)  # of two rows
    model = MODELS["shortlist"](min_label_count=4).fit(X, Y, sample_weight=weights)
    assert (3 in model.excluded_labels_) == (weight < 2)


def test_unknown_labels_are_no_rows_of_a_label():
    X, Y = make_rows()
    Y = Y.astype(float)
    Y[np.flatnonzero(Y[:, 5])[:2], 5] = np.nan
    Y[np.random.default_rng(1).permutation(len(Y))[:30], 0] = np.nan
    model = MODELS["shortlist"](min_label_count=4).fit(X, Y)
    assert model.excluded_labels_ == [1, 3, 5]
    known = MODELS["shortlist"]().fit(X, Y[:, [0, 2, 4, 6]])
    np.testing.assert_array_equal(
        as_dense(model.decision_function(X)), as_dense(known.decision_function(X))
    )
    assert model.evaluate(X, Y) == known.evaluate(X, Y[:, [0, 2, 4, 6]])


@pytest.mark.parametrize("model", MODELS)
def test_a_file_keeps_them(model, tmp_path):
    X, Y = make_rows()
    one = MODELS[model](exclude=["bees"], min_label_count=3).fit(X, as_lists(Y))
    save_model(one, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.excluded_labels_ == ["bees", "dogs"]
    assert again.get_params() == one.get_params()
    assert again.evaluate(X, as_lists(Y)) == one.evaluate(X, as_lists(Y))


@pytest.mark.parametrize("model", MODELS)
def test_parameters_are_stored_untouched(model):
    asked = {"exclude": ["bees"], "min_label_count": 3}
    one = clone(MODELS[model](**asked))
    assert {name: one.get_params()[name] for name in asked} == asked
    default = MODELS[model]().get_params()
    assert (default["exclude"], default["min_label_count"]) == (None, 1)


def test_a_fit_without_them_forgets_those_of_an_earlier_fit():
    X, Y = make_rows()
    model = MODELS["shortlist"](min_label_count=4).fit(X, Y)
    assert model.set_params(min_label_count=1).fit(X, Y).excluded_labels_ == []


def test_texts():
    texts = ["rain and wind", "wind, no rain", "bread and oil", "oil with bread"] * 3
    tags = [["weather", "now"], ["weather"], ["food"], ["food"]] * 3
    tags[0] = ["weather", "once"]
    model = text_classifier(min_label_count=2, exclude="now").fit(texts, tags)
    assert model[-1].excluded_labels_ == ["now", "once"]
    assert list(model[-1].classes_) == ["food", "weather"]
    short = ShortlistClassifier(random_state=0)
    assert text_classifier(short, exclude=["now"])[-1].exclude == ["now"]
    assert short.exclude is None
    with pytest.raises(TypeError, match="CMLLClassifier has no such parameters; use Auto"):
        text_classifier(CMLLClassifier(), min_label_count=2)


REFUSALS = {
    "unknown name": ({"exclude": ["catz"]}, as_lists, "got 'catz'. Leave it out of exclude. Did"),
    "no name": ({"exclude": ["cats"]}, np.array, "have (0, 1, 2, 3, 4, ...); got 'cats'"),
    "no column": ({"exclude": 7}, np.array, "have (0, 1, 2, 3, 4, ...); got 7"),
    "everything": ({"min_label_count": 61}, np.array, "leave out all 7 labels; lower min_label"),
    "all by name": ({"exclude": NAMES}, as_lists, "leave out all 7 labels"),
    "count": ({"min_label_count": 0}, np.array, "must be an integer >= 1; got 0"),
    "number": ({"exclude": 0.5}, np.array, "a label or a list of labels, by name or number"),
    "classes": ({"min_label_count": 2}, lambda Y: Y[:, 0], "y is a vector of classes; leave out"),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.parametrize("model", MODELS)
def test_refusals(model, case):
    options, form, message = REFUSALS[case]
    X, Y = make_rows()
    one = MODELS[model](**options)
    before = dict(vars(one))
    with pytest.raises(ValueError, match=re.escape(message)):
        one.fit(X, form(Y))
    assert vars(one) == before, "nothing is changed"


@pytest.mark.parametrize("options", [{"min_label_count": 4}, {"exclude": [0]}])
@pytest.mark.parametrize("form", ["matrix", "names"])
def test_folds_must_learn_the_same_labels(form, options):
    X, Y = make_rows()
    tuner = ThresholdTuner(make_pipeline(MaxAbsScaler(), MODELS["shortlist"](**options)))
    name = next(iter(options))
    with pytest.raises(ValueError, match=f"got shortlistclassifier__{name}=.*Leave these labels"):
        tuner.fit(X, FORMS[form][0](Y))
