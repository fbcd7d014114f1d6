"""Scores on one split are those of separate fits, each given once."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import ParameterGrid

from compactlearn import (
    CMLL,
    MDDM,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
)
from compactlearn.compact import PaperClassifier
from compactlearn.model_selection import scores_on_split

from .helpers import make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# Thresholds in numbers: "auto" would be tuned, by a fit of its own for every candidate. Methods
# with an intercept are those of test_engine.py.
CASES = {
    "CMLL": (
        CompactClassifier(CMLL(completion="krylov", offset="none"), threshold=0.5),
        {
            "embedding__beta": [0.1, 5.0],
            "embedding__n_label_components": [0.5, 1.0],
            "embedding__n_feature_components": [2, 0.6, None],
            "alpha": [0.1, 10.0],
        },
    ),
    "no intercept": (
        PaperClassifier(CMLL(), threshold=0.5),
        {
            "embedding__n_label_components": [0.5, 1.0],
            "embedding__n_feature_components": [2, 0.6, "auto", None],
            "alpha": [1e-5, 10.0],
            "embedding__label_ridge": [0.0, 0.5],
        },
    ),
    "no intercept, no offset": (
        PaperClassifier(CMLL(offset="none", solver="dual"), threshold=0.5),
        {
            "embedding__n_feature_components": [2, None],
            "alpha": [0.1, 10.0],
            "embedding__label_ridge": [0.0, 0.5],
        },
    ),
    "no intercept, MDDM": (
        PaperClassifier(MDDM(completion="krylov"), scale=True, threshold=0.5),
        {"embedding__n_feature_components": [2, 7], "alpha": [0.1, 10.0]},
    ),
    "no intercept, kernel": (
        PaperClassifier(MDDM(completion="krylov"), feature_map=KernelMap(), threshold=0.5),
        {"embedding__n_feature_components": [2, 7, 30], "alpha": [0.1, 1.0]},
    ),
    "no intercept, nystroem": (
        PaperClassifier(
            CMLL(),
            threshold=0.5,
            feature_map=KernelMap(algorithm="nystroem", n_components=15, random_state=1),
        ),
        {"embedding__n_label_components": [2, 4], "alpha": [0.1, 1.0]},
    ),
    "another learner": (
        CompactClassifier(MDDM(), regressor=KernelRidge(alpha=0.3), threshold=0.5),
        {"embedding__n_feature_components": [2, 4]},
    ),
    "tuned": (CMLLClassifier(threshold="f1"), {"alpha": [0.1, 10.0]}),
    "logistic": (CMLLClassifier(decoder="logistic"), {"n_feature_components": [3, None]}),
    "a route": (
        CMLLClassifier(threshold=0.5, solver="dual"),
        {"alpha": [0.1, 10.0], "beta": [0.5, 1.0]},
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("device", [None, "cpu"])
def test_scores_of_separate_fits(case, sparse, device):
    """With a device, of PyTorch, none but rows and scores pass between it and NumPy: an array on a
    device refuses to be read."""
    estimator, grid = CASES[case]
    X, Y = make_data(60, 9, 6, density=0.5 if sparse else None)
    X = sp.csr_array(X) if sparse else X
    candidates = list(ParameterGrid(grid))
    seen = []
    for part in scores_on_split(estimator, candidates, X[:40], Y[:40], X[40:], device):
        seen += part.indices
        for index in part.indices:
            model = clone(estimator).set_params(**candidates[index]).fit(X[:40], Y[:40])
            np.testing.assert_allclose(part.scores, model.decision_function(X[40:]), atol=1e-8)
            labels = part.scores > part.threshold
            np.testing.assert_array_equal(labels, model.predict(X[40:]) > 0)
            embedding = model.embedding_
            if embedding.projection_ is None:
                assert part.n_features is None
            else:
                assert part.n_features == embedding.n_feature_components_
            assert part.n_codes in (None, embedding.n_label_components_)
    assert sorted(seen) == list(range(len(candidates)))


def test_refusals():
    X, Y = make_data(40, 6, 4)
    with pytest.raises(ValueError, match="needs a matrix of labels"):
        scores_on_split(CMLLClassifier(), [{}], X, Y[:, 0], X)
    with pytest.raises(ValueError, match="features"):
        scores_on_split(CMLLClassifier(), [{}], X, Y, X[:, :3])
    with pytest.raises(ValueError, match="alpha"):
        scores_on_split(CMLLClassifier(), [{"alpha": -1.0}], X, Y, X)
    with pytest.raises(ValueError, match="what PyTorch calls one, such as"):
        list(scores_on_split(CMLLClassifier(threshold=0.5), [{}], X, Y, X, "gpu"))
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="'cuda' was asked for, but PyTorch finds no CUDA"):
            list(scores_on_split(CMLLClassifier(threshold=0.5), [{}], X, Y, X, "cuda"))
