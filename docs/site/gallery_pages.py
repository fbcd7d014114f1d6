"""Scripts of the gallery as pages: the text, the code, what it prints and what it draws.

A script is a document of the site like any other. Its docstring opens the page (the first line is
the title), a line ``# %%`` begins a part, whose comment is Markdown, and ``figure.show()`` puts a
figure at that place. By itself the script does the same in a terminal and in the browser.
"""

import contextlib
import io
import json
from ast import get_docstring, parse
from dataclasses import dataclass, field
from pathlib import Path

import plotly.io
from myst_parser.parsers.sphinx_ import MystParser
from plotly.io.base_renderers import ExternalRenderer
from plotly.offline import get_plotlyjs
from plotly.utils import PlotlyJSONEncoder

FOLDER = "gallery/"
MARK = "# %%"


@dataclass
class Part:
    """A stretch of a script: what it says, what it does, and what came of that."""

    words: str
    code: str
    line: int  # where the code begins, so that errors name the right place
    printed: str = ""
    figures: list[str] = field(default_factory=list)  # as JSON


class Collect(ExternalRenderer):
    """Keeps figures in place of showing them."""

    def __init__(self):
        self.figures = []

    def render(self, fig_dict):
        text = json.dumps(fig_dict, cls=PlotlyJSONEncoder)
        self.figures.append(text.replace("</", r"<\/"))  # nothing inside ends the script element


def parts_of(source):
    """Title and parts of a script."""
    docstring, *_ = (tree := parse(source)).body
    title, _, words = get_docstring(tree).partition("\n")
    parts = [Part(words, "", docstring.end_lineno + 1)]
    in_words = False
    for number, line in enumerate(source.splitlines(), start=1):
        if number <= docstring.end_lineno:
            continue
        if line.strip() == MARK:
            parts.append(Part("", "", number + 1))
            in_words = True
        elif in_words and line.startswith("#"):
            parts[-1].words += line[1:].removeprefix(" ") + "\n"
            parts[-1].line = number + 1
        else:
            in_words = False
            parts[-1].code += line + "\n"
    return title, parts


def run(parts, path):
    """Run the parts one after the other in one namespace."""
    names = {"__name__": "__main__", "__file__": str(path)}
    for part in parts:
        collect, printed = Collect(), io.StringIO()
        plotly.io.renderers["collect"] = collect
        before, plotly.io.renderers.default = plotly.io.renderers.default, "collect"
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (part.line - 1) + part.code, str(path), "exec"), names)
        finally:
            plotly.io.renderers.default = before
        part.printed, part.figures = printed.getvalue(), collect.figures
    return names


def markdown(title, parts, name):
    """The page, as Markdown that MyST reads."""
    text = [f"# {title}"]
    for part in parts:
        text.append(part.words.strip())
        if part.code.strip():
            text.append(f"```python\n{part.code.strip()}\n```")
        if part.printed.strip():
            text.append(f"```text\n{part.printed.rstrip()}\n```")
        text += [
            f'<div class="plot"><script type="application/json">{figure}</script></div>'
            for figure in part.figures
        ]
    text.append(f"This page is the script `docs/gallery/{name}`, as it ran when the site was made.")
    return "\n\n".join(text) + "\n"


class ScriptParser(MystParser):
    """Reads a script, runs it, and parses the page that came of it."""

    supported = ("gallery",)

    def parse(self, inputstring, document):
        path = Path(document["source"])
        title, parts = parts_of(inputstring)
        run(parts, path)
        super().parse(markdown(title, parts, path.name), document)


def add_plotly(app):
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")


def load_plotly(app, pagename, templatename, context, doctree):
    """Only pages with figures load the script that draws them."""
    if pagename.startswith(FOLDER) and doctree is not None:
        app.add_js_file("plotly.min.js")
        app.add_js_file("plots.js")


def setup(app):
    app.add_source_suffix(".py", "gallery")
    app.add_source_parser(ScriptParser)
    app.connect("builder-inited", add_plotly)
    app.connect("html-page-context", load_plotly)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
