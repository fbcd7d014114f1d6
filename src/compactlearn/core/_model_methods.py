"""Methods of models that upper layers answer: files, ONNX, explanations.

The modules that store, export and explain models import the models. To avoid import cycles, these
methods import such a module only when they are called.
"""

from __future__ import annotations

import os
from typing import Any

from compactlearn.core._lazy import load
from compactlearn.core._optional import require


class Storable:
    """Gives an estimator the method :meth:`save`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, which `compactlearn.load_model` reads.

        See :func:`compactlearn.save_model`. Loading executes nothing.

        Parameters
        ----------
        path : path
            The file; it is replaced, in one step, if there is one.
        """
        load("compactlearn.io._model_file").save_model(self, path)


class Exportable:
    """Gives a classifier :func:`compactlearn.to_onnx` as a method."""

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        topk: int | None = None,
        dtype: str = "float32",
        check: Any = None,
    ) -> Any:
        """Write the fitted model as an ONNX graph; see :func:`compactlearn.to_onnx`.

        Parameters
        ----------
        path, topk, dtype, check
            As in :func:`compactlearn.to_onnx`.
        """
        export = require("compactlearn.io.onnx", extra="onnx", purpose="Export to ONNX")
        return export.to_onnx(self, path, topk=topk, dtype=dtype, check=check)


class Explainable:
    """Gives a classifier :func:`compactlearn.explain` and `label_neighbours` as methods."""

    def explain(
        self, X: Any, labels: Any = None, k: int | None = 10, *, feature_names: Any = None
    ) -> Any:
        """Split scores into terms for and against labels; see :func:`compactlearn.explain`.

        Parameters
        ----------
        X : as in ``predict``
        labels : name or number of a label, list of these, or None, default=None
            None are the labels that ``predict`` gives a row, and where it gives none its best one.
        k : int or None, default=10
            How many of the strongest terms are kept; None keeps all.
        feature_names : list of str or None, default=None
            Names of the columns, where X has none.
        """
        inspection = load("compactlearn.inspection._explain")
        return inspection.explain(self, X, labels, k, feature_names=feature_names)

    def label_neighbours(self, label: Any = None, k: int = 5) -> Any:
        """Return the labels nearest to a label; see :func:`compactlearn.label_neighbours`.

        Parameters
        ----------
        label : name or number of a label, or None, default=None
            None asks for all of them.
        k : int, default=5
            How many neighbours.
        """
        return load("compactlearn.inspection._explain").label_neighbours(self, label, k)
