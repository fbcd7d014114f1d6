"""``to_onnx`` as a method."""

from __future__ import annotations

import os
from typing import Any

from compactlearn.core._optional import require


class Exported:
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
        # What writes graphs stands above all models and knows them. None of them knows it: it is
        # found when it is asked for.
        export = require("compactlearn.io.onnx", extra="onnx", purpose="Export to ONNX")
        return export.to_onnx(self, path, topk=topk, dtype=dtype, check=check)
