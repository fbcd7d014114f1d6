"""Transformers of rows, written as nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.tree import BaseDecisionTree

from compactlearn.auto._texts import FieldVectorizer
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._kernels import Kernel
from compactlearn.compact._unit_rows import UnitRows
from compactlearn.core._optional import require
from compactlearn.io.onnx._graph import EXTRA, OPSETS, Graph
from compactlearn.io.onnx._texts import VECTORISERS, write_vectoriser

_TREES = (
    BaseDecisionTree,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)


def write_rows(graph: Graph, step: Any, x: str, n_columns: int | None) -> str:
    """Rows after a fitted transformer; ``n_columns`` is how many they have before it."""
    if step is None or step == "passthrough":
        return x
    if isinstance(step, Pipeline):
        return write_steps(graph, step, x, n_columns)[0]
    if isinstance(step, FieldVectorizer):
        raise ValueError(
            "to_onnx writes vectorisers of one column of texts; this FieldVectorizer has the "
            f"fields {', '.join(map(repr, step.fields_)):.200}. Export what comes after it, "
            "to_onnx(pipeline[1:]), and make its rows in Python."
        )
    if isinstance(step, VECTORISERS):
        return write_vectoriser(graph, step, x)
    if isinstance(step, KernelMap):
        return write_kernel_products(graph, step, x, step.coefficients_)
    if isinstance(step, UnitRows) or (isinstance(step, Normalizer) and step.norm == "l2"):
        return graph.unit_rows(x)
    if isinstance(step, StandardScaler):
        return _write_scaler(graph, step, x)
    return write_foreign(graph, step, x, n_columns)


def write_steps(
    graph: Graph, pipeline: Pipeline, x: str, n_columns: int | None
) -> tuple[str, int | None]:
    """Rows after all steps of a pipeline, and how many columns they have."""
    for _, step in pipeline.steps:
        x = write_rows(graph, step, x, n_columns)
        n_columns = columns_after(step, n_columns)
    return x, n_columns


def columns_after(step: Any, n_columns: int | None) -> int | None:
    """Return how many columns a fitted transformer makes, or None if it cannot say."""
    if step is None or step == "passthrough" or isinstance(step, UnitRows):
        return n_columns
    try:
        return len(step.get_feature_names_out())
    except (AttributeError, ValueError):
        return None


def _write_scaler(graph: Graph, scaler: StandardScaler, x: str) -> str:
    if scaler.with_mean:
        x = graph.add("Sub", x, graph.numbers(scaler.mean_))
    return graph.add("Div", x, graph.numbers(scaler.scale_)) if scaler.with_std else x


def write_kernel_products(graph: Graph, kernel_map: KernelMap, x: str, factor: Any) -> str:
    """Kernel values of rows against the landmarks (N, L), times a matrix (L, d).

    In double precision, whatever the graph computes in: the matrix of a kernel method has large
    entries of either sign, whose products with kernel values nearly cancel.
    """
    kernel, B = kernel_map.kernel_, kernel_map.landmarks_
    B = np.asarray(B.toarray() if scipy.sparse.issparse(B) else B, dtype=np.float64)
    if kernel.function == "linear":
        return graph.add("MatMul", x, graph.numbers(B.T @ factor))
    outside = graph.dtype
    with graph.double():
        x = graph.cast(x, np.float64)
        products = graph.add("MatMul", _kernel_values(graph, kernel, x, B), graph.numbers(factor))
    return graph.cast(products, outside)


def _kernel_values(graph: Graph, kernel: Kernel, x: str, B: Any) -> str:
    if kernel.function == "rbf":
        return _rbf_values(graph, kernel, x, B)
    if kernel.function == "cosine":
        lengths = np.linalg.norm(B, axis=1, keepdims=True)
        unit = B / np.where(lengths > 0, lengths, 1.0)
        return graph.add("MatMul", graph.unit_rows(x), graph.numbers(unit.T))
    assert kernel.gamma is not None
    x = graph.scaled(x, np.full(B.shape[1], kernel.gamma))
    inner = graph.affine(x, [B.T], kernel.coef0)
    return graph.add("Pow", inner, graph.numbers(float(kernel.degree)))


def _rbf_values(graph: Graph, kernel: Kernel, x: str, B: Any) -> str:
    """``exp(-gamma (|a|² + |b|² - 2ab))``; what rounding takes below 0 is 0, as in scikit-learn."""
    if kernel.origin is not None:
        x, B = graph.add("Sub", x, graph.numbers(kernel.origin)), B - kernel.origin
    squares = graph.row_sums(graph.add("Mul", x, x))
    distances = graph.affine(x, [B.T], -0.5 * np.einsum("ij,ij->i", B, B))
    distances = graph.add("Sub", squares, graph.times(distances, 2.0))
    assert kernel.gamma is not None
    distances = graph.clipped(distances, 0.0, None)
    return graph.add("Exp", graph.times(distances, -kernel.gamma))


# ---- parts of scikit-learn, by way of skl2onnx ---------------------------------------------------


def write_foreign(graph: Graph, model: Any, x: str, n_columns: int | None) -> str:
    """Write a fitted transformer or regressor, whose output is returned."""
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
