"""CSSP: a few of the labels stand for all of them.

    minimise  ||T - C W||^2   over  W  and the choice of the columns C of T

    Y (N, M) labels, T = scale Y + 1 shift' the labels as they are coded, C (N, m) the chosen
    columns of T, which are the codes, W (m, M) = C^+ T the decoder.

The published method draws columns by their leverages, the squared lengths of the rows of T's
leading right singular vectors. A greedy choice by the objective itself is nested.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._base import Embedded, Embedding, Plan, note_shortfall
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._pairs import Pair
from compactlearn.related._coded_labels import CODINGS, CodedLabels, least_squares

Array = NDArray[np.float64]
Places = NDArray[np.intp]


class CSSP(Embedding):
    """Column subset selection: some labels are learnt, and the others follow by least squares.

    The codes are m of the labels themselves, so a model's codes have names. A label that is not
    chosen is a linear combination of those that are.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). Labels that add
        nothing to those before them are not chosen, with a warning.
    selection : {"greedy", "sampled"}, default="greedy"
        "greedy" takes one label after the other, each time that with which least squares recovers
        most; "sampled" draws them without repetition, with probabilities in proportion to their
        leverages for m singular vectors.
    coding : {"centred", "binary", "signed"}, default="centred"
        The labels that least squares is about. "centred" has an intercept: labels that go with
        none of the chosen ones keep their mean. "binary" are 0 and 1, "signed" -1 and +1, without
        an intercept.
    random_state : int, RandomState, Generator or None, default=None
        For ``selection="sampled"``.

    Attributes
    ----------
    selected_ : ndarray of shape (n_label_components_,)
        The columns of Y that were chosen, in the order of the choice.
    decoder_ : ndarray of shape (n_label_components_, n_labels)
    offset_ : ndarray of shape (n_labels,)
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_ : float
        ``||C W||^2``, what is recovered of ``||T||^2``.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    The published method is ``selection="sampled", coding="binary"``, and so is MLC_toolbox; the
    authors of PLST offer it in mlc_lsdr with ``coding="signed"``, a penalty of 0.1 and a penalised
    intercept. There, as here, a label is never drawn twice. With as many labels as there are, any
    choice is plain ridge regression (ORI).

    References
    ----------
    W. Bi, J. T. Kwok. Efficient multi-label classification with many labels. ICML 2013, 405-413.

    A. K. Farahat, A. Ghodsi, M. S. Kamel. Efficient greedy feature selection for unsupervised
    learning. Knowledge and Information Systems 35(2), 285-310, 2013.

    Examples
    --------
    >>> from compactlearn import CompactClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import CSSP
    >>> data = load("emotions")
    >>> model = CompactClassifier(CSSP(3), scale=True).fit(data.X, data.Y)
    >>> model.embedding_.selected_
    array([2, 4, 1])
    >>> model.decision_function(data.X).shape
    (593, 6)
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "selection": (Choice("greedy", "sampled"),),
        "coding": (Choice(*CODINGS),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        selection: str = "greedy",
        coding: str = "centred",
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.selection = selection
        self.coding = coding
        self.random_state = random_state

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="right")

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        labels = CodedLabels.of(pair, self.coding)
        chosen = self._chosen(labels, m)
        if not chosen.size:  # no label varies: one that is constant stands for all
            chosen = np.zeros(1, dtype=np.intp)
        found = _embedded(labels, chosen)
        note_shortfall(self, m, found.codes, pair)
        return found

    def _chosen(self, labels: CodedLabels, m: int) -> Places:
        gram = labels.gram()
        if self.selection == "greedy":
            return greedy(gram, m)
        return drawn(leverages(gram, m), m, seeded(self.random_state))

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        if self.selection != "greedy":
            return None  # other leverages, and so another choice
        return _embedded(CodedLabels.of(pair, self.coding), _places(result)[:m])

    def adopt(self, result: Embedded, *args: Any, **kwargs: Any) -> None:
        super().adopt(result, *args, **kwargs)
        self.selected_ = _places(result)


