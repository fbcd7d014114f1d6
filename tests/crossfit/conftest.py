"""Fixtures for tests of decoders and of out-of-fold codes."""

import pytest

from compactlearn.crossfit import _decoder_fitter as decisions
from compactlearn.crossfit._cross_fit import CrossFit


@pytest.fixture
def cross_fit_of(monkeypatch):
    """Fit a classifier and return the CrossFit that its decoder and threshold come from."""
    seen = []

    class Kept(CrossFit):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            seen.append(self)

    monkeypatch.setattr(decisions, "CrossFit", Kept)

    def fit(model, X, Y, **options):
        model.fit(X, Y, **options)
        return seen[-1]

    return fit
