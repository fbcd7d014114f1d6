"""Many penalties and label sizes for about the price of one fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from compactlearn.core.params import Real, check_parameters
from compactlearn.core.validation import check_targets, n_rows_of
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.embeddings.cmll import CMLL
from compactlearn.embeddings.sizes import label_count
from compactlearn.estimators.compact import CompactClassifier
from compactlearn.estimators.held import Held
from compactlearn.linalg.learner import learn_path
from compactlearn.linalg.ridge import Learned, LearnedPath


def fit_path(
    classifier: CompactClassifier,
    X: Any,
    Y: Any,
    *,
    alphas: Sequence[float],
    n_label_components: Sequence[int | float | str] | None = None,
    sample_weight: Any = None,
) -> Iterator[CompactClassifier]:
    """Fit a classifier for many ridge penalties and numbers of label components.

    Yields one fitted classifier for every size and penalty, sizes outermost, each equal to a
    separate fit with these parameters. The data are read and held once; where the codes of a
    method are nested, all sizes come from one eigenproblem; all penalties come from one
    decomposition of the learner's Gram matrix.

    Parameters
    ----------
    classifier : CompactClassifier or CMLLClassifier
        With the built-in ridge and a free intercept. It is not changed.
    X, Y, sample_weight : as in ``fit``
    alphas : sequence of float
        Penalties.
    n_label_components : sequence of int, float or "auto", optional
        Sizes; by default the embedding's own.

    Notes
    -----
    A threshold of "auto" is 0.5 here: set another on the model that is chosen, and fit that.

    Codes are nested for every method here but CMLL where fewer feature than label components are
    asked for; that case is solved anew for every size. CPLST and FaIE with ``ridge="shared"`` are
    solved anew for every penalty, because it is part of their problem.

    Examples
    --------
    >>> from compactlearn import PLST, CompactClassifier, fit_path
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> models = fit_path(CompactClassifier(PLST()), data.X, data.Y, alphas=[1.0, 10.0],
    ...                   n_label_components=[2, 4])
    >>> [(m.embedding.n_label_components, m.alpha) for m in models]
    [(2, 1.0), (2, 10.0), (4, 1.0), (4, 10.0)]
    """
    if not isinstance(classifier, CompactClassifier):
        raise TypeError(
            f"fit_path needs a CompactClassifier or CMLLClassifier, and was given "
            f"{classifier!r:.80}; put an embedding into one: CompactClassifier(...)."
        )
    model = clone(classifier)
    embedding = model._checked_embedding()
    penalties = _listed(alphas, "alphas")
    sizes = n_label_components
    if sizes is not None:
        sizes = _listed(sizes, "n_label_components")
    _check(model, embedding, penalties, sizes)
    return _fit_path(model, embedding, X, Y, penalties, sizes, sample_weight)


def _listed(values: Any, name: str) -> list[Any]:
    """A sequence as a list; refused where there is nothing in it, or no sequence."""
    listed = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if not listed:
        raise ValueError(
            f"{name} must hold at least one value, and is {values!r}; pass a list such as "
            f"{'[0.1, 1, 10]' if name == 'alphas' else '[0.25, 0.5, 1.0]'}."
        )
    return listed


def _fit_path(
    model: CompactClassifier,
    embedding: Embedding,
    X: Any,
    Y: Any,
    alphas: list[float],
    sizes: list[Any] | None,
    sample_weight: Any,
) -> Iterator[CompactClassifier]:
    settings: list[tuple[Any, int | None]] = [(None, None)]
    if sizes is not None:  # the widest first: what is held must serve them all
        n_labels = check_targets(Y, n_rows_of(X), owner="fit_path").n_labels
        counts = [label_count(size, n_labels) for size in sizes]
        settings = list(zip(sizes, counts, strict=True))
        embedding.set_params(n_label_components=max(counts))
    held = model._hold(embedding, X, Y, sample_weight)
    shared = shares_ridge(model)
    solutions: dict[float | None, _Solution] = {}
    for size, count in settings:
        for alpha in alphas:
            ridge = alpha if shared else None
            if ridge not in solutions:
                solutions[ridge] = _Solution(embedding, held, ridge)
            fitted = copy(model)
            changes = clone(model).get_params(deep=False) | {"alpha": alpha}
            if isinstance(model.threshold, str):
                changes["threshold"] = 0.5  # "auto" would be tuned, for some refits of each model
            if count is not None:
                changes |= _resized(model, size)
            fitted.set_params(**changes)
            solutions[ridge].install(fitted, count, size, float(alpha))
            yield fitted


class _Solution:
    """One eigenproblem, and what follows from it for every size and penalty."""

    def __init__(self, embedding: Embedding, held: Held, ridge: float | None) -> None:
        self.embedding, self.held = clone(embedding), held
        if ridge is not None:
            self.embedding.set_params(ridge=ridge)
        self.largest = self.embedding._solve(held.pair)
        self.results: dict[int | None, Embedded] = {None: self.largest}
        self.paths: dict[int | None, LearnedPath] = {}
        self.learned: dict[tuple[int | None, float], Learned] = {}

    def install(self, model: CompactClassifier, count: int | None, size: Any, alpha: float) -> None:
        """Make ``model`` the fitted classifier for a number of components and a penalty."""
        if count not in self.results:
            self.results[count] = self._resolve(count)
        result = self.results[count]
        nested = result.projection is None and self.largest.projection is None
        key = None if nested and result.codes.size <= self.largest.codes.size else count
        if key not in self.paths:
            source = self.results[key]
            self.paths[key] = learn_path(self.held.pair, source.projection, source.codes)
        embedding = clone(self.embedding)
        if count is not None:
            embedding.set_params(n_label_components=size)
        if (key, alpha) not in self.learned:
            self.learned[key, alpha] = self.paths[key].at(alpha)
        learned = self.learned[key, alpha].leading(result.codes.size)
        model._keep_ridge(embedding, self.held.pair, result, learned)

    def _resolve(self, count: int | None) -> Embedded:
        assert count is not None
        pair = self.held.pair
        nested = self.embedding._leading(pair, self.largest, count)
        if nested is not None:
            return nested
        return clone(self.embedding).set_params(n_label_components=count)._solve(pair)


def _check(
    model: CompactClassifier, embedding: Embedding, alphas: list[Any], sizes: list[Any] | None
) -> None:
    tunes = isinstance(model.threshold, str) and model.threshold != "auto"
    if model.decoder != "linear" or tunes:
        raise ValueError(
            f"fit_path needs decoder='linear' and a threshold in numbers, and was given "
            f"{model.decoder!r} and {model.threshold!r}, which are learnt anew for every setting; "
            "set them afterwards, on the one that is chosen."
        )
    if model.regressor is not None or model.bias != "free":
        raise ValueError(
            "fit_path needs the built-in ridge with a free intercept, and was given "
            f"regressor={model.regressor!r} and bias={model.bias!r}; set regressor=None and "
            "bias='free', or fit one by one."
        )
    if not all(Real(0).accepts(alpha) for alpha in alphas):
        raise ValueError(
            f"alphas must hold finite numbers >= 0, and is {alphas!r}; pass penalties such as "
            "[0.1, 1, 10]."
        )
    if sizes is not None and "n_label_components" not in embedding.get_params():
        raise ValueError(
            f"{type(embedding).__name__} keeps the labels as they are, and n_label_components="
            f"{sizes!r} was given; leave it out."
        )
    for size in sizes or ():
        check_parameters(
            clone(embedding).set_params(n_label_components=size), embedding._constraints
        )
        if size is None:
            raise ValueError(
                "n_label_components=None keeps the labels as they are, and has no place among "
                "sizes; fit that classifier by itself."
            )


def shares_ridge(model: CompactClassifier) -> bool:
    """Whether the learner's penalty is part of the embedding's problem."""
    given = getattr(model, "embedding", None)
    return given is not None and given.get_params().get("ridge") == "shared"


def _resized(model: CompactClassifier, size: Any) -> dict[str, Any]:
    """The parameter of the classifier that holds the number of label components."""
    if "n_label_components" in model.get_params(deep=False):
        return {"n_label_components": size}
    embedding = CMLL() if model.embedding is None else clone(model.embedding)
    return {"embedding": embedding.set_params(n_label_components=size)}
