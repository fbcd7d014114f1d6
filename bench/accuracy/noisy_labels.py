"""What missing positives and flipped labels cost, and what correcting for them gives back.

    python bench/accuracy/noisy_labels.py [--data-home DIR] [--folds N] [--out FILE]

Seeded 5-fold; training labels are spoilt, test rows have their true labels.

"missing": of corel5k, each positive of a training row is hidden with the chance 1 - p of its label,
p its propensity by the usual formula with A = 0.55 and B = 1.5 from the true labels (rare labels
are hidden most). "seen" is fitted to what is left, "given" corrects for the p that hid it,
"estimated" for those of the formula from the labels that are left, and "all" is fitted to the true
labels.

"flipped": of yeast, each training label is flipped with the chance named. "seen" ignores that,
"given" corrects for the true rates, "auto" for those that it estimates, "all" has the true labels.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision, micro_f1, propensities, psp_at_k

FLIPS = ((0.1, 0.1), (0.2, 0.2))
DECODERS = ("linear", "logistic")
Fits = dict[str, tuple[np.ndarray, dict[str, Any]]]


def folds_of(name: str, options: Any) -> Iterator[tuple[Any, np.ndarray, Any, np.ndarray, Any]]:
    """Training rows, test rows, and a generator of random numbers for each fold."""
    data = load(name, data_home=options.data_home)
    Y = common.dense(data.Y)
    splits = KFold(n_splits=5, shuffle=True, random_state=options.seed).split(Y)
    for fold, (train, test) in enumerate(splits):
        if fold < options.folds:
            rng = np.random.default_rng([options.seed, fold])
            yield data.X[train], Y[train], data.X[test], Y[test], rng


def missing(options: Any) -> list[dict[str, Any]]:
    """Positives of corel5k that are missing."""
    found: dict[str, list[dict[str, float]]] = {}
    for X, Y, X_new, Y_new, rng in folds_of("corel5k", options):
        p = propensities(Y)
        seen = Y * (rng.random(Y.shape) < p)
        fits: Fits = {
            "all": (Y, {}),
            "seen": (seen, {}),
            "given": (seen, {"positive_unlabelled": True, "propensities": p}),
            "estimated": (seen, {"positive_unlabelled": True}),
        }
        for way, (labels, asked) in fits.items():
            model = CompactClassifier(alpha="auto", **asked).fit(X, labels)
            scores = model.decision_function(X_new)
            figures = {f"psp_at_{k}": psp_at_k(Y_new, scores, k, weights=1 / p) for k in (1, 3, 5)}
            figures["average_precision"] = average_precision(Y_new, scores)
            figures["micro_f1"] = micro_f1(Y_new, model.predict(X_new))
            found.setdefault(way, []).append(figures)
    return [
        {"kind": "missing", "data": "corel5k", "way": way, **means(f)} for way, f in found.items()
    ]


def flipped(options: Any) -> list[dict[str, Any]]:
    """Labels of yeast that are flipped."""
    found: dict[Any, list[dict[str, float]]] = {}
    for X, Y, X_new, Y_new, rng in folds_of("yeast", options):
        for rates in FLIPS:
            flips = rng.random(Y.shape) < np.where(Y > 0, rates[1], rates[0])
            seen = np.where(flips, 1 - Y, Y)
            fits: Fits = {
                "all": (Y, {}),
                "seen": (seen, {}),
                "given": (seen, {"label_noise": rates}),
                "auto": (seen, {"label_noise": "auto"}),
            }
            for decoder in DECODERS:
                for way, (labels, asked) in fits.items():
                    model = CompactClassifier(decoder=decoder, **asked).fit(X, labels)
                    figures = {
                        "average_precision": average_precision(
                            Y_new, model.decision_function(X_new)
                        ),
                        "micro_f1": micro_f1(Y_new, model.predict(X_new)),
                    }
                    if way == "auto":
                        f, m = model.label_noise_
                        figures |= {"false_positive": f[0], "false_negative": m[0]}
                    found.setdefault((rates, decoder, way), []).append(figures)
    return [
        {"kind": "flipped", "data": "yeast", "rates": rates, "decoder": decoder, "way": way}
        | means(figures)
        for (rates, decoder, way), figures in found.items()
    ]


def means(folds: list[dict[str, float]]) -> dict[str, Any]:
    """Of each figure the mean over the folds."""
    names = folds[0]
    return {"folds": len(folds)} | {
        name: round(float(np.mean([fold[name] for fold in folds])), 6) for name in names
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--folds", type=int, default=5, help="how many of the five (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of folds and of what is spoilt")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "noisy_labels.json")
    options = parser.parse_args(arguments)
    rows = flipped(options) + missing(options)
    record = {"date": common.today(), "machine": common.machine(), "seed": options.seed}
    common.write_json(options.out, record | {"measurements": rows})
    for kind in ("flipped", "missing"):
        own = [row for row in rows if row["kind"] == kind]
        header = list(dict.fromkeys(name for row in own for name in row))
        cells = [[str(row.get(name, "")) for name in header] for row in own]
        common.show_table(kind, header, cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())
