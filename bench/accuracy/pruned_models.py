"""What to leave out of a linear model of text where few numbers may be kept.

    python bench/accuracy/pruned_models.py [--data-home DIR] [--out FILE] [NAME ...]

Average precision, the mean of three folds, at 2, 5, 10, 20 and 50 % of the D x M numbers of a
ridge, on the three sets of text of bench/auto/sizes.toml, but on rows that it does not draw:
what was chosen here is judged there on other rows. How rows are prepared, and the penalty, are
those with which ridge is best on these rows; nothing else is tuned, but the penalty of the L1 norm,
which is the best on the very rows that judge it. A weight of a sparse matrix counts twice, once for
its place, and a feature that is kept counts once for its place.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CPLST, CMLLClassifier, CompactClassifier, Original
from compactlearn.auto._budgets import most_codes
from compactlearn.auto._preprocessing import PREPROCESSINGS, Preprocessing
from compactlearn.compact._pruned import (
    KeptFeatures,
    KeptWeights,
    codes_of_kept_features,
    kept_weights_within,
)
from compactlearn.datasets import load
from compactlearn.linalg._pruned_ridge import largest_places
from compactlearn.metrics import average_precision
from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import fold_rows

DATA = ("enron", "llog", "bibtex")
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
FEATURES = (0.1, 0.2, 0.4, 0.7)
MULTIPLES = (0.1, 0.3, 1.0, 3.0, 10.0)
L1_PENALTIES = (0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 16.0)
ROWS = 1000
SPEC = common.ROOT / "bench" / "auto" / "sizes.toml"

Array = Any


def other_rows(name: str, n_rows: int) -> Array:
    """Rows that sizes.toml does not draw, a thousand at most."""
    cell = next(cell for cell in cells_of(read_spec(SPEC)) if cell.dataset == name)
    used = fold_rows(replace(cell, fold=0), n_rows)[0]
    rest = np.setdiff1d(np.arange(n_rows), used)
    return np.sort(np.random.default_rng(0).permutation(rest)[:ROWS])


def folds(X: Any, Y: Any, way: Preprocessing) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Three, each prepared by its training rows."""
    for train, test in KFold(3, shuffle=True, random_state=0).split(np.empty((X.shape[0], 1))):
        prepared = way.fit(X[train], None)
        new = X[test] if prepared.transformer is None else prepared.transformer.transform(X[test])
        yield (
            scipy.sparse.csr_array(prepared.X),
            Y[train],
            scipy.sparse.csr_array(new),
            Y[test],
        )


def ridge(A: Any, T: Any, alpha: float) -> CompactClassifier:
    """Plain ridge."""
    return CompactClassifier(Original(), alpha=alpha, threshold=0.5).fit(A, T)


def pruned(A: Any, B: Array, count: int) -> Array:
    """The weights that move scores most, and zeros."""
    deviations = np.asarray(A.toarray()).std(axis=0)
    kept = np.zeros(B.size)
    places = largest_places(np.abs(B) * deviations[:, None], count)
    kept[places] = B.ravel()[places]
    return kept.reshape(B.shape)


