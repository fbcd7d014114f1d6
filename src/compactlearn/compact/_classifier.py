"""CompactClassifier: an embedding, a learner in the small space, a decoder, a threshold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._fitting import (
    Fitted,
    fit_more,
    fit_rows,
    fit_summed,
    fit_sums,
    own_embedding,
)
from compactlearn.compact._label_output import RanksLabels, describe
from compactlearn.compact._noisy_labels import rates_of
from compactlearn.compact._sums import RunningSums, fits_from_moments
from compactlearn.core._available import available_if
from compactlearn.core._chunked import lazy_on_dask
from compactlearn.core._devices import (
    DeviceArray,
    OnDevices,
    full_in_words,
    unwrap,
    unwrap_like,
    wrap,
)
from compactlearn.core._lazy import load
from compactlearn.core._params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Methods,
    Nothing,
    Numbers,
    Real,
    Regressor,
    Seed,
    check_own_parameters,
)
from compactlearn.core._row_blocks import RowBlocks
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.decoding._thresholds import STRATEGIES
from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._moments import Moments

Array = NDArray[np.float64]


def _gives_probabilities(classifier: CompactClassifier) -> bool:
    """Raise AttributeError where the decoder has no probabilities."""
    fitted = hasattr(classifier, "embedding_")
    decoder = classifier._decoder if fitted else classifier.decoder
    if decoder != "logistic":
        again = " and fit again" if fitted else ""
        raise AttributeError(
            f"Probabilities need decoder='logistic', and it is {decoder!r}; set it{again}, or use "
            "decision_function."
        )
    return True


class CompactClassifier(RanksLabels, OnDevices, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Multi-label classification in a small space.

    Features are projected (``u = xP``), a learner predicts codes (``v = g(u)``), the decoder
    turns codes into scores (``s = vW + offset``) and labels are the scores above a threshold.
    Which P, codes and W is the embedding's choice; which g is ``regressor``'s.

    Parameters
    ----------
    embedding : embedding estimator or None, default=None
        None means ``CMLL()``.
    feature_map : transformer or None, default=None
        Applied to X first; a clone is fitted to X alone. ``KernelMap()`` gives the kernel version
        of the method; an exact one goes through the kernel matrix, whatever the embedding's
        ``solver`` says, unless ``scale`` or a ``regressor`` on all the features asks for features.
    scale : bool, default=False
        Divide every feature by its standard deviation (no centring, so sparse stays sparse).
    regressor : scikit-learn regressor or None, default=None
        None is ridge regression with penalty ``alpha``, solved from second moments. Any other
        regressor is cloned and fitted to XP and the codes, weighted so that its squared error is
        that of the labels (docs/methods/index.md). One that takes a single target is wrapped in
        ``MultiOutputRegressor``.
    alpha : float or "auto", default=1.0
        Penalty of the built-in ridge, in the squared units of X; ignored with a ``regressor``.
        "auto" is about the mean squared length of centred rows, in ``regressor_.alpha``.
    decoder : {"linear", "logistic"}, default="linear"
        "linear" is the embedding's own decoder and offset. "logistic" is one logistic regression
        per label, learnt from out-of-fold codes, with log-odds as scores and ``predict_proba``.
    threshold : float, array of shape (n_labels,), "auto", "f1", "per-label" or "cardinality", \
default="auto"
        A label is predicted where its score is strictly above; with ``decoder="logistic"`` a
        number is a probability. A name is tuned on out-of-fold scores: one threshold of largest
        micro-F1, one of largest F1 for each label (labels in fewer than five rows take the
        former), or one that predicts as many labels as there are. "auto" is "f1" from at most as
        many folds as score 2000 rows, and 0.5 where there are no rows to score (``partial_fit``,
        ``fit_moments``), for another regressor, whose refits may be expensive, and for a vector y.
    positive_unlabelled : bool, default=False
        Whether labels that are absent may be missing positives: a label that is present counts by
        one over the probability that it is seen (docs/how-to/unknown-labels.md).
    propensities : array-like of shape (n_labels,) or None, default=None
        These probabilities; None is :func:`compactlearn.metrics.propensities` of the labels.
    label_noise : None, "auto" or pair of float or array-like, default=None
        The rates at which absent labels are seen as present, and present ones as absent, for all
        labels or for each. "auto" estimates both from out-of-fold scores, for one more fit.
    n_jobs : int or None, default=None
        For a regressor that has to be wrapped.
    random_state : int, RandomState or None, default=None
        Passed to an embedding and to a feature map that have none of their own.
    verbose : int, default=0
        1 shows a progress bar, and says beforehand how long a long fit is going to take.

    Attributes
    ----------
    embedding_ : the fitted embedding (its ``codes_`` is None)
    regressor_ : the fitted learner
    feature_map_ : the fitted transformer, where one was given
    scale_ : ndarray of shape (n_features,), where ``scale=True``
    threshold_ : float or ndarray, in the units of ``decision_function``
    label_noise_ : tuple of two ndarrays of shape (n_labels,), the rates that were corrected for
    n_passes_ : int, over the blocks of a fit of blocks
    decoding_ : CodeDecoder, where ``decoder="logistic"``: coefficients, intercept, penalty
    classes_ : ndarray; ``arange(n_labels)`` for a label matrix, names where labels had such
    n_labels_, n_features_in_, feature_names_in_ : int, int, ndarray of str
    label_names_ : list of str, where Y was a frame (its columns) or lists of names (sorted)
    parts_ : all that predicting needs, in one frozen value
    label_space_ : what is known of the labels: matrix or vector, classes, names
    boundary_ : float, taken off the scores of two classes, whose boundary is 0; else 0
    coef_, intercept_ : computed on request, for the built-in ridge
    compression_ : dict, of what :meth:`compress` returns
    nbytes_, n_parameters_ : int, bytes of the saved model, and parameters kept to predict

    Notes
    -----
    A vector y is binarised: two classes give one column of scores with 0 as the boundary,
    several classes go by the largest score. The sums of rows from which ``partial_fit`` resumes
    are larger than the model, and saved only with one that was learnt by ``partial_fit``.

    Examples
    --------
    >>> from compactlearn import CompactClassifier, Original
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> ridge = CompactClassifier(Original(), alpha=10.0).fit(data.X, data.Y)
    >>> ridge.predict(data.X[:2]).shape
    (2, 6)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "feature_map": (Methods("fit", "transform"), Nothing()),
        "scale": (Flag(),),
        "regressor": (Regressor(), Nothing()),
        "alpha": (Real(0), Choice("auto")),
        "decoder": (Choice("linear", "logistic"),),
        "threshold": (Real(), Numbers(), Choice("auto", *STRATEGIES)),
        "positive_unlabelled": (Flag(),),
        "n_jobs": (Integer(), Nothing()),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
    }

    bias: str = "free"  # the intercept of the built-in ridge, see PaperClassifier

    embedding_: Embedding
    regressor_: Any
    parts_: FittedModel
    _sums: RunningSums
    _decoder: str  # the one of the last fit: the parameter may have changed since

    def __init__(
        self,
        embedding: Embedding | None = None,
        *,
        feature_map: Any = None,
        scale: bool = False,
        regressor: Any = None,
        alpha: float | str = 1.0,
        decoder: str = "linear",
        threshold: Any = "auto",
        positive_unlabelled: bool = False,
        propensities: Any = None,
        label_noise: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.feature_map = feature_map
        self.scale = scale
        self.regressor = regressor
        self.alpha = alpha
        self.decoder = decoder
        self.threshold = threshold
        self.positive_unlabelled = positive_unlabelled
        self.propensities = propensities
        self.label_noise = label_noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting ------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        sep: str | None = None,
        unknown: Any = None,
    ) -> Self:
        """Fit embedding, learner and decoder.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or blocks of rows
            What :func:`compactlearn.datasets.open_blocks` returns is fitted as by
            :meth:`fit_blocks`, without y, and so is a memory map of more than 256 MiB. A Dask
            array or DataFrame is fitted on the workers (docs/how-to/dask.md).
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            Names of each row's labels; or labels, 0 or 1, with NaN where a label is not known
            (docs/how-to/unknown-labels.md); a vector is read as one class per row.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice; of weight 0, not at all.
        groups : array-like of shape (n_samples,), optional
            Rows that are held out together where decoder or threshold are learnt; by default
            equal rows are.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known, in place of NaN; whatever y has there is not read.
        """
        if isinstance(X, RowBlocks | np.memmap):
            as_blocks = load("compactlearn.scale._fit_local").as_blocks
            blocks = as_blocks(self, X, y, sample_weight, groups=groups, sep=sep, unknown=unknown)
            if blocks is not None:
                return self.fit_blocks(blocks)
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            rest = {"groups": groups, "sep": sep, "unknown": unknown}
            self._keep(fit_rows(self, X, y, sample_weight, **rest))
        return self

    def fit_scored(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        unknown: Any = None,
        units: Any = None,
    ) -> OutOfFoldScores:
        """Fit, and return the out-of-fold scores that the threshold was tuned on.

        The threshold must be one that is tuned, and the labels a matrix.

        Parameters
        ----------
        X, y, sample_weight, groups, unknown : as in ``fit``
        units : ndarray of shape (n_features,), optional
            What columns of X were divided by: held-out rows lose unseen features before that.
        """
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            rest = {"groups": groups, "unknown": unknown, "units": units}
            fitted = fit_rows(self, X, y, sample_weight, **rest)
            self._keep(fitted)
        if fitted.decided.out_of_fold is None:
            raise ValueError(
                "fit_scored needs a threshold that is tuned, and labels as a matrix; got "
                f"threshold={self.threshold!r}. Pass threshold='f1'."
            )
        return fitted.decided.out_of_fold

    @available_if(fits_from_moments)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        sep: str | None = None,
    ) -> Self:
        """Add rows and solve again; exactly what one ``fit`` on all the rows so far gives.

        Rows are kept only as their moments, so memory does not grow with their number. For the
        built-in ridge and the linear decoder. After ``fit`` it resumes only if that fit ran from
        moments, and in the process that fitted.

        Parameters
        ----------
        X, y, sample_weight, sep : as in ``fit``
        classes : array-like, optional
            For a vector y, and for labels by name: all the classes or names that will ever appear,
            at the first call.
        """
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            sums = self._sums if hasattr(self, "embedding_") else None
            self._keep(fit_more(self, sums, X, y, classes, sample_weight, sep))
        return self

    @available_if(fits_from_moments)
    def fit_moments(self, moments: Moments) -> Self:
        """Fit from :class:`Moments` of a feature block and a label block gathered elsewhere.

        Parameters
        ----------
        moments : Moments
            Those of disjoint parts of the rows can be added.
        """
        with unchanged_on_error(self), blas_threads():
            self._keep(fit_sums(self, moments))
        return self

    def fit_blocks(self, blocks: Any, *, checkpoint: str | os.PathLike[str] | None = None) -> Self:
        """Fit rows that come in blocks, and that need never be in memory together.

        Scores are those of a ``fit`` on all rows; beyond 5000 features and labels CMLL goes through
        the blocks several times (``n_passes_``). Decoders and thresholds are learnt from held-out
        rows (docs/how-to/large-data.md).

        Parameters
        ----------
        blocks : iterable of tuples, or function that returns one
            Blocks ``(X, Y)`` or ``(X, Y, sample_weight)``: features, and labels as a matrix of 0
            and 1; each an array of its own. An iterator will do where one pass is enough.
        checkpoint : path of a folder, optional
            Sums so far are kept there until the fit ends. One that was killed resumes from them
            when it is called again with the same data and parameters, to the same bits.
        """
        with unchanged_on_error(self), blas_threads():
            self.make_embedding()  # parameters are checked before anything is read
            local = load("compactlearn.scale._fit_local")
            source = local.local_source(self, blocks, checkpoint)
            self._keep(fit_summed(self, source, local.take_columns(self, source)))
            if source.checkpoint is not None:
                source.checkpoint.remove()
        return self

    def _keep(self, fitted: Fitted) -> None:
        """Take the fitted attributes from the outcome of a fit."""
        model, training = fitted.model, fitted.training
        describe(self, model.labels)
        optional = {
            "feature_map_": model.row_map.feature_map,
            "scale_": unwrap(model.row_map.scale),
            "decoding_": fitted.decided.decoding,
            "n_passes_": training.n_passes,
            "label_noise_": rates_of(training.correction),
        }
        for name, value in optional.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self.embedding_, self.regressor_ = fitted.embedding, model.regressor
        self.threshold_, self.boundary_ = model.labels.placed(model.threshold)
        self.parts_, self._decoder, self._sums = model, self.decoder, fitted.sums

    def make_embedding(self) -> Embedding:
        """Check the parameters; return the embedding that ``fit`` would fit, not fitted.

        One that shares the learner's penalty gets it by its method ``sharing``.
        """
        check_own_parameters(self)
        embedding = own_embedding(self.embedding, self.random_state)
        check_own_parameters(embedding)
        return embedding

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "embedding_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        return self.parts_.score_blocks(X)

    @lazy_on_dask
    def transform(self, X: Any) -> Any:
        """Return the projected features XP; where features are kept, X, mapped and scaled.

        Parameters
        ----------
        X : as in ``fit``
        """
        X = self._prepare(X)
        found = self.parts_.projected(X)
        on_device = isinstance(X, DeviceArray)
        return unwrap_like(found, X) if on_device else found.astype(np.float64, copy=False)

    @lazy_on_dask
    def predict_codes(self, X: Any) -> Array:
        """Return predicted codes of shape (n_samples, n_label_components), in ``codes_`` units.

        Parameters
        ----------
        X : as in ``fit``
        """
        X = self._prepare(X)
        return unwrap_like(self.parts_.codes(X), X)

    @lazy_on_dask
    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n_samples, n_labels); (n_samples,) for two classes.

        Parameters
        ----------
        X : as in ``fit``
        """
        X = self._prepare(X)
        scores = self.parts_.scores(X)
        return unwrap_like(scores[:, 0] if self.label_space_.kind == "binary" else scores, X)

    @available_if(_gives_probabilities)
    @lazy_on_dask
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels); for a vector y, of its classes.

        Parameters
        ----------
        X : as in ``fit``
        """
        X = self._prepare(X)
        return unwrap_like(self.parts_.probabilities(X), X)

    @lazy_on_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_samples, n_labels), or classes for a vector y.

        Parameters
        ----------
        X : as in ``fit``
        """
        X = self._prepare(X)
        return unwrap_like(self.parts_.predicted(X, wrap(self.threshold_)), X)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict; thresholds do not count."""
        check_is_fitted(self, "embedding_")
        return self.parts_.numbers

    @property
    def coef_(self) -> Array:
        """(n_features, n_labels) coefficients of the scores, multiplied out on request."""
        check_is_fitted(self, "embedding_")
        return unwrap(self.parts_.of_features().coefficients)

    @property
    def intercept_(self) -> Array:
        """(n_labels,) intercepts of the scores."""
        check_is_fitted(self, "embedding_")
        return unwrap(self.parts_.of_features().intercept)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns ``transform`` returns; the features' own where they are kept.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; by default those that ``fit`` saw.
        """
        check_is_fitted(self, "embedding_")
        self.parts_.require("transform")
        if self.embedding_.projection_ is None and not hasattr(self, "feature_map_"):
            return OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        if self.parts_.row_map.as_kernel and self.embedding_.projection_ is None:
            n_columns = len(self.feature_map_.get_feature_names_out())
        else:
            n_columns = self.embedding_.n_feature_components_
        name = type(self).__name__.lower()
        return np.array([f"{name}{j}" for j in range(n_columns)], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        own = vars(self).get("embedding")  # which CMLLClassifier makes by itself
        takes = not isinstance(own, Embedding) or not own.host_only
        # Other learners, and methods of the related work, are given NumPy arrays alone.
        tags.array_api_support = self.regressor is None and takes
        return tags
