"""Sizes that follow from the memory there is, and the plan of a fit."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import CMLLClassifier
from compactlearn.compact import _preparation as preparation
from compactlearn.compact._preparation import affordable
from compactlearn.core import _memory as memory
from compactlearn.crossfit import _decoder_fitter as decoder_fitter
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import FEWEST_AUTO, LARGEST_AUTO
from compactlearn.linalg import _build as build
from compactlearn.linalg._routes import Shape, needed_bytes
from tests.makers import labelled

LARGE = Shape(43_544, 24_433, 17_829, 2_000_000, 100_000, left_sparse=True)


def components_of(monkeypatch, free, shape=LARGE, **options):
    """Return the number of label components of a fit, the bytes it needs, and its warnings."""
    monkeypatch.setattr(memory, "available_bytes", lambda: free)
    embedding = CMLL(**options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        affordable(embedding, shape, shape.n_left, learns=True)
    plan = embedding.plan(shape.n_left, shape.n_right, shape.n_left)
    needs = min(needed_bytes(shape, plan).values())
    return plan.n_codes, needs, [str(warning.message) for warning in said]


def test_many_labels_fit_in_three_gigabytes(monkeypatch):
    size, needs, said = components_of(monkeypatch, 3 * 2**30)
    assert size == LARGEST_AUTO
    assert needs < 3 * 2**30
    assert not said


def test_fewer_where_there_is_less_memory(monkeypatch):
    size, needs, said = components_of(monkeypatch, 2**29)
    assert FEWEST_AUTO < size < LARGEST_AUTO
    assert needs <= 2**29
    assert len(said) == 1
    assert "500 label components, the default for 17829 labels, would not fit" in said[0]
    assert f"{size} are used" in said[0]


@pytest.mark.parametrize("free", [0, None])
def test_never_fewer_than_a_few_nor_where_nothing_is_known(free, monkeypatch):
    size, _, _ = components_of(monkeypatch, free)
    assert size == (FEWEST_AUTO if free == 0 else LARGEST_AUTO)


@pytest.mark.parametrize("asked", [300, 0.5])
def test_what_was_asked_for_stays(asked, monkeypatch):
    size, _, said = components_of(monkeypatch, 1000, n_label_components=asked)
    assert size == (300 if asked == 300 else 8915)
    assert not said


def test_a_classifier_uses_what_fits_and_its_parameter_stays(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 200), density=0.05, rng=rng, format="csr")
    Y = sp.csr_array((rng.random((300, 120)) < 0.05).astype(float))
    needs = needed_bytes(Shape.of(X, Y), CMLL(n_label_components=30).plan(200, 120, 200))
    monkeypatch.setattr(memory, "available_bytes", lambda: min(needs.values()) + 1)
    with pytest.warns(UserWarning, match="30 are used"):
        model = CMLLClassifier(threshold=0.5).fit(X, Y)
    assert model.embedding_.n_label_components_ == 30
    assert model.n_label_components == "auto"


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
