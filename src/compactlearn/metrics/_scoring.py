"""Metrics as scorers of a fitted model, for scikit-learn's searches and cross-validation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from compactlearn.core._left_out import drop_left_out
from compactlearn.core._params import nearest
from compactlearn.metrics._propensity import inverse_propensities
from compactlearn.metrics._table import Metric, get_metric


@dataclass(frozen=True, eq=False)  # options may hold arrays, which do not compare
class Scorer:
    """``scorer(estimator, X, Y)``: a metric of a classifier's predictions, more is better.

    Made by `scorer`.
    """

    name: str
    options: Mapping[str, Any]

    @property
    def needs(self) -> str:
        """The predictions that the metric reads: "scores", "labels" or "probabilities"."""
        return get_metric(self.name).needs

    @property
    def equal_labels(self) -> bool:
        """Return whether a rare label counts as much as a frequent one, or more."""
        return get_metric(self.name).equal_labels

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        """Return the metric on X and Y, with its sign changed if less of it is better."""
        metric = get_metric(self.name)
        Y = drop_left_out(_last_of(estimator), Y, owner="The scorer")
        value = metric.function(Y, _READ[metric.needs](estimator, X), **self.options)
        return value if metric.greater_is_better else -value

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"scorer({self.name!r}{options})"


def _last_of(estimator: Any) -> Any:
    """Return the classifier at the end of a pipeline, or the classifier itself."""
    while hasattr(estimator, "steps"):
        estimator = estimator[-1]
    return estimator


def scorer(name: str, **options: Any) -> Scorer:
    """Return a metric by its name, for the `scoring` parameter of scikit-learn's tools.

    Metrics of labels read ``predict``; metrics of scores read ``decision_function``, or
    ``predict_proba`` where there is no such method; metrics of probabilities ``predict_proba``,
    whether it returns one matrix or, as scikit-learn's forests and neighbours do, a list with one
    array for each label. Where less is better the sign is changed, as scikit-learn's own "neg_..."
    scorers do.

    Parameters
    ----------
    name : str
        A name in `METRICS`; "precision_at_3" or "precision@3" is "precision_at_k" with k = 3.
    **options
        Passed on to the metric: `k`, `weights` and so on.

    Returns
    -------
    callable
        ``(estimator, X, Y)`` to float; it can be pickled.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, Y = make_multilabel_classification(n_samples=50, random_state=0)
    >>> scorer("ranking_loss")(RidgeClassifier().fit(X, Y), X, Y)
    -0.019841...
    """
    metric = get_metric(name)
    allowed = metric.options
    listed = f"the options {', '.join(allowed)}" if allowed else "no options"
    for option in options:
        if option not in allowed:
            raise TypeError(
                f"The metric {name!r} takes {listed}, but {option!r} was given; leave it out."
                f"{nearest(option, allowed)}"
            )
    if "weights" in allowed and "weights" not in options:
        raise TypeError(
            f"The metric {name!r} needs the option weights, one number for each label, but it was "
            "not given; pass weights=inverse_propensities(Y_train)."
        )
    return Scorer(name, dict(options))


def predicted_scores(estimator: Any, X: Any) -> Any:
    """Return one score for each row and label.

    Parameters
    ----------
    estimator : fitted classifier
        With ``decision_function`` or ``predict_proba``.
    X : as in ``predict``
    """
    return one_matrix(estimator, _method(estimator, ("decision_function", "predict_proba"))(X))


def predicted_probabilities(estimator: Any, X: Any) -> Any:
    """Return one probability for each row and label.

    Parameters
    ----------
    estimator : fitted classifier
        With ``predict_proba``.
    X : as in ``predict``
    """
    return one_matrix(estimator, _method(estimator, ("predict_proba",))(X))


_READ: Mapping[str, Callable[[Any, Any], Any]] = {
    "labels": lambda estimator, X: _method(estimator, ("predict",))(X),
    "scores": predicted_scores,
    "probabilities": predicted_probabilities,
}


def one_matrix(estimator: Any, scores: Any) -> Any:
    """Return the scores of class 1 where a classifier returns a matrix for each label."""
    if not isinstance(scores, list):
        return scores
    classes = getattr(estimator, "classes_", None)
    return np.column_stack([_of_one(part, classes, j) for j, part in enumerate(scores)])


def _of_one(part: np.ndarray, classes: Any, label: int) -> np.ndarray:
    """Return the scores of one label from an array with a column for each of its classes."""
    part = np.asarray(part)
    if part.ndim == 1:
        return part
    own = [0, 1][: part.shape[1]] if classes is None else list(classes[label])
    # A label that no training row had, or every one, has a single class.
    return part[:, own.index(1)] if 1 in own else np.zeros(len(part))


def _method(estimator: Any, names: tuple[str, ...]) -> Callable[[Any], Any]:
    for name in names:
        method = getattr(estimator, name, None)
        if callable(method):
            return method
    raise TypeError(
        f"The scorer needs an estimator with the method {' or '.join(names)}, but "
        f"{type(estimator).__name__} has none; use another classifier or another metric."
    )


def training_options(metric: Metric, train_labels: Any) -> dict[str, Any]:
    """Return the metric's options that depend on the training rows: the weights of labels."""
    if "weights" not in metric.options or train_labels is None:
        return {}
    return {"weights": inverse_propensities(train_labels)}
