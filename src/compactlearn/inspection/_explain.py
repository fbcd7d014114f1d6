"""``explain`` and ``label_neighbours``: asked of any model, answered by its decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from compactlearn.core._devices import host, on_host
from compactlearn.core._model_methods import Explainable
from compactlearn.core._params import Integer
from compactlearn.core._targets import take_rows
from compactlearn.core._validation import n_rows_of, with_rows_to_take
from compactlearn.inspection import _blend, _compact, _shortlist, _trees  # noqa: F401, they register
from compactlearn.inspection._decomposition import (
    NotExplained,
    Places,
    ScoreDecomposition,
    decomposition_of,
)
from compactlearn.inspection._explanation import Explanation, Reasons, Term
from compactlearn.inspection._labels import LabelNames, nearest_labels
from compactlearn.inspection._terms import Parts, Terms
from compactlearn.metrics._checks import row_blocks
from compactlearn.model_selection._search import Search

Array = NDArray[np.float64]

_NEIGHBOURS = 5  # that are named
_ENTRIES = 1 << 21  # sixteen megabytes of weights or terms at a time


def explain(
    model: Any, X: Any, labels: Any = None, k: int | None = 10, *, feature_names: Any = None
) -> Explanation:
    """Say what speaks for and against labels: scores as sums of terms.

    The terms of a row and a label, with ``base`` and ``rest``, add up to the score of
    ``decision_function``. What terms are depends on the model:

    * *linear models* (every embedding and decoder with the built-in ridge or a linear regressor,
      other linear models): one for each feature, its value times its
      weight;
    * *kernels*: one for each training row or landmark, its similarity times its weight;
    * *forests*: one for each feature, what it changes on the way from the roots to the leaves;
    * :class:`ShortlistClassifier`: features and likely labels, by their weights; what the retriever
      says beside what it mostly says of the label; the votes of the neighbours; and co-occurrence
      with other candidates; ``neighbours`` are the training rows that voted;
    * :class:`AutoCompactClassifier`: those of all its members, weighed; terms of the same feature
      are one.

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
        None are the labels that ``predict`` gives a row, and where it gives none its best one.
    k : int or None, default=10
        How many of the strongest terms are kept; None keeps all. The others are ``rest``.
    feature_names : list of str or None, default=None
        Names of the columns, where neither X nor the steps before have any.

    Returns
    -------
    Explanation
        A sequence of :class:`Reasons`, one for each row and label, row by row.

    Raises
    ------
    NotExplained
        A TypeError, if the model's scores are no such sums.

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
    decomposition, X = decomposition_of(model), with_rows_to_take(X)
    rows = decomposition.checked(X)
    if names is not None and np.ndim(rows) == 2 and len(names) != rows.shape[1]:
        raise ValueError(
            f"feature_names must hold one name for each of the {rows.shape[1]} columns that the "
            f"classifier sees, and holds {len(names)}; pass a list of {rows.shape[1]}."
        )
    called = LabelNames.of(model)
    asked = None if labels is None else called.places(labels)
    pairs = _Pairs.of(model, decomposition, X, called, asked)
    return Explanation(tuple(_reasons(decomposition, rows, pairs, _TermNames(called, names), k)))


