"""ShortlistClassifier in model files."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse

from compactlearn.io._checks import is_number, matrix, numbers, require, size
from compactlearn.io._codec import attributes_codec
from compactlearn.io._models import check_labels
from compactlearn.shortlist._classifier import ShortlistClassifier
from compactlearn.shortlist._cooccurrence_reranking import Cooccurrence, CooccurrenceReranking
from compactlearn.shortlist._generation import CandidateGenerator, Sizes
from compactlearn.shortlist._label_reranking import LabelReranking
from compactlearn.shortlist._neighbours import Neighbours
from compactlearn.shortlist._prior import CandidatePrior
from compactlearn.shortlist._stages import Stages

_CROSSED = 5  # products of score and votes with the frequency of a label
_STRAIGHT, _BY_CORNERS = 3, 7  # inputs of the last stage, as they are and by corners


def _csr(value: object, shape: tuple[int | None, int | None], what: str) -> None:
    require(isinstance(value, scipy.sparse.csr_array), f"{what} is no sparse matrix by rows")
    matrix(value, shape, what)


def _check_prior(prior: CandidatePrior, n_labels: int) -> None:
    corners = (prior.score_corners, prior.vote_corners, prior.own_corners)
    width = sum(numbers(part, (None,), "a row of corners").size for part in corners)
    for part in (prior.centres, prior.scales, prior.frequency):
        numbers(part, (n_labels,), "what is known of labels")
    numbers(prior.coefficients, (width + _CROSSED,), "the prior")
    require(all(part.size > 1 for part in corners), "there are too few corners")
    require(is_number(prior.intercept), "the prior has no intercept")


def _check_final(final: CooccurrenceReranking) -> None:
    corners = final.corners
    require(isinstance(corners, tuple) and len(corners) == _BY_CORNERS, "corners are missing")
    width = sum(numbers(part, (None,), "a row of corners").size - 1 for part in corners)
    require(all(part.size > 1 for part in corners), "there are too few corners")
    numbers(final.coefficients, (width + _STRAIGHT,), "the co-occurrence re-ranking")
    require(is_number(final.intercept), "the co-occurrence re-ranking has no intercept")


def _check_neighbours(found: Neighbours, n_features: int, n_labels: int) -> None:
    _csr(found.columns, (n_features, None), "the table of neighbours")
    n_rows = found.columns.shape[1]
    _csr(found.labels, (n_rows, n_labels), "the labels of neighbours")
    require(size(found.count, "the number of neighbours") > 0, "there are no neighbours")
    if found.weights is not None:
        numbers(found.weights, (n_rows,), "the weights of neighbours")
    if found.unknown is not None:
        _csr(found.unknown, (n_rows, n_labels), "what neighbours do not know")
    whole_numbers = numbers(found.rows, (n_rows,), "the rows of neighbours").dtype.kind in "iu"
    require(whole_numbers, "the rows of neighbours are no whole numbers")


def _check_stages(stages: Stages, n_labels: int, n_features: int) -> None:
    generator, prior, labels = stages.generator, stages.prior, stages.labels
    require(isinstance(generator, CandidateGenerator), "the candidate generation is missing")
    sizes, neighbours = generator.sizes, generator.neighbours
    require(isinstance(sizes, Sizes), "the numbers of candidates are missing")
    for count in (sizes.n_candidates, sizes.retrieved, sizes.voted):
        require(0 <= size(count, "a number of candidates") <= n_labels, "candidates are too many")
    require(isinstance(generator.unit_rows, bool | np.bool_), "how rows are read is unknown")
    if neighbours is not None:
        require(isinstance(neighbours, Neighbours), "the neighbours are none")
        _check_neighbours(neighbours, n_features, n_labels)
    if generator.retriever is None:
        require(n_labels == 1, "the retriever is missing")
    else:
        own = getattr(generator.retriever, "n_labels_", n_labels)
        require(own == n_labels, "the retriever has other labels")
    require(isinstance(prior, CandidatePrior), "the prior is missing")
    _check_prior(prior, n_labels)
    require(isinstance(labels, LabelReranking), "the label re-ranking is missing")
    _csr(labels.columns, (n_features + n_labels, n_labels), "the label re-ranking")
    numbers(labels.intercepts, (n_labels,), "the label re-ranking")
    require(is_number(labels.C) and labels.C > 0, "the penalty is no number")
    require(isinstance(stages.cooccurrence, Cooccurrence), "the co-occurrence is missing")
    _csr(stages.cooccurrence.shares, (n_labels, n_labels), "the co-occurrence")
    numbers(stages.cooccurrence.frequency, (n_labels,), "the frequency of labels")
    require(isinstance(stages.final, CooccurrenceReranking), "the last stage is missing")
    _check_final(stages.final)


def _check_shortlist(classifier: ShortlistClassifier) -> None:
    state = vars(classifier)
    if "stages_" not in state:
        return  # one that is not fitted
    n_labels = check_labels(classifier)
    require(isinstance(state["stages_"], Stages), "the stages are missing")
    _check_stages(state["stages_"], n_labels, classifier.n_features_in_)
    if state["base_scores_"] is not None:
        numbers(state["base_scores_"], (n_labels,), "the scores of a row of zeros")
    require(isinstance(state["_sparse_labels"], bool | np.bool_), "how labels are read is unknown")


CODECS = {"ShortlistClassifier": partial(attributes_codec, check=_check_shortlist)}
