"""One page on a fitted model: how good it is, its labels, its mistakes, and what it weighs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from compactlearn.inspection._model_facts import LabelFacts, Misjudged, ModelFacts
from compactlearn.inspection.charts import Dot, Series, line_chart, scatter
from compactlearn.inspection.page_parts import (
    arrow,
    counted,
    filter_box,
    head,
    metric_order,
    number,
    number_cell,
    prose,
    said,
    tile,
    title,
    wrapped,
)
from compactlearn.inspection.page_shell import whole_page
from compactlearn.metrics._reliability import ReliabilityTable

_FREQUENT = 10  # held-out rows from which on the metrics of a label say something
_NAMED = 3
_LARGE_GAP = 0.1  # between mean probability and precision
_TILES = ("average_precision", "micro_f1", "macro_f1", "one_error", "predicted_calibration_error")


def model_page(facts: ModelFacts, heading: str = "A model, looked at") -> str:
    """Return the whole page; the same values give the same bytes."""
    sections = [
        ("labels", "Labels", _labels(facts)),
        ("mistakes", "Mistakes worth reading", _mistakes(facts)),
        ("probabilities", "Probabilities of suggested labels", _probabilities(facts)),
        ("figures", "Figures", _figures(facts)),
        ("metrics", "All metrics", _metrics(facts)),
        ("settings", "Settings", _settings(facts)),
    ]
    present = [one for one in sections if one[2]]
    links = " ".join(f'<a href="#{name}">{escape(text)}</a>' for name, text, _ in present)
    main = _tiles(facts) + "".join(
        f'<h2 id="{name}">{escape(text)}</h2>{inside}' for name, text, inside in present
    )
    footer = "<p>Made by compactlearn. This page asks for nothing from any network.</p>"
    return whole_page(heading, _lede(facts) + said(says(facts)), links, main, footer)


def _lede(facts: ModelFacts) -> str:
    kept = "" if facts.n_parameters is None else f" It keeps {facts.n_parameters:,} parameters."
    return (
        f'<p class="lede">{escape(facts.kind)} for {counted(facts.n_labels, "label")} of rows with '
        f"{counted(facts.n_features, 'feature')}, judged on {counted(facts.n_rows, 'row')} that "
        f"were held out.{kept}</p>"
    )


def _tiles(facts: ModelFacts) -> str:
    known = [name for name in _TILES if name in facts.metrics]
    tiles = [
        tile(number(facts.metrics[name]), arrow(name), title(name))
        for name in known
        if facts.metrics[name] == facts.metrics[name]
    ]
    if facts.n_bytes is not None:
        tiles.append(tile(f"{facts.n_bytes / 1e6:,.2f}", "MB", "Size when saved"))
    return f'<div class="tiles">{"".join(tiles)}</div>'


# ---- tables -------------------------------------------------------------------------------------


def _table(
    name: str, caption: str, columns: Sequence[str], rows: Sequence[str], kind: str = "wide tall"
) -> str:
    heads = [head(text) for text in columns]
    return wrapped(name, escape(caption), heads, rows, "", caption, kind=kind)


def _row(name: str, *cells: str) -> str:
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'


def _text_cell(text: str, kind: str = "wrap") -> str:
    return f'<td class="{kind}">{escape(text)}</td>'


def _number_cells(form: str, *values: float | None) -> list[str]:
    return [number_cell(value, "" if value is None else f"{value:{form}}") for value in values]


def _labels(facts: ModelFacts) -> str:
    has_words = any(label.words for label in facts.labels)
    has_near = any(label.near for label in facts.labels)
    columns = ["Label", "Rows", "Given", "F1", "Precision", "Recall"]
    columns += ["Words that speak for it"] * has_words + ["Similar labels"] * has_near
    order = sorted(facts.labels, key=lambda label: (-label.n_present, label.name))
    rows = [_label_row(label, has_words, has_near) for label in order]
    about = (
        "Of the held-out rows: how many have a label, how many were given it, and how well the two "
        "agree. Type the beginning of a name to find a label."
    )
    if has_words:
        about += (
            " Words are the features with the largest mean contribution to its score, over at most "
            f"{counted(facts.n_rows_of_words, 'row')} that have it."
        )
    elif facts.unexplained:
        about += f" {facts.unexplained}"
    table = _table("label-table", "Labels", columns, rows)
    return f"<p>{prose(about)}</p>{filter_box('label-table', 'a label')}{table}"


def _label_row(label: LabelFacts, has_words: bool, has_near: bool) -> str:
    return _row(
        label.name,
        *_number_cells(",", label.n_present, label.n_given),
        *_number_cells(".2f", label.f1, label.precision, label.recall),
        *[_text_cell(", ".join(label.words))] * has_words,
        *[_text_cell(", ".join(label.near))] * has_near,
    )


def _mistakes(facts: ModelFacts) -> str:
    if not facts.mistakes:
        return ""
    has_text = any(one.text for one in facts.mistakes)
    columns = ["Label", "What is wrong", "Row", "Score above threshold", "Speaks for it"]
    columns += ["Speaks against it"] + ["The row"] * has_text
    rows = [_mistake_row(one, has_text) for one in facts.mistakes]
    return (
        "<p>Labels that the model was surest about and wrong. Some are mistakes of the model, and "
        f"some of whoever gave the labels.</p>{filter_box('mistake-table', 'a label')}"
        f"{_table('mistake-table', 'Mistakes', columns, rows)}"
    )


def _mistake_row(one: Misjudged, has_text: bool) -> str:
    return _row(
        one.label,
        _text_cell("given, and not there" if one.given else "there, and not given", "left"),
        *_number_cells("d", one.row),
        *_number_cells("+.3f", one.margin),
        *(_text_cell(", ".join(names)) for names in (one.speaks_for, one.speaks_against)),
        *[_text_cell(one.text)] * has_text,
    )


def _probabilities(facts: ModelFacts) -> str:
    if not facts.suggested:
        return ""
    about = (
        "Suggested labels by their probability: how many there are, their mean probability, their "
        "precision (the share that is right), and the gap between the two. A positive gap means "
        "that the model is overconfident. Gaps of fewer than 50 labels are mostly noise."
    )
    columns = ["Suggested", "Probability", "Labels", "Mean probability", "Precision", "Gap"]
    rows = [
        _row(
            name,
            _text_cell(bounds, "left"),
            *_number_cells(",", count),
            *_number_cells(".3f", probability, precision),
            *_number_cells("+.3f", probability - precision),
        )
        for name, table in facts.suggested.items()
        for bounds, count, probability, precision in [("all", *_whole(table)), *_bins(table)]
    ]
    caption = "Probabilities of suggested labels"
    return f"<p>{prose(about)}</p>{_table('probability-table', caption, columns, rows)}"


def _whole(table: ReliabilityTable) -> tuple[int, float, float]:
    """Return the number of all suggestions, their mean probability and their precision."""
    total = table.total
    return total, float(table.probability_sum.sum()) / total, float(table.present.sum()) / total


def _bins(table: ReliabilityTable) -> Iterable[tuple[str, int, float, float]]:
    """Yield bounds, number, mean probability and precision of the bins that are not empty."""
    columns = (table.edges[:-1], table.edges[1:], table.count, table.mean_probability)
    for low, high, count, mean, precision in zip(*columns, table.precision, strict=True):
        if count:
            yield f"{low:.2f} to {high:.2f}", int(count), float(mean), float(precision)


def _metrics(facts: ModelFacts) -> str:
    rows = [
        _row(
            f"{title(name)} {arrow(name)}",
            number_cell(facts.metrics[name], number(facts.metrics[name])),
        )
        for name in metric_order(facts.metrics)
    ]
    return _table("metric-table", "All metrics", ("Metric", "On the held-out rows"), rows, "wide")


def _settings(facts: ModelFacts) -> str:
    settings = sorted(facts.settings.items())
    rows = [_row(name, _text_cell(value, "left")) for name, value in settings]
    return _table("setting-table", facts.kind, ("Parameter", "Value"), rows, "wide") if rows else ""


# ---- figures ------------------------------------------------------------------------------------


def _figures(facts: ModelFacts) -> str:
    drawn = [*_size_figure(facts), *_frequency_figure(facts), *_reliability_figure(facts)]
    inside = "".join(
        f"<figure>{svg}<figcaption>{prose(caption)}</figcaption></figure>" for svg, caption in drawn
    )
    if not drawn:
        return ""
    return (
        "<p>Point at a mark for its values; with the keyboard, go into a figure by Tab and from "
        f'mark to mark by the arrows.</p><div class="figures">{inside}</div>'
    )


def _size_figure(facts: ModelFacts) -> Iterable[tuple[str, str]]:
    if len(facts.tried) < 2:
        return
    order = sorted(facts.tried, key=lambda one: one.n_parameters)
    points = [
        (
            float(one.n_parameters),
            one.score,
            one.deviation,
            f"{one.name}: {one.score:.3f}, {one.n_parameters:,} parameters",
        )
        for one in order
    ]
    series = [
        Series(
            name,
            [point for point, one in zip(points, order, strict=True) if one.selected is selected],
            style,
            loose=True,
        )
        for style, (name, selected) in enumerate((("selected", True), ("tried", False)))
    ]
    judge, across = title(facts.tried_by), "parameters that the model keeps"
    svg = line_chart("Accuracy against size", series, across, judge, log_x=True)
    yield svg, f"What the search tried, by cross-validation: {judge}."


def _frequency_figure(facts: ModelFacts) -> Iterable[tuple[str, str]]:
    groups: dict[int, list[tuple[int, float]]] = {}  # frequencies and F1, by powers of two
    for label in facts.labels:
        if label.n_present and label.f1 is not None:
            of = groups.setdefault(label.n_present.bit_length(), [])
            of.append((label.n_present, label.f1))
    if sum(map(len, groups.values())) < 2:
        return
    line = []
    for size, own in sorted(groups.items()):
        rows, f1 = (sum(column) / len(own) for column in zip(*own, strict=True))
        span = f"{2 ** (size - 1):,} to {2**size - 1:,} rows"
        line.append((rows, f1, None, f"{counted(len(own), 'label')} in {span}: mean F1 {f1:.2f}"))
    svg = line_chart(
        "Frequent and rare labels",
        [Series("mean F1 of the labels", line, 0, heavy=True)],
        "held-out rows that have the label",
        "F1",
        log_x=True,
    )
    yield svg, "The mean F1 of labels that are about as frequent."


def _reliability_figure(facts: ModelFacts) -> Iterable[tuple[str, str]]:
    dots = [
        Dot(
            probability,
            f"{name}: probability {probability:.3f}, precision {precision:.3f}, of {count:,}",
            style,
            precision,
        )
        for style, (name, table) in enumerate(facts.suggested.items())
        for _, count, probability, precision in _bins(table)
    ]
    if len(dots) < 2:
        return
    styles = [(name, style) for style, name in enumerate(facts.suggested)]
    heading = "Reliability of suggested labels"
    svg = scatter(heading, dots, "mean probability", "precision", styles)
    yield (
        svg,
        "Each mark is a bin of suggested labels. On the line probabilities are right; below it the "
        "model is overconfident.",
    )


# ---- sentences ----------------------------------------------------------------------------------


def says(facts: ModelFacts) -> list[str]:
    """Return the facts in at most five sentences."""
    found = []
    error = facts.metrics.get("one_error")
    if error is not None and error == error:
        found.append(
            f"In {_share(1 - error)} of the rows the label that the model ranks first is there."
        )
    if facts.n_given and facts.n_present:
        found.append(
            f"Of the labels that it gives, {_share(facts.n_right / facts.n_given)} are right, and "
            f"it finds {_share(facts.n_right / facts.n_present)} of those that are there."
        )
    elif facts.n_present:
        found.append("It gives no label to any of these rows; its threshold is too high for them.")
    for name, table in list(facts.suggested.items())[:1]:
        count, probability, precision = _whole(table)
        if abs(probability - precision) > _LARGE_GAP and count >= _FREQUENT:
            found.append(
                f"Its probabilities are too {'high' if probability > precision else 'low'}: the "
                f"{name} have a mean probability of {_share(probability)}, and {_share(precision)} "
                "are right."
            )
    judged = [(one.f1 or 0.0, one.name) for one in facts.labels if one.n_present >= _FREQUENT]
    if len(judged) > 2 * _NAMED:
        names = [name for _, name in sorted(judged)]
        found.append(
            f"Of the labels in {_FREQUENT} rows or more it knows best "
            f"{_listed(names[: -_NAMED - 1 : -1])}, and least {_listed(names[:_NAMED])}."
        )
    occur = [one for one in facts.labels if one.n_present]
    never = sum(not one.n_given for one in occur)
    if never and facts.n_given:
        found.append(
            f"{never} of the {len(occur)} labels that occur in these rows are never given."
        )
    return found


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
