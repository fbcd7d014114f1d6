"""Compare a search without arguments with larger searches on the same folds.

    python bench/accuracy/selection.py [--data-home DIR] [--out FILE] [NAME ...]

For every data set below 20,000 rows: `CMLLClassifierCV` with the linear decoder and everything else
at its default (decoder_choice.py has the decoders), plain ridge (ORI) over fifteen penalties, and a
larger grid for compact learning (three balances, five label sizes, projected, completed and kept
features, fifteen penalties). All three are judged by their best cross-validated average precision
on the same five folds, which favours the larger grid. Times are in single fits of
`CMLLClassifier(threshold=0.5)`: medians of three searches and nine fits in turn.
"""

import sys

import numpy as np

from compactlearn import CMLLClassifier, CMLLClassifierCV, CompactClassifier, Original
from compactlearn.datasets import load
from compactlearn.model_selection import GridSearchMoments
from compactlearn_bench.measure import by_data_set, timed

DATA = (
    *("flags", "emotions", "cal500", "scene", "yeast", "plant", "genbase", "medical"),
    *("enron", "llog", "bibtex", "corel5k", "corel16k", "delicious"),
)
ALPHAS = np.logspace(-3, 4, 15).tolist()
SIZES = (0.1, 0.25, 0.5, 0.75, 1.0)


def measure(name, data_home):
    """Measure one data set."""
    data = load(name, data_home=data_home)
    X, Y = data.X, data.Y
    fits, searches = [], []
    while len(searches) < 3 and sum(searches) < 30:  # in turn, so that neighbours slow both
        fits += [timed(lambda: CMLLClassifier(threshold=0.5).fit(X, Y))[1] for _ in range(3)]
        search, seconds = timed(lambda: CMLLClassifierCV(decoders=("linear",)).fit(X, Y))
        searches.append(seconds)
    single, seconds = float(np.median(fits)), float(np.median(searches))
    best = CMLLClassifier(**search.best_params_, threshold="f1")
    _, of_best = timed(lambda: best.fit(X, Y))
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
    return {
        "data": name,
        "rows": X.shape[0],
        "ours": round(search.best_score_, 4),
        "ridge": round(ridge.best_score_, 4),
        "larger_grid": round(larger.best_score_, 4),
        "loss": round(max(ridge.best_score_, larger.best_score_) - search.best_score_, 4),
        "single_fit_seconds": round(single, 4),
        "seconds": round(seconds, 3),
        "fits": round(seconds / single, 1),
        "search_fits": round(search.search_time_ / single, 1),
        "fits_of_the_best": round(seconds / of_best, 1),
        "settings": len(search.cv_results_["params"]),
        "chosen": search.best_params_,
        "larger_chosen": larger.best_params_,
    }


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "selection.json", DATA, measure))
