"""Seconds of the logistic decoder on corel5k: 5000 rows, 374 labels, 100 codes.

    python bench/speed/logistic.py [--data-home DIR] [--threads N] [--quick] [--out FILE]

one penalty  until every label's gradient is below 1e-4 of its start, against one-vs-rest
             LogisticRegression(lbfgs) on the same standardised codes with the same penalty (it
             shrinks to 0 and stops by its own rule; how far its gradients fell is recorded)
selection    choosing the penalty by three folds in turn, against the fit of one penalty

Times are medians of interleaved pairs, after one untimed run of each; the codes, predicted for rows
that the learner had not seen, are made beforehand.
"""

import contextlib
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
from timing import interleaved

from compactlearn import CMLLClassifier
from compactlearn.crossfit import _decoder_fitter as decisions
from compactlearn.datasets import load
from compactlearn.decoding import _logistic as logistic
from compactlearn.decoding._held_out import DecoderData, HeldOutFold

SECONDS, TIMES, FELL = 10.0, 5.0, 1e-4  # the targets

Row = dict[str, Any]


class _EnoughError(Exception):
    """Raised where the penalty would be chosen: what is held out is all that is wanted."""


def decoder_material(X: Any, Y: Any, n_codes: int) -> tuple[DecoderData, list[HeldOutFold]]:
    """What a fit hands to the logistic decoder, and what it judges penalties by."""
    seen: list[Any] = []
    real = decisions.CrossFit

    class Kept(real):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            seen.append(self)

    with (
        mock.patch.object(decisions, "CrossFit", Kept),
        mock.patch.object(decisions, "choose_penalty", side_effect=_EnoughError) as door,
        contextlib.suppress(_EnoughError),
    ):
        CMLLClassifier("auto", n_codes, decoder="logistic", threshold=0.5).fit(X, Y)
    if not seen or not door.called:
        raise RuntimeError("CMLLClassifier did not reach choose_penalty")
    every = slice(0, seen[0].pair.n_right)
    folds = list(door.call_args.args[0])
    return _with_scores(seen[0].data(), every), [
        replace(part, train=_with_scores(part.train, every)) for part in folds
    ]


def _with_scores(data: DecoderData, every: slice) -> DecoderData:
    """The same with scores at hand: refits are not what is timed."""
    scores = data.scores(every)
    return replace(data, scores=lambda labels: scores[:, labels])


def rival(Z: np.ndarray, T: np.ndarray, penalty: float) -> Any:
    """One-vs-rest, one process to a core and one thread each: two threads would only wait."""
    model = OneVsRestClassifier(LogisticRegression(C=1.0 / penalty, max_iter=1000), n_jobs=-1)
    with parallel_config("loky", inner_max_num_threads=1):
        return model.fit(Z, T)


def fall_of(model: Any, Z: np.ndarray, T: np.ndarray, penalty: float) -> float:
    """The largest share of a label's first gradient that the rival leaves, as ours is measured."""
    worst = 0.0
    for fitted, t in zip(model.estimators_, T.T, strict=True):
        b = fitted.coef_[0]
        p = fitted.predict_proba(Z)[:, 1]
        slopes, first = Z.T @ (p - t) + penalty * b, Z.T @ (t.mean() - t)
        worst = max(worst, np.abs(np.append(slopes, (p - t).sum())).max() / np.abs(first).max())
    return float(worst)


def measurements(X: Any, Y: Any, n_codes: int, pairs: int) -> list[Row]:
    """The two rows of the record."""
    data, folds = decoder_material(X, Y, n_codes)
    codes = data.codes
    choose = partial(logistic.choose_penalty, folds)
    falls: list[float] = []
    fit = logistic.fit_logistic

    def noted(*args: Any, **options: Any) -> Any:
        result = fit(*args, **options)
        falls.append(float(result.reduction.max()))
        return result

    with mock.patch.object(logistic, "fit_logistic", noted):
        penalty = choose()
        one = partial(logistic.learn_logistic_decoder, data, penalty)
        one()  # the last fit is that of all rows
    Z, T = (codes - codes.mean(axis=0)) / codes.std(axis=0), data.labels.toarray()
    T = T[:, (T.sum(axis=0) > 0) & (T.sum(axis=0) < len(T))]  # the rival refuses constant labels
    shape = {"rows": len(codes), "labels": T.shape[1], "codes": codes.shape[1], "penalty": penalty}

    times = interleaved(one, partial(rival, Z, T, penalty), pairs=pairs)
    alone = {"what": "one penalty"} | shape | times.summary() | {"target": SECONDS}
    alone |= {"fell": falls[-1], "theirs_fell": fall_of(rival(Z, T, penalty), Z, T, penalty)}
    alone["met"] = bool(alone["ours_s"] <= SECONDS and falls[-1] <= FELL)

    times = interleaved(choose, one, pairs=pairs)
    added = {"what": "selection"} | shape | times.summary() | {"target": TIMES}
    added |= {"fits": len(falls) - 1, "met": bool(times.summary()["ratio"] <= TIMES)}
    return [alone, added]


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; 0 if both targets are met, 1 if not."""
    parser = common.parser(__doc__)
    parser.add_argument("--threads", type=int, default=2, help="threads of the BLAS")
    parser.add_argument("--pairs", type=int, default=5, help="how often each is timed")
    parser.add_argument("--quick", action="store_true", help="a smoke test on enron")
    parser.add_argument("--out", type=Path, help="the record (default: results/logistic.json)")
    options = parser.parse_args(arguments)
    data = load("enron" if options.quick else "corel5k", data_home=options.data_home)
    warnings.simplefilter("ignore")
    with threadpool_limits(options.threads):
        size, pairs = (20, 1) if options.quick else (100, options.pairs)
        rows = measurements(data.X, data.Y, size, pairs)
    for row in rows:
        print(row, flush=True)
    out = options.out
    if out is None and not options.quick:
        out = common.RESULTS / "logistic.json"
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "threads": options.threads}
        record |= {"data": data.name, "measurements": rows}
        common.write_json(out, record)
    return 0 if options.quick or all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
