"""Whether a graph says of some rows what the model says."""

from __future__ import annotations

from typing import Any

import numpy as np

from compactlearn.core._optional import require
from compactlearn.core._validation import n_rows_of
from compactlearn.io.onnx._graph import EXTRA

# Far above rounding, far below what changes a ranking.
TOLERANCE = {4: 1e-4, 8: 1e-8}  # by the bytes of a number


def require_same(model: Any, proto: Any, rows: Any, name: str, dtype: np.dtype[Any]) -> None:
    """Refuse a graph whose scores differ from the model's."""
    runtime = require("onnxruntime", extra=EXTRA, purpose="Checking an exported model")
    session = runtime.InferenceSession(proto.SerializeToString())
    if name == "texts":
        given = np.array(list(rows), dtype=object)
    else:
        given = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=dtype)
    own = np.asarray(model.decision_function(rows), dtype=np.float64)
    theirs = np.asarray(session.run(["scores"], {name: given})[0], dtype=np.float64)
    bound = TOLERANCE[dtype.itemsize] * max(1.0, float(np.abs(own).max(initial=0.0)))
    differs = ~(np.abs(own - theirs).reshape(n_rows_of(rows), -1).max(axis=1) <= bound)
    if not differs.any():
        return
    first = int(np.flatnonzero(differs)[0])
    raise ValueError(
        f"The graph must give the scores of the model up to {bound:.1e}, and differs by up to "
        f"{np.abs(own - theirs).max():.1e} on {int(differs.sum())} of {differs.size} rows, the "
        f"first of them row {first}; {_remedy(name, dtype)}"
    )


def _remedy(name: str, dtype: np.dtype[Any]) -> str:
    if name == "texts":
        return "export what comes after the vectoriser, to_onnx(pipeline[1:])."
    if dtype.itemsize == 4:
        return "export with dtype='float64', or scale the features."
    return "please report this."
