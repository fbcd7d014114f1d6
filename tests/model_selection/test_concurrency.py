"""Searches and fits in several threads: nothing of the process is left changed or mixed up."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from compactlearn import CMLLClassifier, CMLLClassifierCV, CompactClassifier, method
from compactlearn.core import _threads as threads
from compactlearn.model_selection import GridSearchMoments

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 6))
Y = X[:, :4] + rng.standard_normal((80, 4)) > 0.3


def process_state():
    return (
        list(warnings.filters),
        warnings.showwarning,
        [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"],
    )


@pytest.fixture
def undecided(monkeypatch):
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_says_once_what_every_fold_would_repeat(n_jobs):
    """More components than there are: each fold, and the last fit, have fewer."""
    twice = np.hstack([Y, Y])
    search = GridSearchMoments(
        CMLLClassifier(n_label_components=8, beta=0.0, decoder="logistic"),
        {"alpha": [0.1, 10.0]},
        cv=2,
        n_jobs=n_jobs,
        refit=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, twice)
    with pytest.warns(UserWarning, match="label components were asked for"):
        CMLLClassifier(n_label_components=8, beta=0.0).fit(X, twice)


MODELS = {
    "cmll": lambda: CMLLClassifier(n_label_components=3),
    "dual": lambda: CMLLClassifier(n_label_components=2, solver="dual"),
    "logistic": lambda: CMLLClassifier(n_label_components=3, decoder="logistic", threshold="f1"),
    "plst": lambda: method("PLST"),
    "faie": lambda: method("k-FaIE"),
    "original": lambda: CompactClassifier(),
    "search": lambda: CMLLClassifierCV(cv=2, random_state=0),
}


def test_fits_in_many_threads_give_what_they_give_one_by_one(undecided):
    before = process_state()
    jobs = [(name, seed) for seed in range(3) for name in MODELS]

    def scores(job):
        name, seed = job
        order = np.random.default_rng(seed).permutation(len(X))
        return MODELS[name]().fit(X[order], Y[order]).decision_function(X)

    alone = [scores(job) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(scores, jobs))
    for job, one, other in zip(jobs, alone, together, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10, err_msg=str(job))
    assert process_state() == before
