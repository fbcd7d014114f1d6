"""Balance of multi-label stratified folds, compared with two public packages.

    python bench/speed/splits.py [--data-home DIR] [--quick] [--out FILE]

LD is the label distribution measure of Sechidis et al. (2011): the mean, over labels and folds, of
the absolute difference of a label's odds in the fold and in all rows; ED is the mean absolute
difference of a fold's size from its share. Five folds, means over seeds; below is better. The other
packages are iterative-stratification (MultilabelStratifiedKFold) and
scikit-multilearn-ng (IterativeStratification).
"""

import sys
from importlib import import_module
from importlib.metadata import version

import numpy as np
import scipy.sparse

from compactlearn.datasets import load
from compactlearn.model_selection import IterativeStratification
from compactlearn_bench.measure import parser, rounded, sparse, write

FOLDS, SEEDS, QUICK_SEEDS = 5, 20, 2
DATA = ("enron", "llog", "yeast", "medical", "corel5k", "plant")
# Rows, labels, share of labels present.
RANDOM = {
    "random 1000 x 50": (1000, 50, 0.05),
    "random 5000 x 30": (5000, 30, 0.2),
    "random 2000 x 300": (2000, 300, 0.02),
}


def ours(seed, Y):
    return IterativeStratification(FOLDS, random_state=seed).split(Y, Y)


def iterative_stratification(seed, Y):
    module = import_module("iterstrat.ml_stratifiers")
    splitter = module.MultilabelStratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return splitter.split(Y.toarray(), Y.toarray().astype(int))


def scikit_multilearn(seed, Y):
    """Split rows that are shuffled before, and found again after it.

    Where the splitter shuffles by itself (0.0.8: with shuffle=True or any random_state), the
    indices it gives are places in the shuffled order, and folds read as rows are not stratified.
    """
    module = import_module("skmultilearn.model_selection")
    places = np.random.RandomState(seed).permutation(Y.shape[0])
    np.random.seed(seed)  # noqa: NPY002 - without random_state it draws from this one
    labels = Y[places].toarray().astype(int)
    for train, test in module.IterativeStratification(FOLDS, order=1).split(labels, labels):
        yield places[train], places[test]


OTHERS = {
    "iterative-stratification": iterative_stratification,
    "scikit-multilearn-ng": scikit_multilearn,
}


def label_sets(data_home, quick):
    for name in DATA[:1] if quick else DATA:
        yield name, sparse(load(name, data_home=data_home).Y)
    for name, (rows, labels, share) in {} if quick else RANDOM.items():
        rng = np.random.default_rng(0)
        Y = scipy.sparse.random_array((rows, labels), density=share, rng=rng, format="csr")
        Y.data[:] = 1
        yield name, Y


def quality(Y, split, seeds):
    """Return LD and ED, means over seeds."""
    found = []
    for seed in seeds:
        fold = np.empty(Y.shape[0], dtype=int)
        for number, (_, test) in enumerate(split(seed, Y)):
            fold[test] = number
        sizes = np.abs(np.bincount(fold, minlength=FOLDS) - len(fold) / FOLDS).mean()
        found.append((label_distribution(Y, fold), sizes))
    return np.mean(found, axis=0)


def label_distribution(Y, fold):
    """Return LD over the labels that some rows have and some have not."""
    n = len(fold)
    sums = scipy.sparse.csr_array((np.ones(n), (fold, np.arange(n))), shape=(FOLDS, n)) @ Y
    total = np.asarray(Y.sum(axis=0)).ravel()
    varies = (total > 0) & (total < n)
    counts, total = sums.toarray()[:, varies], total[varies]
    sizes = np.bincount(fold, minlength=FOLDS)[:, None]
    return float(np.abs(counts / (sizes - counts) - total / (n - total)).mean())


def main():
    command = parser(__doc__, "splits.json")
    command.add_argument("--quick", action="store_true", help="one set; writes nothing")
    given = command.parse_args()
    seeds = range(QUICK_SEEDS if given.quick else SEEDS)
    rows = []
    for name, Y in label_sets(given.data_home, given.quick):
        ld, ed = quality(Y, ours, seeds)
        for against, split in OTHERS.items():
            their_ld, their_ed = quality(Y, split, seeds)
            row = {"data": name, "against": against}
            row |= {"ours_ld": rounded(ld), "theirs_ld": rounded(their_ld)}
            rows.append(row | {"ours_ed": rounded(ed), "theirs_ed": rounded(their_ed)})
            print(rows[-1], flush=True)
    if not given.quick:
        write(given.out, rows, folds=FOLDS, seeds=SEEDS, rivals={n: version(n) for n in OTHERS})
    return 0


if __name__ == "__main__":
    sys.exit(main())
