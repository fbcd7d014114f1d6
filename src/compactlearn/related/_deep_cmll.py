"""DeepCMLLClassifier: CMLL with networks added to its linear encoders, never below its objective.

    U = (X - mean) P + Fx(X)_u,     V = (X - mean) A + Y B + Fx(X)_v + Fe(Y)

P (D, d) is CMLL's projection, and A (D, m) and B (M, m) are what its codes are made by: from
V L = (beta XcXc' + YY') V follow A = beta Xc'V / L and B = Y'V / L with the eigenvalues L. Networks
whose last layer is zero leave it at that. What is maximised is

    Gamma = beta |U'Q|^2 |XcP|^2 / |U|^2 + |Y'Q|^2,    Q an orthonormal basis of the columns of V

with U centred: the orthonormal P of CMLL becomes a bound on the size of U, as large as that of the
linear one, so that Gamma of the beginning is CMLL's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Choice, Constraint, Real
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import quiet
from compactlearn.crossfit._folds import validation_rows
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import COUNTS
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import symmetric_roots
from compactlearn.linalg._row_sums import column_moments, weighted_sum
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics import average_precision
from compactlearn.metrics._checks import row_blocks
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
from compactlearn.related._scored import ScoredClassifier, ridge

Array = NDArray[np.float64]

_EPSILON = 1e-6  # of the mean diagonal of V'V, added to it within a batch


class DeepCMLLClassifier(ScoredClassifier):
    """Compact learning with non-linear encoders, which begins as the linear one.

    A network is added to CMLL's projection of the features, and to its codes of features and of
    labels. All are trained on CMLL's own objective, dependence plus recovery::

        maximise  beta |U'V|^2 + |Y'V|^2,   U = XcP + Fx(X),  V = XcA + YB + Fx(X) + Fe(Y),

    with orthonormal columns of V, and U centred and no larger than XcP. P, A and B are the closed
    form's and stay; the last layers of the networks begin at zero, so that the beginning is CMLL's
    solution, and what is kept is never below it on the training rows. Ridge regression from U to V
    and the decoder V'Y are as in `CMLLClassifier`.

    Use it where a kernel before CMLL helps, but rows are too many for one. It can overfit: give it
    validation rows. It needs PyTorch (extra ``deep``) for training; predictions do not.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m, as in `CMLL`; there are as many features as CMLL's "auto" has.
    beta : float or "auto", default="auto"
        As in `CMLL`.
    alpha : float, default=1.0
        Penalty of the ridge from U to V.
    feature_hidden : sequence of int, default=(256,)
        Widths of the hidden layers of Fx.
    label_hidden : sequence of int, default=(256,)
        Of Fe.
    batch_size : int, default=1024
        Codes are orthonormal over a batch in training, so it must be above m; with fewer rows than
        that, all of them.
    max_epochs : int, default=100
    learning_rate : float, default=1e-4
    decay : float in (0, 1], default=0.98
        What the learning rate is multiplied by after each epoch.
    l2 : float, default=1e-4
        Penalty on the squares of the networks' weights.
    validation_fraction : float in [0, 1), default=0.1
        Share of the rows, rounded down, that is not trained on: of the epochs that are not below
        the linear solution on the objective, that of the best average precision on these rows is
        kept, the beginning included. 0, or less than one row, keeps the epoch of the best
        objective.
    patience : int or None, default=20
        Stop when so many epochs in a row have not been better. None never stops early.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its score is strictly above.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "float64"}, default="float32"
        Of the training; the objective that is compared, and predictions, are in float64.
    random_state : int, RandomState, Generator or None, default=None
        Draws initial weights, validation rows and batches.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
        Of the linear part.
    layers_ : tuple of pairs (weights, biases), of the network added to it
    coef_, intercept_ : ndarrays, of the ridge from U to codes
    decoder_ : ndarray of shape (n_label_components_, n_labels)
    offset_ : ndarray of shape (n_labels,)
    n_feature_components_, n_label_components_ : int
    beta_ : float
    linear_objective_ : float
        CMLL's objective on the rows that were trained on.
    objective_, dependence_, recovery_ : float
        Of the encoders that were kept; the first is never below ``linear_objective_``.
    n_epochs_ : int
        Epochs trained.
    best_epoch_ : int
        The epoch, from 1, that was kept; 0 where it is the linear beginning.
    history_ : dict
        "loss": of the batches of each epoch; "score": the objective of each epoch or, where there
        are validation rows, their average precision, below 0 where the objective fell below the
        beginning's.
    device_ : str
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    J. Lv, T. Wu, C. Peng, Y. Liu, N. Xu, X. Geng. Compact Learning for Multi-Label
    Classification. arXiv 2009.08607, whose conclusion names non-linear encoders as future work.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import DeepCMLLClassifier
    >>> data = load("emotions")
    >>> model = DeepCMLLClassifier(feature_hidden=(16,), max_epochs=2, random_state=0)
    >>> model.fit(data.X, data.Y).objective_ >= model.linear_objective_
    True
    """

    _kept: ClassVar[tuple[str, ...]] = (
        "projection_",
        "layers_",
        "coef_",
        "intercept_",
        "decoder_",
        "offset_",
    )
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "beta": (Real(0), Choice("auto")),
        "alpha": (Real(0),),
        **VALIDATED,
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        *,
        beta: float | str = "auto",
        alpha: float = 1.0,
        feature_hidden: Sequence[int] = (256,),
        label_hidden: Sequence[int] = (256,),
        batch_size: int = 1024,
        max_epochs: int = 100,
        learning_rate: float = 1e-4,
        decay: float = 0.98,
        l2: float = 1e-4,
        validation_fraction: float = 0.1,
        patience: int | None = 20,
        threshold: Any = 0.5,
        device: str = "auto",
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.beta = beta
        self.alpha = alpha
        self.feature_hidden = feature_hidden
        self.label_hidden = label_hidden
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.decay = decay
        self.l2 = l2
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.threshold = threshold
        self.device = device
        self.dtype = dtype
        self.random_state = random_state

    # ---- fitting ------------------------------------------------------------------------------

    def _learn(self, data: TrainingData) -> None:
        self.device_ = choose_device(self.device, "DeepCMLLClassifier")
        X, Y = data.X, scipy.sparse.csr_array(data.targets.matrix, dtype=np.float64)
        seed = int(seeded(self.random_state).randint(2**31 - 1))
        n_validation = int(self.validation_fraction * X.shape[0])
        order = np.random.default_rng([seed, 0]).permutation(X.shape[0])
        held_out, learnt = validation_rows(X, order, n_validation)
        X_held_out = drop_unseen_features(X[learnt], X[held_out])
        self._train(X[learnt], Y[learnt], X_held_out, Y[held_out], seed)

    def _train(self, X: Any, Y: Any, X_held_out: Any, Y_held_out: Any, seed: int) -> None:
        embedding = CMLL("auto", self.n_label_components, self.beta, random_state=seed)
        with quiet():
            start = Start.of(X, Y, embedding.fit(X, Y))
        self._refuse_small_batches(X.shape[0], start)
        layout = residual_layout(start, self.feature_hidden, self.label_hidden)
        first = residual_first(layout, np.random.default_rng([seed, 2])).astype(self.dtype)
        trainer = Trainer(
            self,
            layout,
            first,
            DeepObjective(start, self.device_, self.dtype).value,
            (X, Y),
            n_rows=X.shape[0],
            decay=self.decay,
        )
        before = encoded(start, layout, first, X, Y)

        def validated(flat: Any, now: Encoded) -> float:
            self._keep(start, layout, flat, now, Y)
            with quiet():
                return average_precision(Y_held_out, self._scored(X_held_out))

        # Where no held-out row has a label there is nothing to choose by but the objective.
        begins = validated(first, before) if X_held_out.shape[0] else np.nan
        judged = not np.isnan(begins)
        begins = begins if judged else before.objective

        def score(flat: Any) -> float | None:
            now = encoded(start, layout, flat, X, Y)
            if not np.isfinite(now.objective):
                return None
            if not judged:
                return now.objective
            if now.objective < before.objective:  # below every precision, but in their order
                return now.objective / before.objective - 2.0
            return validated(flat, now)

        limits = {"max_epochs": self.max_epochs, "patience": self.patience}
        found = train(trainer, np.arange(X.shape[0]), seed, score=score, **limits)
        better = max(found.scores, default=-np.inf) > begins
        flat = found.flat if better else first
        now = encoded(start, layout, flat, X, Y)
        self._keep(start, layout, flat, now, Y)
        self.linear_objective_, self.beta_ = before.objective, start.beta
        self.objective_ = now.objective
        self.dependence_, self.recovery_ = now.dependence, now.recovery
        self.n_epochs_, self.history_ = len(found.losses), found.history
        self.best_epoch_ = found.best_epoch if better else 0

    def _refuse_small_batches(self, n_rows: int, start: Start) -> None:
        m = start.sizes[1]
        if self.batch_size <= m and self.batch_size < n_rows:
            raise ValueError(
                f"batch_size={self.batch_size} must be above the number of codes, {m}, which are "
                "orthonormal over a batch; raise it, or lower n_label_components."
            )

    def _keep(self, start: Start, layout: Layout, flat: Any, now: Encoded, Y: Any) -> None:
        """Keep what predicting needs: U, the ridge to the codes, and the decoder."""
        d = start.sizes[0]
        *hidden, (W, b) = feature_layers(start, layout, flat)
        unit = now.factor * start.unit_u
        self.layers_ = (*hidden, (unit * W[:, :d], unit * b[:d]))
        self.projection_ = now.factor * start.P
        self._shift = start.mean @ self.projection_
        self.coef_, self.intercept_ = ridge(now.U, now.V, float(self.alpha))
        self.decoder_ = (Y.T @ now.V).T
        self.offset_ = Y.mean(axis=0) - now.V.mean(axis=0) @ self.decoder_
        self.n_feature_components_, self.n_label_components_ = start.sizes

    # ---- predicting ---------------------------------------------------------------------------

    def _encoded(self, X: Any) -> Array:
        return X @ self.projection_ - self._shift + rectified(self.layers_, X)

    def _scored(self, X: Any) -> Array:
        codes = self._encoded(X) @ self.coef_ + self.intercept_
        return codes @ self.decoder_ + self.offset_


@dataclass(frozen=True, eq=False)
class Start:
    """The linear solution, and the units of the networks' outputs."""

    mean: Array  # (D,) of the features
    inverse: Array  # (D,) factors of the features before a network reads them
    P: Array  # (D, d)
    A: Array  # (D, m)
    B: Array  # (M, m)
    energy: float  # |XcP|^2
    beta: float
    unit_u: float  # of a network's outputs
    unit_v: float

    @property
    def sizes(self) -> tuple[int, int]:
        """d and m."""
        return self.P.shape[1], self.A.shape[1]

    @classmethod
    def of(cls, X: Any, Y: Any, embedding: CMLL) -> Start:
        """Return that of a fitted CMLL in closed form."""
        V, values = embedding.codes_, embedding.eigenvalues_
        P, beta = embedding.projection_, embedding.beta_
        assert P is not None  # "auto" always projects
        n_rows = X.shape[0]
        mean = weighted_sum(X, None) / n_rows
        left = X.T @ V - np.outer(mean, V.sum(axis=0))
        rows = X @ P - mean @ P
        energy = float(np.sum(rows**2))
        means, variances = column_moments(X)[:2]
        sizes = np.sqrt(variances + means**2)
        return cls(
            mean=mean,
            inverse=np.where(sizes > 0, 1.0 / np.where(sizes > 0, sizes, 1.0), 0.0),
            P=P,
            A=beta * left / values,
            B=(Y.T @ V) / values,
            energy=energy,
            beta=float(beta),
            unit_u=float(np.sqrt(energy / rows.size)) if energy > 0 else 1.0,
            unit_v=float(1.0 / np.sqrt(n_rows)),
        )


