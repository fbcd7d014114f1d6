"""Which directions to keep where few numbers may be kept, with the logistic decoder.

    python bench/accuracy/small_models.py [--data-home DIR] [--out FILE] [NAME ...]

One seeded split, a fifth of the rows held out; average precision at 2, 5, 10 and 20 % of the D x M
numbers of a ridge. A share is a rank r, of r (D + M) + M numbers: reduced-rank ridge (CPLST with
the penalty of the learner), CMLL with the features kept, with twice as many features as codes
(completion="krylov"), and with as many. All have alpha="auto" and are not tuned.
"""

import sys
from pathlib import Path
from typing import Any

from sklearn.model_selection import ShuffleSplit

from compactlearn import CMLL, CPLST, CompactClassifier, Original
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn_bench.measure import by_data_set, sparse

DATA = ("corel5k", "bibtex")
SHARES = (0.02, 0.05, 0.1, 0.2)


def measure(name: str, data_home: Path | None) -> dict[str, Any]:
    """One data set."""
    data = load(name, data_home=data_home)
    X, Y = sparse(data.X), sparse(data.Y)
    D, M = X.shape[1], Y.shape[1]
    train, test = next(ShuffleSplit(1, test_size=0.2, random_state=0).split(X))

    def judged(embedding: Any, decoder: str = "logistic") -> tuple[float, int]:
        model = CompactClassifier(embedding, decoder=decoder, alpha="auto", threshold=0.5)
        model.fit(X[train], Y[train])
        found = average_precision(Y[test], model.decision_function(X[test]))
        print(name, embedding, decoder, model.n_parameters_, round(found, 4), flush=True)
        return round(found, 4), model.n_parameters_

    row: dict[str, Any] = {"data": name, "ridge": judged(Original(), "linear")[0], "sizes": []}
    for share in SHARES:
        rank = int((share * D * M - M) // (D + M))
        methods = {
            "reduced_rank": CPLST(rank),
            "kept": CMLL(None, rank),
            "krylov": CMLL(2 * rank, rank, completion="krylov"),
            "projected": CMLL(rank, rank),
        }
        found = {key: judged(embedding) for key, embedding in methods.items()}
        numbers = {n for _, n in found.values()}
        assert max(numbers) <= share * D * M
        scores = {key: score for key, (score, _) in found.items()}
        row["sizes"].append({"share": share, "rank": rank, "numbers": max(numbers), **scores})
    return row


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "small_models.json", DATA, measure))
