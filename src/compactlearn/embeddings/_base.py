"""Protocol of embeddings, and the base class that implements what all methods share.

A method is a subclass of :class:`Embedding`. It must have

``plan(n_features, n_labels, given_features)``
    the requirements of a fit, from the shape alone: a :class:`Plan`;
``solve(pair)``
    projection, codes, decoder and offset for two blocks of columns: an :class:`Embedded`.

It may declare properties in ``traits`` (:class:`Traits`), and override methods that make searches
and paths cheap; their defaults are correct for every method:

``project(pair, codes, d)``
    the projection for given codes (by default None: features are kept);
``leading(pair, result, m)``
    the result for fewer codes than were solved for (by default None: solve again);
``unprojected(pair)``
    codes, decoder and offset alone (by default all of ``solve``);
``heads(pair, result, m, sizes)``
    projections of several sizes for the same codes (by default None: solve each).

docs/contributing/own-method.md writes one from scratch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.core._devices import (
    DeviceArray,
    OnDevices,
    decodable,
    full_in_words,
    is_array,
    place_of,
    unwrap,
    unwrap_like,
    wrap,
)
from compactlearn.core._params import Constraint, check_parameters
from compactlearn.core._targets import check_targets
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.core._warn import warn_user
from compactlearn.core._weight import owned
from compactlearn.linalg._arrays import right_on_device_of, to_device_of, working_form
from compactlearn.linalg._build import build_pair, plan_route
from compactlearn.linalg._codes import Codes, code_rows
from compactlearn.linalg._eigen import Status
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import Plan

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Traits:
    """Properties that a method declares for its parameters."""

    solver: str = "auto"  # the one that was asked for, or "auto"
    shares_penalty: bool = False  # the learner's penalty is part of its problem
    keeps_offset: bool = True  # a ridge of the decoder leaves the offset as it is
    needs_rows: bool = False  # all rows at once: sums over them are not enough


@dataclass(frozen=True)
class Embedded:
    """Result of a method on a pair of blocks; a part that is None is the identity."""

    codes: Codes  # V by its products
    projection: Array | None  # P (D, d)
    decoder: Array | None  # W (m, M)
    offset: Array  # (M,), added to the decoded codes
    solver: str
    eigenvalues: Array | None = None  # of the method's matrix, one per component
    beta: float | None = None
    ridge: float | None = None
    objective: float | None = None
    share: float | None = None  # of the largest objective, at least
    dependence: float | None = None
    recovery: float | None = None
    dependences: Array | None = None  # of each code, where a part of the codes may be asked for
    path: Array = field(default_factory=lambda: np.empty(0))
    n_iter: int = 1


@dataclass(frozen=True)
class Head:
    """Projection: these columns, then ``extra`` principal directions of the residual.

    Without columns it spans all features, so the learner uses the features themselves.
    """

    columns: Array | None  # (D, r)
    extra: int = 0


class Embedding(OnDevices, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the embedding estimators; the module docstring has the protocol.

    Reading rows, choosing a route and keeping attributes is done here.
    """

    host_only: ClassVar[bool] = False  # whether fit raises ValueError for device arrays
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {}

    # ---- the protocol -------------------------------------------------------------------------

    @property
    def traits(self) -> Traits:
        """Properties of this method with these parameters."""
        return Traits()

    @abstractmethod
    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        """Return what a fit needs, from the shape of the data alone.

        Parameters
        ----------
        n_features : int
            Columns that the projection will have to multiply.
        n_labels : int
            Columns of Y.
        given_features : int
            Number of columns of the X that the user passed, which ratios refer to. It differs from
            ``n_features`` where a kernel has replaced the features.
        """

    @abstractmethod
    def solve(self, pair: Pair) -> Embedded:
        """Solve the problem of the method on a pair of blocks.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        """

    def sharing(self, penalty: float) -> Self:
        """Return the method with the penalty of its learner, or itself if it does not share it.

        Parameters
        ----------
        penalty : float
            The learner's ``alpha``.
        """
        if not self.traits.shares_penalty:
            return self
        return copy(self).set_params(ridge=penalty)

    def within(self, pair: Pair) -> Self:
        """Return the method with at most as many feature components as ``pair`` has features.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        """
        asked = self.get_params().get("n_feature_components")
        if isinstance(asked, int | np.integer) and asked > pair.n_left:
            return copy(self).set_params(n_feature_components=pair.n_left)
        return self

    def project(self, pair: Pair, codes: Codes, d: int) -> Array | None:
        """Return the projection, of up to d columns, for given codes; None if features are kept.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        codes : Codes
            Codes of these rows.
        d : int
            The number of columns.
        """
        return None

    def unprojected(self, pair: Pair) -> Embedded:
        """Return codes, decoder and offset, without a projection if they do not depend on it.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        """
        return self.solve(pair)

    def heads(
        self, pair: Pair, result: Embedded, m: int | None, sizes: Sequence[Any]
    ) -> list[Head | None]:
        """Return the projections for these codes and several numbers of feature components.

        An entry is None if the projection does not follow from the codes; that size is then solved
        separately.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        result : Embedded
            A result of this method.
        m : int or None
            Number of codes; None if labels are kept.
        sizes : sequence
            Values of ``n_feature_components``.
        """
        return [None] * len(sizes)

    def _sized(self, sizes: Sequence[Any]) -> list[Self]:
        """Return copies that differ only in the number of feature components."""
        return [copy(self).set_params(n_feature_components=size) for size in sizes]

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        """Return the result for the first ``m`` codes; None if codes are not nested.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        result : Embedded
            A result of this method.
        m : int
            Number of codes.
        """
        return None

    # ---- scikit-learn's side ------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, sep: str | None = None) -> Self:
        """Find the subspaces.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        """
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            check_parameters(self, self._constraints)
            X = check_features(self, X, reset=True)
            refuse_devices(self, X)
            owner = f"{type(self).__name__}.fit"
            targets = check_targets(y, X.shape[0], sep=sep, owner=owner)
            Y = targets.matrix
            X = working_form(X)
            plan = self.plan(X.shape[1], Y.shape[1], X.shape[1])
            route = plan_route(X, Y, replace(plan, keeps_features=False), self.traits.solver)
            pair = build_pair(X, Y, solver=route.solver)
            result = self.solve(pair)
            codes = code_rows(result.codes, X, right_on_device_of(Y, X), pair.mean_left)
            self.adopt(result, codes)
        return self

    def adopt(self, result: Embedded, codes: Any = None) -> None:
        """Store a result as fitted attributes.

        Parameters
        ----------
        result : Embedded
            The outcome.
        codes : ndarray, sparse matrix or None, default=None
            The rows of V, where they are to be kept.
        """
        n_labels = result.offset.size
        self.projection_ = None if result.projection is None else unwrap(owned(result.projection))
        self.decoder_ = (
            scipy.sparse.eye_array(n_labels, format="csr")
            if result.decoder is None
            else unwrap(owned(result.decoder))
        )
        self.offset_ = unwrap(owned(to_device_of(result.offset, result.codes.total)))
        self.codes_ = unwrap(codes)
        self.n_feature_components_ = (
            result.codes.left.shape[0] if result.projection is None else result.projection.shape[1]
        )
        self.n_label_components_ = result.codes.size
        self.solver_ = result.solver
        found: dict[str, Any] = {
            "eigenvalues_": result.eigenvalues,
            "objective_share_": result.share,
            "beta_": result.beta,
            "ridge_": result.ridge,
            "objective_": result.objective,
            "dependence_": result.dependence,
            "recovery_": result.recovery,
        }
        for name, value in found.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, unwrap(owned(value)) if is_array(value) else value)
        if result.objective is not None:
            path = result.path if result.path.size else np.array([result.objective])
            self.objective_path_ = unwrap(to_device_of(path, result.codes.total))
            self.n_iter_ = result.n_iter

    def transform(self, X: Any) -> Any:
        """Return XP, or X itself where features are kept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        check_is_fitted(self, "n_label_components_")
        X = check_features(self, X, reset=False)
        found = X if self.projection_ is None else X @ wrap(self.projection_)
        on_device = isinstance(X, DeviceArray)
        return unwrap_like(found, X) if on_device else found.astype(np.float64, copy=False)

    def decode(self, codes: Any) -> Array:
        """Return the label scores of codes: ``codes @ decoder_ + offset_``.

        Parameters
        ----------
        codes : array-like or sparse matrix of shape (n_samples, n_label_components)
            Codes, true or predicted.
        """
        check_is_fitted(self, "n_label_components_")
        if not scipy.sparse.issparse(codes):
            codes = decodable(codes)
        if codes.ndim != 2 or codes.shape[1] != self.n_label_components_:
            raise ValueError(
                f"decode needs codes with {self.n_label_components_} columns, one per label "
                f"component, and was given shape {codes.shape}; pass what predict_codes returns."
            )
        if isinstance(codes, DeviceArray):
            decoded = codes if scipy.sparse.issparse(self.decoder_) else codes @ wrap(self.decoder_)
            return unwrap_like(decoded + wrap(self.offset_), codes)
        product: Any = codes @ self.decoder_
        return (product.toarray() if scipy.sparse.issparse(product) else product) + self.offset_

    @property
    def _n_features_out(self) -> int:
        return self.n_feature_components_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of ``transform``; kept features keep their names.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; by default those that ``fit`` saw.
        """
        check_is_fitted(self, "n_label_components_")
        if self.projection_ is None:
            return OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return super().get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.array_api_support = not self.host_only
        return tags


