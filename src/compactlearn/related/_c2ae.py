"""C2AEClassifier: features and labels embedded by deep networks into one space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import joblib
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_array, check_is_fitted

from compactlearn.compact._any_classifier import as_fitted
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
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import (
    check_features,
    n_rows_of,
)
from compactlearn.core._warn import warn_user
from compactlearn.crossfit._folds import validation_rows
from compactlearn.linalg._arrays import scale_columns
from compactlearn.linalg._graded import inverse_deviations
from compactlearn.linalg._row_sums import column_moments
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics._table import get_metric_of_scores
from compactlearn.related._networks._epochs import Course, Progress, advanced, begun
from compactlearn.related._networks._layers import Layout, Networks
from compactlearn.related._networks._training import (
    Descent,
    Examples,
    Objective,
    Trainer,
    choose_device,
    undisturbed,
    with_complement,
)
from compactlearn.related._networks._validation import Validation
from compactlearn.related._scored import ScoredClassifier, all_rows

Array = NDArray[np.float64]

_ALPHAS = {"code": 0.5, "paper": 10.0}  # measured, see docs/METHODS.md


class C2AEClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ScoredClassifier):
    """Canonical correlated autoencoder (C2AE): a deep latent space of features and labels.

    Three networks are trained together: Fx takes features and Fe labels to codes in one latent
    space, Fd takes codes to scores,

        minimise  Phi(Fx, Fe) + weight * Gamma(Fe, Fd).

    Phi asks the codes of a row's features and of its labels to agree, and both to be uncorrelated
    over the batch; Gamma asks the decoded codes to rank present labels above absent ones (formulas
    in Notes). A new row is scored by Fd(Fx(x)).

    It suits labels that depend on features in ways no linear map has, and enough rows to learn
    them from. Features should be of order one, see ``scale``. The defaults are this library's;
    those of the authors' program are ``method("C2AE")``.

    Parameters
    ----------
    n_components : int or float, default=256
        Size K of the latent space; a float is a ratio of the number of labels (2 for a single
        one). It may exceed the number of labels: measured, that is better (docs/METHODS.md).
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
    scale : bool, default=False
        Divide every feature by its standard deviation (no centring, so sparse stays sparse).
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
    checkpoint : path or None, default=None
        A file (.npz) that is written after each epoch and removed by nobody: ``fit`` with the same
        data (in the same form, dense or sparse) and parameters goes on from it, and anything else
        is refused. More ``max_epochs`` continue a finished training, fewer are refused;
        ``patience`` counts for the epochs to come. One file is for one training: not for
        cross-validation, whose folds are several.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "float64"}, default="float32"
        Of the training; predictions are computed in float64.
    random_state : int, RandomState, Generator or None, default=None
        Draws initial weights, validation rows and batches. On a CPU the same seed, PyTorch and
        number of threads give the same networks, bit for bit.
    verbose : int, default=0
        Above 0, a progress bar at a terminal.

    Attributes
    ----------
    networks_ : the three networks, NumPy arrays
    n_components_ : int
    n_epochs_ : int
        Epochs trained.
    best_epoch_ : int
        The epoch, from 1, whose networks were kept.
    history_ : dict
        "loss": the objective summed over the batches of each epoch; "score": of the validation
        rows, more is better (losses have their sign changed).
    device_ : str
    scale_ : ndarray of shape (n_features,), where ``scale`` was asked for
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

    Unknown labels (NaN in y, or ``unknown``) take no part in Gamma, and Fe reads the label's
    frequency in their place; rows with no known label are left out.

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
    ...     16, feature_hidden=(64,), label_hidden=(32,), scale=True, max_epochs=5, random_state=0
    ... )
    >>> model.fit(data.X, data.Y).predict(data.X[:2]).shape
    (2, 6)
    >>> model.transform(data.X[:2]).shape, model.n_epochs_
    ((2, 16), 5)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_components": (Integer(1), Real(0, 1, open_low=True)),
        "feature_hidden": (Widths(),),
        "label_hidden": (Widths(),),
        "mode": (Choice("code", "paper"),),
        "alpha": (Real(0, open_low=True), Nothing()),
        "lam": (Real(0),),
        "batch_size": (Integer(1),),
        "max_epochs": (Integer(1),),
        "learning_rate": (Real(0, open_low=True),),
        "decay": (Real(0, 1, open_low=True),),
        "l2": (Real(0),),
        "scale": (Flag(),),
        "validation_fraction": (Real(0, 1, open_high=True),),
        "patience": (Integer(1), Nothing()),
        "threshold": (Real(), Numbers()),
        "checkpoint": (FilePath(), Nothing()),
        "device": (Choice("auto", "cpu", "cuda"),),
        "dtype": (Choice("float32", "float64"),),
        "random_state": (Seed(),),
        "verbose": (Integer(0),),
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
        scale: bool = False,
        validation_fraction: float = 0.1,
        scoring: str = "average_precision",
        patience: int | None = 30,
        threshold: Any = 0.5,
        checkpoint: Any = None,
        device: str = "auto",
        dtype: str = "float32",
        random_state: Any = None,
        verbose: int = 0,
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
        self.scale = scale
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.patience = patience
        self.threshold = threshold
        self.checkpoint = checkpoint
        self.device = device
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    # ---- fitting ------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, sep: str | None = None, unknown: Any = None) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1, or NaN where unknown; a
            vector, or a dense matrix of one column, is read as one class per row.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where the label is not known.
        """
        return self._fitted(X, y, sep=sep, unknown=unknown)

    def _checked(self, X: Any, y: Any, sample_weight: Any, **given: Any) -> TrainingData:
        get_metric_of_scores(self.scoring)  # raises ValueError for what is no metric
        self.device_ = choose_device(self.device)
        return all_rows(self, X, y, **given)

    def _learn(self, data: TrainingData) -> None:
        examples = Examples.of(data.X, data.targets.matrix, data.targets.unknown)
        self.__dict__.pop("scale_", None)
        if self.scale:
            factors = inverse_deviations(*column_moments(examples.X))
            self.scale_ = 1.0 / factors
            examples = replace(examples, X=scale_columns(examples.X, factors))
        with undisturbed(self.device_):
            self._train(examples)

    def _train(self, examples: Examples) -> None:
        rng = seeded(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        n_labels = examples.Y.shape[1]
        self.n_components_ = _latent_size(self.n_components, n_labels)
        n_features = examples.X.shape[1]
        layout = Layout.of(
            n_features, n_labels, self.n_components_, self.feature_hidden, self.label_hidden
        )
        n_held = int(self.validation_fraction * examples.X.shape[0])
        course = Course(
            "C2AE",
            self.max_epochs,
            self.patience,
            self._training(layout, examples, n_held),
            self.checkpoint,
            self.verbose,
        )
        first = layout.initial(np.random.RandomState(seed)).astype(self.dtype)
        given = self.random_state is not None
        progress = begun(course, seed, first, seed_was_given=given)
        order = np.random.default_rng([progress.seed, 0]).permutation(examples.X.shape[0])
        held, learnt = validation_rows(examples.X, order, n_held)
        progress = self._advanced(progress, examples, learnt, held, layout, course)
        self.networks_ = Networks(layout, progress.parameters)
        self.n_epochs_, self.best_epoch_ = progress.n_epochs, progress.best_epoch + 1
        self.history_ = {"loss": list(progress.losses), "score": list(progress.scores)}
        if n_held and np.isnan(progress.scores).all():
            warn_user(
                f"The validation score {self.scoring} is not defined on the {n_held} validation "
                "rows, so epochs cannot be compared and the last one is kept; use more rows or "
                "another scoring.",
                UndefinedMetricWarning,
            )

    def _training(self, layout: Layout, examples: Examples, n_held: int) -> dict[str, Any]:
        """What tells this training from others: all that its epochs depend on but the seed."""
        names = ("mode", "alpha", "lam", "batch_size", "learning_rate", "decay", "l2", "scale")
        plain = {name: getattr(self, name) for name in (*names, "validation_fraction")}
        data = (examples.X, examples.Y, examples.unknown)
        content = None if self.checkpoint is None else joblib.hash(data)
        return {
            "n_parameters": layout.total,
            "validated": n_held > 0,
            "dtype": self.dtype,
            "networks": [list(layout.features), list(layout.labels), list(layout.decoder)],
            "scoring": self.scoring,
            "threshold": np.asarray(self.threshold, dtype=np.float64).tolist(),
            "kind": self.label_space_.kind,
            **{
                key: value if value is None or isinstance(value, str | bool) else float(value)
                for key, value in plain.items()
            },
            "data": content,
        }

    def _advanced(
        self,
        progress: Progress,
        examples: Examples,
        learnt: NDArray[np.intp],
        held: NDArray[np.intp],
        layout: Layout,
        course: Course,
    ) -> Progress:
        """Train on rows ``learnt`` to the last epoch, or until patience or numbers end."""
        alpha = _ALPHAS[self.mode] if self.alpha is None else self.alpha
        trainer = Trainer(
            layout,
            Objective.of(self.mode, float(alpha), float(self.lam)),
            Descent(float(self.learning_rate), float(self.decay), float(self.l2)),
            batch_size=min(self.batch_size, learnt.size),
            device=self.device_,
            dtype=self.dtype,
            masked=examples.unknown is not None,
        )
        trainer.load(progress.state)
        trainer.hold(examples)
        if not held.size:
            return advanced(trainer, progress, learnt, course)
        held_out = examples.take(held)
        validation = Validation(
            trainer,
            replace(held_out, X=drop_unseen_features(examples.X[learnt], held_out.X)),
            self.scoring,
            self.boundary_ if self.label_space_.kind == "binary" else self.threshold_,
            self.label_space_.kind,
            single=examples.Y.shape[1] != self.n_labels_,
            learnt_labels=examples.Y[learnt],
        )
        return advanced(trainer, progress, learnt, course, validation.score)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict: those of Fx and Fd."""
        check_is_fitted(self, "networks_")
        return self.networks_.size

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "networks_")
        X = check_features(self, X, reset=False)
        return scale_columns(X, 1.0 / self.scale_) if hasattr(self, "scale_") else X

    def _scored(self, X: Any) -> Array:
        return self._of_labels(self.networks_.decoded(self.networks_.latent(X)))

    def _of_labels(self, P: Array) -> Array:
        """Scores of labels from the networks': they differ where a label has a complement."""
        return 0.5 * (1.0 + P[:, 1:] - P[:, :1]) if P.shape[1] != self.n_labels_ else P

    def transform(self, X: Any) -> Array:
        """Return the codes of features, Fx(X), of shape (n_samples, n_components).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self.networks_.latent(self._prepare(X))

    def encode(self, Y: Any) -> Array:
        """Return the codes of labels, Fe(Y), of shape (n_samples, n_components).

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1; where ``fit`` had a vector of classes, such a vector, and where it had
            names, lists of these if you like.
        """
        check_is_fitted(self, "networks_")
        classes = self.label_space_.vector_classes
        if classes is None:
            Y = as_fitted(self, Y, sep=None, owner="encode")
            if np.ndim(Y) == 2 and not scipy.sparse.issparse(Y):
                Y = scipy.sparse.csr_array(np.asarray(Y))  # one column is a label, not classes
        matrix = check_targets(Y, n_rows_of(Y), classes=classes, owner="encode").matrix
        if matrix.shape[1] != self.n_labels_:
            raise ValueError(
                f"encode needs the {self.n_labels_} labels of fit, and Y has {matrix.shape[1]}; "
                "pass a matrix with the same columns."
            )
        return self.networks_.codes_of_labels(with_complement(matrix))

    def decode(self, codes: Any) -> Array:
        """Return the scores of codes, Fd(codes), of shape (n_samples, n_labels).

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_components)
            What ``transform`` or ``encode`` returns.
        """
        check_is_fitted(self, "networks_")
        try:
            codes = check_array(codes, dtype=np.float64, input_name="codes")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"decode needs a dense matrix of finite codes ({str(error).rstrip('.')}); pass "
                "what transform or encode return."
            ) from error
        if codes.shape[1] != self.n_components_:
            raise ValueError(
                f"decode needs codes with {self.n_components_} columns, and was given the shape "
                f"{codes.shape}; pass what transform or encode return."
            )
        return self._of_labels(self.networks_.decoded(codes))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


def _latent_size(asked: int | float, n_labels: int) -> int:
    if Integer().accepts(asked):
        return int(asked)
    return max(1, math.floor(float(asked) * n_labels + 0.5))
