"""CMLLClassifier: compact learning in one estimator, with every parameter in reach."""

from __future__ import annotations

from typing import Any, ClassVar

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._params import Constraint
from compactlearn.embeddings._cmll import CMLL


class CMLLClassifier(CompactClassifier):
    """Multi-label classification by compact learning (CMLL).

    ``CompactClassifier(CMLL(...), ...)`` with the parameters of both side by side, so that a
    search sees them all. See :class:`CMLL` for the problem solved and for the embedding's
    parameters, :class:`CompactClassifier` for the learner's.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1], "auto" or None, default="auto"
        Size of the projected feature space, or its ratio to the number of features. "auto": as
        many as label components, and at least 24 where few labels are all kept. None: all
        features.
    n_label_components : int, float in (0, 1], "auto" or None, default="auto"
        Number of label codes, or its ratio to the number of labels. "auto": half the labels, at
        least 16 and at most 500. None: the labels themselves.
    beta : float or "auto", default="auto"
        Weight of the dependence on the features against the recovery of the labels.
    label_ridge : float, default=0.0
        Divides the decoder by ``1 + label_ridge``.
    offset : {"mean", "none"}, default="mean"
        Whether scores keep the labels' mean; "none" is the paper's decoder.
    solver : {"auto", "closed", "alternating", "moments", "dual", "krylov", "randomized"}, \
default="auto"
        How the subspaces are found; "alternating" is the paper's algorithm, the last four
        prescribe a regime, of which "randomized" alone is not exact.
    completion : {"none", "variance", "krylov", "random"}, default="none"
        What feature components beyond the rank are.
    max_iter : int, default=50
    tol : float, default=1e-5
        For "alternating".
    feature_map : transformer or None, default=None
        Applied to X first.
    scale : bool, default=False
        Divide every feature by its standard deviation.
    regressor : scikit-learn regressor or None, default=None
        The learner in the small space; None is ridge regression solved from moments.
    alpha : float or "auto", default=1.0
        Penalty of that ridge, in the squared units of X; "auto" follows these units.
    bias : {"free", "none", "penalised", "target"}, default="free"
        How that ridge treats its intercept.
    decoder : {"linear", "learned", "logistic"}, default="linear"
        The embedding's own, or one learnt from honest codes; "logistic" gives probabilities.
    threshold : float, array of shape (n_labels,), "auto", "f1", "per-label" or "cardinality", \
default="auto"
        A label is predicted where its score is strictly above; a name is tuned on honest scores.
    positive_unlabelled : bool, default=False
        Whether labels that are absent may be missing positives.
    propensities : array-like of shape (n_labels,) or None, default=None
        The chances that a label that applies is seen; None estimates them by frequency.
    label_noise : None, "auto" or pair of float or array-like, default=None
        Rates of false positives and of false negatives that are corrected for.
    n_jobs : int or None, default=None
        For a regressor that takes one target at a time.
    random_state : int, RandomState, Generator or None, default=None
        For the embedding.
    verbose : int, default=0
        1 shows a progress bar and says beforehand how long a long fit will take.
    label_graph : sparse matrix of shape (n_labels, n_labels) or None, default=None
        Symmetric weights of edges between labels that should have similar decoders.
    graph_weight : float, default=0.1
        Weight of the decoder's smoothness over that graph; 0 is as no graph.

    Attributes
    ----------
    embedding_, regressor_, decoding_, feature_map_, scale_, threshold_, classes_, n_labels_, \
label_names_, label_noise_, coef_, intercept_, compression_, nbytes_, numbers_, n_passes_, \
n_features_in_, feature_names_in_
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

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **CompactClassifier._constraints,
        **CMLL._constraints,
    }

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
        alpha: float | str = 1.0,
        bias: str = "free",
        decoder: str = "linear",
        threshold: Any = "auto",
        positive_unlabelled: bool = False,
        propensities: Any = None,
        label_noise: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        label_graph: Any = None,
        graph_weight: float = 0.1,
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
        self.bias = bias
        self.decoder = decoder
        self.threshold = threshold
        self.positive_unlabelled = positive_unlabelled
        self.propensities = propensities
        self.label_noise = label_noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.label_graph = label_graph
        self.graph_weight = graph_weight

    @property
    def n_iter_(self) -> int:
        """Rounds of alternation of the embedding; 1 for the closed form."""
        return self.embedding_.n_iter_

    def _own_embedding(self) -> CMLL:
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
            label_graph=self.label_graph,
            graph_weight=self.graph_weight,
        )
