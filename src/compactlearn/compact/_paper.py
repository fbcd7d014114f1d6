"""PaperClassifier: the conventions of published tables that this library does not recommend."""

from __future__ import annotations

from typing import Any, ClassVar

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._params import Choice, Constraint
from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._ridge import BIASES


class PaperClassifier(CompactClassifier):
    """A :class:`CompactClassifier` whose ridge treats its intercept as published programs do.

    For comparisons with published tables; for other uses a free intercept is better.

    Parameters
    ----------
    embedding : embedding estimator or None, default=None
        As in :class:`CompactClassifier`, as are all parameters but the next.
    bias : {"free", "none"}, default="none"
        The intercept of the built-in ridge: not penalised, or left out. The paper does not say;
        public programs differ.
    feature_map, scale, regressor, alpha, decoder, threshold, positive_unlabelled, propensities, \
label_noise, n_jobs, random_state, verbose
        As in :class:`CompactClassifier`.
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **CompactClassifier._constraints,
        "bias": (Choice(*BIASES),),
    }

    def __init__(
        self,
        embedding: Embedding | None = None,
        *,
        bias: str = "none",
        feature_map: Any = None,
        scale: bool = False,
        regressor: Any = None,
        alpha: float | str = 1.0,
        decoder: str = "linear",
        threshold: Any = "auto",
        positive_unlabelled: bool = False,
        propensities: Any = None,
        label_noise: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            embedding,
            feature_map=feature_map,
            scale=scale,
            regressor=regressor,
            alpha=alpha,
            decoder=decoder,
            threshold=threshold,
            positive_unlabelled=positive_unlabelled,
            propensities=propensities,
            label_noise=label_noise,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.bias = bias
