"""The methods that take part in the benchmark, by the names of its tables.

The paper's methods, and beside them

* CMLL with decisions or a decoder that are learnt: "CMLL+f1", "CMLL+logistic", "k-CMLL+logistic",
  and their rival "BR-logistic", one logistic regression for each label;
* CMLL with each completion: "CMLL/none", "CMLL/variance", "CMLL/random", "CMLL/krylov";
* the controls of :mod:`compactlearn.bench.controls`: "RRR", "PCA+ridge", "Random P", "MDDM+CMLL_y".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from sklearn.multiclass import OneVsRestClassifier

from compactlearn.bench.controls import (
    MDDMThenCodes,
    PrincipalDirections,
    RandomDirections,
    one_vs_rest,
    reduced_rank,
)
from compactlearn.bench.engine_entry import EngineEntry
from compactlearn.bench.entry import Entry
from compactlearn.bench.grids import RIDGES
from compactlearn.bench.single_fits import SingleFits
from compactlearn.estimators import METHODS, ThresholdTuner, method
from compactlearn.estimators.compact import CompactClassifier
from compactlearn.estimators.model_size import numbers_of

__all__ = ["ENTRIES"]

Settings = Mapping[str, Any]

_AXES: Mapping[str, tuple[str, ...]] = {
    "ORI": ("alphas",),
    "PLST": ("label_ratios", "alphas"),
    "CPLST": ("label_ratios", "alphas"),
    "DMLR": ("betas", "label_ratios", "alphas"),
    "FaIE": ("betas", "label_ratios", "alphas"),
    "CMLL_y": ("betas", "label_ratios", "alphas", "label_ridges"),
    "MDDM": ("feature_ratios", "alphas"),
    "CMLL": ("betas", "label_ratios", "feature_ratios", "alphas", "label_ridges"),
}
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "FaIE": ("hat_ridge",),
    "CMLL_y": ("trace",),
    "MDDM": ("completion",),
    "CMLL": ("completion", "tol", "search", "centre", "trace"),
}
_KERNEL = ("kernel_method", "n_components", "gamma")
_C2AE = ("protocol", "max_epochs", "learning_rate", "batch_size", "device")
_POP = ("tolerance", "min_kept", "kept_ratio", "min_weight", "validation_fraction")


# ---- the paper's methods -------------------------------------------------------------------------


def _of_paper(name: str, settings: Settings, seed: int, **more: Any) -> CompactClassifier:
    """The method by name, with what the settings fix."""
    params: dict[str, Any] = {"threshold": settings["threshold"], "random_state": seed, **more}
    for option in ("completion", "tol"):
        if option in settings:
            params.setdefault(option, settings[option])
    if "hat_ridge" in settings:
        params["ridge"] = settings["hat_ridge"]
    if "kernel_method" in settings:
        params |= {"gamma": settings["gamma"], "n_components": settings["n_components"]}
        params["method"] = settings["kernel_method"]
    return method(name, protocol=settings["protocol"], **params)


def _compact(name: str) -> EngineEntry:
    """Linear or, with "k-" in front, kernel."""
    stem = name.removeprefix("k-")
    options = _OPTIONS.get(stem, ())
    if stem != name:
        options = (*(option for option in options if option != "trace"), *_KERNEL)
    return EngineEntry(name, partial(_of_paper, name), _AXES[stem], options)


def _pop(settings: Settings, configuration: Settings, seed: int) -> Any:
    return method("POP", random_state=seed, **{name: settings[name] for name in _POP})


def _c2ae(settings: Settings, configuration: Settings, seed: int) -> Any:
    given = {name: settings[name] for name in _C2AE if name != "protocol"}
    params = {name: value for name, value in given.items() if value is not None}
    params |= {"n_components" if k == "latent" else k: v for k, v in configuration.items()}
    return method("C2AE", protocol=settings["protocol"], random_state=seed, **params)


def _paper_entries() -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for name in METHODS:
        if name == "POP":
            # Weights that are left, and intercepts; where the weights stand is not counted.
            found[name] = SingleFits(name, _pop, numbers_of, options=_POP)
        elif name == "C2AE":
            found[name] = SingleFits(
                name,
                _c2ae,
                numbers_of,
                axes=("latent", "balances"),
                options=_C2AE,
            )
        else:
            found[name] = _compact(name)
    return found


# ---- decisions and decoders that are learnt ------------------------------------------------------


def _kept_features(name: str, settings: Settings, seed: int) -> CompactClassifier:
    """CMLL with a logistic decoder, on all the features: projecting them saves nothing there."""
    return _of_paper(name, settings, seed, n_feature_components=None, decoder="logistic")


def _one_vs_rest(settings: Settings, configuration: Settings, seed: int) -> Any:
    base = one_vs_rest(configuration["C"])
    if settings["threshold"] == 0.5:
        return base
    return ThresholdTuner(
        base,
        strategy=settings["threshold"],
        cv=settings["inner_folds"],
        response="predict_proba",
        random_state=seed,
    )


def _probabilities(model: Any, X: Any) -> Any:
    """Its decision_function puts labels that never occurred in training, at 0, above others."""
    return getattr(model, "estimator_", model).predict_proba(X)


def _one_vs_rest_numbers(model: Any) -> int:
    """Weights and intercepts; one number for a label whose training rows are all alike."""
    fitted: OneVsRestClassifier = getattr(model, "estimator_", model)
    return sum(e.coef_.size + 1 if hasattr(e, "coef_") else 1 for e in fitted.estimators_)


_LOGISTIC = EngineEntry(
    "CMLL+logistic",
    partial(_kept_features, "CMLL"),
    ("betas", "label_ratios", "alphas"),
    ("finalists",),
    {
        "protocol": "recommended",
        "threshold": "f1",
        "betas": ("auto",),
        "label_ratios": (0.5, 1.0),
        "alphas": (1.0, 10.0, 30.0, 100.0, 300.0),
    },
    learnt_decoder=True,
)
_LEARNT: dict[str, Entry] = {
    "CMLL+f1": replace(
        _compact("CMLL"),
        name="CMLL+f1",
        axes=("betas", "label_ratios", "feature_ratios", "alphas"),
        options=("completion", "tol", "search", "centre"),
        defaults={
            "protocol": "recommended",
            "threshold": "f1",
            "completion": "krylov",
            "betas": ("auto",),
            "label_ratios": (0.1, 0.3, 0.5, 1.0),
            "feature_ratios": (0.1, 0.5, 1.0),
            "alphas": RIDGES["wide"][4:],  # 0.1 ... 1e4
        },
    ),
    "CMLL+logistic": _LOGISTIC,
    "k-CMLL+logistic": replace(
        _LOGISTIC,
        name="k-CMLL+logistic",
        make=partial(_kept_features, "k-CMLL"),
        options=("finalists", *_KERNEL),
        defaults={**_LOGISTIC.defaults, "alphas": (0.01, 0.03, 0.1, 0.3, 1.0)},
    ),
    "BR-logistic": SingleFits(
        "BR-logistic",
        _one_vs_rest,
        _one_vs_rest_numbers,
        axes=("Cs",),
        options=("threshold",),
        defaults={"threshold": "f1"},
        plain=lambda settings, configuration, seed: one_vs_rest(configuration["C"]),
        scores=_probabilities,
    ),
}


# ---- completions and controls --------------------------------------------------------------------


def _completed(completion: str) -> EngineEntry:
    base = _compact("CMLL")
    options = tuple(option for option in base.options if option != "completion")

    def make(settings: Settings, seed: int) -> CompactClassifier:
        return _of_paper("CMLL", settings, seed, completion=completion)

    return replace(base, name=f"CMLL/{completion}", make=make, options=options)


def _rrr(settings: Settings, seed: int) -> CompactClassifier:
    return reduced_rank(threshold=settings["threshold"])


def _pca(settings: Settings, seed: int) -> CompactClassifier:
    return CompactClassifier(PrincipalDirections(), threshold=settings["threshold"])


def _random(settings: Settings, seed: int) -> CompactClassifier:
    return CompactClassifier(RandomDirections(random_state=seed), threshold=settings["threshold"])


def _apart(settings: Settings, seed: int) -> CompactClassifier:
    offset = "none" if settings["protocol"] == "paper" else "mean"
    embedding = MDDMThenCodes(offset=offset, completion=settings["completion"], random_state=seed)
    return CompactClassifier(embedding, threshold=settings["threshold"])


_CONTROLS: dict[str, Entry] = {
    **{
        f"CMLL/{completion}": _completed(completion)
        for completion in ("none", "variance", "random", "krylov")
    },
    "RRR": EngineEntry("RRR", _rrr, ("label_ratios", "alphas")),
    "PCA+ridge": EngineEntry("PCA+ridge", _pca, ("feature_ratios", "alphas")),
    "Random P": EngineEntry("Random P", _random, ("feature_ratios", "alphas")),
    "MDDM+CMLL_y": EngineEntry(
        "MDDM+CMLL_y",
        _apart,
        ("betas", "label_ratios", "feature_ratios", "alphas"),
        ("completion", "search", "centre"),
    ),
}

#: Every method that can be asked for, by name.
ENTRIES: Mapping[str, Entry] = MappingProxyType(_paper_entries() | _LEARNT | _CONTROLS)
