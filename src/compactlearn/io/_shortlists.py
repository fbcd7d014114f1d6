"""ShortlistClassifier in model files."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse

from compactlearn.io._checks import is_number, matrix, numbers, require, size
from compactlearn.io._codec import attributes_codec
from compactlearn.io._models import check_labels
from compactlearn.shortlist._classifier import ShortlistClassifier, Sizes
from compactlearn.shortlist._cooccurrence_reranking import Company, ThirdLook
from compactlearn.shortlist._label_reranking import SecondLook
from compactlearn.shortlist._neighbours import Neighbours
from compactlearn.shortlist._prior import FirstLook

_CROSSED = 5  # products of what the first look sees with how frequent a label is
_STRAIGHT = 3  # numbers that the third look takes as they are
_NUMBERS = 7  # that it takes by corners


def _csr(value: object, shape: tuple[int | None, int | None], what: str) -> None:
    require(isinstance(value, scipy.sparse.csr_array), f"{what} is no sparse matrix by rows")
    matrix(value, shape, what)


def _check_first(look: FirstLook, n_labels: int) -> None:
    corners = (look.score_corners, look.vote_corners, look.own_corners)
    width = sum(numbers(part, (None,), "a row of corners").size for part in corners)
    for part in (look.centres, look.scales, look.frequency):
        numbers(part, (n_labels,), "what is known of labels")
    numbers(look.coefficients, (width + _CROSSED,), "the first look")
    require(all(part.size > 1 for part in corners), "there are too few corners")
    require(is_number(look.intercept), "the first look has no intercept")


def _check_third(look: ThirdLook) -> None:
    known = isinstance(look.corners, tuple) and len(look.corners) == _NUMBERS
    require(known, "corners are missing")
    width = sum(numbers(part, (None,), "a row of corners").size - 1 for part in look.corners)
    require(all(part.size > 1 for part in look.corners), "there are too few corners")
    numbers(look.coefficients, (width + _STRAIGHT,), "the third look")
    require(is_number(look.intercept), "the third look has no intercept")


def _check_neighbours(found: Neighbours, n_features: int, n_labels: int) -> None:
    _csr(found.columns, (n_features, None), "the table of neighbours")
    n_rows = found.columns.shape[1]
    _csr(found.labels, (n_rows, n_labels), "the labels of neighbours")
    require(size(found.count, "the number of neighbours") > 0, "there are no neighbours")
    if found.weights is not None:
        numbers(found.weights, (n_rows,), "the weights of neighbours")
    if found.unknown is not None:
        _csr(found.unknown, (n_rows, n_labels), "what neighbours do not know")
    if found.rows is not None:
        whole_numbers = numbers(found.rows, (n_rows,), "the rows of neighbours").dtype.kind in "iu"
        require(whole_numbers, "the rows of neighbours are no whole numbers")


def _check_shortlist(classifier: ShortlistClassifier) -> None:
    state = vars(classifier)
    if "retriever_" not in state:
        return  # one that is not fitted
    n_labels, n_features = check_labels(classifier), classifier.n_features_in_
    sizes, company, neighbours = state["_sizes"], state["_company"], state["_neighbours"]
    require(isinstance(sizes, Sizes), "the numbers of candidates are missing")
    for count in (sizes.n_candidates, sizes.retrieved, sizes.voted):
        require(0 <= size(count, "a number of candidates") <= n_labels, "candidates are too many")
    require(isinstance(state["_first"], FirstLook), "the first look is missing")
    _check_first(state["_first"], n_labels)
    second = state["_second"]
    require(isinstance(second, SecondLook), "the second look is missing")
    _csr(second.columns, (n_features + n_labels, n_labels), "the second look")
    numbers(second.intercepts, (n_labels,), "the second look")
    require(isinstance(company, Company), "the company of labels is missing")
    _csr(company.shares, (n_labels, n_labels), "the company of labels")
    numbers(company.frequency, (n_labels,), "the frequency of labels")
    require(isinstance(state["_third"], ThirdLook), "the third look is missing")
    _check_third(state["_third"])
    if neighbours is not None:
        require(isinstance(neighbours, Neighbours), "the neighbours are none")
        _check_neighbours(neighbours, n_features, n_labels)
    if classifier.retriever_ is None:
        require(n_labels == 1, "the retriever is missing")
    else:
        own = getattr(classifier.retriever_, "n_labels_", n_labels)
        require(own == n_labels, "the retriever has other labels")
    if state["_base_scores"] is not None:
        numbers(state["_base_scores"], (n_labels,), "the scores of a row of zeros")
    for name in ("_unit_rows", "_sparse_labels"):
        require(isinstance(state[name], bool | np.bool_), "how rows are read is unknown")
    require(is_number(classifier.C_) and classifier.C_ > 0, "the penalty is no number")


CODECS = {"ShortlistClassifier": partial(attributes_codec, check=_check_shortlist)}
