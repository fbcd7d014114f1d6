"""The demo is a spec of the benchmark, and some rows with the words that speak for their labels."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn_bench import cells_of, demo, run
from compactlearn_bench.demo import demonstrate, explained, label_words, spec
from compactlearn_bench.harness.execute import fold_rows
from compactlearn_bench.records import Store

HELPERS = Path(__file__).parent / "helpers"
METHODS = ["Auto", "ridge", "one-vs-rest", "random forest"]
BOUNDED = {"Auto, 20 %": 0.2, "Auto, 10 %": 0.1}


@pytest.fixture(scope="module")
def enron():
    return load("enron")


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("demo"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HELPERS)
        from forked import fork_worker

        patch.setattr(demo, "run", partial(run, launcher=fork_worker))
        return demonstrate(spec(2, 1, quick=True), store, workers=1)


def test_every_method_has_its_scores(result):
    assert result.methods == [*METHODS, *BOUNDED]
    for method in result.methods:
        for metric in result.spec.metrics:
            score = result.score(method, metric)
            assert len(score.values) == 2
            assert all(0 <= value <= 1 for value in score.values)
        assert result.training_seconds[method] > 0


def test_nothing_is_set_for_auto_but_its_size():
    """Settings that every cell has do not count; Auto does not use the inner folds."""
    common = {"entry", "metrics", "inner_folds"}
    for cell in cells_of(spec()):
        if cell.method.startswith("Auto"):
            given = {key for key, value in cell.settings.items() if value is not None} - common
            assert given == ({"size_budget"} if cell.method in BOUNDED else set())


def test_ridge_is_ridge_on_these_folds(result, enron):
    expected = []
    for cell in cells_of(result.spec):
        if cell.method == "ridge":
            used, train, test = fold_rows(cell, enron.n_samples)
            X, Y = enron.X[used].toarray(), enron.Y[used].toarray()
            model = Ridge(alpha=100.0).fit(X[train], Y[train])
            expected.append(average_precision(Y[test], model.predict(X[test])))
    # Labels that no training row has score 0 but for rounding, which decides among them.
    values = result.score("ridge", "average_precision").values
    np.testing.assert_allclose(values, expected, atol=1e-4)


def test_sizes_are_within_what_was_asked(result, enron):
    whole = enron.n_features * enron.n_labels
    for method, share in BOUNDED.items():
        for size in result.score(method, "average_precision").sizes:
            assert size <= share * whole
    assert result.n_parameters("ridge") == whole + enron.n_labels
    sizes = [result.n_parameters(method) for method in BOUNDED]
    assert sizes == sorted(sizes, reverse=True)


# ---- rows, labels and words ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "meaning", "word"),
    [
        ("C.C6", "California's energy crisis", "california"),
        ("D.D10", "secrecy", "confidential"),
    ],
)
def test_words_of_labels_mean_what_their_mails_are_about(enron, code, meaning, word):
    """A key that was shifted by one would not have them: the word is one of the ten that are more
    frequent in mails with the label than in others by most."""
    assert label_words()[code] == meaning
    has = enron.Y.toarray()[:, enron.label_names.index(code)] > 0
    more = np.ravel(enron.X[has].mean(axis=0)) - np.ravel(enron.X[~has].mean(axis=0))
    assert word in [enron.feature_names[j] for j in np.argsort(-more)[:10]]


def test_the_mails_are_the_first_that_were_new(result, enron):
    cell = cells_of(result.spec)[0]
    used, _, test = fold_rows(cell, enron.n_samples)
    assert [mail.row for mail in result.mails] == used[test[:5]].tolist()
    words = label_words()
    for mail in result.mails:
        present = np.flatnonzero(enron.Y[[mail.row]].toarray()[0])
        assert mail.true == tuple(words[enron.label_names[k]] for k in present)
        right = [guess.label for guess in mail.guesses if guess.right]
        assert sorted([*right, *mail.missed]) == sorted(mail.true)


def test_words_are_the_largest_terms_of_the_score(enron):
    model = CMLLClassifier(decoder="logistic").fit(enron.X[:300], enron.Y[:300])
    rows = np.arange(300, 305)
    scores, labels = model.decision_function(enron.X[rows]), model.predict(enron.X[rows])
    names = np.array(enron.feature_names)
    for place, mail in enumerate(explained(model, enron, rows)):
        x = enron.X[[mail.row]].toarray()[0]
        assert len(mail.guesses) == labels[place].sum()
        for guess, k in zip(mail.guesses, np.flatnonzero(labels[place]), strict=True):
            without = []
            for j in np.flatnonzero(x):  # the score as it would be without the word
                other = x.copy()
                other[j] = 0.0
                fallen = scores[place, k] - model.decision_function(other[None])[0, k]
                without.append((fallen, names[j]))
            most = sorted(without, reverse=True)[:3]
            assert set(guess.words) == {word for fallen, word in most if fallen > 0}
