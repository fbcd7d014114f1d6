"""The table of methods: one row says what the benchmark and its report know of one.

A row imports nothing, so that a report can read it without what would run the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

__all__ = ["ROWS", "Family", "MethodRow"]

#: The paper has two tables. The methods of its related work are in a third; what there is besides,
#: controls and variants, in a fourth.
Family = Literal["linear", "kernel", "related", "other"]


@dataclass(frozen=True, eq=False)
class MethodRow:
    """A method and how it takes part in a benchmark."""

    name: str  # where the family is not "other", one that `compactlearn.method` knows
    family: Family  # the table that the report shows it in
    line: str  # for the legend of a report; empty for a kernel version
    axes: tuple[str, ...] = ()  # the settings that span its grid, see `grids.AXES`
    options: tuple[str, ...] = ()  # further settings that it takes
    defaults: Mapping[str, Any] = field(default_factory=dict)  # unlike `grids.SETTINGS`
    made_by: str = ""  # of "other": "package.module:function" that makes its entry

    def entry(self) -> Any:
        """Return the entry that `made_by` makes of this row."""
        module, _, name = self.made_by.partition(":")
        return getattr(import_module(module), name)(self)


_KERNEL = ("kernel_method", "n_components", "gamma")
_SETTINGS_OF_C2AE = ("protocol", "max_epochs", "learning_rate", "batch_size", "device")
_SETTINGS_OF_CMLL = ("completion", "tol", "search", "centre")

_LINEAR = (
    MethodRow(
        "ORI",
        "linear",
        "Ridge regression from all features to all labels; nothing is compressed.",
        axes=("alphas",),
    ),
    MethodRow(
        "PLST",
        "linear",
        "Labels are compressed to their principal directions; the features are kept.",
        axes=("label_ratios", "alphas"),
    ),
    MethodRow(
        "CPLST",
        "linear",
        "As PLST, with label directions that the features also predict well.",
        axes=("label_ratios", "alphas"),
    ),
    MethodRow(
        "DMLR",
        "linear",
        "Labels are compressed to codes that depend on the features and recover the labels.",
        axes=("betas", "label_ratios", "alphas"),
    ),
    MethodRow(
        "FaIE",
        "linear",
        "Label codes that are learnt freely, to be predictable from the features and to recover "
        "the labels.",
        axes=("betas", "label_ratios", "alphas"),
        options=("hat_ridge",),
    ),
    MethodRow(
        "CMLL_y",
        "linear",
        "Compact learning of the labels alone; the features are kept.",
        axes=("betas", "label_ratios", "alphas", "label_ridges"),
        options=("trace",),
    ),
    MethodRow(
        "MDDM",
        "linear",
        "Features are compressed to the directions that depend most on the labels; the labels are "
        "kept.",
        axes=("feature_ratios", "alphas"),
        options=("completion",),
    ),
    MethodRow(
        "POP",
        "linear",
        "One linear model for each label, with weights that matter little pruned.",
        options=(
            "tolerance",
            "min_kept",
            "kept_ratio",
            "min_weight",
            "validation_fraction",
            "base_loss",
        ),
    ),
    MethodRow(
        "CMLL",
        "linear",
        "Compact learning: features and labels are compressed together, with ridge regression "
        "between the two small spaces and a linear decoder back to the labels.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas", "label_ridges"),
        options=(*_SETTINGS_OF_CMLL, "trace"),
    ),
)


def _with_kernel(name: str) -> MethodRow:
    row = next(row for row in _LINEAR if row.name == name)
    options = (*(option for option in row.options if option != "trace"), *_KERNEL)
    return replace(row, name=f"k-{name}", family="kernel", line="", options=options)


_WITH_KERNEL = (
    *map(_with_kernel, ("ORI", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM")),
    MethodRow(
        "C2AE",
        "kernel",
        "Deep networks that embed features and labels together.",
        axes=("latent", "balances"),
        options=_SETTINGS_OF_C2AE,
    ),
    _with_kernel("CMLL"),
)

# ---- related work: what compresses labels, what compresses features, and models of their own -----


_OF_LABELS: tuple[MethodRow, ...] = (
    MethodRow(
        "CSSP",
        "related",
        "A few of the labels are learnt, and the others follow from them by least squares.",
        axes=("label_ratios", "alphas"),
    ),
    MethodRow(
        "Rembrandt",
        "related",
        "The labels' directions that the features predict best, found with a random block.",
        axes=("label_ratios", "alphas"),
    ),
    MethodRow(
        "CS",
        "related",
        "Labels are measured at random and recovered as sparse vectors from predicted "
        "measurements.",
        axes=("label_ratios", "alphas"),
        options=("measurement", "recovery"),
    ),
    MethodRow(
        "CCA-OC",
        "related",
        "Every label by a logistic regression, corrected by predicted combinations of labels.",
        axes=("label_ratios", "alphas", "Cs"),
        defaults={"label_ratios": (0.2, 0.5), "alphas": (1.0, 10.0, 100.0), "Cs": (0.1, 1.0)},
    ),
    MethodRow(
        "MLC-BMaD",
        "related",
        "Labels are unions of a few label sets, which are learnt in their place.",
        axes=("label_ratios", "alphas"),
        options=("protocol", "tau"),
    ),
    MethodRow(
        "GroPLE",
        "related",
        "Labels are factorised so that each group of them uses only some of the codes.",
        axes=("label_ratios", "alphas"),
    ),
    MethodRow(
        "KLST",
        "related",
        "Codes are non-linear functions of the label set that the features predict best, by kernel "
        "canonical correlation.",
        axes=("label_ratios", "alphas"),
    ),
)


_STRONG = (1.0, 3.0, 10.0, 30.0, 100.0)  # they act on sums over all rows

_OF_FEATURES: tuple[MethodRow, ...] = (
    MethodRow(
        "CCA",
        "related",
        "Features are projected to directions that correlate most with combinations of the labels.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "OPLS",
        "related",
        "Features are projected to uncorrelated directions that predict the labels best.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "MLSI",
        "related",
        "Features are projected to directions that predict both features and labels of a row.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "PCA",
        "related",
        "Features are projected to their principal directions; the labels are not looked at.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "LPP",
        "related",
        "Features are projected so that near rows stay near, without the labels.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "NPE",
        "related",
        "Features are projected so that near rows still reconstruct a row, without the labels.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "MIFS",
        "related",
        "Some features are kept, those that predict latent labels which near rows share.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "LEML",
        "related",
        "A linear model of all labels of low rank, found with the labels that are known.",
        axes=("label_ratios", "alphas"),
        options=("loss",),
        defaults={"alphas": _STRONG, "label_ratios": (0.2, 0.5, 1.0)},
    ),
    MethodRow(
        "SLRM",
        "related",
        "A linear model of all labels whose rank a nuclear norm keeps low, smooth on a graph of "
        "the rows.",
        axes=("alphas",),
        defaults={"alphas": _STRONG},
    ),
)

_OF_THEIR_OWN: tuple[MethodRow, ...] = (
    MethodRow(
        "Projection forest",
        "related",
        "A forest whose trees are grown on random projections of the labels; leaves hold the "
        "shares of the labels themselves.",
        axes=("label_ratios",),
        options=("n_trees",),
        defaults={"label_ratios": (0.1, 0.3, 1.0)},
    ),
    MethodRow(
        "BMLPL",
        "related",
        "Labels are drawn from topics, of which a row has as much as its features say: a Poisson "
        "model, learnt by variational EM.",
        axes=("latent", "alphas"),
        defaults={"latent": (0.5, 1.0), "alphas": (1.0, 10.0, 100.0)},
    ),
    MethodRow(
        "SLEEC",
        "related",
        "Local embeddings that keep inner products of near label vectors, and a vote of the "
        "nearest training rows there.",
        axes=("latent", "alphas"),
        options=("n_similar", "n_neighbors"),
        defaults={"latent": (0.5, 1.0), "alphas": (1.0, 10.0, 100.0)},
    ),
    MethodRow(
        "MANIAC",
        "related",
        "Labels are compressed by a stack of sigmoid layers that learn to reproduce them, and the "
        "codes predicted by linear regressions.",
        axes=("levels", "alphas"),
        options=("max_epochs", "device"),
        defaults={"levels": (1, 4), "alphas": (1.0, 10.0, 100.0)},
    ),
    MethodRow(
        "DeepCMLL",
        "related",
        "CMLL with a network added to each of its linear encoders, which begins as CMLL and is "
        "never below it on the training objective.",
        axes=("label_ratios", "alphas"),
        options=("max_epochs", "learning_rate", "device"),
        defaults={"label_ratios": (0.5, 1.0), "alphas": (1.0, 10.0, 100.0)},
    ),
)

_RELATED = (*_OF_LABELS, *_OF_FEATURES, *_OF_THEIR_OWN)

_LOGISTIC = MethodRow(
    "CMLL+logistic",
    "other",
    "CMLL's label codes, with one logistic regression for each label as the decoder and a tuned "
    "threshold.",
    axes=("betas", "label_ratios", "alphas"),
    options=("finalists",),
    defaults={
        "protocol": "recommended",
        "threshold": "f1",
        "betas": ("auto",),
        "label_ratios": (0.5, 1.0),
        "alphas": (1.0, 10.0, 30.0, 100.0, 300.0),
    },
    made_by="compactlearn_bench.methods.library_entries:logistic",
)


def _completed(completion: str, words: str) -> MethodRow:
    return MethodRow(
        f"CMLL/{completion}",
        "other",
        f"CMLL, with {words}.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas", "label_ridges"),
        options=(*(o for o in _SETTINGS_OF_CMLL if o != "completion"), "trace"),
        made_by="compactlearn_bench.methods.library_entries:completed",
    )


_LIBRARY = (
    MethodRow(
        "CMLL+f1",
        "other",
        "CMLL, with a threshold that is tuned for F1 on held-out scores.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas"),
        options=_SETTINGS_OF_CMLL,
        defaults={
            "protocol": "recommended",
            "threshold": "f1",
            "completion": "krylov",
            "betas": ("auto",),
            "label_ratios": (0.1, 0.3, 0.5, 1.0),
            "feature_ratios": (0.1, 0.5, 1.0),
            "alphas": tuple(10.0**k for k in range(-1, 5)),
        },
        made_by="compactlearn_bench.methods.library_entries:tuned",
    ),
    _LOGISTIC,
    replace(
        _LOGISTIC,
        name="k-CMLL+logistic",
        line="",
        options=("finalists", *_KERNEL),
        defaults={**_LOGISTIC.defaults, "alphas": (0.01, 0.03, 0.1, 0.3, 1.0)},
    ),
    MethodRow(
        "BR-logistic",
        "other",
        "One logistic regression for each label on all features (one-vs-rest), with a tuned "
        "threshold; nothing is compressed.",
        axes=("Cs",),
        options=("threshold", "solver"),
        defaults={"threshold": "f1"},
        made_by="compactlearn_bench.methods.library_entries:one_vs_rest_logistic",
    ),
    MethodRow(
        "Shortlist",
        "other",
        "Candidates by a compact model and by similar rows, ranked again by a sparse logistic "
        "regression for each label that knows the likely labels; a tuned threshold.",
        options=("threshold",),
        defaults={"threshold": "f1"},
        made_by="compactlearn_bench.methods.library_entries:shortlist",
    ),
    _completed("none", "no more feature directions than the label codes give"),
    _completed("variance", "its feature directions filled up by those of largest variance"),
    _completed("random", "its feature directions filled up at random"),
    _completed("krylov", "its feature directions filled up by a Krylov space of the labels"),
    MethodRow(
        "RRR",
        "other",
        "Control: reduced-rank ridge regression, the best few codes for ridge on all features.",
        axes=("label_ratios", "alphas"),
        made_by="compactlearn_bench.methods.library_entries:reduced_rank_ridge",
    ),
    MethodRow(
        "PCA+ridge",
        "other",
        "Control: ridge regression on the features' principal directions, which know nothing of "
        "the labels.",
        axes=("feature_ratios", "alphas"),
        made_by="compactlearn_bench.methods.library_entries:principal_directions",
    ),
    MethodRow(
        "Random P",
        "other",
        "Control: ridge regression on random directions of the features.",
        axes=("feature_ratios", "alphas"),
        made_by="compactlearn_bench.methods.library_entries:random_directions",
    ),
    MethodRow(
        "MDDM+CMLL_y",
        "other",
        "Control: MDDM's features and CMLL_y's codes, neither knowing of the other.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas"),
        options=("completion", "search", "centre"),
        made_by="compactlearn_bench.methods.library_entries:apart",
    ),
)

_BASELINES = "compactlearn_bench.methods.baselines"
_SIX = tuple(10.0**k for k in range(-3, 3))

_OF_OTHERS = (
    MethodRow(
        "Linear SVM",
        "other",
        "Baseline: one linear support vector machine for each label on all features (one-vs-rest).",
        axes=("Cs",),
        defaults={"Cs": _SIX},
        made_by=f"{_BASELINES}:linear_svm",
    ),
    MethodRow(
        "Chains",
        "other",
        "Baseline: the mean of several chains of logistic regressions, in which each label is a "
        "feature of the next, with one-vs-rest's penalty.",
        axes=("Cs",),
        options=("chains",),
        defaults={"Cs": _SIX},
        made_by=f"{_BASELINES}:chains",
    ),
    MethodRow(
        "Random forest",
        "other",
        "Baseline: one forest of trees for all labels together, on bootstrap samples.",
        options=("trees",),
        made_by=f"{_BASELINES}:random_forest",
    ),
    MethodRow(
        "Extra trees",
        "other",
        "Baseline: one forest of trees for all labels together, with splits drawn at random.",
        options=("trees",),
        made_by=f"{_BASELINES}:extra_trees",
    ),
    MethodRow(
        "LightGBM",
        "other",
        "Baseline: gradient boosting of trees, one model for each label.",
        made_by=f"{_BASELINES}:lightgbm",
    ),
    MethodRow(
        "ML-kNN",
        "other",
        "Baseline: the labels of the most similar training rows, weighed by Bayes' rule.",
        axes=("neighbours",),
        made_by=f"{_BASELINES}:ml_knn",
    ),
    MethodRow(
        "Auto",
        "other",
        "The library's choice among its own classifiers, made by itself within the training rows.",
        options=("size_budget", "time_budget"),
        made_by=f"{_BASELINES}:auto",
    ),
)

#: Every method by its name, in the order of the paper's tables and then of the others.
ROWS: dict[str, MethodRow] = {
    row.name: row for row in (*_LINEAR, *_WITH_KERNEL, *_RELATED, *_LIBRARY, *_OF_OTHERS)
}
