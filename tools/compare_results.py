"""Record what all methods, routes and searches return, and compare it after a change.

Run ``python tools/compare_results.py record PATH`` before the change and
``python tools/compare_results.py compare PATH`` after it, on the same machine with the same
packages. Both use one thread. A number may differ by 1e-12, relative to the larger of 1 and the
number. ``tools/results_before.json.xz`` is the record of the state before the estimators were
rearranged.

On one machine two runs agree to the bit. With other kernels of the BLAS
(``OPENBLAS_CORETYPE=Sandybridge``), which only round otherwise, 80 of the 778 cases differ by more
than the tolerance. Where a change alters the order of additions, look there first whether a case
that differs is one of these.

A case is a function that returns a dictionary of what is to be compared: arrays, numbers, strings,
and lists, dictionaries and dataclasses of these.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import functools
import json
import lzma
import math
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pandas
import scipy.sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeRegressor

import compactlearn as cl
from compactlearn import datasets, inspection, metrics, model_selection, related
from compactlearn.compact import PaperClassifier
from compactlearn_bench import as_printed

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TOLERANCE = 1e-12
KEPT = 16  # values kept of an array, besides its size, its sum and its sum of absolute values
NOT_COMPARED = {"time", "seconds", "bytes"}  # words of names whose values are no results

Outputs = dict[str, Any]
CASES: dict[str, Callable[[], Outputs]] = {}


def case(function: Callable[[], Outputs]) -> Callable[[], Outputs]:
    """Register a function as a case of its own name."""
    CASES[function.__name__] = function
    return function


def each(values: Mapping[str, Any] | Iterable[str]) -> Callable[[Callable[..., Outputs]], Any]:
    """Register a function as one case for each value of a table, or for each name."""
    table = values if isinstance(values, Mapping) else {name: name for name in values}

    def register(function: Callable[..., Outputs]) -> Callable[..., Outputs]:
        for key, value in table.items():
            CASES[f"{function.__name__}/{key}"] = functools.partial(function, value)
        return function

    return register


def on_both(table: Mapping[str, Any]) -> Callable[[Callable[..., Outputs]], Any]:
    """Register a function of a value and data as cases on dense and on sparse rows."""

    def register(function: Callable[..., Outputs]) -> Callable[..., Outputs]:
        for form, load in (("dense", planted), ("sparse", sparse)):
            for key, value in table.items():
                name = f"{function.__name__}_{form}/{key}"
                CASES[name] = functools.partial(
                    lambda given, load: function(given, load()), value, load
                )
        return function

    return register


# ---- data ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Split:
    """Training rows, and rows to predict."""

    X: Any
    Y: Any
    new: Any
    truth: Any


@functools.cache
def dense() -> Split:
    """Return 200 and 60 rows of emotions: 72 features, 6 labels."""
    found = datasets.load("emotions")
    return Split(found.X[:200], found.Y[:200], found.X[200:260], found.Y[200:260])


@functools.cache
def sparse() -> Split:
    """Return 250 and 60 rows of enron: 1001 features, 53 labels."""
    found = datasets.load("enron")
    return Split(found.X[:250], found.Y[:250], found.X[250:310], found.Y[250:310])


@functools.cache
def planted() -> Split:
    """Return 240 and 60 synthetic rows: 40 features, 24 labels.

    Values are rounded: folds depend on the bits of rows, which processors do not agree on.
    """
    found = datasets.make_compact(300, 40, 24, n_directions=6, random_state=7)
    X = np.round(found.X, 6)
    return Split(X[:240], found.Y[:240], X[240:], found.Y[240:])


@functools.cache
def weights(n_rows: int) -> Any:
    """Return weights of rows, some of them 0."""
    return np.random.default_rng(3).integers(0, 4, n_rows).astype(float)


@functools.cache
def hidden(n_rows: int, n_labels: int, share: float = 0.2) -> Any:
    """Return where labels are not known."""
    return np.random.default_rng(4).random((n_rows, n_labels)) < share


def with_nan(data: Split) -> Any:
    """Return the labels, with NaN where they are not known."""
    labels = data.Y.toarray() if scipy.sparse.issparse(data.Y) else data.Y
    return np.where(hidden(*labels.shape), np.nan, labels.astype(float))


@functools.cache
def texts(n_texts: int = 80) -> tuple[list[str], list[list[str]]]:
    """Return made-up texts and their tags."""
    words = {
        "food": "bread pasta soup salt bake boil cheese oven",
        "weather": "rain wind sun cloud storm snow warm cold",
        "music": "jazz piano drum song choir violin band opera",
        "sport": "ball goal team race swim ski coach match",
        "travel": "train plane hotel map road harbour ticket guide",
    }
    rng = np.random.default_rng(11)
    said, tags = [], []
    for _ in range(n_texts):
        chosen = sorted(rng.choice(list(words), rng.integers(1, 3), replace=False).tolist())
        drawn = [rng.choice(words[tag].split(), 4).tolist() for tag in chosen]
        other = rng.choice(" ".join(words.values()).split(), 2).tolist()
        said.append(" ".join(sum(drawn, other)))
        tags.append(chosen)
    return said, tags


def in_blocks(data: Split, n_blocks: int = 3, weighted: bool = False) -> list[tuple[Any, ...]]:
    """Return the training rows in blocks."""
    found = []
    for rows in np.array_split(np.arange(data.X.shape[0]), n_blocks):
        part = slice(int(rows[0]), int(rows[-1]) + 1)
        block = (data.X[part], data.Y[part])
        found.append((*block, weights(data.X.shape[0])[part]) if weighted else block)
    return found


# ---- what is recorded of a model ----------------------------------------------------------------


def said_by(model: Any, new: Any) -> Outputs:
    """Return scores, labels, probabilities, codes and thresholds of a fitted model."""
    found: Outputs = {"labels": model.predict(new)}
    for method in ("decision_function", "predict_proba", "predict_codes", "transform"):
        # A search has no codes and projections of its own.
        searched = isinstance(model, cl.CMLLClassifierCV | model_selection.GridSearchMoments)
        owner = model.best_estimator_ if searched and not hasattr(model, method) else model
        if hasattr(owner, method):
            found[method] = getattr(owner, method)(new)
    for attribute in (
        "threshold_",
        "label_noise_",
        "n_parameters_",
        "n_passes_",
        "coef_",
        "intercept_",
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            found[attribute] = value
    decoding = getattr(model, "decoding_", None)
    if decoding is not None:
        found["decoding"] = [decoding.coefficients, decoding.intercept]
    return found


def fitted(model: Any, data: Split, **options: Any) -> Outputs:
    """Fit a model, and return what it says of new rows."""
    return said_by(model.fit(data.X, data.Y, **options), data.new)


def searched(search: Any, data: Split, **options: Any) -> Outputs:
    """Fit a search, and return its scores, its choice and what the choice says of new rows."""
    search.fit(data.X, data.Y, **options)
    results = {
        key: values
        for key, values in search.cv_results_.items()
        if key != "params" and not key.startswith("param_")
    }
    return {
        "cv_results": results,
        "best_params": {key.split("__")[-1]: one for key, one in search.best_params_.items()},
        "best_score": search.best_score_,
        **said_by(search, data.new),
    }


def compact(embedding: Any = None, **options: Any) -> Any:
    """Return a classifier with a fixed threshold, unless one is given."""
    made_by = PaperClassifier if options.pop("bias", "free") == "none" else cl.CompactClassifier
    return made_by(embedding, **{"threshold": 0.5, "random_state": 0, **options})


# ---- methods by name ----------------------------------------------------------------------------

_SMALL = {
    "C2AE": {"n_components": 8, "feature_hidden": (16,), "label_hidden": (16,), "max_epochs": 3},
    "MANIAC": {"max_epochs": 2, "pretraining_epochs": 2, "n_levels": 2},
    "DeepCMLL": {"feature_hidden": (16,), "label_hidden": (16,), "max_epochs": 3},
    "Projection forest": {"n_trees": 8},
    "SLRM": {"max_iter": 200},
    "BMLPL": {"max_iter": 30},
    "SLEEC": {"n_learners": 2},
}


def named(name: str, protocol: str, load: Callable[[], Split]) -> Outputs:
    """Return what a method says that is asked for by its name."""
    options: dict[str, Any] = dict(_SMALL.get(name, {}))
    if protocol == "as printed":
        model = as_printed(name, **options)
    else:
        model = cl.method(name, protocol=protocol, **options)
    if "device" in model.get_params():
        model.set_params(device="cpu")
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return fitted(model, load())


_NOT_SPARSE = ("C2AE", "MANIAC", "DeepCMLL", "SLRM", "MIFS", "POP")

METHODS = {
    "dense": ("paper", planted, ()),
    "printed": ("as printed", dense, ()),
    "recommended": ("recommended", planted, _SMALL),
    "sparse": ("paper", sparse, _NOT_SPARSE),
}
for group, (protocol, load, left_out) in METHODS.items():
    for name in cl.METHODS:
        if name not in left_out:
            CASES[f"method_{group}/{name}"] = functools.partial(named, name, protocol, load)


# ---- embeddings and their options ---------------------------------------------------------------

EMBEDDINGS: dict[str, Callable[[], Any]] = {
    "CMLL": lambda: cl.CMLL(10, 8),
    "CMLL few features": lambda: cl.CMLL(4, 8),
    "CMLL labels kept": lambda: cl.CMLL(6, None),
    "CMLL features kept": lambda: cl.CMLL(None, 8),
    "CMLL krylov": lambda: cl.CMLL(16, 8, completion="krylov"),
    "CMLL no offset": lambda: cl.CMLL(8, 8, offset="none", beta=1.0, label_ridge=0.5),
    "CMLL ratios": lambda: cl.CMLL(0.2, 0.5),
    "PLST": lambda: cl.PLST(8),
    "PLST not centred": lambda: cl.PLST(8, offset="none"),
    "CPLST": lambda: cl.CPLST(8),
    "CPLST no offset": lambda: cl.CPLST(8, ridge=0.5, offset="none"),
    "DMLR": lambda: cl.DMLR(8),
    "FaIE": lambda: cl.FaIE(8),
    "FaIE no offset": lambda: cl.FaIE(8, beta=0.5, ridge=0.1, offset="none"),
    "MDDM": lambda: cl.MDDM(8),
    "MDDM krylov": lambda: cl.MDDM(30, completion="krylov"),
    "Original": lambda: cl.Original(),
    "CCA": lambda: related.CCA(8),
    "CCA unit columns": lambda: related.CCA(8, ridge=0.5, unit_columns=True),
    "CSSP": lambda: related.CSSP(8),
    "CSSP sampled": lambda: related.CSSP(8, selection="sampled", coding="binary"),
    "LPP": lambda: related.LPP(8),
    "LPP no width": lambda: related.LPP(8, width=None, n_neighbors=3),
    "MIFS": lambda: related.MIFS(8, max_iter=20),
    "MLSI": lambda: related.MLSI(8),
    "NPE": lambda: related.NPE(8),
    "OPLS": lambda: related.OPLS(8),
    "PCA": lambda: related.PCA(8),
    "GroPLE": lambda: related.GroPLE(8, max_iter=50),
    "GroPLE groups": lambda: related.GroPLE(8, n_groups=3, coding="signed", max_iter=50),
    "KernelLabelSpace": lambda: related.KernelLabelSpace(8),
    "KernelLabelSpace joined": lambda: related.KernelLabelSpace(8, joined=True),
    "KernelLabelSpace linear": lambda: related.KernelLabelSpace(8, label_kernel="linear"),
    "Rembrandt": lambda: related.Rembrandt(8),
}


@on_both(EMBEDDINGS)
def embedding(make: Callable[[], Any], data: Split) -> Outputs:
    return fitted(compact(make()), data)


@each(EMBEDDINGS)
def embedding_alone(make: Callable[[], Any]) -> Outputs:
    data, embedding = planted(), make()
    if "random_state" in embedding.get_params():
        embedding.set_params(random_state=0)
    embedding.fit(data.X, data.Y)
    found: Outputs = {"transform": embedding.transform(data.new)}
    for name in ("projection_", "decoder_", "offset_", "codes_", "eigenvalues_", "n_iter_"):
        value = getattr(embedding, name, None)
        if value is not None:
            found[name] = value
    codes = planted().truth[:, :8] * 0.5
    if hasattr(embedding, "decode") and codes.shape[1] == getattr(
        embedding, "n_label_components_", None
    ):
        found["decode"] = embedding.decode(codes)
    return found


@each(
    {
        "LEML": lambda: related.LEML(6, max_iter=10, random_state=0),
        "CS": lambda: related.CompressedSensingClassifier(12, sparsity="mean", random_state=0),
        "forest": lambda: related.ProjectionForestClassifier(5, max_depth=4, random_state=0),
        "SLEEC near rows": lambda: related.SLEECClassifier(
            6, n_similar=10, n_clusters=2, n_learners=2, max_iter=10, random_state=0
        ),
        "topics": lambda: related.TopicClassifier(5, max_iter=20, random_state=0),
        "SLRM": lambda: related.SLRM(0.5, smoothness=0.1, max_iter=100, random_state=0),
        "C2AE paper": lambda: cl.C2AEClassifier(
            8,
            feature_hidden=(16,),
            label_hidden=(16,),
            mode="paper",
            max_epochs=3,
            dtype="float64",
            device="cpu",
            random_state=0,
        ),
        "POP": lambda: cl.POPClassifier(min_kept=8, random_state=0),
    }
)
def other_classifier(make: Callable[[], Any]) -> Outputs:
    return fitted(make(), planted())


# ---- routes -------------------------------------------------------------------------------------

ROUTES: dict[str, Callable[[str], Any]] = {
    "CMLL": lambda solver: cl.CMLL(8, 8, solver=solver),
    "CMLL few features": lambda solver: cl.CMLL(4, 8, solver=solver),
    "CMLL krylov completion": lambda solver: cl.CMLL(14, 8, solver=solver, completion="krylov"),
    "CMLL features kept": lambda solver: cl.CMLL(None, 8, solver=solver),
    "CMLL labels kept": lambda solver: cl.CMLL(6, None, solver=solver),
    "PLST": lambda solver: cl.PLST(8, solver=solver),
    "CPLST": lambda solver: cl.CPLST(8, solver=solver),
    "DMLR": lambda solver: cl.DMLR(8, solver=solver),
    "FaIE": lambda solver: cl.FaIE(8, solver=solver),
    "MDDM": lambda solver: cl.MDDM(8, solver=solver),
}
PRESCRIBED = {
    f"{name}/{solver}": functools.partial(make, solver)
    for name, make in ROUTES.items()
    for solver in ("moments", "dual", "krylov", "randomized")
    if solver != "randomized" or name.startswith("CMLL")
}


@on_both(PRESCRIBED)
def route(make: Callable[[], Any], data: Split) -> Outputs:
    return fitted(compact(make()), data)


@each(("moments", "dual", "krylov", "randomized"))
def route_weighted(solver: str) -> Outputs:
    data = planted()
    return fitted(compact(cl.CMLL(8, 8, solver=solver)), data, sample_weight=weights(240))


@each(("moments", "dual", "krylov", "randomized"))
def route_decided(solver: str) -> Outputs:
    model = compact(cl.CMLL(8, 8, solver=solver), decoder="logistic", threshold="f1")
    return fitted(model, sparse())


BLOCKED: dict[str, Callable[[], Any]] = {
    "moments": lambda: compact(cl.CMLL(10, 8, solver="moments")),
    "passes": lambda: compact(cl.CMLL(10, 10, solver="randomized")),
    "passes krylov": lambda: compact(cl.CMLL(14, 8, solver="randomized", completion="krylov")),
    "passes logistic": lambda: compact(
        cl.CMLL(10, 10, solver="randomized"), decoder="logistic", threshold="f1"
    ),
    "passes scaled": lambda: compact(cl.CMLL(10, 10, solver="randomized"), scale=True),
    "logistic": lambda: compact(cl.CMLL(10, 8), decoder="logistic", threshold="f1"),
    "scaled": lambda: compact(cl.CMLL(10, 8), scale=True, alpha="auto"),
    "CPLST": lambda: compact(cl.CPLST(8), threshold="cardinality"),
}


@on_both(BLOCKED)
def blocks(make: Callable[[], Any], data: Split) -> Outputs:
    return said_by(make().fit_blocks(in_blocks(data)), data.new)


@each(BLOCKED)
def blocks_weighted(make: Callable[[], Any]) -> Outputs:
    return said_by(make().fit_blocks(in_blocks(planted(), weighted=True)), planted().new)


@each({"dense": planted, "sparse": sparse})
def partial_fit(load: Callable[[], Split]) -> Outputs:
    data, model = load(), compact(cl.CMLL(10, 8))
    for X, Y in in_blocks(data):
        model.partial_fit(X, Y)
    return said_by(model, data.new)


@case
def partial_fit_after_fit() -> Outputs:
    first, second = in_blocks(planted(), 2, weighted=True)
    model = compact(cl.CMLL(10, 8, solver="moments"), threshold="auto")
    model.fit(*first).partial_fit(*second[:2], sample_weight=second[2])
    return said_by(model, planted().new)


@case
def open_blocks() -> Outputs:
    data = sparse()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.txt"
        datasets.write_xmlrepo(datasets.Dataset(data.X, data.Y), path)
        model = compact(cl.CMLL(10, 8)).fit(datasets.open_blocks(path, rows_per_block=100))
    return said_by(model, data.new)


def on_dask(data: Split) -> Split:
    """Return the same rows as Dask arrays."""
    return Split(
        *(dask.array.from_array(rows, chunks=(80, -1)) for rows in (data.X, data.Y)),
        *(dask.array.from_array(rows, chunks=(20, -1)) for rows in (data.new, data.truth)),
    )


@each(("linear", "logistic"))
def dask_arrays(decoder: str) -> Outputs:
    data, lazy = planted(), on_dask(planted())
    with dask.config.set(scheduler="synchronous"):
        model = compact(cl.CMLL(10, 8), decoder=decoder, threshold="f1").fit(lazy.X, lazy.Y)
        scores = model.decision_function(lazy.new).compute()
    return {"lazy": scores, **said_by(model, data.new)}


@functools.cache
def huge() -> Split:
    """Return sparse rows whose Gram matrices are too large: 21,000 rows, features; 5 labels."""
    rng = np.random.default_rng(9)
    n, width = 21_000, 4
    columns = np.minimum(rng.zipf(1.3, n * width), n) - 1
    X = scipy.sparse.csr_array((np.ones(n * width), (np.repeat(np.arange(n), width), columns)))
    X.resize((n, n))
    Y = (X[:, :5].toarray() + 0.7 * rng.random((n, 5)) > 0.6).astype(int)
    return Split(X, Y, X[:60], Y[:60])


@each(
    {
        "features kept": lambda: cl.CMLL(None, 4, solver="krylov"),
        "projected": lambda: cl.CMLL(6, 4, solver="randomized", completion="krylov"),
        "Original": lambda: cl.Original(),
    }
)
def route_huge(make: Callable[[], Any]) -> Outputs:
    found = fitted(compact(make()), huge())
    return {name: found[name] for name in ("labels", "decision_function")}


@each(("moments", "dual", "krylov"))
def route_badly_scaled(solver: str) -> Outputs:
    data = planted()
    factors = np.geomspace(1e-7, 1e7, data.X.shape[1])
    data = dataclasses.replace(data, X=data.X * factors, new=data.new * factors)
    found = {}
    for name, embedding in (
        ("few", cl.CMLL(10, 8, solver=solver)),
        ("kept", cl.CMLL(None, 8, solver=solver)),
        ("CPLST", cl.CPLST(8, solver=solver)),
    ):
        model = compact(embedding, alpha=1e-3).fit(data.X, data.Y)
        found[name] = model.decision_function(data.new)
    return found


@case
def blocks_of_a_function() -> Outputs:
    data = sparse()
    model = compact(cl.CMLL(10, 10, solver="randomized"))
    with tempfile.TemporaryDirectory() as folder:
        model.fit_blocks(lambda: iter(in_blocks(data)), checkpoint=Path(folder) / "sums")
    return said_by(model, data.new)


@case
def moments_taken_off() -> Outputs:
    first, second, third = (cl.Moments.from_blocks([block]) for block in in_blocks(planted()))
    left = (first + second + third) - second
    return {"mean": left.mean, "scatter": left.scatter, "count": left.count}


@case
def dask_search() -> Outputs:
    data, lazy = planted(), on_dask(planted())
    with dask.config.set(scheduler="synchronous"):
        search = model_selection.GridSearchMoments(
            compact(cl.CMLL(10, 8)), {"alpha": [0.1, 10.0]}, cv=3, random_state=0
        ).fit(lazy.X, lazy.Y)
        seen = (data.new, data.truth)
        table = evaluated_by(search.best_estimator_, lazy.new, lazy.truth, seen)
    return {
        "scores": search.cv_results_["mean_test_score"],
        "table": table,
        **said_by(search.best_estimator_, data.new),
    }


# ---- learner, decoder, threshold ----------------------------------------------------------------

DECIDED = {
    f"{decoder}/{threshold}": {"decoder": decoder, "threshold": threshold}
    for decoder in ("linear", "logistic")
    for threshold in ("auto", "f1", "per-label", "cardinality", 0.4)
}


@on_both(DECIDED)
def decision(options: dict[str, Any], data: Split) -> Outputs:
    size = 12 if scipy.sparse.issparse(data.X) else 10
    return fitted(compact(cl.CMLL(size, 8), **options), data)


@each(DECIDED)
def decision_kernel(options: dict[str, Any]) -> Outputs:
    return fitted(compact(cl.CMLL(10, 6), feature_map=cl.KernelMap(), **options), dense())


@each(("linear", "logistic"))
def decision_weighted(decoder: str) -> Outputs:
    model = compact(cl.CMLL(10, 8), decoder=decoder, threshold="f1")
    groups = np.arange(240) // 4
    return fitted(model, planted(), sample_weight=weights(240), groups=groups)


@each(("CPLST", "MDDM", "Original", "FaIE"))
def decision_of_others(name: str) -> Outputs:
    embedding = getattr(cl, name)()
    return fitted(compact(embedding, decoder="logistic", threshold="per-label"), planted())


@case
def threshold_of_each_label() -> Outputs:
    return fitted(compact(cl.CMLL(10, 8), threshold=np.linspace(0.2, 0.6, 24)), planted())


LEARNERS: dict[str, dict[str, Any]] = {
    "bias none": {"bias": "none"},
    "alpha auto": {"alpha": "auto"},
    "alpha 0": {"alpha": 0.0},
    "alpha 30": {"alpha": 30.0},
    "scale": {"scale": True},
    "linear regression": {"regressor": LinearRegression()},
    "ridge regression": {"regressor": Ridge(2.0), "threshold": "f1"},
    "tree": {"regressor": DecisionTreeRegressor(max_depth=4, random_state=0)},
}


@on_both(LEARNERS)
def learner(options: dict[str, Any], data: Split) -> Outputs:
    return fitted(compact(cl.CMLL(10, 8), **options), data)


@each({"default": {}, "sizes": {"n_feature_components": 10, "n_label_components": 8}})
def cmll_classifier(options: dict[str, Any]) -> Outputs:
    return {
        "dense": fitted(cl.CMLLClassifier(**options, random_state=0), planted()),
        "sparse": fitted(cl.CMLLClassifier(**options, random_state=0), sparse()),
    }


@case
def default_classifier() -> Outputs:
    return {"dense": fitted(cl.CompactClassifier(), dense()), "sparse": fitted(compact(), sparse())}


@each({"two": 2, "four": 4})
def vector_of_classes(n_classes: int) -> Outputs:
    data = planted()
    y = (data.Y @ np.arange(1, 25)) % n_classes
    found = {}
    for decoder in ("linear", "logistic"):
        model = compact(cl.CMLL(6, None), decoder=decoder, threshold="auto").fit(data.X, y)
        found[decoder] = said_by(model, data.new)
    return found


@case
def labels_by_name() -> Outputs:
    data = dense()
    names = np.array(["f", "e", "d", "c", "b", "a"])
    rows = [names[row > 0].tolist() for row in data.Y]
    model = compact(cl.CMLL(10, 6)).fit(data.X, rows)
    joined = compact(cl.CMLL(10, 6)).fit(data.X, [";".join(row) for row in rows], sep=";")
    return {
        "names": model.label_names_,
        "pairs": model.predict_labels(data.new, k=2),
        "joined": said_by(joined, data.new),
        **said_by(model, data.new),
    }


@case
def frame() -> Outputs:
    data, source = dense(), datasets.load("emotions")
    X = pandas.DataFrame(data.X, columns=list(source.feature_names))
    Y = pandas.DataFrame(data.Y, columns=list(source.label_names))
    model = compact(cl.CMLL(10, 6)).fit(X, Y)
    new = pandas.DataFrame(data.new, columns=list(source.feature_names))
    return {"names": model.label_names_, **said_by(model, new)}


# ---- unknown and noisy labels -------------------------------------------------------------------


UNKNOWN: dict[str, Callable[[], Any]] = {
    "CMLL": lambda: compact(cl.CMLL(10, 8)),
    "CMLL few features": lambda: compact(cl.CMLL(4, 8)),
    "CMLL labels kept": lambda: compact(cl.CMLL(6, None)),
    "CMLL krylov": lambda: compact(cl.CMLL(12, 8, completion="krylov")),
    "default": lambda: cl.CMLLClassifier(),
    "PLST": lambda: compact(cl.PLST(8)),
    "CPLST": lambda: compact(cl.CPLST(8)),
    "DMLR": lambda: compact(cl.DMLR(8)),
    "FaIE": lambda: compact(cl.FaIE(8)),
    "MDDM": lambda: compact(cl.MDDM(8)),
    "Original": lambda: compact(cl.Original()),
    "logistic": lambda: compact(cl.CMLL(10, 8), decoder="logistic", threshold="per-label"),
    "cardinality": lambda: compact(cl.CMLL(10, 8), threshold="cardinality"),
    "kernel": lambda: compact(cl.CMLL(10, 8), feature_map=cl.KernelMap()),
    "LEML": lambda: related.LEML(6, max_iter=10, random_state=0),
    "tuner": lambda: cl.ThresholdTuner(compact(cl.CMLL(10, 8)), cv=3, random_state=0),
}


@each(UNKNOWN)
def unknown_dense(make: Callable[[], Any]) -> Outputs:
    data = planted()
    return said_by(make().fit(data.X, with_nan(data)), data.new)


@each({name: UNKNOWN[name] for name in ("CMLL", "Original", "logistic")})
def unknown_sparse(make: Callable[[], Any]) -> Outputs:
    data = sparse()
    unknown = scipy.sparse.csr_array(hidden(250, 53))
    return said_by(make().fit(data.X, data.Y, unknown=unknown), data.new)


NOISY: dict[str, dict[str, Any]] = {
    "positive unlabelled": {"positive_unlabelled": True},
    "propensities": {"positive_unlabelled": True, "propensities": 0.8},
    "rates": {"label_noise": (0.02, 0.2)},
    "rates of labels": {"label_noise": "each"},
    "auto": {"label_noise": "auto"},
    "logistic": {"label_noise": (0.02, 0.2), "decoder": "logistic", "threshold": "f1"},
    "unlabelled logistic": {
        "positive_unlabelled": True,
        "decoder": "logistic",
        "threshold": "per-label",
    },
}


@each(NOISY)
def noisy_labels(options: dict[str, Any]) -> Outputs:
    found = {}
    for name, data in (("dense", planted()), ("sparse", sparse())):
        M, given = data.Y.shape[1], dict(options)
        if "propensities" in given:
            given["propensities"] = np.linspace(0.6, 1.0, M)
        if given.get("label_noise") == "each":
            given["label_noise"] = (np.full(M, 0.01), np.linspace(0.0, 0.3, M))
        found[name] = fitted(compact(cl.CMLL(10, 8), **given), data)
    return found


# ---- kernels ------------------------------------------------------------------------------------

KERNELS: dict[str, Callable[[], Any]] = {
    "rbf": lambda: cl.KernelMap(),
    "rbf gamma": lambda: cl.KernelMap(gamma=0.01),
    "rbf no gamma": lambda: cl.KernelMap(gamma=None),
    "rbf few": lambda: cl.KernelMap(n_components=20),
    "linear": lambda: cl.KernelMap("linear"),
    "poly": lambda: cl.KernelMap("poly", degree=2),
    "cosine": lambda: cl.KernelMap("cosine"),
    "nystroem": lambda: cl.KernelMap(algorithm="nystroem", n_components=30, random_state=0),
}


@each(KERNELS)
def kernel_map(make: Callable[[], Any]) -> Outputs:
    found = {}
    for name, data in (("dense", dense()), ("sparse", sparse())):
        found[f"map {name}"] = np.abs(make().fit(data.X).transform(data.new)).sum(axis=1)
        found[f"model {name}"] = fitted(compact(cl.CMLL(8, 6), feature_map=make()), data)
    return found


@each(("CPLST", "DMLR", "FaIE", "MDDM", "Original"))
def kernel_of_others(name: str) -> Outputs:
    landmarks = cl.KernelMap(algorithm="nystroem", n_components=40, random_state=0)
    embedding = getattr(cl, name)
    return {
        "exact": fitted(compact(embedding(), feature_map=cl.KernelMap(), threshold="f1"), dense()),
        "landmarks": fitted(compact(embedding(), feature_map=landmarks, scale=True), dense()),
        "weighted": fitted(
            compact(embedding(), feature_map=cl.KernelMap()), dense(), sample_weight=weights(200)
        ),
    }


# ---- thresholds, paths, searches ----------------------------------------------------------------


@each(
    {
        "f1": {},
        "per-label": {"strategy": "per-label", "min_positives": 10},
        "cardinality": {"strategy": "cardinality"},
        "top-k": {"strategy": "top-k"},
        "top-2": {"strategy": "top-k", "k": 2},
    }
)
def threshold_tuner(options: dict[str, Any]) -> Outputs:
    models = {
        "own": compact(cl.CMLL(10, 6)),
        "other": OneVsRestClassifier(LogisticRegression(C=1e-3, solver="newton-cholesky")),
    }
    return {
        name: fitted(cl.ThresholdTuner(model, cv=3, random_state=0, **options), dense())
        for name, model in models.items()
    }


@each({"dense": dense, "planted": planted, "sparse": sparse})
def cmll_classifier_cv(load: Callable[[], Split]) -> Outputs:
    return searched(cl.CMLLClassifierCV(cv=3, random_state=0), load())


@each(
    {
        "grids": {"betas": [0.1, 1.0], "alphas": [1.0, 10.0], "racing": False},
        "sizes": {"n_label_components": [4, 8], "n_feature_components": [4, 12]},
        "decoders": {"decoders": ["linear", "logistic"], "alphas": [1.0, 10.0]},
        "completions": {"completions": ["none", "krylov"], "alphas": [1.0]},
        "scoring": {"scoring": "micro_f1", "alphas": [1.0, 10.0], "betas": [1.0]},
    }
)
def cmll_classifier_cv_options(options: dict[str, Any]) -> Outputs:
    return searched(cl.CMLLClassifierCV(cv=3, random_state=0, **options), planted())


@case
def cmll_classifier_cv_unknown() -> Outputs:
    data = planted()
    data = dataclasses.replace(data, Y=with_nan(data))
    return searched(cl.CMLLClassifierCV(cv=3, alphas=[1.0, 10.0], random_state=0), data)


GRIDS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "CMLL": (
        lambda: compact(cl.CMLL(10, 8)),
        {"alpha": [0.1, 1.0, 10.0], "embedding__beta": [0.1, 1.0]},
    ),
    "CMLL sizes": (
        lambda: compact(cl.CMLL(10, 8)),
        {
            "embedding__n_feature_components": [2, 6, 10],
            "embedding__n_label_components": [4, 8],
        },
    ),
    "PLST": (
        lambda: compact(cl.PLST()),
        {"embedding__n_label_components": [2, 4, 8], "alpha": [1.0, 10.0]},
    ),
    "CPLST": (lambda: compact(cl.CPLST(6)), {"alpha": [0.1, 1.0, 10.0]}),
    "DMLR": (lambda: compact(cl.DMLR(6)), {"embedding__beta": [0.1, 1.0], "alpha": [1.0, 5.0]}),
    "FaIE": (lambda: compact(cl.FaIE(6)), {"embedding__beta": [0.1, 1.0], "alpha": [1.0, 5.0]}),
    "MDDM": (lambda: compact(cl.MDDM(6)), {"embedding__n_feature_components": [2, 6]}),
    "Original": (lambda: compact(cl.Original()), {"alpha": [0.1, 1.0, 10.0]}),
    "logistic": (lambda: compact(cl.CMLL(10, 8), decoder="logistic"), {"alpha": [1.0, 10.0]}),
    "CCA": (
        lambda: compact(related.CCA(6)),
        {"embedding__n_feature_components": [2, 6], "alpha": [1.0, 10.0]},
    ),
    "decoders": (
        lambda: compact(cl.CMLL(10, 8)),
        {"decoder": ["linear", "logistic"], "threshold": [0.5, "f1"]},
    ),
    "embeddings": (
        lambda: compact(),
        {"embedding": [cl.PLST(6), cl.CMLL(6, 6), cl.Original()], "alpha": [1.0, 10.0]},
    ),
}


@each(
    {
        f"{key}/{name}": (key, load)
        for key in GRIDS
        for name, load in (("dense", planted), ("sparse", sparse))
    }
)
def grid_search(asked: tuple[str, Callable[[], Split]]) -> Outputs:
    key, load = asked
    make, grid = GRIDS[key]
    search = model_selection.GridSearchMoments(make(), grid, cv=3, random_state=0)
    return searched(search, load())


@case
def grid_search_kernel() -> Outputs:
    model = compact(cl.CMLL(8, 6), feature_map=cl.KernelMap())
    search = model_selection.GridSearchMoments(
        model, {"alpha": [0.1, 1.0]}, cv=3, scoring="micro_f1", random_state=0
    )
    return searched(search, dense())


@each({"dense": planted, "sparse": sparse})
def scores_on_split(load: Callable[[], Split]) -> Outputs:
    data = load()
    candidates = [
        {"alpha": alpha, "embedding__n_label_components": m} for alpha in (1.0, 9.0) for m in (4, 8)
    ]
    found = {}
    for split in model_selection.scores_on_split(
        compact(cl.PLST(8)), candidates, data.X, data.Y, data.new
    ):
        found[str(split.indices)] = [split.scores, split.threshold]
    return found


@case
def splits() -> Outputs:
    found = {}
    for name, data in (("dense", planted()), ("sparse", sparse())):
        folds = model_selection.IterativeStratification(4, random_state=0)
        found[f"folds {name}"] = [test for _, test in folds.split(data.X, data.Y)]
    return found


AUTO: dict[str, tuple[Callable[[], Split], dict[str, Any]]] = {
    "dense": (dense, {}),
    "planted": (planted, {"scoring": "micro_f1"}),
    "sparse": (sparse, {}),
    "size budget": (planted, {"size_budget": 0.3}),
    "size budget sparse": (sparse, {"size_budget": 2000}),
    "rare labels": (sparse, {"min_label_count": 5, "threshold": "per-label"}),
}


def chosen_by(model: Any, new: Any) -> Outputs:
    """Return what an automatic search tried, chose and says."""
    found = {
        name: getattr(model, name)
        for name in ("best_score_", "leaderboard_", "frontier_", "weights_")
    }
    return {**found, **said_by(model, new)}


@each(AUTO)
def auto_classifier(asked: tuple[Callable[[], Split], dict[str, Any]]) -> Outputs:
    load, options = asked
    data = load()
    data = Split(data.X[:160], data.Y[:160], data.new, data.truth)
    model = cl.AutoCompactClassifier(cv=3, random_state=0, **options)
    return chosen_by(model.fit(data.X, data.Y), data.new)


@case
def auto_classifier_unknown() -> Outputs:
    data = planted()
    model = cl.AutoCompactClassifier(cv=3, random_state=0).fit(data.X, with_nan(data))
    return chosen_by(model, data.new)


@case
def text_classifier() -> Outputs:
    said, tags = texts()
    model = cl.text_classifier(cl.AutoCompactClassifier(cv=3, random_state=0)).fit(
        said[:60], tags[:60]
    )
    return {
        "scores": model.decision_function(said[60:]),
        "labels": model.predict(said[60:]),
        "pairs": cl.predict_labels(model, said[60:], k=2),
        "explained": cl.explain(model, said[60:63], k=3).to_dicts(),
    }


@case
def text_classifier_given() -> Outputs:
    said, tags = texts()
    model = cl.text_classifier(compact(cl.CMLL(10, 5))).fit(said[:60], tags[:60])
    return {"scores": model.decision_function(said[60:]), "labels": model.predict(said[60:])}


# ---- shortlists ---------------------------------------------------------------------------------


@each(
    {
        "default": {},
        "few candidates": {"n_candidates": 10, "n_neighbors": 5},
        "no neighbours": {"n_neighbors": 0, "C": 1.0, "n_candidates": 12},
        "retriever": {"retriever": "own", "threshold": "per-label", "n_candidates": 12},
        "rare": {"min_label_count": 4, "smallest_weight": 0.1, "threshold": 0.3},
    }
)
def shortlist(options: dict[str, Any]) -> Outputs:
    given = dict(options)
    if given.get("retriever") == "own":
        given["retriever"] = compact(cl.CMLL(12, 10))
    model = cl.ShortlistClassifier(random_state=0, **given).fit(sparse().X, sparse().Y)
    found = said_by(model, sparse().new)
    return {"top": model.predict_topk(sparse().new, k=3), **found}


@case
def shortlist_unknown() -> Outputs:
    data = sparse()
    unknown = scipy.sparse.csr_array(hidden(250, 53))
    model = cl.ShortlistClassifier(n_candidates=12, random_state=0)
    return said_by(model.fit(data.X, data.Y, unknown=unknown), data.new)


@case
def shortlist_explained() -> Outputs:
    data = sparse()
    model = cl.ShortlistClassifier(n_candidates=12, random_state=0).fit(data.X, data.Y)
    return {"reasons": model.explain(data.new[:3], k=4).to_dicts()}


# ---- looking at models, keeping them ------------------------------------------------------------

MODELS: dict[str, Callable[[], Any]] = {
    "CMLL": lambda: compact(cl.CMLL(10, 8)),
    "logistic": lambda: compact(cl.CMLL(10, 8), decoder="logistic"),
    "Original": lambda: compact(cl.Original()),
    "kernel": lambda: compact(cl.CMLL(10, 8), feature_map=cl.KernelMap()),
    "landmarks": lambda: compact(
        cl.CMLL(10, 8),
        feature_map=cl.KernelMap(algorithm="nystroem", n_components=30, random_state=0),
    ),
    "tuner": lambda: cl.ThresholdTuner(compact(cl.CPLST(8)), cv=3, random_state=0),
    "forest": lambda: related.ProjectionForestClassifier(5, random_state=0),
}


@each({name: make for name, make in MODELS.items() if name != "forest"})
def explained(make: Callable[[], Any]) -> Outputs:
    data = planted()
    model = make().fit(data.X, data.Y)
    return {
        "reasons": cl.explain(model, data.new[:4], k=5).to_dicts(),
        "some": cl.explain(model, data.new[:2], labels=[0, 3], k=None).to_dicts(),
        "neighbours": cl.label_neighbours(model, k=3),
    }


def saved_and_loaded(model: Any, new: Any) -> Outputs:
    """Return what a model says that was saved and loaded; it must be what it said before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bin"
        cl.save_model(model, path)
        loaded = cl.load_model(path, memory_map=False)
    before, after = said_by(model, new), said_by(loaded, new)
    assert all(shorten(before[name]) == shorten(after[name]) for name in before)
    return after


