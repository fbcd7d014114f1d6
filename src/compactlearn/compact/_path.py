"""Many penalties and label sizes for about the price of one fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from sklearn.base import clone

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._fits_blocks import install
from compactlearn.compact._fitting import Fitted, keep_embedding
from compactlearn.compact._inputs import check_training
from compactlearn.compact._noisy_labels import refuse_corrected
from compactlearn.compact._preparation import Preparation, Training
from compactlearn.core._params import Real, check_own_parameters, listed
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import n_rows_of
from compactlearn.crossfit._decoder_fitter import FittedDecoder
from compactlearn.crossfit._learner import CodeRidge
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._base import Embedded, Embedding
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import label_count
from compactlearn.linalg._learning import learn_path
from compactlearn.linalg._ridge import Learned, LearnedPath


def fit_path(
    classifier: CompactClassifier,
    X: Any,
    y: Any,
    *,
    alphas: Sequence[float],
    n_label_components: Sequence[int | float | str] | None = None,
    sample_weight: Any = None,
    sep: str | None = None,
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
    X, y, sample_weight, sep : as in ``fit``
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
    embedding = model.make_embedding()
    refuse_corrected(model, "fit_path")
    penalties = listed(alphas, "alphas", "pass a list such as [0.1, 1, 10].")
    sizes = n_label_components
    if sizes is not None:
        remedy = "pass a list such as [0.25, 0.5, 1.0]."
        sizes = listed(sizes, "n_label_components", remedy)
    _check(model, embedding, penalties, sizes)
    return _fit_path(model, embedding, X, y, penalties, sizes, sample_weight, sep)


def _fit_path(
    model: CompactClassifier,
    embedding: Embedding,
    X: Any,
    Y: Any,
    alphas: list[float],
    sizes: list[Any] | None,
    sample_weight: Any,
    sep: str | None,
) -> Iterator[CompactClassifier]:
    settings: list[tuple[Any, int | None]] = [(None, None)]
    if sizes is not None:  # the widest first: what is held must serve them all
        n_labels = check_targets(Y, n_rows_of(X), sep=sep, owner="fit_path").n_labels
        counts = [label_count(size, n_labels) for size in sizes]
        settings = list(zip(sizes, counts, strict=True))
        embedding.set_params(n_label_components=max(counts))
    data = check_training(model, X, Y, sample_weight, sep=sep)
    labels = LabelSpace.of(data.targets)
    threshold = labels.given_threshold(model.threshold, model.decoder)
    prepared = Preparation.of(model)
    training = prepared.fit(embedding, data.X, data.targets.matrix, data.weights)
    shared = embedding.traits.shares_penalty
    solutions: dict[float | None, _Solution] = {}
    for size, count in settings:
        for alpha in alphas:
            ridge = alpha if shared else None
            if ridge not in solutions:
                solutions[ridge] = _Solution(embedding, training, ridge)
            fitted = copy(model)
            changes = clone(model).get_params(deep=False) | {"alpha": alpha}
            if isinstance(model.threshold, str):
                changes["threshold"] = 0.5  # "auto" would be tuned, for some refits of each model
            if count is not None:
                changes |= _resized(model, size)
            fitted.set_params(**changes)
            parts = solutions[ridge].parts(fitted, labels, count, size, float(alpha))
            decided = FittedDecoder(threshold=threshold)
            install(fitted, Fitted.of(labels, training, *parts, decided))
            yield fitted


class _Solution:
    """One eigenproblem, and what follows from it for every size and penalty."""

    def __init__(self, embedding: Embedding, training: Training, ridge: float | None) -> None:
        self.embedding, self.training = clone(embedding), training
        if ridge is not None:
            self.embedding = self.embedding.sharing(ridge)
        self.largest = self.embedding.solve(training.pair)
        self.results: dict[int | None, Embedded] = {None: self.largest}
        self.nested: set[int | None] = {None}  # whose learner is a part of the largest one's
        self.paths: dict[int | None, LearnedPath] = {}
        self.learned: dict[tuple[int | None, float], Learned] = {}

    def parts(
        self,
        model: CompactClassifier,
        labels: LabelSpace,
        count: int | None,
        size: Any,
        alpha: float,
    ) -> tuple[Embedding, CodeRidge]:
        """The fitted embedding and ridge for a number of components and a penalty."""
        if count not in self.results:
            self.results[count] = self._resolve(count)
        result = self.results[count]
        key = None if count in self.nested else count
        if key not in self.paths:
            source = self.results[key]
            self.paths[key] = learn_path(self.training.pair, source.projection, source.codes)
        embedding = clone(self.embedding)
        if count is not None:
            embedding.set_params(n_label_components=size)
        if (key, alpha) not in self.learned:
            self.learned[key, alpha] = self.paths[key].at(alpha)
        learned = self.learned[key, alpha].leading(result.codes.size)
        keep_embedding(model, labels, embedding, self.training.pair, result)
        return embedding, CodeRidge.of(learned, alpha)

    def _resolve(self, count: int | None) -> Embedded:
        assert count is not None
        pair = self.training.pair
        nested = self.embedding.leading(pair, self.largest, count)
        if nested is not None:
            if nested.projection is None and self.largest.projection is None:
                self.nested.add(count)
            return nested
        return clone(self.embedding).set_params(n_label_components=count).solve(pair)


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
        check_own_parameters(clone(embedding).set_params(n_label_components=size))
        if size is None:
            raise ValueError(
                "n_label_components=None keeps the labels as they are, and has no place among "
                "sizes; fit that classifier by itself."
            )


def _resized(model: CompactClassifier, size: Any) -> dict[str, Any]:
    """The parameter of the classifier that holds the number of label components."""
    if "n_label_components" in model.get_params(deep=False):
        return {"n_label_components": size}
    embedding = CMLL() if model.embedding is None else clone(model.embedding)
    return {"embedding": embedding.set_params(n_label_components=size)}
