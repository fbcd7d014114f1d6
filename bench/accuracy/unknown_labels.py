"""What unknown labels cost: hidden at random, completed by fit, or counted as absent.

    python bench/accuracy/unknown_labels.py [--data-home DIR] [--hidden SHARE] [NAME ...]

Folds of a seeded 5-fold, in each of which a share of all cells of the training labels is hidden at
random, by five masks one after the other; test rows have all their labels. "all" is fitted to all
labels, "known" to the known ones with NaN for the others, "zeros" with 0 for the others, and "rows"
to all labels of as many rows as make the same number of known labels. A figure is the mean over the
folds and the masks. "lost" is what "known" loses beside "all" as a share of what "zeros" loses: of
each mask by the means over its folds, and of all masks together. Where "zeros" loses next to
nothing, that share says little.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

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

METRICS = ("average_precision", "micro_f1")
WAYS = ("all", "known", "zeros", "rows")
MODELS = {
    "CMLLClassifier()": CMLLClassifier,
    "CMLLClassifier(decoder='learned')": lambda: CMLLClassifier(decoder="learned"),
    "CMLLClassifier(decoder='logistic')": lambda: CMLLClassifier(decoder="logistic"),
    "CompactClassifier(Original())": lambda: CompactClassifier(Original()),
    "CMLLClassifierCV()": CMLLClassifierCV,
    "ShortlistClassifier()": lambda: ShortlistClassifier(random_state=0),
    "AutoCompactClassifier()": lambda: AutoCompactClassifier(random_state=0),
}
# On how many of the folds each is measured: more where a fit takes a second, none where all masks
# take many minutes; --folds measures these, too.
FOLDS = {
    "yeast": dict(zip(MODELS, (5, 5, 5, 5, 2, 0, 0), strict=True)),
    "enron": dict(zip(MODELS, (3, 3, 3, 0, 0, 1, 1), strict=True)),
    "corel5k": dict(zip(MODELS, (1, 1, 0, 0, 0, 0, 0), strict=True)),
}


def measure(name: str, model: str, folds: int, options: Any) -> dict[str, Any]:
    """Both metrics of a model on each fold of one data set, with each mask."""
    data = load(name, data_home=options.data_home)
    X, Y = data.X, common.dense(data.Y)
    found = {way: np.zeros((options.masks, folds, 3)) for way in WAYS}
    splitter = KFold(n_splits=5, shuffle=True, random_state=options.seed)
    for fold, (train, test) in list(enumerate(splitter.split(Y)))[:folds]:
        whole = fitted(model, X[train], Y[train], X[test], Y[test])
        for mask in range(options.masks):
            rng = np.random.default_rng([options.seed, mask, fold])
            unknown = hidden(Y[train].shape, options.hidden, rng)
            found["all"][mask, fold] = whole
            for way, value in (("known", np.nan), ("zeros", 0.0)):
                labels = np.where(unknown, value, Y[train])
                found[way][mask, fold] = fitted(model, X[train], labels, X[test], Y[test])
            some = train[drawn(train.size, options.hidden, rng)]
            found["rows"][mask, fold] = fitted(model, X[some], Y[some], X[test], Y[test])
    return summary(name, model, found)


def fitted(
    model: str, X: Any, labels: np.ndarray, new: Any, truth: np.ndarray
) -> tuple[float, float, float]:
    """Average precision, micro-F1, and the seconds of a core that the fit took."""
    start = time.process_time()
    classifier = MODELS[model]().fit(X, labels)
    seconds = time.process_time() - start
    # In these sets all labels are candidates of a shortlist, so that each has a score.
    precision = average_precision(truth, common.dense(classifier.decision_function(new)))
    return precision, micro_f1(truth, classifier.predict(new)), seconds


def hidden(shape: tuple[int, int], share: float, rng: np.random.Generator) -> np.ndarray:
    """Which cells are hidden; of every row at least one is not."""
    unknown = rng.random(shape) < share
    rows = np.flatnonzero(unknown.all(axis=1))
    unknown[rows, rng.integers(shape[1], size=rows.size)] = False
    return unknown


def drawn(n_rows: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Rows, in their order, without a share of them."""
    return np.sort(rng.permutation(n_rows)[: round((1.0 - share) * n_rows)])


