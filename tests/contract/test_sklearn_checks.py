"""scikit-learn's own checks, on every estimator, without a single expected failure."""

import pytest
from sklearn.base import is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
)
from compactlearn.compact import PaperClassifier
from compactlearn.model_selection import GridSearchMoments
from tests.sklearn_checks import checks_that_run, run_check

# Trees are left out on purpose: the weight checks repeat rows, which moves the codes by rounding,
# and a tree breaks ties between equally good splits by that rounding.
CLASSIFIERS = [
    CMLLClassifier(),
    CMLLClassifier(n_feature_components=None),
    CompactClassifier(regressor=Ridge(alpha=0.5)),
    CompactClassifier(),
    CompactClassifier(Original()),
    CompactClassifier(Original(), regressor=Ridge(alpha=0.5)),
    CompactClassifier(regressor=KernelRidge(alpha=0.1, kernel="rbf")),
    CompactClassifier(scale=True),
    CompactClassifier(PLST()),
    CompactClassifier(CPLST()),
    CompactClassifier(DMLR()),
    CompactClassifier(FaIE()),
    PaperClassifier(FaIE(offset="none")),
    CompactClassifier(MDDM()),
    CompactClassifier(MDDM(), regressor=Ridge(alpha=0.5)),
    CompactClassifier(feature_map=KernelMap()),
    CompactClassifier(Original(), feature_map=KernelMap(kernel="linear")),
    CompactClassifier(FaIE(), feature_map=KernelMap()),
    CompactClassifier(MDDM(), feature_map=KernelMap(), regressor=Ridge(alpha=0.5)),
    CompactClassifier(MDDM(), feature_map=KernelMap(algorithm="nystroem")),
    CMLLClassifierCV(),
    GridSearchMoments(CMLLClassifier(), {"alpha": [0.1, 10.0]}, cv=3),
    AutoCompactClassifier(time_budget=0.01),  # its first model alone, without trees
]
TRANSFORMERS = [
    CMLL(),
    CMLL(n_feature_components=None),
    Original(),
    PLST(),
    CPLST(),
    DMLR(),
    FaIE(),
    MDDM(),
]


@parametrize_with_checks([*CLASSIFIERS, *TRANSFORMERS])
def test_sklearn_contract(estimator, check):
    run_check(check, estimator)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *TRANSFORMERS], ids=repr)
def test_the_checks_are_many(estimator):
    run = checks_that_run(estimator)
    assert len(run) >= (50 if is_classifier(estimator) else 35), run


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_tags_of_the_classifiers(estimator):
    tags = get_tags(estimator)
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    assert not tags.no_validation


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=repr)
def test_tags_of_the_embeddings(estimator):
    tags = get_tags(estimator)
    assert tags.transformer_tags is not None
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    assert not tags.no_validation
