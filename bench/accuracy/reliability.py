"""Reliability of the probabilities of ``decoder="logistic"``, on held-out rows.

    python bench/accuracy/reliability.py [--data-home DIR] [--only METHOD ...] [NAME ...]

Five seeded folds; every row's probabilities come from a fit without its fold, and all cells (rows
times labels) are judged together: mean p / mean y, expected calibration error (ten bins of equal
width; the mean over the cells of |mean p - observed frequency| of their bin), log-loss of a row
(summed over its labels, p kept within 1e-6 of 0 and 1), and the ten bins. Nothing is tuned: CMLL
with its defaults, one setting with all features kept, and one-vs-rest LogisticRegression with its
default penalty and with ten times that (lbfgs: LIBLINEAR would penalise the intercept, and rare
labels would come out too frequent). AutoCompactClassifier() tunes itself. With ``--only``, or names
of data sets, the other rows of the record stay as they are.
"""

import sys
import warnings
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from compactlearn import AutoCompactClassifier, CMLLClassifier
from compactlearn_bench.measure import dense, known_rows, parser, rows_of, write

DATA = ("enron", "llog", "plant", "corel5k")
METHODS = {
    "CMLL": CMLLClassifier(decoder="logistic", threshold=0.5),
    "CMLL_y": CMLLClassifier(None, 0.5, alpha=100.0, decoder="logistic", threshold=0.5),
    "one-vs-rest, C=1": OneVsRestClassifier(LogisticRegression(max_iter=1000)),
    "one-vs-rest, C=0.1": OneVsRestClassifier(LogisticRegression(C=0.1, max_iter=1000)),
    "Auto": AutoCompactClassifier(),
}
BINS, CLIP = 10, 1e-6


def held_out(model, X, Y):
    """Return (N, M) probabilities, each by a fit without the row."""
    P = np.empty(Y.shape)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        P[test] = clone(model).fit(X[train], Y[train]).predict_proba(X[test])
    return P


def judged(P, Y):
    """Return the values of one row of the record."""
    place = np.minimum((P * BINS).astype(int), BINS - 1).ravel()
    cells = np.bincount(place, minlength=BINS)
    sums_p = np.bincount(place, P.ravel(), minlength=BINS)
    sums_y = np.bincount(place, Y.ravel(), minlength=BINS)
    p = np.clip(P, CLIP, 1 - CLIP)
    losses = -np.log(np.where(Y > 0, p, 1 - p))
    bins = [
        {
            "cells": int(n),
            "mean_p": round(float(a / n), 4) if n else None,
            "observed": round(float(b / n), 4) if n else None,
        }
        for n, a, b in zip(cells, sums_p, sums_y, strict=True)
    ]
    return {
        "mean_p_over_mean_y": round(float(P.mean() / Y.mean()), 4),
        "calibration_error": round(float(np.abs(sums_p - sums_y).sum() / Y.size), 5),
        "log_loss": round(float(losses.sum() / len(Y)), 4),
        "bins": bins,
    }


def main():
    command = parser(__doc__, "reliability.json")
    command.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: four)")
    command.add_argument("--only", nargs="+", choices=METHODS, metavar="METHOD", default=[*METHODS])
    given = command.parse_args()
    warnings.simplefilter("ignore")  # labels that a training part never shows
    rows = {(row["data"], row["method"]): row for row in known_rows(given.out)}
    for data in given.names or DATA:
        X, Y = rows_of(data, given.data_home)
        for name in given.only:
            with threadpool_limits(1):
                found = judged(held_out(METHODS[name], X, Y), dense(Y))
            rows[data, name] = {"data": data, "method": name} | found
            print({k: v for k, v in rows[data, name].items() if k != "bins"}, flush=True)
            write(given.out, [rows[key] for key in product(DATA, METHODS) if key in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
