"""Model files, ONNX graphs and compressed models."""
