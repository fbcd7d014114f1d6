"""An ONNX graph while it is being written: nodes, and the numbers that they use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._compression import Half
from compactlearn.core._memory import human_bytes
from compactlearn.core._optional import require

EXTRA = "onnx"
PURPOSE = "Export to ONNX"

# Old enough for every runtime since 2022, and nothing newer is needed.
OPSETS = {"": 17, "ai.onnx.ml": 3, "com.microsoft": 1}
_IR_VERSION = 8

MOST_BYTES = 2**31 - 2**20  # of one ONNX file, by the format that it is written in
_FEW = 64  # numbers that are not worth a node of their own to be stored in fewer bytes


class Graph:
    """Nodes and constants, in the order in which they were added.

    What computes has the type of the graph, ``dtype``. Constants are stored in the smallest type
    that has exactly these numbers: those of a compressed model stay as small as they are.

    Parameters
    ----------
    dtype : {"float32", "float64"}
    """

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)
        self._onnx = require("onnx", extra=EXTRA, purpose=PURPOSE)
        self._helper = require("onnx.helper", extra=EXTRA, purpose=PURPOSE)
        self._numpy_helper = require("onnx.numpy_helper", extra=EXTRA, purpose=PURPOSE)
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._bytes = 0
        self._count = 0

    def fresh(self, hint: str) -> str:
        """Return a name that nothing has yet."""
        self._count += 1
        return f"{hint.lower()}_{self._count}"

    # ---- nodes --------------------------------------------------------------------------------

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output, and return the output's name."""
        return self.add_several(kind, *inputs, outputs=1, domain=domain, **attributes)[0]

    def add_several(
        self, kind: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node, and return the names of its outputs."""
        names = [self.fresh(kind) for _ in range(outputs)]
        node = self._helper.make_node(kind, list(inputs), names, domain=domain, **attributes)
        self._nodes.append(node)
        return names

    def named(self, value: str, name: str) -> str:
        """Give a value the name of an output of the graph."""
        self._nodes.append(self._helper.make_node("Identity", [value], [name]))
        return name

    def cast(self, value: str, dtype: Any) -> str:
        """Return a value in another type."""
        return self.add("Cast", value, to=self.element_type(dtype))

    def element_type(self, dtype: Any) -> int:
        """ONNX's number of a type."""
        return int(self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    @contextmanager
    def double(self) -> Iterator[None]:
        """Compute in float64 inside; the caller casts into it and out of it."""
        before, self.dtype = self.dtype, np.dtype(np.float64)
        try:
            yield
        finally:
            self.dtype = before

    def inline(self, nodes: Sequence[Any], constants: Sequence[Any]) -> None:
        """Take over the nodes and constants of another graph, whose names are free."""
        self._nodes += nodes
        for tensor in constants:
            self._keep(tensor, len(tensor.SerializeToString()))

    # ---- numbers ------------------------------------------------------------------------------

    def numbers(self, values: Any) -> str:
        """Constant numbers of the graph's type."""
        if scipy.sparse.issparse(values):
            values = values.toarray()
        own = np.asarray(values).astype(self.dtype)
        if own.size < _FEW or not np.isfinite(own).all():
            return self.constant(own)
        if _holds(np.float16, own):
            return self.cast(self.constant(own.astype(np.float16)), self.dtype)
        half = Half.of(own)
        if own.ndim == 2 and np.array_equal(half.array(), own):
            wide = self.cast(self.constant(half.values), self.dtype)
            powers = np.ldexp(self.dtype.type(1), half.exponents)
            return self.add("Mul", wide, self.constant(powers))
        if self.dtype.itemsize > 4 and _holds(np.float32, own):
            return self.cast(self.constant(own.astype(np.float32)), self.dtype)
        return self.constant(own)

    def constant(self, array: Any) -> str:
        """Add a constant in its own type."""
        array = np.ascontiguousarray(array)
        name = self.fresh("constant")
        self._keep(self._numpy_helper.from_array(array, name), array.nbytes)
        return name

    def _keep(self, tensor: Any, n_bytes: int) -> None:
        self._bytes += n_bytes
        if self._bytes > MOST_BYTES:
            raise ValueError(
                f"An ONNX file holds at most {human_bytes(MOST_BYTES)}, and this model needs more; "
                "export a smaller one, for example with fewer label components, or after "
                "model.compress('float16')."
            )
        self._constants[tensor.name] = tensor

    # ---- arithmetic that several models share ---------------------------------------------------

    def affine(self, x: str, factors: Sequence[Any], intercept: Any) -> str:
        """``x A_1 A_2 ... + intercept``."""
        for factor in factors:
            x = self.add("MatMul", x, self.numbers(factor))
        return self.add("Add", x, self.numbers(intercept))

    def scaled(self, x: str, factors: Any) -> str:
        """Columns of rows, each times its factor.

        A single column is multiplied as a matrix: onnxruntime joins a scalar factor with the matrix
        product next to it, and keeps it in single precision then, whatever the type.
        """
        if factors.size == 1:
            return self.add("MatMul", x, self.numbers(factors.reshape(1, 1)))
        return self.add("Mul", x, self.numbers(factors))

    def times(self, x: str, factor: float) -> str:
        """Multiply by a number a value that is neither the output nor the input of a product."""
        return self.add("Mul", x, self.numbers(factor))

    def clipped(self, x: str, low: float | None, high: float | None) -> str:
        """``min(max(x, low), high)``."""
        if low is not None:
            x = self.add("Max", x, self.numbers(low))
        return x if high is None else self.add("Min", x, self.numbers(high))

    def row_sums(self, x: str) -> str:
        """Return (N, 1) sums of the rows."""
        return self.add("ReduceSum", x, self.constant(np.array([1])), keepdims=1)

    def divided(self, x: str, lengths: str) -> str:
        """Rows divided by their lengths (N, 1); rows of length 0 stay as they are."""
        zero = self.add("Equal", lengths, self.numbers(0.0))
        return self.add("Div", x, self.add("Where", zero, self.numbers(1.0), lengths))

    def unit_rows(self, x: str) -> str:
        """Rows of length 1; a row of zeros stays one."""
        return self.divided(x, self.add("Sqrt", self.row_sums(self.add("Mul", x, x))))

    # ---- the whole ----------------------------------------------------------------------------

    def model(
        self,
        name: str,
        inputs: Mapping[str, tuple[Any, Sequence[Any]]],
        outputs: Mapping[str, tuple[Any, Sequence[Any]]],
        metadata: Mapping[str, str],
        version: str,
    ) -> Any:
        """Return the finished ``onnx.ModelProto``, checked.

        Inputs and outputs are given by their types and shapes; a shape may have names in it.
        """
        helper = self._helper
        ends = [
            [
                helper.make_tensor_value_info(name, self.element_type(dtype), list(shape))
                for name, (dtype, shape) in part.items()
            ]
            for part in (inputs, outputs)
        ]
        graph = helper.make_graph(self._nodes, name, *ends, list(self._constants.values()))
        used = {"", *(node.domain for node in self._nodes)}
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(d, OPSETS[d]) for d in OPSETS if d in used],
            ir_version=_IR_VERSION,
            producer_name="compactlearn",
            producer_version=version,
        )
        helper.set_model_props(model, dict(metadata))
        require("onnx.checker", extra=EXTRA, purpose=PURPOSE).check_model(model)
        return model


def _holds(dtype: Any, array: NDArray[Any]) -> bool:
    """Return whether a type has all these numbers."""
    with np.errstate(over="ignore"):
        return bool(np.array_equal(array.astype(dtype).astype(array.dtype), array))
