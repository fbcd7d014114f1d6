"""Cost of missing positives and flipped labels, and what correcting for them gives back.

    python bench/accuracy/noisy_labels.py [--data-home DIR] [--out FILE]

Seeded 5-fold; training labels are spoilt, test rows have their true labels.

"missing": of corel5k, each positive of a training row is hidden with the probability 1 - p of its
label, p its propensity by the usual formula with A = 0.55 and B = 1.5 from the true labels (rare
labels are hidden most). "seen" is fitted to what is left, "given" corrects for the p that hid it,
"estimated" for those of the formula from the labels that are left, and "all" is fitted to the true
labels.

"flipped": of yeast, each training label is flipped with the probability named. "seen" ignores that,
"given" corrects for the true rates, "auto" for those that it estimates, "all" has the true labels.
"""

import sys

import numpy as np
from sklearn.model_selection import KFold

from compactlearn import CompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision, micro_f1, propensities, psp_at_k
from compactlearn_bench.measure import dense, parser, write

FLIPS = ((0.1, 0.1), (0.2, 0.2))
DECODERS = ("linear", "logistic")


def folds_of(name, data_home):
    """Yield training rows, test rows, and a generator of random numbers for each fold."""
    data = load(name, data_home=data_home)
    Y = dense(data.Y)
    splits = KFold(n_splits=5, shuffle=True, random_state=0).split(Y)
    for fold, (train, test) in enumerate(splits):
        rng = np.random.default_rng([0, fold])
        yield data.X[train], Y[train], data.X[test], Y[test], rng


def missing(data_home):
    """Measure corel5k with positives missing."""
    found = {}
    for X, Y, X_new, Y_new, rng in folds_of("corel5k", data_home):
        p = propensities(Y)
        seen = Y * (rng.random(Y.shape) < p)
        fits = {
            "all": (Y, {}),
            "seen": (seen, {}),
            "given": (seen, {"positive_unlabelled": True, "propensities": p}),
            "estimated": (seen, {"positive_unlabelled": True}),
        }
        for way, (labels, asked) in fits.items():
            model = CompactClassifier(alpha="auto", **asked).fit(X, labels)
            scores = model.decision_function(X_new)
            values = {f"psp_at_{k}": psp_at_k(Y_new, scores, k, weights=1 / p) for k in (1, 3, 5)}
            found.setdefault(way, []).append(values | judged(model, X_new, Y_new))
    return [
        {"kind": "missing", "data": "corel5k", "way": way, **means(f)} for way, f in found.items()
    ]


def flipped(data_home):
    """Measure yeast with labels flipped."""
    found = {}
    for X, Y, X_new, Y_new, rng in folds_of("yeast", data_home):
        for rates in FLIPS:
            flips = rng.random(Y.shape) < np.where(Y > 0, rates[1], rates[0])
            seen = np.where(flips, 1 - Y, Y)
            fits = {
                "all": (Y, {}),
                "seen": (seen, {}),
                "given": (seen, {"label_noise": rates}),
                "auto": (seen, {"label_noise": "auto"}),
            }
            for decoder in DECODERS:
                for way, (labels, asked) in fits.items():
                    model = CompactClassifier(decoder=decoder, **asked).fit(X, labels)
                    values = judged(model, X_new, Y_new)
                    if way == "auto":
                        f, m = model.label_noise_
                        values |= {"false_positive": f[0], "false_negative": m[0]}
                    found.setdefault((rates, decoder, way), []).append(values)
    return [
        {"kind": "flipped", "data": "yeast", "rates": rates, "decoder": decoder, "way": way}
        | means(values)
        for (rates, decoder, way), values in found.items()
    ]


def judged(model, X, Y):
    return {
        "average_precision": average_precision(Y, model.decision_function(X)),
        "micro_f1": micro_f1(Y, model.predict(X)),
    }


def means(folds):
    """Return the mean of each value over the folds."""
    return {"folds": len(folds)} | {
        name: round(float(np.mean([fold[name] for fold in folds])), 6) for name in folds[0]
    }


def main():
    given = parser(__doc__, "noisy_labels.json").parse_args()
    rows = flipped(given.data_home) + missing(given.data_home)
    print(*rows, sep="\n")
    write(given.out, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
