"""Labels in groups of those that occur together: spectral clustering of their cosines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._eigen import all_eigenpairs

Array = NDArray[np.float64]
Places = NDArray[np.intp]


def label_groups(gram: Array, count: int) -> Places:
    """The group (M,) of every label, from ``Y'Y``; groups are numbered by their first label.

    Nothing is drawn: the centres start from labels that are far from each other.

    >>> Y = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0.0]])
    >>> label_groups(Y.T @ Y, 2)
    array([0, 0, 1, 1])
    """
    points = _spectral_points(gram, count)
    groups = _nearest(points, points[_far_apart(points, count)])
    for _ in range(100):
        centres = [points[groups == g].mean(axis=0) for g in np.unique(groups)]
        found = _nearest(points, np.array(centres))
        if np.array_equal(found, groups):
            break
        groups = found
    first = np.unique(groups, return_index=True)[1]
    names = np.argsort(np.argsort(first))
    return names[np.searchsorted(np.unique(groups), groups)]


def _spectral_points(gram: Array, count: int) -> Array:
    """Leading eigenvectors of the normalised cosines, rows of length 1."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    cosines = gram * inverse * inverse[:, None]
    degrees = 1.0 / np.sqrt(np.maximum(cosines.sum(axis=1), 1e-12))
    vectors = all_eigenpairs(cosines * degrees * degrees[:, None])[1][:, :count]
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(sizes > 0, sizes, 1.0)


def _far_apart(points: Array, count: int) -> list[int]:
    """The first point, and then each time that which is farthest from those before."""
    chosen = [0]
    distances = np.sum((points - points[0]) ** 2, axis=1)
    while len(chosen) < count and distances.max() > 1e-9:
        chosen.append(int(np.argmax(distances >= distances.max() - 1e-9)))
        distances = np.minimum(distances, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
    return chosen


def _nearest(points: Array, centres: Array) -> Places:
    distances = np.sum((points[:, None, :] - centres) ** 2, axis=2)
    return np.argmin(np.round(distances, 9), axis=1)
