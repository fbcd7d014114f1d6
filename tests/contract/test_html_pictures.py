"""HTML representation of estimators in a notebook, before and after a fit."""

import warnings

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
)
from compactlearn.model_selection import GridSearchMoments
from tests.makers import make_data

SMALL = {"cv": 2, "random_state": 0}
ESTIMATORS = [
    *(cls() for cls in (CMLL, PLST, CPLST, DMLR, FaIE, MDDM, Original, KernelMap)),
    CMLLClassifier(feature_map=KernelMap()),
    CompactClassifier(PLST(2), alpha=3.0),
    POPClassifier(),
    C2AEClassifier(max_epochs=1),
    ShortlistClassifier(C=1.0),
    ThresholdTuner(CMLLClassifier(), cv=2),
    AutoCompactClassifier(time_budget=0.01, cv=2),
    CMLLClassifierCV(alphas=[1.0], n_label_components=(2,), **SMALL),
    GridSearchMoments(CMLLClassifier(), {"alpha": [1.0]}, **SMALL),
    make_pipeline(StandardScaler(), CMLLClassifier()),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_an_estimator_has_a_picture_before_and_after_its_fit(estimator):
    X, Y = make_data(40)
    estimator = clone(estimator)
    before = estimator._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, Y)
    after = estimator._repr_html_()
    for html in (before, after):
        assert html.count("<div") == html.count("</div>")
        assert type(estimator).__name__ in html
    assert "Not fitted" in before
    assert "<span>Not fitted</span>" not in after
    assert "<span>Fitted</span>" in after
    assert after != before


def test_parts_are_pictured_as_parts():
    html = estimator_html_repr(CompactClassifier(PLST(2), feature_map=KernelMap()))
    for part in ("CompactClassifier", "PLST", "KernelMap"):
        assert part in html
    assert "PLST" in estimator_html_repr(ThresholdTuner(CompactClassifier(PLST(3))))
