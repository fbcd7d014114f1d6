"""``to_onnx``: a fitted model as an ONNX graph, for runtimes that know neither Python nor us."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from compactlearn.compact._threshold_tuner import ThresholdTuner
from compactlearn.core._atomic import atomic
from compactlearn.core._devices import host, on_host
from compactlearn.core._optional import require
from compactlearn.core._validation import n_rows_of
from compactlearn.io._model_file import library_version
from compactlearn.io.onnx._graph import EXTRA, Graph
from compactlearn.io.onnx._outputs import ROWS, write_outputs
from compactlearn.io.onnx._scores import Scored, write_scores

TYPES = ("float32", "float64")
# Far above rounding, far below what changes a ranking.
TOLERANCE = {4: 1e-4, 8: 1e-8}  # by the bytes of a number


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    topk: int | None = None,
    dtype: str = "float32",
    check: Any = None,
) -> Any:
    """Write a fitted model as an ONNX graph, which runs without Python and without this package.

    Its input is ``X``, dense rows of shape (rows, n_features), or for a Pipeline that begins with
    a vectoriser ``texts``, strings of shape (rows,). Its outputs are

    * ``scores``: those of ``decision_function``;
    * ``probabilities``: those of ``predict_proba``, where the model has it;
    * ``labels``: those of ``predict``, 0 or 1 (int64), or for a vector y its classes;
    * ``topk_labels``, ``topk_scores``: where ``topk`` is given, the places of the ``topk`` best
      labels and their scores, best first, as ``predict_topk`` has them.

    Parameters
    ----------
    model : fitted classifier of this package, Pipeline that ends in one, or search over these
        All of them can be written but :class:`ShortlistClassifier` (ONNX has no sparse rows), and
        what contains one. Other steps of a Pipeline, a ``regressor`` and a ``feature_map`` of
        scikit-learn are written by skl2onnx, as far as that knows them.
    path : str or path, optional
        Where to write the file; one that is there is replaced, whole or not at all.
    topk : int, optional
        How many of the best labels to put out.
    dtype : {"float32", "float64"}, default="float32"
        What the graph takes, computes in and puts out. In float32 scores agree with those of the
        model to about 1e-6 of their size, in float64 to rounding; trees of a forest always compute
        in float32, as ONNX has them.
    check : as in ``predict``, optional
        Rows or texts on which the graph is run, by onnxruntime, and compared with the model. Where
        scores differ by more than 1e-4 of their size (1e-8 in float64), nothing is written and an
        error says for how many rows.

    Returns
    -------
    onnx.ModelProto
        Its metadata hold, as JSON, "label_names", "feature_names" (where the model has them),
        "threshold", "topk", and the name of the model's class.

    Notes
    -----
    Texts are divided exactly as by scikit-learn in the Python that writes the graph, in any script:
    into words of its default pattern, with capitals lowered and accents stripped where the
    vectoriser does so. The graph needs the operator ``Tokenizer`` of onnxruntime. A vectoriser of
    characters, or with a callable, a token pattern of its own, or stop words among runs of words is
    refused.

    Numbers that a smaller type holds exactly are stored in it, so that a model which was compressed
    to float16 gives a file of half the size.

    Examples
    --------
    >>> import onnxruntime
    >>> from compactlearn import CMLLClassifier, to_onnx
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = CMLLClassifier(decoder="logistic").fit(data.X, data.Y)
    >>> graph = to_onnx(model, topk=2, check=data.X[:10])
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> sorted(output.name for output in session.get_outputs())
    ['labels', 'probabilities', 'scores', 'topk_labels', 'topk_scores']
    >>> labels, = session.run(["topk_labels"], {"X": data.X[:3].astype("float32")})
    >>> labels.shape
    (3, 2)
    """
    if dtype not in TYPES:
        raise ValueError(
            f"dtype must be 'float32' or 'float64', and is {dtype!r}; pass one of these (a model "
            "that was compressed to float16 is stored in that in any case)."
        )
    model, check = on_host(model), host(check)
    graph = Graph(dtype)
    texts = _takes_texts(model)
    n_columns = None if texts else getattr(model, "n_features_in_", None)
    name = "texts" if texts else "X"
    scored = write_scores(graph, model, name, n_columns)
    outputs = write_outputs(graph, scored, topk)
    given = (np.dtype(object), (ROWS,)) if texts else (graph.dtype, (ROWS, n_columns))
    proto = graph.model(
        type(model).__name__,
        {name: given},
        outputs,
        _metadata(model, scored, topk, texts),
        library_version(),
    )
    if check is not None:
        _require_same(model, proto, check, name, graph.dtype)
    if path is not None:
        with atomic(path) as stream:
            stream.write(proto.SerializeToString())
    return proto


def _takes_texts(model: Any) -> bool:
    """Return whether the first thing that a model does is to find words."""
    while not isinstance(model, CountVectorizer):
        if isinstance(model, Pipeline):
            model = model[0]
        elif isinstance(model, ThresholdTuner):
            model = getattr(model, "estimator_", None)
        else:  # of a search
            model = getattr(model, "best_estimator_", None)
        if model is None or isinstance(model, list):  # a blend, which takes rows
            return False
    return True


def _metadata(model: Any, scored: Scored, topk: int | None, texts: bool) -> dict[str, str]:
    labels = scored.labels
    names = labels.names or [str(name) for name in labels.classes.tolist()]
    threshold = None if scored.threshold is None else np.asarray(scored.threshold).tolist()
    found = {
        "model": type(model).__name__,
        "label_names": json.dumps(list(map(str, names))),
        "threshold": json.dumps(threshold),
        "topk": json.dumps(topk),
    }
    features = getattr(model, "feature_names_in_", None)
    if features is not None and not texts:
        found["feature_names"] = json.dumps(list(map(str, features)))
    return found


def _require_same(model: Any, proto: Any, rows: Any, name: str, dtype: np.dtype[Any]) -> None:
    """Refuse a graph whose scores differ from the model's."""
    runtime = require("onnxruntime", extra=EXTRA, purpose="Checking an exported model")
    session = runtime.InferenceSession(proto.SerializeToString())
    if name == "texts":
        given = np.array(list(rows), dtype=object)
    else:
        given = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=dtype)
    own = np.asarray(model.decision_function(rows), dtype=np.float64)
    theirs = np.asarray(session.run(["scores"], {name: given})[0], dtype=np.float64)
    bound = TOLERANCE[dtype.itemsize] * max(1.0, float(np.abs(own).max(initial=0.0)))
    differs = ~(np.abs(own - theirs).reshape(n_rows_of(rows), -1).max(axis=1) <= bound)
    if not differs.any():
        return
    first = int(np.flatnonzero(differs)[0])
    raise ValueError(
        f"The graph must give the scores of the model up to {bound:.1e}, and differs by up to "
        f"{np.abs(own - theirs).max():.1e} on {int(differs.sum())} of {differs.size} rows, the "
        f"first of them row {first}; {_remedy(name, dtype)}"
    )


def _remedy(name: str, dtype: np.dtype[Any]) -> str:
    if name == "texts":
        return "export what comes after the vectoriser, to_onnx(pipeline[1:])."
    if dtype.itemsize == 4:
        return "export with dtype='float64', or scale the features."
    return "please report this."
