"""Fitted models as ONNX graphs: scores without Python and without this package."""

from compactlearn.io.onnx._exporting import to_onnx

__all__ = ["to_onnx"]
