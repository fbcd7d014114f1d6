"""``explain`` and ``label_neighbours`` for every kind of model, by its decomposition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.pipeline import Pipeline

from compactlearn.core._devices import host, on_host
from compactlearn.core._model_methods import Explainable
from compactlearn.core._params import Integer
from compactlearn.core._targets import take_rows
from compactlearn.core._validation import n_rows_of, with_rows_to_take
from compactlearn.inspection import _blend, _compact, _shortlist, _trees  # noqa: F401, they register
from compactlearn.inspection._decomposition import (
    NotExplained,
    Places,
    checked_rows,
    label_scores,
    label_vectors_of,
    neighbours_of,
    parts_of,
    scored_by,
)
from compactlearn.inspection._explanation import Explanation, Reasons, Term
from compactlearn.inspection._labels import LabelNames, nearest_labels
from compactlearn.inspection._terms import Parts, Terms
from compactlearn.metrics._checks import row_blocks

_NEIGHBOURS = 5  # that are named
_ENTRIES = 1 << 21  # sixteen megabytes of weights or terms at a time
_WIDE = 1 << 12  # columns of rows that are texts, or are mapped


def explain(
    model: Any, X: Any, labels: Any = None, k: int | None = 10, *, feature_names: Any = None
) -> Explanation:
    """Explain the scores of labels as sums of terms, such as the contributions of features.

    The terms of a row and a label, with ``base`` and ``rest``, add up to the score of
    ``decision_function``. The terms depend on the model:

    * *linear models* (every embedding and decoder with the built-in ridge or a linear regressor,
      other linear models): one for each feature, its value times its weight;
    * *kernels*: one for each feature, its value times its mean slope from a row of zeros;
    * *forests*: one for each feature, the changes at its nodes along the paths of the trees;
    * :class:`ShortlistClassifier`: features and likely labels, by their weights; the score of
      the retriever minus its mean score for the label; the votes of the neighbours; and
      co-occurrence with other candidates; ``neighbours`` are the training rows that voted;
    * :class:`AutoCompactClassifier`: the weighted terms of its models; terms of the same feature
      are summed.

    Where a score is a function of a sum, terms of the sum are multiplied by the mean slope of the
    function between the base and the score, so that they add up as well.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.explain(X)``. In a pipeline the
        features are the columns that the last step sees, by the names that the steps before give
        them: the words, after ``TfidfVectorizer``.
    X : as in ``predict``
    labels : name or number of a label, list of these, or None, default=None
        None explains the predicted labels of each row, or its best label if none is predicted.
    k : int or None, default=10
        Number of strongest terms that are listed; None lists all. The others are ``rest``.
    feature_names : list of str or None, default=None
        Names of the columns, if neither X nor the steps before have any.

    Returns
    -------
    Explanation
        A sequence of :class:`Reasons`, one for each row and label, row by row.

    Raises
    ------
    NotExplained
        A TypeError, if the scores of the model are not such sums.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier, explain
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> model = CMLLClassifier(decoder="logistic", threshold=0.5).fit(data.X[:800], data.Y[:800])
    >>> why = explain(model, data.X[800:802], k=3, feature_names=data.feature_names)
    >>> one = why[0]
    >>> total = one.base + sum(term.contribution for term in one.terms) + one.rest
    >>> abs(total - one.score) < 1e-9
    True
    """
    model, X, names = seen_at_the_end(model, X, "explain")
    if feature_names is not None:
        names = [str(name) for name in feature_names]
    if k is not None and not Integer(1).accepts(k):
        raise ValueError(
            f"explain needs k, how many terms are kept, to be at least 1, or None for all, and was "
            f"given {k!r}; pass such a number."
        )
    scored, X = scored_by(model), with_rows_to_take(X)
    rows = checked_rows(scored, X)
    if names is not None and np.ndim(rows) == 2 and len(names) != rows.shape[1]:
        raise ValueError(
            f"feature_names must hold one name for each of the {rows.shape[1]} columns that the "
            f"classifier sees, and holds {len(names)}; pass a list of {rows.shape[1]}."
        )
    called = LabelNames.of(model)
    asked = None if labels is None else called.places(labels)
    pairs = _pairs(model, scored, X, called, asked)
    return Explanation(_reasons(scored, rows, pairs, _TermNames(called, names), k))


def mean_terms(
    model: Any, X: Any, rows: Places, labels: Places, feature_names: Any = None
) -> dict[int, list[tuple[str, float]]]:
    """Return what features add to the scores of labels on average, strongest first, by label.

    The mean of the contributions of :func:`explain` over pairs of a row and a label, given by their
    places; for two classes, of the score between them.
    """
    scored, called = scored_by(model), LabelNames.of(model)
    names, sums = _TermNames(called, feature_names), {int(j): {} for j in np.unique(labels)}
    checked = checked_rows(scored, X)
    for chosen, _, parts in _blocks_of_parts(scored, checked, rows, labels, called):
        for group in parts.groups:
            if group.kind == "feature":
                _add_by_label(sums, group, labels[chosen], names)
    counts = dict(zip(*np.unique(labels, return_counts=True), strict=True))
    return {
        j: sorted(
            ((name, total / counts[j]) for name, total in found.items()),
            key=lambda term: (-abs(term[1]), term[0]),
        )
        for j, found in sums.items()
    }


def label_neighbours(model: Any, label: Any = None, k: int = 5) -> Any:
    """Return the labels that are most similar to a label inside the model.

    Similarity is the cosine between the labels' columns of the decoder, or between their weights if
    labels are their own codes.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.label_neighbours()``.
    label : name or number of a label, or None, default=None
        None returns the neighbours of all labels.
    k : int, default=5
        Number of neighbours; at most all other labels are returned.

    Returns
    -------
    list of (name, cosine), nearest first; for all labels a dictionary of such lists by name

    Examples
    --------
    >>> from compactlearn import CMLLClassifier, label_neighbours
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = CMLLClassifier(threshold=0.5).fit(data.X, data.Y)
    >>> near = label_neighbours(model, 0, k=2)
    >>> len(near), near[0][1] >= near[1][1]
    (2, True)
    """
    if not Integer(1).accepts(k):
        raise ValueError(
            f"label_neighbours needs k, how many neighbours, to be at least 1, and was given "
            f"{k!r}; pass such a number."
        )
    called, vectors = labels_in_space(model)
    asked = np.arange(called.count) if label is None else called.places(label)
    if label is not None and len(asked) != 1:
        raise ValueError(
            f"label_neighbours needs one label, or None for all, and was given {len(asked)}; ask "
            "for one after the other."
        )
    near, cosines = nearest_labels(vectors, asked, k)
    lists = [
        [(called.names[j], float(c)) for j, c in zip(places, values, strict=True)]
        for places, values in zip(near, cosines, strict=True)
    ]
    if label is not None:
        return lists[0]
    return dict(zip(called.names, lists, strict=True))


def labels_in_space(model: Any) -> tuple[LabelNames, Any]:
    """Return the labels of a fitted model, and where each of them lies, (M, r)."""
    model = on_host(classifier_of(model))
    called, vectors = LabelNames.of(model), label_vectors_of(scored_by(model))
    if vectors.shape[0] != called.count:
        raise NotExplained(
            "Neighbours of labels need a label matrix or several classes, and this model was "
            "fitted to two classes, which have one score between them; fit it to a matrix."
        )
    return called, vectors


@parts_of.register
def _(model: Pipeline, X: Any, labels: Places) -> Parts:
    """The parts of the last step; of the same features where every step keeps columns apart."""
    seen = checked_rows(model[-1], model[:-1].transform(X))
    parts = parts_of(model[-1], seen, labels)
    if all(isinstance(step, OneToOneFeatureMixin) for _, step in model.steps[:-1]):
        return parts
    names = _names_after(model[:-1], X, seen.shape[1])
    groups = tuple(
        replace(group, values=seen, names=names) if group.kind == "feature" else group
        for group in parts.groups
    )
    return replace(parts, groups=groups)


@label_vectors_of.register
def _(model: Pipeline) -> Any:
    return label_vectors_of(model[-1])


# ---- rows, labels and their names ---------------------------------------------------------------


def classifier_of(model: Any) -> Any:
    """Return the classifier at the end of pipelines and scikit-learn's searches."""
    while not isinstance(model, Explainable):
        if isinstance(model, Pipeline):
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            break
    return model