def mean_terms(
    model: Any, X: Any, rows: Places, labels: Places, feature_names: Any = None
) -> dict[int, list[tuple[str, float]]]:
    """What features add to the scores of labels on average, strongest first, by label.

    The mean of the contributions of :func:`explain` over pairs of a row and a label, given by their
    places; for two classes, of the score between them.

    Parameters
    ----------
    model : fitted classifier of this package, or a linear one
    X : as in ``predict``
    rows, labels : ndarray of int, of the same length
        The pairs.
    feature_names : list of str or None, default=None
        Names of the columns.
    """
    decomposition = decomposition_of(model)
    checked, called = decomposition.checked(with_rows_to_take(X)), LabelNames.of(model)
    names = _TermNames(called, feature_names)
    sums: dict[int, dict[str, float]] = {}
    order = np.argsort(labels, kind="stable")
    step = max(1, _ENTRIES // max(1, decomposition.width(checked)))
    for start in range(0, order.size, step):
        chosen = order[start : start + step]
        own = labels[chosen]
        parts = decomposition.parts(
            take_rows(checked, rows[chosen]), np.zeros_like(own) if called.two_classes else own
        )
        sign = np.where(own == 1, 1.0, -1.0) if called.two_classes else 1.0
        for group in parts.times(sign).groups:
            if group.kind == "feature":
                _add_by_label(sums, group, own, names)
    counts = dict(zip(*np.unique(labels, return_counts=True), strict=True))
    return {
        j: sorted(((name, total / counts[j]) for name, total in of.items()), key=_by_size)
        for j, of in sums.items()
    }


def _by_size(term: tuple[str, float]) -> tuple[float, str]:
    return -abs(term[1]), term[0]


def label_neighbours(model: Any, label: Any = None, k: int = 5) -> Any:
    """Name the labels that are nearest to a label inside the model.

    A label lies where its column of the decoder points; where labels are their own codes, where its
    weights point. Near means a large cosine.

    Parameters
    ----------
    model : fitted classifier, Pipeline, or scikit-learn search over these
        Those of this package have the same as a method: ``model.label_neighbours()``.
    label : name or number of a label, or None, default=None
        None asks for all of them.
    k : int, default=5
        How many neighbours; at most all other labels are returned.

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
    """The labels of a fitted model, and where each of them lies, (M, r)."""
    model = on_host(classifier_of(model))
    called, vectors = LabelNames.of(model), decomposition_of(model).label_vectors()
    if vectors.shape[0] != called.count:
        raise NotExplained(
            "Neighbours of labels need a label matrix or several classes, and this model was "
            "fitted to two classes, which have one score between them; fit it to a matrix."
        )
    return called, vectors


def classifier_of(model: Any) -> Any:
    """The classifier at the end of pipelines and scikit-learn's searches."""
    while not isinstance(model, Explainable):
        if isinstance(model, Pipeline):
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            break
    return model


@dataclass(frozen=True)
class _PipelineDecomposition(ScoreDecomposition):
    """Steps before a classifier, inside a model that was given rows as they come."""

    last: ScoreDecomposition

    def width(self, X: Any) -> int:
        return max(super().width(X), self.last.width(X))

    def checked(self, X: Any) -> Any:
        return with_rows_to_take(X)

    def parts(self, X: Any, labels: Places) -> Parts:
        """Those of the last step; of the same features where every step keeps columns apart."""
        seen = self.last.checked(self.model[:-1].transform(X))
        parts = self.last.parts(seen, labels)
        if all(isinstance(step, OneToOneFeatureMixin) for _, step in self.model.steps[:-1]):
            return parts
        names = _names_after(self.model[:-1], X, seen.shape[1])
        groups = tuple(
            replace(group, values=seen, names=names) if group.kind == "feature" else group
            for group in parts.groups
        )
        return replace(parts, groups=groups)

    def label_vectors(self) -> Any:
        return self.last.label_vectors()


@decomposition_of.register
def _(model: Pipeline) -> ScoreDecomposition:
    return _PipelineDecomposition(model, decomposition_of(model[-1]))


@decomposition_of.register
def _(model: Search) -> ScoreDecomposition:
    check_is_fitted(model, "best_index_")
    best = getattr(model, "best_estimator_", None)  # None: predict says what to do
    return ScoreDecomposition(model) if best is None else decomposition_of(best)


# ---- rows, labels and their names ---------------------------------------------------------------


def seen_at_the_end(model: Any, X: Any, asked: str) -> tuple[Any, Any, list[str] | None]:
    """The classifier that decides, X as it sees it, and what its columns are called."""
    names = _columns_of(X)
    while not isinstance(model, Explainable):
        if isinstance(model, Pipeline):
            if len(model) > 1:
                before, given = model[:-1], X
                X = before.transform(given)
                names = _names_after(before, given, X.shape[1])
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            break
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
    """What steps call their columns; numbers where they have no names."""
    known = _columns_of(X)
    try:
        found = steps.get_feature_names_out() if known is None else None
        found = steps.get_feature_names_out(known) if found is None else found
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
    scores: Array
    predicted: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        model: Any,
        decomposition: ScoreDecomposition,
        X: Any,
        called: LabelNames,
        asked: list[int] | None,
    ) -> _Pairs:
        parts = []
        n_rows = n_rows_of(X)
        for rows in row_blocks((n_rows, max(1, called.count))):
            block = take_rows(X, np.arange(rows.start, min(rows.stop, n_rows)))
            scores = decomposition.scores(block)
            if called.two_classes:  # one score, of the second class
                scores = np.hstack([-scores, scores])
            given = _given(model.predict(block), called, scores.shape)
            wanted = given.copy()
            if asked is None:
                none = ~wanted.any(axis=1)
                wanted[none, scores[none].argmax(axis=1)] = True
                row, label = np.nonzero(wanted)
            else:
                row = np.repeat(np.arange(scores.shape[0]), len(asked))
                label = np.tile(np.asarray(asked, dtype=np.intp), scores.shape[0])
            parts.append((row + rows.start, label, scores[row, label], given[row, label]))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(*columns)


def _given(predicted: Any, called: LabelNames, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """What ``predict`` says, as a matrix of rows and labels."""
    if scipy.sparse.issparse(predicted):
        return predicted.toarray() > 0
    predicted = np.asarray(predicted)
    if predicted.ndim == 2:
        return predicted > 0
    given = np.zeros(shape, dtype=bool)
    places = [called.classes.index(one) for one in predicted.tolist()]
    given[np.arange(shape[0]), places] = True
    return given


def _reasons(
    decomposition: ScoreDecomposition, X: Any, pairs: _Pairs, names: _TermNames, k: int | None
) -> list[Reasons]:
    """Some pairs at a time, those of a label together: its weights are made once."""
    found: list[Any] = [None] * pairs.rows.size
    order = np.argsort(pairs.labels, kind="stable")
    step = max(1, _ENTRIES // max(1, decomposition.width(X)))
    for start in range(0, order.size, step):
        chosen = order[start : start + step]
        rows, labels = take_rows(X, pairs.rows[chosen]), pairs.labels[chosen]
        if names.labels.two_classes:
            sign = np.where(labels == 1, 1.0, -1.0)
            parts = decomposition.parts(rows, np.zeros_like(labels)).times(sign)
        else:
            parts = decomposition.parts(rows, labels)
        voters = [()] * chosen.size
        if not names.labels.two_classes:
            voters = decomposition.neighbours(rows, labels, _NEIGHBOURS)
        for place, pair in enumerate(chosen):
            terms, n_rest = _strongest(parts, place, rows, names, k)
            score, base = float(pairs.scores[pair]), float(parts.base[place])
            found[pair] = Reasons(
                int(pairs.rows[pair]),
                names.labels.names[pairs.labels[pair]],
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
    """What terms are called that every model speaks of."""

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
    """The k terms of largest size, and how many others there are."""
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
