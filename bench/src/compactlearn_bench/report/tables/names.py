"""What a metric is called in a heading, which way is good, and how a number is printed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from compactlearn.core._plain import python_value
from compactlearn.metrics._table import METRICS, PAPER, get_metric, greater_is_better
from compactlearn_bench.records import Selection

__all__ = [
    "EXPLANATIONS",
    "HEADINGS",
    "arrow",
    "configuration",
    "counted",
    "greater_is_better",
    "metric_order",
    "number",
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
    "paper": "Every configuration met the test rows, and for each metric the one with the best "
    "mean over the folds is shown, as the paper's protocol implies. These figures may stand beside "
    "the published ones; as forecasts for new data they are too good.",
    "nested": "Each fold's configuration was chosen by inner folds of its training rows alone. "
    "These are fair forecasts for new data. The published figures were chosen otherwise and do "
    "not stand beside them.",
}


def title(metric: str) -> str:
    """A metric's heading.

    >>> title("precision_at_3"), title("one_error")
    ('Precision@3', 'One error')
    """
    try:
        return get_metric(metric).title
    except ValueError:
        return _TITLES.get(metric, metric)


def arrow(metric: str) -> str:
    """The direction of good, as the paper shows it."""
    return "↑" if greater_is_better(metric) else "↓"


def metric_order(metrics: Iterable[str]) -> list[str]:
    """The paper's first, then in the order of the table of metrics, then the rest by name."""
    known = [*PAPER, *METRICS]
    return sorted(
        metrics, key=lambda name: (known.index(name) if name in known else len(known), name)
    )


def number(value: float) -> str:
    """Four digits after the point, fewer where there are many before it.

    >>> number(0.69651), number(183.25), number(12345.6), number(float("nan"))
    ('0.6965', '183.2', '12346', '–')
    """
    if not math.isfinite(value):
        return "–"
    if abs(value) < 10:
        return f"{value:.4f}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "data set"), counted(2, "method")
    ('1 data set', '2 methods')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


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
