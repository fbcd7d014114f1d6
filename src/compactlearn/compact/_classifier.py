"""CompactClassifier: an embedding, a learner in the small space, a decoder, a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._completing import completed
from compactlearn.compact._fits_blocks import FitsBlocks
from compactlearn.compact._fitted import FittedModel, ShowsParts, chances_of
from compactlearn.compact._inputs import check_folds, check_training
from compactlearn.compact._label_output import RanksLabels, describe
from compactlearn.compact._noisy_labels import correction_of, rates_of
from compactlearn.compact._penalty import resolved_penalty
from compactlearn.compact._preparation import Preparation, Training
from compactlearn.compact._running_sums import (
    RunningSums,
    fits_from_moments,
    fits_in_parts,
    refuse_to_go_on,
    sum_of_rows,
)
from compactlearn.core._available import available_if
from compactlearn.core._chunked import is_dask, lazy_on_dask
from compactlearn.core._devices import (
    DeviceArray,
    OnDevices,
    full_in_words,
    library_of,
    place_of,
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
from compactlearn.core._unknown_labels import refuse_on_dask
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.crossfit._decoder_fitter import DecoderFitter, FittedDecoder
from compactlearn.crossfit._learner import CodeRidge, RidgeLearner, learner_of
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._linear import LinearScorer
from compactlearn.decoding._thresholds import STRATEGIES
from compactlearn.embeddings._base import Embedded, Embedding, refuse_sums
from compactlearn.embeddings._cmll import CMLL
from compactlearn.linalg._build import require_room_for_moments
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]


def _gives_probabilities(classifier: CompactClassifier) -> bool:
    fitted = hasattr(classifier, "embedding_")
    decoder = classifier._decoder if fitted else classifier.decoder
    if decoder != "logistic":
        again = " and fit again" if fitted else ""
        raise AttributeError(
            f"Probabilities need decoder='logistic', and it is {decoder!r}; set it{again}, or use "
            "decision_function."
        )
    return True


class CompactClassifier(
    FitsBlocks,
    OnDevices,
    ShowsParts,
    RanksLabels,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
    BaseEstimator,
):
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
        of the method; with an exact kernel everything goes through the kernel matrix, without
        factoring it (whatever the embedding's ``solver`` says), unless ``scale`` or a
        ``regressor`` on all the features asks for features.
    scale : bool, default=False
        Divide every feature by its standard deviation (no centring, so sparse stays sparse).
    regressor : scikit-learn regressor or None, default=None
        None is ridge regression with penalty ``alpha``, solved from second moments. Any other
        regressor is cloned and fitted to XP and the codes, weighted so that its squared error is
        that of the labels: its targets are VL with L the symmetric root of WW', all multiplied by
        one factor that makes their mean square 1, and its answers are turned back into codes. With
        orthonormal decoders (PLST, CPLST) and where labels are their own codes, L is the identity.
        One that takes a single target is wrapped in ``MultiOutputRegressor``.
    alpha : float or "auto", default=1.0
        Penalty of the built-in ridge; ignored with a ``regressor``. It is in the squared units
        of X: features multiplied by c ask for c² times the penalty. "auto" sees to that: it is D
        times the squared mean deviation of the D features, mapped and scaled (about the mean
        squared length of centred rows: some 1 for rows of unit length, 70 for enron's counts), and
        ``regressor_.alpha`` is the number.
    decoder : {"linear", "learned", "logistic"}, default="linear"
        "linear" is the embedding's own decoder and offset. The others are learnt from codes
        predicted for rows that the learner had not seen: "learned" is a ridge that pulls towards
        the embedding's decoder; "logistic" is one logistic regression per label: scores are then
        log-odds, and ``predict_proba`` exists. The penalty of either is the one that serves rows
        best whose labels nothing had met.
    threshold : float, array of shape (n_labels,), "auto", "f1", "per-label" or "cardinality", \
default="auto"
        A label is predicted where its score is strictly above; with ``decoder="logistic"`` a
        number is a probability. A name is tuned on scores of rows by models that have not met
        their labels: one threshold of largest micro-F1, one of largest F1 for each label (labels in
        fewer than five rows take the former), or one that predicts as many labels as there are.
        That takes five refits (one, or three for each label, where five would take more than ten
        seconds and there are 6000 rows). "auto" is "f1" from as many of these as score 2000 rows
        (one refit from 10,000 rows on), and 0.5 where there are no rows to score
        (``partial_fit``, ``fit_moments``, ``fit_path``), for a foreign regressor, whose refits may
        be dear, and for a vector y.
    positive_unlabelled : bool, default=False
        Whether labels that are absent may be missing positives: a label that is present counts by
        one over the chance that it is seen, so that sums are those of all positives on average
        (docs/guide/unknown-labels.md).
    propensities : array-like of shape (n_labels,) or None, default=None
        These chances; None is :func:`compactlearn.metrics.propensities` of the labels.
    label_noise : None, "auto" or pair of float or array-like, default=None
        The rates at which absent labels are seen as present, and present ones as absent, for all
        labels or for each; method, decoder and threshold are corrected for them. "auto" estimates
        the two from honest scores, for one more fit.
    n_jobs : int or None, default=None
        For a regressor that has to be wrapped.
    random_state : int, RandomState or None, default=None
        Handed to an embedding and to a feature map that have none of their own.
    verbose : int, default=0
        1 shows a progress bar, and says beforehand how long a fit of more than ten seconds is
        going to take. (At a terminal such a fit does so unasked.)

    Attributes
    ----------
    embedding_ : the fitted embedding (its ``codes_`` is None)
    regressor_ : the fitted learner
    feature_map_ : the fitted transformer, where one was given
    scale_ : ndarray of shape (n_features,), where ``scale=True``
    threshold_ : float or ndarray, in the units of ``decision_function``
    label_noise_ : tuple of two ndarrays of shape (n_labels,), the rates that were corrected for
    n_passes_ : int, after a fit of blocks: how many times they were gone through
    decoding_ : CodeDecoder, where ``decoder`` is learnt: coefficients, intercept, penalty
    classes_ : ndarray; ``arange(n_labels)`` for a label matrix, names where labels had such
    n_labels_ : int
    label_names_ : list of str, where Y was a frame (its columns) or held names (sorted)
    coef_, intercept_ : computed on request, for the built-in ridge
    compression_ : dict, of what :meth:`compress` returns: the type, bytes before and after, scores
    nbytes_ : int
        Bytes of all arrays that the model is saved with, each counted once.
    n_parameters_ : int
        Number of parameters kept to predict: with the built-in ridge those of the cheapest
        order of products, see :func:`compactlearn.decoding._linear.linear_parameters`; the
        landmarks of a kernel, and all that foreign parts hold, are added.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    A vector y is binarised: two classes give one column of scores with 0 as the boundary,
    several classes go by the largest score.

    Nothing that follows from other attributes is saved. The sums of rows that ``partial_fit`` goes
    on from are saved only with a model that was learnt by ``partial_fit``: they have
    (n_features + n_labels)² numbers, and are not needed to predict.

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
        "decoder": (Choice("linear", "learned", "logistic"),),
        "threshold": (Real(), Numbers(), Choice("auto", *STRATEGIES)),
        "positive_unlabelled": (Flag(),),
        "n_jobs": (Integer(), Nothing()),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
    }

    bias: str = "free"  # the intercept of the built-in ridge, see PaperClassifier

    _model: FittedModel
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
            :meth:`fit_blocks`, without y. A memory map of more than 256 MiB is not read whole, but
            fitted block by block. So is a Dask array or DataFrame, on the workers; its labels and
            weights may be Dask collections too (docs/guide/dask.md).
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row. NaN in a matrix is a label that is not known
            (docs/guide/unknown-labels.md).
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice; of weight 0, not at all.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together are held out together where decoder or threshold are learnt.
            Without groups, equal rows are.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known; whatever y has there is not read. For sparse labels,
            and in place of NaN.
        """
        if isinstance(X, RowBlocks | np.memmap):
            rest = {"groups": groups, "sep": sep, "unknown": unknown}
            blocks = load("compactlearn.scale._fit_local").as_blocks(
                self, X, y, sample_weight, **rest
            )
            if blocks is not None:
                return self.fit_blocks(blocks)
        self._fit(X, y, sample_weight, groups, sep, unknown)
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
        """``fit``, and return the scores of rows that the threshold was tuned on.

        They are by models that have not met these rows, and cost nothing more. The threshold must
        be one that is tuned, and the labels a matrix.

        Parameters
        ----------
        X, y, sample_weight, groups, unknown : as in ``fit``
        units : ndarray of shape (n_features,), optional
            What columns of X were divided by: held-out rows lose unseen features before that.
        """
        decided = self._fit(X, y, sample_weight, groups, unknown=unknown, units=units)
        if decided.out_of_fold is None:
            raise ValueError(
                f"fit_scored returns what a threshold is tuned on, and threshold={self.threshold!r}"
                " is not tuned on these data; pass threshold='f1', and labels as a matrix."
            )
        return decided.out_of_fold

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        sep: str | None = None,
        unknown: Any = None,
        units: Any = None,
    ) -> FittedDecoder:
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            embedding = self.make_embedding()
            if is_dask(X):
                owner = f"{type(self).__name__}.fit"
                refuse_on_dask(unknown, owner)
                source_of = load("compactlearn.scale.dask._source").source_of
                source = source_of(self, X, y, sample_weight, groups=groups, sep=sep, owner=owner)
                return self._fit_source(source, source.labels)
            data = check_training(
                self, X, y, sample_weight, groups, sep=sep, unknown=unknown, partial=True
            )
            labels = LabelSpace.of(data.targets)
            threshold = labels.given_threshold(self.threshold, self.decoder)
            correction = correction_of(self, data)
            Y = data.targets.matrix
            if correction is not None:
                Y = correction.corrected(Y, data.targets.unknown)
            training = Preparation.of(self).fit(embedding, data.X, Y, data.weights, data.groups)
            training = replace(training, correction=correction, units=units)
            if data.targets.unknown is not None:
                asked = self.alpha, self.bias, self.regressor
                training = completed(training, embedding, data.targets.unknown, *asked)
            return self._learn(embedding, training, labels, threshold)

    @available_if(fits_in_parts)
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
        built-in ridge and the linear decoder. After ``fit`` it goes on only if that fit ran
        from moments, and in the process that fitted: a pickle has the moments of a model that was
        learnt by ``partial_fit`` and of no other.

        Parameters
        ----------
        X, y, sample_weight, sep : as in ``fit``
        classes : array-like, optional
            For a vector y, and for labels by name: all the classes or names that will ever appear,
            at the first call. Names that are not among those of the first call are refused later.
        """
        with unchanged_on_error(self), full_in_words(X), blas_threads():
            embedding = self.make_embedding()
            refuse_sums(embedding)
            first = not hasattr(self, "embedding_")
            if not first and self._sums.moments is None:
                refuse_to_go_on(self.embedding_)
            labels, moments = sum_of_rows(self, X, y, classes, sample_weight, sep)
            if not first:
                labels, moments = self._labels, self._sums.moments + moments
            threshold = labels.given_threshold(self.threshold, self.decoder)
            tuned = isinstance(self.threshold, str) and labels.kind == "multilabel"
            if tuned and not first:
                threshold = self.threshold_  # by the fit before, on rows that are gone
            training = Preparation.of(self).from_moments(moments)
            self._learn(embedding, training, labels, threshold)
            self._sums = RunningSums(moments, saved=True)
        return self

    @available_if(fits_from_moments)
    def fit_moments(self, moments: Moments | Sequence[Moments]) -> Self:
        """Fit from :class:`Moments` of a feature block and a label block gathered elsewhere.

        Parameters
        ----------
        moments : Moments, or sequence of Moments
            A sequence holds those of disjoint parts of the rows, whose sum is the data.
            ``decoder="learned"`` needs two or more: each part is a fold, whose codes are predicted
            from the others, as by ``fit`` with one of ``groups`` for each fold.
        """
        with unchanged_on_error(self), blas_threads():
            embedding = self.make_embedding()
            refuse_sums(embedding)
            folds, moments = check_folds(moments)
            if self.decoder == "learned" and len(folds) < 2:
                raise ValueError(
                    "decoder='learned' is fitted to codes of rows that the learner had not seen, "
                    "so fit_moments needs the moments of two folds or more, and was given those "
                    "of all rows together; pass a list of moments, one for each fold."
                )
            require_room_for_moments(moments.n_left, moments.n_right)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = moments.n_left
            labels = LabelSpace.numbered(moments.n_right)
            threshold = labels.given_threshold(self.threshold, self.decoder)
            training = Preparation.of(self).from_moments(moments, folds)
            self._learn(embedding, training, labels, threshold)
        return self

    def make_embedding(self) -> Embedding:
        """Check the parameters; return the embedding that ``fit`` would fit, not fitted.

        One that shares the learner's penalty gets it by its method ``sharing``.
        """
        check_own_parameters(self)
        embedding = self._own_embedding()
        check_own_parameters(embedding)
        return embedding

    def _own_embedding(self) -> Embedding:
        if self.embedding is None:
            embedding: Embedding = CMLL()
        elif isinstance(self.embedding, Embedding):
            embedding = clone(self.embedding)
        else:
            remedy = "pass CMLL(), PLST() or another, and other transformers as feature_map."
            if isinstance(self.embedding, type):
                remedy = f"pass an instance, for example {self.embedding.__name__}()."
            elif isinstance(self.embedding, str):
                remedy = "pass an instance, or get the whole classifier by compactlearn.method."
            raise ValueError(
                f"embedding must be None or an embedding of this package, and is "
                f"{self.embedding!r}; {remedy}"
            )
        takes_seed = embedding.get_params().get("random_state", "") is None
        if takes_seed and self.random_state is not None:
            embedding.set_params(random_state=self.random_state)
        return embedding

    def _learn(
        self,
        embedding: Embedding,
        training: Training,
        labels: LabelSpace,
        threshold: float | Array,
    ) -> FittedDecoder:
        """Fit embedding, learner, decoder and threshold, and keep everything."""
        alpha = resolved_penalty(self.alpha, training.pair)
        embedding = embedding.sharing(alpha)
        asked = learner_of(self, alpha)
        fitter = DecoderFitter(
            self.decoder,
            self.threshold,
            labels.kind,
            asked,
            type(self).__name__,
            self.verbose,
        )
        hashes = fitter.begin(training)
        pair, result = training.pair, embedding.solve(training.pair)
        learner = asked.for_codes(result.codes)
        if isinstance(learner, RidgeLearner):
            learned, back = learner.fit(pair, result.projection, result.codes), 1.0
            regressor: Any = CodeRidge.of(learned, learner.alpha)
        else:
            pair, P = training.with_rows(), result.projection
            U = training.features if P is None else pair.projected_rows(P)
            regressor, back = learner.fit(pair, U, result.codes, result.decoder)
            del U
        keep_embedding(self, labels, embedding, pair, result)
        if self.decoder == "linear":  # scores are all that will be asked of refits
            result = replace(result, codes=result.codes.without_products())
        decided = fitter.learn(training, result, embedding, hashes)
        if decided.threshold is None:
            decided = replace(decided, threshold=threshold)
        install(self, labels, training, embedding, regressor, decided, back=back)
        return decided

    def _without_spare(self) -> Self:
        """Return a copy with what predicting needs, and no more; arrays are shared."""
        other = object.__new__(type(self))
        other.__dict__.update(vars(self))
        model = self._model.cheapest()
        embedding = copy(self.embedding_)
        for name in ("codes_", "decoder_", "offset_", "eigenvalues_", "objective_path_"):
            vars(embedding).pop(name, None)
        embedding.projection_ = model.projection
        other.__dict__.pop("decoding_", None)
        other.embedding_, other.regressor_ = embedding, model.regressor
        other._model, other._sums = model, RunningSums(None)
        return other

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "embedding_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        return self._model.score_blocks(X)

    def _shown(self, scores: Array) -> Array:
        return chances_of(scores) if self._decoder == "logistic" else scores

    @lazy_on_dask
    def transform(self, X: Any) -> Any:
        """Return the projected features XP; where features are kept, X, mapped and scaled.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        found = self._model.projected(X)
        on_device = isinstance(X, DeviceArray)
        return unwrap_like(found, X) if on_device else found.astype(np.float64, copy=False)

    @lazy_on_dask
    def predict_codes(self, X: Any) -> Array:
        """Return predicted codes of shape (n_samples, n_label_components), in ``codes_`` units.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        return unwrap_like(self._model.codes(X), X)

    @lazy_on_dask
    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n_samples, n_labels); (n_samples,) for two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        scores = self._model.scores(X)
        return unwrap_like(scores[:, 0] if self._labels.kind == "binary" else scores, X)

    @available_if(_gives_probabilities)
    @lazy_on_dask
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels); for a vector y, of its classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        return unwrap_like(self._model.probabilities(X), X)

    @lazy_on_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_samples, n_labels), or classes for a vector y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        return unwrap_like(self._model.predicted(X, wrap(self.threshold_)), X)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict; thresholds do not count."""
        check_is_fitted(self, "embedding_")
        return self._model.numbers

    @property
    def coef_(self) -> Array:
        """(n_features, n_labels) coefficients of the scores, multiplied out on request."""
        return unwrap(_linear(self).coefficients)

    @property
    def intercept_(self) -> Array:
        """(n_labels,) intercepts of the scores."""
        return unwrap(_linear(self).intercept)

    @property
    def _n_features_out(self) -> int:
        if self._model.row_map.as_kernel and self.embedding_.projection_ is None:
            return len(self.feature_map_.get_feature_names_out())
        return self.embedding_.n_feature_components_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns ``transform`` returns; the features' own where they are kept.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; by default those that ``fit`` saw.
        """
        check_is_fitted(self, "embedding_")
        self._model.require("transform")
        if self.embedding_.projection_ is None and not hasattr(self, "feature_map_"):
            return OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return super().get_feature_names_out(input_features)

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


def keep_embedding(
    classifier: CompactClassifier,
    labels: LabelSpace,
    embedding: Embedding,
    pair: Pair,
    result: Embedded,
) -> None:
    """Make the embedding the fitted one of a classifier that knows its features and labels."""
    if result.projection is not None:
        result = replace(result, projection=pair.expressed(result.projection))
    embedding.adopt(result, classes=labels.vector_classes, names=labels.names)
    embedding.n_features_in_ = pair.n_left
    names = getattr(classifier, "feature_names_in_", None)
    if names is not None and classifier.feature_map is None:
        embedding.feature_names_in_ = names


def install(
    classifier: CompactClassifier,
    labels: LabelSpace,
    training: Training,
    embedding: Embedding,
    regressor: Any,
    decided: FittedDecoder,
    *,
    back: float | Array = 1.0,
) -> None:
    """Make a classifier the fitted one of these parts."""
    row_map, decoding = training.row_map, decided.decoding
    assert decided.threshold is not None
    threshold = decided.threshold
    if library_of(embedding.offset_) is not None:
        like = wrap(embedding.offset_)
        embedding.place_ = place_of(like)
        if decoding is not None:
            moved = (decoding.coefficients, decoding.intercept)
            W, w = (unwrap(like.beside(array)) for array in moved)
            decoding = replace(decoding, coefficients=W, intercept=w)
        if isinstance(threshold, np.ndarray):
            threshold = unwrap(like.beside(threshold))
    model = FittedModel(
        row_map,
        embedding.n_features_in_,
        embedding.projection_,
        regressor,
        back,
        embedding.decoder_ if decoding is None else decoding.coefficients,
        embedding.offset_ if decoding is None else decoding.intercept,
        threshold,
        labels,
    )
    describe(classifier, labels)
    optional = {
        "feature_map_": row_map.feature_map,
        "scale_": unwrap(row_map.scale),
        "decoding_": decoding,
        "n_passes_": training.n_passes,
        "label_noise_": rates_of(training.correction),
    }
    for name, value in optional.items():
        classifier.__dict__.pop(name, None)
        if value is not None:
            setattr(classifier, name, value)
    classifier.embedding_, classifier.regressor_ = embedding, regressor
    classifier.threshold_ = model.labels.placed(model.threshold)[0]
    classifier._model, classifier._decoder = model, classifier.decoder
    classifier._sums = RunningSums(training.moments)


def _linear(classifier: CompactClassifier) -> LinearScorer:
    """What has coefficients of the features as they are."""
    check_is_fitted(classifier, "embedding_")
    scorer = classifier.parts_.linear
    if scorer is None or hasattr(classifier, "feature_map_"):
        raise AttributeError(
            "coef_ and intercept_ exist after a fit with the built-in ridge on the features "
            "as they are (regressor=None, feature_map=None)."
        )
    return scorer
