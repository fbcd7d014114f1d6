"""A fitted model and held-out rows become one page: what it shows is gathered here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.compact._any_classifier import evaluate, scores_to_rank
from compactlearn.core._atomic import atomic
from compactlearn.core._params import Integer
from compactlearn.core._plain import python_value
from compactlearn.core._targets import take_rows
from compactlearn.core._validation import n_rows_of, with_rows_to_take
from compactlearn.inspection._decomposition import NotExplained
from compactlearn.inspection._explain import explain, labels_in_space, mean_terms, seen_at_the_end
from compactlearn.inspection._labels import LabelNames, nearest_labels
from compactlearn.inspection._model_facts import LabelFacts, Misjudged, ModelFacts
from compactlearn.inspection._model_page import model_page
from compactlearn.metrics._reliability import ReliabilityTable, reliability_table
from compactlearn.metrics._scoring import predicted_probabilities
from compactlearn.metrics._truth import Truth, read_truth

__all__ = ["inspect_model", "model_report"]

_WORDS = 6  # of a label
_NEAR = 3
_ROWS_OF_WORDS = 30  # of a label, from which its words are chosen
_BINS = 10
_BEST = 5
_TEXT = 300  # characters of a row that are shown


def model_report(
    model: Any,
    X: Any,
    Y: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    n_mistakes: int = 40,
    feature_names: Any = None,
    heading: str | None = None,
) -> str:
    """Make an HTML page about a fitted model, in one file that needs no network.

    The page has the metrics on held-out rows; a table of all labels that can be searched and
    sorted, with their strongest features, similar labels, frequency and accuracy; the most
    confident errors; the reliability of the probabilities of suggested labels; and the models that
    a search has tried.

    Parameters
    ----------
    model : fitted classifier or Pipeline
    X, Y : as in ``fit``
        Held-out rows, and their labels.
    path : str or path-like, optional
        Where to write the page, in one step: no half of it is ever there.
    n_mistakes : int, default=40
        How many mistakes are shown.
    feature_names : list of str, optional
        As in :func:`compactlearn.explain`.
    heading : str, optional
        The title of the page; by default the name of the model's class.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.inspection import model_report
    >>> data = load("emotions")
    >>> model = CMLLClassifier(decoder="logistic").fit(data.X[:391], data.Y[:391])
    >>> page = model_report(model, data.X[391:], data.Y[391:], feature_names=data.feature_names)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    facts = inspect_model(model, X, Y, n_mistakes=n_mistakes, feature_names=feature_names)
    page = model_page(facts, f"{facts.kind}: a fitted model" if heading is None else heading)
    if path is not None:
        with atomic(path) as stream:
            stream.write(page.encode(errors="replace"))
    return page


def inspect_model(
    model: Any, X: Any, Y: Any, *, n_mistakes: int = 40, feature_names: Any = None
) -> ModelFacts:
    """Gather what :func:`model_report` shows, as plain values.

    Parameters
    ----------
    model, X, Y, n_mistakes, feature_names
        As in :func:`model_report`.
    """
    if not Integer(0).accepts(n_mistakes):
        raise ValueError(
            f"n_mistakes must be {Integer(0).describe()}, and is {n_mistakes!r}; pass such a "
            "number."
        )
    texts = _texts(X)
    model, X, names = seen_at_the_end(model, with_rows_to_take(X), "inspect_model")
    X = with_rows_to_take(X)
    names = names if feature_names is None else [str(name) for name in feature_names]
    called = LabelNames.of(model)
    Y = called.by_column(Y, "inspect_model")
    metrics = evaluate(model, X, Y)
    truth = read_truth(called.as_matrix(Y, "inspect_model"))
    present = truth.present.matrix(called.count)
    decided = called.as_matrix(model.predict(X), "inspect_model")
    given = read_truth(decided).present.matrix(called.count)
    if truth.unknown is not None:  # what is not known is neither right nor wrong
        given = given - given.multiply(truth.unknown.matrix(called.count))
    right = given.multiply(present)
    words, unexplained = _words(model, X, present, names)
    near = _near(model, called)
    n_present, n_given, n_right = (_counts(part) for part in (present, given, right))
    labels = tuple(
        LabelFacts(name, n_present[j], n_given[j], n_right[j], words[j], near[j])
        for j, name in enumerate(called.names)
    )
    n_features = X.shape[1] if np.ndim(X) == 2 else 0
    scoring = getattr(model, "scoring", "")  # of a search
    return ModelFacts(
        type(model).__name__,
        _settings(model),
        n_rows_of(X),
        int(getattr(model, "n_features_in_", n_features)),
        called.count,
        _known(model, "n_parameters_"),
        _known(model, "nbytes_"),
        metrics,
        labels,
        _mistakes(model, X, (given, present), called, names, n_mistakes, texts),
        getattr(model, "leaderboard_", ()),
        scoring if isinstance(scoring, str) else getattr(scoring, "name", ""),
        _suggested(model, X, truth, given),
        _ROWS_OF_WORDS,
        unexplained,
    )