def residual_layout(start: Start, feature_hidden: Sequence[int], label_hidden: Any) -> Layout:
    """Return networks of the features, to U and V, and of the labels, to V."""
    d, m = start.sizes
    wide, narrow = (tuple(int(w) for w in widths) for widths in (feature_hidden, label_hidden))
    return Layout(((start.P.shape[0], *wide, d + m), (start.B.shape[0], *narrow, m)))


def residual_first(layout: Layout, rng: Any) -> Array:
    """Return parameters to begin with: the last layer of each network is zero."""
    parts = []
    for widths in layout.widths:
        for place, (low, high) in enumerate(pairwise(widths)):
            size = 0.0 if place == len(widths) - 2 else np.sqrt(2.0 / low)
            parts += [size * rng.standard_normal(low * high), np.zeros(high)]
    return np.concatenate(parts)


class DeepObjective:
    """-Gamma of a batch, for a `Trainer`."""

    def __init__(self, start: Start, device: str, dtype: str) -> None:
        torch = torch_module("DeepCMLLClassifier")
        kind = getattr(torch, dtype)
        self.start = start
        self.mean, self.inverse, self.P, self.A, self.B = (
            torch.from_numpy(np.ascontiguousarray(part)).to(device, kind)
            for part in (start.mean, start.inverse, start.P, start.A, start.B)
        )

    def value(self, networks: Sequence[Layers], X: Any, Y: Any) -> Any:
        """Return -Gamma, with orthonormality and size over the batch."""
        torch = torch_module("DeepCMLLClassifier")
        d = self.start.sizes[0]
        out = rectified_tensor(torch, networks[0], X * self.inverse)
        Xc = X - self.mean
        linear = Xc @ self.P
        U = linear + self.start.unit_u * out[:, :d]
        answer = out[:, d:] + rectified_tensor(torch, networks[1], Y)
        V = Xc @ self.A + Y @ self.B + self.start.unit_v * answer
        U = U - U.mean(dim=0)
        energy = (linear - linear.mean(dim=0)).square().sum()
        gram = V.T @ V
        ridge = _EPSILON * gram.diagonal().mean() + 1e-30
        one = torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
        root = torch.linalg.cholesky_ex(gram + ridge * one)[0]
        Q = torch.linalg.solve_triangular(root, V.T, upper=False)
        share = energy / (U.square().sum() + 1e-30)
        return -(self.start.beta * share * (Q @ U).square().sum() + (Q @ Y).square().sum())


