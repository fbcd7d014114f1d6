"""DeepCMLLClassifier: CMLL with networks beside its linear encoders, never below its objective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import joblib
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import (
    Choice,
    Constraint,
    FilePath,
    Flag,
    Integer,
    Nothing,
    Numbers,
    Real,
    Seed,
    Widths,
)
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import quiet
from compactlearn.crossfit._folds import validation_rows
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import COUNTS
from compactlearn.linalg._learning import learn
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics import average_precision
from compactlearn.related._deep_objective import (
    DeepObjective,
    Encoded,
    Start,
    answered,
    encoded,
    feature_layers,
    residual_first,
    residual_layout,
)
from compactlearn.related._networks._epochs import Course, advanced, begun, seed_of
from compactlearn.related._networks._layers import Layout
from compactlearn.related._networks._training import (
    Descent,
    Examples,
    Trainer,
    choose_device,
    undisturbed,
)
from compactlearn.related._scored import ScoredClassifier

Array = NDArray[np.float64]


class DeepCMLLClassifier(ScoredClassifier):
    """Compact learning with non-linear encoders, which begins as the linear one.

    CMLL's projection of the features and its codes of features and labels each get a network
    beside them, and all are trained on CMLL's own objective, dependence plus recovery::

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
    checkpoint : path or None, default=None
        A file (.npz) that is written after each epoch, from which ``fit`` with the same data and
        parameters goes on, as in `C2AEClassifier`.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "float64"}, default="float32"
        Of the training; the objective that is compared, and predictions, are in float64.
    random_state : int, RandomState, Generator or None, default=None
        Draws initial weights, validation rows and batches.
    verbose : int, default=0
        Above 0, a progress bar at a terminal.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
        Of the linear part.
    layers_ : tuple of pairs (weights, biases), of the network beside it
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

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "beta": (Real(0), Choice("auto")),
        "alpha": (Real(0),),
        "feature_hidden": (Widths(),),
        "label_hidden": (Widths(),),
        "batch_size": (Integer(1),),
        "max_epochs": (Integer(1),),
        "learning_rate": (Real(0, open_low=True),),
        "decay": (Real(0, 1, open_low=True),),
        "l2": (Real(0),),
        "validation_fraction": (Real(0, 1, open_high=True),),
        "patience": (Integer(1), Nothing()),
        "threshold": (Real(), Numbers()),
        "checkpoint": (FilePath(), Nothing()),
        "device": (Choice("auto", "cpu", "cuda"),),
        "dtype": (Choice("float32", "float64"),),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
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
        checkpoint: Any = None,
        device: str = "auto",
        dtype: str = "float32",
        random_state: Any = None,
        verbose: int = 0,
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
        self.checkpoint = checkpoint
        self.device = device
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting ------------------------------------------------------------------------------

    def _learn(self, data: TrainingData) -> None:
        self.device_ = choose_device(self.device, "DeepCMLLClassifier")
        X, Y = data.X, scipy.sparse.csr_array(data.targets.matrix, dtype=np.float64)
        seed = int(seeded(self.random_state).randint(2**31 - 1))
        if self.random_state is None and self.checkpoint is not None:
            seed = seed_of(self.checkpoint, seed)  # which rows are held out, too
        n_held = int(self.validation_fraction * X.shape[0])
        order = np.random.default_rng([seed, 0]).permutation(X.shape[0])
        held, learnt = validation_rows(X, order, n_held)
        with undisturbed(self.device_):
            X_held = drop_unseen_features(X[learnt], X[held])
            self._train(X[learnt], Y[learnt], X_held, Y[held], seed)

    def _train(self, X: Any, Y: Any, X_held: Any, Y_held: Any, seed: int) -> None:
        embedding = CMLL("auto", self.n_label_components, self.beta, random_state=seed)
        with quiet():
            start = Start.of(X, Y, embedding.fit(X, Y))
        self._refuse_small_batches(X.shape[0], start)
        layout = residual_layout(start, self.feature_hidden, self.label_hidden)
        first = residual_first(layout, np.random.default_rng([seed, 2])).astype(self.dtype)
        course = Course(
            "DeepCMLL",
            self.max_epochs,
            self.patience,
            self._training(layout, X, Y, X_held, Y_held),
            self.checkpoint,
            self.verbose,
        )
        given = self.random_state is not None
        progress = begun(course, seed, first, seed_was_given=given)
        trainer = Trainer(
            layout,
            DeepObjective(start, self.device_, self.dtype),
            Descent(float(self.learning_rate), float(self.decay), float(self.l2)),
            batch_size=min(self.batch_size, X.shape[0]),
            device=self.device_,
            dtype=self.dtype,
            masked=False,
        )
        trainer.load(progress.state)
        trainer.hold(Examples(X, Y))
        before = encoded(start, layout, first, X, Y)

        def held_out(flat: Any, now: Encoded) -> float:
            self._keep(start, layout, flat, now, Y)
            with quiet():
                return average_precision(Y_held, self._scored(X_held))

        # Where no held row has a label there is nothing to choose by but the objective.
        begins = held_out(first, before) if X_held.shape[0] else np.nan
        judged = not np.isnan(begins)
        begins = begins if judged else before.objective

        def score_of(flat: Any) -> float | None:
            now = encoded(start, layout, flat, X, Y)
            if not np.isfinite(now.objective):
                return None
            if not judged:
                return now.objective
            if now.objective < before.objective:  # below every precision, but in their order
                return now.objective / before.objective - 2.0
            return held_out(flat, now)

        progress = advanced(
            trainer,
            progress,
            np.arange(X.shape[0]),
            course,
            lambda: score_of(trainer.state()["parameters"]),
        )
        better = bool(progress.scores) and max(progress.scores) > begins
        flat = progress.parameters if better else first
        now = encoded(start, layout, flat, X, Y)
        self._keep(start, layout, flat, now, Y)
        self.linear_objective_, self.beta_ = before.objective, start.beta
        self.objective_ = now.objective
        self.dependence_, self.recovery_ = now.dependence, now.recovery
        self.n_epochs_ = progress.n_epochs
        self.best_epoch_ = progress.best_epoch + 1 if better else 0
        self.history_ = {"loss": list(progress.losses), "score": list(progress.scores)}

    def _refuse_small_batches(self, n_rows: int, start: Start) -> None:
        m = start.sizes[1]
        if self.batch_size <= m and self.batch_size < n_rows:
            raise ValueError(
                f"batch_size={self.batch_size} must be above the number of codes, {m}, which are "
                "orthonormal over a batch; raise it, or lower n_label_components."
            )

    def _training(self, layout: Layout, *data: Any) -> dict[str, Any]:
        """What tells this training from others: all that its epochs depend on but the seed."""
        names = ("alpha", "batch_size", "learning_rate", "decay", "l2", "validation_fraction")
        beta = self.beta if isinstance(self.beta, str) else float(self.beta)
        content = None if self.checkpoint is None else joblib.hash(data)
        return {
            "model": "DeepCMLL",
            "n_parameters": layout.total,
            "validated": True,
            "dtype": self.dtype,
            "networks": [list(layout.features), list(layout.labels)],
            "beta": beta,
            **{name: float(getattr(self, name)) for name in names},
            "data": content,
        }

    def _keep(self, start: Start, layout: Layout, flat: Any, now: Encoded, Y: Any) -> None:
        """What predicting needs: the way to U, the ridge to the codes, and the decoder."""
        d = start.sizes[0]
        *hidden, (W, b) = feature_layers(start, layout, flat)
        unit = now.factor * start.unit_u
        self.layers_ = (*hidden, (unit * W[:, :d], unit * b[:d]))
        self.projection_ = now.factor * start.P
        self._shift = start.mean @ self.projection_
        pair = RowsPair(now.U, Y)
        learned = learn(pair, None, pair.codes_of(now.V), float(self.alpha))
        self.coef_, self.intercept_ = learned.coefficients, learned.intercept
        self.decoder_ = (Y.T @ now.V).T
        self.offset_ = pair.mean_right - now.V.mean(axis=0) @ self.decoder_
        self.n_feature_components_, self.n_label_components_ = start.sizes

    # ---- predicting ---------------------------------------------------------------------------

    @property
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict: projection, network, ridge and decoder."""
        check_is_fitted(self, "coef_")
        layers = [part for layer in self.layers_ for part in layer]
        parts = (self.projection_, self.coef_, self.intercept_, self.decoder_, self.offset_)
        return sum(part.size for part in (*layers, *parts))

    def _encoded(self, X: Any) -> Array:
        return X @ self.projection_ - self._shift + answered(self.layers_, X)

    def _scored(self, X: Any) -> Array:
        codes = self._encoded(X) @ self.coef_ + self.intercept_
        return codes @ self.decoder_ + self.offset_
