"""KernelMap: a kernel turned into features, so that linear methods become kernel methods."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._kernels import NAMED, Kernel, centre, double, mean_distance, tiles
from compactlearn.core import _memory as memory
from compactlearn.core._devices import (
    DeviceArray,
    OnDevices,
    free_bytes,
    full_in_words,
    unwrap,
    unwrap_like,
    wrap,
)
from compactlearn.core._params import (
    Choice,
    Constraint,
    Integer,
    Nothing,
    Real,
    Seed,
    check_parameters,
)
from compactlearn.core._seeds import seeded
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.core._weight import owned
from compactlearn.linalg._arrays import to_device_of, zeros_on_device_of
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._dense import EIGEN_LIMIT
from compactlearn.linalg._eigen import leading_eigenpairs, too_many_for_krylov

Array = NDArray[np.float64]

# Rows whose pairwise distances decide the width of the rbf kernel: their mean over two million
# pairs is known to a few parts in a thousand, and a width needs no more.
DISTANCE_ROWS = 2_000

DEFAULT_LANDMARKS = 1_000  # of nystroem

# Kernel rows that transform keeps in memory at once; scikit-learn adds less while computing them.
BLOCK_BYTES = 32 * 2**20


class KernelMap(OnDevices, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features whose inner products are the values of a kernel.

    The kernel matrix of the landmarks is factored, ``Q = E S E'`` over the eigenvalues above
    rounding, and a row x becomes ``phi(x) = q(x)' E S^(-1/2)``. Then
    ``phi(x) . phi(z) = k(x, z)`` whenever x or z is a landmark (and for all rows, up to what the
    landmarks cannot express), so a linear method on these features is the kernel method: ridge
    becomes kernel ridge, CMLL becomes kernel CMLL.

    * ``x`` (D,): a row of X (n, D); N: training rows
    * landmarks (L, D): all N training rows, or a random few of them
    * ``Q`` (L, L): kernel values of the landmarks; ``q(x)`` (L,): of a row against them
    * ``E`` (L, r), ``S`` (r, r): leading eigenpairs of Q; r: columns of the result

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "cosine"}, default="rbf"
        ``exp(-gamma |x - z|²)``, ``x . z``, ``(gamma x . z + coef0)^degree`` or
        ``x . z / (|x| |z|)`` (0 for a row of zeros). For other kernels, put scikit-learn's
        ``Nystroem`` in the place of this map.
    gamma : "distance", float or None, default="distance"
        "distance": ``1 / (2 s²)``, s the mean Euclidean distance of two training rows, so that
        the kernel does not depend on the units of X; of a fixed random choice of 2000 rows where
        there are more, and 1 where all rows are equal. None: ``1 / n_features``, scikit-learn's
        default. "poly" has no distance, and takes ``1 / n_features`` for both. The other kernels
        ignore it.
    n_components : int or None, default=None
        "exact": how many of the leading directions to keep (as kernel PCA without centring);
        None keeps the rank, and more than the rank is cut to it. "nystroem": how many landmarks,
        at most N; None is ``min(N, 1000)``; their rank is the number of columns.
    algorithm : {"exact", "nystroem"}, default="exact"
        All training rows as landmarks, or a random subset of them.
    degree : int, default=3
        Of the "poly" kernel, at least 1.
    coef0 : float, default=1.0
        Of the "poly" kernel, at least 0: below that it is no kernel.
    random_state : int, RandomState, Generator or None, default=None
        For the landmarks of "nystroem".

    Attributes
    ----------
    gamma_ : float or None
        The number used; None for a kernel that has no gamma.
    landmarks_ : ndarray or csr_array of shape (n_landmarks, n_features)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    "exact" costs N² D for the kernel, N³ for the eigenproblem, N² numbers kept and N (D + r) for
    each new row; up to some ten thousand rows. "nystroem" costs the same with L for N, whatever
    N is. It spans what scikit-learn's ``Nystroem`` with the same ``random_state`` spans: the
    landmarks are the same, and the columns differ by a rotation. Here rank is judged relative to
    the largest eigenvalue, so that small features are not mistaken for rounding.

    A matrix of nothing but zeros (the linear kernel of rows of zeros) has rank 0 and gives one
    column of zeros, which any learner accepts.

    References
    ----------
    C. Williams, M. Seeger. Using the Nyström method to speed up kernel machines. NIPS 2000
    (proceedings 2001), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from compactlearn import KernelMap
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> F = KernelMap(gamma=0.5).fit_transform(X)
    >>> np.round(F @ F.T, 3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.082],
           [0.135, 0.082, 1.   ]])
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "kernel": (Choice(*NAMED),),
        "gamma": (Choice("distance"), Real(0, open_low=True), Nothing()),
        "n_components": (Integer(1), Nothing()),
        "algorithm": (Choice("exact", "nystroem"),),
        "degree": (Integer(1),),
        "coef0": (Real(0),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str | None = "distance",
        n_components: int | None = None,
        algorithm: str = "exact",
        degree: int = 3,
        coef0: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.algorithm = algorithm
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    # ---- fitting ------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and factor their kernel matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            self.fit_rows(X)
            self._factored()
        return self

    def fit_rows(self, X: Any, sample_weight: Array | None = None) -> Self:
        """Select the landmarks, without solving the eigenproblem of ``fit``.

        Enough for :meth:`gram` and :meth:`rows`. ``transform`` works too: it factors the kernel
        matrix at its first call and keeps the outcome.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        sample_weight : ndarray of shape (n_samples,), optional
            Positive; a row of weight 2 counts as that row twice in the kernel's width and in the
            choice of axes for the features.
        """
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            check_parameters(self, self._constraints)
            X = check_features(self, X, reset=True)
            self.__dict__.pop("_coefficients", None)
            self.gamma_ = self._gamma_for(X, sample_weight)
            self._take_landmarks(X, sample_weight)
        return self

    def _gamma_for(self, X: Any, weights: Array | None) -> float | None:
        if self.kernel not in ("rbf", "poly"):
            return None
        if self.gamma is None or (self.gamma == "distance" and self.kernel == "poly"):
            return 1.0 / X.shape[1]
        return _gamma_of_distance(X, weights) if self.gamma == "distance" else float(self.gamma)

    def _take_landmarks(self, X: Any, weights: Array | None) -> None:
        """Keep landmarks, and with them the parameters as they are at this moment."""
        n = X.shape[0]
        self._roots = None
        if self.algorithm == "exact":
            self._roots = None if weights is None else np.sqrt(weights)
            landmarks = double(X, copy=True)  # the caller's array may change
            self._count = n if self.n_components is None else min(n, int(self.n_components))
        else:
            count = DEFAULT_LANDMARKS if self.n_components is None else int(self.n_components)
            # Drawn as scikit-learn's Nystroem does, so that both take the same rows.
            chosen = seeded(self.random_state).permutation(n)[:count]
            landmarks = double(X[chosen])
            self._count = chosen.size
        self.landmarks_ = unwrap(landmarks)
        origin = unwrap(centre(landmarks)) if self.kernel == "rbf" else None
        self._kernel = Kernel(self.kernel, self.gamma_, int(self.degree), float(self.coef0), origin)

    def _factor(self) -> Array:
        """Return E S^(-1/2) (L, r), the matrix that turns kernel values into features."""
        size = self.landmarks_.shape[0]
        _require_room(
            self.landmarks_, 4 * size * size, f"Factoring the kernel matrix of {size} rows"
        )
        if size > EIGEN_LIMIT and too_many_for_krylov(size, self._count):
            raise ValueError(
                f"The features of a kernel map need the eigenvectors of its kernel matrix, and "
                f"more than half of them are computed up to {EIGEN_LIMIT} rows; {self._count} were "
                f"asked for of {size} rows. Use algorithm='nystroem' with n_components well below "
                "the number of rows, or give a classifier the map without scale and regressor: it "
                "then needs no features."
            )
        kernel = wrap(self.gram())
        roots = None if self._roots is None else to_device_of(self._roots[:, None], kernel)
        if roots is not None:  # features do not depend on weights, but their axes do
            kernel *= roots
            kernel *= roots.T
        # Transposed, which changes nothing but the order in memory: LAPACK then works in place.
        solution = leading_eigenpairs(kernel.T, self._count, overwrite=True)
        if solution.values.size == 0:
            return zeros_on_device_of((size, 1), kernel)
        coefficients = solution.vectors
        coefficients *= peak_signs(coefficients if roots is None else coefficients / roots)
        coefficients /= np.sqrt(solution.values)
        return coefficients if roots is None else coefficients * roots

    # ---- kernel values ------------------------------------------------------------------------

    def gram(self) -> Array:
        """Return the kernel matrix of the landmarks, (n_landmarks, n_landmarks) float64.

        Exactly symmetric, and a fresh array at each call: the caller may overwrite it.
        """
        check_is_fitted(self)
        size = self.landmarks_.shape[0]
        _require_room(self.landmarks_, size * size, f"The kernel matrix of {size} rows")
        return unwrap(self._kernel.gram(wrap(self.landmarks_)))

    def rows(self, X: Any) -> Array:
        """Return the kernel values of rows against the landmarks, (n_samples, n_landmarks).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return unwrap_like(self.checked_rows(X), X)

    def checked_rows(self, X: Any) -> Any:
        """Do what :meth:`rows` does, for rows that were checked before.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
        """
        shape = X.shape[0], self.landmarks_.shape[0]
        memory.require_memory(
            8 * shape[0] * shape[1],
            what=f"The kernel values of {shape[0]} rows against {shape[1]} landmarks",
            remedy="Pass fewer rows at a time, or use algorithm='nystroem' with fewer landmarks.",
            free=free_bytes(X),
        )
        values = zeros_on_device_of(shape, X)
        self._kernel.fill(values, X, wrap(self.landmarks_))
        return values

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its constants, as they were when the landmarks were selected."""
        check_is_fitted(self)
        return self._kernel

    # ---- features -----------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the features, (n_samples, n_components), a block of rows at a time.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return unwrap_like(self.checked_transform(X), X)

    def checked_transform(self, X: Any) -> Any:
        """Do what :meth:`transform` does, for rows that were checked before.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features)
        """
        if isinstance(X, DeviceArray):
            return self.checked_rows(X) @ wrap(self._factored())
        coefficients = self._factored()
        n_landmarks = coefficients.shape[0]
        step = min(X.shape[0], max(1, BLOCK_BYTES // (8 * n_landmarks)))
        values = np.empty((step, n_landmarks))
        features = np.empty((X.shape[0], coefficients.shape[1]))
        for rows in tiles(X.shape[0], step):
            block = values[: rows.stop - rows.start]
            self._kernel.fill(block, X[rows], self.landmarks_)
            np.matmul(block, coefficients, out=features[rows])
        return features

    def _factored(self) -> Array:
        """Return the factor, computed at the first call after ``fit_rows``."""
        if not hasattr(self, "_coefficients"):
            self._coefficients = unwrap(owned(self._factor()))
        return self._coefficients

    @property
    def coefficients_(self) -> Array:
        """Matrix that turns kernel values into features, (n_landmarks, n_components)."""
        check_is_fitted(self)
        return self._factored()

    @property
    def _n_features_out(self) -> int:
        return self._factored().shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags


def _gamma_of_distance(X: Any, weights: Array | None) -> float:
    """1 / (2 s²), s the mean distance of the rows, or of some of many."""
    if X.shape[0] > DISTANCE_ROWS:
        # Independent of random_state: the width is a property of the data.
        rng = np.random.default_rng(0)
        chosen = np.sort(rng.choice(X.shape[0], DISTANCE_ROWS, replace=False))
        X, weights = X[chosen], None if weights is None else weights[chosen]
    distance = mean_distance(double(X), weights)
    if distance == 0:
        return 1.0
    with np.errstate(all="ignore"):
        gamma = float(0.5 / np.float64(distance) ** 2)
    if not 0 < gamma < np.inf:
        raise ValueError(
            f"gamma='distance' needs rows whose mean distance has a finite square above 0, and it "
            f"is {distance:g}; scale X, for example with sklearn.preprocessing.StandardScaler, or "
            "set gamma to a number."
        )
    return gamma


def _require_room(landmarks: Any, numbers: int, what: str) -> None:
    fewer = "Use algorithm='nystroem' with n_components well below the number of rows"
    memory.require_memory(
        8 * numbers, what=what, remedy=f"{fewer}, or fewer rows.", free=free_bytes(landmarks)
    )
