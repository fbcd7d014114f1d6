"""CompactClassifier: an embedding, a learner in the small space, a decoder, a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.core.available import available_if
from compactlearn.core.params import (
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
    check_parameters,
)
from compactlearn.core.progress import announce
from compactlearn.core.threads import blas_threads
from compactlearn.core.validation import (
    Targets,
    check_features,
    check_mapped,
    check_targets,
    check_weights,
    labels_given,
    unchanged_on_error,
)
from compactlearn.core.warn import warn_user
from compactlearn.core.weight import numbers_in, owned
from compactlearn.decoding.linear import LinearScorer, linear_numbers
from compactlearn.decoding.thresholds import STRATEGIES
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.embeddings.cmll import CMLL
from compactlearn.estimators.decisions import LearnsDecisions
from compactlearn.estimators.held import Held, require_room_for_kernel
from compactlearn.estimators.honest import N_FOLDS
from compactlearn.estimators.inputs import (
    check_folds,
    check_groups,
    inverse_deviations,
    without_zero_weights,
)
from compactlearn.estimators.kernel_map import KernelMap
from compactlearn.estimators.label_output import RanksLabels
from compactlearn.estimators.learner import CodeRidge, predict_foreign
from compactlearn.estimators.sizes import mapped_numbers
from compactlearn.linalg.arrays import scale_columns, working_form
from compactlearn.linalg.build import build_pair, require_room_for_moments
from compactlearn.linalg.kernel_pair import KernelPair
from compactlearn.linalg.learner import learn
from compactlearn.linalg.moments import Moments, column_moments
from compactlearn.linalg.moments_pair import MomentsPair
from compactlearn.linalg.pairs import Pair
from compactlearn.linalg.regimes import (
    Shape,
    kernel_refit_bytes,
    kernel_seconds,
    refit_bytes,
    seconds,
)
from compactlearn.linalg.ridge import BIASES, Learned

Array = NDArray[np.float64]

_MAPPED_ENTRIES = 1 << 23  # 64 MB of kernel rows at a time


def _fits_in_parts(classifier: CompactClassifier) -> bool:
    if classifier.decoder == "learned":
        raise AttributeError(
            "partial_fit keeps the moments of all rows together, and decoder='learned' needs "
            "those of each fold; gather them apart and pass them to fit_moments as a list, or use "
            "fit."
        )
    return _fits_from_moments(classifier)


def _fits_from_moments(classifier: CompactClassifier) -> bool:
    tunes = isinstance(classifier.threshold, str) and classifier.threshold != "auto"
    if classifier.decoder == "logistic" or tunes:
        raise AttributeError(
            f"Fitting from moments needs decoder='linear' or 'learned' and a threshold in "
            f"numbers, and decoder={classifier.decoder!r} and threshold={classifier.threshold!r} "
            "were given: these are learnt from the scores of rows, for which one more pass over "
            "the rows is needed; use fit."
        )
    for name in ("regressor", "feature_map"):
        if getattr(classifier, name) is not None:
            raise AttributeError(
                f"Fitting from moments needs the built-in ridge on the features as they are, and "
                f"{name}={getattr(classifier, name)!r} was given; set {name}=None or use fit."
            )
    return True


def _gives_probabilities(classifier: CompactClassifier) -> bool:
    fitted = hasattr(classifier, "embedding_")
    decoder = classifier._decoder if fitted else classifier.decoder  # it may have changed since
    if decoder != "logistic":
        again = " and fit again" if fitted else ""
        raise AttributeError(
            f"Probabilities need decoder='logistic', and it is {decoder!r}; set it{again}, or use "
            "decision_function."
        )
    return True


class CompactClassifier(
    RanksLabels,
    LearnsDecisions,
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
        regressor is cloned and fitted to XP and the codes, scaled to unit mean square (times
        sqrt(N) where they are orthonormal); one that takes a single target is wrapped in
        ``MultiOutputRegressor``.
    alpha : float, default=1.0
        Penalty of the built-in ridge; ignored with a ``regressor``. It is in the squared units
        of X: features multiplied by c ask for c² times the penalty (``scale=True`` sees to that).
    bias : {"free", "none", "penalised", "target"}, default="free"
        How the built-in ridge treats the intercept: not penalised; left out; a column of ones,
        penalised like the others; or left out after the codes' mean has been taken off, which is
        added back. The paper does not say; public programs differ.
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
        That takes five refits. "auto" is "f1" from as many of these as score 2000 rows (one refit
        from 10,000 rows on), and 0.5 where there are no rows to score (``partial_fit``,
        ``fit_moments``, ``fit_path``), for a foreign regressor, whose refits may be dear, and for a
        vector y.
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
    decoding_ : CodeDecoder, where ``decoder`` is learnt: coefficients, intercept, penalty
    classes_ : ndarray; ``arange(n_labels)`` for a label matrix
    n_labels_ : int
    label_names_ : list of str, where Y was a frame
    coef_, intercept_ : computed on request, for the built-in ridge
    nbytes_ : int
        Bytes of all arrays that the model is saved with, each counted once.
    numbers_ : int
        How many numbers must be kept to predict: with the built-in ridge those of the cheapest
        order of products, see :func:`compactlearn.decoding.linear.linear_numbers`; the landmarks
        of a kernel, and all that foreign parts hold, are added.
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
        "alpha": (Real(0),),
        "bias": (Choice(*BIASES),),
        "decoder": (Choice("linear", "learned", "logistic"),),
        "threshold": (Real(), Numbers(), Choice("auto", *STRATEGIES)),
        "n_jobs": (Integer(), Nothing()),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
    }

    def __init__(
        self,
        embedding: Embedding | None = None,
        *,
        feature_map: Any = None,
        scale: bool = False,
        regressor: Any = None,
        alpha: float = 1.0,
        bias: str = "free",
        decoder: str = "linear",
        threshold: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.feature_map = feature_map
        self.scale = scale
        self.regressor = regressor
        self.alpha = alpha
        self.bias = bias
        self.decoder = decoder
        self.threshold = threshold
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
        Y: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit embedding, learner and decoder.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like or sparse matrix of shape (n_samples, n_labels), or (n_samples,)
            Labels, 0 or 1; a vector is read as one class per row. ``Y`` is the same by keyword.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice; of weight 0, not at all.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together are held out together where decoder or threshold are learnt.
            Without groups, equal rows are.
        """
        with unchanged_on_error(self), blas_threads():
            embedding = self._checked_embedding()
            held = self._hold(embedding, X, labels_given(y, Y), sample_weight, groups)
            self._learn(embedding, held, embedding._solve(held.pair))
        return self

    def _hold(
        self, embedding: Embedding, X: Any, y: Any, sample_weight: Any, groups: Any = None
    ) -> Held:
        """Check the data, map and scale them, and hold them in the regime that suits."""
        X = check_features(self, X, reset=True)
        owner = f"{type(self).__name__}.fit"
        targets = check_targets(y, X.shape[0], owner=owner, features=X)
        weights = check_weights(sample_weight, X.shape[0])
        groups = check_groups(groups, X.shape[0], weights)
        X, targets, weights = without_zero_weights(X, targets, weights)
        self._describe(targets)
        self._take_threshold()
        for name in ("feature_map_", "scale_"):
            self.__dict__.pop(name, None)
        self._moments, self._in_parts = None, False
        Y, given, given_features = targets.matrix, X, X.shape[1]
        self._kernel_rows = self._goes_through_kernel(embedding, X.shape, Y.shape[1])
        if self._kernel_rows:
            plan = embedding._plan(X.shape[0], Y.shape[1], given_features)
            require_room_for_kernel(X.shape[0], plan)
            demand = plan.demand(learns=True)
            takes = kernel_seconds(X.shape[0], demand)
            announce(f"{type(self).__name__}: the embedding", takes, self.verbose)
            self.feature_map_ = self._fresh_map().fit_rows(X, weights)
            kernel = self.feature_map_.gram()
            pair: Pair = KernelPair(kernel, Y, weights, given_left=given_features)
            refit = kernel_refit_bytes(X.shape[0], demand, N_FOLDS)
            return Held(pair, None, weights, given=given, groups=groups, seconds=takes, refit=refit)
        if self.feature_map is not None:
            mapping = self._fresh_map()
            fitted = mapping._fit(X, weights) if isinstance(mapping, KernelMap) else mapping.fit(X)
            self.feature_map_ = fitted
            X = check_mapped(self.feature_map_.transform(X), self.feature_map_)
        if not isinstance(self.feature_map, KernelMap):
            given_features = X.shape[1]
        plan = embedding._plan(X.shape[1], Y.shape[1], given_features)
        features = X
        X = working_form(X)
        if self.scale:
            factors = inverse_deviations(*column_moments(X, weights))
            X, features = scale_columns(X, factors), scale_columns(features, factors)
            self.scale_ = 1.0 / factors
        demand = plan.demand(learns=self.regressor is None)
        shape = Shape.of(X, Y)
        estimates = seconds(shape, demand)
        takes = estimates.get(plan.regime, min(estimates.values()))
        announce(f"{type(self).__name__}: the embedding", takes, self.verbose)
        pair = build_pair(
            X, Y, weights, demand=demand, regime=plan.regime, given_left=given_features
        )
        if isinstance(pair, MomentsPair) and self.feature_map is None and self.regressor is None:
            self._moments = pair.moments.rescaled(self.scale_) if self.scale else pair.moments
        refit = refit_bytes(shape, demand, pair.regime, N_FOLDS)
        return Held(pair, features, weights, (X, Y), given, groups, seconds=takes, refit=refit)

    @available_if(_fits_in_parts)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        Y: Any = None,
    ) -> Self:
        """Add rows and solve again; exactly what one ``fit`` on all the rows so far gives.

        Rows are kept only as their moments, so memory does not grow with their number. For the
        built-in ridge and the linear decoder. After ``fit`` it goes on only if that fit ran
        from moments, and in the process that fitted: a pickle has the moments of a model that was
        learnt by ``partial_fit`` and of no other.

        Parameters
        ----------
        X, y, Y, sample_weight : as in ``fit``
        classes : array-like, optional
            For a vector y: all the classes that will ever appear, at the first call.
        """
        with unchanged_on_error(self), blas_threads():
            embedding = self._checked_embedding()
            first = not hasattr(self, "embedding_")
            if not first and self._moments is None and "moments" in self.embedding_.solver_:
                raise ValueError(
                    "partial_fit goes on from the sums of all rows so far, and this model has "
                    "none: being larger than the model, they are saved only with one that was "
                    "learnt by partial_fit; start with partial_fit on a new estimator, or add up "
                    "Moments and call fit_moments."
                )
            if not first and self._moments is None:
                way = "fit with solver='moments', or " if hasattr(embedding, "solver") else ""
                raise ValueError(
                    f"partial_fit can go on only from a fit that ran from moments, and the last "
                    f"one took the route {self.embedding_.solver_!r}; {way}start with partial_fit "
                    "on a new estimator."
                )
            X = check_features(self, X, reset=first)
            known = classes if first or self._kind == "multilabel" else self.classes_
            targets = check_targets(
                labels_given(y, Y), X.shape[0], classes=known, owner="partial_fit", features=X
            )
            if not first and (targets.kind, targets.n_labels) != (self._kind, self.n_labels_):
                raise ValueError(
                    f"partial_fit began with {self.n_labels_} {self._kind} labels, and was now "
                    f"given {targets.n_labels} {targets.kind} labels; pass the same columns, or "
                    "call fit to start again."
                )
            known_names = None if first else getattr(self, "label_names_", None)
            if known_names and targets.names and known_names != targets.names:
                raise ValueError(
                    f"partial_fit began with the labels {known_names}, and was now given "
                    f"{targets.names}; pass the same columns in the same order, for example "
                    "Y[model.label_names_]."
                )
            weights = check_weights(sample_weight, X.shape[0])
            X, targets, weights = without_zero_weights(X, targets, weights)
            require_room_for_moments(X.shape[1], targets.n_labels)
            moments = Moments.from_arrays(working_form(X), targets.matrix, weights)
            if first or self._moments is None:
                self._describe(targets)
            else:
                moments = self._moments + moments
            tuned = None if first else self.threshold_
            self._take_threshold()
            if tuned is not None and self.threshold == "auto" and self._kind == "multilabel":
                self._set_threshold(tuned)  # by the fit before, on rows that are gone
            self._fit_from_moments(embedding, moments)
            self._in_parts = True
        return self

    @available_if(_fits_from_moments)
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
            embedding = self._checked_embedding()
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
            nothing = scipy.sparse.csr_array((0, moments.n_right))
            labels = np.arange(moments.n_right)
            self._describe(Targets(nothing, labels, "multilabel", None, np.dtype(np.int64)))
            self._take_threshold()
            self._fit_from_moments(embedding, moments, folds)
        return self

    def _checked_embedding(self) -> Embedding:
        """Check the parameters; return an unfitted clone of the embedding."""
        check_parameters(self, self._constraints)
        embedding = self._make_embedding()
        check_parameters(embedding, embedding._constraints)
        return embedding

    def _make_embedding(self) -> Embedding:
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
        if embedding.get_params().get("ridge") == "shared":
            embedding.set_params(ridge=self.alpha)
        return embedding

    def _take_threshold(self) -> None:
        """Check the threshold against the labels and keep it in the units of the scores."""
        if isinstance(self.threshold, str) and self.threshold != "auto":
            self._set_threshold(0.0)  # tuned once there are scores
            return
        # What "auto" is where nothing can be tuned.
        given = 0.5 if isinstance(self.threshold, str) else self.threshold
        threshold = np.asarray(self._checked_threshold(given))
        if self.decoder == "logistic":
            if not ((threshold > 0) & (threshold < 1)).all():
                raise ValueError(
                    f"With decoder='logistic' a threshold is a probability between 0 and 1, and "
                    f"{self.threshold!r} was given; pass such a number, for example 0.5."
                )
            threshold = np.log(threshold) - np.log1p(-threshold)
        elif ((threshold < 0) | (threshold > 1)).any():
            warn_user(
                f"Scores of labels lie about 0 and 1, where a threshold parts them, and threshold="
                f"{self.threshold!r} was given: nothing may be predicted, or everything; pass a "
                "number between 0 and 1, or 'f1' to have it tuned."
            )
        self._set_threshold(threshold if threshold.ndim else float(threshold))

    def _set_threshold(self, threshold: float | Array) -> None:
        # Two classes have 0 as their boundary, as everywhere in scikit-learn: the threshold is
        # taken off the scores instead.
        binary = self._kind == "binary"
        self._boundary = float(np.ravel(threshold)[0]) if binary else 0.0
        self.threshold_ = 0.0 if binary else threshold

    def _fresh_map(self) -> Any:
        mapping = clone(self.feature_map)
        seeds = getattr(mapping, "get_params", dict)()
        if self.random_state is not None and seeds.get("random_state", "") is None:
            mapping.set_params(random_state=self.random_state)
        return mapping

    def _goes_through_kernel(
        self, embedding: Embedding, shape: tuple[int, int], n_labels: int
    ) -> bool:
        """Whether an exact kernel is used as such, instead of features that factor it."""
        kernel = self.feature_map
        if not isinstance(kernel, KernelMap) or self.scale:
            return False
        if kernel.method != "exact" or kernel.n_components is not None:
            return False
        plan = embedding._plan(shape[0], n_labels, shape[1])
        return self.regressor is None or not plan.keeps_features

    def _hold_moments(self, moments: Moments, folds: tuple[Moments, ...] = ()) -> Held:
        """Moments in place of data, and those of each fold, scaled if asked for."""
        self._moments, self._in_parts = moments, False
        self._kernel_rows = False
        self.__dict__.pop("scale_", None)
        self.__dict__.pop("feature_map_", None)
        if self.scale:
            variances = np.diag(moments.left_left) / moments.count
            factors = inverse_deviations(moments.mean_left, variances, moments.count)
            self.scale_ = 1.0 / factors
            moments = moments.rescaled(factors)
            folds = tuple(fold.rescaled(factors) for fold in folds)
        return Held(MomentsPair(moments), None, None, folds=folds)

    def _fit_from_moments(
        self, embedding: Embedding, moments: Moments, folds: tuple[Moments, ...] = ()
    ) -> None:
        held = self._hold_moments(moments, folds)
        self._learn(embedding, held, embedding._solve(held.pair))

    def _as_held(self, X: Any) -> Any:
        """Checked rows as the pair of blocks knows them: mapped and scaled."""
        if self._kernel_rows:
            return self.feature_map_.rows(X)
        if hasattr(self, "feature_map_"):
            X = check_mapped(self.feature_map_.transform(X), self.feature_map_)
        return scale_columns(X, 1.0 / self.scale_) if hasattr(self, "scale_") else X

    def _learn(self, embedding: Embedding, held: Held, result: Embedded) -> None:
        """Fit the learner from projected features to codes, the decoder, and keep everything."""
        P, codes = result.projection, result.codes
        self.__dict__.pop("decoding_", None)
        if self.regressor is None or codes.size == 0:
            learned = learn(held.pair, P, codes, float(self.alpha), self.bias)
            self._keep_ridge(embedding, held.pair, result, learned)
        else:
            pair = held.with_rows()
            self._scorer = None
            U = held.features if P is None else pair.projected_rows(P)
            self.regressor_, self._code_scale = self._fit_foreign(pair, U, codes)
            self._keep_embedding(embedding, pair, result)
        if self.decoder == "linear":  # scores are all that will be asked of refits
            result = replace(result, codes=result.codes.without_products())
        del P, codes
        self._learn_decisions(held, result)

    def _keep_embedding(self, embedding: Embedding, pair: Pair, result: Embedded) -> None:
        if result.projection is not None:
            result = replace(result, projection=pair.expressed(result.projection))
        embedding._keep(result)
        embedding._classes = None if self._kind == "multilabel" else self.classes_
        embedding.n_features_in_ = pair.n_left
        names = getattr(self, "feature_names_in_", None)
        if names is not None and self.feature_map is None:
            embedding.feature_names_in_ = names
        self.embedding_, self._decoder = embedding, self.decoder

    def _keep_ridge(
        self, embedding: Embedding, pair: Pair, result: Embedded, learned: Learned
    ) -> None:
        """Keep projection, ridge and decoder, and score by them."""
        if not learned.solved:
            warn_user(
                "The conjugate gradients of the ridge learner stopped before their residual was "
                "small; raise alpha, project the features, or scale them.",
                ConvergenceWarning,
            )
        B, intercept = owned(learned.coefficients), owned(learned.intercept)
        self.regressor_ = CodeRidge(B.T, intercept, float(self.alpha))
        self._code_scale = 1.0
        self._keep_embedding(embedding, pair, result)
        self._rescore()

    def _rescore(self) -> None:
        """Score by what was learnt, which the scorer refers to; a foreign learner has none."""
        self._scorer = None
        if isinstance(self.regressor_, CodeRidge):
            W = self._decoder_matrix()
            decoder = None if scipy.sparse.issparse(W) else W  # labels are their own codes
            steps = (self.embedding_.projection_, self.regressor_.coef_.T, decoder)
            kept = tuple(step for step in steps if step is not None)
            self._scorer = LinearScorer(kept, self._offset(), getattr(self, "scale_", None))

    def _offset(self) -> Array:
        """What is added to every row's scores: the decoder's, the ridge's, less the boundary."""
        decoding = getattr(self, "decoding_", None)
        offset = self.embedding_.offset_ if decoding is None else decoding.intercept
        if isinstance(self.regressor_, CodeRidge):
            offset = offset + self.regressor_.intercept_ @ self._decoder_matrix()
        return offset - self._boundary

    # ---- what is kept -------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        state = dict(state)
        state.pop("_scorer", None)
        if not state.get("_in_parts", True):
            state["_moments"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "embedding_" in state:
            self._rescore()

    # A copy in memory has everything; without these it would be made by way of the saved state.

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = other = type(self).__new__(type(self))
        vars(other).update(deepcopy(vars(self), memo))
        return other

    @property
    def numbers_(self) -> int:
        """How many numbers must be kept to predict; thresholds do not count."""
        check_is_fitted(self, "embedding_")
        embedding, n_labels = self.embedding_, self.n_labels_
        P, m = embedding.projection_, embedding.n_label_components_
        d = None if P is None else P.shape[1]
        inputs, kept = self.n_features_in_, 0
        if hasattr(self, "feature_map_"):
            inputs, kept = mapped_numbers(self.feature_map_, embedding.n_features_in_)
        if isinstance(self.regressor_, CodeRidge):
            return kept + linear_numbers(inputs, n_labels, d, m)
        before = inputs * embedding.n_features_in_ if kept and d is None else inputs * (d or 0)
        after = self._decoder_matrix().size + n_labels
        return kept + before + numbers_in(self.regressor_) + after

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "embedding_")
        return check_features(self, X, reset=False)

    def _mapped_blocks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """X as the embedding knows it: mapped, some rows at a time where a kernel widens them."""
        if not hasattr(self, "feature_map_"):
            yield slice(0, X.shape[0]), X
        elif not isinstance(self.feature_map_, KernelMap):
            mapped = self.feature_map_.transform(X)
            yield slice(0, X.shape[0]), check_mapped(mapped, self.feature_map_)
        else:
            mapping = self.feature_map_.rows if self._kernel_rows else self.feature_map_.transform
            step = max(64, _MAPPED_ENTRIES // self.embedding_.n_features_in_)
            for start in range(0, X.shape[0], step):
                rows = slice(start, min(start + step, X.shape[0]))
                yield rows, mapping(X[rows])

    def _over_blocks(self, X: Any, function: Callable[[Any], Any]) -> Any:
        """``function`` of the mapped rows, put together again."""
        parts = [function(block) for _, block in self._mapped_blocks(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _project(self, X: Any) -> Any:
        if hasattr(self, "scale_"):
            X = scale_columns(X, 1.0 / self.scale_)
        P = self.embedding_.projection_
        return X if P is None else X @ P

    def _codes(self, X: Any) -> Array:
        U = self._project(X)
        if isinstance(self.regressor_, CodeRidge):
            return self.regressor_.predict(U)
        codes = predict_foreign(self.regressor_, U, self.embedding_.n_label_components_)
        return codes / self._code_scale

    def _scores(self, X: Any) -> Array:
        """(N, M) scores; the boundary of a binary problem is at 0."""
        if self._scorer is not None:
            return self._scorer.scores(X)
        return LinearScorer((self._decoder_matrix(),), self._offset()).scores(self._codes(X))

    def _decoder_matrix(self) -> Any:
        """(m, M), what codes are multiplied by."""
        decoding = getattr(self, "decoding_", None)
        return self.embedding_.decoder_ if decoding is None else decoding.coefficients

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """The scores a few rows at a time."""
        for rows, block in self._mapped_blocks(X):
            if self._scorer is None:  # a foreign learner predicts all codes, decoded in portions
                codes = self._codes(block)
                decoder = LinearScorer((self._decoder_matrix(),), self._offset())
                parts = decoder.blocks(codes)
            else:
                parts = self._scorer.blocks(block)
            for inner, scores in parts:
                yield slice(rows.start + inner.start, rows.start + inner.stop), scores

    def transform(self, X: Any) -> Any:
        """Return the projected features XP; where features are kept, X, mapped and scaled."""
        X = self._prepare(X)
        if self._kernel_rows and self.embedding_.projection_ is None:
            return self.feature_map_.transform(X)  # features that factor the kernel
        return self._over_blocks(X, self._project)

    def predict_codes(self, X: Any) -> Array:
        """Return predicted codes of shape (n_samples, n_label_components), in ``codes_`` units."""
        return self._over_blocks(self._prepare(X), self._codes)

    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n_samples, n_labels); (n_samples,) for two classes."""
        scores = self._over_blocks(self._prepare(X), self._scores)
        return scores[:, 0] if self._kind == "binary" else scores

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels); for a vector y, of its classes."""
        scores = self._over_blocks(self._prepare(X), self._scores)
        p = 0.5 * (1.0 + np.tanh(0.5 * (scores + self._boundary)))
        if self._kind == "binary":
            return np.hstack([1.0 - p, p])
        if self._kind == "multiclass":
            p = np.maximum(p, np.finfo(np.float64).tiny)
            p /= p.sum(axis=1, keepdims=True)
        return p

    def predict(self, X: Any) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_samples, n_labels), or classes for a vector y."""
        X = self._prepare(X)
        if self._kind == "binary":
            positive = self._over_blocks(X, self._scores)[:, 0] > 0
            return self.classes_[positive.astype(np.intp)]
        if self._kind == "multiclass":
            return self.classes_[np.argmax(self._over_blocks(X, self._scores), axis=1)]
        labels = np.empty((X.shape[0], self.n_labels_), dtype=self._dtype)
        for rows, scores in self._score_blocks(X):
            labels[rows] = scores > self.threshold_
        return labels

    @property
    def _n_features_out(self) -> int:
        if self._kernel_rows and self.embedding_.projection_ is None:
            return self.feature_map_._n_features_out
        return self.embedding_.n_feature_components_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns ``transform`` returns; the features' own where they are kept."""
        check_is_fitted(self, "embedding_")
        if self.embedding_.projection_ is None and not hasattr(self, "feature_map_"):
            return OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return super().get_feature_names_out(input_features)

    @property
    def coef_(self) -> Array:
        """(n_features, n_labels) coefficients of the scores, multiplied out on request."""
        return self._linear().coefficients

    @property
    def intercept_(self) -> Array:
        """(n_labels,) intercepts of the scores."""
        return self._linear().intercept

    def _linear(self) -> LinearScorer:
        check_is_fitted(self, "embedding_")
        scorer = self._scorer
        if scorer is None or hasattr(self, "feature_map_"):
            raise AttributeError(
                "coef_ and intercept_ exist after a fit with the built-in ridge on the features "
                "as they are (regressor=None, feature_map=None)."
            )
        return scorer

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        return tags
