"""Titles of metrics, and the format of values and configurations."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from compactlearn.inspection import page_parts
from compactlearn.metrics import greater_is_better
from compactlearn.utils import python_value
from compactlearn_bench.records import Selection

__all__ = [
    "EXPLANATIONS",
    "HEADINGS",
    "configuration",
    "greater_is_better",
    "p_value",
    "signed",
    "slug",
    "title",
]

# Of labels instead of rows, and so in no table of metrics.
_TITLES = {"label_auc": "Label AUC", "label_average_precision": "Label average precision"}

#: What each selection means, for a heading and for the line below it.
HEADINGS: Mapping[Selection, str] = {
    "paper": "Best on the test folds, as in the paper",
    "nested": "Chosen by inner folds",
}
EXPLANATIONS: Mapping[Selection, str] = {
    "paper": "Every configuration was judged on the test rows, and for each metric the one with "
    "the best mean over the folds is shown, as the paper's protocol implies. These scores can be "
    "compared with the published ones; as forecasts for new data they are too good.",
    "nested": "Each fold's configuration was chosen by inner folds of its training rows alone. "
    "These are fair forecasts for new data. The published scores were chosen otherwise and are "
    "not comparable.",
}


def title(metric: str) -> str:
    """Return the heading of a metric, or of what a band of labels is judged by.

    >>> title("precision_at_3"), title("label_auc")
    ('Precision@3', 'Label AUC')
    """
    return _TITLES.get(metric) or page_parts.title(metric)


def signed(value: float, digits: int = 1) -> str:
    """With its sign, and no minus before a zero.

    >>> signed(-0.04), signed(2.345, 2), signed(-1.5)
    ('0.0', '+2.35', '−1.5')
    """
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def p_value(value: float) -> str:
    """A probability as a reader wants it.

    >>> p_value(0.00004), p_value(0.0416), p_value(float("nan"))
    ('<0.001', '0.042', '–')
    """
    if not math.isfinite(value):
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def configuration(given: Mapping[str, Any]) -> str:
    """A configuration on one line.

    >>> configuration({"beta": 1.0, "n_label_components": 0.30000000000000004, "solver": "auto"})
    "beta=1.0, n_label_components=0.3, solver='auto'"
    """
    return ", ".join(f"{name}={python_value(_tidy(value))}" for name, value in given.items())


def _tidy(value: Any) -> Any:
    """A number without the last digits, which are rounding; a ratio stays a ratio."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def slug(*parts: str) -> str:
    """A file name of letters that every system takes; of a part at most 40, lest it be too long.

    >>> slug("k-CMLL", "a/b <c>")
    'k-CMLL--a_b_c_'
    """
    return "--".join(re.sub(r"[^A-Za-z0-9.+-]+", "_", part)[:40] for part in parts)
