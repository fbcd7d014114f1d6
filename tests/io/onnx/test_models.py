"""A graph says what the model says, whatever the model is made of."""

import json

import numpy as np
import onnx
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import compactlearn
from compactlearn import (
    CMLL,
    CPLST,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    Original,
    ThresholdTuner,
    to_onnx,
)
from compactlearn.auto._blend import Blend, Member, Reading
from compactlearn.auto._forest import LabelForest
from compactlearn.compact import PaperClassifier
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.compact._quick_svm import QuickSVM
from compactlearn.datasets import load
from tests.io.onnx.running import BOUNDS, assert_same, run, single
from tests.makers import labelled, modest

TYPES = ["float32", "float64"]


@pytest.fixture(scope="module")
def data():
    X, Y = labelled(90, 8, 5, seed=3, scale=True)
    return single(X), Y


LINEAR = {
    "CMLL": CompactClassifier(CMLL(3, 2)),
    "CMLL, logistic": CompactClassifier(CMLL(), decoder="logistic", threshold="per-label"),
    "CPLST": CompactClassifier(CPLST(2)),
    "Original": CompactClassifier(Original()),
    "scaled columns": CMLLClassifier(scale=True, threshold=[0.1, 0.2, 0.3, 0.4, 0.5]),
    "no intercept": PaperClassifier(),
    "scaled before": make_pipeline(StandardScaler(), CMLLClassifier(decoder="logistic")),
    "unit rows": make_pipeline(Normalizer(), "passthrough", CMLLClassifier()),
    "within 0 and 1": CMLLClassifier(feature_map=MinMaxScaler()),
    "foreign ridge": CompactClassifier(regressor=Ridge()),
    "one target at a time": CompactClassifier(CMLL(None, 2), regressor=Lasso(1e-3), scale=True),
    "trees": CompactClassifier(PLST(2), regressor=ExtraTreesRegressor(5, random_state=0)),
}
KERNELS = {
    "rbf": KernelMap(),
    "poly": KernelMap("poly", degree=2),
    "linear": KernelMap("linear"),
    "cosine": KernelMap("cosine"),
    "landmarks": KernelMap(algorithm="nystroem", n_components=20, random_state=0),
    "leading features": KernelMap(n_components=10),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", LINEAR)
def test_linear_models(data, name, dtype):
    X, Y = data
    model = LINEAR[name].fit(X, Y)
    trees = name == "trees"  # whose leaves ONNX has in single precision
    topk = 3 if hasattr(model, "predict_topk") else None
    graph = to_onnx(model, topk=topk, dtype=dtype)
    assert_same(model, graph, X, BOUNDS["float32" if trees else dtype], topk=topk)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("options", [{}, {"scale": True}, {"regressor": Ridge(0.1)}])
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_models(data, name, options, dtype):
    X, Y = data
    model = CompactClassifier(feature_map=KERNELS[name], alpha=1e-3, **options).fit(X, Y)
    assert_same(model, to_onnx(model, topk=5, dtype=dtype), X, BOUNDS[dtype], topk=5)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("classes", [["no", "yes"], [True, False], ["a", "b", "c"], [1, 2, 5]])
@pytest.mark.parametrize("decoder", ["linear", "logistic"])
def test_vectors_of_classes(data, decoder, classes, dtype):
    X, Y = data
    model = CMLLClassifier(decoder=decoder, threshold=0.3)
    y = np.array(classes)[Y[:, : len(classes) - 1].sum(axis=1).astype(int)]
    model.fit(X, y)
    graph = to_onnx(model, dtype=dtype)
    assert_same(model, graph, X, BOUNDS[dtype])
    found = set(run(graph, X)["labels"].tolist())
    assert len(found) > 1
    assert found <= set(classes)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "per-label"},
        {"strategy": "top-k", "k": 2},
        {"strategy": "cardinality", "response": "predict_proba"},
    ],
)
def test_tuned_thresholds(data, options, dtype):
    X, Y = data
    inner = make_pipeline(StandardScaler(), CMLLClassifier(decoder="logistic"))
    model = ThresholdTuner(inner, random_state=0, **options).fit(X, Y)
    model.set_params(response="auto")  # the value at the time of fit counts
    graph = to_onnx(model, dtype=dtype)
    assert_same(model, graph, X, BOUNDS[dtype])
    labels = run(graph, X)["labels"]
    np.testing.assert_array_equal(labels, model.predict(X))