def _texts(X: Any) -> Sequence[str] | None:
    """Return rows that are texts, which a page can show; those of several fields joined."""
    rows = X if isinstance(X, list | tuple) or np.ndim(X) == 1 else []
    if len(rows) and all(isinstance(row, Mapping) for row in rows):
        return [" / ".join(part for part in row.values() if isinstance(part, str)) for row in rows]
    return list(rows) if len(rows) and all(isinstance(row, str) for row in rows) else None


def _counts(ones: scipy.sparse.csr_array) -> list[int]:
    return np.asarray(ones.sum(axis=0)).ravel().astype(int).tolist()


def _words(
    model: Any, X: Any, present: scipy.sparse.csr_array, names: Sequence[str] | None
) -> tuple[list[tuple[str, ...]], str]:
    """Return the features that speak for each label most, on rows that have it."""
    rows, labels = [], []
    for j, column in enumerate(np.split(present.tocsc().indices, present.tocsc().indptr[1:-1])):
        rows.append(np.sort(column)[:_ROWS_OF_WORDS])
        labels.append(np.full(rows[-1].size, j))
    try:
        found = mean_terms(model, X, np.concatenate(rows), np.concatenate(labels), names)
    except NotExplained as refusal:
        return [()] * present.shape[1], str(refusal)
    best = [
        tuple(name for name, mean in found.get(j, ()) if mean > 0)[:_WORDS]
        for j in range(present.shape[1])
    ]
    return best, ""


def _near(model: Any, called: LabelNames) -> list[tuple[str, ...]]:
    try:
        _, vectors = labels_in_space(model)
    except NotExplained:
        return [()] * called.count
    near, _ = nearest_labels(vectors, np.arange(called.count), _NEAR)
    return [tuple(called.names[j] for j in row) for row in near]


def _mistakes(
    model: Any,
    X: Any,
    decided: tuple[Any, Any],  # what was given, and what is there
    called: LabelNames,
    names: Sequence[str] | None,
    count: int,
    texts: Sequence[str] | None,
) -> tuple[Misjudged, ...]:
    """Return the surest mistakes, half of them given and not there, half there and not given."""
    scores = np.asarray(scores_to_rank(model, X), dtype=np.float64)
    if called.two_classes:
        scores = np.column_stack([-scores.ravel(), scores.ravel()])
    threshold = getattr(model, "threshold_", 0.0)
    margins = scores - (0.0 if threshold is None or called.two_classes else threshold)
    given, there = (part.toarray() > 0 for part in decided)
    found = []
    for chosen, order in ((given & ~there, -1.0), (there & ~given, 1.0)):
        rows, labels = np.nonzero(chosen)
        surest = np.argsort(order * margins[rows, labels], kind="stable")[: (count + 1) // 2]
        found += [(int(rows[k]), int(labels[k]), order < 0) for k in surest]
    mistakes = []
    for row, j, wrong in found[:count]:
        text = "" if texts is None else texts[row][:_TEXT]
        pro: tuple[str, ...] = ()
        contra: tuple[str, ...] = ()
        with suppress(NotExplained):
            one = take_rows(X, [row])
            (why,) = explain(model, one, called.names[j], k=_WORDS, feature_names=names)
            pro = tuple(term.title for term in why.speaks_for)
            contra = tuple(term.title for term in why.speaks_against)
        margin = float(margins[row, j])
        mistakes.append(Misjudged(row, called.names[j], wrong, margin, pro, contra, text))
    return tuple(mistakes)


def _suggested(model: Any, X: Any, truth: Truth, given: Any) -> dict[str, ReliabilityTable]:
    """Return the reliability of predicted labels, of the first one of each row and the best few."""
    if not hasattr(model, "predict_proba"):
        return {}
    P = predicted_probabilities(model, X)
    if np.shape(P) != truth.shape:
        return {}
    asked: dict[str, dict[str, Any]] = {
        "predicted labels": {"labels": given},
        "first label of each row": {"k": 1},
        f"best {_BEST} labels of each row": {"k": _BEST},
    }
    tables = {
        name: reliability_table(truth, P, bins=_BINS, **how)
        for name, how in asked.items()
        if how.get("k", 0) < truth.shape[1]
    }
    return {name: table for name, table in tables.items() if table.total}


def _settings(model: Any) -> dict[str, str]:
    """Return the parameters that do not have their default values."""
    if not hasattr(model, "get_params"):
        return {}
    try:
        usual = type(model)().get_params(deep=False)
    except TypeError:  # a model of others, that cannot be made without arguments
        usual = {}
    own = {name: python_value(value) for name, value in model.get_params(deep=False).items()}
    return {
        name: text[:200]
        for name, text in own.items()
        if name not in usual or text != python_value(usual[name])
    }


def _known(model: Any, name: str) -> int | None:
    value = getattr(model, name, None)
    return None if value is None else int(value)
