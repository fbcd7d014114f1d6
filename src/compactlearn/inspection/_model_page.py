"""The page about a fitted model: metrics, labels, errors, probabilities, and what was tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from compactlearn.inspection._model_facts import LabelFacts, Misjudged, ModelFacts
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
    whole_page,
    wrapped,
)
from compactlearn.metrics._reliability import ReliabilityTable

_FREQUENT = 10  # held-out rows from which on the metrics of a label say something
_NAMED = 3
_LARGE_GAP = 0.1  # between mean probability and precision
_TILES = ("average_precision", "micro_f1", "macro_f1", "one_error", "predicted_calibration_error")


def model_page(facts: ModelFacts, heading: str = "A fitted model") -> str:
    """Return the whole page; the same values give the same bytes."""
    sections = [
        ("labels", "Labels", _labels(facts)),
        ("mistakes", "Most confident errors", _mistakes(facts)),
        ("probabilities", "Probabilities of suggested labels", _probabilities(facts)),
        ("tried", "Models that were tried", _tried(facts)),
        ("metrics", "All metrics", _metrics(facts)),
        ("settings", "Settings", _settings(facts)),
    ]
    present = [one for one in sections if one[2]]
    links = " ".join(f'<a href="#{name}">{escape(text)}</a>' for name, text, _ in present)
    main = _tiles(facts) + "".join(
        f'<h2 id="{name}">{escape(text)}</h2>{inside}' for name, text, inside in present
    )
    footer = "<p>Made by compactlearn. This page loads nothing from any network.</p>"
    return whole_page(heading, _lede(facts) + said(says(facts)), links, main, footer)


def _lede(facts: ModelFacts) -> str:
    size = "" if facts.n_parameters is None else f" It has {facts.n_parameters:,} parameters."
    return (
        f'<p class="lede">{escape(facts.kind)} with {counted(facts.n_labels, "label")} and '
        f"{counted(facts.n_features, 'feature')}, evaluated on {counted(facts.n_rows, 'row')}."
        f"{size}</p>"
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


def _number_cells(form: str, *values: float | None, bar: bool = False) -> list[str]:
    texts = ("" if value is None else f"{value:{form}}" for value in values)
    return [number_cell(value, text, bar=bar) for value, text in zip(values, texts, strict=True)]


def _labels(facts: ModelFacts) -> str:
    has_words = any(label.words for label in facts.labels)
    has_near = any(label.near for label in facts.labels)
    columns = ["Label", "Rows", "Predicted", "F1", "Precision", "Recall"]
    columns += ["Strongest features"] * has_words + ["Similar labels"] * has_near
    order = sorted(facts.labels, key=lambda label: (-label.n_present, label.name))
    rows = [_label_row(label, has_words, has_near) for label in order]
    about = (
        "For each label: how many of the evaluated rows have it, for how many the model predicts "
        "it, and how well the two agree. Type the beginning of a name to find a label."
    )
    if has_words:
        about += (
            " The strongest features are those that raise its score most, on average over at most "
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
        *_number_cells(".2f", label.f1, label.precision, label.recall, bar=True),
        *[_text_cell(", ".join(label.words))] * has_words,
        *[_text_cell(", ".join(label.near))] * has_near,
    )


def _mistakes(facts: ModelFacts) -> str:
    if not facts.mistakes:
        return ""
    has_text = any(one.text for one in facts.mistakes)
    columns = ["Label", "Error", "Row", "Score above threshold", "Raise the score"]
    columns += ["Lower the score"] + ["Text"] * has_text
    rows = [_mistake_row(one, has_text) for one in facts.mistakes]
    return (
        "<p>Wrong labels with the highest scores, and missed labels with the lowest. Some are "
        "errors of the model, others of the person who labelled the row. Rows are counted from 0."
        f"</p>{filter_box('mistake-table', 'a label')}"
        f"{_table('mistake-table', 'Most confident errors', columns, rows)}"
    )


def _mistake_row(one: Misjudged, has_text: bool) -> str:
    return _row(
        one.label,
        _text_cell("predicted, but wrong" if one.given else "missed", "left"),
        *_number_cells("d", one.row),
        *_number_cells("+.3f", one.margin),
        *(_text_cell(", ".join(names)) for names in (one.speaks_for, one.speaks_against)),
        *[_text_cell(one.text)] * has_text,
    )


def _probabilities(facts: ModelFacts) -> str:
    if not facts.suggested:
        return ""
    about = (
        "Suggested labels, grouped by their probability: their number, mean probability, precision "
        "(the share that is correct), and the gap between the two. A positive gap means that the "
        "model is overconfident. Gaps of fewer than 50 labels are mostly noise."
    )
    columns = ["Suggested", "Probability", "Labels", "Mean probability", "Precision", "Gap"]
    rows = [
        _row(
            name,
            _text_cell(bounds, "left"),
            *_number_cells(",", count),
            *_number_cells(".3f", probability, precision, bar=True),
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


def _tried(facts: ModelFacts) -> str:
    rows = [
        _row(
            one["name"],
            *_number_cells(".4f", one["score"], one["deviation"]),
            *_number_cells(",", one["n_parameters"]),
        )
        for one in facts.tried
    ]
    columns = ("Model", title(facts.tried_by), "Standard deviation", "Parameters")
    about = "The models that the search compared by cross-validation. The first one was selected."
    table = _table("tried-table", "Models that were tried", columns, rows, "wide")
    return f"<p>{about}</p>{table}" if rows else ""


def _metrics(facts: ModelFacts) -> str:
    rows = [
        _row(
            f"{title(name)} {arrow(name)}",
            number_cell(facts.metrics[name], number(facts.metrics[name])),
        )
        for name in metric_order(facts.metrics)
    ]
    return _table("metric-table", "All metrics", ("Metric", "Value"), rows, "wide")


def _settings(facts: ModelFacts) -> str:
    settings = sorted(facts.settings.items())
    rows = [_row(name, _text_cell(value, "left")) for name, value in settings]
    return _table("setting-table", facts.kind, ("Parameter", "Value"), rows, "wide") if rows else ""


# ---- sentences ----------------------------------------------------------------------------------


def says(facts: ModelFacts) -> list[str]:
    """Return the facts in at most five sentences."""
    found = []
    error = facts.metrics.get("one_error")
    if error is not None and error == error:
        found.append(
            f"In {_share(1 - error)} of the rows the label with the highest score is correct."
        )
    if facts.n_given and facts.n_present:
        found.append(
            f"{_share(facts.n_right / facts.n_given)} of the predicted labels are correct, and "
            f"{_share(facts.n_right / facts.n_present)} of the true labels are predicted."
        )
    elif facts.n_present:
        found.append(
            "No label is predicted for any of these rows: the threshold is too high for them."
        )
    for name, table in list(facts.suggested.items())[:1]:
        count, probability, precision = _whole(table)
        if abs(probability - precision) > _LARGE_GAP and count >= _FREQUENT:
            found.append(
                f"The probabilities are too {'high' if probability > precision else 'low'}: the "
                f"{name} have a mean probability of {_share(probability)}, and {_share(precision)} "
                "are correct."
            )
    judged = [(one.f1 or 0.0, one.name) for one in facts.labels if one.n_present >= _FREQUENT]
    if len(judged) > 2 * _NAMED:
        names = [name for _, name in sorted(judged)]
        found.append(
            f"Among the labels of {_FREQUENT} rows or more, F1 is highest for "
            f"{_listed(names[: -_NAMED - 1 : -1])}, and lowest for {_listed(names[:_NAMED])}."
        )
    occur = [one for one in facts.labels if one.n_present]
    never = sum(not one.n_given for one in occur)
    if never and facts.n_given:
        found.append(
            f"{never} of the {len(occur)} labels that occur in these rows are never predicted."
        )
    return found


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
