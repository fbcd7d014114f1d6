"""Exported models: onnxruntime against the model itself, for one row and for many.

    python bench/speed/onnx_runtime.py [--data NAME ...] [--data-home DIR] [--out FILE]

Each row of the record is a model and a number of rows: seconds of the five best labels and their
scores, by ``predict_topk`` on sparse rows (how such data come) and on dense ones, and by the
exported graph, whose rows are dense. Both have one thread. ``largest_difference`` is that of the
scores, as a share of the largest score; ``bytes`` those of the file. ``load`` is how many processes
wanted to run, on average of the minute before: times are those of a quiet machine only where it is
below the number of cores, and ratios are of pairs that were timed in turn.
"""

import os
import sys

import numpy as np
import onnxruntime
from threadpoolctl import threadpool_limits

from compactlearn import CMLLClassifier, KernelMap, to_onnx
from compactlearn.datasets import load
from compactlearn_bench.measure import dense, interleaved, parser, sparse, write

K, BATCH = 5, 500


def models_for(name):
    """Return kinds of model by what they are called in the record."""
    if name == "wordnet":
        return {"compact model": CMLLClassifier("auto", 300, alpha="auto", threshold=0.5)}
    landmarks = KernelMap(algorithm="nystroem", n_components=500, random_state=0)
    return {
        "compact model": CMLLClassifier(decoder="logistic"),
        "compact model, float16": CMLLClassifier(decoder="logistic"),
        "500 landmarks": CMLLClassifier(decoder="logistic", feature_map=landmarks),
    }


def session_of(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


def measured(data, name, model, X):
    """Yield the rows of the record for one model."""
    graph = to_onnx(model, topk=K)
    session = session_of(graph)
    forms = {"sparse": sparse(X), "dense": dense(X)}
    single = forms["dense"].astype(np.float32)
    (scores,) = session.run(["scores"], {"X": single})
    own = model.decision_function(forms["dense"])
    shared = {
        "data": data,
        "model": name,
        "features": X.shape[1],
        "labels": own.shape[1],
        "bytes": len(graph.SerializeToString()),
        "largest_difference": float(np.abs(scores - own).max() / np.abs(own).max()),
    }
    for count in (1, min(BATCH, X.shape[0])):
        given = {"X": np.ascontiguousarray(single[:count])}
        for form, matrix in forms.items():
            rows = matrix[:count]
            times = interleaved(
                lambda rows=rows: model.predict_topk(rows, K),
                lambda given=given: session.run(["topk_labels", "topk_scores"], given),
                pairs=9,
                budget_s=20,
            )
            yield shared | {"rows": count, "form": form} | times


def main():
    command = parser(__doc__, "onnx.json")
    command.add_argument("--data", nargs="+", default=["enron"])
    given = command.parse_args()
    rows, busy = [], round(os.getloadavg()[0], 1)
    with threadpool_limits(1):
        for name in given.data:
            train, test = load(name, data_home=given.data_home).split()
            for kind, model in models_for(name).items():
                model.fit(train.X, train.Y)
                model = model.compress("float16" if kind.endswith("float16") else "float32")
                for row in measured(name, kind, model, test.X[:BATCH]):
                    print(row, flush=True)
                    rows.append(row)
    write(given.out, rows, load=busy, onnxruntime=onnxruntime.__version__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