def summary(name: str, model: str, found: dict[str, np.ndarray]) -> dict[str, Any]:
    """The means of each mask and of all, and the share that is lost; ``found`` is of masks, folds
    and figures."""
    masks, folds, _ = found["all"].shape
    row: dict[str, Any] = {"data": name, "model": model, "masks": masks, "folds": folds}
    for place, metric in enumerate(METRICS):
        means = {way: found[way][:, :, place].mean(axis=1) for way in WAYS}  # of each mask
        every = {way: float(of_masks.mean()) for way, of_masks in means.items()}
        row[metric] = {
            **{way: round(every[way], 6) for way in WAYS},
            **{f"{way}_by_mask": np.round(means[way], 6).tolist() for way in WAYS[1:]},
            "lost": share_lost(every),
            "lost_by_mask": [
                share_lost({way: float(means[way][mask]) for way in WAYS}) for mask in range(masks)
            ],
        }
    row["core_seconds"] = {way: round(float(np.median(found[way][..., 2])), 2) for way in WAYS}
    return row


def share_lost(figures: dict[str, float]) -> float | None:
    """What the known labels lose, as a share of what zeros lose; None where these lose nothing."""
    lost = figures["all"] - figures["zeros"]
    return round((figures["all"] - figures["known"]) / lost, 3) if lost > 0 else None


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: three)")
    parser.add_argument("--hidden", type=float, default=0.3, help="share of cells (default: 0.3)")
    parser.add_argument("--folds", type=int, help="how many of the five (default: by model)")
    parser.add_argument("--masks", type=int, default=5, help="how many (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="of folds and of what is hidden")
    parser.add_argument("--only", nargs="*", metavar="MODEL", help="models (default: all)")
    parser.add_argument(
        "--out",
        type=Path,
        default=common.RESULTS / "unknown_labels.json",
        help="the record (default: results/unknown_labels.json); what it has of others is kept",
    )
    options = parser.parse_args(arguments)
    record = {"date": common.today(), "machine": common.machine(), "seed": options.seed}
    rows = before(options.out)
    for name in options.names or FOLDS:
        for model in MODELS if options.only is None else options.only:
            folds = FOLDS.get(name, {}).get(model, 1) if options.folds is None else options.folds
            if not folds:
                continue
            rows = [row for row in rows if (row["data"], row["model"]) != (name, model)]
            rows.append(measure(name, model, folds, options))
            show(rows[-1:])
            rows.sort(key=order)
            common.write_json(
                options.out, record | {"hidden": options.hidden, "measurements": rows}
            )
    return 0


def before(out: Path) -> list[dict[str, Any]]:
    """What a record has already."""
    return json.loads(out.read_text(encoding="utf-8"))["measurements"] if out.exists() else []


def order(row: dict[str, Any]) -> tuple[int, int]:
    """The place of a measurement: by data set, then by model."""
    sets = list(FOLDS)
    place = sets.index(row["data"]) if row["data"] in sets else len(sets)
    return place, list(MODELS).index(row["model"])


def show(rows: list[dict[str, Any]]) -> None:
    """A table of the means."""
    header = ("data", "model", "metric", *WAYS, "lost", "of each mask", "core seconds")
    cells = [
        (
            row["data"],
            row["model"],
            metric,
            *(f"{row[metric][way]:.4f}" for way in WAYS),
            shown(row[metric]["lost"]),
            " ".join(map(shown, row[metric]["lost_by_mask"])),
            f"{row['core_seconds']['all']:.1f} / {row['core_seconds']['known']:.1f}",
        )
        for row in rows
        for metric in METRICS
    ]
    common.show_table("unknown labels", header, cells)


def shown(share: float | None) -> str:
    """A share that is lost, in two digits."""
    return "-" if share is None else f"{share:.2f}"


if __name__ == "__main__":
    sys.exit(main())
