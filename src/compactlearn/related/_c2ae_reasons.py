"""What a score of the networks is made of: features times mean slopes, on the score of zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.inspection._decomposition import Inside, Places
from compactlearn.inspection._terms import Parts, Terms, products
from compactlearn.linalg._arrays import scale_columns
from compactlearn.related._networks._layers import Networks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NetworksInside(Inside):
    """Fitted networks, and what is done before and after them."""

    networks: Networks
    scale: Array | None  # what the columns of X are divided by
    boundary: float
    complement: bool  # whether a single label has its opposite beside it

    def parts(self, X: Any, labels: Places) -> Parts:
        """Of the score itself, which lies between 0 and 1."""
        X = X if self.scale is None else scale_columns(X, 1.0 / self.scale)
        if not self.complement:
            return self._of_outputs(X, labels).plus(-self.boundary)
        without = self._of_outputs(X, np.zeros_like(labels)).times(-0.5)
        there = self._of_outputs(X, np.ones_like(labels)).times(0.5)
        return (there + without).plus(0.5 - self.boundary)

    def _of_outputs(self, X: Any, outputs: Places) -> Parts:
        base, slopes = self.networks.mean_slopes(X, outputs)
        return Parts(base, (Terms("feature", products(X, slopes, np.arange(len(outputs)))),))

    def label_vectors(self) -> Any:
        """The weights of the last layer."""
        if self.complement:
            return super().label_vectors()
        return self.networks.last_weights.T
