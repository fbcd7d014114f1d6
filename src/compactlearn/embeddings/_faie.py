"""FaIE: codes without an encoder, recoverable into the labels and predictable from the features.

maximise  tr V' (YY' + beta Hat) V   with  V'V = I_m

Y (N, M) labels, Hat (N, N) the hat matrix of a ridge regression with a free intercept on the
features X (N, D), V (N, m) codes. Labels are decoded by W = V'Y (m, M), which for orthonormal
V minimises ||Y - VW||. CMLL with features kept is the same with XcXc' in place of Hat.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Real
from compactlearn.embeddings._base import (
    Embedded,
    Embedding,
    Plan,
    Traits,
    automatic_balance,
    note_shortfall,
    shared_ridge,
)
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.embeddings._encoders import OFFSETS, ROUTES
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]


class FaIE(Embedding):
    """Feature-aware implicit label space encoding.

    Orthonormal codes V that maximise ``tr V'(YY' + beta Hat)V``: the labels can be recovered from
    them linearly, and they are close to what a ridge regression on the features can reach. There
    is no encoder: codes exist for the training rows only.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500).
    beta : float or "auto", default="auto"
        Weight of predictability. The hat matrix has eigenvalues up to 1 while those of YY' grow
        with N, so small weights hardly act; "auto" is 0.1 ||Y||^2 / tr(Hat).
    ridge : float or "shared", default="shared"
        Penalty in the hat matrix. "shared" is the ``alpha`` of the classifier around it, as in the
        public code, and 1.0 when the embedding is fitted by itself.
    offset : {"mean", "none"}, default="mean"
        "mean" lets scores have the labels' mean; "none" is the decoder as published.
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        Form in which the data are processed; the result is the same for all of them.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
    offset_ : ndarray of shape (n_labels,)
    eigenvalues_ : ndarray of shape (n_label_components_,)
        Leading eigenvalues of ``YY' + beta_ Hat``.
    beta_, ridge_ : float
        Balance and penalty that were used.
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_, dependence_, recovery_ : float
        ``beta_ * dependence_ + recovery_`` with ``tr V'HatV`` and ``||Y'V||^2``.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    Public programs disagree, and unlike PLST the differences change the codes: mlc_lsdr feeds
    -1/+1 labels and a hat matrix without intercept (with beta and ridge 0.1), MLC_toolbox 0/1
    labels and a penalised column of ones. With D >= N and a tiny ridge the hat matrix is the
    identity, and beta has no effect at all.

    References
    ----------
    Z. Lin, G. Ding, M. Hu, J. Wang. Multi-label classification via feature-aware implicit label
    space encoding. ICML 2014, 325-333.

    Examples
    --------
    >>> from compactlearn import FaIE
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> FaIE(n_label_components=3).fit(data.X, data.Y).codes_.shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "beta": (Real(0), Choice("auto")),
        "ridge": (Real(0), Choice("shared")),
        "offset": OFFSETS,
        "solver": ROUTES,
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        beta: float | str = "auto",
        ridge: float | str = "shared",
        offset: str = "mean",
        solver: str = "auto",
    ) -> None:
        self.n_label_components = n_label_components
        self.beta = beta
        self.ridge = ridge
        self.offset = offset
        self.solver = solver

    @property
    def traits(self) -> Traits:
        return Traits(solver=self.solver, shares_penalty=self.ridge == "shared")

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="hat")

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        ridge = shared_ridge(self.ridge)
        hat = ridge_of(pair).hat(ridge)
        beta = automatic_balance(self.beta, pair.right_energy, hat.trace)
        codes = hat.codes(m, beta)
        note_shortfall(self, m, codes, pair)
        return self._embedded(pair, codes, beta, ridge, hat.energies(codes))

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded:
        assert result.dependences is not None
        part = result.dependences[:m]
        return self._embedded(pair, result.codes.leading(m), result.beta, result.ridge, part)

    def _embedded(
        self,
        pair: Pair,
        codes: Codes,
        beta: float | None,
        ridge: float | None,
        dependences: Array,
    ) -> Embedded:
        assert codes.right is not None
        assert codes.values is not None
        decoder, offset = codes.right.T, np.zeros(pair.n_right)
        if self.offset == "mean":
            offset = pair.mean_right - (codes.total / pair.count) @ decoder
        return Embedded(
            codes=codes,
            projection=None,
            decoder=decoder,
            offset=offset,
            solver=f"closed-{pair.solver}",
            eigenvalues=codes.values,
            beta=beta,
            ridge=ridge,
            objective=float(codes.values.sum()),
            dependence=float(dependences.sum()),
            dependences=dependences,
            recovery=float(np.sum(decoder**2)),
        )
