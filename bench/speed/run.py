"""Speed of CMLLClassifier as ratios, on real data.

    python bench/speed/run.py [--data-home DIR] [--quick] [--out FILE]

Four groups of measurements, all with half the labels as label components:

dense     fit on dense float64 X and Y, against scikit-learn's Ridge(alpha=1) on the same arrays
sparse    fit on CSR X and Y, against Ridge on the densified copies, and against Ridge on the CSR
          X with a dense Y (Ridge takes no sparse Y)
literal   fit against Algorithm 1 of the paper taken literally, at 4000 rows of bibtex, with all
          eigenvectors (LAPACK) and with the wanted ones only (ARPACK); same m, d and beta
predict   predict on dense X, against Ridge.predict

A ratio is ours over theirs: below 1 is faster. Each is the median of seven interleaved pairs
under two BLAS threads, after one untimed run of both; a pair of more than about 17 s is
repeated less often, and the record says how often.
"""

import sys
from functools import partial
from pathlib import Path

from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "reference"))

import literal

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn_bench.measure import dense, interleaved, parser, sparse, write

THREADS = 2
DENSE = ("enron", "bibtex", "mediamill", "plant", "corel5k", "delicious")
SPARSE = ("bibtex", "delicious")
QUICK = ("enron", "emotions")  # inside the package: no data folder is needed


def ours():
    """Return the classifier under test: every default but half the labels as components."""
    return CMLLClassifier(n_label_components=0.5, threshold=0.5)  # Ridge tunes none either


def fit(make, X, Y):
    return lambda: make().fit(X, Y)


def dense_fits(fetch, quick):
    for name in QUICK if quick else DENSE:
        data = fetch(name)
        X, Y = dense(data.X), dense(data.Y)
        times = interleaved(fit(ours, X, Y), fit(Ridge, X, Y))
        yield {"group": "dense", "data": name, "against": "Ridge, dense X and Y"} | times


def sparse_fits(fetch, quick):
    for name in QUICK[:1] if quick else SPARSE:
        data = fetch(name)
        X, Y = sparse(data.X), sparse(data.Y)
        Xd, Yd = dense(X), dense(Y)
        for against, rows in (("dense X and Y", Xd), ("sparse X and dense Y", X)):
            times = interleaved(fit(ours, X, Y), fit(Ridge, rows, Yd))
            yield {"group": "sparse", "data": name, "against": f"Ridge, {against}"} | times


def literal_fits(fetch, quick):
    name, n_rows = ("emotions", 300) if quick else ("bibtex", 4000)
    data = fetch(name)
    X, Y = dense(data.X)[:n_rows], dense(data.Y)[:n_rows]
    embedding = ours().fit(X, Y).embedding_
    m, d = embedding.n_label_components_, embedding.n_feature_components_
    for eigen in ("full", "arpack"):
        rounds = []

        def algorithm(eigen=eigen, rounds=rounds):
            solution = literal.algorithm_1(X, Y, m, d, beta=embedding.beta_, eigen=eigen)
            literal.ridge(X @ solution.P, solution.V, 1.0)
            rounds.append(solution.n_iter)

        # No untimed run of the slow side: its first round alone outweighs any warm-up.
        times = interleaved(fit(ours, X, Y), algorithm, pairs=3, warm_up=False)
        against = f"Algorithm 1, {eigen} eigenvectors"
        row = {"group": "literal", "data": f"{name}[:{n_rows}]", "against": against}
        yield row | {"m": m, "d": d, "rounds": rounds[0]} | times


def predictions(fetch, quick):
    for name in QUICK if quick else DENSE:
        data = fetch(name)
        X, Y = dense(data.X), dense(data.Y)
        mine, other = ours().fit(X, Y), Ridge().fit(X, Y)
        times = interleaved(partial(mine.predict, X), partial(other.predict, X))
        yield {"group": "predict", "data": name, "against": "Ridge.predict, dense X"} | times


def main():
    command = parser(__doc__, "speed.json")
    command.add_argument("--quick", action="store_true", help="small data; writes nothing")
    given = command.parse_args()
    fetch = partial(load, data_home=given.data_home)
    rows = []
    with threadpool_limits(limits=THREADS):
        for group in (dense_fits, sparse_fits, literal_fits, predictions):
            for row in group(fetch, given.quick):
                print(row, flush=True)
                rows.append(row)
        if not given.quick:
            write(given.out, rows, threads=THREADS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
