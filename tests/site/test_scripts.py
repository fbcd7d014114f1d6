"""The scripts of the gallery run, and what their text says of the outcome is true."""

import numpy as np
import pytest

from tests.site.conftest import DOCS

SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))


def near_ridge_at_last(names):
    ends = [points[-1][1] for points in names["curves"].values()]
    few = {name: points[3][1] for name, points in names["curves"].items()}  # five codes
    return np.ptp([*ends, names["reached"]]) < 0.003 and few["CPLST"] == max(few.values())


def best_below_one_half(names):
    at_half = np.argmin(np.abs(names["cuts"] - 0.5))
    tuned = np.argmin(np.abs(names["cuts"] - names["tuned"]))
    return (
        names["tuned"] < 0.5
        and names["share"][at_half] < 1
        and names["micro"][tuned] > names["micro"][at_half]
    )


def rare_labels_pay(names):
    ridge, compact = (trace.y for trace in names["figure"].data)
    loss = [1 - b / a for a, b in zip(ridge, compact, strict=True)]
    return loss[0] == max(loss) and loss[-1] == min(loss) and loss[0] > 0.3


def exact(names):
    return names["gap"] < 1e-9 and names["reached"][-1] > names["reached"][0]


def ori_is_not_beaten(names):
    scores, ori = names["scores"], names["scores"]["ORI"]
    assert len(names["records"]) == 12
    return all(found.mean <= ori.mean + ori.std for found in scores.values())


def best_is_inside_the_grid(names):
    best = np.unravel_index(names["grid"].argmax(), names["grid"].shape)
    found = names["alphas"][best[1]], names["sizes"][best[0]]
    chosen = names["search"].best_params_
    return found == (chosen["alpha"], chosen["n_label_components"]) and 0 < best[1] < 6


def terms_add_up(names):
    why, table = names["why"], names["table"]
    total = why.base + why.rest + sum(names["values"])
    return abs(total - why.score) < 1e-9 and table.largest_gap(min_count=50) < 0.1


CLAIMS = {
    "explanations": terms_add_up,
    "size": near_ridge_at_last,
    "thresholds": best_below_one_half,
    "rare_labels": rare_labels_pay,
    "blocks": exact,
    "methods": ori_is_not_beaten,
    "parameters": best_is_inside_the_grid,
}


def test_every_script_has_a_claim_and_a_line_on_the_overview():
    assert {script.stem for script in SCRIPTS} == set(CLAIMS)
    overview = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert all(f"](gallery/{script.name})" in overview for script in SCRIPTS)


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_runs_and_its_words_are_true(script, extension, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    pages = extension("gallery_pages")
    title, parts = pages.parts_of(script.read_text(encoding="utf-8"))
    names = pages.run(parts, script)
    assert title
    assert sum(len(part.figures) for part in parts) > 0
    assert CLAIMS[script.stem](names)


def test_parts_keep_their_order_their_lines_and_their_figures(extension):
    pages = extension("gallery_pages")
    source = (
        '"""Title\n\nWords.\n"""\n\nx = 1\n\n# %%\n# More *words*.\n#\n# And more.\n\ny = x + 1\n'
        "# a comment of the code\nprint(y)\n# %%\nimport plotly.graph_objects as go\n"
        'figure = go.Figure(go.Bar(y=[1], name="</script>"))\nfigure.show()\n'
    )
    title, parts = pages.parts_of(source)
    assert title == "Title"
    assert [part.words.strip() for part in parts] == ["Words.", "More *words*.\n\nAnd more.", ""]
    assert [part.line for part in parts] == [5, 12, 17]
    assert "# a comment of the code" in parts[1].code
    pages.run(parts, "here.py")
    assert [part.printed for part in parts] == ["", "2\n", ""]
    assert [len(part.figures) for part in parts] == [0, 0, 1]
    assert "</script>" not in parts[2].figures[0]
    text = pages.markdown(title, parts, "here.py")
    assert text.index("Words.") < text.index("x = 1") < text.index("And more.") < text.index("plot")


def test_an_error_in_a_script_names_its_line(extension):
    pages = extension("gallery_pages")
    _, parts = pages.parts_of('"""T"""\n\n# %%\n# Words.\n\nx = 1\n1 / 0\n')
    with pytest.raises(ZeroDivisionError) as caught:
        pages.run(parts, "here.py")
    assert caught.traceback[-1].lineno + 1 == 7


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("codes_ : array of shape (N, m_)", r"codes\_ : array of shape (N, m\_)"),
        ("``codes_`` and `codes_` stay", "``codes_`` and `codes_` stay"),
        (">>> model.codes_", ">>> model.codes_"),
        ("snake_case and _private", "snake_case and _private"),
        (r"codes\_ once", r"codes\_ once"),
    ],
)
def test_names_of_attributes_are_no_links(line, shown, extension):
    assert extension("docstrings").protect([line]) == [shown]


def test_literal_blocks_are_left_alone(extension):
    lines = ["With codes_::", "", "    V = codes_", "", "and codes_ again"]
    found = extension("docstrings").protect(lines)
    assert found == [r"With codes\_::", "", "    V = codes_", "", r"and codes\_ again"]
