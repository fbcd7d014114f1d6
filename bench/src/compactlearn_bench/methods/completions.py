"""CMLL and MDDM with projections that are filled up to the requested size, as in the paper.

X (N, D) features, Xc their centred rows, P (D, d) projection. The paper's tables vary d up to D,
but its problems determine at most as many columns as there are codes or labels, and it does not say
where the others come from. Here they are the directions of largest variance, or random ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from compactlearn import method
from compactlearn.embeddings import CMLL, MDDM, CompletedEmbedding
from compactlearn.utils import Constraint, Seed
from compactlearn_bench.methods.grids import SETTINGS

__all__ = ["PaperCMLL", "PaperMDDM", "method_with_completion"]

_FILLED = ("variance", "random")  # the library's own are not sure to reach the requested size
_PARAMETERS: dict[str, tuple[Constraint, ...]] = {
    "completion": SETTINGS["completion"].allowed,
    "random_state": (Seed(),),
}


class _Filled(CompletedEmbedding):
    """The two completions of the paper, for an embedding that has the library's."""

    random_state: Any

    def further_directions(self, pair: Any, P: Any, count: int) -> Any:
        if self.completion not in _FILLED:
            return super().further_directions(pair, P, count)
        Q, seed = P[:, :0], self.random_state
        if self.completion == "variance":
            Q, seed = pair.left.principal_directions(count, P)[0], 0
        missing = count - Q.shape[1]  # for "variance" they have none: any will do
        if not missing:
            return Q
        drawn = check_random_state(seed).standard_normal((pair.n_left, missing))
        return np.hstack([Q, pair.left.extension(np.hstack([P, Q]), drawn)])

    def heads(self, pair: Any, result: Any, m: int | None, sizes: Sequence[Any]) -> list[Any]:
        if self.completion not in _FILLED:
            return super().heads(pair, result, m, sizes)
        heads: list[Any] = copy(self).set_params(completion="none").heads(pair, result, m, sizes)
        for place, head in enumerate(heads):
            own = copy(self).set_params(n_feature_components=sizes[place])
            missing = head and own._n_columns(pair, m) - head.columns.shape[1]
            if missing and missing > 0:  # random directions of a size are not those of another
                wider = None if self.completion == "random" else max(missing, head.extra)
                heads[place] = wider and replace(head, extra=wider)
        return heads

    @abstractmethod
    def _n_columns(self, pair: Any, m: int | None) -> int:
        """Return the requested number of columns."""


class PaperCMLL(_Filled, CMLL):
    """CMLL that also has the completions "variance" (deterministic and nested) and "random".

    Parameters
    ----------
    n_feature_components, n_label_components, beta, label_ridge, offset, solver, completion, \
max_iter, tol, random_state
        As in ``CMLL``; "random" is seeded too.
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {**CMLL._constraints, **_PARAMETERS}

    def _n_columns(self, pair: Any, m: int | None) -> int:
        return self.sizes(pair.n_left, pair.n_right, pair.given_left, m)[0] or 0


class PaperMDDM(_Filled, MDDM):
    """MDDM that also has the completions "variance" (deterministic and nested) and "random".

    Parameters
    ----------
    n_feature_components, completion, solver
        As in ``MDDM``.
    random_state : int, RandomState or None, default=None
        Seeds "random".
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {**MDDM._constraints, **_PARAMETERS}

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        completion: str = "none",
        solver: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_feature_components, completion, solver)
        self.random_state = random_state

    def _n_columns(self, pair: Any, m: int | None) -> int:
        plan = self.plan(pair.n_left, pair.n_right, pair.given_left)
        return plan.components + plan.extra_directions


def method_with_completion(name: str, *, completion: str | None = None, **params: Any) -> Any:
    """Return a method as ``compactlearn.method`` does, but also with a completion of the paper.

    Parameters
    ----------
    name : str
        One of ``compactlearn.METHODS``.
    completion : {"variance", "random", "none", "krylov"} or None, default=None
        Of CMLL and MDDM, with a kernel or without; None is their default.
    **params
        As in ``compactlearn.method``.
    """
    if completion not in _FILLED:
        return method(name, **({} if completion is None else {"completion": completion}), **params)
    model = method(name, **params)
    kind = PaperMDDM if isinstance(model.embedding, MDDM) else PaperCMLL
    own: dict[str, Any] = {**model.embedding.get_params(), "completion": completion}
    own["random_state"] = params.get("random_state")
    return model.set_params(embedding=kind(**own))
