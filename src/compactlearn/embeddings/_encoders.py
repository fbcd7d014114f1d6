"""Base of methods with a linear encoder of the labels: V = (Y + 1 shift') O, decoder O'."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from compactlearn.core._devices import (
    host,
    unwrap,
    wrap,
)
from compactlearn.core._params import Choice
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import n_rows_of
from compactlearn.embeddings._base import Embedded, Embedding, Plan, Traits, note_shortfall
from compactlearn.embeddings._components import label_count
from compactlearn.linalg._arrays import to_device_of
from compactlearn.linalg._codes import Codes, peak_signs
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import EXACT

Array = NDArray[np.float64]

ROUTES = (Choice("auto", *EXACT),)
OFFSETS = (Choice("mean", "none"),)


@dataclass(frozen=True)
class Problem:
    """Eigenproblem whose leading eigenvectors are the directions of a method."""

    matrix: Any  # of order M, an array or an operator
    rank: int  # the largest number of directions
    shift: Array | None  # codes are (Y + 1 shift') O
    beta: float | None = None
    ridge: float | None = None


class EncodesLabels(Embedding):
    """Base of the methods that can encode the labels of new rows."""

    def encode(self, Y: Any) -> Array:
        """Return the codes of labels, of shape (n_samples, n_label_components).

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1. After a fit to a vector of classes, such a vector; after a fit to names,
            lists of names are accepted too.
        """
        check_is_fitted(self, "n_label_components_")
        labels = check_labels_to_encode(Y, self.offset_.shape[0], self._classes, self._names)
        # Labels are encoded on the host, and their codes are where the fitted arrays are.
        return unwrap(to_device_of(self._encoded(labels), wrap(self.decoder_)))

    @abstractmethod
    def _encoded(self, labels: Any) -> Array:
        """Return the codes of checked labels, a sparse matrix of ones."""


class Encoder(EncodesLabels):
    """Base of the methods that keep the features and encode labels by orthonormal directions."""

    n_label_components: Any
    offset: Any
    solver: Any

    @property
    def traits(self) -> Traits:
        return Traits(solver=self.solver)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="right")

    @abstractmethod
    def _matrix(self, pair: Pair) -> Problem:
        """Return the problem of order M whose leading eigenvectors are the directions."""

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        problem = self._matrix(pair)
        solution = leading_eigenpairs(problem.matrix, min(m, problem.rank))
        O = solution.vectors * peak_signs(solution.vectors)
        codes = pair.combined_codes(O, problem.shift)
        codes = replace(codes, status=solution.status, values=solution.values)
        note_shortfall(self, m, codes, pair)
        return self._embedded(pair, codes, problem.beta, problem.ridge)

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        return self._embedded(pair, result.codes.leading(m), result.beta, result.ridge)

    def _embedded(
        self, pair: Pair, codes: Codes, beta: float | None, ridge: float | None
    ) -> Embedded:
        assert codes.right_weights is not None
        assert codes.values is not None
        return Embedded(
            codes=codes,
            projection=None,
            decoder=codes.right_weights.T,
            offset=_offset(pair, codes, self.offset),
            solver=f"closed-{pair.solver}",
            eigenvalues=codes.values,
            beta=beta,
            ridge=ridge,
            objective=float(codes.values.sum()),
        )

    def adopt(
        self,
        result: Embedded,
        codes: Any = None,
        *,
        classes: NDArray[Any] | None = None,
        names: list[str] | None = None,
    ) -> None:
        super().adopt(result, codes, classes=classes, names=names)
        # Of the encoder: centred labels have codes about 0.
        self._constant = unwrap(result.codes.constant)

    def _encoded(self, labels: Any) -> Array:
        return with_constant(labels @ host(self.decoder_).T, self._constant)


def with_constant(codes: Array, constant: Any) -> Array:
    """Return the codes of labels, with the shift of the encoder added if there is one."""
    return codes if constant is None else codes + host(constant)


def _offset(pair: Pair, codes: Codes, kind: str) -> Array:
    """Return the offset of the scores: the labels' mean less that of the decoded codes, or 0."""
    if kind == "none":
        return np.zeros(pair.n_right)
    if codes.constant is not None:  # centred codes lack all of it
        return pair.mean_right
    assert codes.right_weights is not None
    return pair.mean_right - codes.right_weights @ (codes.total / pair.count)


def check_labels_to_encode(Y: Any, n_labels: int, classes: Any, names: list[str] | None) -> Any:
    """Return labels as a sparse matrix of ones, with as many columns as in ``fit``."""
    n_rows = n_rows_of(Y) if isinstance(Y, Sized) or scipy.sparse.issparse(Y) else 0
    known = names or ()
    given = classes[0] if isinstance(classes, tuple) else classes
    matrix = check_targets(Y, n_rows, classes=given, names=known, owner="encode").matrix
    if matrix.shape[1] != n_labels:
        raise ValueError(
            f"encode needs labels with {n_labels} columns, as in fit, and was given "
            f"{matrix.shape[1]}; pass the same labels."
        )
    return matrix