@each(MODELS)
def kept(make: Callable[[], Any]) -> Outputs:
    return saved_and_loaded(make().fit(planted().X, planted().Y), planted().new)


@each(cl.METHODS)
def kept_method(name: str) -> Outputs:
    options: dict[str, Any] = dict(_SMALL.get(name, {}))
    model = cl.method(name, **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return saved_and_loaded(model.fit(planted().X, planted().Y), planted().new)


OTHERS: dict[str, Callable[[], Any]] = {
    "shortlist": lambda: cl.ShortlistClassifier(n_candidates=12, random_state=0),
    "search": lambda: cl.CMLLClassifierCV(cv=3, alphas=[1.0, 10.0], random_state=0),
    "auto": lambda: cl.AutoCompactClassifier(cv=3, random_state=0),
}


@each(OTHERS)
def kept_sparse(make: Callable[[], Any]) -> Outputs:
    data = sparse()
    return saved_and_loaded(make().fit(data.X, data.Y), data.new)


@case
def kept_texts() -> Outputs:
    said, tags = texts()
    model = cl.text_classifier(cl.ShortlistClassifier(random_state=0), exclude=["sport"])
    return saved_and_loaded(model.fit(said[:60], tags[:60]), said[60:])


@case
def auto_explained() -> Outputs:
    data = planted()
    model = cl.AutoCompactClassifier(cv=3, random_state=0).fit(data.X, data.Y)
    small = model.compress("float32")
    return {
        "reasons": cl.explain(model, data.new[:3], k=4).to_dicts(),
        "table": evaluated_by(model, data.new, data.truth),
        "compressed": small.decision_function(data.new),
    }


@case
def auto_classes() -> Outputs:
    data = planted()
    y = (data.Y @ np.arange(1, 25)) % 3
    folds = model_selection.IterativeStratification(3, random_state=0)
    model = cl.AutoCompactClassifier(cv=list(folds.split(data.X, data.Y)), random_state=0)
    return chosen_by(model.fit(data.X, y), data.new)


@case
def inspected() -> Outputs:
    data = planted()
    model = compact(cl.CMLL(10, 8), decoder="logistic").fit(data.X, data.Y)
    facts = inspection.inspect_model(model, data.new, data.truth, n_mistakes=5)
    table = overconfidence(data.truth, model.predict_proba(data.new), model.predict(data.new))
    suggested = [{"name": name, "bins": bins(found)} for name, found in facts.suggested.items()]
    named = {**dict(vars(facts)), "suggested": suggested}
    return {"facts": {**named, "metrics": {**facts.metrics, **table}}}


def bins(table: metrics.ReliabilityTable) -> dict[str, Any]:
    """Return the bins of a table that are not empty."""
    there = table.count > 0
    found = {
        name: getattr(table, name)[there] for name in ("count", "mean_probability", "precision")
    }
    return {**found, "low": table.edges[:-1][there], "high": table.edges[1:][there]}


@each(("average_precision", "micro_f1", "log_loss", "precision_at_3"))
def scored(name: str) -> Outputs:
    data = planted()
    model = compact(cl.CMLL(10, 8), decoder="logistic").fit(data.X, data.Y)
    judge = metrics.scorer(name)
    return {"scorer": judge(model, data.new, data.truth), "own": model.score(data.new, data.truth)}


@each(
    {
        f"{key}/{dtype}": (key, dtype)
        for key in MODELS
        if key not in ("tuner", "forest")  # which have no compress
        for dtype in ("float64", "float32", "float16")
    }
)
def compressed(asked: tuple[str, str]) -> Outputs:
    key, dtype = asked
    data = planted()
    model = MODELS[key]().fit(data.X, data.Y)
    small = model.compress(dtype, data.new, data.truth)
    scores = "decision_function" if hasattr(small, "decision_function") else "predict_proba"
    return {
        "scores": getattr(small, scores)(data.new),
        "labels": small.predict(data.new),
        "report": [small.compression_["before"], small.compression_["after"]],
    }


@each(MODELS)
def evaluated(make: Callable[[], Any]) -> Outputs:
    data = planted()
    model = make().fit(data.X, data.Y)
    return {
        "table": evaluated_by(model, data.new, data.truth, train_labels=data.Y),
        "masked": evaluated_by(model, data.new, masked(data.truth)),
        "top": cl.predict_topk(model, data.new, 4),
        "pairs": cl.predict_labels(model, data.new[:10]),
    }


@case
def evaluated_sparse() -> Outputs:
    data = sparse()
    model = compact(cl.CMLL(10, 8), decoder="logistic").fit(data.X, data.Y)
    return {
        "table": evaluated_by(model, data.new, data.truth, train_labels=data.Y),
        "top": cl.predict_topk(model, data.new, 4, sparse=True),
    }


# ---- metrics ------------------------------------------------------------------------------------


def masked(Y: Any) -> Any:
    """Return labels of which some are unknown."""
    dense = Y.toarray() if scipy.sparse.issparse(Y) else np.asarray(Y)
    return np.where(hidden(*dense.shape), np.nan, dense)


def overconfidence(
    Y: Any, probabilities: Any, labels: Any, ks: tuple[int, ...] = (1, 3, 5)
) -> Outputs:
    """Return the overconfidence of predicted labels and of the best ones, from their tables."""
    tables = {
        "predicted_overconfidence": metrics.reliability_table(Y, probabilities, labels=labels)
    }
    for k in ks:
        tables[f"overconfidence_at_{k}"] = metrics.reliability_table(Y, probabilities, k=k)
    return {name: table.overconfidence for name, table in tables.items()}


def evaluated_by(model: Any, X: Any, Y: Any, memory: Any = None, **options: Any) -> Outputs:
    """Return all metrics of a model, and the overconfidence where it has probabilities."""
    table = cl.evaluate(model, X, Y, **options)
    X, Y = (X, Y) if memory is None else memory
    if "predicted_calibration_error" not in table:
        return table
    probabilities = metrics.predicted_probabilities(model, X)
    return table | overconfidence(Y, probabilities, model.predict(X))


@functools.cache
def judged() -> tuple[Any, Any, Any]:
    """Return labels of rows, some without any, probabilities with ties, and decisions."""
    rng = np.random.default_rng(5)
    truth = (rng.random((80, 12)) < 0.2).astype(int)
    truth[:3] = 0
    truth[3] = 1
    probabilities = np.round(np.clip(0.5 * rng.random((80, 12)) + 0.4 * truth, 0, 1), 2)
    return truth, probabilities, (probabilities > 0.4).astype(int)


@each(tuple(metrics.METRICS))
def metric(name: str) -> Outputs:
    truth, probabilities, labels = judged()
    one = metrics.METRICS[name]
    given = labels if one.needs == "labels" else probabilities
    options: dict[str, Any] = {}
    if "weights" in one.options:
        options["weights"] = metrics.inverse_propensities(truth)
    found = {
        "plain": one.function(truth, given, **options),
        "masked": one.function(masked(truth), given, **options),
        "sparse": one.function(scipy.sparse.csr_array(truth), given, **options),
    }
    if "k" in one.options:
        for k in (1, 3):
            found[f"k={k}"] = one.function(truth, given, k=k, **options)
    return found


@case
def metric_tables() -> Outputs:
    truth, probabilities, labels = judged()
    return {
        "evaluate": metrics.evaluate(
            truth, probabilities, labels=labels, probabilities=probabilities, train_labels=truth
        )
        | overconfidence(truth, probabilities, labels),
        "reliability": metrics.reliability_table(truth, probabilities, k=2),
        "predicted": metrics.reliability_table(truth, probabilities, threshold=0.4, bins=5),
        "propensities": metrics.propensities(truth),
        "rankable": (truth.sum(axis=1) > 0) & (truth.sum(axis=1) < truth.shape[1]),
        "synthetic": [planted().X, planted().Y],
    }


# ---- recording and comparing --------------------------------------------------------------------


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield arrays and lists of strings inside a value, each with its name."""
    if NOT_COMPARED.intersection(re.split(r"[._ ]", name)):
        return
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(f"{name}.{key}" if name else str(key), part)
    elif isinstance(value, list | tuple):
        yield from _of_list(name, list(value))
    elif scipy.sparse.issparse(value):
        yield name, value.toarray()
    elif value is None or isinstance(value, str):
        yield name, [str(value)]
    elif np.asarray(value).dtype.kind in "biuf":
        yield name, np.asarray(value)
    elif np.asarray(value).dtype.kind in "US":
        yield name, [str(part) for part in np.asarray(value).ravel()]
    else:  # a part of a model, among chosen parameters
        yield name, [repr(value)]


def _of_list(name: str, parts: list[Any]) -> Iterator[tuple[str, Any]]:
    """Join the leaves of a list by their names, so that they make few long arrays."""
    joined: dict[str, list[Any]] = {}
    for part in parts:
        for key, value in leaves("", part):
            joined.setdefault(key, []).append(value)
    for key, values in joined.items():
        whole = f"{name}.{key}" if key else name
        numbers = [np.ravel(value) for value in values if not isinstance(value, list)]
        words = [word for value in values if isinstance(value, list) for word in value]
        if numbers:
            yield whole, np.concatenate(numbers)
        if words:
            yield f"{whole} (words)" if numbers else whole, words


def shorten(value: Any) -> dict[str, list[Any]]:
    """Return size, sum, sum of absolute values and evenly spaced numbers of each leaf."""
    found: dict[str, list[Any]] = {}
    for name, leaf in leaves("", value):
        name = name.replace("n_parameters", "numbers")  # as the record calls them
        if isinstance(leaf, list):
            found[name] = [leaf[k] for k in _places(len(leaf))]
            continue
        flat = np.ravel(leaf).astype(float)
        finite = flat[np.isfinite(flat)]
        sums = [float(flat.size), float(finite.sum()), float(np.abs(finite).sum())]
        found[name] = sums + flat[_places(flat.size)].tolist()
    return found


def _places(size: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, KEPT)).astype(int))


def difference(before: list[Any], after: list[Any]) -> float:
    """Return the largest difference, each relative to the larger of 1 and the number before.

    A sum is compared relative to the sum of absolute values.
    """
    if len(before) != len(after):
        return math.inf
    largest = 0.0
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new or (old != old and new != new):
            continue
        if isinstance(old, str) or isinstance(new, str) or not math.isfinite(old - new):
            return math.inf
        scale = before[2] if place == 1 else abs(old)
        largest = max(largest, abs(old - new) / max(1.0, scale))
    return largest


def run(names: list[str]) -> tuple[dict[str, dict[str, list[Any]]], dict[str, str]]:
    """Run cases; return what they gave, and the errors of those that failed."""
    found, failed, seconds = {}, {}, {}
    for name in names:
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = shorten(CASES[name]())
        except Exception:
            failed[name] = traceback.format_exc(limit=-3)
        seconds[name] = time.perf_counter() - began
    print(f"{len(names)} cases in {sum(seconds.values()):.1f} s; the slowest:")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:10]:
        print(f"  {seconds[name]:6.2f} s  {name}")
    for name, error in failed.items():
        print(f"FAILED {name}\n{error}")
    return found, failed


def compare(
    before: dict[str, Any], after: dict[str, Any], failed: Mapping[str, str], tolerance: float
) -> int:
    """Print what differs; return how many cases do."""
    differing = 0
    worst = 0.0
    for name, outputs in before.items():
        if name in failed:
            continue
        if name not in after:
            print(f"no longer a case: {name}")
            continue
        lines = [f"  {key}: gone" for key in outputs.keys() - after[name].keys()]
        for key in outputs.keys() & after[name].keys():
            size = difference(outputs[key], after[name][key])
            if size > tolerance:
                lines.append(f"  {key}: {size:.3g}")
            else:
                worst = max(worst, size)
        if lines:
            print("\n".join([f"DIFFERS {name}", *sorted(lines)]))
            differing += 1
    for name in after.keys() - before.keys():
        print(f"not recorded: {name}")
    print(f"{differing} of {len(before)} cases differ, {len(failed)} failed")
    print(f"the largest difference among equal outputs is {worst:.3g}")
    return differing


def read_record(path):
    """Return the text of a record, which may be packed."""
    packed = path.suffix == ".xz"
    return lzma.decompress(path.read_bytes()).decode() if packed else path.read_text()


def main() -> int:
    """Record or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", default="*", help="a pattern of names of cases, such as 'auto*'")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    asked = parser.parse_args()
    if any(os.environ.get(name) != "1" for name in THREADS):  # read when libraries are loaded
        single = {**os.environ, **dict.fromkeys(THREADS, "1")}
        os.execve(sys.executable, [sys.executable, *sys.argv], single)
    print(f"compactlearn of {Path(cl.__file__).parent}")
    before = json.loads(read_record(asked.path)) if asked.action == "compare" else {}
    found, failed = run([name for name in CASES if fnmatch.fnmatch(name, asked.only)])
    if asked.action == "record":
        lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
        asked.path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return 1 if failed else 0
    before = {name: part for name, part in before.items() if fnmatch.fnmatch(name, asked.only)}
    return 1 if compare(before, found, failed, asked.tolerance) or failed else 0


if __name__ == "__main__":
    sys.exit(main())
