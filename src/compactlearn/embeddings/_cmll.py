"""CMLL: features and labels embedded together, each guiding the other.

The problem (Lv et al., "Compact Learning for Multi-Label Classification", section 3):

    maximise  beta ||P'Xc'V||^2 + ||Y'V||^2   with  V'V = I_m,  P'P = I_d

    X (N, D) features, Xc their centred rows, Y (N, M) labels, V (N, m) label codes,
    P (D, d) feature projection, W = V'Y / (1 + label_ridge) (m, M) decoder.

For fixed V the best P reaches ||Xc'V||^2 as soon as d >= rank(Xc'V), which is at most m. The
problem is then one eigenproblem in V, and only for smaller d is an alternation needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Integer, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._ascent import (
    AscentObjective,
    State,
    climb_from_several,
    closed_form,
    dependence,
    fixed_codes,
)
from compactlearn.embeddings._base import (
    Embedded,
    Head,
    Plan,
    Traits,
    automatic_balance,
    note_shortfall,
)
from compactlearn.embeddings._completion import COMPLETIONS, CompletedEmbedding
from compactlearn.embeddings._components import (
    COUNTS_OR_NONE,
    component_count,
    default_label_size,
    left_noun,
)
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import ROUTES

Array = NDArray[np.float64]

# With few labels, all of them kept, the learner gets at least this many features. Seeded 5-fold
# average precision at penalty 1 (bench/accuracy): emotions .764 at d = m = 6, .794 at 24, .806
# for plain ridge; yeast .757 at 14, .760 at 24; plant .591 at 12, .583 at 24, .495 for ridge.
MIN_AUTO_FEATURES = 24


# With completion="krylov" it gets twice as many features as codes, and with few codes up to eight
# times as many, but then at most this number.
MIN_KRYLOV_FEATURES = 64


class CMLL(CompletedEmbedding):
    """Compact multi-label learning: joint linear embedding of features and labels.

    Maximises ``beta ||P'Xc'V||^2 + ||Y'V||^2`` over orthonormal feature projections P (D, d) and
    orthonormal label codes V (N, m): the codes depend on the projected features as much as
    possible and recover the labels as well as possible.

    Use it where labels are many and correlated, or where a learner is too expensive for all
    features and all labels. With a handful of labels compression buys nothing: keep
    ``n_label_components`` at the number of labels (the default does so up to 16).

    Parameters
    ----------
    n_feature_components : int, float in (0, 1], "auto" or None, default="auto"
        d. A float is a ratio of D. "auto" is min(m, D), cut to the rank: more cannot raise the
        objective (with ``completion="krylov"`` it is 2m; few codes get more, up to 64). Where fewer
        than 24 labels are all kept, "auto" is min(24, D), and the further columns are the leading
        principal directions of the residual: six directions for six labels are too few for the
        learner (measured on emotions). None keeps the features as they are (CMLL_y). More than m
        (or the rank) are found only with a ``completion``; without one, ``n_feature_components_``
        is smaller than requested.
    n_label_components : int, float in (0, 1], "auto" or None, default="auto"
        m. A float is a ratio of M. "auto" is min(M, max(16, ceil(M / 2)), 500), and less where that
        would not fit in the memory. None keeps the labels as they are: codes and decoder are then
        sparse, and ``label_ridge`` and ``offset`` without effect. More components than the rank
        allows are cut, with a warning.
    beta : float or "auto", default="auto"
        Weight of the dependence on the features against the recovery of the labels. "auto" is
        0.1 ||Y||^2 / ||Xc||^2, so that the units of X do not matter.
    label_ridge : float, default=0.0
        The decoder's ridge; it divides the decoder by ``1 + label_ridge`` and does nothing else.
    offset : {"mean", "none"}, default="mean"
        "mean" lets scores have the labels' mean, which codes alone lose when beta is large;
        "none" is the paper's decoder.
    solver : {"auto", "moments", "dual", "krylov", "randomized"}, default="auto"
        Form in which the data are processed. All are exact but "randomized", which stops at codes
        that reach 99.99 % of the objective; "auto" uses it if exact codes would take more than
        about a second. In each the closed form is used if d >= min(m, rank), and otherwise an
        accelerated alternation in the small space that starts from it.
    completion : {"none", "krylov"}, default="none"
        Columns of P beyond the rank of Xc'V: none, or directions of Xc'Xc P, (Xc'Xc)^2 P and so on
        (nested; a few of them come close to the ridge on all features).
    max_iter : int, default=50
        A tenth of the most rounds that the accelerated alternation takes.
    tol : float, default=1e-5
        The accelerated alternation stops where the objective changes by less than a millionth of
        it, relative.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the start of "randomized", also if "auto" selects it. With None it is always the same.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_) or None
    decoder_ : ndarray of shape (n_label_components_, n_labels)
    offset_ : ndarray of shape (n_labels,)
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    eigenvalues_ : ndarray of shape (n_label_components_,), if the closed form is used
        Leading eigenvalues of ``beta_ XcXc' + YY'``; ``objective_`` is their sum, or slightly more
        where they are not exact.
    objective_share_ : float, if the closed form is used
        Lower bound of the share of the largest objective that is reached: 1.0 if codes are exact.
    beta_ : float
        The balance that was used.
    objective_, dependence_, recovery_ : float
        The objective at the solution and its two terms, ``beta_ * dependence_ + recovery_``.
    objective_path_ : ndarray
        The objective after each accepted round of the accelerated alternation; one entry for the
        closed form.
    n_iter_ : int
        Rounds of alternation; 1 for the closed form.
    n_feature_components_, n_label_components_ : int
    solver_ : str
        Algorithm and route, for example "closed-moments".
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    J. Lv, T. Wu, C. Peng, Y. Liu, N. Xu, X. Geng. Compact Learning for Multi-Label
    Classification. arXiv 2009.08607, section 3 and Algorithm 1.

    Examples
    --------
    >>> from compactlearn import CMLL
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> embedding = CMLL(n_label_components=10).fit(data.X, data.Y)
    >>> embedding.transform(data.X).shape, embedding.codes_.shape
    ((1702, 10), (1702, 10))
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_feature_components": COUNTS_OR_NONE,
        "n_label_components": COUNTS_OR_NONE,
        "beta": (Real(0), Choice("auto")),
        "label_ridge": (Real(0),),
        "offset": (Choice("mean", "none"),),
        "solver": (Choice("auto", *ROUTES),),
        "completion": (Choice(*COMPLETIONS),),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_feature_components: int | float | str | None = "auto",
        n_label_components: int | float | str | None = "auto",
        beta: float | str = "auto",
        label_ridge: float = 0.0,
        offset: str = "mean",
        solver: str = "auto",
        completion: str = "none",
        max_iter: int = 50,
        tol: float = 1e-5,
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
        self.random_state = random_state

    def sizes(
        self, n_features: int, n_labels: int, given_features: int, m: int | None = None
    ) -> tuple[int | None, int | None]:
        """Return d and m as numbers (m only if it is not given); None where a space is kept.

        Parameters
        ----------
        n_features, n_labels, given_features : int
            As in :meth:`plan`.
        m : int or None, default=None
            The number of label components, where it is known.
        """
        if m is None:
            size = self.n_label_components
            m = component_count(size, n_labels, "n_label_components", "labels", default_label_size)
        limit = n_labels if m is None else m
        d = component_count(
            self.n_feature_components,
            n_features,
            "n_feature_components",
            left_noun(n_features, given_features),
            lambda size: min(size, self._automatic(limit)),
            ratio_of=given_features,
        )
        return d, m

    def _automatic(self, limit: int) -> int:
        """Return the number of feature components for "auto" and ``limit`` codes."""
        if self.completion != "krylov":
            return limit
        return max(2 * limit, min(8 * limit, MIN_KRYLOV_FEATURES))

    @property
    def traits(self) -> Traits:
        return Traits(solver=self.solver, keeps_offset=self.offset == "mean")

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        d, m = self.sizes(n_features, n_labels, given_features)
        limit = n_labels if m is None else m
        extra = 0
        if d is not None and self.completion != "none":
            extra = max(0, d - limit)
        if self._tops_up(m, n_labels) and d is not None:
            extra = max(extra, min(MIN_AUTO_FEATURES, n_features) - d)
        return Plan(
            components=m or 0,
            keeps_features=d is None,
            n_codes=limit,
            extra_directions=extra,
            problem="left" if m is None else "joint",
        )

    def solve(self, pair: Pair) -> Embedded:
        d, m = self.sizes(pair.n_left, pair.n_right, pair.given_left)
        problem = AscentObjective(pair, self._balance(pair))
        state = fixed_codes(problem, d) if m is None else self._climb(problem, d, m)
        note_shortfall(self, m or 0, state.codes, pair)
        return self._embedded(problem, state, d, m)

    def asked_codes(self, pair: Pair) -> tuple[int, float, int]:
        """Return how many codes ``solve`` will ask a pair for, the balance and the seed.

        For those who can find codes of several pairs at once.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        """
        _, m = self.sizes(pair.n_left, pair.n_right, pair.given_left)
        assert m is not None
        return m, self._balance(pair), self._start(pair)

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        if self.n_label_components is None or result.eigenvalues is None:
            return None
        d, _ = self.sizes(pair.n_left, pair.n_right, pair.given_left, m)
        assert result.beta is not None
        problem = AscentObjective(pair, result.beta)
        state, rank = closed_form(problem, result.codes.leading(m), d)
        if d is not None and d < rank:
            return None
        return self._embedded(problem, state, d, m)

    def unprojected(self, pair: Pair) -> Embedded:
        own = copy(self)
        own.n_feature_components = None
        return own.solve(pair)

    def heads(
        self, pair: Pair, result: Embedded, m: int | None, sizes: Sequence[Any]
    ) -> list[Head | None]:
        counts = []
        for own in self._sized(sizes):
            d, _ = own.sizes(pair.n_left, pair.n_right, pair.given_left, m)
            assert d is not None
            everything = self.completion == "krylov" and pair.n_left <= d < pair.count
            counts.append((d, own._tops_up(m, pair.n_right), everything))
        if all(everything for _, _, everything in counts):  # no range is needed
            return [Head(None)] * len(sizes)
        if m is None:
            full, needed = pair.cross_range(min(pair.n_left, pair.n_right))[0], 0
        else:
            full = pair.left.leading_range(result.codes.left)[0]
            needed = full.shape[1] if result.beta else 0
        rank, longer = full.shape[1], full
        more = max(d for d, _, everything in counts if not everything) - rank
        if self.completion == "krylov" and rank and more > 0:
            longer = np.hstack([full, self.further_directions(pair, full, more)])
        heads: list[Head | None] = []
        for d, topped, everything in counts:
            if everything:
                heads.append(Head(None))
                continue
            P = longer[:, :d]
            extra = min(MIN_AUTO_FEATURES, pair.n_left) - P.shape[1] if topped else 0
            heads.append(Head(P, max(0, extra)) if P.shape[1] and d >= needed else None)
        return heads

    def _embedded(
        self, problem: AscentObjective, state: State, d: int | None, m: int | None
    ) -> Embedded:
        pair, beta = problem.pair, problem.beta
        P, codes = state.projection, state.codes
        if P is not None and d is not None:
            P = self._widen(pair, P, d, m)
        decoder, offset = None, np.zeros(pair.n_right)
        if m is not None:
            assert codes.right is not None
            decoder = codes.right.T / (1.0 + self.label_ridge)
            if self.offset == "mean":
                offset = pair.mean_right - (codes.total / pair.count) @ decoder
        seen = dependence(pair, codes, P)
        recovery = problem.recovery(codes)
        return Embedded(
            codes=codes,
            projection=P,
            decoder=decoder,
            offset=offset,
            solver=f"{state.algorithm}-{pair.solver}",
            eigenvalues=codes.values if state.algorithm == "closed" else None,
            share=codes.share if state.algorithm == "closed" and m is not None else None,
            beta=beta,
            objective=beta * seen + recovery,
            dependence=seen,
            recovery=recovery,
            path=np.asarray(state.path),
            n_iter=state.n_iter,
        )

    def _tops_up(self, m: int | None, n_labels: int) -> bool:
        """Return whether "auto" is raised to ``MIN_AUTO_FEATURES``, as all labels are kept."""
        return self.n_feature_components == "auto" and m in (None, n_labels)

    def project(self, pair: Pair, codes: Codes, d: int) -> Array | None:
        if self.n_feature_components is None:
            return None
        if codes.right is None:
            P = pair.cross_range(d)[0]
        else:
            P = pair.left.leading_range(codes.left)[0][:, :d]
        return self._widen(pair, P, d, None if codes.right is None else codes.size)

    def _widen(self, pair: Pair, P: Array, d: int, m: int | None) -> Array:
        """Return P with further columns, up to d, if the parameters ask for them."""
        if d > P.shape[1]:
            P = np.hstack([P, self.further_directions(pair, P, d - P.shape[1])])
        wanted = min(MIN_AUTO_FEATURES, pair.n_left) - P.shape[1]
        if self._tops_up(m, pair.n_right) and wanted > 0:
            P = np.hstack([P, pair.left.principal_directions(wanted, P)[0]])
        # Constant features have no direction at all; the learner gets one of them, not nothing.
        return P if P.shape[1] else pair.left.some_direction()

    def _balance(self, pair: Pair) -> float:
        seen = pair.left.energy if pair.left.has_variance else 0.0
        return automatic_balance(self.beta, pair.right_energy, seen)

    def _climb(self, problem: AscentObjective, d: int | None, m: int) -> State:
        """Return the closed form, improved by the accelerated alternation if d is too small."""
        codes = problem.leading_codes(m, seed=self._start(problem.pair))
        state, rank = closed_form(problem, codes, d)
        P = state.projection
        if d is None or P is None or d >= rank:
            return state
        return climb_from_several(problem, codes, P, m, tol=self.tol, max_iter=self.max_iter)

    def _start(self, pair: Pair) -> int:
        """Return the seed of a search for codes; 0, without a draw, if no seed is needed."""
        if self.random_state is None or pair.enough >= 1.0:
            return 0
        return int(seeded(self.random_state).randint(2**31 - 1))
