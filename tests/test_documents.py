"""README.md and docs are true: every block of code and every command line in them is run.

A fence says what it holds: ``python``, ``toml`` or ``text``. Indented lines are commands. Each
block runs by itself, in a fresh namespace and an empty folder. A comment before it says otherwise:

    <!-- continues -->                      in the namespace or the folder of the one before
    <!-- where: SPEC = quick.toml, ... -->  values of the words in capitals
    <!-- file: my_module.py -->             it is also a file, in the folder of the page's specs
    <!-- not run: reason -->                for what installs, downloads or needs large data
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
import typer

from compactlearn.cli import _app as app
from compactlearn_bench.methods.finding import GROUP
from compactlearn_bench.records import open_records

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DIRECTIVES = ("continues", "where", "file", "not run")


@dataclass
class Block:
    page: str
    line: int
    kind: str  # what the fence says, or "commands"
    text: str
    directives: dict[str, str] = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.page}:{self.line}"

    @property
    def is_run(self):
        return self.kind != "text" and "not run" not in self.directives


def blocks_of(path):
    """Return the blocks of a page in order, each with the directives right before it."""
    page = path.relative_to(ROOT).as_posix().removeprefix("docs/")
    blocks, directives = [], {}
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))
    indented = None
    for number, line in lines:
        if line.startswith("```"):
            inside = []
            for _, inner in lines:
                if inner.startswith("```"):
                    break
                inside.append(inner)
            blocks.append(Block(page, number, line[3:].strip(), "\n".join(inside), directives))
            directives, indented = {}, None
        elif line.startswith("    "):
            if indented is None:
                indented = Block(page, number, "commands", "", directives)
                blocks.append(indented)
                directives = {}
            indented.text += f"{line[4:]}\n"
        elif line.startswith("<!--") and (found := re.fullmatch(r"<!-- ([^:]+?)(: .*)? -->", line)):
            if found[1] in DIRECTIVES:
                directives[found[1]] = (found[2] or "")[2:].strip()
            indented = None
        elif line.strip():
            assert not directives, f"{path.name}:{number}: {directives} precedes no block"
            indented = None
    return blocks


ALL = [block for path in PAGES for block in blocks_of(path)]


def chains(kind):
    """Blocks of a kind that are run, each with those that continue it."""
    found = []
    for block in ALL:
        if block.kind == kind and block.is_run:
            if "continues" in block.directives and found and found[-1][0].page == block.page:
                found[-1].append(block)
            else:
                assert "continues" not in block.directives, f"{block.name} continues nothing"
                found.append([block])
    return found


def by_chain(kind):
    return pytest.mark.parametrize("chain", chains(kind), ids=lambda chain: chain[0].name)


def clean_environment(**more):
    """Return the environment of a user's shell, our commands first and no data settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("COMPACTLEARN")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return kept | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1"} | more


# ---- what there is ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_block_escapes(path):
    """Counted once more, by other means."""
    text, blocks = path.read_text(encoding="utf-8"), blocks_of(path)
    fenced = [block for block in blocks if block.kind != "commands"]
    assert 2 * len(fenced) == sum(line.startswith("```") for line in text.splitlines())
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    commands = [line for b in blocks if b.kind == "commands" for line in b.text.splitlines()]
    assert len(commands) == len(re.findall(r"^ {4}.*\S", outside, flags=re.MULTILINE))
    for sign, name in (("```python", "python"), ("```toml", "toml")):
        assert sum(block.kind == name for block in blocks) == text.count(sign)
    known = re.findall(rf"^<!-- ({'|'.join(DIRECTIVES)})\b", text, flags=re.MULTILINE)
    assert len(known) == sum(len(block.directives) for block in blocks)


def test_every_block_says_what_it_is():
    assert {block.kind for block in ALL} == {"python", "toml", "text", "commands"}
    odd = [f"{block.name}: {block.text}" for block in ALL if not block.text.strip()]
    assert odd == []


