"""One page on a fitted model: how good it is, its labels, its mistakes, and what it weighs."""

from __future__ import annotations

from html import escape

from compactlearn.inspection._model_facts import Bin, LabelFacts, Misjudged, ModelFacts
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

__all__ = ["model_page", "says"]

_FREQUENT = 10  # held-out rows from which on the figures of a label say something
_NAMED = 3
_LARGE_GAP = 0.1  # between mean probability and precision
_TILES = ("average_precision", "micro_f1", "macro_f1", "one_error", "predicted_calibration_error")


def model_page(facts: ModelFacts, heading: str = "A model, looked at") -> str:
    """The whole page; the same values give the same bytes."""
    sections = [
        ("labels", "Labels", _labels(facts)),
        ("mistakes", "Mistakes worth reading", _mistakes(facts)),
        ("probabilities", "Probabilities of suggested labels", _probabilities(facts)),
        ("figures", "Figures", _figures(facts)),
        ("metrics", "All metrics", _metrics(facts)),
        ("settings", "Settings", _settings(facts)),
    ]
    shown = [one for one in sections if one[2]]
    links = " ".join(f'<a href="#{name}">{escape(text)}</a>' for name, text, _ in shown)
    main = _tiles(facts) + "".join(
        f'<h2 id="{name}">{escape(text)}</h2>{inside}' for name, text, inside in shown
    )
    return whole_page(heading, _lede(facts) + said(says(facts)), links, main, _footer())


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


def _labels(facts: ModelFacts) -> str:
    columns = ["Label", "Rows", "Given", "F1", "Precision", "Recall"]
    has_words = any(label.words for label in facts.labels)
    has_near = any(label.near for label in facts.labels)
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
    table = wrapped(
        "label-table",
        "Labels",
        [head(text) for text in columns],
        rows,
        "",
        "Labels",
        kind="wide tall",
    )
    return f"<p>{prose(about)}</p>{filter_box('label-table', 'a label')}{table}"


def _label_row(label: LabelFacts, has_words: bool, has_near: bool) -> str:
    cells = [
        number_cell(label.n_present, f"{label.n_present:,}"),
        number_cell(label.n_given, f"{label.n_given:,}"),
        *(
            number_cell(value, "" if value is None else f"{value:.2f}")
            for value in (label.f1, label.precision, label.recall)
        ),
    ]
    cells += [f'<td class="wrap">{escape(", ".join(label.words))}</td>'] * has_words
    cells += [f'<td class="wrap">{escape(", ".join(label.near))}</td>'] * has_near
    return f'<tr><th scope="row">{escape(label.name)}</th>{"".join(cells)}</tr>'


def _mistakes(facts: ModelFacts) -> str:
    if not facts.mistakes:
        return ""
    has_text = any(one.text for one in facts.mistakes)
    columns = ["Label", "What is wrong", "Row", "Score above threshold", "Speaks for it"]
    columns += ["Speaks against it", *(["The row"] if has_text else [])]
    rows = [_mistake_row(one, has_text) for one in facts.mistakes]
    return (
        "<p>Labels that the model was surest about and wrong. Some are mistakes of the model, and "
        "some of whoever gave the labels.</p>"
        + filter_box("mistake-table", "a label")
        + wrapped(
            "mistake-table",
            "Mistakes",
            [head(text) for text in columns],
            rows,
            "",
            "Mistakes",
            kind="wide tall",
        )
    )


def _mistake_row(one: Misjudged, has_text: bool) -> str:
    wrong = "given, and not there" if one.given else "there, and not given"
    cells = [
        f'<td class="left">{wrong}</td>',
        number_cell(one.row, f"{one.row}"),
        number_cell(one.margin, f"{one.margin:+.3f}"),
        *(
            f'<td class="wrap">{escape(", ".join(names))}</td>'
            for names in (one.speaks_for, one.speaks_against)
        ),
        *([f'<td class="wrap">{escape(one.text)}</td>'] if has_text else []),
    ]
    return f'<tr><th scope="row">{escape(one.label)}</th>{"".join(cells)}</tr>'


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


def _size_figure(facts: ModelFacts) -> list[tuple[str, str]]:
    if len(facts.tried) < 2:
        return []
    series = []
    for style, (name, taken) in enumerate((("taken", True), ("tried", False))):
        points = [
            (
                float(one.n_parameters),
                one.score,
                one.deviation,
                f"{one.name}: {one.score:.3f}, {one.n_parameters:,} parameters",
            )
            for one in sorted(facts.tried, key=lambda one: one.n_parameters)
            if one.taken is taken
        ]
        series.append(Series(name, points, style, loose=True))
    svg = line_chart(
        "Accuracy against size",
        series,
        "parameters that the model keeps",
        title(facts.tried_by),
        log_x=True,
    )
    return [(svg, f"What the search tried, by cross-validation: {title(facts.tried_by)}.")]


