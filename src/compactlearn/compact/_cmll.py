"""CMLLClassifier: compact learning in one estimator, with the parameters that people set."""

from __future__ import annotations

from typing import Any, ClassVar

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._params import Constraint, check_own_parameters
from compactlearn.embeddings._cmll import CMLL


class CMLLClassifier(CompactClassifier):
    """Multi-label classification by compact learning (CMLL).

    ``CompactClassifier(CMLL(...), ...)`` with the parameters that people set side by side, so that
    a search sees them. Another learner, corrections of the labels, graphs and the other parameters
    of the embedding are reached by :class:`CompactClassifier` and :class:`CMLL`, which states the
    problem that is solved.

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
    solver : {"auto", "moments", "dual", "krylov", "randomized"}, default="auto"
        Form in which the data are processed; "randomized" alone is not exact.
    completion : {"none", "krylov"}, default="none"
        How feature components beyond the rank are chosen.
    feature_map : transformer or None, default=None
        Applied to X first.
    scale : bool, default=False
        Divide every feature by its standard deviation.
    alpha : float or "auto", default=1.0
        Penalty of the ridge learner, in the squared units of X; "auto" follows these units.
    decoder : {"linear", "logistic"}, default="linear"
        The embedding's own, or logistic regressions on out-of-fold codes, which give probabilities.
    threshold : float, array of shape (n_labels,), "auto", "f1", "per-label" or "cardinality", \
default="auto"
        A label is predicted where its score is strictly above; a name is tuned on out-of-fold
        scores.
    random_state : int, RandomState, Generator or None, default=None
        For the embedding and the feature map.
    verbose : int, default=0
        1 shows a progress bar and says beforehand how long a long fit will take.

    Attributes
    ----------
    embedding_, regressor_, decoding_, feature_map_, scale_, threshold_, classes_, n_labels_, \
label_names_, parts_, label_space_, boundary_, coef_, intercept_, compression_, nbytes_, \
n_parameters_, n_passes_, n_features_in_, feature_names_in_
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
        **{
            name: CMLL._constraints[name]
            for name in ("n_feature_components", "n_label_components", "beta", "solver")
        },
        "completion": CMLL._constraints["completion"],
    }

    # Parameters of CompactClassifier that are fixed here.
    embedding = None
    regressor = None
    positive_unlabelled = False
    propensities = None
    label_noise = None
    n_jobs = None

    def __init__(
        self,
        n_feature_components: int | float | str | None = "auto",
        n_label_components: int | float | str | None = "auto",
        *,
        beta: float | str = "auto",
        solver: str = "auto",
        completion: str = "none",
        feature_map: Any = None,
        scale: bool = False,
        alpha: float | str = 1.0,
        decoder: str = "linear",
        threshold: Any = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_feature_components = n_feature_components
        self.n_label_components = n_label_components
        self.beta = beta
        self.solver = solver
        self.completion = completion
        self.feature_map = feature_map
        self.scale = scale
        self.alpha = alpha
        self.decoder = decoder
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose

    @property
    def n_iter_(self) -> int:
        """Rounds of alternation of the embedding; 1 for the closed form."""
        return self.embedding_.n_iter_

    def make_embedding(self) -> CMLL:
        """Check the parameters; return the embedding that ``fit`` would fit, not fitted."""
        check_own_parameters(self)
        embedding = CMLL(
            n_feature_components=self.n_feature_components,
            n_label_components=self.n_label_components,
            beta=self.beta,
            solver=self.solver,
            completion=self.completion,
            random_state=self.random_state,
        )
        check_own_parameters(embedding)
        return embedding