def test_searches(data):
    X, Y = data
    ours = CMLLClassifierCV(alphas=[0.1, 1.0], n_label_components=(0.5,), cv=3).fit(X, Y)
    assert_same(ours, to_onnx(ours), X, BOUNDS["float32"])
    pipeline = make_pipeline(StandardScaler(), CMLLClassifier(threshold=0.5))
    theirs = GridSearchCV(pipeline, {"cmllclassifier__alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
    assert_same(theirs, to_onnx(theirs), X, BOUNDS["float32"])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("best_splits", [False, True])
def test_a_blend_is_the_sum_of_what_its_members_say(data, best_splits, dtype):
    X, Y = data
    model = AutoCompactClassifier(time_budget=0.01, cv=2, random_state=0).fit(X, Y)
    assert_same(model, to_onnx(model, topk=2, dtype=dtype), X, BOUNDS[dtype], topk=2)
    forest = LabelForest(20, best_splits=best_splits, random_state=0)
    forest.fit_scored(X, scipy.sparse.csr_array(Y), None)
    (first,) = model.blend_.members
    steep = Reading(50.0, 1.0)  # so that some log-odds are beyond the largest
    members = (first, Member("trees", forest, steep, 0.3), Member("again", first.model, steep, 0.2))
    model.blend_ = Blend(members, -0.4)
    assert (np.abs(members[2].log_odds(X)) == 30.0).any()
    assert_same(model, to_onnx(model, topk=2, dtype=dtype), X, BOUNDS["float32"], topk=2)


FEW = {
    "features": KeptFeatures(CMLLClassifier(2, 2, decoder="logistic", threshold=0.5), 5),
    "weights, scaled": make_pipeline(Normalizer(), KeptWeights(20, scale=True)),
    "no weights": KeptWeights(0),
    "quick SVM": make_pipeline(Normalizer(), QuickSVM(20)),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FEW)
def test_few_features_and_few_weights(data, name, dtype):
    X, Y = data
    auto = AutoCompactClassifier(time_budget=0.01, cv=2, random_state=0).fit(X, Y)
    few = FEW[name].fit(X, scipy.sparse.csr_array(Y))
    (first,) = auto.blend_.members
    alone, second = Member("few", few, Reading(4.0, -2.0)), Member("few", few, Reading(), 0.3)
    for members in ((alone,), (first, second)):
        auto.blend_ = Blend(members, 0.1)
        graph = to_onnx(auto, topk=2, dtype=dtype)
        assert_same(auto, graph, X, BOUNDS[dtype], topk=2)
        assert all(0 not in constant.dims for constant in graph.graph.initializer)


def test_trees_compare_in_single_precision():
    """As scikit-learn's do: a number between two neighbours of float32 is the nearer of them."""
    low = np.float32(100.0)
    high = np.nextafter(low, np.float32(200.0))
    X = np.repeat(np.array([[low], [high]], dtype=np.float64), 5, axis=0)
    Y = np.repeat([[0, 1], [1, 0]], 5, axis=0)
    model = CompactClassifier(Original(), regressor=DecisionTreeRegressor(), threshold=0.5).fit(
        X, Y
    )
    between = np.array([[low + share * (float(high) - float(low))] for share in (0.3, 0.7)])
    np.testing.assert_array_equal(model.predict(between), [[0, 1], [1, 0]])
    found = run(to_onnx(model, dtype="float64"), between)
    np.testing.assert_array_equal(found["labels"], model.predict(between))


@pytest.mark.parametrize("name", ["CMLL, logistic", "scaled columns"])
def test_another_runtime_says_the_same(data, name):
    """ONNX's own, which computes every operator as the specification has it."""
    X, Y = data
    model = LINEAR[name].fit(X, Y)
    for one in (model, CMLLClassifier(feature_map=KernelMap()).fit(X, Y)):
        graph = to_onnx(one, topk=3, dtype="float64")
        names = [output.name for output in graph.graph.output]
        answers = ReferenceEvaluator(graph).run(None, {"X": X})
        ours = run(graph, X)
        for key, answer in zip(names, answers, strict=True):
            np.testing.assert_allclose(answer, ours[key], rtol=1e-9, atol=1e-9)


@modest
@given(
    n_rows=st.integers(4, 30),
    n_features=st.integers(1, 6),
    n_labels=st.integers(2, 5),
    scale=st.booleans(),
    kernel=st.sampled_from([None, None, None, *KERNELS]),
    decoder=st.sampled_from(["linear", "logistic"]),
)
def test_any_shape(n_rows, n_features, n_labels, scale, kernel, decoder):
    """A single column too, which the runtime would scale in single precision.

    Kernels have no scales here: features of next to no variance would be made large, and with them
    the last digit of a kernel value.
    """
    X, Y = labelled(n_rows, n_features, n_labels, seed=n_rows, share=0.5)
    feature_map = None if kernel is None else KERNELS[kernel]
    model = CMLLClassifier(
        feature_map=feature_map,
        scale=scale and kernel is None,
        decoder=decoder,
        threshold=0.5,
        alpha=0.1,
    ).fit(X, Y)
    graph = to_onnx(model, dtype="float64", topk=n_labels)
    scores = model.decision_function(X)
    found = run(graph, X)
    bound = 1e-9 * max(1.0, np.abs(scores).max())
    np.testing.assert_allclose(found["scores"], scores, rtol=0, atol=bound)
    np.testing.assert_array_equal(
        np.sort(found["topk_labels"]), np.sort(model.predict_topk(X, n_labels)[0])
    )


def test_equal_scores_are_ordered_as_in_predict_topk():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    Y = np.repeat(np.array([[0.0], [1.0], [0.0], [1.0]]), 6, axis=1)
    model = CompactClassifier(Original(), threshold=0.5).fit(X, Y)
    found = run(to_onnx(model, dtype="float64", topk=4), X)
    np.testing.assert_array_equal(found["topk_labels"], model.predict_topk(X, 4)[0])


def test_rows_of_zeros_have_no_direction_but_scores():
    X, Y = labelled(30, 4, 3, seed=0)
    X[:3] = 0.0
    for model in (
        make_pipeline(Normalizer(), CMLLClassifier()),
        CMLLClassifier(feature_map=KernelMap("cosine")),
    ):
        model.fit(X, Y)
        assert_same(model, to_onnx(model, dtype="float64"), X, BOUNDS["float64"])


# ---- the file -------------------------------------------------------------------------------


def test_metadata_of_the_file(data, tmp_path):
    X, Y = data
    frame = pd.DataFrame(X, columns=[f"feature {k}" for k in range(8)])
    labels = pd.DataFrame(Y, columns=["sad", "glad", "mad", "bad", "rad"]).astype(int)
    model = CMLLClassifier(threshold="per-label").fit(frame, labels)
    path = tmp_path / "model.onnx"
    graph = model.to_onnx(path, topk=2)
    stored = onnx.load(path)
    assert stored == graph
    onnx.checker.check_model(stored, full_check=True)
    metadata = {pair.key: pair.value for pair in stored.metadata_props}
    assert json.loads(metadata["label_names"]) == ["sad", "glad", "mad", "bad", "rad"]
    assert json.loads(metadata["feature_names"]) == list(frame.columns)
    np.testing.assert_allclose(json.loads(metadata["threshold"]), model.threshold_)
    assert (stored.producer_name, metadata["model"]) == ("compactlearn", "CMLLClassifier")
    assert stored.producer_version == compactlearn.__version__
    shapes = {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*stored.graph.input, *stored.graph.output]
    }
    assert shapes == {
        "X": ["rows", 8],
        "scores": ["rows", 5],
        "labels": ["rows", 5],
        "topk_labels": ["rows", 2],
        "topk_scores": ["rows", 2],
    }


def test_a_compressed_model_is_a_smaller_file():
    data = load("enron")
    X, Y = data.X[:300], data.Y[:300]
    model = CMLLClassifier(decoder="logistic").fit(X, Y)
    whole = len(to_onnx(model, dtype="float64").SerializeToString())
    usual = len(to_onnx(model).SerializeToString())
    half = model.compress("float16")
    assert usual < 0.55 * whole
    for dtype in TYPES:  # half the numbers are no better in double precision
        graph = to_onnx(half, dtype=dtype)
        assert len(graph.SerializeToString()) < 0.55 * usual
        assert_same(half, graph, X, BOUNDS["float32"])
    # Not the bytes of this machine: the number of parameters of the model.
    assert abs(usual - 4 * model.n_parameters_) < 3000
