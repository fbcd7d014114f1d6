"""Estimates of seconds and memory: what they say beforehand, and how far they are off."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import ShortlistClassifier
from compactlearn.core import _memory as memory
from compactlearn.shortlist import _estimates as estimates
from compactlearn.shortlist._estimates import FitSizes

RECORD = Path(__file__).parents[2] / "bench" / "results" / "estimates.json"
MEASURED = json.loads(RECORD.read_text("utf-8"))["measurements"]
X = sp.csr_array(sp.random(60, 30, 0.2, random_state=0, format="csr"))
Y = sp.csr_array(np.random.default_rng(0).random((60, 8)) < 0.2)


@pytest.mark.parametrize(("what", "most"), [("COMPILED_SECONDS", 2.0), ("BYTES", 1.5)])
def test_estimates_of_shapes_that_were_not_fitted(what, most):
    """The record has what was measured; the coefficients are those of the module."""
    checked = [
        row
        for row in MEASURED
        if row["what"] == what and row["part"] == "checked" and row["rows"] >= 2_000
    ]
    assert len(checked) >= 10
    for row in checked:
        shape = FitSizes(**row["shape"])
        sizes = shape.arrays if what == "BYTES" else shape.work
        ratio = float(sizes @ getattr(estimates, what)) / row["measured"]
        assert ratio == pytest.approx(row["ratio"], rel=0.05)
        assert 1 / most <= ratio <= most, (row["data"], row["rows"], row["labels"])


def test_sizes_of_sparse_and_of_dense_rows():
    full = sp.csr_array(np.ones((60, 30)))
    assert FitSizes.of(full, Y) == FitSizes.of(full.toarray(), Y)
    assert FitSizes.of(full, Y).squares == 30 * 60**2
    assert FitSizes.of(X, Y).stored == X.nnz
    assert FitSizes.of(X, Y).n_candidates == 8
    more = FitSizes.of(sp.vstack([X] * 50, format="csr"), sp.vstack([Y] * 50, format="csr"))
    assert more.seconds > FitSizes.of(X, Y).seconds > 0
    assert more.n_bytes > FitSizes.of(X, Y).n_bytes > 0


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_large_fit_is_announced(monkeypatch, capsys, verbose):
    monkeypatch.setattr(FitSizes, "seconds", 200.0)
    monkeypatch.setattr(FitSizes, "n_bytes", 3 * 2**29)
    ShortlistClassifier(random_state=0, verbose=verbose).fit(X, Y)
    said = "ShortlistClassifier: the fit will take about 3 minutes and 1.5 GiB of memory.\n"
    assert capsys.readouterr().err == said * verbose


def test_a_fit_that_does_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr(FitSizes, "n_bytes", 3 * 2**29)
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    said = (
        "A fit of ShortlistClassifier to these rows needs about 1.5 GiB of memory, but only "
        "1.0 GiB are available. Pass fewer rows, a smaller n_candidates, or a larger "
        "min_label_count."
    )
    with pytest.raises(MemoryError, match=re.escape(said)):
        ShortlistClassifier().fit(X, Y)
