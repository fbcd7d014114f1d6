"""The table of methods: one row says what the library, its benchmark and its report know of one.

A row names what makes the method and imports nothing, so that a report can read it without what
would run the method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

__all__ = ["NOT_HERE", "ROWS", "Family", "MethodRow"]

#: The paper has two tables. The methods of its related work stand in a third; what the library has
#: beside all these, controls and variants, in a fourth.
Family = Literal["linear", "kernel", "related", "other"]


@dataclass(frozen=True, eq=False)
class MethodRow:
    """A method and what one must know to use it.

    Parameters
    ----------
    name : str
    family : "linear", "kernel", "related" or "other"
        Where the report shows it. Those of the first three are what `compactlearn.method` knows.
    made_by : str
        "package.module:object" of an embedding or a classifier; in the fourth table of a function
        that makes of this row an entry of the benchmark.
    line : str
        What it is, for the legend of a report; of a kernel version that of the method itself.
    axes : tuple of str
        The settings that span its grid in a benchmark, see ``bench.methods.grids.AXES``.
    options : tuple of str
        Further settings that it takes there.
    defaults : mapping
        Where these differ from the defaults of ``bench.methods.grids.SETTINGS``.
    fixed : mapping
        Parameters that are part of the method's definition.
    paper : mapping
        Parameters for which the paper, or the program that it used, differs from our defaults.
    printed : mapping
        What the paper's figures have beside that, though neither it nor the text says so: the
        protocol "as printed".
    kernel : bool
        Whether a ``KernelMap`` stands before it.
    """

    name: str
    family: Family
    made_by: str
    line: str
    axes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    paper: Mapping[str, Any] = field(default_factory=dict)
    printed: Mapping[str, Any] = field(default_factory=dict)
    kernel: bool = False

    def maker(self) -> Any:
        """The object that `made_by` names."""
        module, _, name = self.made_by.partition(":")
        return getattr(import_module(module), name)


_PAPER = {"beta": 1.0, "offset": "none"}
# A ridge without an intercept and with the penalty that the public program of PLST and CPLST has:
# so the figures of plain ridge come back (docs/results.md, "As printed").
_PRINTED = {"bias": "none", "alpha": 0.1}
# No constant enters by another door either: labels are not centred, nor is their mean added again.
_PRINTED_PLST = {**_PRINTED, "center": False, "offset": "none"}
_PRINTED_CPLST = {**_PRINTED_PLST, "hat": "raw"}
# The first public version of FaIE's program; with a larger one its balance would choose principal
# directions of the features, which the figures rule out.
_PRINTED_FAIE = {**_PRINTED, "ridge": 1e-6}
_KERNEL = ("kernel_method", "n_components", "gamma")
_SETTINGS_OF_C2AE = ("protocol", "max_epochs", "learning_rate", "batch_size", "device")
# What the authors' program does; but it keeps the epoch of the best micro-F1 + macro-F1 on
# validation rows, here it is that of the best micro-F1.
_PROGRAM_OF_C2AE = {
    "n_components": 0.8,
    "alpha": 2.0,
    "batch_size": 500,
    "max_epochs": 50,
    "learning_rate": 1e-4,
    "scoring": "micro_f1",
    "patience": None,
}
_SETTINGS_OF_CMLL = ("completion", "tol", "search", "centre")

_LINEAR = (
    MethodRow(
        "ORI",
        "linear",
        "compactlearn.embeddings:Original",
        "Ridge regression from all features to all labels; nothing is compressed.",
        axes=("alphas",),
        printed=_PRINTED,
    ),
    MethodRow(
        "PLST",
        "linear",
        "compactlearn.embeddings:PLST",
        "Labels are compressed to their principal directions; the features are kept.",
        axes=("label_ratios", "alphas"),
        printed=_PRINTED_PLST,
    ),
    MethodRow(
        "CPLST",
        "linear",
        "compactlearn.embeddings:CPLST",
        "As PLST, with label directions that the features also predict well.",
        axes=("label_ratios", "alphas"),
        printed=_PRINTED_CPLST,
    ),
    MethodRow(
        "DMLR",
        "linear",
        "compactlearn.embeddings:DMLR",
        "Labels are compressed to codes that depend on the features and recover the labels.",
        axes=("betas", "label_ratios", "alphas"),
        paper=_PAPER,
        printed=_PRINTED,
    ),
    MethodRow(
        "FaIE",
        "linear",
        "compactlearn.embeddings:FaIE",
        "Label codes that are learnt freely, to be predictable from the features and to recover "
        "the labels.",
        axes=("betas", "label_ratios", "alphas"),
        options=("hat_ridge",),
        paper=_PAPER,
        printed=_PRINTED_FAIE,
    ),
    MethodRow(
        "CMLL_y",
        "linear",
        "compactlearn.embeddings:CMLL",
        "Compact learning of the labels alone; the features are kept.",
        axes=("betas", "label_ratios", "alphas", "label_ridges"),
        options=("trace",),
        fixed={"n_feature_components": None},
        paper=_PAPER,
        printed=_PRINTED,
    ),
    MethodRow(
        "MDDM",
        "linear",
        "compactlearn.embeddings:MDDM",
        "Features are compressed to the directions that depend most on the labels; the labels are "
        "kept.",
        axes=("feature_ratios", "alphas"),
        options=("completion",),
        printed=_PRINTED,
    ),
    MethodRow(
        "POP",
        "linear",
        "compactlearn.related._pop:POPClassifier",
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
        "compactlearn.embeddings:CMLL",
        "Compact learning: features and labels are compressed together, with ridge regression "
        "between the two small spaces and a linear decoder back to the labels.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas", "label_ridges"),
        options=(*_SETTINGS_OF_CMLL, "trace"),
        paper=_PAPER,
        printed=_PRINTED,
    ),
)


def _with_kernel(name: str) -> MethodRow:
    row = next(row for row in _LINEAR if row.name == name)
    options = (*(option for option in row.options if option != "trace"), *_KERNEL)
    return replace(row, name=f"k-{name}", family="kernel", line="", options=options, kernel=True)


_WITH_KERNEL = (
    *map(_with_kernel, ("ORI", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM")),
    MethodRow(
        "C2AE",
        "kernel",
        "compactlearn.related._c2ae:C2AEClassifier",
        "Deep networks that embed features and labels together.",
        axes=("latent", "balances"),
        options=_SETTINGS_OF_C2AE,
        paper=_PROGRAM_OF_C2AE,
    ),
    _with_kernel("CMLL"),
)

# ---- related work: what compresses labels, what compresses features, and models of their own -----

_LABEL_SIDE = "compactlearn.related"
_DECODERS = "compactlearn.related"

_OF_LABELS: tuple[MethodRow, ...] = (
    MethodRow(
        "CSSP",
        "related",
        f"{_LABEL_SIDE}:CSSP",
        "A few of the labels are learnt, and the others follow from them by least squares.",
        axes=("label_ratios", "alphas"),
        paper={"selection": "sampled", "coding": "binary"},
    ),
    MethodRow(
        "Rembrandt",
        "related",
        f"{_LABEL_SIDE}:Rembrandt",
        "The labels' directions that the features predict best, found with a random block.",
        axes=("label_ratios", "alphas"),
        paper={"offset": "none"},
    ),
    MethodRow(
        "CS",
        "related",
        f"{_DECODERS}:CompressedSensingClassifier",
        "Labels are measured at random and recovered as sparse vectors from predicted "
        "measurements.",
        axes=("label_ratios", "alphas"),
        options=("measurement", "recovery"),
    ),
    MethodRow(
        "CCA-OC",
        "related",
        f"{_DECODERS}:OutputCodesClassifier",
        "Every label by a logistic regression, corrected by predicted combinations of labels.",
        axes=("label_ratios", "alphas", "Cs"),
        defaults={"label_ratios": (0.2, 0.5), "alphas": (1.0, 10.0, 100.0), "Cs": (0.1, 1.0)},
    ),
    MethodRow(
        "MLC-BMaD",
        "related",
        f"{_DECODERS}:BooleanClassifier",
        "Labels are unions of a few label sets, which are learnt in their place.",
        axes=("label_ratios", "alphas"),
        options=("protocol", "tau"),
        paper={"scores": "binary"},
    ),
    MethodRow(
        "GroPLE",
        "related",
        f"{_LABEL_SIDE}:GroPLE",
        "Labels are factorised so that each group of them uses only some of the codes.",
        axes=("label_ratios", "alphas"),
        paper={"coding": "signed"},
    ),
    MethodRow(
        "KLST",
        "related",
        f"{_LABEL_SIDE}:KernelLabelSpace",
        "Codes are non-linear functions of the label set that the features predict best, by kernel "
        "canonical correlation.",
        axes=("label_ratios", "alphas"),
        paper={"joined": True},
    ),
)

# As ML-FSDR and MLC_toolbox have them.
_PROGRAMS = {"ridge": 1.0, "unit_columns": True}

_STRONG = (1.0, 3.0, 10.0, 30.0, 100.0)  # they act on sums over all rows

_OF_FEATURES: tuple[MethodRow, ...] = (
    MethodRow(
        "CCA",
        "related",
        "compactlearn.related:CCA",
        "Features are projected to directions that correlate most with combinations of the labels.",
        axes=("feature_ratios", "alphas"),
        paper=_PROGRAMS,
    ),
    MethodRow(
        "OPLS",
        "related",
        "compactlearn.related:OPLS",
        "Features are projected to uncorrelated directions that predict the labels best.",
        axes=("feature_ratios", "alphas"),
        paper=_PROGRAMS,
    ),
    MethodRow(
        "MLSI",
        "related",
        "compactlearn.related:MLSI",
        "Features are projected to directions that tell both features and labels of a row.",
        axes=("feature_ratios", "alphas"),
        paper=_PROGRAMS,
    ),
    MethodRow(
        "PCA",
        "related",
        "compactlearn.related:PCA",
        "Features are projected to their principal directions; the labels are not looked at.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "LPP",
        "related",
        "compactlearn.related:LPP",
        "Features are projected so that near rows stay near, without the labels.",
        axes=("feature_ratios", "alphas"),
        paper={"width": 1.0, "unit_columns": True},
    ),
    MethodRow(
        "NPE",
        "related",
        "compactlearn.related:NPE",
        "Features are projected so that near rows still reconstruct a row, without the labels.",
        axes=("feature_ratios", "alphas"),
        paper={"unit_columns": True},
    ),
    MethodRow(
        "MIFS",
        "related",
        "compactlearn.related:MIFS",
        "Some features are kept, those that predict latent labels which near rows share.",
        axes=("feature_ratios", "alphas"),
        paper={"width": 1.0},
    ),
    MethodRow(
        "LEML",
        "related",
        "compactlearn.related:LEML",
        "A linear model of all labels of low rank, found with the labels that are known.",
        axes=("label_ratios", "alphas"),
        options=("loss",),
        defaults={"alphas": _STRONG, "label_ratios": (0.2, 0.5, 1.0)},
    ),
    MethodRow(
        "SLRM",
        "related",
        "compactlearn.related:SLRM",
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
        "compactlearn.related._projection_forest:ProjectionForestClassifier",
        "A forest whose trees are grown on random projections of the labels; leaves hold the "
        "shares of the labels themselves.",
        axes=("label_ratios",),
        options=("n_trees",),
        defaults={"label_ratios": (0.1, 0.3, 1.0)},
    ),
    MethodRow(
        "BMLPL",
        "related",
        "compactlearn.related._bmlpl:TopicClassifier",
        "Labels are drawn from topics, of which a row has as much as its features say: a Poisson "
        "model, learnt by variational EM.",
        axes=("latent", "alphas"),
        defaults={"latent": (0.5, 1.0), "alphas": (1.0, 10.0, 100.0)},
    ),
    MethodRow(
        "SLEEC",
        "related",
        "compactlearn.related._sleec:SLEECClassifier",
        "Local embeddings that keep inner products of near label vectors, and a vote of the "
        "nearest training rows there.",
        axes=("latent", "alphas"),
        options=("n_similar", "n_neighbors"),
        defaults={"latent": (0.5, 1.0), "alphas": (1.0, 10.0, 100.0)},
    ),
    MethodRow(
        "MANIAC",
        "related",
        "compactlearn.related._maniac:ManiacClassifier",
        "Labels are compressed by a stack of sigmoid layers that learn to reproduce them, and the "
        "codes predicted by linear regressions.",
        axes=("levels", "alphas"),
        options=("max_epochs", "device"),
        defaults={"levels": (1, 4), "alphas": (1.0, 10.0, 100.0)},
    ),
    MethodRow(
        "DeepCMLL",
        "related",
        "compactlearn.related._deep_cmll:DeepCMLLClassifier",
        "CMLL with a network beside each of its linear encoders, which begins as CMLL and is "
        "never below it on the training objective.",
        axes=("label_ratios", "alphas"),
        options=("max_epochs", "learning_rate", "device"),
        defaults={"label_ratios": (0.5, 1.0), "alphas": (1.0, 10.0, 100.0)},
    ),
)

#: Methods of the related work that are not in the library, and why.
NOT_HERE: dict[str, str] = {
    "CoH": "CoH (co-hashing; Shen et al., Compact multi-label learning, AAAI 2018) is not in the "
    "library: neither its objective nor its optimiser is in what we have of the paper, and one "
    "that we made up would not be CoH. What is near: SLEEC, whose codes keep the inner products "
    "of label vectors and whose neighbours vote, and CCA with nearest neighbours in its space.",
    "MOPLMS": "MOPLMS (Balasubramanian and Lebanon, The landmark selection method for multiple "
    "output prediction, ICML 2012) is not in the library: how the number of landmarks is fixed, "
    "and how the other labels are decoded, is in no source that we have read. What is near: CSSP, "
    "whose greedy choice of labels stands for all of them.",
    "REML": "REML (Xu, Tao and Xu, Robust extreme multi-label learning, KDD 2016) is not in the "
    "library: of its sum of a low-rank and a sparse component we have the abstract, and neither "
    "objective nor optimiser. What is of its kind: ShortlistClassifier, which adds a sparse "
    "regression of each label to what a compact model says; docs/RELATED.md says in which respects "
    "it differs.",
}

_RELATED = (*_OF_LABELS, *_OF_FEATURES, *_OF_THEIR_OWN)

_LOGISTIC = MethodRow(
    "CMLL+logistic",
    "other",
    "compactlearn_bench.methods.library_entries:logistic",
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
)


def _completed(completion: str, words: str) -> MethodRow:
    return MethodRow(
        f"CMLL/{completion}",
        "other",
        "compactlearn_bench.methods.library_entries:completed",
        f"CMLL, with {words}.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas", "label_ridges"),
        options=(*(o for o in _SETTINGS_OF_CMLL if o != "completion"), "trace"),
    )


_BESIDE = (
    MethodRow(
        "CMLL+f1",
        "other",
        "compactlearn_bench.methods.library_entries:tuned",
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
    ),
    _LOGISTIC,
    replace(
        _LOGISTIC,
        name="k-CMLL+logistic",
        line="",
        options=("finalists", *_KERNEL),
        defaults={**_LOGISTIC.defaults, "alphas": (0.01, 0.03, 0.1, 0.3, 1.0)},
        kernel=True,
    ),
    MethodRow(
        "BR-logistic",
        "other",
        "compactlearn_bench.methods.library_entries:one_vs_rest_logistic",
        "One logistic regression for each label on all features (one-vs-rest), with a tuned "
        "threshold; nothing is compressed.",
        axes=("Cs",),
        options=("threshold", "solver"),
        defaults={"threshold": "f1"},
    ),
    MethodRow(
        "Shortlist",
        "other",
        "compactlearn_bench.methods.library_entries:shortlist",
        "Candidates by a compact model and by similar rows, ranked again by a sparse logistic "
        "regression for each label that knows the likely labels; a tuned threshold.",
        options=("threshold",),
        defaults={"threshold": "f1"},
    ),
    _completed("none", "no more feature directions than the label codes give"),
    _completed("variance", "its feature directions filled up by those of largest variance"),
    _completed("random", "its feature directions filled up at random"),
    _completed("krylov", "its feature directions filled up by a Krylov space of the labels"),
    MethodRow(
        "RRR",
        "other",
        "compactlearn_bench.methods.library_entries:reduced_rank_ridge",
        "Control: reduced-rank ridge regression, the best few codes for ridge on all features.",
        axes=("label_ratios", "alphas"),
    ),
    MethodRow(
        "PCA+ridge",
        "other",
        "compactlearn_bench.methods.library_entries:principal_directions",
        "Control: ridge regression on the features' principal directions, which know nothing of "
        "the labels.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "Random P",
        "other",
        "compactlearn_bench.methods.library_entries:random_directions",
        "Control: ridge regression on random directions of the features.",
        axes=("feature_ratios", "alphas"),
    ),
    MethodRow(
        "MDDM+CMLL_y",
        "other",
        "compactlearn_bench.methods.library_entries:apart",
        "Control: MDDM's features and CMLL_y's codes, neither knowing of the other.",
        axes=("betas", "label_ratios", "feature_ratios", "alphas"),
        options=("completion", "search", "centre"),
    ),
)

_RIVALS = "compactlearn_bench.methods.rivals"
_SIX = tuple(10.0**k for k in range(-3, 3))

_OF_OTHERS = (
    MethodRow(
        "Linear SVM",
        "other",
        f"{_RIVALS}:linear_svm",
        "Rival: one linear support vector machine for each label on all features (one-vs-rest).",
        axes=("Cs",),
        defaults={"Cs": _SIX},
    ),
    MethodRow(
        "Chains",
        "other",
        f"{_RIVALS}:chains",
        "Rival: the mean of several chains of logistic regressions, in which each label is a "
        "feature of the next, with one-vs-rest's penalty.",
        axes=("Cs",),
        options=("chains",),
        defaults={"Cs": _SIX},
    ),
    MethodRow(
        "Random forest",
        "other",
        f"{_RIVALS}:random_forest",
        "Rival: one forest of trees for all labels together, on bootstrap samples.",
        options=("trees",),
    ),
    MethodRow(
        "Extra trees",
        "other",
        f"{_RIVALS}:extra_trees",
        "Rival: one forest of trees for all labels together, with splits drawn at random.",
        options=("trees",),
    ),
    MethodRow(
        "LightGBM",
        "other",
        f"{_RIVALS}:lightgbm",
        "Rival: gradient boosting of trees, one model for each label.",
    ),
    MethodRow(
        "ML-kNN",
        "other",
        f"{_RIVALS}:ml_knn",
        "Rival: the labels of the most similar training rows, weighed by Bayes' rule.",
        axes=("neighbours",),
    ),
    MethodRow(
        "Auto",
        "other",
        f"{_RIVALS}:auto",
        "The library's choice among its own classifiers, made by itself within the training rows.",
        options=("size_budget", "time_budget"),
    ),
)

#: Every method by its name, in the order of the paper's tables and then of the others.
ROWS: dict[str, MethodRow] = {
    row.name: row for row in (*_LINEAR, *_WITH_KERNEL, *_RELATED, *_BESIDE, *_OF_OTHERS)
}