def _embedded(labels: CodedLabels, chosen: Places) -> Embedded:
    """Return the outcome for these columns."""
    pair = labels.pair
    cross = labels.gram_columns(chosen)
    W = least_squares(cross[chosen], cross.T)
    weights = np.zeros((pair.n_right, chosen.size))
    weights[chosen, np.arange(chosen.size)] = labels.scale
    shift = labels.encoder_shift
    codes = pair.combined_codes(weights, shift)
    return Embedded(
        codes=codes,
        projection=None,
        decoder=W / labels.scale,
        offset=labels.offset,
        solver=f"closed-{pair.solver}",
        objective=float(np.vdot(W, cross.T)),
    )


def _places(result: Embedded) -> Places:
    """Return the chosen columns of an outcome."""
    weights = result.codes.right_weights
    assert weights is not None
    return np.argmax(np.abs(weights), axis=0)


# Scores that differ by less than this are one: rounding, which differs between routes, must not
# decide between columns that are equally good. The first of them is selected.
TIE = 1e-9

_WIDTH = 128  # columns that are multiplied at a time


def leverages(gram: Any, rank: int) -> Array:
    """Return the squared lengths of the rows of T's leading right singular vectors.

    >>> leverages(np.diag([1.0, 3.0, 2.0]), 2)
    array([0., 1., 1.])
    """
    vectors = leading_eigenpairs(gram, rank).vectors
    return np.einsum("ij,ij->i", vectors, vectors)


def drawn(scores: Array, count: int, rng: np.random.RandomState) -> Places:
    """Return different columns, each drawn in proportion to its score among those that are left.

    They are the first to arrive of waiting times with these rates.
    """
    waiting = rng.exponential(size=scores.size)
    arrivals = np.full(scores.size, np.inf)
    np.divide(waiting, scores, out=arrivals, where=scores > TIE)
    order = np.argsort(arrivals, kind="stable")[:count]
    return order[np.isfinite(arrivals[order])]


def greedy(gram: Any, count: int) -> Places:
    """Return columns one after the other, each the one that lets least squares recover most of T.

    Columns that are combinations of those before are left out. With R the part of T outside the
    span of the chosen columns, column j gains
    ``||R'r_j||^2 / ||r_j||^2``. Both are carried along (Farahat, Ghodsi and Kamel 2013), so that a
    step costs one product with T'T.
    """
    n = gram.shape[0]
    energies, lengths = _squares(gram)  # ||R'r_j||^2, ||r_j||^2
    # What is no longer than this is rounding: of its own length, or of the longest where centring
    # has left nothing of a constant label.
    shortest = np.maximum(1e-10 * lengths, 1e-12 * lengths.max(initial=0.0))
    basis = np.zeros((n, min(count, n)))
    chosen: list[int] = []
    for step in range(min(count, n)):
        left = lengths > shortest
        left[chosen] = False
        if not left.any():
            break
        gains = np.divide(energies, lengths, out=np.full(n, -np.inf), where=left)
        best = int(np.argmax(gains >= gains.max() * (1.0 - TIE)))
        w = _product(gram, np.eye(n, 1, -best)) - basis @ basis[best]
        w /= np.sqrt(w[best])
        Rw = _product(gram, w[:, None]) - basis @ (basis.T @ w)
        energies += -2.0 * w * Rw + (w @ w) * w**2
        lengths -= w**2
        basis[:, step] = w
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)


def _squares(gram: Any) -> tuple[Array, Array]:
    """Return the squared lengths of the columns of ``T'T`` and of T."""
    n = gram.shape[0]
    energies, lengths = np.empty(n), np.empty(n)
    for start in range(0, n, _WIDTH):
        stop = min(start + _WIDTH, n)
        part = np.asarray(gram @ np.eye(n, stop - start, -start))
        energies[start:stop] = np.einsum("ij,ij->j", part, part)
        lengths[start:stop] = np.diagonal(part[start:stop])
    return energies, lengths


def _product(gram: Any, column: Array) -> Array:
    return np.asarray(gram @ column)[:, 0]
