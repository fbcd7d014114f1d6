"""CS: labels are measured at random, measurements are predicted, labels are recovered from them.

z = A y,   zhat(x) by ridge regression,   yhat(x) = the k-sparse y whose A y is near zhat(x)

y (M,) labels of a row, A (m, M) random, z (m,) its codes. If no row has more than k labels,
m of the order k log M measurements are enough to recover them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._inputs import TrainingData
from compactlearn.compact._paper import PaperClassifier
from compactlearn.core._params import Choice, Constraint, Integer, Real, Seed
from compactlearn.embeddings._components import COUNTS
from compactlearn.embeddings._encoders import check_labels_to_encode
from compactlearn.linalg._ridge import BIASES
from compactlearn.related._random_codes import MEASUREMENTS, RandomCodes
from compactlearn.related._recovery import recovered
from compactlearn.related._scored import WeightedClassifier, predicted_codes

Array = NDArray[np.float64]


class CompressedSensingClassifier(WeightedClassifier):
    """Labels as a sparse vector that is recovered from a few predicted measurements (CS).

    Encoding needs no training at all. Decoding is a search for every row, so predicting is slow,
    and its scores are zero but for k labels, so rankings have many ties.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m, the number of measurements. A float is a ratio of M; "auto" is
        min(M, max(16, ceil(M / 2)), 500).
    measurement : {"hadamard", "gaussian"}, default="hadamard"
        A: different columns of a Hadamard matrix, drawn at random, with entries -1 and +1; or
        normal numbers.
    recovery : {"omp", "cosamp"}, default="omp"
        Orthogonal matching pursuit, or CoSaMP with k rounds.
    sparsity : int, "mean" or "max", default="max"
        k, how many labels a row is taken to have: a number, or the mean (rounded up) or largest
        number of labels of a training row. No more than m count.
    alpha : float, default=1.0
        Penalty of the ridge regression on the measurements.
    bias : {"free", "none", "penalised", "target"}, default="free"
        Its intercept, see :class:`CompactClassifier`.
    threshold : float, default=0.5
        A label is predicted where its recovered value is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Draws the measurements.

    Attributes
    ----------
    measurements_ : ndarray of shape (n_components_, n_labels)
        A.
    coef_ : ndarray of shape (n_components_, n_features)
    intercept_ : ndarray of shape (n_components_,)
        Of the ridge regression.
    sparsity_ : int
        k.
    n_components_ : int
        m.
    threshold_, classes_, n_labels_, label_names_, numbers_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The program of the authors of PLST (an early version of mlc_lsdr) is ``recovery="cosamp",
    alpha=0.1, bias="penalised"``; as here it keeps 0/1 labels, lets the constant column of the
    Hadamard matrix be drawn, and makes k rounds of CoSaMP.

    OMP finds every label set of at most k labels from its true measurements if the coherence of A,
    the largest cosine between two of its columns, is below 1 / (2k - 1) (Tropp 2004).

    References
    ----------
    D. Hsu, S. M. Kakade, J. Langford, T. Zhang. Multi-label prediction via compressed sensing.
    Advances in Neural Information Processing Systems 22, 772-780, 2009.

    D. Needell, J. A. Tropp. CoSaMP: iterative signal recovery from incomplete and inaccurate
    samples. Applied and Computational Harmonic Analysis 26(3), 301-321, 2009.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import CompressedSensingClassifier
    >>> data = load("emotions")
    >>> model = CompressedSensingClassifier(6, random_state=0).fit(data.X, data.Y)
    >>> model.sparsity_, model.predict(data.X).shape
    (3, (593, 6))
    >>> model.encode(data.Y[:2]).shape
    (2, 6)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "measurement": (Choice(*MEASUREMENTS),),
        "recovery": (Choice("omp", "cosamp"),),
        "sparsity": (Integer(1), Choice("mean", "max")),
        "alpha": (Real(0),),
        "bias": (Choice(*BIASES),),
        "threshold": (Real(),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        *,
        measurement: str = "hadamard",
        recovery: str = "omp",
        sparsity: int | str = "max",
        alpha: float = 1.0,
        bias: str = "free",
        threshold: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.measurement = measurement
        self.recovery = recovery
        self.sparsity = sparsity
        self.alpha = alpha
        self.bias = bias
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        codes = RandomCodes(
            self.n_label_components, self.measurement, random_state=self.random_state
        )
        model = PaperClassifier(codes, alpha=self.alpha, bias=self.bias, threshold=0.5)
        model.fit(data.X, data.targets.matrix, data.weights)
        self.coef_, self.intercept_ = model.regressor_.coef_, model.regressor_.intercept_
        self._recovery = self.recovery  # as fitted: parameters may change afterwards
        self.measurements_ = model.embedding_.measurements_
        self.n_components_ = self.measurements_.shape[0]
        self.sparsity_ = min(self._labels_of_a_row(data), self.n_components_)

    def _labels_of_a_row(self, data: TrainingData) -> int:
        if not isinstance(self.sparsity, str):
            return int(self.sparsity)
        counts = np.diff(data.targets.matrix.indptr)
        if self.sparsity == "max":
            return max(1, int(counts.max()))
        mean = np.average(counts, weights=data.weights)
        return max(1, int(np.ceil(mean * (1.0 - 1e-12))))

    def _scored(self, X: Any) -> Array:
        return self.recover(predicted_codes(X, self.coef_, self.intercept_))

    def encode(self, Y: Any) -> Array:
        """Return the measurements of labels, of shape (n_samples, n_components).

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1; where ``fit`` had a vector of classes, such a vector, and where it had
            names, lists of these if you like.
        """
        check_is_fitted(self, "measurements_")
        known: Any = self._labels
        labels = check_labels_to_encode(Y, known.n_labels, known.vector_classes, known.names)
        return labels @ self.measurements_.T

    def recover(self, codes: Any, k: int | None = None) -> Array:
        """Return the labels' values that fit measurements, of shape (n_samples, n_labels).

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_components)
            Measurements, true or predicted.
        k : int or None, default=None
            How many labels a row may have; by default ``sparsity_``.
        """
        check_is_fitted(self, "measurements_")
        codes = np.asarray(codes, dtype=np.float64)
        if codes.ndim != 2 or codes.shape[1] != self.n_components_:
            raise ValueError(
                f"recover needs codes with {self.n_components_} columns, one per measurement, and "
                f"was given shape {codes.shape}; pass what encode returns."
            )
        recovery = self._recovery
        return recovered(self.measurements_, codes, k or self.sparsity_, recovery)

    @property
    def numbers_(self) -> int:
        """How many numbers must be kept to predict: coefficients, intercepts and measurements."""
        check_is_fitted(self, "coef_")
        return int(self.coef_.size + self.intercept_.size + self.measurements_.size)
