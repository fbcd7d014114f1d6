"""ShortlistClassifier: a compact model names candidates, sparse classifiers rank them again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, gen_batches
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._empty_rows import HasBaseScores, base_scores, with_base_candidates
from compactlearn.compact._inputs import check_training
from compactlearn.compact._label_output import LabelSpace, RanksLabels, describe
from compactlearn.compact._model_size import numbers_of
from compactlearn.compact._unit_rows import UnitRows, require_single_precision
from compactlearn.core._chunked import is_dask
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
from compactlearn.core._progress import track
from compactlearn.core._seeds import seeded
from compactlearn.core._threads import blas_threads, free_cores
from compactlearn.core._unknown_labels import known_somewhere
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.crossfit._decoder_fitter import HonestScores, given_threshold
from compactlearn.crossfit._row_folds import numbered
from compactlearn.crossfit._scores import row_groups
from compactlearn.decoding._held_out import known_alone
from compactlearn.decoding._picked import Picked
from compactlearn.decoding._thresholds import STRATEGIES, tune
from compactlearn.decoding._topk import top_labels
from compactlearn.inspection._explain import inside_of
from compactlearn.inspection._shortlist import Looked, ShortlistInside
from compactlearn.linalg._many_logistic import Problems, ShareOut, Weights, margins_of, solve_many
from compactlearn.linalg._unseen_features import drop_confined_features, drop_unseen_features
from compactlearn.metrics._checks import row_blocks
from compactlearn.scale.dask._predicting import lazy_on_dask
from compactlearn.scale.dask._sharing import gathered, share_out
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._cooccurrence_reranking import Company, ThirdLook
from compactlearn.shortlist._known import expected_counts
from compactlearn.shortlist._label_reranking import SecondLook, problems_of, with_likely_labels
from compactlearn.shortlist._neighbours import Neighbours
from compactlearn.shortlist._prior import FirstLook

Array = NDArray[np.float64]
Rows = NDArray[np.integer[Any]]

# All labels are candidates as long as rows times labels are no more than these pairs; beyond that
# a row has at least so many candidates, or so many for each label that a row has on average.
_PAIRS = 4_000_000
_CANDIDATES = 64
_PER_PRESENT_LABEL = 10
# The retriever compresses where rows times labels are more than these numbers; then it has as many
# codes as make so many numbers for all training rows, within bounds.
_CODES = 4_000_000
_FEWEST_CODES, _MOST_CODES = 64, 500
_RETRIEVER_FOLDS = 2
# Rows whose scores show how margins are to be read and where the threshold lies: so many, from one
# fold where a fifth of the rows are enough.
_HELD_ROWS = 3_000
_LARGEST_FOLD, _SMALLEST_FOLD = 0.2, 0.05
_FEWEST_ROWS = 4
_FEWEST_OUTSIDE = 5  # rows outside the fold that a label needs to be learnt from all rows
_CS = (0.25, 1.0, 4.0, 16.0)
_BLOCK_ROWS = 1024  # scored at a time
_JUDGING_PAIRS = 200_000  # of the labels that choose the penalty


class ShortlistClassifier(HasBaseScores, RanksLabels, ClassifierMixin, BaseEstimator):
    """Many labels and sparse features: a compact model retrieves, sparse classifiers decide.

    A row's labels are found in four steps:

    1. *candidates*: the best labels by a compact model, the retriever, and the labels of the most
       similar training rows;
    2. *first look*: what both say of a candidate becomes one log-odds, by a function of a dozen
       numbers that is common to all labels;
    3. *second look*: a logistic regression of the label, on the row's own features and on the
       probabilities of its likely labels, starts from the first look and corrects it;
    4. *third look*: both looks, the label's frequency, and what the other candidates of the row say
       of this one become the final log-odds, by a function that is common to all labels.

    The regressions are learnt from the rows whose candidate a label is, so that a label meets those
    rows that might be taken for its own, and no others. All that they start from is honest:
    retrievers are fitted to other rows, and no row is a neighbour of itself. They have weights only
    for what occurs in rows of their label, and most labels have few rows: the model is small.

    A row without any feature, such as a text without a known word, gets the frequencies of the
    labels as probabilities where ``fit`` had sparse rows.

    It is meant for texts and other sparse rows with hundreds of labels and more. Every label gets
    what its number of rows allows: a frequent one a classifier of its own, a rare one what
    its neighbours and its place among the other labels say.

    Parameters
    ----------
    retriever : classifier with ``predict_topk`` or None, default=None
        None is ``CMLLClassifier`` on rows of unit length. It compresses where rows times labels are
        more than 4,000,000, to 500 codes at most and to 64 from 62,500 rows on. Clones are fitted
        to halves of the rows and to all of them.
    n_candidates : int or "auto", default="auto"
        How many labels of a row are looked at, half of them the retriever's. "auto" is all of
        them up to 4,000,000 pairs of a training row and a label; beyond that 64, or ten times
        the number of labels that a row has on average where that is more.
    n_neighbors : int, default=50
        Similar rows that vote for their labels; with 0 the retriever alone names candidates.
    C : float or "auto", default="auto"
        The weight of the loss against the penalty of the logistic regressions, whose rows have unit
        length. "auto" is the one of 1/8, 1/4, ..., 32 that explains rows best which were new to
        everything; some of the labels decide, where there are many.
    unit_rows : bool, default=True
        Whether rows are divided by their lengths, as texts should be. Where lengths matter, pass
        False, and features of a common scale about 1; rows longer than 1e8 raise ValueError.
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
    coef_ : csr_array of shape (n_labels, n_features + n_labels)
        Weights of the regressions: of the features, and of the labels that the first look takes
        for likely.
    classes_ : ndarray; numbers of columns for a label matrix, names where labels had such
    n_labels_ : int
    excluded_labels_ : list
        Labels that ``min_label_count`` and ``exclude`` left out, by name or column.
    label_names_ : list of str, where Y was a frame (its columns) or held names (sorted)
    compression_ : dict, of what :meth:`compress` returns: the type, bytes before and after, scores
    nbytes_ : int
        Bytes of all arrays that the model is saved with, each counted once.
    numbers_ : int
        How many numbers must be kept to predict; the training rows that may be neighbours count.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    ``decision_function`` and ``predict_proba`` return a sparse matrix that stores the candidates;
    other labels have no score. ``predict`` returns a sparse matrix where ``fit`` got one, or names.

    A vector y is binarised, and all its classes are candidates: scores are then dense.

    Labels that are not known, NaN in Y or marked by ``unknown``, have no part in the regressions,
    in the choice of C and in the threshold; neighbours vote on the labels that they know, and the
    retriever completes them as ``CompactClassifier`` does (docs/guide/unknown-labels.md).

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

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "retriever": (Methods("fit", "predict_topk"), Nothing()),
        "n_candidates": (Integer(1), Choice("auto")),
        "n_neighbors": (Integer(0),),
        "C": (Real(0, open_low=True), Choice("auto")),
        "unit_rows": (Flag(),),
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
        self.threshold = threshold
        self.smallest_weight = smallest_weight
        self.min_label_count = min_label_count
        self.exclude = exclude
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
            class per row. NaN in a matrix is a label that is not known: see
            the notes.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice; of weight 0, not at all. Rows with equal
            features and equal labels are one row of their weights' sum, and one neighbour.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known; for sparse labels, and in place of NaN.
        """
        self._fit(X, y, sample_weight, sep=sep, unknown=unknown)
        return self

    def _fit(
        self,
        X: Any,
        given: Any,
        sample_weight: Any,
        *,
        sep: str | None = None,
        unknown: Any = None,
    ) -> tuple[_Training, _HeldOut, NDArray[np.float32]]:
        """Fit; return the training rows, and the held-out candidates with their scores."""
        with unchanged_on_error(self), blas_threads():
            check_own_parameters(self)
            workers = None
            if is_dask(X):
                X, given, sample_weight, unknown = gathered(X, given, sample_weight, unknown)
                workers = share_out
            data = check_training(
                self, X, given, sample_weight, sep=sep, unknown=unknown, partial=True
            )
            labels = LabelSpace.of(data.targets)
            threshold = given_threshold(self.threshold, "logistic", labels)
            describe(self, labels, data.left_out)
            self._sparse_labels = scipy.sparse.issparse(given) or data.targets.by_name
            self._unit_rows = self.unit_rows
            Y = scipy.sparse.csr_array(data.targets.matrix)
            self._base_scores = base_scores(data.X, Y, data.weights, data.targets.unknown)
            training = _Training.of(data.X, Y, data.weights, data.targets.unknown, data.rows)
            return training, *self._learn(training, labels, threshold, workers)

    def _learn(
        self,
        data: _Training,
        labels: LabelSpace,
        threshold: float | Array,
        workers: ShareOut | None = None,
    ) -> tuple[_HeldOut, NDArray[np.float32]]:
        """Learn all steps; return the held-out candidates and their final scores."""
        rng = seeded(self.random_state)
        X, Y = data.X, data.Y
        sizes = Sizes.of(self, labels, X.shape[0], data.n_present)
        rows, folds = self._rows(X), _Folds.of(data.groups, rng)
        n_threads = free_cores() if self.n_jobs is None else effective_n_jobs(self.n_jobs)
        steps = track(
            range(folds.n_used), description="ShortlistClassifier", disable=not self.verbose
        )
        looked: _Regressions | None = None
        held: list[_HeldOut] = []
        fold_weights: Weights | None = None
        C = 0.0 if self.C == "auto" else float(self.C)
        for k in steps:
            inside = folds.fold == k
            looks = replace(
                self._look(data, rows, inside, sizes, n_threads, rng), share_out=workers
            )
            C = C or looks.best_C(looks.some_labels(rng), inside)
            weights = looks.solved(C, ~inside)
            company = data.taken(np.flatnonzero(~inside)).company
            held.append(looks.held_out(weights, company, inside, C))
            if looked is None:
                looked, fold_weights = looks, weights
        assert looked is not None
        assert fold_weights is not None
        retriever = self._make_retriever(Y.shape[0], Y.shape[1], rng)
        if retriever is not None:
            retriever = self._retriever_of(data, retriever)
        final = looked.solved_again(C, folds.fold != 0, fold_weights)
        second = SecondLook.of(final, self.smallest_weight)
        new = _HeldOut.together(held)
        third = ThirdLook.learn(new.numbers, new.present, new.weights, rng)
        final = third.scores(new.numbers)
        if isinstance(self.threshold, str) and labels.kind == "multilabel":
            strategy = "f1" if self.threshold == "auto" else self.threshold
            scores = new.candidates.matrix(final.astype(np.float64)).tocsc()
            weights = None if data.weights is None else data.weights[new.rows]
            unknown = None if data.unknown is None else data.unknown[new.rows]
            threshold = _tuned(strategy, scores, Y[new.rows], weights, unknown)
        self.retriever_, self._first, self._second = retriever, looked.first, second
        self._company, self._third = data.company, third
        self._neighbours = None
        if self.n_neighbors:
            self._neighbours = data.neighbours(rows, self.n_neighbors)
        self.n_candidates_, self.C_, self._sizes = sizes.n_candidates, C, sizes
        self.threshold_, self._boundary = labels.placed(threshold)
        return new, final

    def _look(
        self,
        data: _Training,
        rows: Any,
        inside: NDArray[np.bool_],
        sizes: Sizes,
        n_threads: int,
        rng: np.random.RandomState,
    ) -> _Regressions:
        """All that the regressions start from, where the rows inside a fold are new.

        To the others, too: a row that is a neighbour of others, or that retrievers have learnt
        from, has its labels in what the others start from. What they lack for that reason the
        regressions make up for, and the row would look worse than a new one does.
        """
        X, Y = data.X, data.Y
        known, new = np.flatnonzero(~inside), np.flatnonzero(inside)
        retriever = self._make_retriever(known.size, Y.shape[1], rng)
        learning = data.taken(known)
        fold = _spread(learning.groups, _RETRIEVER_FOLDS, rng)
        groups = [(known[fold != k], np.flatnonzero(fold == k)) for k in range(_RETRIEVER_FOLDS)]
        groups.append((known, np.arange(known.size, known.size + new.size)))
        order = np.concatenate([known, new])
        named = np.empty((order.size, sizes.retrieved), dtype=np.int32)
        scores = np.zeros(named.shape, dtype=np.float32)
        for learnt, places in groups:
            if retriever is None:
                named[places] = np.arange(Y.shape[1])
            elif places.size:
                model = self._retriever_of(data.taken(learnt), clone(retriever))
                unlearnt = drop_unseen_features(X[learnt], X[order[places]])
                named[places], scores[places] = _named_by(
                    model, unlearnt, sizes.retrieved, n_threads
                )
        votes = None
        if self.n_neighbors:
            neighbours = learning.neighbours(rows[known], self.n_neighbors)
            own = neighbours.votes(
                rows[known], sizes.voted, groups=learning.groups, n_threads=n_threads
            )
            votes = scipy.sparse.csr_array(
                scipy.sparse.vstack([own, neighbours.votes(rows[new], sizes.voted)], format="csr")
            )
        candidates = Candidates.of((named, scores), votes, Y.shape[1]).taken(np.argsort(order))
        present, told = candidates.present(Y), data.told(candidates)
        there = told & ~inside[candidates.rows]
        counts = learning.label_counts
        weights = None if data.weights is None else data.weights[candidates.rows[there]]
        first = FirstLook.learn(candidates.where(there), present[there], counts, rng, weights)
        log_odds = first.log_odds(candidates)
        missed = candidates.missed(Y)
        problems = problems_of(candidates.where(told), present[told], log_odds[told]).with_more(
            problems_of(missed, np.ones(missed.labels.size, dtype=bool), first.log_odds(missed))
        )
        return _Regressions(
            _as_new_rows(rows, known, new, learning.groups),
            data.weights,
            candidates,
            present,
            told,
            first,
            log_odds,
            problems,
            n_threads,
        )

    def _make_retriever(self, n_rows: int, n_labels: int, rng: np.random.RandomState) -> Any:
        """The retriever, not fitted; None where there is nothing to be retrieved."""
        if n_labels < 2:
            return None
        if self.retriever is None:
            compact = n_rows * n_labels > _CODES
            return CMLLClassifier(
                "auto" if compact else None,
                usual_codes(n_rows, n_labels) if compact else None,
                alpha="auto",
                feature_map=UnitRows() if self.unit_rows else None,
                threshold=0.5,
                solver="randomized" if compact else "auto",
            )
        retriever = clone(self.retriever)
        if retriever.get_params().get("random_state", "") is None:
            retriever.set_params(random_state=int(rng.randint(2**31 - 1)))
        return retriever

    def _retriever_of(self, data: _Training, retriever: Any) -> Any:
        """A retriever after its fit. What it names needs no more than seven digits."""
        fitted = data.fitted(retriever)
        return fitted.compress("float32") if self.retriever is None else fitted

    def _rows(self, X: Any) -> scipy.sparse.csr_array:
        rows = scipy.sparse.csr_array(X)
        if self._unit_rows:
            rows = UnitRows().transform(rows)
        else:
            require_single_precision(rows)
        return rows.astype(np.float32)

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "retriever_")
        return check_features(self, X, reset=False)

    def _looked(self, X: Any) -> Looked:
        """What all looks find of checked rows."""
        sizes, n_labels = self._sizes, self.n_labels_
        rows = self._rows(X)
        votes = None
        if self._neighbours is not None:
            votes = self._neighbours.votes(rows, sizes.voted)
        if self.retriever_ is None:
            shape = (X.shape[0], n_labels)
            named = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
        else:
            named = self.retriever_.predict_topk(X, sizes.retrieved)
        candidates = Candidates.of(named, votes, n_labels)
        log_odds = self._first.log_odds(candidates)
        beside = with_likely_labels(rows, candidates, log_odds, self.C_)
        margins = self._second.margins(beside, candidates, log_odds)
        numbers = self._company.numbers(candidates, margins, log_odds)
        scores = self._third.scores(numbers)
        return Looked(candidates, log_odds, beside, margins, numbers, scores)

    def _inside(self) -> ShortlistInside:
        check_is_fitted(self, "retriever_")
        retriever, near = self.retriever_, self._neighbours
        return ShortlistInside(
            self,
            self._first,
            self._second,
            self._company,
            self._third,
            self._boundary,
            self._looked,
            self._dense,
            None if retriever is None else lambda: inside_of(retriever),
            None if near is None else lambda X, y, k: near.voters(self._rows(X), y, k),
        )

    def _matrix(self, X: Any) -> scipy.sparse.csr_array:
        """The scores of the candidates."""
        parts = []
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            block = X[start : start + _BLOCK_ROWS] if X.shape[0] > _BLOCK_ROWS else X
            candidates, scores = _scored(self, block)
            parts.append(candidates.matrix(scores.astype(np.float64)))
        if len(parts) == 1:
            return parts[0]
        empty = scipy.sparse.csr_array((0, self.n_labels_))
        return scipy.sparse.csr_array(scipy.sparse.vstack([empty, *parts], format="csr"))

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Dense scores: labels that are no candidates come last, the frequent ones first."""
        behind = _behind(self._first.frequency)
        for rows in row_blocks((X.shape[0], self.n_labels_)):
            candidates, scores = _scored(self, X[rows])
            lowest = np.full(candidates.n_rows, np.inf)
            np.minimum.at(lowest, candidates.rows, scores)
            dense = lowest[:, None] + behind
            dense[candidates.rows, candidates.labels] = scores
            yield rows, dense - self._boundary if self._boundary else dense

    def _dense(self, X: Any) -> Array:
        scores = np.empty((X.shape[0], self.n_labels_))
        for rows, block in self._score_blocks(X):
            scores[rows] = block
        return scores

    def _scores_to_rank(self, X: Any) -> Array:
        """All labels in their order, for metrics that look at all of them; (n,) of two classes."""
        scores = self._dense(self._prepare(X))
        return scores[:, 0] if self._labels.kind == "binary" else scores

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
        if self._labels.kind == "multilabel":
            return self._matrix(X)
        scores = self._dense(X)
        return scores[:, 0] if self._labels.kind == "binary" else scores

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
        if self._labels.kind == "multilabel":
            matrix = self._matrix(X)
            matrix.data = expit(matrix.data)
            return matrix
        scores = self._dense(X) + self._boundary
        if self._labels.kind == "binary":
            return expit(np.hstack([-scores, scores]))
        return softmax(log_expit(scores), axis=1)

    def _topk(self, X: Any, k: int) -> tuple[NDArray[np.intp], Array]:
        few = Integer(1, self._sizes.retrieved).accepts(k) and self.retriever_ is not None
        if self._labels.kind == "binary" or not few:
            return super()._topk(X, k)
        matrix = self._matrix(X)
        counts = np.diff(matrix.indptr)
        row = np.repeat(np.arange(X.shape[0]), counts)
        place = np.arange(row.size) - np.repeat(matrix.indptr[:-1], counts)
        scores = np.full((X.shape[0], counts.max(initial=k)), -np.inf)
        scores[row, place] = matrix.data
        labels = np.zeros(scores.shape, dtype=np.intp)
        labels[row, place] = matrix.indices
        places, best = top_labels(scores, k)
        return np.take_along_axis(labels, places, axis=1), best

    def _picked(self, X: Any, k: int | None) -> Iterator[Picked]:
        for rows in gen_batches(X.shape[0], _BLOCK_ROWS):
            if k is not None:
                yield Picked.best(*self._topk(X[rows], k))
                continue
            matrix = self._above(self._matrix(X[rows]))
            row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
            yield Picked.ordered(row, matrix.indices, matrix.data, matrix.shape[0])

    def _shown(self, scores: Array) -> Array:
        return expit(scores)

    def _above(self, matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """Of the scores of candidates those above their threshold."""
        above = matrix.data > np.broadcast_to(self.threshold_, (self.n_labels_,))[matrix.indices]
        starts = np.concatenate([[0], np.cumsum(above)])[matrix.indptr]
        kept = (matrix.data[above], matrix.indices[above], starts)
        return scipy.sparse.csr_array(kept, shape=matrix.shape)

    @lazy_on_dask
    def predict(self, X: Any) -> Any:
        """Return 0/1 labels (n_samples, n_labels), sparse if ``fit`` got such or names; or classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        if self._labels.kind != "multilabel":
            return self._labels.decided(self._score_blocks(X), X.shape[0], self.threshold_)
        labels = self._above(self._matrix(X))
        labels.data = np.ones(labels.data.size, dtype=self._labels.dtype)
        return labels if self._sparse_labels else labels.toarray()

    @property
    def coef_(self) -> scipy.sparse.csr_array:
        """Weights of the regressions, one row for each label."""
        check_is_fitted(self, "retriever_")
        return self._second.columns.T.tocsr()

    @property
    def numbers_(self) -> int:
        """How many numbers must be kept to predict."""
        check_is_fitted(self, "retriever_")
        own = self._second.columns.nnz + self._second.intercepts.size + self.n_labels_
        if self.retriever_ is not None:
            own += numbers_of(self.retriever_)
        if self._neighbours is not None:
            own += self._neighbours.columns.nnz + self._neighbours.labels.nnz
            if self._neighbours.unknown is not None:
                own += self._neighbours.unknown.nnz
        return int(own)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        return tags


def fit_scored(
    classifier: ShortlistClassifier, X: Any, Y: Any, sample_weight: Any = None, unknown: Any = None
) -> HonestScores:
    """Fit a shortlist, and return the held-out scores of the rows that its threshold is tuned on.

    They are by-products of the fit. Labels that are not among a row's candidates have scores below
    those that are, as in rankings of all labels.

    Parameters
    ----------
    classifier : ShortlistClassifier
    X, Y, sample_weight, unknown : as in ``fit``; Y is a matrix, and all rows count
    """
    data, new, scores = classifier._fit(X, Y, sample_weight, unknown=unknown)
    assert data.numbers is not None
    rows = data.numbers[new.rows]
    order = np.argsort(rows)
    matrix = new.candidates.matrix(scores.astype(np.float64))[order]
    lowest = np.asarray(matrix.min(axis=1, explicit=True).toarray()).ravel()
    behind, by_label = _behind(classifier._first.frequency), matrix.tocsc()

    def columns(labels: Any) -> Array:
        part = by_label[:, labels]
        dense = lowest[:, None] + behind[labels]
        column = np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
        dense[part.indices, column] = part.data
        return dense

    return HonestScores(rows[order].astype(np.intp), columns)


def _behind(frequency: NDArray[Any]) -> Array:
    """(M,) what labels that are no candidates add to the lowest score of a row."""
    order = np.argsort(np.argsort(frequency, kind="stable"))
    return order / max(1, order.size) - 2.0


@dataclass(frozen=True)
class _Training:
    """Rows that differ in features or labels, and how often each counts."""

    X: Any
    Y: scipy.sparse.csr_array
    weights: Array | None  # None: once
    unknown: Any = None  # csr_array with a one for each label that is not known
    copies: Rows | None = None  # rows of equal features share a number; None: there are none
    numbers: Rows | None = None  # of the rows in fit

    @classmethod
    def of(
        cls,
        X: Any,
        Y: scipy.sparse.csr_array,
        weights: Array | None,
        unknown: Any = None,
        numbers: Rows | None = None,
    ) -> _Training:
        """Merge rows of equal features and labels, in an order that follows from their content.

        Otherwise a row would vote for its own copy, and weight 2 be something else than twice.
        """
        features = row_groups(X)
        keys = [row_groups(unknown)] if unknown is not None else []
        keys += [features, row_groups(Y)]
        order = np.lexsort(keys)
        differs = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
        starts = np.flatnonzero(np.concatenate([[True], differs]))
        given = np.ones(order.size) if weights is None else weights
        total = np.add.reduceat(given[order], starts)
        rows = order[starts]
        once = bool((total == 1.0).all())
        marks = None if unknown is None else unknown[rows]
        numbers = rows if numbers is None else numbers[rows]
        copies, w = features[rows], None if once else total
        return cls(X[rows], Y[rows], w, marks, copies, numbers)

    def taken(self, rows: Rows) -> _Training:
        """Some of the rows. A label that none of them knows is absent: nothing shows what it is."""
        weights = None if self.weights is None else self.weights[rows]
        unknown = None if self.unknown is None else known_somewhere(self.unknown[rows])
        copies = None if self.copies is None else self.copies[rows]
        numbers = None if self.numbers is None else self.numbers[rows]
        return _Training(self.X[rows], self.Y[rows], weights, unknown, copies, numbers)

    @property
    def groups(self) -> Rows:
        """Rows of equal features share a number; groups are numbered as they appear."""
        return np.arange(self.X.shape[0]) if self.copies is None else numbered(self.copies)

    def told(self, candidates: Candidates) -> NDArray[np.bool_]:
        """Of which candidates of these rows it is known whether they are there."""
        if self.unknown is None:
            return np.ones(candidates.labels.size, dtype=bool)
        return ~candidates.present(self.unknown)

    @property
    def n_present(self) -> float:
        """How many labels all rows have together."""
        return float(expected_counts(self.Y, self.unknown).sum())

    @property
    def label_counts(self) -> Array:
        """How often each label is there."""
        return expected_counts(self.Y, self.unknown, self.weights)

    @property
    def company(self) -> Company:
        return Company.of(self.Y, self.weights, self.unknown)

    def neighbours(self, rows: scipy.sparse.csr_array, count: int) -> Neighbours:
        """Who votes, found by these features of the rows."""
        found = Neighbours.of(rows, self.Y, count, self.weights, self.unknown)
        numbers = None if self.numbers is None else self.numbers.astype(np.int32)
        return replace(found, rows=numbers)

    def fitted(self, model: Any) -> Any:
        """A model after its fit to these rows."""
        name, arguments = type(model).__name__, {}
        if self.unknown is not None:
            if not has_fit_parameter(model, "unknown"):
                raise ValueError(
                    f"Some labels are unknown, and the retriever {name} takes no unknown labels; "
                    "fill them, drop their rows, or use another retriever."
                )
            arguments["unknown"] = self.unknown
        if self.weights is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(
                    f"Some rows count more or less than once, and the retriever {name} takes no "
                    "sample_weight; leave sample_weight and repeated rows out, or use another "
                    "retriever."
                )
            arguments["sample_weight"] = self.weights
        return model.fit(self.X, self.Y, **arguments)


def usual_codes(n_rows: int, n_labels: int) -> int:
    """Return how many codes a retriever that compresses has.

    >>> usual_codes(24_000, 527), usual_codes(65_000, 8_821)
    (166, 64)
    """
    codes = min(max(_CODES // n_rows, _FEWEST_CODES), _MOST_CODES, max(1, n_rows // 2))
    return min(codes, n_labels)


def usual_candidates(n_rows: int, n_labels: int, n_present: float) -> int:
    """Return how many candidates a row has where all rows have ``n_present`` labels together.

    >>> usual_candidates(24_000, 527, 48_000), usual_candidates(65_000, 8_821, 325_000)
    (166, 64)
    """
    average = int(np.ceil(_PER_PRESENT_LABEL * n_present / max(1, n_rows)))
    return min(max(_CANDIDATES, average, _PAIRS // n_rows), n_labels)


@dataclass(frozen=True)
class Sizes:
    """How many candidates a row has, and whose."""

    n_candidates: int
    retrieved: int
    voted: int

    @classmethod
    def of(
        cls, asked: ShortlistClassifier, labels: LabelSpace, n_rows: int, n_present: float
    ) -> Sizes:
        M = labels.n_labels
        if labels.kind != "multilabel":
            n = M
        elif asked.n_candidates == "auto":
            n = usual_candidates(n_rows, M, n_present)
        else:
            n = int(asked.n_candidates)
            if n > M:
                raise ValueError(
                    f"n_candidates must be at most the number of labels, {M}, and is {n}; pass "
                    "such a number, or 'auto'."
                )
        if n == M or not asked.n_neighbors:
            return cls(n, n, M)
        retrieved = -(-n // 2)
        return cls(n, retrieved, n - retrieved)


@dataclass(frozen=True)
class _Regressions:
    """The regressions of all labels, for any penalty and on any of the rows."""

    rows: scipy.sparse.csr_array
    weights: Array | None  # of the rows
    candidates: Candidates
    present: NDArray[np.bool_]
    told: NDArray[np.bool_]  # which candidates are known to be there or not; no others count
    first: FirstLook
    log_odds: NDArray[np.float32]
    problems: Problems
    n_threads: int
    share_out: ShareOut | None = None  # to whom, where it is not threads of this process

    def features(self, C: float) -> scipy.sparse.csr_array:
        return with_likely_labels(self.rows, self.candidates, self.log_odds, C)

    def solved(self, C: float, outside: NDArray[np.bool_]) -> Weights:
        """Return the weights of all labels, learnt from the rows outside a fold.

        A label without any row there has no weights. Its margins differ from their offsets by as
        much as those of the labels with the fewest rows do on average.
        """
        problems = self.problems.among(outside)
        found = self._solve(problems, C)
        count = self._rows_with_label(outside)
        if count.all() or not count.any():
            return found
        rare = np.flatnonzero(count == count[count > 0].min())
        pairs = problems.chosen(rare)
        change = margins_of(self.features(C), pairs, found.chosen(rare)) - pairs.offsets
        return replace(found, intercepts=np.where(count == 0, change.mean(), found.intercepts))

    def solved_again(self, C: float, outside: NDArray[np.bool_], start: Weights) -> Weights:
        """Return ``start``, with the weights of frequent labels learnt from all rows.

        Candidates come from the rows outside the fold. A label with few rows there is a candidate
        of few rows or none, so that most of its pairs are the fold's own positive rows: weights
        learnt from these find the label everywhere.
        """
        chosen = np.flatnonzero(self._rows_with_label(outside) >= _FEWEST_OUTSIDE)
        found = self._solve(self.problems.chosen(chosen), C, start.chosen(chosen))
        return start.replaced(chosen, found)

    def _rows_with_label(self, outside: NDArray[np.bool_]) -> Rows:
        """Return (n_labels,) how many rows outside a fold have each label."""
        there = self.problems.positive & outside[self.problems.rows]
        return np.diff(np.concatenate([[0], np.cumsum(there)])[self.problems.starts])

    def _solve(self, problems: Problems, C: float, start: Weights | None = None) -> Weights:
        return solve_many(
            self.features(C),
            problems,
            C,
            row_weights=self.weights,
            start=start,
            positive_only=True,
            n_threads=self.n_threads,
            share_out=self.share_out,
        )

    def some_labels(self, rng: np.random.RandomState) -> Rows:
        """Labels that are enough to choose a number which all labels share."""
        order = rng.permutation(self.problems.count)
        pairs = np.cumsum(np.diff(self.problems.starts)[order])
        return np.sort(order[: max(1, int(np.searchsorted(pairs, _JUDGING_PAIRS)))])

    def weights_of(self, rows: Rows) -> Array:
        return np.ones(rows.size) if self.weights is None else self.weights[rows]

    def best_C(self, labels: Rows, inside: NDArray[np.bool_]) -> float:
        """The penalty under which the rows of a fold are best explained by the other rows.

        Penalties are tried from the largest on, until one explains less than the last, and then
        the two on either side of the best.
        """
        problems = self.problems.chosen(labels)
        learnt, judged = problems.among(~inside), problems.among(inside)
        sign = np.where(judged.positive, -1.0, 1.0)
        weights = self.weights_of(judged.rows)

        def loss(C: float) -> float:
            margins = margins_of(self.features(C), judged, self._solve(learnt, C))
            return float(weights @ np.logaddexp(0.0, sign * margins))

        found = {_CS[0]: loss(_CS[0])}
        for C in _CS[1:]:
            found[C] = loss(C)
            if found[C] > min(found.values()):
                break
        best = min(found, key=found.__getitem__)
        found |= {C: loss(C) for C in (best / 2, best * 2)}
        return min(found, key=found.__getitem__)

    def held_out(
        self, weights: Weights, company: Company, inside: NDArray[np.bool_], C: float
    ) -> _HeldOut:
        """What is said of a fold by weights and company that do not know it."""
        rows, pairs = np.flatnonzero(inside), inside[self.candidates.rows]
        own, log_odds = self.candidates.taken(rows), self.log_odds[pairs]
        beside = with_likely_labels(self.rows[rows], own, log_odds, C)
        margins = SecondLook.of(weights).margins(beside, own, log_odds)
        numbers = company.numbers(own, margins, log_odds)
        told, present = self.told[pairs], self.present[pairs]
        counted = self.weights_of(rows[own.rows])
        return _HeldOut(rows, own.where(told), numbers[told], present[told], counted[told])


@dataclass(frozen=True)
class _Folds:
    """Which fold a row is in, and how many of the folds are held out."""

    fold: Rows
    n_used: int

    @classmethod
    def of(cls, groups: Rows, rng: np.random.RandomState) -> _Folds:
        """Divide rows; those of a group stay together wherever there are several groups."""
        n_rows = groups.size
        share = float(np.clip(_HELD_ROWS / n_rows, _SMALLEST_FOLD, _LARGEST_FOLD))
        if n_rows < _FEWEST_ROWS:
            raise ValueError(
                f"ShortlistClassifier learns from folds of the rows and needs {_FEWEST_ROWS} "
                f"different rows at least, and X has {n_rows} sample(s); pass more rows."
            )
        n_folds = min(round(1 / share), n_rows)
        n_used = int(np.clip(round(_HELD_ROWS * n_folds / n_rows), 1, n_folds))
        return cls(_spread(groups, n_folds, rng), n_used)


@dataclass(frozen=True)
class _HeldOut:
    """What is said of the candidates of rows that are new to all who say it.

    Of those candidates of which it is known whether they are there.
    """

    rows: Rows
    candidates: Candidates
    numbers: Array  # of each candidate
    present: NDArray[np.bool_]
    weights: Array  # of its row

    @classmethod
    def together(cls, parts: list[_HeldOut]) -> _HeldOut:
        return cls(
            np.concatenate([part.rows for part in parts]),
            Candidates.stacked([part.candidates for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.present for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


def _spread(groups: Rows, n_parts: int, rng: np.random.RandomState) -> Rows:
    """Return the part of each row; groups stay together unless there are fewer than parts."""
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < n_parts:
        groups, n_groups = np.arange(groups.size), groups.size
    return rng.permutation(np.arange(n_groups) % n_parts)[groups]


def _as_new_rows(
    rows: scipy.sparse.csr_array, known: Rows, new: Rows, groups: Rows
) -> scipy.sparse.csr_array:
    """Return all rows with the features that they share with known rows of other groups.

    ``groups`` are those of the known rows.
    """
    own = drop_confined_features(rows[known], groups)
    parts = [own, drop_unseen_features(rows[known], rows[new])]
    order = np.argsort(np.concatenate([known, new]))
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))[order]


def _scored(model: ShortlistClassifier, X: Any) -> tuple[Candidates, NDArray[np.float32]]:
    """Return the candidates of checked rows and their scores."""
    found, base = model._looked(X), model.base_scores_
    return with_base_candidates(found.candidates, found.scores, X, base, model.n_candidates_)


def _named_by(
    model: Any, X: Any, count: int, n_threads: int
) -> tuple[NDArray[np.integer[Any]], NDArray[np.floating[Any]]]:
    """What a retriever names for rows, as many parts of them at once as there are threads."""
    parts = np.array_split(np.arange(X.shape[0]), min(n_threads, X.shape[0]))
    if len(parts) == 1:
        return model.predict_topk(X, count)
    with ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(lambda rows: model.predict_topk(X[rows], count), parts))
    labels, scores = zip(*found, strict=True)
    return np.concatenate(labels), np.concatenate(scores)


def _tuned(
    strategy: str,
    scores: scipy.sparse.csc_array,
    Y: Any,
    weights: Array | None,
    unknown: Any = None,
) -> float | Array:
    """A threshold for scores that only candidates have; those of all others are lower.

    Labels that are ``unknown``, a sparse matrix of ones, have no score and no part in it.

    One threshold for all labels does not ask whose a score is. Candidates are then one long column
    in place of a matrix of all rows and labels, and what is no candidate two entries at its end,
    the labels that are present and those that are not, with the weights of all of them.
    """
    lowest = float(scores.data.min(initial=0.0)) - 1.0
    n_rows, n_labels = scores.shape
    present = scipy.sparse.csc_array(Y, dtype=np.float64)
    if strategy != "per-label":
        w = np.ones(n_rows) if weights is None else weights
        ones = (np.ones(scores.nnz), scores.indices, scores.indptr)
        named = scipy.sparse.csc_array(ones, shape=scores.shape)
        hit = np.asarray(scipy.sparse.csc_array(named + named.multiply(present)).data) == 2.0
        own = w[scores.indices]
        missed = w @ np.asarray(present.sum(axis=1)).ravel() - own[hit].sum()
        others = n_labels * w.sum() - own.sum() - missed
        if unknown is not None:
            others -= float((unknown.T @ w).sum())
        counts = np.append(own, [missed, others])
        # What nothing counts for is no present label: a threshold would be put below its score.
        kept = counts > 1e-12 * counts.sum()
        values = np.append(scores.data, [lowest, lowest])[kept]
        there = np.append(hit, [True, False])[kept].astype(np.float64)
        column = scipy.sparse.csr_array(there[:, None])
        return tune(strategy, lambda _: values[:, None], column, counts[kept])

    def columns(labels: slice | NDArray[np.intp]) -> Array:
        part = scores[:, labels]
        dense = np.full((n_rows, part.shape[1]), lowest)
        dense[part.indices, np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))] = part.data
        return dense

    return tune(strategy, known_alone(columns, unknown), present.tocsr(), weights)
