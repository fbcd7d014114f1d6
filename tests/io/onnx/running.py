"""Graphs run by onnxruntime, and models compared with what they say."""

import numpy as np
import onnxruntime
import scipy.sparse

BOUNDS = {"float32": 1e-5, "float64": 1e-9}  # of the largest score


def session_of(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


def run(graph, X):
    """All outputs by their names; X as the graph takes it."""
    session = session_of(graph)
    (given,) = session.get_inputs()
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {given.name: rows_for(given, X)}), strict=True))


def rows_for(given, X):
    if given.type == "tensor(string)":
        return np.array(list(X), dtype=object)
    X = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
    return X.astype({"tensor(float)": np.float32, "tensor(double)": np.float64}[given.type])


def single(X):
    """X in numbers that float32 has, so that rounding X is no part of the comparison."""
    return np.asarray(X, dtype=np.float32).astype(np.float64)


def assert_same(model, graph, X, bound, *, topk=None):
    """Scores, probabilities, labels and best labels of a graph are those of the model.

    Labels may differ where a score is a rounding away from the threshold, and nowhere else.
    """
    found, scores = run(graph, X), np.asarray(model.decision_function(X))
    unit = np.abs(scores).max()
    assert found["scores"].shape == scores.shape
    assert np.abs(found["scores"] - scores).max() <= bound * unit
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        theirs = model.predict_proba(X)
        assert found["probabilities"].shape == theirs.shape
        np.testing.assert_allclose(
            found["probabilities"], theirs, rtol=0, atol=bound * max(1, unit)
        )
    labels = model.predict(X)
    assert found["labels"].shape == labels.shape
    assert (found["labels"] == labels).mean() > 0.99
    if labels.ndim == 2:
        assert found["labels"].dtype == np.int64
    if topk is not None:
        best = model.predict_topk(X, topk)[1]
        assert found["topk_labels"].shape == best.shape
        np.testing.assert_allclose(found["topk_scores"], best, rtol=0, atol=bound * unit)
        named = np.take_along_axis(scores, found["topk_labels"], axis=1)
        np.testing.assert_allclose(named, best, rtol=0, atol=bound * unit)
    assert_row_by_row(graph, X, found["scores"], bound * unit)


def assert_row_by_row(graph, X, scores, bound):
    """One row at a time is the same as all of them."""
    session = session_of(graph)
    (given,) = session.get_inputs()
    rows = rows_for(given, X)
    places = range(len(rows)) if len(rows) <= 20 else (0, len(rows) // 2, len(rows) - 1)
    for place in places:
        (alone,) = session.run(["scores"], {given.name: rows[place : place + 1]})
        assert alone.shape == (1, *scores.shape[1:])
        assert np.abs(alone[0] - scores[place]).max() <= bound
