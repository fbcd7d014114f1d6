"""What a newcomer meets: files by their names, advice that exists here, tables that are whole."""

import json
import re

import pytest
from rich.cells import cell_len
from sklearn.base import clone

from compactlearn import CMLLClassifier
from compactlearn.cli import _tables as tables
from compactlearn.cli import main
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.datasets import list_datasets, load
from compactlearn.model_selection import CMLLClassifierCV

HEAD = "id,x,z,amazed,happy\n"
ROWS = "".join(f"row{i},{i % 7},{i % 5 - 2},{i % 2},{int(i % 3 == 0)}\n" for i in range(30))


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "home"))
    (tmp_path / "docs.csv").write_text(HEAD + ROWS)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "binary.csv").write_bytes(b"\x89PNG\r\0\0\0\n,\0" * 20)
    (tmp_path / "pairs").write_text("1 0:1\n")
    (tmp_path / "blob").write_bytes(bytes(range(128, 256)) * 4)
    (tmp_path / "one.csv").write_text("text\n1\n")
    (tmp_path / "when.arff").write_text(
        "@relation r\n@attribute 'the day' date\n@attribute y {0,1}\n@data\n'2001',1\n"
    )
    (tmp_path / "folder").mkdir()


SOURCES = [
    (["docs.csv"], "docs.csv: it does not say which columns are labels. Pass labels (--labels"),
    (["docs.csv", "--labels", "-2"], "docs.csv, line 2: the column 'id' .*--ignore id"),
    (["docs.csv", "--labels", "amazd,happy"], "no column has the name 'amazd'.*'amazed'"),
    (["docs.csv", "--labels", "sad"], "labels='sad' is taken for a prefix"),
    (["docs.csv", "--labels", "9"], "docs.csv: as a count, labels must be from 1 to 4"),
    (["empty.csv", "--labels", "-2"], "empty.csv: a table is text .* but the file is empty"),
    (["binary.csv", "--labels", "-2"], "binary.csv, line 1: a table is text .* zero bytes"),
    (["one.csv", "--labels", "-1"], "one.csv, line 1: .*Pass delimiter .--delimiter"),
    (["blob"], "blob: neither its name nor its content tells its format.*--format"),
    (["pairs"], "pairs: its rows may be xmlrepo .*--format"),
    (["when.arff", "--labels", "-1"], "when.arff: .*--ignore 'the day'"),
    (["folder"], "folder is a folder; name a file in it"),
    (["nowhere.csv"], "There is no file nowhere.csv here, and no data set of that name"),
    (["enron", "--labels", "-2"], "--labels says how to read a file, but no file enron is here"),
]


@pytest.mark.parametrize("command", [["tune"], ["datasets", "convert"]], ids=["tune", "convert"])
@pytest.mark.parametrize(("arguments", "words"), SOURCES, ids=[str(a) for a, _ in SOURCES])
def test_a_file_that_cannot_be_read_is_named_as_it_was_given(command, arguments, words, capsys):
    target = ["copy.txt"] if command[-1] == "convert" else []
    assert main([*command, arguments[0], *target, *arguments[1:]]) == 2
    told = capsys.readouterr().err
    assert re.search(words.replace("(", r"\("), told), told
    assert told.count("\n") == 1