def test_what_is_not_run_has_a_reason_and_is_little():
    left = [block for block in ALL if "not run" in block.directives]
    assert all(len(block.directives["not run"].split()) > 3 for block in left)
    assert {block.kind for block in left} == {"commands"}
    lines = [line.split("#")[0].strip() for block in left for line in block.text.splitlines()]
    assert [line for line in lines if not line.startswith(("make ", "pip install "))] == [
        "compactlearn bench bench/paper/linear.toml --data-home DIR --workers 4",
        "compactlearn bench bench/paper/SPEC.toml --store DIR --pack bench/paper/records.jsonl.xz",
    ]


# ---- Python -------------------------------------------------------------------------------------

# By page and a phrase of one block: what must be true after that block.
CLAIMS = {
    "README.md": {
        "text_classifier": (
            "[{n for n, _ in row} for row in found] == [{'bread', 'food'}, {'sport', 'weather'}]"
            " and all(0.5 < p < 1 for row in found for _, p in row)"
        ),
    },
    "how-to/names.md": {
        "predict_labels": (
            "names.shape == scores.shape == (10, 2)"
            " and model.label_names_ == ['blues', 'jazz', 'soul']"
        ),
        "exclude=": "model.excluded_labels_ == ['soul', 'zydeco']",
    },
    "explanation/automatic-search.md": {
        "model.leaderboard_:": (
            "probabilities.shape == (202, 6)"
            " and model.why_.startswith('Selected: ') and 'tried' in model.why_"
        ),
        "plot_frontier": (
            "best_for_its_size in model.leaderboard_ and figure.data[2].text[1] == 'mine'"
        ),
    },
    "methods/index.md": {
        "model.predict_topk": (
            "scores.shape == (579, 53) == labels.shape and best.shape == (579, 5) and "
            "small.shape == (579, 27) and model.embedding_.solver_ == 'closed-krylov' and "
            "model.n_parameters_ == 28511"
        ),
    },
    "how-to/size-budget.md": {
        "sparse=True": "best.shape == (579, 3) and few.nnz == 3 * 579",
        "size_budget": "model.n_parameters_ <= 0.1 * 1001 * 53",
    },
    "how-to/probabilities.md": {
        "make_pipeline": "results['micro_f1'] > 0.5 and best.shape == (579, 5)",
        "probabilities = model": "probabilities.shape == (579, 53)",
        "reliability_table": (
            "table.total == 5 * 579 and abs(table.largest_gap(50) - 0.0732) < 0.001"
        ),
    },
    "how-to/explain.md": {
        "why.neighbours": "why.neighbours[0].row == 266 and 0.23 < why.neighbours[0].share < 0.25",
    },
    "how-to/large-data.md": {
        "open_blocks": "(source.n_rows, model.n_passes_) == (1702, 1)",
        "def blocks": "model.predict(data.X[:3]).shape == (3, 53)",
        "Moments.from_arrays": "total.count == 1702 and model.threshold_ == 0.5",
    },
    "how-to/compare-methods.md": {
        "METHODS": "len(METHODS) >= 17 and baseline.n_labels_ == kernel.n_labels_ == 53",
    },
    "how-to/data-files.md": {
        "make_compact": "mine.Y.shape == (500, 12)",
    },
    "how-to/tune.md": {
        "CMLLClassifierCV()": "model.best_score_ > 0.65",
    },
    "tutorials/texts-to-tags.md": {
        "evaluate(model, texts, tags)": (
            "{n for n, _ in found[0]} == {'bread', 'food'} and found[1][0][0] == 'sport'"
        ),
        "breads and winds": "{n for n, _ in parts[0]} & {'bread', 'food', 'weather'}",
        "catch_warnings": (
            "unknown.tolist() == [True, False]"
            " and str(caught[0].message).startswith('1 of 2 texts has no run of characters of ')"
        ),
        "by_part": "predict_labels(by_part, notes[1:2], 1)[0][0][0] == 'food'",
    },
    "reference/benchmark.md": {
        "def make": "set(make.grid) <= set(make().get_params())",
    },
    "tutorials/ten-minutes.md": {
        "data.split()": (
            "(train.n_samples, test.n_samples) == (1123, 579) and "
            "data.X.shape == (1702, 1001) and data.Y.shape == (1702, 53)"
        ),
        "leaderboard_": "model.leaderboard_ and model.why_.startswith('Selected: ')",
        "predict_topk": "labels.shape == (3, 3)",
        "predict_proba": (
            "abs(probabilities.sum(axis=1).mean() / test.Y.sum(axis=1).mean() - 1) < 0.2"
        ),
        "size_budget=0.1": "small.n_parameters_ <= 0.1 * 53053 and half.nbytes_ < small.nbytes_",
    },
    "contributing/own-metric.md": {
        "GridSearchCV": "search.best_params_['threshold'] < 0.5",
        "Metric(": "row.function([[1, 0, 0]], [[1, 1, 1]]) == 2",
    },
    "contributing/own-data.md": {
        "films.csv": (
            "films.X.shape == (3, 2)"
            " and load('films', data_home='data').label_names == ('funny', 'sad')"
        ),
    },
    "methods/plst.md": {
        "PLST(10)": (
            "model.predict_codes(data.X[1123:]).shape == (579, 10) and "
            "model.n_parameters_ == 10 * (1001 + 53) + 53"
        ),
    },
    "methods/cmll-y.md": {
        "CMLLClassifier": "model.n_parameters_ == 27 * (1001 + 53) + 53",
    },
    "methods/mddm.md": {
        "MDDM()": "reduced.shape == (1702, 53)",
    },
    "methods/pop.md": {
        "POPClassifier": "model.n_weights_ < model.n_weights_full_",
    },
}


