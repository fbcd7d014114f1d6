"""CMLLClassifier: compact learning in one estimator, with every parameter in reach."""

from __future__ import annotations

from typing import Any

from compactlearn.embeddings.cmll import CMLL
from compactlearn.estimators.compact import CompactClassifier


class CMLLClassifier(CompactClassifier):
    """Multi-label classification by compact learning (CMLL).

    ``CompactClassifier(CMLL(...), ...)`` with the parameters of both side by side, so that a
    search sees them all. See :class:`CMLL` for the problem solved and for the embedding's
    parameters, :class:`CompactClassifier` for the learner's.

    Parameters
    ----------
    n_feature_components, n_label_components, beta, label_ridge, offset, solver, completion, \
max_iter, tol
        As in :class:`CMLL`.
    feature_map, scale, regressor, alpha, decoder, threshold, n_jobs
        As in :class:`CompactClassifier`.
    random_state : int, RandomState or None, default=None
        For the embedding.

    Attributes
    ----------
    embedding_, regressor_, feature_map_, scale_, threshold_, classes_, n_labels_, label_names_, \
coef_, intercept_, n_features_in_, feature_names_in_
        As in :class:`CompactClassifier`.
    n_iter_ : int
        Rounds of alternation of the embedding; 1 for the closed form.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> model = CMLLClassifier().fit(data.X[:1123], data.Y[:1123])
    >>> model.transform(data.X).shape
    (1702, 27)
    >>> labels, scores = model.predict_topk(data.X[1123:], k=3)
    >>> labels.shape
    (579, 3)
    """

    def __init__(
        self,
        n_feature_components: int | float | str | None = "auto",
        n_label_components: int | float | str | None = "auto",
        *,
        beta: float | str = "auto",
        label_ridge: float = 0.0,
        offset: str = "mean",
        solver: str = "auto",
        completion: str = "none",
        max_iter: int = 50,
        tol: float = 1e-5,
        feature_map: Any = None,
        scale: bool = False,
        regressor: Any = None,
        alpha: float = 1.0,
        decoder: str = "linear",
        threshold: Any = 0.5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_feature_components = n_feature_components
        self.n_label_components = n_label_components
        self.beta = beta
        self.label_ridge = label_ridge
        self.offset = offset
        self.solver = solver
        self.completion = completion
        self.max_iter = max_iter
        self.tol = tol
        self.feature_map = feature_map
        self.scale = scale
        self.regressor = regressor
        self.alpha = alpha
        self.decoder = decoder
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def n_iter_(self) -> int:
        """Rounds of alternation of the embedding; 1 for the closed form."""
        return self.embedding_.n_iter_

    def _make_embedding(self) -> CMLL:
        return CMLL(
            n_feature_components=self.n_feature_components,
            n_label_components=self.n_label_components,
            beta=self.beta,
            label_ridge=self.label_ridge,
            offset=self.offset,
            solver=self.solver,
            completion=self.completion,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )
