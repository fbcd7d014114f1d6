"""Sizes within a budget: every model that is listed keeps no more numbers than that."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CompactClassifier
from compactlearn.model_selection._sizes import sizes_within
from tests.makers import labelled, modest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@given(
    n_features=st.integers(1, 30),
    n_labels=st.integers(2, 12),
    share=st.floats(0.0, 1.3),
    sparse=st.booleans(),
    seed=st.integers(0, 10**6),
)
@modest
def test_fitted_models_are_within_the_budget(n_features, n_labels, share, sparse, seed):
    X, Y = labelled(30, n_features, n_labels, seed, density=0.5 if sparse else None)
    budget = share * n_features * n_labels
    for setting in sizes_within(budget, n_features, n_labels):
        model = CompactClassifier(setting.make(), alpha="auto", threshold=0.5)
        model.fit(sp.csr_array(X) if sparse else X, Y)
        assert model.numbers_ <= setting.numbers(n_features, n_labels) <= budget


@given(n_features=st.integers(1, 400), n_labels=st.integers(2, 400), share=st.floats(0, 1.2))
@modest
def test_the_largest_rank_that_fits_is_among_them(n_features, n_labels, share):
    """The first model listed is as large as can be: one direction more is beyond the budget, or
    there is none."""
    D, M = n_features, n_labels
    budget = share * D * M
    found = sizes_within(budget, D, M)
    ranks = [setting.n_label_components for setting in found if setting.embedding == "CPLST"]
    largest = max(ranks, default=0)
    assert largest * (D + M) + M <= budget or not largest
    assert (largest + 1) * (D + M) + M > budget or largest == min(D, M)
    assert ("Original" in {setting.embedding for setting in found}) == (D * M + M <= budget)
    assert len(set(found)) == len(found)


def test_logistic_decoders_count_the_same():
    X, Y = labelled(60, 20, 8, 0)
    budget = 0.5 * 20 * 8
    (first, *_) = sizes_within(budget, 20, 8)
    assert first == ("CPLST", None, 2)
    model = CompactClassifier(first.make(), decoder="logistic", alpha="auto").fit(X, Y)
    assert model.numbers_ == first.numbers(20, 8) == 2 * 28 + 8
    assert np.isfinite(model.decision_function(sp.csr_array(X))).all()