def test_every_option_that_is_advised_exists(capsys):
    """Of the commands that read files."""
    advised = {option for _, words in SOURCES for option in re.findall(r"--[a-z-]+", words)}
    assert {"--labels", "--ignore", "--format", "--delimiter"} <= advised
    for command in (["tune"], ["datasets", "convert"]):
        assert main([*command, "--help"]) == 0
        told = capsys.readouterr().out
        assert all(option in told for option in advised)
    assert main(["datasets", "add", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(o in told for o in ("--labels", "--ignore", "--format", "--overwrite"))


def test_a_list_of_names_is_a_list_of_names(capsys):
    options = ["--labels", "happy, amazed", "--ignore", "id"]
    assert main(["datasets", "add", "mine", "docs.csv", *options]) == 0
    assert load("mine").label_names == ("amazed", "happy")
    assert load("mine").feature_names == ("x", "z")


def test_a_name_that_holds_a_comma_stands_in_quotes(tmp_path, capsys):
    (tmp_path / "odd.csv").write_text('x,"a,b",c\n1,1,0\n2,0,1\n')
    assert main(["datasets", "add", "odd", "odd.csv", "--labels", '"a,b",c']) == 0
    assert load("odd").label_names == ("a,b", "c")


def test_a_set_that_was_added_is_known_to_every_command(capsys, tmp_path):
    options = ["--labels", "amazed,happy", "--ignore", "id"]
    assert main(["datasets", "add", "Mine", "docs.csv", *options]) == 0
    assert "Dataset 'mine': 30 rows, 2 features (dense), 2 labels" in capsys.readouterr().out
    assert main(["datasets", "list"]) == 0
    assert re.search(r"│ mine .* 30 .* 2 .* 2 .* yes; yours", capsys.readouterr().out)
    assert main(["datasets", "info", "mine"]) == 0
    assert "Added by you from docs.csv." in capsys.readouterr().out
    assert main(["tune", "mine", "--folds", "2", "--top", "1"]) == 0
    assert "mine: 30 rows, 2 features, 2 labels" in capsys.readouterr().out
    (tmp_path / "home" / "own" / "mine.npz").write_text("{")
    assert main(["datasets", "list"]) == 0
    assert re.search(r"│ mine .* damaged; to be added again", capsys.readouterr().out)


def test_what_the_system_refuses_is_a_sentence():
    message = r"data/x cannot be used \(Permission denied\); check"
    with pytest.raises(Mistake, match=message), refusals_are_mistakes():
        raise PermissionError(13, "Permission denied", "data/x")


# --- what is printed can be pasted ----------------------------------------------------------------


def searched():
    data = load("emotions")
    return CMLLClassifierCV(racing=False, cv=2, random_state=0, refit=False).fit(data.X, data.Y)


def types_of(params):
    return {name: (type(value), value) for name, value in params.items()}


def test_the_line_that_tune_prints_makes_the_estimator(capsys):
    assert main(["tune", "emotions", "--folds", "2", "--top", "3"]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if line.startswith("CMLLClassifier(")]
    model, found = eval(line, {"CMLLClassifier": CMLLClassifier}), searched()
    given = {name: model.get_params()[name] for name in found.best_params_}
    best = {k: v.item() if hasattr(v, "item") else v for k, v in found.best_params_.items()}
    assert types_of(given) == types_of(best)
    template = clone(found._template()).set_params(**found._final_params(), random_state=None)
    assert model.get_params() == template.get_params()


def test_the_record_of_tune_keeps_ratios_apart_from_counts(capsys):
    assert main(["tune", "emotions", "--folds", "2", "--top", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = searched()
    ratio = told["best_params"]["n_label_components"]
    assert (type(ratio), ratio) == (float, found.best_params_["n_label_components"])
    assert len(told["best"]) == 2
    assert told["best"][0]["mean"] == pytest.approx(found.best_score_, abs=1e-12)
    model = eval(told["best_estimator"], {"CMLLClassifier": CMLLClassifier})
    assert model.get_params() == CMLLClassifier(**told["best_params"]).get_params()


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", ["60", "80"])
def test_nothing_is_cut_from_the_list(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["datasets", "list"]) == 0
    out = capsys.readouterr().out
    assert "…" not in out
    table = [line for line in out.splitlines() if not line.startswith("Data folder")]
    assert max(map(cell_len, table)) <= int(columns)
    for heading in ("rows", "features", "labels", "here", *list_datasets()):
        assert heading in out


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_every_cell_of_a_table_is_there_in_any_width(width):
    headings = ["data set", *(f"a method of number {j}" for j in range(17))]
    rows = [[f"set{i}", *(f"{i * 17 + j}/9999" for j in range(17))] for i in range(3)]
    screen = tables.Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for table in tables.fitted(headings, rows, width):
        screen.print(table)
    text = screen.export_text()
    assert "…" not in text
    assert max(map(cell_len, text.splitlines())) <= width
    for row in rows:
        assert all(cell in text for cell in row)
    assert all(f"{j}" in text for j in range(17))


def test_what_is_piped_has_lines_of_any_length(capfd, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    assert main(["tune", "emotions", "--folds", "2"]) == 0
    told = capfd.readouterr().out
    assert re.search(r"alpha .* beta .* n_feature_components .* n_label_components", told)
