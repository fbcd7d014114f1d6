"""What a search finds, beside larger searches on the same folds.

    python bench/accuracy/selection.py [--data-home DIR] [--out FILE] [NAME ...]

For every data set below 20,000 rows: `CMLLClassifierCV` with the linear decoder and everything else
at its default (decoder_choice.py has the decoders), plain ridge (ORI) over fifteen penalties, and a
larger grid for compact learning (three balances, five label sizes, projected, completed and kept
features, fifteen penalties). All three are judged by their best cross-validated average precision
on the same five folds, which favours the larger grid. Times are in single fits of
`CMLLClassifier(threshold=0.5)`: medians of three searches and nine fits in turn.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier, CMLLClassifierCV, CompactClassifier, Original
from compactlearn.datasets import load
from compactlearn.model_selection import GridSearchMoments

DATA = (
    *("flags", "emotions", "cal500", "scene", "yeast", "plant", "genbase", "medical"),
    *("enron", "llog", "bibtex", "corel5k", "corel16k", "delicious"),
)
ALPHAS = np.logspace(-3, 4, 15).tolist()
SIZES = (0.1, 0.25, 0.5, 0.75, 1.0)
MOST_FITS, LARGEST_LOSS = 30.0, 0.01


def measure(name: str, data_home: Path | None) -> dict[str, Any]:
    """One data set."""
    data = load(name, data_home=data_home)
    X, Y = data.X, data.Y
    fits, searches = [], []
    while len(searches) < 3 and sum(searches) < 30:  # in turn, so that neighbours slow both
        fits += [_timed(CMLLClassifier(threshold=0.5), X, Y)[1] for _ in range(3)]
        search, seconds = _timed(CMLLClassifierCV(decoders=("linear",)), X, Y)
        searches.append(seconds)
    single, seconds = float(np.median(fits)), float(np.median(searches))
    _, of_best = _timed(CMLLClassifier(**search.best_params_, threshold="f1"), X, Y)
    ridge = GridSearchMoments(CompactClassifier(Original()), {"alpha": ALPHAS}, refit=False)
    ridge.fit(X, Y)
    balance = CMLLClassifier().fit(X, Y).embedding_.beta_
    sizes = {"n_label_components": SIZES, "alpha": ALPHAS}
    betas = {"beta": [0.1 * balance, balance, 10 * balance]}
    grid = [
        {**sizes, **betas, "completion": ["none", "krylov"]},
        {**sizes, **betas, "n_feature_components": [None]},
    ]
    larger = GridSearchMoments(CMLLClassifier(), grid, refit=False, n_jobs=-1).fit(X, Y)
    best = max(ridge.best_score_, larger.best_score_)
    return {
        "data": name,
        "rows": X.shape[0],
        "ours": round(search.best_score_, 4),
        "ridge": round(ridge.best_score_, 4),
        "larger_grid": round(larger.best_score_, 4),
        "loss": round(best - search.best_score_, 4),
        "single_fit_seconds": round(single, 4),
        "seconds": round(seconds, 3),
        "fits": round(seconds / single, 1),
        "search_fits": round(search.search_time_ / single, 1),
        "fits_of_the_best": round(seconds / of_best, 1),
        "settings": len(search.cv_results_["params"]),
        "chosen": search.best_params_,
        "larger_chosen": larger.best_params_,
    }


def _timed(model: Any, X: Any, Y: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    return model.fit(X, Y), time.perf_counter() - start


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; status 1 where a target is missed."""
    parser = common.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: fourteen sets")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "selection.json")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    # What is not measured again stays as it was.
    known = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    found = {row["data"]: row for row in known.get("measurements", [])}
    for name in options.names or DATA:
        found[name] = measure(name, options.data_home)
        print(found[name], flush=True)
        rows = [found[name] for name in DATA if name in found]
        record = {"date": common.today(), "machine": common.machine(), "measurements": rows}
        common.write_json(options.out, known | record)
    missed = [r["data"] for r in rows if r["loss"] > LARGEST_LOSS or r["fits"] > MOST_FITS]
    print(f"Missed on {', '.join(missed)}." if missed else "All targets met.")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