def measure_fold(A: Any, T: Any, new: Any, multiple: float) -> Iterator[tuple[str, float, Array]]:
    """(method, share, scores) of everything on one fold."""
    D, M = A.shape[1], T.shape[1]
    alpha = multiple * common.auto_penalty(A)
    mean, share_of = np.asarray(A.mean(axis=0)).ravel(), np.asarray(T.mean(axis=0)).ravel()
    plain = ridge(A, T, alpha)
    full = CMLLClassifier(None, 1.0, alpha=alpha, decoder="logistic", threshold=0.5).fit(A, T)
    yield "ridge", 1.0, plain.decision_function(new)
    yield "full", 1.0, full.decision_function(new)
    lasso = list(l1_path(A, T))
    for share in SHARES:
        budget = int(share * D * M)
        codes, count = most_codes(budget, D, M), kept_weights_within(budget, M)
        if codes:
            yield "codes", share, compact(CPLST(codes), alpha).fit(A, T).decision_function(new)
        for part in FEATURES:
            kept = round(part * D)
            more = codes_of_kept_features(budget, kept, M)
            if more > codes:
                model = KeptFeatures(compact(CPLST(more), alpha), kept, alpha=alpha)
                yield f"features_{part}", share, checked(model.fit(A, T), budget, new)
        if not count:
            continue
        B = pruned(A, plain.coef_, count)
        yield "pruned", share, new @ B + share_of - mean @ B
        for key, refit in (("refitted", alpha), ("refitted_less", alpha / 3)):
            model = KeptWeights(count, alpha=alpha, refit_alpha=refit)
            yield key, share, checked(model.fit(A, T), budget, new)
        B = pruned(A, full.coef_, count)
        yield "full_pruned", share, new @ B + full.intercept_ + mean @ (full.coef_ - B)
        few = most_codes(budget // 2, D, M)
        if few:  # half of the numbers for codes, half for weights that these lack
            low = CompactClassifier(CPLST(few), alpha=alpha, threshold=0.5).fit(A, T)
            B = low.coef_ + pruned(A, plain.coef_ - low.coef_, kept_weights_within(budget // 2, M))
            yield "both", share, new @ B + share_of - mean @ B
        for C, (B, b) in zip(L1_PENALTIES, lasso, strict=True):
            if np.count_nonzero(B) <= count:
                yield f"l1_{C}", share, new @ B + b


def compact(embedding: Any, alpha: float) -> CompactClassifier:
    """With a logistic decoder."""
    return CompactClassifier(embedding, alpha=alpha, decoder="logistic", threshold=0.5)


def checked(model: Any, budget: int, new: Any) -> Array:
    """The scores of a model that is as small as was asked."""
    assert model.n_parameters_ <= budget
    return model.decision_function(new)


def l1_path(A: Any, T: Any) -> Iterator[tuple[Array, Array]]:
    """One-vs-rest logistic regressions with an L1 penalty, in units of the rows' length."""
    unit = np.sqrt(common.auto_penalty(A))
    labels = T.toarray()
    share = (labels.sum(axis=0) + 0.5) / (len(labels) + 1.0)
    for C in L1_PENALTIES:
        B, b = np.zeros((A.shape[1], T.shape[1])), np.log(share / (1 - share))
        for label in np.flatnonzero((labels.sum(axis=0) > 0) & (labels.sum(axis=0) < len(labels))):
            one = LogisticRegression(
                l1_ratio=1.0, C=C / unit, solver="liblinear", intercept_scaling=10.0
            )
            one.fit(scipy.sparse.csr_matrix(A), labels[:, label])
            B[:, label], b[label] = one.coef_[0], one.intercept_[0]
        yield B, b


def measure(name: str, data_home: Path | None) -> dict[str, Any]:
    """One data set."""
    data = load(name, data_home=data_home)
    X, Y = common.sparse(data.X), common.sparse(data.Y)
    rows = other_rows(name, X.shape[0])
    X, Y = scipy.sparse.csr_array(X[rows]), scipy.sparse.csr_array(Y[rows])
    settings = {}
    for way in PREPROCESSINGS:
        for multiple in MULTIPLES:
            found = [
                average_precision(
                    U, ridge(A, T, multiple * common.auto_penalty(A)).decision_function(new)
                )
                for A, T, new, U in folds(X, Y, way)
            ]
            settings[way, multiple] = np.mean(found)
    way, multiple = max(settings, key=lambda one: settings[one])
    figures: dict[tuple[str, float], list[float]] = {}
    for A, T, new, U in folds(X, Y, way):
        for key, share, scores in measure_fold(A, T, new, multiple):
            figures.setdefault((key, share), []).append(average_precision(U, scores))
    # What does not fit into the size on every fold has no mean.
    means = {
        key: round(float(np.mean(found)), 4) for key, found in figures.items() if len(found) == 3
    }
    for share in SHARES:
        strengths = [(f"l1_{C}", share) for C in L1_PENALTIES if (f"l1_{C}", share) in means]
        if strengths:
            means["l1", share] = max(means.pop(key) for key in strengths)
    for key, value in sorted(means.items(), key=lambda item: (item[0][1], -item[1])):
        print(name, *key, value, flush=True)
    return {
        "data": name,
        "rows": len(rows),
        "way": way.name,
        "multiple": multiple,
        "ridge": means["ridge", 1.0],
        "full": means["full", 1.0],
        "sizes": [
            {"share": share} | {key: value for (key, at), value in means.items() if at == share}
            for share in SHARES
        ],
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, write."""
    return common.measured_by_set(__doc__, "pruned_models.json", DATA, measure, arguments)


if __name__ == "__main__":
    sys.exit(main())
