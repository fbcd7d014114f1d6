"""The methods that take part in the benchmark, made of the rows of the table of methods.

The paper's methods, and

* CMLL with decisions or a decoder that are learnt: "CMLL+f1", "CMLL+logistic", "k-CMLL+logistic",
  and the baseline "BR-logistic", one logistic regression for each label;
* "Shortlist", sparse classifiers for a compact model's candidates;
* CMLL with each completion: "CMLL/none", "CMLL/variance", "CMLL/random", "CMLL/krylov";
* the controls of `controls`: "RRR", "PCA+ridge", "Random P", "MDDM+CMLL_y";
* in `baselines` other methods in common use, and "Auto", which chooses among the library's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from compactlearn import (
    CMLLClassifier,
    CompactClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    method,
)
from compactlearn.related import PCA
from compactlearn_bench.methods.controls import (
    MDDMThenCodes,
    RandomDirections,
    one_vs_rest,
    reduced_rank,
)
from compactlearn_bench.methods.engine_entry import EngineEntry
from compactlearn_bench.methods.entry import Entry
from compactlearn_bench.methods.printed import made
from compactlearn_bench.methods.single_fits import Reading, SingleFits
from compactlearn_bench.methods.table import ROWS, MethodRow

__all__ = ["ENTRIES"]

Settings = Mapping[str, Any]


class _Entries(Mapping[str, Entry]):
    """The entries of the table's rows, each made when it is first asked for."""

    def __getitem__(self, name: str) -> Entry:
        return _entry(ROWS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(ROWS)

    def __len__(self) -> int:
        return len(ROWS)


#: Every method that can be asked for, by name.
ENTRIES: Mapping[str, Entry] = _Entries()


@cache
def _entry(row: MethodRow) -> Entry:
    if row.made_by:
        return row.entry()
    if type(method(row.name)) in (CompactClassifier, CMLLClassifier):
        return EngineEntry(row, partial(_by_name, row.name))
    return SingleFits(row, partial(_classifier, row))


# ---- the paper's methods -------------------------------------------------------------------------


def _by_name(name: str, settings: Settings, seed: int, **more: Any) -> CompactClassifier:
    """The method by name, with what the settings fix."""
    params: dict[str, Any] = {"threshold": settings["threshold"], "random_state": seed, **more}
    for option in ("completion", "tol"):
        if option in settings:
            params.setdefault(option, settings[option])
    if "hat_ridge" in settings:
        params["ridge"] = settings["hat_ridge"]
    if "kernel_method" in settings:
        params |= {"gamma": settings["gamma"], "n_components": settings["n_components"]}
        params["algorithm"] = settings["kernel_method"]
    return made(name, settings["protocol"], **params)


def _classifier(row: MethodRow, settings: Settings, configuration: Settings, seed: int) -> Any:
    """A method that is no embedding; a setting that is None is the protocol's."""
    given = {name: settings[name] for name in row.options if name in settings}
    if given.pop("base_loss", None) == "hinge":  # LIBLINEAR's -s 3 -c 0.1 -B -1
        given["estimator"] = LinearSVC(loss="hinge", C=0.1, fit_intercept=False)
    given.pop("loss", None)  # LEML has squares alone
    given |= {"n_components" if k == "latent" else k: v for k, v in configuration.items()}
    protocol = given.pop("protocol", "paper")
    params = {name: value for name, value in given.items() if value is not None}
    return made(row.name, protocol, random_state=seed, **params)


# ---- decisions and decoders that are learnt ------------------------------------------------------


def tuned(row: MethodRow) -> Entry:
    """CMLL by its own name."""
    return EngineEntry(row, partial(_by_name, "CMLL"))


def logistic(row: MethodRow) -> Entry:
    """CMLL with a logistic decoder, on all the features: projecting them saves nothing there."""
    make = partial(
        _by_name, row.name.removesuffix("+logistic"), n_feature_components=None, decoder="logistic"
    )
    return EngineEntry(row, make, learnt_decoder=True)


def one_vs_rest_logistic(row: MethodRow) -> Entry:
    """One logistic regression for each label."""
    reading = Reading(numbers=_one_vs_rest_numbers, scores=_probabilities, probable=True)
    return SingleFits(row, _one_vs_rest, reading, plain=_plain_one_vs_rest)


def _plain_one_vs_rest(settings: Settings, configuration: Settings, seed: int) -> Any:
    return one_vs_rest(configuration["C"], settings.get("solver"))


def _one_vs_rest(settings: Settings, configuration: Settings, seed: int) -> Any:
    base = _plain_one_vs_rest(settings, configuration, seed)
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


def shortlist(row: MethodRow) -> Entry:
    """Sparse classifiers for the candidates of a row, with nothing to be chosen."""
    return SingleFits(row, _shortlist, Reading(scores=_all_labels))


def _shortlist(settings: Settings, configuration: Settings, seed: int) -> Any:
    return ShortlistClassifier(threshold=settings["threshold"], random_state=seed)


def _all_labels(model: Any, X: Any) -> Any:
    """Scores of candidates, and below them all others."""
    stored = model.decision_function(X)
    dense = np.full(stored.shape, stored.data.min(initial=0.0) - 1.0)
    dense[np.repeat(np.arange(len(dense)), np.diff(stored.indptr)), stored.indices] = stored.data
    return dense


# ---- completions and controls --------------------------------------------------------------------


def completed(row: MethodRow) -> Entry:
    """CMLL with the completion that the name ends in."""
    return EngineEntry(row, partial(_by_name, "CMLL", completion=row.name.partition("/")[2]))


def reduced_rank_ridge(row: MethodRow) -> Entry:
    """Ridge on all features, of few codes."""
    return EngineEntry(row, lambda settings, seed: reduced_rank(threshold=settings["threshold"]))


def principal_directions(row: MethodRow) -> Entry:
    """Ridge on few features."""
    return EngineEntry(
        row,
        lambda settings, seed: CompactClassifier(PCA(), threshold=settings["threshold"]),
    )


def random_directions(row: MethodRow) -> Entry:
    """Ridge on features drawn at random."""
    return EngineEntry(
        row,
        lambda settings, seed: CompactClassifier(
            RandomDirections(random_state=seed), threshold=settings["threshold"]
        ),
    )


def apart(row: MethodRow) -> Entry:
    """Features and codes that do not know each other."""

    def make(settings: Settings, seed: int) -> CompactClassifier:
        offset = "none" if settings["protocol"] == "paper" else "mean"
        embedding = MDDMThenCodes(
            offset=offset, completion=settings["completion"], random_state=seed
        )
        return CompactClassifier(embedding, threshold=settings["threshold"])

    return EngineEntry(row, make)
