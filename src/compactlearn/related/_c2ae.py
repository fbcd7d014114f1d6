"""C2AEClassifier: features and labels embedded by deep networks into one space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Choice, Constraint, Integer, Nothing, Real
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import quiet, warn_user
from compactlearn.crossfit._folds import validation_rows
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics._scoring import training_options
from compactlearn.metrics._table import get_metric, get_metric_of_scores
from compactlearn.related._networks import (
    VALIDATED,
    Layers,
    Layout,
    Trainer,
    choose_device,
    rectified,
    rectified_tensor,
    torch_module,
    train,
)
from compactlearn.related._scored import ScoredClassifier

Array = NDArray[np.float64]

_ALPHAS = {"code": 0.5, "paper": 10.0}  # measured, see docs/methods/index.md
_CENTRE = 0.5  # subtracted from the latent sigmoid: codes lie in (-0.5, 0.5)


class C2AEClassifier(ScoredClassifier):
    """Canonical correlated autoencoder (C2AE): a deep latent space of features and labels.

    Three networks are trained together: Fx takes features and Fe labels to codes in one latent
    space, Fd takes codes to scores,

        minimise  Phi(Fx, Fe) + weight * Gamma(Fe, Fd).

    Phi asks the codes of a row's features and of its labels to agree, and both to be uncorrelated
    over the batch; Gamma asks the decoded codes to rank present labels above absent ones (formulas
    in Notes). A new row is scored by Fd(Fx(x)).

    It suits labels that depend on features in ways no linear map has, and enough rows to learn
    them from. Features should be of order one. The defaults are this library's; those of the
    authors' program are ``method("C2AE")``.

    Parameters
    ----------
    n_components : int or float, default=256
        Size K of the latent space; a float is a ratio of the number of labels (2 for a single
        one). It may exceed the number of labels: measured, that is better (docs/methods/index.md).
    feature_hidden : sequence of int, default=(512, 512)
        Widths of the hidden layers of Fx.
    label_hidden : sequence of int, default=(512,)
        Of Fe, and in reverse of Fd.
    mode : {"code", "paper"}, default="code"
        "code" is what the authors' program minimises: the label loss has a factor 5 in its
        exponent and is *divided* by ``alpha``. "paper" is the objective as printed.
    alpha : float or None, default=None
        Balance of the label loss. None is 0.5 for "code" and 10 for "paper".
    lam : float, default=0.5
        Weight of the decorrelation of codes.
    batch_size : int, default=100
        Codes are decorrelated over a batch, so this is more than a matter of speed. With fewer
        rows than that, all of them.
    max_epochs : int, default=100
    learning_rate : float, default=1e-5
    decay : float in (0, 1], default=0.98
        What the learning rate is multiplied by after each epoch.
    l2 : float, default=1e-3
        Penalty on the squares of weights.
    validation_fraction : float in [0, 1), default=0.1
        Share of the rows, rounded down, that is not trained on: the networks of the epoch that
        does best on them are kept. 0, or a share of less than one row, keeps the last epoch.
    scoring : str, default="average_precision"
        A metric by its name in `compactlearn.metrics.METRICS`, for the validation rows. Where it
        is not defined on them (no row has a label, for instance) the last epoch is kept.
    patience : int or None, default=30
        Stop when so many epochs in a row have not been better. None never stops early.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its score is strictly above; of several classes the best is,
        whatever the threshold. To tune it, wrap the classifier in a `ThresholdTuner`.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "float64"}, default="float32"
        Of the training; predictions are computed in float64.
    random_state : int, RandomState, Generator or None, default=None
        Draws initial weights, validation rows and batches. On a CPU the same seed, PyTorch and
        number of threads give the same networks, bit for bit.

    Attributes
    ----------
    encoder_, decoder_ : tuples of pairs (weights, biases), the layers of Fx and of Fd
    n_components_ : int
    n_epochs_ : int
        Epochs trained.
    best_epoch_ : int
        The epoch, from 1, whose networks were kept.
    history_ : dict
        "loss": the objective summed over the batches of each epoch; "score": of the validation
        rows, more is better (losses have their sign changed).
    device_ : str
    threshold_, classes_, n_labels_, label_names_, label_space_, boundary_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    With A = Fx(X), E = Fe(Y), P = Fd(E) of a batch, and R and I the present and the absent labels
    of a row::

        Phi   = |A - E|^2 + lam (|A'A - I|^2 + |E'E - I|^2)
        Gamma = sum over rows of 1/(|R||I|) sum_{r in R, i in I} exp(-rate (p_r - p_i))

    summed over the batch. "code": rate 5, weight 1/(5 alpha), since the program leaves the 5 out of
    the chain rule. "paper": rate 1, weight alpha. Rows without a present, or without an absent,
    label add nothing to Gamma. Fx is trained by Phi alone, as in the program; the program's
    second decoder, which it trains and never uses, is left out.

    A single label, or two classes, would have no pairs to rank. It is learnt as two labels, itself
    and its complement, and its score is (1 + p - q) / 2.

    References
    ----------
    C.-K. Yeh, W.-C. Wu, W.-J. Ko, Y.-C. F. Wang. Learning deep latent space for multi-label
    classification. AAAI 2017, pp. 2838-2844.

    Examples
    --------
    >>> from compactlearn import C2AEClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = C2AEClassifier(
    ...     16, feature_hidden=(64,), label_hidden=(32,), max_epochs=5, random_state=0
    ... )
    >>> model.fit(data.X, data.Y).predict(data.X[:2]).shape, model.n_epochs_
    ((2, 6), 5)
    """

    _kept: ClassVar[tuple[str, ...]] = ("encoder_", "decoder_")
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_components": (Integer(1), Real(0, 1, open_low=True)),
        **VALIDATED,
        "mode": (Choice("code", "paper"),),
        "alpha": (Real(0, open_low=True), Nothing()),
        "lam": (Real(0),),
    }

    def __init__(
        self,
        n_components: int | float = 256,
        *,
        feature_hidden: Sequence[int] = (512, 512),
        label_hidden: Sequence[int] = (512,),
        mode: str = "code",
        alpha: float | None = None,
        lam: float = 0.5,
        batch_size: int = 100,
        max_epochs: int = 100,
        learning_rate: float = 1e-5,
        decay: float = 0.98,
        l2: float = 1e-3,
        validation_fraction: float = 0.1,
        scoring: str = "average_precision",
        patience: int | None = 30,
        threshold: Any = 0.5,
        device: str = "auto",
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.feature_hidden = feature_hidden
        self.label_hidden = label_hidden
        self.mode = mode
        self.alpha = alpha
        self.lam = lam
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.decay = decay
        self.l2 = l2
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.patience = patience
        self.threshold = threshold
        self.device = device
        self.dtype = dtype
        self.random_state = random_state

    # ---- fitting ------------------------------------------------------------------------------

    def _checked(self, X: Any, y: Any, **given: Any) -> TrainingData:
        get_metric_of_scores(self.scoring)  # raises ValueError for what is no metric
        self.device_ = choose_device(self.device, "C2AEClassifier")
        return super()._checked(X, y, **given)

    def _learn(self, data: TrainingData) -> None:
        X, Y = data.X, _with_complement(data.targets.matrix)
        seed = int(seeded(self.random_state).randint(2**31 - 1))
        self.n_components_ = _latent_size(self.n_components, Y.shape[1])
        layout = c2ae_layout(
            *(X.shape[1], Y.shape[1], self.n_components_),
            *(self.feature_hidden, self.label_hidden),
        )
        n_validation = int(self.validation_fraction * X.shape[0])
        order = np.random.default_rng([seed, 0]).permutation(X.shape[0])
        held_out, learnt = validation_rows(X, order, n_validation)
        alpha = _ALPHAS[self.mode] if self.alpha is None else self.alpha
        trainer = Trainer(
            self,
            layout,
            initial(layout, np.random.RandomState(seed)),
            Objective.of(self.mode, float(alpha), float(self.lam)).value,
            (X, Y),
            n_rows=learnt.size,
            decay=self.decay,
        )
        found = train(
            trainer,
            learnt,
            seed,
            max_epochs=self.max_epochs,
            patience=self.patience,
            score=self._validation(layout, X, Y, learnt, held_out) if held_out.size else None,
        )
        self._keep(layout, found.flat)
        self.n_epochs_, self.best_epoch_ = len(found.losses), found.best_epoch
        self.history_ = found.history
        if held_out.size and np.isnan(found.scores).all():
            warn_user(
                f"The validation score {self.scoring} is not defined on the {held_out.size} "
                "validation rows, so epochs cannot be compared and the last one is kept; use more "
                "rows or another scoring.",
                UndefinedMetricWarning,
            )

    def _keep(self, layout: Layout, flat: NDArray[Any]) -> None:
        fx, _, fd = layout.of_flat(flat)
        self.encoder_, self.decoder_ = (
            tuple((W.copy(), b.copy()) for W, b in layers) for layers in (fx, fd)
        )

    def _validation(
        self, layout: Layout, X: Any, Y: Any, learnt: Any, held_out: Any
    ) -> Callable[[NDArray[Any]], float | None]:
        """Return the metric of held-out rows as a function of the parameters; more is better."""
        X_new, Y_new = drop_unseen_features(X[learnt], X[held_out]), Y[held_out]
        metric = get_metric(self.scoring)
        options = training_options(metric, Y[learnt])

        def score(flat: NDArray[Any]) -> float | None:
            self._keep(layout, flat)
            answer, truth = self._answers(X_new), Y_new
            if not np.isfinite(answer).all():
                return None
            if metric.needs == "labels":
                answer, truth = self._decided(answer), truth[:, -self.n_labels_ :]
            with quiet():
                value = float(metric.function(truth, answer, **options))
            return value if metric.greater_is_better else -value

        return score

    def _decided(self, answers: Array) -> NDArray[np.bool_]:
        """Return which labels are predicted, one for each row of several classes."""
        scores, kind = self._of_labels(answers), self.label_space_.kind
        if kind == "multiclass":
            return np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
        return scores > (self.boundary_ if kind == "binary" else self.threshold_)

    # ---- predicting ---------------------------------------------------------------------------

    def _scored(self, X: Any) -> Array:
        return self._of_labels(self._answers(X))

    def _answers(self, X: Any) -> Array:
        """Return Fd(Fx(X)), in double precision."""
        codes = expit(rectified(self.encoder_, X.astype(np.float64, copy=False))) - _CENTRE
        return expit(rectified(self.decoder_, codes))

    def _of_labels(self, P: Array) -> Array:
        """Return scores of labels; a single label was trained together with its complement."""
        return 0.5 * (1.0 + P[:, 1:] - P[:, :1]) if P.shape[1] != self.n_labels_ else P


def _latent_size(asked: int | float, n_labels: int) -> int:
    if Integer().accepts(asked):
        return int(asked)
    return max(1, math.floor(float(asked) * n_labels + 0.5))


def c2ae_layout(
    n_features: int,
    n_labels: int,
    n_codes: int,
    feature_hidden: Sequence[int],
    label_hidden: Sequence[int],
) -> Layout:
    """Return the widths of Fx, Fe and Fd; the decoder mirrors the network of the labels."""
    wide, narrow = (
        tuple(int(width) for width in hidden) for hidden in (feature_hidden, label_hidden)
    )
    return Layout(
        (
            (n_features, *wide, n_codes),
            (n_labels, *narrow, n_codes),
            (n_codes, *reversed(narrow), n_labels),
        )
    )


def initial(layout: Layout, rng: np.random.RandomState) -> Array:
    """Return the parameters where training begins, as the authors draw them."""
    parts = []
    for widths in layout.widths:
        for place, (low, high) in enumerate(pairwise(widths)):
            if place == len(widths) - 2:  # before a sigmoid
                bound = 4.0 * np.sqrt(6.0 / (low + high))
                parts += [rng.uniform(-bound, bound, low * high), np.zeros(high)]
            else:
                parts += [rng.uniform(-0.01, 0.01, low * high), rng.uniform(0.0, 0.1, high)]
    return np.concatenate(parts)


def _with_complement(Y: Any) -> Any:
    """Return labels; a single one after its complement, so that there are pairs to rank."""
    if Y.shape[1] > 1:
        return Y
    column = Y.toarray()
    return scipy.sparse.csr_array(np.hstack([1.0 - column, column]))


@dataclass(frozen=True)
class Objective:
    """Phi + weight * Gamma; the printed objective and the program's differ in two numbers."""

    lam: float
    weight: float  # of Gamma
    rate: float  # in the exponent

    @classmethod
    def of(cls, mode: str, alpha: float, lam: float) -> Objective:
        """Return the objective of a mode.

        The program divides by alpha, has a factor 5 in the exponent, and leaves it out of the
        chain rule, which comes to the same as dividing the loss by it.
        """
        if mode == "code":
            return cls(lam, 1.0 / (5.0 * alpha), 5.0)
        return cls(lam, alpha, 1.0)

    def value(self, networks: Sequence[Layers], X: Any, Y: Any) -> Any:
        """Return the objective of a batch."""
        torch = torch_module("C2AEClassifier")
        fx, fe, fd = networks
        A = torch.sigmoid(rectified_tensor(torch, fx, X)) - _CENTRE
        E = torch.sigmoid(rectified_tensor(torch, fe, Y)) - _CENTRE
        P = torch.sigmoid(rectified_tensor(torch, fd, E))
        return alignment(A, E, self.lam) + self.weight * label_loss(P, Y, self.rate)


def alignment(A: Any, E: Any, lam: float) -> Any:
    """Return Phi."""
    loss = (A - E).square().sum()
    for C in (A, E):
        # |C'C - I|^2 without I.
        gram = C.T @ C
        loss = loss + lam * (gram.square().sum() - 2.0 * C.square().sum() + C.shape[1])
    return loss


def label_loss(P: Any, Y: Any, rate: float) -> Any:
    """Return Gamma; rows without a present, or without an absent, label add nothing.

    The double sum over pairs is a product of two sums, so that it costs O(M).
    """
    absent = 1.0 - Y
    up = ((-rate * P).exp() * Y).sum(dim=1)
    down = ((rate * P).exp() * absent).sum(dim=1)
    pairs = (Y.sum(dim=1) * absent.sum(dim=1)).clamp(min=1.0)
    return (up * down / pairs).sum()
