"""Figures of the grids of configurations: scores over the balance and the compression ratios."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.inspection.page_parts import number
from compactlearn_bench.records import Grid, Results
from compactlearn_bench.report.drawing.chart import Chart, style_of
from compactlearn_bench.report.drawing.heat_map import heat_map
from compactlearn_bench.report.drawing.line_charts import Series, line_chart
from compactlearn_bench.report.tables.metric_tables import families
from compactlearn_bench.report.tables.names import greater_is_better, title
from compactlearn_bench.report.tables.published import REFERENCES, method_order

__all__ = ["balance_charts", "ratio_charts", "surface_charts"]

BALANCE, FEATURES, LABELS = "beta", "n_feature_components", "n_label_components"
_BALANCE_AXIS: dict[str, Any] = {"x_title": "balance β", "log_x": True}
_RATIOS = {FEATURES: "feature ratio μ", LABELS: "label ratio ν"}
#: Methods that have no ratio are a level line: the yardstick.
_YARDSTICKS = ("ORI", "k-ORI")


def balance_charts(results: Results, dataset: str, metric: str) -> list[Chart]:
    """The metric, and how dependence and recovery give way to each other, against the balance.

    All else is fixed: at ratios of one half where these were tried, as in the paper's figure,
    else as in the best configuration.
    """
    charts = []
    for method in sorted(results.methods, key=method_order):
        grid = results.grids.get((dataset, method))
        if grid is None or metric not in grid.metrics:
            continue
        path = _balance_path(grid, metric)
        if len(path) < 3:  # no curve
            continue
        fixed = {k: v for k, v in grid.configurations[path[0]].items() if k != BALANCE}
        rest = ", ".join(f"{name} = {value}" for name, value in fixed.items())
        note = f"All else is fixed ({rest})." if rest else ""
        betas = [float(grid.configurations[k][BALANCE]) for k in path]
        values = grid.values[:, path, grid.metrics.index(metric)]
        main = Series(method, _points(betas, values, "β"), style_of(method, results.methods), True)
        charts.append(
            Chart.of(
                "balance",
                results.selection,
                dataset,
                (method, metric),
                f"{dataset}: {title(metric).lower()} of {method} against the balance",
                f"Mean over the folds; bars are one standard deviation. {note}",
                partial(line_chart, series=[main], y_title=title(metric), **_BALANCE_AXIS),
            )
        )
        parts = [
            name
            for name in ("dependence_between", "recovery_between")
            if name in grid.details and np.isfinite(grid.details[name][:, path]).all()
        ]
        series = [
            Series(
                f"{name[:3]}′ ({name.removesuffix('_between')})",
                _points(betas, grid.details[name][:, path], "β"),
                style,
                dashed=bool(style),
            )
            for style, name in enumerate(parts)
        ]
        if len(series) == 2:
            charts.append(
                Chart.of(
                    "balance",
                    results.selection,
                    dataset,
                    (method, "dependence-recovery"),
                    f"{dataset}: dependence and recovery of {method}",
                    "Each between the least (0) and the most (1) that any codes have; mean over "
                    "the folds. " + note,
                    partial(line_chart, series=series, y_title="dep′ and rec′", **_BALANCE_AXIS),
                )
            )
    return charts


def ratio_charts(results: Results, dataset: str, metric: str) -> list[Chart]:
    """Draw the metric against each compression ratio: the best mean over everything else."""
    charts = []
    for family, methods in families(results):
        for key, name in _RATIOS.items():
            series = [
                found
                for method in methods
                if (found := _ratio_series(results, dataset, method, metric, key)) is not None
            ]
            levels = [one for one in series if not one.dashed]
            if not levels:
                continue
            ratios = [point[0] for one in levels for point in one.points]
            ends = (min(ratios), max(ratios))
            series = [_level(one, ends) if one.dashed else one for one in series]
            charts.append(
                Chart.of(
                    "ratio",
                    results.selection,
                    dataset,
                    (family, key, metric),
                    f"{dataset}: {title(metric).lower()} against the {name} ({family})",
                    "For each ratio the best mean over everything else that was tried. "
                    "A dashed line has no ratios.",
                    partial(line_chart, series=series, x_title=name, y_title=title(metric)),
                )
            )
    return charts


def surface_charts(results: Results, dataset: str, metric: str) -> list[Chart]:
    """Draw the metric over both ratios: the best mean over everything else."""
    charts = []
    for method in sorted(results.methods, key=method_order):
        grid = results.grids.get((dataset, method))
        if grid is None or metric not in grid.metrics:
            continue
        best = _best_by(grid, metric, (FEATURES, LABELS))
        xs, ys = (sorted({where[k] for where in best}) for k in (0, 1))
        if len(xs) < 2 or len(ys) < 2:
            continue
        values = [[best.get((x, y), math.nan) for x in xs] for y in ys]
        charts.append(
            Chart.of(
                "surface",
                results.selection,
                dataset,
                (method, metric),
                f"{dataset}: {title(metric).lower()} of {method} over both ratios",
                "For each pair the best mean over everything else that was tried; the best pair "
                "has a frame and a star.",
                partial(
                    heat_map,
                    xs=xs,
                    ys=ys,
                    values=values,
                    x_title=_RATIOS[FEATURES],
                    y_title=_RATIOS[LABELS],
                    greater_is_better=greater_is_better(metric),
                ),
            )
        )
    return charts


def _ratio_series(
    results: Results, dataset: str, method: str, metric: str, key: str
) -> Series | None:
    grid = results.grids.get((dataset, method))
    if grid is None or metric not in grid.metrics:
        return None
    best = {where[0]: value for where, value in _best_by(grid, metric, (key,)).items()}
    style = style_of(method, results.methods)
    if len(best) > 1:
        points = [
            (ratio, value, None, f"{method}, {_RATIOS[key]} {ratio:g}: {number(value)}")
            for ratio, value in sorted(best.items())
        ]
        return Series(method, points, style, heavy=method in REFERENCES.values())
    score = results.score(dataset, method, metric)
    if method not in _YARDSTICKS or score is None:
        return None
    tip = f"{method}: {number(score.mean)}"
    return Series(method, [(0.0, score.mean, None, tip)], style, dashed=True)


def _level(yardstick: Series, ends: Sequence[float]) -> Series:
    """A yardstick drawn from the least to the largest ratio that anybody tried."""
    _, value, _, tip = yardstick.points[0]
    return replace(yardstick, points=[(x, value, None, tip) for x in ends])


def _best_by(grid: Grid, metric: str, keys: Sequence[str]) -> dict[tuple[float, ...], float]:
    """The best mean for each value of the ratios; configurations without them are passed over."""
    means = grid.values[:, :, grid.metrics.index(metric)].mean(axis=0)
    better = max if greater_is_better(metric) else min
    best: dict[tuple[float, ...], float] = {}
    for configuration, mean in zip(grid.configurations, means.tolist(), strict=True):
        where = tuple(v for key in keys if isinstance(v := configuration.get(key), float))
        if math.isfinite(mean) and len(where) == len(keys):
            best[where] = better(best.get(where, mean), mean)
    return best


def _balance_path(grid: Grid, metric: str) -> list[int]:
    """Places of configurations that differ in the balance alone, by rising balance."""
    paths: dict[str, list[int]] = {}
    means = grid.values[:, :, grid.metrics.index(metric)].mean(axis=0)
    for place, configuration in enumerate(grid.configurations):
        beta = configuration.get(BALANCE)
        if isinstance(beta, int | float) and beta > 0 and math.isfinite(means[place]):
            paths.setdefault(_but_balance(configuration), []).append(place)
    longest = max((len(path) for path in paths.values()), default=0)
    found = [path for path in paths.values() if len(path) == longest]
    if not found:
        return []
    values = means if greater_is_better(metric) else -means

    def merit(path: list[int]) -> tuple[bool, float]:
        one = grid.configurations[path[0]]
        return one.get(FEATURES) == one.get(LABELS) == 0.5, float(values[path].max())

    best = max(found, key=merit)
    return sorted(best, key=lambda place: grid.configurations[place][BALANCE])


def _but_balance(configuration: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in configuration.items() if name != BALANCE}
    return json.dumps(rest, sort_keys=True)


def _points(
    xs: Sequence[float], values: NDArray[np.float64], name: str
) -> list[tuple[float, float, float | None, str]]:
    """`values` has a row for each fold and a column for each x."""
    found = []
    for x, column in zip(xs, values.T, strict=True):
        mean = float(column.mean())
        if not math.isfinite(mean):
            continue
        deviation = float(column.std(ddof=1)) if column.size > 1 else None
        spread = f" ± {number(deviation)}" if deviation is not None else ""
        found.append((x, mean, deviation, f"{name} = {x:g}: {number(mean)}{spread}"))
    return found