@by_chain("python")
@mock.patch.dict(os.environ)  # what an example sets there ends with it
def test_the_examples_run(chain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in chain:
        exec(compile(block.text, block.name, "exec"), names)
        for phrase, claim in CLAIMS.get(block.page, {}).items():
            assert phrase not in block.text or eval(claim, names), claim


@pytest.mark.parametrize(("page", "phrase"), [(p, one) for p in CLAIMS for one in CLAIMS[p]])
def test_every_claim_is_about_one_example(page, phrase):
    found = [b for b in ALL if b.kind == "python" and b.page == page and phrase in b.text]
    assert len(found) == 1


# ---- specs --------------------------------------------------------------------------------------


def page_files(page, folder):
    """Write the blocks of a page that are files into the folder of its specs."""
    for block in ALL:
        if block.page == page and "file" in block.directives:
            (folder / block.directives["file"]).write_text(block.text, encoding="utf-8")


def shell(line, folder):
    """Run a line; the folder of data is one inside, so that nobody's own is written to."""
    environment = clean_environment(COMPACTLEARN_DATA=str(folder / "data"))
    done = subprocess.run(
        line, shell=True, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@by_chain("toml")
def test_the_specs_are_accepted(chain, tmp_path):
    (block,) = chain
    content = tomllib.loads(block.text)
    if "project" in content:
        assert list(content["project"]["entry-points"]) == [GROUP]
        return
    page_files(block.page, tmp_path)
    (tmp_path / "spec.toml").write_text(block.text, encoding="utf-8")
    shown = shell("compactlearn bench spec.toml --dry-run", tmp_path)
    assert f"{content['name']}: " in shown
    for method in content["methods"]:
        assert (method if isinstance(method, str) else method.get("as", method["name"])) in shown


def test_a_method_of_ones_own_as_printed(tmp_path):
    """The line of the spec and the module of the page, on a data set that is there."""
    (spec,) = (
        block
        for block in ALL
        if block.page == "reference/benchmark.md"
        and block.kind == "toml"
        and "estimator =" in block.text
    )
    (line,) = re.findall(r'^ *(\{.*estimator = ".*\}),$', spec.text, flags=re.MULTILINE)
    page_files("reference/benchmark.md", tmp_path)
    text = f'name = "own"\nfolds = 2\ninner_folds = 2\ndatasets = ["emotions"]\nmethods = [{line}]'
    (tmp_path / "spec.toml").write_text(text + "\nworkers = 1\n", encoding="utf-8")
    shell("compactlearn bench spec.toml --store records", tmp_path)
    records = list(open_records(tmp_path / "records"))
    assert {record.status for record in records} == {"done"}
    assert {record.cell.method for record in records} == {"mine"}


# ---- commands -----------------------------------------------------------------------------------


def cut_down(source):
    """A ready spec with its first data set, its first methods and two folds."""
    spec = tomllib.loads(source.read_text(encoding="utf-8"))
    spec |= {"folds": 2, "inner_folds": 2, "workers": 1, "datasets": ["emotions"]}
    spec["methods"] = spec["methods"][:2]
    plain = {key: value for key, value in spec.items() if key not in ("budget", "overrides")}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in plain.items())


@pytest.mark.slow
@by_chain("commands")
def test_the_commands_run(chain, tmp_path):
    """As printed, in a folder that has our specs as a clone has them, cut down to seconds."""
    specs = tmp_path / "bench" / "paper"
    specs.mkdir(parents=True)
    for source in (ROOT / "bench" / "paper").glob("*.toml"):
        (specs / source.name).write_text(cut_down(source), encoding="utf-8")
    page_files(chain[0].page, tmp_path)
    for block in chain:
        meanings = dict(re.findall(r"(\S+) = ([^,]+)", block.directives.get("where", "")))
        for line in block.text.splitlines():
            for word, meaning in meanings.items():
                line = line.replace(f" {word} ", f" {meaning} ")
            command = line.split(" #")[0]
            assert not re.search(r"\b[A-Z]{3,}\b", command), f"what is meant in {line!r}?"
            shell(line, tmp_path)
    made = [path for path in tmp_path.iterdir() if path != tmp_path / "bench"]
    assert made


def test_the_targets_of_make_exist():
    text = "".join(block.text for block in ALL if block.kind == "commands")
    targets = re.findall(r"^make (\w+)", text, flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in targets)


def test_the_extras_exist():
    text = "".join(block.text for block in ALL if block.kind == "commands")
    text += "".join(path.read_text(encoding="utf-8") for path in PAGES)
    named = set(re.findall(r"pip install '(?:compactlearn|\.)\[(\w+)\]'", text))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert named
    assert named <= set(project["optional-dependencies"])


INLINE = sorted(
    {
        re.sub(r"\s+", " ", found)
        for path in PAGES
        for found in re.findall(r"`(compactlearn [a-z][^`]*)`", path.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize("command", INLINE)
def test_commands_within_sentences_are_understood(command, monkeypatch):
    """Their names and options exist; what they would do is not done."""
    monkeypatch.chdir(ROOT)
    group, words = typer.main.get_command(app._app), command.split()[1:]
    context = group.make_context("compactlearn", [], resilient_parsing=True)
    while hasattr(group, "resolve_command"):
        name, group, words = group.resolve_command(context, words)
        assert group is not None
        if not words:
            return  # the command by its name alone
        context = group.make_context(
            name, list(words), parent=context, resilient_parsing=hasattr(group, "resolve_command")
        )


# ---- figures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["tables.py", "figures.py"])
def test_tables_and_figures_are_those_of_the_records(script):
    command = [sys.executable, str(ROOT / "bench" / script), "--check"]
    assert subprocess.run(command).returncode == 0


LINKS = [
    (path, target)
    for path in PAGES
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    if "://" not in target
]


@pytest.mark.parametrize(("path", "target"), LINKS, ids=lambda part: str(part).split("/")[-1])
def test_links_lead_somewhere(path, target):
    """To a file of the tree, and within it to a heading."""
    name, _, place = target.partition("#")
    there = (path.parent / name).resolve() if name else path
    assert there.exists()
    if place:
        titles = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), flags=re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert place in slugs


def test_every_page_is_linked_from_another():
    linked = {(path.parent / target.partition("#")[0]).resolve() for path, target in LINKS}
    assert [path for path in PAGES[1:] if path not in linked] == []
