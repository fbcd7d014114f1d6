"""Base of methods that project the features and keep the labels as they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.embeddings._base import Embedded, Embedding, Head
from compactlearn.embeddings._components import feature_count
from compactlearn.linalg._codes import Codes, peak_signs
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]


class ProjectedFeatures(Embedding):
    """Base of the methods that only choose the directions of the features."""

    n_feature_components: Any

    @abstractmethod
    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        """Return up to d directions, best first, and their eigenvalues.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        d : int
            The number of directions.
        """

    def _feature_size(self, n_features: int, n_labels: int, given_features: int) -> int:
        return feature_count(self.n_feature_components, n_features, n_labels, given_features)

    def solve(self, pair: Pair) -> Embedded:
        d = self._feature_size(pair.n_left, pair.n_right, pair.given_left)
        P, values = self.directions(pair, d)
        codes = pair.right_codes(dense=False)
        P = P * peak_signs(pair.left.inner(P, codes.left).T)
        if not P.shape[1]:  # there is none; the learner gets one all the same
            P = pair.left.some_direction()
        return Embedded(
            codes=codes,
            projection=P,
            decoder=None,
            offset=np.zeros(pair.n_right),
            solver=f"closed-{pair.solver}",
            eigenvalues=values,
            objective=float(values.sum()),
        )

    def unprojected(self, pair: Pair) -> Embedded:
        nothing = np.zeros(pair.n_right)
        return Embedded(pair.right_codes(), None, None, nothing, f"closed-{pair.solver}")

    def heads(
        self, pair: Pair, result: Embedded, m: int | None, sizes: Sequence[Any]
    ) -> list[Head | None]:
        where = (pair.n_left, pair.n_right, pair.given_left)
        counts = [own._feature_size(*where) for own in self._sized(sizes)]
        P = self.project(pair, result.codes, max(counts))
        return [Head(P[:, :d]) for d in counts]

    def project(self, pair: Pair, codes: Codes, d: int) -> Array:
        P = self.directions(pair, d)[0]
        return P if P.shape[1] else pair.left.some_direction()
