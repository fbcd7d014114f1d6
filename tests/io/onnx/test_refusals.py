"""Models that cannot be exported raise an error, and leave the old file as it was."""

import re
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    CompactClassifier,
    Original,
    ShortlistClassifier,
    ThresholdTuner,
    to_onnx,
)
from compactlearn.io.onnx import _graph as graphs
from tests.io.onnx.running import BOUNDS, assert_same
from tests.makers import make_data


def linear_kernel(A, B):
    return A @ B.T


@pytest.fixture(scope="module")
def data():
    return make_data(60)


def test_a_shortlist_names_its_sparse_part_and_the_way_out(data):
    X, Y = data
    model = ShortlistClassifier(random_state=0).fit(np.abs(X), Y)
    sentence = "no operators for sparse rows. Export its compact part, to_onnx(model.retriever_)"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        model.to_onnx()
    retriever = model.retriever_
    assert_same(retriever, to_onnx(retriever), np.abs(X), BOUNDS["float32"])
    auto = AutoCompactClassifier(time_budget=0.01, cv=2, random_state=0).fit(X, Y)
    auto.blend_ = type(auto.blend_)((type(auto.blend_.members[0])("short", model, lambda s: s),))
    with pytest.raises(ValueError, match="cannot write ShortlistClassifier"):
        to_onnx(auto)


def test_parts_that_skl2onnx_does_not_know(data):
    X, Y = data
    strange = FunctionTransformer(np.cbrt)
    for model in (make_pipeline(strange, CMLLClassifier()), CMLLClassifier(feature_map=strange)):
        with pytest.raises(
            ValueError, match=r"cannot write FunctionTransformer .* leave this part"
        ):
            to_onnx(model.fit(X, Y))


def test_classifiers_of_others(data):
    X, Y = data
    other = OneVsRestClassifier(LogisticRegression())
    for model in (other, ThresholdTuner(other, cv=2)):
        model.fit(X, Y)
        with pytest.raises(ValueError, match="was given OneVsRestClassifier; pass one of these"):
            to_onnx(model)
    with pytest.raises(ValueError, match="was given int; pass one of these"):
        to_onnx(3)


def test_numbers_that_make_no_sense(data):
    X, Y = data
    model = CMLLClassifier().fit(X, Y)
    for topk in (0, 6, 2.5, True):
        with pytest.raises(
            ValueError, match=r"topk must be between 1 and the number of labels \(5\)"
        ):
            to_onnx(model, topk=topk)
    with pytest.raises(ValueError, match="'float32' or 'float64', and is 'float16'; pass one"):
        to_onnx(model, dtype="float16")
    binary = CMLLClassifier().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="two classes have a single score; leave topk out"):
        to_onnx(binary, topk=1)


def test_classes_that_onnx_has_no_type_for(data):
    X, Y = data
    y = np.empty(len(Y), dtype="datetime64[D]")
    y[:] = np.where(Y[:, 0] > 0, np.datetime64("2020-01-01"), np.datetime64("2021-01-01"))
    model = CMLLClassifier().fit(X, y)
    with pytest.raises(ValueError, match="integers, numbers or strings"):
        to_onnx(model)


def test_a_model_that_no_file_holds(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr(graphs, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match=r"holds at most 100 B, .*compress\('float16'\)"):
        to_onnx(CompactClassifier(Original()).fit(X, Y))


def test_a_graph_that_differs_is_not_written(data, tmp_path):
    """Rows of features beyond single precision: the check says so, and the old file stays."""
    X, Y = data
    X = X + 1e9  # whose differences float32 does not have
    model = CMLLClassifier(alpha=1e-3).fit(X, Y)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"before")
    sentence = r"differs by up to .* on \d+ of 60 rows, .* export with dtype='float64'"
    with pytest.raises(ValueError, match=sentence):
        to_onnx(model, path, check=X)
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_what_is_missing_is_named(data, monkeypatch):
    X, Y = data
    model = CMLLClassifier().fit(X, Y)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        ImportError, match=r"Checking an exported model needs .*compactlearn\[onnx\]"
    ):
        to_onnx(model, check=X)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"Export to ONNX needs the package 'onnx'"):
        to_onnx(model)
