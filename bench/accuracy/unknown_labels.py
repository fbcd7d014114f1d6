"""Cost of unknown labels: hidden at random, completed by fit, or counted as absent.

    python bench/accuracy/unknown_labels.py [--data-home DIR] [--only MODEL ...] [NAME ...]

Folds of a seeded 5-fold, in each of which three tenths of all cells of the training labels are
hidden at random, by five masks one after the other; test rows have all their labels. "all" is
fitted to all labels, "known" to the known ones with NaN for the others, "zeros" with 0 for the
others, and "rows" to all labels of as many rows as make the same number of known labels. A value is
the mean over the folds and the masks. "lost" is what "known" loses compared with "all" as a share
of what "zeros" loses: of each mask by the means over its folds, and of all masks together. Where
"zeros" loses next to nothing, that share says little.
"""

import sys
import time

import numpy as np
from sklearn.model_selection import KFold

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    Original,
    ShortlistClassifier,
)
from compactlearn.datasets import load
from compactlearn.metrics import average_precision, micro_f1
from compactlearn_bench.measure import dense, known_rows, parser, timed, write

METRICS = ("average_precision", "micro_f1")
WAYS = ("all", "known", "zeros", "rows")
MASKS, HIDDEN = 5, 0.3
MODELS = {
    "CMLLClassifier()": CMLLClassifier,
    "CMLLClassifier(decoder='logistic')": lambda: CMLLClassifier(decoder="logistic"),
    "CompactClassifier(Original())": lambda: CompactClassifier(Original()),
    "CMLLClassifierCV()": CMLLClassifierCV,
    "ShortlistClassifier()": lambda: ShortlistClassifier(random_state=0),
    "AutoCompactClassifier()": lambda: AutoCompactClassifier(random_state=0),
}
# On how many of the folds each is measured: more where a fit takes a second, none where all masks
# take many minutes.
FOLDS = {
    "yeast": dict(zip(MODELS, (5, 5, 5, 2, 0, 0), strict=True)),
    "enron": dict(zip(MODELS, (3, 3, 0, 0, 1, 1), strict=True)),
    "corel5k": dict(zip(MODELS, (1, 0, 0, 0, 0, 0), strict=True)),
}


def measure(name, model, folds, data_home):
    """Measure a model on each fold of one data set, with each mask."""
    data = load(name, data_home=data_home)
    X, Y = data.X, dense(data.Y)
    found = {way: np.zeros((MASKS, folds, 3)) for way in WAYS}
    splitter = KFold(n_splits=5, shuffle=True, random_state=0)
    for fold, (train, test) in list(enumerate(splitter.split(Y)))[:folds]:
        whole = fitted(model, X[train], Y[train], X[test], Y[test])
        for mask in range(MASKS):
            rng = np.random.default_rng([0, mask, fold])
            unknown = hidden(Y[train].shape, rng)
            found["all"][mask, fold] = whole
            for way, value in (("known", np.nan), ("zeros", 0.0)):
                labels = np.where(unknown, value, Y[train])
                found[way][mask, fold] = fitted(model, X[train], labels, X[test], Y[test])
            kept = rng.permutation(train.size)[: round((1.0 - HIDDEN) * train.size)]
            some = train[np.sort(kept)]
            found["rows"][mask, fold] = fitted(model, X[some], Y[some], X[test], Y[test])
    return summary(name, model, found)


def fitted(model, X, labels, new, truth):
    """Return average precision, micro-F1, and the processor seconds of the fit."""
    classifier, seconds = timed(lambda: MODELS[model]().fit(X, labels), time.process_time)
    # In these sets all labels are candidates of a shortlist, so that each has a score.
    precision = average_precision(truth, dense(classifier.decision_function(new)))
    return precision, micro_f1(truth, classifier.predict(new)), seconds


def hidden(shape, rng):
    """Return which cells are hidden; of every row at least one is not."""
    unknown = rng.random(shape) < HIDDEN
    rows = np.flatnonzero(unknown.all(axis=1))
    unknown[rows, rng.integers(shape[1], size=rows.size)] = False
    return unknown


def summary(name, model, found):
    """Return the means of each mask and of all, and the share that is lost."""
    row = {"data": name, "model": model, "masks": MASKS, "folds": found["all"].shape[1]}
    for place, metric in enumerate(METRICS):
        means = {way: found[way][:, :, place].mean(axis=1) for way in WAYS}  # of each mask
        every = {way: float(of_masks.mean()) for way, of_masks in means.items()}
        row[metric] = {
            **{way: round(every[way], 6) for way in WAYS},
            **{f"{way}_by_mask": np.round(means[way], 6).tolist() for way in WAYS[1:]},
            "lost": share_lost(every),
            "lost_by_mask": [
                share_lost({way: float(means[way][mask]) for way in WAYS}) for mask in range(MASKS)
            ],
        }
    row["core_seconds"] = {way: round(float(np.median(found[way][..., 2])), 2) for way in WAYS}
    return row


def share_lost(values):
    """Return the loss of the known labels as a share of the loss of zeros, if these lose."""
    lost = values["all"] - values["zeros"]
    return round((values["all"] - values["known"]) / lost, 3) if lost > 0 else None


def main():
    command = parser(__doc__, "unknown_labels.json")
    command.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: three)")
    command.add_argument("--only", nargs="*", metavar="MODEL", default=[*MODELS])
    given = command.parse_args()
    rows = {(row["data"], row["model"]): row for row in known_rows(given.out)}
    for name in given.names or FOLDS:
        for model in given.only:
            if FOLDS[name][model]:
                rows[name, model] = measure(name, model, FOLDS[name][model], given.data_home)
                print(rows[name, model], flush=True)
                ordered = [
                    rows[key] for key in ((d, m) for d in FOLDS for m in MODELS) if key in rows
                ]
                write(given.out, ordered, hidden=HIDDEN)
    return 0


if __name__ == "__main__":
    sys.exit(main())
