"""Agreement with scikit-learn and napkinXC, which share no code with this package."""

import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from compactlearn import metrics as ours

from .data import probabilities, problems, random_problem, same, steady

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    # scikit-learn divides by zero on its way in rows without labels.
    pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn"),
]

many = settings(steady, max_examples=60)  # of up to 40 rows each


@pytest.mark.parametrize("seed", range(10))
def test_ranking_metrics_of_scikit_learn_where_the_conventions_coincide(seed):
    """Without equal scores, on rows with a present and an absent label."""
    truth, scores = random_problem(seed, n_labels=2 + seed % 9, levels=0, share=0.4)
    n_present = truth.sum(axis=1)
    kept = (n_present > 0) & (n_present < truth.shape[1])
    Y, S = truth[kept].astype(int), scores[kept]
    for mine, other in (
        (ours.average_precision, theirs.label_ranking_average_precision_score),
        (ours.ranking_loss, theirs.label_ranking_loss),
        (lambda Y, S: ours.coverage(Y, S) + 1, theirs.coverage_error),
        (lambda Y, S: ours.ndcg_at_k(Y, S, 2), lambda Y, S: theirs.ndcg_score(Y, S, k=2)),
    ):
        assert same(mine(Y, S), other(Y, S))
    assert ours.average_precision(truth, scores) == ours.average_precision(Y, S)


@many
@given(problems(min_labels=2), st.sampled_from([-1.0, -0.25, 0.0, 0.5, 99.0]))
def test_label_metrics_of_scikit_learn(problem, threshold):
    truth, labels = problem[0].astype(int), (problem[1] > threshold).astype(int)
    for mine, average in (
        (ours.micro_f1, "micro"),
        (ours.macro_f1, "macro"),
        (ours.example_f1, "samples"),
    ):
        expected = theirs.f1_score(truth, labels, average=average, zero_division=0)
        assert same(mine(truth, labels), expected), average
    assert same(ours.hamming_loss(truth, labels), theirs.hamming_loss(truth, labels))
    assert same(ours.subset_accuracy(truth, labels), theirs.accuracy_score(truth, labels))


@many
@given(problems(min_labels=2), st.data())
def test_f1_of_the_best_labels_is_the_sample_average_of_scikit_learn(problem, data):
    truth, scores = problem
    k = data.draw(st.integers(1, truth.shape[1]))
    best = np.zeros(truth.shape, dtype=int)
    np.put_along_axis(best, np.argsort(-scores, axis=1, kind="stable")[:, :k], 1, axis=1)
    expected = theirs.f1_score(truth.astype(int), best, average="samples", zero_division=0)
    assert same(ours.f1_at_k(truth, scores, k), expected)


@pytest.mark.parametrize("seed", range(4))
def test_log_loss_is_the_mean_of_scikit_learns_over_the_labels(seed):
    truth, scores = random_problem(seed, levels=0)
    P = probabilities(scores / 10)
    one_by_one = [theirs.log_loss(y, p, labels=[0, 1]) for y, p in zip(truth.T, P.T, strict=True)]
    assert same(ours.log_loss(truth, P), np.mean(one_by_one))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("stored", [0.05, 0.3, 1.0], ids=["few", "some", "all"])
def test_best_labels_and_propensities_of_napkinxc(seed, stored):
    napkinxc = pytest.importorskip("napkinxc.metrics")
    truth, scores = random_problem(seed, 60, 25, levels=0, share=0.15)
    kept = np.random.default_rng(seed).random(truth.shape) < stored
    S = sparse.csr_matrix(np.where(kept, scores - scores.min() + 1, 0))
    Y = sparse.csr_matrix(truth)
    train = (np.random.default_rng(99).random((50, 25)) < 0.2).astype(int)
    w = ours.inverse_propensities(train, A=0.5, B=0.4)
    np.testing.assert_allclose(
        w, napkinxc.Jain_et_al_inverse_propensity(train, A=0.5, B=0.4), rtol=1e-14
    )
    expected = {
        "precision": napkinxc.precision_at_k(Y, S, k=7),
        "ndcg": napkinxc.ndcg_at_k(Y, S, k=7),
        "psp": napkinxc.psprecision_at_k(Y, S, w, k=7),
        "psndcg": napkinxc.psndcg_at_k(Y, S, w, k=7),
    }
    for k in range(1, 8):
        for form in (Y, truth):
            assert same(ours.precision_at_k(form, S, k), expected["precision"][k - 1])
            assert same(ours.ndcg_at_k(form, S, k), expected["ndcg"][k - 1])
            assert same(ours.psp_at_k(form, S, k, weights=w), expected["psp"][k - 1])
            assert same(ours.psndcg_at_k(form, S, k, weights=w), expected["psndcg"][k - 1])
