"""What was tried: a row for each model, the frontier of size and score, and reasons in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compactlearn.auto._choice import Choice
from compactlearn.auto._schedule import Search
from compactlearn.auto._trials import TrialResult
from compactlearn.core._optional import require
from compactlearn.core._params import Real
from compactlearn.core._weight import bytes_in

Row = dict[str, Any]


def row_of(name: str, result: Any, seconds: float, model: Any) -> Row:
    """Return a row of the leaderboard."""
    return {
        "name": name,
        "score": result.score,
        "deviation": result.deviation,
        "seconds": seconds,
        "n_parameters": result.numbers,
        "bytes": bytes_in(model),
    }


def trial_row(one: TrialResult) -> Row:
    """Return the row of a single model."""
    return row_of(one.name, one, one.seconds, one.model)


def leaderboard(search: Search, chosen: Choice) -> list[Row]:
    """Return a row for each trial, and one for the blend that was selected; best first."""
    rows = [trial_row(one) for one in search.every]
    if len(chosen.blend.members) > 1:
        seconds = sum(one.seconds for one in search.every)
        rows.append(row_of(chosen.name, chosen, seconds, chosen.blend))
    return sorted(rows, key=lambda row: -row["score"])


def reasons(chosen: Choice, search: Search, metric: str) -> str:
    """Return which model was selected, the score of the others, and what was skipped."""
    shown = metric.replace("_", " ")
    article = "an" if shown[:1] in "aeiou" else "a"
    text = (
        f"Selected: {chosen.name}, with {article} {shown} of {chosen.score:.3f} on held-out rows."
    )
    single = len(chosen.blend.members) == 1
    others = [one for one in search.every if not (single and one.name == chosen.name)]
    if others:
        next_best = max(others, key=lambda one: one.score)
        which = "The next best" if single else "The best single model"
        count = len(search.every)
        text += f" {which} of {count} tried, {next_best.name}, has {next_best.score:.3f}."
    else:
        text += " Nothing else was tried."
    if search.skipped:
        listed = "; ".join(f"{one.name} ({one.reason})" for one in search.skipped)
        text += f" Skipped: {listed}."
    return text


def frontier(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that none with fewer or as many parameters beats, smallest first.

    Scores rise along them; of several equal ones the smallest is there, and only once.

    >>> pairs = [(9, 0.7), (3, 0.6), (5, 0.5), (12, 0.7)]
    >>> rows = [{"n_parameters": n, "score": s} for n, s in pairs]
    >>> [row["n_parameters"] for row in frontier(rows)]
    [3, 9]
    """
    found: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["n_parameters"], -row["score"])):
        if not found or row["score"] > found[-1]["score"]:
            found.append(row)
    return found


def checked_references(references: Any) -> dict[str, tuple[float, float]]:
    """Return names with numbers and score, as a figure needs them."""
    if references is None:
        return {}
    if not isinstance(references, Mapping):
        raise _refused(references)
    for name, pair in references.items():
        numbers, score = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (None, None)
        if not (Real(0, open_low=True).accepts(numbers) and Real().accepts(score)):
            raise _refused({name: pair})
    return {str(name): (float(pair[0]), float(pair[1])) for name, pair in references.items()}


def _refused(given: Any) -> ValueError:
    return ValueError(
        "references must be a dictionary of names, each with the parameters that a model keeps, "
        f"above 0, and its score, and has {given!r:.80}; pass for instance"
        f" {{'ridge': (53106, 0.70)}}."
    )


def draw_frontier(
    rows: Sequence[Row], references: Mapping[str, tuple[float, float]], scoring: str
) -> Any:
    """Return a plotly figure of scores against sizes: all rows, the frontier, and references."""
    go = require("plotly.graph_objects", extra="plot", purpose="the plot of a frontier")
    best = frontier(rows)
    figure = go.Figure()
    figure.add_scatter(
        x=[row["n_parameters"] for row in best],
        y=[row["score"] for row in best],
        mode="lines",
        name="no smaller model is better",
    )
    figure.add_scatter(
        x=[row["n_parameters"] for row in rows],
        y=[row["score"] for row in rows],
        text=[row["name"] for row in rows],
        error_y={"array": [row["deviation"] for row in rows], "thickness": 1},
        mode="markers",
        marker={"size": 9},
        hovertemplate="%{text}<br>%{x:,} parameters<br>%{y:.3f}<extra></extra>",
        name="tried",
    )
    if references:
        figure.add_scatter(
            x=[numbers for numbers, _ in references.values()],
            y=[score for _, score in references.values()],
            text=list(references),
            mode="markers+text",
            textposition="top center",
            marker={"size": 11, "symbol": "diamond-open"},
            hovertemplate="%{text}<br>%{x:,} parameters<br>%{y:.3f}<extra></extra>",
            name="for comparison",
        )
    figure.update_xaxes(type="log", title="parameters that the model keeps")
    figure.update_yaxes(title=scoring.replace("_", " "))
    return figure
