"""Whether a graph of the labels helps compact learning.

    python bench/accuracy/label_graph.py [--data-home DIR] [--out FILE] [NAME ...]

CMLLClassifier with its defaults, without and with a label_graph. Two graphs are tried:

hierarchy    a label and the smallest labels that imply it: every training row that has the first
             has the second as well. Labels of wordnet are a synset's hypernyms at any distance,
             so these are the edges of its hierarchy, found again from the training rows alone.
cooccurrence the share of rows that two labels have in common, n_ab / sqrt(n_a n_b).

Each with the weights as they are or divided by the roots of both labels' degrees ("normalised"),
and several graph_weights. The setting is chosen on a fifth of the training rows, which the models
of that choice do not see; the test rows are looked at twice, by plain CMLL and by what was chosen.
Test rows are wordnet's own, and elsewhere a seeded fifth.
"""

import json
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.model_selection import ShuffleSplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLL, CompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

DATA = ("wordnet", "enron", "corel5k")
# The weights that are tried of each graph; a fit of wordnet takes a minute.
GRAPHS = {
    "wordnet": {"hierarchy": (0.01, 0.1, 1.0, 10.0), "cooccurrence": (0.01,)},
    "enron": {"cooccurrence": (0.03, 0.3, 3.0)},
    "corel5k": {"cooccurrence": (0.03, 0.3, 3.0)},
}


def hierarchy(Y: Any) -> Any:
    """Edges between a label and the smallest of those that it implies, each of weight 1."""
    counts = np.asarray(Y.sum(axis=0)).ravel()
    together = scipy.sparse.coo_array(Y.T @ Y)
    a, b = together.coords
    implied = (together.data == counts[a]) & (counts[b] > counts[a])
    above = scipy.sparse.csr_array(
        (np.ones(implied.sum()), (a[implied], b[implied])), shape=together.shape
    )
    further = (above @ above).astype(bool).astype(float)  # reached over another label as well
    direct = above - above.multiply(further)
    direct.eliminate_zeros()
    return scipy.sparse.csr_array(direct + direct.T)


def cooccurrence(Y: Any) -> Any:
    """Cosines of the labels' columns."""
    counts = np.asarray(Y.sum(axis=0)).ravel()
    together = scipy.sparse.coo_array(Y.T @ Y)
    a, b = together.coords
    kept = a != b
    a, b, shared = a[kept], b[kept], together.data[kept]
    cosines = shared / np.sqrt(counts[a] * counts[b])
    return scipy.sparse.csr_array((cosines, (a, b)), shape=together.shape)


def normalised(graph: Any) -> Any:
    """Weights divided by the roots of both degrees."""
    roots = np.sqrt(np.maximum(graph.sum(axis=0), 1e-300))
    scale = scipy.sparse.diags_array(1.0 / roots)
    return scipy.sparse.csr_array(scale @ graph @ scale)


def judged(model: Any, X: Any, Y: Any) -> dict[str, float]:
    """P@1, P@3, P@5 and, where all scores fit, average precision."""
    best = model.predict_topk(X, 5)[0]
    hits = np.asarray(Y[np.arange(Y.shape[0])[:, None], best].todense())
    found = {f"P@{k}": round(float(hits[:, :k].mean()), 4) for k in (1, 3, 5)}
    if Y.shape[0] * Y.shape[1] <= 1 << 24:
        found["AP"] = round(average_precision(Y, model.decision_function(X)), 4)
    return found


def fitted(X: Any, Y: Any, setting: dict[str, Any] | None) -> tuple[Any, float]:
    """A model of these rows, whose graph is theirs too, and the seconds of its fit."""
    own: dict[str, Any] = {}
    if setting is not None:
        graph = {"hierarchy": hierarchy, "cooccurrence": cooccurrence}[setting["graph"]](Y)
        own["label_graph"] = normalised(graph) if setting["normalised"] else graph
        own["graph_weight"] = setting["weight"]
    model = CompactClassifier(
        CMLL(**own), threshold=0.5
    )  # the threshold has no part in these metrics
    start = time.perf_counter()
    model.fit(X, Y)
    return model, time.perf_counter() - start


def parts(name: str, data_home: Path | None) -> tuple[Any, Any, Any, Any]:
    """Training and test rows."""
    data = load(name, data_home=data_home)
    if name == "wordnet":
        train, test = data.split()
        return tuple(common.sparse(part) for part in (train.X, train.Y, test.X, test.Y))
    X, Y = common.sparse(data.X), common.sparse(data.Y)
    rest, held = next(ShuffleSplit(1, test_size=0.2, random_state=0).split(X))
    return X[rest], Y[rest], X[held], Y[held]


def measure(name: str, data_home: Path | None, known: dict[str, Any]) -> dict[str, Any]:
    """One data set; settings that a record knows are not tried again."""
    X, Y, X_test, Y_test = parts(name, data_home)
    rest, held = next(ShuffleSplit(1, test_size=0.2, random_state=1).split(X))
    graphs = [
        {"graph": graph, "normalised": flag, "weight": weight}
        for graph, weights in GRAPHS[name].items()
        for flag, weight in product((False, True), weights)
    ]
    before = known.get("tried", [])
    tried = []
    for setting in (None, *graphs):
        again = [one for one in before if one["setting"] == setting]
        if again:
            tried.append(again[0])
            continue
        model, seconds = fitted(X[rest], Y[rest], setting)
        scores = judged(model, X[held], Y[held])
        print(name, setting, scores, round(seconds, 1), flush=True)
        tried.append({"setting": setting, "held_out": scores})
    best = max(tried[1:], key=lambda one: one["held_out"]["P@5"])["setting"]
    row: dict[str, Any] = {"data": name, "tried": tried, "chosen": best}
    for key, setting in (("plain", None), ("graph", best)):
        if key in known and (key == "plain" or known.get("chosen") == best):
            row |= {part: known[part] for part in (key, f"{key}_edges", f"{key}_seconds")}
            continue
        model, seconds = fitted(X, Y, setting)
        row[key] = judged(model, X_test, Y_test)
        row[f"{key}_edges"] = 0 if setting is None else model.embedding.label_graph.nnz // 2
        row[f"{key}_seconds"] = round(seconds, 1)
        print(name, key, row[key], round(seconds, 1), flush=True)
    return row


def main(arguments: list[str] | None = None) -> int:
    """Measure, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--anew", action="store_true", help="try what the record knows again")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all three")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "label_graph.json")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    # What is not measured again stays as it was.
    known = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    found = {row["data"]: row for row in known.get("measurements", [])}
    for name in options.names or DATA:
        before = {} if options.anew else found.get(name, {})
        found[name] = measure(name, options.data_home, before)
        rows = [found[data] for data in DATA if data in found]
        record = {"date": common.today(), "machine": common.machine(), "measurements": rows}
        common.write_json(options.out, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
