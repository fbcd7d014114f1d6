"""PLST: principal components of the labels.

minimise ||Yc - Yc O O'||^2   with  O'O = I_m

Y (N, M) labels, ybar their mean, Yc = Y - 1 ybar', O (M, m) directions, V = Yc O (N, m) codes;
decoded scores are v O' + ybar. O are the leading right singular vectors of Yc.
"""

from __future__ import annotations

from typing import ClassVar

from compactlearn.core._params import Constraint
from compactlearn.embeddings._components import COUNTS
from compactlearn.embeddings._encoders import OFFSETS, ROUTES, Encoder, LabelProblem
from compactlearn.linalg._pairs import Pair


class PLST(Encoder):
    """Principal label space transformation: principal components of the labels.

    Codes are the labels' coordinates along the m directions in which they vary most; the features
    take no part. It is the cheapest label compression, and the one to beat.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). Components without
        variance are cut, with a warning.
    offset : {"mean", "none"}, default="mean"
        "mean" centres the labels, and the decoder adds their mean back. "none" is for comparison
        with programs that have no constant anywhere: labels are not centred, nothing is added.
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        Form in which the data are processed; the result is the same for all of them.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
        O', orthonormal rows.
    offset_ : ndarray of shape (n_labels,)
        The labels' mean.
    eigenvalues_ : ndarray of shape (n_label_components_,)
        Squared singular values of the labels.
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_ : float
        ``||Yc O||^2``, the sum of the eigenvalues.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    The authors' public code (mlc_lsdr) recodes 0/1 labels to -1/+1, which changes neither O nor,
    once scores are mapped back, any decision, and fixes the regression's penalty at 0.1 with a
    penalised intercept. Some copies give rows with an empty prediction their best label; nothing
    here does so silently.

    References
    ----------
    F. Tai, H.-T. Lin. Multilabel classification with principal label space transformation. Neural
    Computation 24(9), 2508-2542, 2012.

    Examples
    --------
    >>> from compactlearn import PLST, CompactClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> model = CompactClassifier(PLST(n_label_components=10), alpha=100.0).fit(data.X, data.Y)
    >>> model.predict_codes(data.X).shape
    (1702, 10)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "offset": OFFSETS,
        "solver": ROUTES,
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        offset: str = "mean",
        solver: str = "auto",
    ) -> None:
        self.n_label_components = n_label_components
        self.offset = offset
        self.solver = solver

    def _matrix(self, pair: Pair) -> LabelProblem:
        shift = -pair.mean_right if self.offset == "mean" else None
        return LabelProblem(pair.right_gram(centre=shift is not None), pair.n_right, shift)
