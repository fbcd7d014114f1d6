"""Fitted models as ONNX graphs: scores without Python and without this package.

``graph.py`` puts nodes and numbers together; ``rows.py``, ``texts.py`` and ``foreign.py`` write
what is done to rows, ``scores.py`` the models, ``outputs.py`` what is read off their scores;
``checking.py`` runs what was written, and ``exporting.py`` is the user's side.
"""

from compactlearn.io.onnx._exporting import to_onnx

__all__ = ["to_onnx"]
