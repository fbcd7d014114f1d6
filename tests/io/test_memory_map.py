"""A mapped model reads no more of its file than it needs, and copies nothing of it."""

import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import CMLLClassifier, load_model

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux which pages are there")


def resident(path):
    """Bytes of a mapped file that are in this process's memory."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            inside = line.endswith(str(path))
        elif inside and words[0] == "Rss:":
            total += 1024 * int(words[1])
    return total


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A model of 22 MB whose file counts as a large one, and how it is loaded."""
    monkeypatch.setattr("compactlearn.core._tensor_file.ALWAYS_WHOLE", 1000)
    rng = np.random.default_rng(0)
    X = sp.random_array((150, 30_000), density=0.01, format="csr", rng=rng)
    Y = sp.random_array((150, 300), density=0.1, format="csr", rng=rng)
    Y.data[:] = 1.0
    model = CMLLClassifier(90, 90, solver="dual", threshold=0.5).fit(X, Y)
    model.save(tmp_path / "model")
    return model, tmp_path / "model", X


def test_one_sparse_row_reads_a_small_part(large):
    model, path, X = large
    size = path.stat().st_size
    loaded = load_model(path)
    assert size > 2e7
    assert resident(path) < 0.05 * size
    row = X[[0]].copy()
    row.data[8:] = 0.0
    row.eliminate_zeros()
    labels, scores = loaded.predict_topk(row, 5)
    assert resident(path) < 0.25 * size, "a row of eight features has read most of the file"
    expected = model.predict_topk(row, 5)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_array_equal(scores, expected[1])
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_large_arrays_lie_in_the_file_where_they_are_aligned(large):
    _, path, _ = large
    loaded = load_model(path)
    factors = loaded.parts_.linear.factors
    for array in (loaded.embedding_.projection_, *factors):
        whole = array
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        assert not whole.flags.owndata, "this is a copy"
        assert array.__array_interface__["data"][0] % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        loaded.embedding_.projection_[0, 0] = 1.0


def test_the_check_of_a_saved_model_needs_little_memory(large):
    """It maps the large arrays, and leaves nothing behind."""
    model, path, _ = large
    tracemalloc.start()
    model.save(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * path.stat().st_size
    assert not resident(path)
