"""Labels of a model: their names, how they are asked for, and which are near which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from compactlearn.core._left_out import drop_left_out
from compactlearn.core._params import Integer, nearest
from compactlearn.decoding._topk import top_labels

Array = NDArray[np.float64]

_COSINES = 1 << 22  # thirty-two megabytes of them at a time


@dataclass(frozen=True)
class LabelNames:
    """Names of labels, and which column of the scores is theirs."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    two_classes: bool  # one score is between them
    model: Any

    @classmethod
    def of(cls, model: Any) -> LabelNames:
        """Return those of a fitted classifier; the classes where labels have no names."""
        classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
        known = getattr(model, "label_names_", None)
        named = known is not None and len(known) == len(classes)
        names = tuple(str(name) for name in (known if named else classes))
        two_classes = len(classes) == 2 and getattr(model, "n_labels_", 1) == 1
        return cls(names, classes, two_classes, model)

    @property
    def count(self) -> int:
        """The number of labels."""
        return len(self.names)

    def by_column(self, Y: Any, owner: str) -> Any:
        """Return lists of names as a matrix with the model's columns; others as they are."""
        return drop_left_out(self.model, Y, owner=owner)

    def as_matrix(self, Y: Any, owner: str) -> Any:
        """Return labels of rows as a matrix: lists of names, and a vector of classes, as well."""
        Y = self.by_column(Y, owner)
        if np.ndim(Y) != 1 or scipy.sparse.issparse(Y):
            return Y
        return (np.asarray(Y)[:, None] == np.asarray(self.classes)[None, :]).astype(np.int64)

    def places(self, asked: Any) -> list[int]:
        """Return the places of labels that are asked for by name or number."""
        given = [asked] if isinstance(asked, str) or not np.iterable(asked) else list(asked)
        return [self.place(one) for one in given]

    def place(self, asked: Any) -> int:
        """Return the place of one label."""
        asked = asked.item() if isinstance(asked, np.generic) else asked
        if asked in self.names:
            return self.names.index(asked)
        if not isinstance(asked, bool) and asked in self.classes:
            return self.classes.index(asked)
        if Integer(0, self.count - 1).accepts(asked) and isinstance(self.classes[0], str):
            return int(asked)
        some = ", ".join(repr(name) for name in self.names[:5])
        raise ValueError(
            f"Labels are asked for by name or number, this model has {self.count} ({some}"
            f"{', ...' if self.count > 5 else ''}), and {asked!r} is none of them; pass one that "
            f"it has.{nearest(str(asked), self.names)}"
        )


def nearest_labels(vectors: Any, asked: Any, k: int) -> tuple[NDArray[np.intp], Array]:
    """Return the k rows of largest cosine with each of the asked rows but itself, best first.

    >>> near, cosines = nearest_labels(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]), [0], 2)
    >>> near, np.round(cosines, 3)
    (array([[2, 1]]), array([[0.707, 0.   ]]))
    """
    units, asked = normalize(vectors), np.asarray(asked, dtype=np.intp)
    n_labels = units.shape[0]
    k = min(k, n_labels - 1)
    near, cosines = np.empty((asked.size, k), dtype=np.intp), np.empty((asked.size, k))
    if k == 0:
        return near, cosines
    step = max(1, _COSINES // n_labels)
    for start in range(0, asked.size, step):
        rows = slice(start, start + step)
        own = asked[rows]
        found = units[own] @ units.T
        found = found.toarray() if scipy.sparse.issparse(found) else found
        found[np.arange(own.size), own] = -np.inf
        near[rows], cosines[rows] = top_labels(found, k)
    return near, np.clip(cosines, -1.0, 1.0)
