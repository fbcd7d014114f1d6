"""Leaderboard of an automatic search, frontier of size and score, and text of ``why_``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from compactlearn.auto._schedule import SearchRun
from compactlearn.auto._trials import Trial
from compactlearn.core._optional import require
from compactlearn.core._params import Real
from compactlearn.core._weight import bytes_in
from compactlearn.metrics._table import get_metric

Row = dict[str, Any]


def trial_row(one: Trial) -> Row:
    """Return the row of a model in the leaderboard."""
    return {
        "name": one.name,
        "score": one.score,
        "deviation": one.deviation,
        "seconds": one.seconds,
        "n_parameters": one.numbers,
        "bytes": bytes_in(one.model),
    }


def leaderboard(search: SearchRun, chosen: Trial) -> list[Row]:
    """Return a row for each trial, and one for the blend that was selected; best first."""
    rows = [trial_row(one) for one in search.every]
    if len(chosen.blend.members) > 1:
        rows.append(trial_row(chosen) | {"seconds": sum(one.seconds for one in search.every)})
    return sorted(rows, key=lambda row: -row["score"])


def reasons(chosen: Trial, search: SearchRun, metric: str) -> str:
    """Return which model was selected by which score, from which others, and what was skipped."""
    shown = metric.replace("_", " ")
    if not get_metric(metric).greater_is_better:
        shown = f"negated {shown}"
    article = "an" if shown[:1] in "aeiou" else "a"
    folds = int(np.isfinite(chosen.by_fold).sum())
    mean = f", the mean of {folds} folds" if folds > 1 else ""
    text = (
        f"Selected: {chosen.name}, with {article} {shown} of {chosen.score:.3f} on held-out "
        f"rows{mean}."
    )
    single = len(chosen.blend.members) == 1
    others = [one for one in search.every if not (single and one.name == chosen.name)]
    if others:
        next_best = max(others, key=lambda one: one.score)
        which = "next best" if single else "best single model"
        text += (
            f" {len(search.every)} models were tried; the {which} is {next_best.name}, with "
            f"{next_best.score:.3f}."
        )
    else:
        text += " No other model was tried."
    if search.skipped:
        listed = "; ".join(f"{one['name']} ({one['reason']})" for one in search.skipped)
        text += f" Skipped: {listed}."
    if search.interrupted:
        text += " The search was interrupted before its end."
    return text


def frontier(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no other row of the same size or smaller beats, smallest first.

    Scores increase along the frontier; of several equal scores it has the smallest model.

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
    """Return the number of parameters and the score of each name."""
    found = {}
    for name, pair in references.items() if isinstance(references, Mapping) else [(references, 0)]:
        known = isinstance(pair, tuple | list) and len(pair) == 2
        numbers, score = pair if known else (math.nan, math.nan)
        if not (Real(0, open_low=True).accepts(numbers) and Real().accepts(score)):
            raise ValueError(
                "references must be a dictionary of names, each with the number of parameters of a "
                f"model, above 0, and its score; got {references!r:.80}. Pass for instance "
                "{'ridge': (53106, 0.70)}."
            )
        found[str(name)] = float(numbers), float(score)
    return found


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