def seen_at_the_end(model: Any, X: Any, asked: str) -> tuple[Any, Any, list[str] | None]:
    """Return the classifier that decides, X as it sees it, and what its columns are called."""
    last, names = classifier_of(model), _columns_of(X)
    while model is not last:
        if isinstance(model, Pipeline):
            if len(model) > 1:
                before, given = model[:-1], X
                X = before.transform(given)
                names = _names_after(before, given, X.shape[1])
            model = model[-1]
        else:
            model = model.best_estimator_
    if not callable(getattr(model, "predict", None)):
        raise TypeError(
            f"{asked} needs a fitted classifier or a Pipeline that ends in one as its first "
            f"argument, and was given {type(model).__name__}; pass the model."
        )
    known = getattr(model, "feature_names_in_", None)
    if names is None and known is not None:
        names = [str(name) for name in known]
    whole = on_host(model)
    return whole, X if whole is model else host(X), names


def _columns_of(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _names_after(steps: Any, X: Any, width: int) -> list[str]:
    """Return what steps call their columns; numbers where they have no names."""
    known = _columns_of(X)
    try:
        given = () if known is None else (known,)
        found = steps.get_feature_names_out(*given)
    except (AttributeError, ValueError):  # a step has no such method, or does not know its columns
        found = [] if known is None else known
    if len(found) != width:
        found = [f"x{number}" for number in range(width)]
    return [str(name) for name in found]


@dataclass(frozen=True)
class _Pairs:
    """Rows and labels to be explained, row by row, and what the model says of them."""

    rows: Places
    labels: Places  # among the names
    scores: NDArray[np.float64]
    predicted: NDArray[np.bool_]


def _pairs(model: Any, scored: Any, X: Any, called: LabelNames, asked: list[int] | None) -> _Pairs:
    """Return pairs of rows and asked labels; of those that are predicted, or else best, if None."""
    parts = []
    n_rows = n_rows_of(X)
    for rows in row_blocks((n_rows, max(1, called.count))):
        block = take_rows(X, np.arange(rows.start, min(rows.stop, n_rows)))
        scores = label_scores(scored, block)
        if called.two_classes:  # one score, of the second class
            scores = np.hstack([-scores, scores])
        given = called.as_matrix(model.predict(block), "explain")
        given = (given.toarray() if scipy.sparse.issparse(given) else np.asarray(given)) > 0
        if asked is None:
            wanted = given.copy()
            none = ~wanted.any(axis=1)
            wanted[none, scores[none].argmax(axis=1)] = True
            row, label = np.nonzero(wanted)
        else:
            row = np.repeat(np.arange(scores.shape[0]), len(asked))
            label = np.tile(np.asarray(asked, dtype=np.intp), scores.shape[0])
        parts.append((row + rows.start, label, scores[row, label], given[row, label]))
    return _Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


# ---- terms --------------------------------------------------------------------------------------


def _blocks_of_parts(
    scored: Any, X: Any, rows: Places, labels: Places, called: LabelNames
) -> Iterator[tuple[Places, Any, Parts]]:
    """Yield some pairs at a time, their rows and parts; those of a label come together, so that
    its weights are made once."""
    order = np.argsort(labels, kind="stable")
    width = (X.shape[1] if np.ndim(X) == 2 else 0) + called.count + _WIDE
    step = max(1, _ENTRIES // width)
    for start in range(0, order.size, step):
        chosen = order[start : start + step]
        block, own = take_rows(X, rows[chosen]), labels[chosen]
        if called.two_classes:
            parts = parts_of(scored, block, np.zeros_like(own))
            yield chosen, block, parts.times(np.where(own == 1, 1.0, -1.0))
        else:
            yield chosen, block, parts_of(scored, block, own)


def _reasons(scored: Any, X: Any, pairs: _Pairs, names: _TermNames, k: int | None) -> list[Reasons]:
    found: list[Any] = [None] * pairs.rows.size
    called = names.labels
    for chosen, rows, parts in _blocks_of_parts(scored, X, pairs.rows, pairs.labels, called):
        voters = [()] * chosen.size
        if not called.two_classes:
            voters = neighbours_of(scored, rows, pairs.labels[chosen], _NEIGHBOURS)
        for place, pair in enumerate(chosen):
            terms, n_rest = _strongest(parts, place, rows, names, k)
            score, base = float(pairs.scores[pair]), float(parts.base[place])
            found[pair] = Reasons(
                int(pairs.rows[pair]),
                called.names[pairs.labels[pair]],
                score,
                bool(pairs.predicted[pair]),
                base,
                terms,
                score - base - sum(term.contribution for term in terms),
                n_rest,
                voters[place],
            )
    return found


@dataclass(frozen=True)
class _TermNames:
    """Names of the terms that every model speaks of."""

    labels: LabelNames
    features: Sequence[str] | None

    def of(self, group: Terms, column: int) -> str:
        if group.names is not None:
            return group.names[column]
        if group.kind != "feature":  # they speak of labels
            return self.labels.names[column]
        return f"x{column}" if self.features is None else self.features[column]


def _strongest(
    parts: Parts, pair: int, X: Any, names: _TermNames, k: int | None
) -> tuple[tuple[Term, ...], int]:
    """Return the k terms of largest size, and how many others there are."""
    owners, columns, sizes = [], [], []
    for number, group in enumerate(parts.groups):
        entries = slice(*group.contributions.indptr[pair : pair + 2])
        there = np.flatnonzero(group.contributions.data[entries])
        columns.append(group.contributions.indices[entries][there])
        sizes.append(group.contributions.data[entries][there])
        owners.append(np.full(there.size, number))
    if not sizes:
        return (), 0
    size, column, owner = (np.concatenate(part) for part in (sizes, columns, owners))
    order = np.lexsort([column, owner, -np.abs(size)])
    terms = []
    for one in order if k is None else order[:k]:
        group, j = parts.groups[owner[one]], int(column[one])
        values = X if group.kind == "feature" and group.values is None else group.values
        value = np.nan if values is None else float(values[pair, j])
        value = None if np.isnan(value) else value
        terms.append(Term(names.of(group, j), float(size[one]), value, group.kind))
    return tuple(terms), order.size - len(terms)


def _add_by_label(
    sums: dict[int, dict[str, float]], group: Terms, labels: Any, names: _TermNames
) -> None:
    """Add the contributions of a group's terms to the sums of their labels, by name."""
    kept, place = np.unique(labels, return_inverse=True)
    shape = (kept.size, labels.size)
    which = scipy.sparse.csr_array((np.ones(labels.size), (place, np.arange(labels.size))), shape)
    total = scipy.sparse.csr_array(which @ group.contributions)
    for k, label in enumerate(kept):
        own = sums.setdefault(int(label), {})
        entries = slice(*total.indptr[k : k + 2])
        for j, value in zip(total.indices[entries], total.data[entries], strict=True):
            name = names.of(group, int(j))
            own[name] = own.get(name, 0.0) + float(value)
