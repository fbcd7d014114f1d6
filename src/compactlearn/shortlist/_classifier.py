"""ShortlistClassifier: a compact model generates candidates, sparse classifiers re-rank them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._any_classifier import check_k, named_classes, named_topk, names_of
from compactlearn.compact._empty_rows import base_scores
from compactlearn.compact._inputs import check_training
from compactlearn.compact._label_output import DenseScores, RanksLabels, best_labels, describe
from compactlearn.core._chunked import is_dask, lazy_on_dask
from compactlearn.core._params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Methods,
    Nothing,
    Numbers,
    Real,
    Seed,
    SomeLabels,
    check_own_parameters,
)
from compactlearn.core._seeds import seeded
from compactlearn.core._threads import blas_threads, free_cores
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._picked import Pairs, Picked
from compactlearn.decoding._thresholds import STRATEGIES
from compactlearn.decoding._topk import top_labels
from compactlearn.scale.dask._sharing import gathered, share_out
from compactlearn.shortlist._estimates import announce_fit
from compactlearn.shortlist._fitting import all_label_scores, fit_stages, tuned_threshold
from compactlearn.shortlist._generation import GeneratorSettings, Sizes, usual_candidates
from compactlearn.shortlist._rows import ShortlistRows
from compactlearn.shortlist._sparse import kept_entries
from compactlearn.shortlist._stages import Stages

Array = NDArray[np.float64]


class ShortlistClassifier(RanksLabels, DenseScores):
    """Many labels and sparse features: a compact model retrieves, sparse classifiers decide.

    A row's labels are found in four stages:

    1. *candidate generation*: the best labels by a compact model, the retriever, and the labels of
       the most similar training rows;
    2. *candidate prior*: both sources become one log-odds, by a function of some dozens of
       coefficients that all labels share;
    3. *label re-ranking*: a logistic regression of each label, on the row's own features and on the
       prior probabilities of its likely labels, starts from the prior and corrects it;
    4. *co-occurrence re-ranking*: prior, margin, the label's frequency, the other candidates of the
       row, votes, the similarity to the label's centroid (the mean direction of its rows), and the
       evidence of single features (how much more frequent the label is among rows with one) become
       the final log-odds, by a small network that all labels share.

    The regressions are learnt from the rows whose candidate a label is. All that they start from is
    out-of-fold: retrievers are fitted to other rows, and no row is a neighbour of itself. They have
    weights only for features that occur in rows of their label, and most labels have few rows: the
    model is small.

    A row without any feature, such as a text without a known word, gets the frequencies of the
    labels as probabilities where ``fit`` had sparse rows.

    It is meant for texts and other sparse rows with hundreds of labels and more. Every label gets
    what its number of rows allows: a frequent one a classifier of its own, a rare one what
    its neighbours and the other candidates of the row contribute.

    Parameters
    ----------
    retriever : classifier with ``predict_topk`` or None, default=None
        None is ``CMLLClassifier`` on rows of unit length. It has codes, 128 at most and 64 from
        62,500 rows on, where rows times labels are more than 4,000,000, or where there are more
        than 2,500 rows and features and at most 128 labels. Clones are fitted to halves of the rows
        and to all of them.
    n_candidates : int or "auto", default="auto"
        Number of candidates of a row, half of them the retriever's. "auto" is 4,000,000 divided by
        the number of training rows, but 64 at least and 160 at most; or ten times the number of
        labels that a row has on average where that is more. It is never more than all labels.
    n_neighbors : int, default=50
        Similar rows that vote for their labels; with 0 the retriever alone names candidates.
    C : float or "auto", default="auto"
        The weight of the loss against the penalty of the logistic regressions, whose rows have unit
        length. "auto" is the largest of those tried (from 1/8 to 32) whose loss on held-out rows
        exceeds the smallest by one percent at most; where labels are many, some of them decide.
    unit_rows : bool, default=True
        Whether rows are divided by their lengths, as texts should be. Where lengths matter, pass
        False, and features of a common scale about 1; rows longer than 1e8 raise ValueError.
    label_weight : float in [0, 1], default=0.0
        How much more rare labels count: in the regression of a label of n < 100 rows the loss is
        multiplied by (100 / n) ** label_weight, at most by 10. 0.5 finds a few more of the rare
        labels. "auto" selects C without these weights, and held-out rows that calibrate the
        probabilities have none.
    threshold : float, array of shape (n_labels,), "auto", "f1", "per-label" or "cardinality", \
