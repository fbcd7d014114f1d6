"""A small instance of every public classifier, and of one around every public embedding."""

from sklearn.base import BaseEstimator

import compactlearn
from compactlearn import (
    CMLL,
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    POPClassifier,
    ShortlistClassifier,
    related,
)
from compactlearn.embeddings._base import Embedding

# Parameters that make a fit short and repeatable, where an estimator has them.
SMALL = {
    "random_state": 0,
    "max_epochs": 2,
    "max_iter": 5,
    "n_trees": 3,
    "n_levels": 1,
    "pretraining_epochs": 2,
    "feature_hidden": (4,),
    "label_hidden": (4,),
    "device": "cpu",
}


def small(kind):
    """An instance that is fitted in little time."""
    own = kind()
    params = own.get_params(deep=False)
    return own.set_params(**{name: value for name, value in SMALL.items() if name in params})


def public(*packages):
    """The estimators that packages export."""
    things = [getattr(package, name) for package in packages for name in package.__all__]
    return [
        thing for thing in things if isinstance(thing, type) and issubclass(thing, BaseEstimator)
    ]


EMBEDDINGS = [kind for kind in public(compactlearn, related) if issubclass(kind, Embedding)]

#: By name; the embeddings stand for the linear model around them.
EVERY = (
    {kind.__name__: CompactClassifier(small(kind)) for kind in EMBEDDINGS}
    | {kind.__name__: small(kind) for kind in public(related) if kind not in EMBEDDINGS}
    | {
        "CMLLClassifier": CMLLClassifier(),
        "logistic": CMLLClassifier(decoder="logistic"),
        "scaled": CMLLClassifier(scale=True),
        "kernel": CompactClassifier(CMLL(), feature_map=KernelMap()),
        "CMLLClassifierCV": CMLLClassifierCV(alphas=[1.0], cv=2, random_state=0),
        "C2AEClassifier": small(C2AEClassifier),
        "POPClassifier": POPClassifier(random_state=0),
        "ShortlistClassifier": ShortlistClassifier(random_state=0),
        "AutoCompactClassifier": AutoCompactClassifier(time_budget=0.01),
    }
)
