"""Every classifier and search either takes unknown labels, or says in a sentence what to do.

Those that take them read nothing under the marks, whatever the form, and with nothing hidden give
the ordinary fit.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    ShortlistClassifier,
    ThresholdTuner,
    evaluate,
    predict_labels,
    related,
    text_classifier,
)
from compactlearn.metrics import average_precision, micro_f1
from compactlearn.model_selection import GridSearchMoments, scores_on_split
from tests.unknown.problems import problem, sparse, with_nan

GRID = {"alpha": [1.0, 10.0]}


class RidgeOfFeatures(Ridge):
    """A regressor of somebody else, which takes no weights."""

    def fit(self, X, y):
        return super().fit(X, y)


def own(decoder="linear", threshold="auto", **options):
    return CMLLClassifier(n_label_components=3, decoder=decoder, threshold=threshold, **options)


def landmarks():
    return KernelMap(algorithm="nystroem", n_components=20, random_state=0)


def foreign():
    return CompactClassifier(
        CMLL(n_label_components=3), regressor=RidgeOfFeatures(), decoder="logistic", threshold="f1"
    )


def search(decoders, **options):
    sizes = {"alphas": [1.0, 10.0], "n_label_components": [3]}
    return CMLLClassifierCV(decoders=decoders, cv=2, **sizes, **options)


# Makers of all that take unknown labels: one for each route, decoder and threshold.
MADE = {
    "linear, auto": own,
    "linear, cardinality": lambda: own(threshold="cardinality"),
    "logistic, per-label": lambda: own("logistic", "per-label"),
    "scaled": lambda: own(scale=True),
    "kernel, exact": lambda: own(feature_map=KernelMap()),
    "kernel, nystroem": lambda: own(feature_map=landmarks()),
    "kernel, labels kept": lambda: CompactClassifier(
        Original(), feature_map=KernelMap(), decoder="logistic"
    ),
    "labels kept, learned": lambda: CompactClassifier(
        Original(), decoder="logistic", threshold="per-label"
    ),
    "foreign regressor": foreign,
    "missing positives": lambda: CompactClassifier(positive_unlabelled=True),
    "wrong labels": lambda: CompactClassifier(label_noise=(0.05, 0.1), decoder="logistic"),
    "wrong labels, rates estimated": lambda: CompactClassifier(label_noise="auto"),
    **{
        type(one).__name__: lambda one=one: CompactClassifier(one, threshold="per-label")
        for one in (PLST(3), CPLST(3), MDDM(), FaIE(3), DMLR(3), Original(), related.CCA())
    },
    "LEML": lambda: related.LEML(2, random_state=0),
    "CMLLClassifierCV": lambda: CMLLClassifierCV(cv=2, decoders=("linear",)),
    "CMLLClassifierCV, logistic": lambda: search(("linear", "logistic")),
    "CMLLClassifierCV, by labels": lambda: search(("linear",), scoring="micro_f1"),
    "GridSearchMoments": lambda: GridSearchMoments(CMLLClassifier(), GRID, cv=2),
    "GridSearchMoments, logistic": lambda: GridSearchMoments(own("logistic"), GRID, cv=2),
    "ShortlistClassifier": lambda: ShortlistClassifier(random_state=0),
    "ShortlistClassifier, few": lambda: ShortlistClassifier(
        n_candidates=3, n_neighbors=7, threshold="per-label", random_state=0
    ),
    **{
        f"ThresholdTuner, {strategy}": lambda s=strategy: ThresholdTuner(
            CMLLClassifier(threshold=0.5), strategy=s, cv=2, random_state=0
        )
        for strategy in ("f1", "top-k")
    },
}
SLOW = (
    *("CMLLClassifierCV, logistic", "CMLLClassifierCV, by labels", "GridSearchMoments, logistic"),
    *("wrong labels, rates estimated", "AutoCompactClassifier"),
)
ALL = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
    for name in (*MADE, "AutoCompactClassifier")
]


def make(name):
    return AutoCompactClassifier(random_state=0) if name not in MADE else MADE[name]()


def names_of(Y):
    return [[f"label {j}" for j in np.flatnonzero(row)] for row in Y]


@pytest.fixture(scope="module")
def data():
    return problem(80, 6, 5)


def scores_and_labels(model, X):
    return dense(model.decision_function(X)), dense(model.predict(X))


def dense(found):
    return found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)


@pytest.mark.parametrize("name", ALL)
def test_values_of_unknown_labels_are_not_read_in_any_form(name, data):
    X, Y, unknown = data
    given = with_nan(Y, unknown)
    garbage = np.where(unknown, np.random.default_rng(1).integers(0, 2, Y.shape), Y)
    frame = pd.DataFrame(given, columns=[f"label {j}" for j in range(5)])
    expected, labels = scores_and_labels(make(name).fit(X, given), X)
    for form, marks in (
        (frame.astype("Int64"), None),
        (garbage, unknown),
        (sparse(1.0 - garbage) + sparse(2 * garbage - 1.0), scipy.sparse.csr_array(unknown)),
        (names_of(garbage), scipy.sparse.coo_array(unknown)),
    ):
        scores, decided = scores_and_labels(make(name).fit(X, form, unknown=marks), X)
        np.testing.assert_allclose(scores, expected, atol=1e-8)
        np.testing.assert_array_equal(decided, labels)


@pytest.mark.parametrize("name", ALL)
def test_with_nothing_hidden_it_is_the_ordinary_fit(name, data):
    X, Y, unknown = data
    expected, labels = scores_and_labels(make(name).fit(X, Y), X)
    nothing = np.zeros_like(unknown)
    for form, marks in ((Y, nothing), (sparse(Y), scipy.sparse.csr_array(nothing))):
        scores, decided = scores_and_labels(make(name).fit(X, form, unknown=marks), X)
        np.testing.assert_allclose(scores, expected, atol=1e-8)
        np.testing.assert_array_equal(decided, labels)


@pytest.mark.parametrize("name", ALL)
def test_a_row_of_which_nothing_is_known_contributes_nothing(name, data):
    """Where rows are divided at random the folds are given here: such rows are in no test part."""
    X, Y, unknown = data
    given = with_nan(Y, unknown)
    more = np.vstack([X, 50.0 * np.random.default_rng(0).normal(size=(7, 6))])
    blank = np.vstack([given, np.full((7, 5), np.nan)])
    folds = np.arange(80) % 3
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    own, other = make(name), make(name)
    if "cv" in own.get_params(deep=False):
        own.set_params(cv=splits)
        blank_rows = np.arange(80, 87)
        other.set_params(cv=[(np.append(train, blank_rows), test) for train, test in splits])
    expected = scores_and_labels(own.fit(X, given), X)
    found = scores_and_labels(other.fit(more, blank), X)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-8)
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_label_that_no_row_knows_counts_as_absent(name, data):
    X, Y, unknown = data
    unknown = unknown.copy()
    unknown[:, 2] = True
    blank = with_nan(Y, unknown)
    absent = blank.copy()
    absent[:, 2] = 0.0
    expected, labels = scores_and_labels(make(name).fit(X, absent), X)
    scores, decided = scores_and_labels(make(name).fit(X, blank), X)
    np.testing.assert_allclose(scores, expected, atol=1e-8)
    np.testing.assert_array_equal(decided, labels)
    if name != "ThresholdTuner, top-k":  # names as many labels as it is asked for
        assert not decided[:, 2].any()


def test_a_vectoriser_before_it_changes_nothing(data):
    _, Y, unknown = data
    words = np.array(["rain", "wind", "sun", "snow", "fog"])
    texts = [" ".join(["day", *words[row > 0]]) for row in Y]
    model = text_classifier(CMLLClassifier(n_label_components=3))
    expected = model.fit(texts, with_nan(Y, unknown)).decision_function(texts)
    garbage = np.where(unknown, 1.0 - Y, Y)
    marked = model.fit(texts, sparse(garbage), tags__unknown=sparse(unknown))
    np.testing.assert_allclose(marked.decision_function(texts), expected, atol=1e-8)
    assert len(predict_labels(marked, texts, k=2)[0]) == 2
    metrics = evaluate(marked, texts, with_nan(Y, unknown))
    scores = marked.decision_function(texts)
    assert metrics["average_precision"] == pytest.approx(
        average_precision(with_nan(Y, unknown), scores)
    )


@pytest.mark.parametrize(
    "name", ["linear, auto", "logistic, per-label", "CMLLClassifierCV", "ShortlistClassifier"]
)
def test_metrics_count_the_known_labels_alone(name, data):
    X, Y, unknown = data
    given = with_nan(Y, unknown)
    model = make(name).fit(X, given)
    predicted = dense(model.predict(X)) > 0
    hit = (predicted & (Y > 0))[~unknown].sum()
    literal = 2 * hit / (predicted[~unknown].sum() + Y[~unknown].sum())
    assert model.evaluate(X, given)["micro_f1"] == pytest.approx(literal)
    assert micro_f1(given, predicted.astype(float)) == pytest.approx(literal)
    whole = Y[~unknown.any(axis=1)]
    assert model.score(X[~unknown.any(axis=1)], whole) == pytest.approx(
        (predicted == (Y > 0))[~unknown.any(axis=1)].all(axis=1).mean()
    )


# ---- refusals -----------------------------------------------------------------------------------


def test_those_that_are_left_do_so_as_well(data):
    X, Y, unknown = data
    given = with_nan(Y, unknown)
    with pytest.raises(ValueError, match="fill these in, or use LEML"):
        related.SLRM().fit(X, given)
    with pytest.raises(ValueError, match="fill the unknown labels"):
        next(scores_on_split(CMLLClassifier(threshold=0.5), [{"alpha": 1.0}], X, given, X))


def test_where_nothing_is_known_there_is_nothing_to_learn(data):
    X, Y, _ = data
    nothing = np.full_like(Y, np.nan)
    for model in (
        CMLLClassifier(),
        CMLLClassifierCV(),
        AutoCompactClassifier(),
        ShortlistClassifier(),
        ThresholdTuner(CMLLClassifier()),
    ):
        with pytest.raises(ValueError, match="nothing to learn from; pass rows with known labels"):
            model.fit(X, nothing)
