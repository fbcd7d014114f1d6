"""Figures of a fitted model: where its rows and labels lie, and how far it can be trusted.

Plotly draws them (extra ``plot``). Every function takes a classifier of this package or of another,
or a pipeline that ends in one, and returns a figure: ``figure.show()``, or
``figure.write_html("figure.html")``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.core._optional import require
from compactlearn.core._params import Integer
from compactlearn.core._validation import n_rows_of
from compactlearn.inspection._explain import classifier_of, labels_in_space, seen_at_the_end
from compactlearn.inspection._labels import LabelNames, nearest_labels
from compactlearn.metrics._reliability import reliability_table
from compactlearn.metrics._scoring import predicted_probabilities
from compactlearn.metrics._truth import Truth, read_truth

__all__ = ["plot_embedding", "plot_label_map", "plot_reliability", "plot_tradeoff"]

Array = NDArray[np.float64]

_DENSE = 1_000  # rows or columns up to which a whole decomposition is made
_POINTS = 400  # thresholds of a curve
_FEWEST, _MOST = 8.0, 40.0  # sizes of a label's point


def plot_embedding(model: Any, X: Any, Y: Any = None) -> Any:
    """Draw rows and labels in the plane in which the model's scores vary most.

    A biplot (Gabriel 1971): the scores, centred, are replaced by their two leading directions, and
    the product of a row's and a label's place is the score of the label in the row, above its mean,
    as far as two directions go. Rows lie where their labels point to.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        One that scores labels, or more than two classes.
    X : as in ``predict``
        Rows; more than a few thousand are hard to distinguish.
    Y : as in ``fit``, optional
        The true labels: rows are then marked by whether their best label is right.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.plots import plot_embedding
    >>> data = load("emotions")
    >>> model = CMLLClassifier().fit(data.X, data.Y)
    >>> rows, labels = plot_embedding(model, data.X[:100]).data
    >>> len(rows.x), len(labels.x)
    (100, 6)
    """
    go = require("plotly.graph_objects", extra="plot", purpose="the plot of an embedding")
    called = LabelNames.of(classifier_of(model))
    scores = _label_scores(model, X, called, "plot_embedding")
    truth = None if Y is None else _truth(called, Y, scores.shape, "plot_embedding")
    left, right, kept = _leading(scores)
    sizes = np.linalg.norm(left) / np.sqrt(len(left)), np.linalg.norm(right) / np.sqrt(len(right))
    unit = np.sqrt(sizes[1] / sizes[0]) if sizes[0] > 0 else 1.0  # both as large, same product
    points, arrows = left * unit, right / unit
    best = scores.argmax(axis=1)
    said = [f"row {row}<br>best: {called.names[label]}" for row, label in enumerate(best)]
    groups = {"rows": np.ones(best.size, dtype=bool)}
    if truth is not None:
        present = truth.present.matrix(called.count)
        right_label = np.asarray(present[np.arange(best.size), best]).ravel() > 0
        groups = {"best label is right": right_label, "best label is wrong": ~right_label}
        for row, labels in enumerate(np.split(present.indices, present.indptr[1:-1])):
            true = ", ".join(called.names[label] for label in labels)
            said[row] += f"<br>true: {true or 'none'}"
    figure = go.Figure()
    for name, chosen in groups.items():
        figure.add_scatter(
            x=points[chosen, 0],
            y=points[chosen, 1],
            text=[said[row] for row in np.flatnonzero(chosen)],
            mode="markers",
            marker={"size": 5, "opacity": 0.6, "symbol": "x" if "wrong" in name else "circle"},
            hovertemplate="%{text}<extra></extra>",
            name=name,
        )
    _add_labels(figure, arrows, called.names, called.names, {"size": 9, "symbol": "diamond"})
    for update, share, word in zip(
        (figure.update_xaxes, figure.update_yaxes), kept, ("first", "second"), strict=True
    ):
        update(title=f"{word} direction, {share:.0%} of what scores vary", zeroline=True)
    return figure


def plot_label_map(model: Any, Y: Any = None) -> Any:
    """Draw labels so that those which the model takes for similar lie near each other.

    Labels are vectors, as in :func:`compactlearn.label_neighbours`, brought to length 1, and drawn
    in the plane in which they vary most (classical scaling of their distances).

    Parameters
    ----------
    model : fitted classifier or Pipeline
        One whose labels have codes or weights.
    Y : as in ``fit``, optional
        Labels of rows, whose frequency then is the size of a label's point.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.plots import plot_label_map
    >>> data = load("enron")
    >>> model = CMLLClassifier().fit(data.X, data.Y)
    >>> len(plot_label_map(model, data.Y).data[0].x)
    53
    """
    go = require("plotly.graph_objects", extra="plot", purpose="the map of labels")
    called, vectors = labels_in_space(model)
    places, _, kept = _leading(normalize(vectors))
    near, _ = nearest_labels(vectors, np.arange(called.count), 3)
    said = [
        f"{name}<br>near: {', '.join(called.names[j] for j in neighbours)}"
        for name, neighbours in zip(called.names, near, strict=True)
    ]
    size: Any = _FEWEST
    if Y is not None:
        truth = _truth(called, Y, (n_rows_of(Y), called.count), "plot_label_map")
        counts = np.bincount(truth.present.columns, minlength=called.count)
        size = np.maximum(_FEWEST, _MOST * np.sqrt(counts / max(1, counts.max())))
        said = [f"{text}<br>{count} rows" for text, count in zip(said, counts, strict=True)]
    figure = go.Figure()
    _add_labels(figure, places, called.names, said, {"size": size, "opacity": 0.7})
    for update, share in zip((figure.update_xaxes, figure.update_yaxes), kept, strict=True):
        update(title=f"{share:.0%} of what labels differ in", showticklabels=False)
    figure.update_yaxes(scaleanchor="x")  # distances are alike in both directions
    return figure


def plot_reliability(model: Any, X: Any, Y: Any, *, k: int | None = None, bins: int = 10) -> Any:
    """Draw the precision of suggested labels against their probability.

    On the diagonal probabilities are right; below it the model is overconfident. The title has the
    calibration error: the mean distance from the diagonal, each bin weighted by its labels. The
    numbers are those of `compactlearn.metrics.reliability_table`.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        One with ``predict_proba``.
    X, Y : as in ``fit``
        Held-out rows. Labels that are NaN are ignored.
    k : int or None, default=None
        None shows the labels that the model predicts, a number the best k of each row.
    bins : int, default=10
        How many, of equal width.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.plots import plot_reliability
    >>> data = load("emotions")
    >>> model = CMLLClassifier(decoder="logistic").fit(data.X[:400], data.Y[:400])
    >>> figure = plot_reliability(model, data.X[400:], data.Y[400:])
    >>> "calibration error" in figure.layout.title.text
    True
    """
    go = require("plotly.graph_objects", extra="plot", purpose="a reliability diagram")
    if not Integer(1).accepts(bins):
        raise ValueError(
            f"plot_reliability needs bins to be {Integer(1).describe()}, and was given {bins!r}; "
            "pass such a number."
        )
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            "plot_reliability needs a model with predict_proba, and "
            f"{type(classifier_of(model)).__name__} has none as it was fitted; fit it with "
            "decoder='logistic', or use AutoCompactClassifier."
        )
    called = LabelNames.of(classifier_of(model))
    P = predicted_probabilities(model, X)
    truth = _truth(called, Y, P.shape, "plot_reliability")
    labels = None if k is not None else called.as_matrix(model.predict(X), "plot_reliability")
    found = reliability_table(truth, P, bins=bins, k=k, labels=labels)
    if not found.total:
        raise ValueError(
            "plot_reliability shows the labels that the model predicts, and it predicts none for "
            "these rows; pass k, for instance k=1, for the best labels of each row."
        )
    there = found.count > 0
    cells, present = found.count[there], found.present[there]
    probability, error = found.probability_sum[there], found.expected_calibration_error
    which = "predicted labels" if k is None else f"best {k} labels of each row"
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot"}, name="perfectly calibrated"
    )
    figure.add_scatter(
        x=probability / cells,
        y=present / cells,
        mode="lines+markers",
        marker={"size": 6 + 14 * np.sqrt(cells / cells.max())},
        customdata=np.column_stack([cells, present]),
        hovertemplate=(
            "probability %{x:.3f}<br>precision %{y:.3f}<br>%{customdata[1]:,} of "
            "%{customdata[0]:,} labels<extra></extra>"
        ),
        name="this model",
    )
    figure.update_layout(
        title=f"calibration error {error:.4f} of {found.total:,} {which}, in {bins} bins"
    )
    figure.update_xaxes(title="mean probability", range=[0, 1])
    figure.update_yaxes(title="precision", range=[0, 1])
    return figure


def plot_tradeoff(model: Any, X: Any, Y: Any) -> Any:
    """Draw precision, recall and micro-F1 against the threshold, with the model's own marked.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        For a label matrix. Where each label has a threshold of its own, all of them are moved by
        the same amount, and 0 is where they are.
    X, Y : as in ``fit``
        Held-out rows. Labels that are NaN are ignored.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.plots import plot_tradeoff
    >>> data = load("emotions")
    >>> model = CMLLClassifier().fit(data.X[:400], data.Y[:400])
    >>> figure = plot_tradeoff(model, data.X[400:], data.Y[400:])
    >>> [curve.name for curve in figure.data[:3]]
    ['precision', 'recall', 'micro-F1']
    """
    go = require("plotly.graph_objects", extra="plot", purpose="the plot of a trade-off")
    classifier = classifier_of(model)
    called = LabelNames.of(classifier)
    Y = called.by_column(Y, "plot_tradeoff")
    if np.ndim(Y) == 1 or called.two_classes:
        raise ValueError(
            "plot_tradeoff needs a label matrix, whose labels are decided by a threshold, and was "
            "given a vector of classes, which are decided by the largest score; use "
            "sklearn.metrics.PrecisionRecallDisplay for a class of it."
        )
    scores = _label_scores(model, X, called, "plot_tradeoff")
    truth = _truth(called, Y, scores.shape, "plot_tradeoff")
    threshold = getattr(classifier, "threshold_", None)
    own = None if threshold is None else np.asarray(threshold, dtype=np.float64)
    moved = own is not None and own.ndim > 0
    if moved:
        scores, own = scores - own, np.zeros(())
    at = _thresholds(scores, own)
    precision, recall, f1 = _counted(scores, truth, at)
    figure = go.Figure()
    for name, values in (("precision", precision), ("recall", recall), ("micro-F1", f1)):
        figure.add_scatter(
            x=at,
            y=values,
            mode="lines",
            hovertemplate=f"{name} %{{y:.3f}}<br>at %{{x:.4g}}<extra></extra>",
            name=name,
        )
    if own is not None:
        place = int(np.flatnonzero(at == own)[0])
        figure.add_scatter(
            x=[float(own)] * 3,
            y=[precision[place], recall[place], f1[place]],
            mode="markers",
            marker={"size": 9, "symbol": "circle-open"},
            hovertemplate="%{y:.3f}<extra>the model's threshold</extra>",
            name="the model's threshold",
        )
        figure.add_vline(x=float(own), line={"dash": "dot"})
    figure.update_xaxes(title="added to the thresholds of the labels" if moved else "threshold")
    figure.update_yaxes(title="on these rows", range=[0, 1.02])
    return figure


# ---- what is drawn ------------------------------------------------------------------------------


def _add_labels(figure: Any, places: Array, names: Any, said: Any, marker: dict[str, Any]) -> None:
    """Draw labels with their names, and what is said of each where it is pointed at."""
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        text=list(names),
        hovertext=list(said),
        mode="markers+text",
        textposition="top center",
        marker=marker,
        hovertemplate="%{hovertext}<extra></extra>",
        name="labels",
    )


def _label_scores(model: Any, X: Any, called: LabelNames, asked: str) -> Array:
    """Return the (N, M) scores that the model ranks by."""
    model, X, _ = seen_at_the_end(model, X, asked)
    scores = np.asarray(scores_to_rank(model, X), dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(
            f"{asked} needs a model that scores two labels or more, and "
            f"{type(model).__name__} was fitted to {called.count} with a single "
            "score; use one that was fitted to a label matrix."
        )
    return scores


def _truth(called: LabelNames, Y: Any, shape: tuple[int, int], asked: str) -> Truth:
    """Return the labels of rows, in any form that fit takes, in the shape of the scores."""
    truth = read_truth(called.as_matrix(Y, asked))
    if truth.shape != tuple(shape):
        raise ValueError(
            f"Y must have a row for each of the {shape[0]} rows of X and a column for each of the "
            f"{shape[1]} labels of the model, and has the shape {truth.shape}; pass the labels of "
            "these rows, as in fit."
        )
    return truth


def _leading(matrix: Any) -> tuple[Array, Array, Array]:
    """Return places of rows and columns in two leading directions of the centred matrix, and what
    share each direction keeps."""
    large = min(matrix.shape) > _DENSE
    if scipy.sparse.issparse(matrix) and not large:
        matrix = matrix.toarray()
    count = min(2, *matrix.shape)
    pca = PCA(count, svd_solver="arpack" if large else "full", random_state=0)
    with np.errstate(invalid="ignore"):  # the variance of a single row
        left = pca.fit_transform(matrix)
    missing = ((0, 0), (0, 2 - count))
    kept = np.pad(np.nan_to_num(pca.explained_variance_ratio_), missing[1])
    return np.pad(left, missing), np.pad(pca.components_.T, missing), kept


def _thresholds(scores: Array, own: Array | None) -> Array:
    """Return some scores, evenly spread, and the model's own threshold."""
    finite = scores[np.isfinite(scores)]
    at = np.quantile(finite, np.linspace(0, 1, _POINTS), method="inverted_cdf")
    even = np.linspace(finite.min(), finite.max(), _POINTS)  # most scores lie close together
    return np.unique(np.concatenate([at, even, [] if own is None else [float(own)]]))


def _counted(scores: Array, truth: Truth, at: Array) -> tuple[Array, Array, Array]:
    """Return precision, recall and micro-F1 of the known cells above each threshold."""
    known = np.ones(scores.shape, dtype=bool)
    if truth.unknown is not None:
        known[truth.unknown.row_numbers(), truth.unknown.columns] = False
    present = scores[truth.present.row_numbers(), truth.present.columns]
    hits = present.size - np.searchsorted(np.sort(present), at, side="right")
    given = known.sum() - np.searchsorted(np.sort(scores[known]), at, side="right")
    precision = np.where(given > 0, hits / np.maximum(given, 1), 1.0)  # nothing said, nothing wrong
    recall = hits / max(1, present.size)
    return precision, recall, 2 * hits / np.maximum(1, given + present.size)