default="auto"
        A label is predicted where its probability is strictly above. A name is tuned on rows that
        the regressions had not seen: one threshold of largest micro-F1 ("auto" is the same),
        one of largest F1 for each label, or one that predicts as many labels as there are.
    smallest_weight : float, default=0.02
        Weights of this size or less are dropped.
    min_label_count : int, default=1
        Labels of fewer training rows are left out: they are never suggested, and their columns are
        not among ``classes_``. A row of weight 2 counts twice.
    exclude : str, int, list of these or None, default=None
        Labels to leave out likewise: by name, or by column where labels have no names.
    n_jobs : int or None, default=None
        Threads for the regressions; None is as many as there are free cores.
    random_state : int, RandomState, Generator or None, default=None
        Divides the rows into folds; handed also to a retriever that has none of its own.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    retriever_ : the fitted retriever
    n_candidates_ : int
    C_ : float
    base_scores_ : ndarray of shape (n_labels,) or None
        After a fit to sparse rows the log-odds of the labels' frequencies, which a row without any
        feature gets.
    threshold_ : float or ndarray, in the units of ``decision_function``
    stages_ : the fitted stages
        ``generator``, ``prior``, ``labels`` (label re-ranking), ``cooccurrence``, ``centroids``,
        ``evidence`` and ``final``.
    coef_ : csr_array of shape (n_labels, n_features + n_labels)
        Weights of the regressions: of the features, and of the likely labels.
    classes_ : ndarray; numbers of columns for a label matrix, names where labels had such
    n_labels_ : int
    excluded_labels_ : list
        Labels that ``min_label_count`` and ``exclude`` left out, by name or column.
    label_names_ : list of str, where Y was a frame (its columns) or lists of names (sorted)
    label_space_ : what is known of the labels: matrix or vector, classes, names
    boundary_ : float, taken off the scores of two classes, whose boundary is 0; else 0
    compression_ : dict, of what :meth:`compress` returns: the type, bytes before and after, scores
    nbytes_ : int
        Bytes of all arrays that the model is saved with, each counted once.
    n_parameters_ : int
        Number of parameters kept to predict; the training rows that may be neighbours count.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    ``decision_function`` and ``predict_proba`` return a sparse matrix that stores the candidates;
    other labels have no score. ``predict`` returns a sparse matrix where ``fit`` got one, or names.

    A vector y is binarised, and all its classes are candidates: scores are then dense.

    Labels that are not known, NaN in Y or marked by ``unknown``, have no part in the regressions,
    in the choice of C and in the threshold; neighbours vote on the labels that they know, and the
    retriever completes them as ``CompactClassifier`` does (docs/how-to/unknown-labels.md).

    See Also
    --------
    CMLLClassifier : the compact model alone, smaller and faster.

    Examples
    --------
    >>> from compactlearn import ShortlistClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> model = ShortlistClassifier(random_state=0).fit(data.X[:1000], data.Y[:1000])
    >>> labels, scores = model.predict_topk(data.X[1000:], k=3)
    >>> labels.shape
    (702, 3)
    """

    stages_: Stages

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "retriever": (Methods("fit", "predict_topk"), Nothing()),
        "n_candidates": (Integer(1), Choice("auto")),
        "n_neighbors": (Integer(0),),
        "C": (Real(0, open_low=True), Choice("auto")),
        "unit_rows": (Flag(),),
        "label_weight": (Real(0, 1),),
        "threshold": (Real(), Numbers(), Choice("auto", *STRATEGIES)),
        "smallest_weight": (Real(0),),
        "min_label_count": (Integer(1),),
        "exclude": (SomeLabels(), Nothing()),
        "n_jobs": (Integer(), Nothing()),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
    }

    def __init__(
        self,
        retriever: Any = None,
        *,
        n_candidates: int | str = "auto",
        n_neighbors: int = 50,
        C: float | str = "auto",
        unit_rows: bool = True,
        label_weight: float = 0.0,
        threshold: Any = "auto",
        smallest_weight: float = 0.02,
        min_label_count: int = 1,
        exclude: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.retriever = retriever
        self.n_candidates = n_candidates
        self.n_neighbors = n_neighbors
        self.C = C
        self.unit_rows = unit_rows
        self.label_weight = label_weight
        self.threshold = threshold
        self.smallest_weight = smallest_weight
        self.min_label_count = min_label_count
        self.exclude = exclude
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        sep: str | None = None,
        unknown: Any = None,
    ) -> Self:
        """Fit the retriever, and the regressions to its candidates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of a Dask collection the rows are gathered, since every row may be a neighbour of every
            other, and the labels are shared out: their regressions are solved by the workers.
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row. NaN in a matrix is a label that is not known: see the notes.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice; of weight 0, not at all. Rows with equal
            features and equal labels are one row of their weights' sum, and one neighbour.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known; for sparse labels, and in place of NaN.
        """
        self.fit_scored(X, y, sample_weight, sep=sep, unknown=unknown)
        return self

    def fit_scored(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        sep: str | None = None,
        unknown: Any = None,
    ) -> OutOfFoldScores:
        """Fit, and return the out-of-fold scores that the threshold is tuned on.

        They are by-products of the fit. Labels that are not among a row's candidates have scores
        below those that are.

        Parameters
        ----------
        X, y, sample_weight, sep, unknown : as in ``fit``
        """
        with unchanged_on_error(self), blas_threads():
            check_own_parameters(self)
            workers = None
            if is_dask(X):
                X, y, sample_weight, unknown = gathered(X, y, sample_weight, unknown)
                workers = share_out
            given = check_training(
                self, X, y, sample_weight, sep=sep, unknown=unknown, partial=True
            )
            targets, labels = given.targets, LabelSpace.of(given.targets)
            threshold = labels.given_threshold(self.threshold, "logistic")
            describe(self, labels, given.left_out)
            self._sparse_labels = scipy.sparse.issparse(y) or targets.by_name
            Y = scipy.sparse.csr_array(targets.matrix)
            data = ShortlistRows.merged(given.X, Y, given.weights, targets.unknown, given.rows)
            usual = usual_candidates(data.X.shape[0], labels.n_labels, data.n_present)
            asked = self.n_candidates if labels.kind == "multilabel" else labels.n_labels
            settings = GeneratorSettings(
                self.retriever,
                self.n_neighbors,
                self.unit_rows,
                Sizes.of(asked, self.n_neighbors, labels.n_labels, usual),
                free_cores() if self.n_jobs is None else effective_n_jobs(self.n_jobs),
            )
            announce_fit(data.X, data.Y, settings.sizes.n_candidates, self.verbose)
            stages, new = fit_stages(
                data,
                settings,
                C=None if self.C == "auto" else float(self.C),
                smallest_weight=self.smallest_weight,
                rng=seeded(self.random_state),
                verbose=self.verbose,
                share_out=workers,
                label_weight=float(self.label_weight),
            )
            final = new.candidates.matrix(stages.final.scores(new.inputs).astype(np.float64))
            if isinstance(self.threshold, str) and labels.kind == "multilabel":
                strategy = "f1" if self.threshold == "auto" else self.threshold
                weights = None if data.weights is None else data.weights[new.rows]
                hidden = None if data.unknown is None else data.unknown[new.rows]
                threshold = tuned_threshold(
                    strategy, final.tocsc(), data.Y[new.rows], weights, hidden
                )
            self.stages_, self.C_ = stages, stages.labels.C
            self.base_scores_ = base_scores(given.X, Y, given.weights, targets.unknown)
            self.n_candidates_ = settings.sizes.n_candidates
            self.threshold_, self.boundary_ = labels.placed(threshold)
            return all_label_scores(final, data, new.rows, stages.prior.frequency)

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "stages_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        for rows, dense in self.stages_.dense_blocks(X, self.base_scores_):
            yield rows, dense - self.boundary_ if self.boundary_ else dense

    def _scores_to_rank(self, X: Any) -> Array:
        """Return scores of all labels, in their order; (n,) of two classes."""
        return super().decision_function(X)

    @lazy_on_dask
    def decision_function(self, X: Any) -> Any:
        """Return the log-odds of the candidates as a sparse matrix (n_samples, n_labels).

        For a vector y they are dense, and of shape (n_samples,) for two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        if self.label_space_.kind == "multilabel":
            return self.stages_.scores(X, self.base_scores_)
        scores = self._scores(X)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    @lazy_on_dask
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the candidates as a sparse matrix (n_samples, n_labels).

        For a vector y they are dense, one column for each class, and sum to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        if self.label_space_.kind == "multilabel":
            matrix = self.stages_.scores(X, self.base_scores_)
            matrix.data = expit(matrix.data)
            return matrix
        scores = self._scores(X) + self.boundary_
        if self.label_space_.kind == "binary":
            return expit(np.hstack([-scores, scores]))
        return softmax(log_expit(scores), axis=1)

    # As in the base class, from the scores of candidates alone.

    @lazy_on_dask
    def predict_topk(self, X: Any, k: int, *, sparse: bool = False, names: bool = False) -> Any:
        return named_topk(self, self._topk(self._prepare(X), k), sparse=sparse, names=names)

    def predict_labels(self, X: Any, k: int | None = None) -> Pairs:
        X = self._prepare(X)
        if self.label_space_.kind != "multilabel":
            return named_classes(self, X, k)
        if k is not None:
            check_k(k, self.n_labels_, "predict_labels")
            picked = Picked.best(*self._topk(X, k))
        else:
            matrix = _above(self.stages_.scores(X, self.base_scores_), self.threshold_)
            row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
            picked = Picked.ordered(row, matrix.indices, matrix.data, matrix.shape[0])
        return picked.named(names_of(self), expit(picked.scores))

    def _topk(self, X: Any, k: int) -> tuple[NDArray[np.intp], Array]:
        """Return labels and scores of checked rows, both of shape (n_rows, k)."""
        generator = self.stages_.generator
        few = Integer(1, generator.sizes.retrieved).accepts(k) and generator.retriever is not None
        if self.label_space_.kind == "binary" or not few:
            return best_labels(self.label_space_, self._score_blocks(X), X, k)
        candidates, found = self.stages_.ranked(X, self.base_scores_)
        starts, counts = candidates.starts, np.diff(candidates.starts)
        row = np.repeat(np.arange(counts.size), counts)
        place = np.arange(row.size) - np.repeat(starts[:-1], counts)
        scores = np.full((counts.size, counts.max(initial=k)), -np.inf)
        scores[row, place] = found
        labels = np.zeros(scores.shape, dtype=np.intp)
        labels[row, place] = candidates.labels
        places, best = top_labels(scores, k)
        return np.take_along_axis(labels, places, axis=1), best

    @lazy_on_dask
    def predict(self, X: Any) -> Any:
        """Return 0/1 labels (n_samples, n_labels), sparse if ``fit`` got such or names; or classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        if self.label_space_.kind != "multilabel":
            return super().predict(X)
        labels = _above(self.stages_.scores(X, self.base_scores_), self.threshold_)
        labels.data = np.ones(labels.data.size, dtype=self.label_space_.dtype)
        return labels if self._sparse_labels else labels.toarray()

    @property
    def retriever_(self) -> Any:
        """The fitted retriever; None for a single label."""
        return self.stages_.generator.retriever

    @property
    def coef_(self) -> scipy.sparse.csr_array:
        """Weights of the regressions, one row for each label."""
        check_is_fitted(self, "stages_")
        return self.stages_.labels.columns.T.tocsr()

    @property
    def n_parameters_(self) -> int:
        """Number of parameters that predicting needs."""
        check_is_fitted(self, "stages_")
        return self.stages_.n_parameters


def _above(matrix: scipy.sparse.csr_array, threshold: Any) -> scipy.sparse.csr_array:
    """Return the scores of candidates above the threshold of their label."""
    thresholds = np.broadcast_to(threshold, matrix.shape[1:])
    return kept_entries(matrix, matrix.data > thresholds[matrix.indices])