def _frequency_figure(facts: ModelFacts) -> list[tuple[str, str]]:
    points = [
        (float(label.n_present), label.f1, None, f"{label.name}: F1 {label.f1:.2f}")
        for label in sorted(facts.labels, key=lambda label: label.n_present)
        if label.n_present and label.f1 is not None
    ]
    if len(points) < 2:
        return []
    groups: dict[int, list[tuple[float, float, None, str]]] = {}  # by powers of two
    for point in points:
        groups.setdefault(int(point[0]).bit_length(), []).append(point)
    line = [
        (
            sum(p[0] for p in own) / len(own),
            sum(p[1] for p in own) / len(own),
            None,
            f"{counted(len(own), 'label')} in {2 ** (size - 1):,} to {2**size - 1:,} rows: "
            f"mean F1 {sum(p[1] for p in own) / len(own):.2f}",
        )
        for size, own in sorted(groups.items())
    ]
    svg = line_chart(
        "Frequent and rare labels",
        [Series("mean F1 of the labels", line, 0, heavy=True)],
        "held-out rows that have the label",
        "F1",
        log_x=True,
    )
    return [(svg, "The mean F1 of labels that are about as frequent.")]


def _probabilities(facts: ModelFacts) -> str:
    if not facts.suggested:
        return ""
    about = (
        "Suggested labels by their probability: how many there are, their mean probability, their "
        "precision (the share that is right), and the gap between the two. A positive gap means "
        "that the model is overconfident. Gaps of fewer than 50 labels are mostly chance."
    )
    columns = ["Suggested", "Probability", "Labels", "Mean probability", "Precision", "Gap"]
    rows = [
        _bin_row(one.name, of, bin)
        for one in facts.suggested
        for of, bin in [
            ("all", one.whole),
            *((f"{bin.low:.2f} to {bin.high:.2f}", bin) for bin in one.bins),
        ]
    ]
    table = wrapped(
        "probability-table",
        "Probabilities of suggested labels",
        [head(text) for text in columns],
        rows,
        "",
        "Probabilities of suggested labels",
        kind="wide tall",
    )
    return f"<p>{prose(about)}</p>{table}"


def _bin_row(name: str, probability: str, one: Bin) -> str:
    cells = [
        f'<td class="left">{escape(probability)}</td>',
        number_cell(one.count, f"{one.count:,}"),
        number_cell(one.mean_probability, f"{one.mean_probability:.3f}"),
        number_cell(one.precision, f"{one.precision:.3f}"),
        number_cell(one.gap, f"{one.gap:+.3f}"),
    ]
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'


def _reliability_figure(facts: ModelFacts) -> list[tuple[str, str]]:
    dots = [
        Dot(
            bin.mean_probability,
            f"{one.name}: probability {bin.mean_probability:.3f}, precision {bin.precision:.3f}, "
            f"of {bin.count:,}",
            style,
            bin.precision,
        )
        for style, one in enumerate(facts.suggested)
        for bin in one.bins
    ]
    if len(dots) < 2:
        return []
    svg = scatter(
        "Reliability of suggested labels",
        dots,
        "mean probability",
        "precision",
        [(one.name, style) for style, one in enumerate(facts.suggested)],
    )
    caption = (
        "Each mark is a bin of suggested labels. On the line probabilities are right; below it the "
        "model is overconfident."
    )
    return [(svg, caption)]


def _metrics(facts: ModelFacts) -> str:
    rows = [
        f'<tr><th scope="row">{escape(title(name))} {arrow(name)}</th>'
        f"{number_cell(facts.metrics[name], number(facts.metrics[name]))}</tr>"
        for name in metric_order(facts.metrics)
    ]
    heads = [head(text) for text in ("Metric", "On the held-out rows")]
    return wrapped("metric-table", "All metrics", heads, rows, "", "All metrics")


def _settings(facts: ModelFacts) -> str:
    if not facts.settings:
        return ""
    rows = [
        f'<tr><th scope="row">{escape(name)}</th><td class="left">{escape(value)}</td></tr>'
        for name, value in sorted(facts.settings.items())
    ]
    heads = [head(text) for text in ("Parameter", "Value")]
    return wrapped("setting-table", escape(facts.kind), heads, rows, "", "Settings")


def _footer() -> str:
    return "<p>Made by compactlearn. This page asks for nothing from any network.</p>"


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
    found += [
        f"Its probabilities are too {'high' if whole.gap > 0 else 'low'}: the {one.name} have a "
        f"mean probability of {_share(whole.mean_probability)}, and {_share(whole.precision)} are "
        "right."
        for one in facts.suggested[:1]
        if abs((whole := one.whole).gap) > _LARGE_GAP and whole.count >= _FREQUENT
    ]
    judged = [(one.f1 or 0.0, one.name) for one in facts.labels if one.n_present >= _FREQUENT]
    if len(judged) > 2 * _NAMED:
        judged.sort()
        names = [name for _, name in judged]
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
