"""Figures as PNG, for what takes no SVG."""

from __future__ import annotations

from compactlearn.utils import require

__all__ = ["png_bytes"]


def png_bytes(svg: str, *, zoom: float = 2.0) -> bytes:
    """Draw an SVG; two pixels for each unit by default.

    The package resvg_py brings its own renderer and needs no library of the system; for the text it
    uses the fonts that the system has.
    """
    renderer = require(
        "resvg_py", extra="report", purpose="a figure in PNG", package="compactlearn-bench"
    )
    return bytes(renderer.svg_to_bytes(svg_string=svg, zoom=zoom))
