"""Errors in blocks: the message names the block, and the model is unchanged."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from compactlearn import CMLLClassifier, CompactClassifier, Original
from compactlearn.core import _memory as memory
from compactlearn.datasets import make_compact
from tests.makers import make_data

X, Y = make_data(120, 8, 5, seed=3)
GOOD = [(X[:50], Y[:50]), (X[50:], Y[50:])]


def refused(blocks, match, error=ValueError, **options):
    """The sentence, with a fitted model that must stay as it was."""
    model = CMLLClassifier(**options)
    model.fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(error, match=match):
        model.fit_blocks(blocks)
    assert vars(model) == before
    assert all(vars(model)[name] is value for name, value in before.items())


def with_value(value, *, sparse=False):
    rows = X.copy()
    rows[77, 3] = value
    rows = scipy.sparse.csr_array(rows) if sparse else rows
    return [(rows[:50], Y[:50]), (rows[50:], Y[50:])]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_reported_with_row_and_column(value, sparse):
    what = "NaN" if np.isnan(value) else "infinity"
    match = f"Block 1, whose first row is row 50 of all: .* {what}.*, first in row 27, column 3"
    refused(with_value(value, sparse=sparse), match)


def test_finite_values_whose_squares_overflow_are_not_called_infinite():
    refused(with_value(1e200), "sum of squares of the features must be a finite number")


@pytest.mark.parametrize(
    ("block", "match"),
    [
        ((X[50:, :7], Y[50:]), "Block 1, .*: every block must have the 8 features .* one has 7"),
        ((X[50:], Y[50:, :4]), "Block 1, .*: every block must have the 5 labels .* one has 4"),
        ((X[50:], Y[50:] * 2), "Block 1, .*: Every label must be 0 or 1, and Y contains 2"),
        ((X[50:], Y[51:]), "Block 1, .*: X and Y must have as many rows"),
        ((X[50:], Y[50:], np.ones(3)), "Block 1, .*sample_weight"),
        ((X[50:], Y[50:], -np.ones(70)), "Block 1, .*sample_weight"),
    ],
)
def test_a_block_that_does_not_fit_is_named(block, match):
    refused([GOOD[0], block], match)


@pytest.mark.parametrize(
    ("blocks", "match", "error"),
    [
        ([], "CMLLClassifier was given no block", ValueError),
        (iter([]), "iterator that has been used up gives none", ValueError),
        ([(X[:0], Y[:0])], "1 blocks without any row", ValueError),
        ([X, Y], "Blocks are tuples .* block 0 is a ndarray", TypeError),
        ([GOOD[0], X], "Blocks are tuples .* block 1 is a ndarray", TypeError),
        ([(X,)], "block 0 is a tuple of 1", TypeError),
        (X, "needs an iterable of blocks .* given a ndarray", TypeError),
        ("file.csv", "open files with compactlearn.datasets.open_blocks", TypeError),
        (3, "needs an iterable of blocks .* given a int", TypeError),
        (lambda: 3, "function that returns one, .* given a int", TypeError),
        ([(X, Y[:, 0])], "Block 0: Y must be a matrix .* binarise", ValueError),
        ([(X[:, 0], Y)], "Block 0: X must be a matrix", ValueError),
        ([(X, Y[:, :0])], "Block 0: Y must be a matrix .* one column", ValueError),
        ([(X, Y, np.zeros(120))], "All sample_weight are zero", ValueError),
    ],
)
def test_arguments_that_are_not_blocks_are_refused(blocks, match, error):
    refused(blocks, match, error)


def test_blocks_that_were_overwritten_are_refused():
    def one_buffer():
        buffer = np.empty((40, 8))
        for start in range(0, 120, 40):
            buffer[:] = X[start : start + 40]
            yield buffer, Y[start : start + 40]

    refused(one_buffer(), "lies in the memory of block 0, .* yield a new array for each block")


def test_an_error_of_the_reader_is_passed_on():
    def broken():
        yield GOOD[0]
        raise OSError("the disk is gone")

    refused(broken(), "the disk is gone", OSError)


# ---- several passes ---------------------------------------------------------------------------

PASSES = {"solver": "randomized", "n_label_components": 3, "n_feature_components": 3}


def test_an_iterator_cannot_be_read_twice():
    refused(iter(GOOD), "an iterator, which can be gone through once; pass .*open_blocks", **PASSES)


def changing(change):
    """Blocks of which a later pass has others."""
    passes = iter(range(10))

    def blocks():
        return GOOD if next(passes) == 0 else change

    return blocks


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ([GOOD[0], (X[50:] + 1, Y[50:])], "in pass 2 block 1 is another"),
        (GOOD[:1], "in pass 2 there were 2 blocks, and now 1"),
        ([(X[:50], 1 - Y[:50]), GOOD[1]], "in pass 2 block 0 is another"),
    ],
)
def test_a_source_that_changes_between_passes(change, match):
    refused(changing(change), match, **PASSES)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"solver": "krylov"}, "solver='krylov' needs all rows at hand"),
        (PASSES | {"n_feature_components": 2}, r"n_feature_components \(2\) must be at least"),
        (PASSES | {"n_feature_components": None}, "the features must be projected"),
        (PASSES | {"n_label_components": None}, "the labels must have codes"),
        (
            PASSES | {"n_feature_components": "auto", "n_label_components": 5},
            "no principal directions beyond the 5 codes",
        ),
    ],
)
def test_unsupported_parameters_are_refused_before_anything_is_read(options, match):
    with pytest.raises(ValueError, match=match):
        CMLLClassifier(**options).fit_blocks(GOOD)


# ---- what cannot be learnt from blocks --------------------------------------------------------


@pytest.mark.parametrize("name", ["regressor", "feature_map"])
def test_regressors_and_feature_maps_need_rows(name):
    part = Ridge() if name == "regressor" else StandardScaler()
    with pytest.raises(ValueError, match=rf"{name}=.*\(\) was given; set {name}=None"):
        CompactClassifier(**{name: part}).fit_blocks(GOOD)


@pytest.mark.parametrize("options", [{"decoder": "logistic"}, {"threshold": "f1"}])
def test_too_few_rows_to_hold_any_out(options):
    with pytest.raises(ValueError, match="there are too few rows for that"):
        CMLLClassifier(**options).fit_blocks([(X[:16], Y[:16])])
    assert CMLLClassifier().fit_blocks([(X[:16], Y[:16])]).threshold_ == 0.5


def test_labels_in_addition_to_blocks_are_refused():
    from compactlearn.scale._fit_local import ArrayBlocks

    with pytest.raises(ValueError, match="contain their labels and weights, so y must be None"):
        CMLLClassifier().fit(ArrayBlocks(X, Y), Y)


# ---- memory -----------------------------------------------------------------------------------


def test_moments_that_do_not_fit_are_refused_with_the_estimate(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"13 columns .* from moments needs about 10\.6 KiB .*"):
        CompactClassifier(Original(), threshold=0.5).fit_blocks(GOOD)
    with pytest.raises(MemoryError, match="solver='randomized', which goes through the blocks"):
        CMLLClassifier(n_label_components=3, n_feature_components=3).fit_blocks(GOOD)


def test_codes_that_do_not_fit_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="Finding codes of 8 features and 5 labels by passes"):
        CMLLClassifier(**PASSES).fit_blocks(GOOD)
    data = make_compact(60, 30, 40, random_state=0)
    model = CMLLClassifier(solver="randomized")
    with pytest.raises(MemoryError, match=r"fewer n_label_components, or threshold=0\.5"):
        model.fit_blocks([(data.X, data.Y)])