def note_shortfall(method: Embedding, asked: int, codes: Codes, pair: Pair) -> None:
    """Warn where fewer label components exist than were asked for, or a search did not end."""
    if codes.size < asked:
        warn_user(
            f"{asked} label components were asked for, but only {codes.size} independent ones "
            f"exist in these data; n_label_components is cut to {codes.size}."
        )
    if codes.status is Status.MAX_ITER:
        known = f"; {codes.share:.2%} of the objective are certain" if pair.enough < 1 else ""
        warn_user(
            f"{type(method).__name__} in the {pair.solver} route: {codes.status.value}{known}.",
            ConvergenceWarning,
        )


def refuse_sums(embedding: Embedding) -> None:
    """Raise ValueError, before rows are read, for a method that sums of rows cannot serve."""
    if embedding.traits.needs_rows:
        raise ValueError(
            f"{type(embedding).__name__} needs all rows at once, and sums over blocks of rows were "
            "to be made; use fit with all rows in memory."
        )


def refuse_devices(embedding: Embedding, X: Any) -> None:
    """Raise ValueError where a method of host arrays is given a device array."""
    if isinstance(X, DeviceArray) and embedding.host_only:
        raise ValueError(
            f"{type(embedding).__name__} works with NumPy arrays and SciPy's sparse matrices, and "
            f"X is on {place_of(X)}; pass it as a NumPy array."
        )


def automatic_balance(beta: Any, kept: float, seen: float) -> float:
    """Return the given weight; "auto" is a tenth of what makes the traces of both terms equal.

    ``kept`` is the trace of the labels' term, ``seen`` that of the features' term.
    """
    if not isinstance(beta, str):
        return float(beta)
    if seen <= 0 or kept <= 0:
        return 1.0  # constant features or no labels at all: there is nothing to balance
    return 0.1 * kept / seen


def shared_ridge(ridge: Any) -> float:
    """Return the given penalty; "shared", which a classifier replaces, is 1 without one."""
    return 1.0 if isinstance(ridge, str) else float(ridge)
