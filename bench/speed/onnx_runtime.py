"""Exported models: onnxruntime against the model itself, for one row and for many.

    python bench/speed/onnx_runtime.py [--data NAME ...] [--data-home DIR] [--out FILE]

Each row of the record is a model and a number of rows: seconds of the five best labels and their
scores, by ``predict_topk`` on sparse rows (how such data come) and on dense ones, and by the
exported graph, whose rows are dense. Both have one thread. ``largest_difference`` is that of the
scores, as a share of the largest score; ``bytes`` those of the file. ``load`` is how many processes
wanted to run, on average of the minute before: times are those of a quiet machine only where it is
below the number of cores, and ratios are of pairs that were timed in turn.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
from timing import interleaved

from compactlearn import CMLLClassifier, KernelMap, to_onnx
from compactlearn.datasets import load

K, BATCH = 5, 500


def models_for(name):
    """Kinds of model by what they are called in the record."""
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
    """The rows of the record for one model."""
    graph = to_onnx(model, topk=K)
    session = session_of(graph)
    sparse, dense = common.sparse(X), common.dense(X)
    single = dense.astype(np.float32)
    (scores,) = session.run(["scores"], {"X": single})
    own = model.decision_function(dense)
    shared = {
        "data": data,
        "model": name,
        "features": X.shape[1],
        "labels": own.shape[1],
        "bytes": len(graph.SerializeToString()),
        "largest_difference": float(np.abs(scores - own).max() / np.abs(own).max()),
    }
    found = []
    for count in (1, min(BATCH, X.shape[0])):
        given = {"X": np.ascontiguousarray(single[:count])}

        def theirs(given=given):
            return session.run(["topk_labels", "topk_scores"], given)

        for form, rows in (("sparse", sparse[:count]), ("dense", dense[:count])):

            def ours(rows=rows):
                return model.predict_topk(rows, K)

            timed = interleaved(ours, theirs, pairs=9, budget_s=20).summary()
            found.append(shared | {"rows": count, "form": form} | timed)
            print(found[-1], flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=["enron"])
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--out", type=Path, default=common.RESULTS / "onnx.json")
    given = parser.parse_args()
    rows, busy = [], round(os.getloadavg()[0], 1)
    with threadpool_limits(1):
        for name in given.data:
            data = load(name, data_home=given.data_home)
            train, test = data.split()
            for kind, model in models_for(name).items():
                model.fit(train.X, train.Y)
                model = model.compress("float16" if kind.endswith("float16") else "float32")
                rows += measured(name, kind, model, test.X[:BATCH])
    record = {"date": common.today(), "machine": common.machine()}
    record["machine"]["versions"]["onnxruntime"] = onnxruntime.__version__
    common.write_json(given.out, record | {"load": busy, "measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
