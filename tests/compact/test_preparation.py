"""The plan of a fit: made once, and refused where memory is short."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import CMLLClassifier
from compactlearn.compact import _preparation as preparation
from compactlearn.core import _memory as memory
from compactlearn.crossfit import _decoder_fitter as decoder_fitter
from compactlearn.embeddings._cmll import CMLL
from compactlearn.linalg import _build as build
from compactlearn.linalg._routes import Shape, needed_bytes
from tests.makers import labelled


def test_components_that_do_not_fit_are_refused_with_what_to_do(monkeypatch):
    """The number of codes never depends on the memory that is free."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 200), density=0.05, rng=rng, format="csr")
    Y = sp.csr_array((rng.random((300, 120)) < 0.05).astype(float))
    needs = needed_bytes(Shape.of(X, Y), CMLL(n_label_components=30).plan(200, 120, 200))
    monkeypatch.setattr(memory, "available_bytes", lambda: min(needs.values()) + 1)
    with pytest.raises(MemoryError, match="fewer components"):
        CMLLClassifier(threshold=0.5).fit(X, Y)
    CMLLClassifier(n_label_components=30, threshold=0.5).fit(X, Y)


def test_a_fit_is_planned_once(monkeypatch):
    """Its route for all rows, and its folds: refits of folds take the route of all rows."""
    calls = []

    def count(module, name):
        plain = getattr(module, name)
        counted = lambda *args, **options: calls.append(name) or plain(*args, **options)  # noqa: E731
        monkeypatch.setattr(module, name, counted)

    count(preparation, "plan_route")
    count(build, "choose")
    count(build, "seconds")
    count(decoder_fitter, "planned_work")
    for model in (CMLLClassifier(), CMLLClassifier(decoder="logistic", scale=True)):
        calls.clear()
        model.fit(*labelled(60, 8, 5, 0))
        assert sorted(calls) == ["choose", "plan_route", "planned_work", "seconds"]