@dataclass(frozen=True, eq=False)
class Encoded:
    """U, scaled to its size, and the orthonormal codes of all rows, with both terms."""

    U: Array  # (N, d)
    factor: float  # that U was scaled by
    V: Array  # (N, m) orthonormal columns
    dependence: float
    recovery: float
    objective: float


def feature_layers(start: Start, layout: Layout, flat: NDArray[Any]) -> list[tuple[Array, Array]]:
    """Return Fx in double precision, for features as they come."""
    (W, b), *others = layout.of_flat(flat.astype(np.float64))[0]
    return [(start.inverse[:, None] * W, b), *others]


def encoded(start: Start, layout: Layout, flat: NDArray[Any], X: Any, Y: Any) -> Encoded:
    """Return the objective of all rows, as the module's docstring has it."""
    d, m = start.sizes
    fx = feature_layers(start, layout, flat)
    fe = layout.of_flat(flat.astype(np.float64))[1]
    U, V = np.empty((X.shape[0], d)), np.empty((X.shape[0], m))
    for rows in row_blocks((X.shape[0], max(X.shape[1], Y.shape[1]))):
        out = rectified(fx, X[rows])
        U[rows] = X[rows] @ start.P - start.mean @ start.P + start.unit_u * out[:, :d]
        linear = X[rows] @ start.A - start.mean @ start.A + Y[rows] @ start.B
        V[rows] = linear + start.unit_v * (out[:, d:] + rectified(fe, Y[rows]))
    Q = V @ symmetric_roots(self_product(V.T))[1]
    size = float(np.sum((U - U.mean(axis=0)) ** 2))
    factor = float(np.sqrt(start.energy / size)) if size > 0 else 1.0
    U *= factor
    dependence = float(np.sum(((U - U.mean(axis=0)).T @ Q) ** 2))
    recovery = float(np.sum((Y.T @ Q) ** 2))
    return Encoded(U, factor, Q, dependence, recovery, start.beta * dependence + recovery)
