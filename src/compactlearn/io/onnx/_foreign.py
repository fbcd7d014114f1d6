"""Parts of scikit-learn inside a graph of ours, by way of skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import BaseDecisionTree

from compactlearn.core._optional import require
from compactlearn.io.onnx._graph import EXTRA, OPSETS, Graph

_TREES = (
    BaseDecisionTree,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)


def write_foreign(graph: Graph, model: Any, x: str, n_columns: int | None) -> str:
    """What a fitted transformer makes of rows, or what a fitted regressor answers (N, ...)."""
    name = type(model).__name__
    skl2onnx = require("skl2onnx", extra=EXTRA, purpose=f"Export of {name} to ONNX")
    types = require("skl2onnx.common.data_types", extra=EXTRA, purpose="Export to ONNX")
    # Trees compare rows in single precision, in scikit-learn as in ONNX.
    single = graph.dtype.itemsize == 4 or isinstance(model, _TREES)
    x = graph.cast(x, np.float32) if single and graph.dtype.itemsize > 4 else x
    kind = types.FloatTensorType if single else types.DoubleTensorType
    try:
        found = skl2onnx.convert_sklearn(
            model,
            initial_types=[("rows", kind([None, n_columns]))],
            target_opset={"": OPSETS[""], "ai.onnx.ml": OPSETS["ai.onnx.ml"]},
        )
    except Exception as error:  # whatever a converter raises, there are many kinds
        raise ValueError(
            f"to_onnx writes parts of other packages by skl2onnx, and that cannot write {name} "
            f"({' '.join(str(error).split())[:200].rstrip('.')}); leave this part out, or serve "
            "the model by compactlearn.load_model."
        ) from error
    return _inlined(graph, found.graph, x)


def _inlined(graph: Graph, other: Any, x: str) -> str:
    """Take over the nodes of another graph, under new names; its first output is returned."""
    compose = require("onnx.compose", extra=EXTRA, purpose="Export to ONNX")
    prefix = f"{graph.fresh('part')}_"
    renamed = compose.add_prefix_graph(other, prefix)
    given, answer = renamed.input[0].name, renamed.output[0].name
    for node in renamed.node:
        for place, name in enumerate(node.input):
            if name == given:
                node.input[place] = x
    graph.inline(list(renamed.node), list(renamed.initializer))
    if renamed.output[0].type.tensor_type.elem_type == graph.element_type(graph.dtype):
        return answer
    return graph.cast(answer, graph.dtype)
