"""Exit statuses and sentences of the command line; the work itself is tested elsewhere."""

import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
import typer

import compactlearn
from compactlearn.cli import _app as app
from compactlearn.cli import main
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn_bench import paper_demo
from compactlearn_bench.cli import demo


@pytest.fixture(autouse=True)
def plain_output(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def one_sentence(text: str) -> bool:
    return re.fullmatch(r"compactlearn: [A-Z][^\n]*[.?!')]\n", text) is not None


def test_version(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"compactlearn \S.*\n", capsys.readouterr().out)


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_the_commands(arguments, capsys):
    assert main(arguments) == 0
    assert "demo" in capsys.readouterr().out


QUICK = ["demo", "--quick", "--folds", "2", "--jobs", "1", "--seed", "3"]


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def run_once(known, monkeypatch):
    """A demo that was run already is not run again: it is shown in another way."""

    def remembered(demonstrate):
        def first_or_known(asked, *more, **options):
            if repr(asked) not in known:
                known[repr(asked)] = demonstrate(asked, *more, **options)
            return known[repr(asked)]

        return first_or_known

    for module in (demo, paper_demo):
        monkeypatch.setattr(module, "demonstrate", remembered(module.demonstrate))


@pytest.mark.slow
@pytest.mark.usefixtures("run_once")
def test_demo_shows_figures_sizes_and_mails(capsys):
    assert main(QUICK) == 0
    out = capsys.readouterr().out
    plain = " ".join(out.split())
    assert "enron: 400 e-mails, 1001 words, 53 labels; 2 folds, seed 3" in plain
    for method in ("Auto", "ridge", "one-vs-rest", "random forest"):
        assert re.search(rf"│ {method} +│ +0\.\d{{3}} ± 0\.\d{{3}} │", out), method
    for method in ("ridge", "Auto, 20 %", "Auto, 10 %", "Auto, 5 %"):
        assert re.search(rf"│ {method} +│ █+ +│ +\d+% │ +0\.\d{{3}} │", out), method
    for words in (
        "Random forest: 10 trees",
        "the best of 1 penalties",
        "--quick takes the first model",
    ):
        assert words in plain
    assert re.search("[✓✗] [a-zA-Z' ]+: [a-z0-9]+, [a-z0-9]+", out)
    assert "AutoCompactClassifier().fit(X, Y)" in out
    assert "published" not in out


@pytest.mark.slow
@pytest.mark.usefixtures("run_once")
def test_demo_as_json_is_one_record_of_every_method(capsys):
    assert main([*QUICK, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dataset"], told["n_samples"], told["n_folds"], told["seed"]) == (
        "enron",
        400,
        2,
        3,
    )
    names = [row["method"] for row in told["rows"]]
    assert names[:4] == ["Auto", "ridge", "one-vs-rest", "random forest"]
    assert names[4:] == ["Auto, 20 %", "Auto, 10 %", "Auto, 5 %"]
    for row in told["rows"]:
        figure = row["figures"]["average_precision"]
        assert figure["mean"] == pytest.approx(sum(figure["values"]) / 2)
        assert row["n_numbers"] > 0
        assert row["training_seconds"] > 0
    assert len(told["mails"]) == 5
    for mail in told["mails"]:
        for guess in mail["predicted"]:
            assert guess["right"] == (guess["label"] in mail["true"])


@pytest.mark.usefixtures("run_once")
def test_the_paper_s_demo_shows_both_protocols_and_the_published_figures(capsys):
    assert main([*QUICK, "--paper"]) == 0
    out = capsys.readouterr().out
    for words in ("The paper's protocol", "A well-chosen ridge penalty", "published", "numbers"):
        assert words in out
    for number in ("0.5039 ± 0.0111", "0.6228 ± 0.0119", "0.6965 ± 0.0153"):
        assert number in out
    for metric in ("average precision ↑", "micro-F1 ↑", "ranking loss ↓", "one error ↓"):
        assert metric in out
    assert "on the test folds" in " ".join(out.split())
    assert "inner folds of the training rows" in " ".join(out.split())


@pytest.mark.usefixtures("run_once")
def test_the_paper_s_demo_as_json_is_one_record_on_stdout(capsys):
    assert main([*QUICK, "--paper", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dataset"], told["n_folds"], told["seed"]) == ("enron", 2, 3)
    assert {row["protocol"] for row in told["rows"]} == {"paper", "fair"}
    figure = told["rows"][0]["figures"][0]
    assert figure["metric"] == "average precision"
    assert figure["mean"] == pytest.approx(sum(figure["values"]) / 2)
    assert figure["published"] == {"mean": 0.5039, "std": 0.0111}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["demo", "--folds", "1"], "--folds"),
        (["demo", "--folds", "many"], "--folds"),
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--fold", "3"], "--folds"),
        (["demo", "--jobs", "0"], "--jobs"),
        (["demo", "extra"], "extra"),
        (["dmo"], "dmo"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(arguments, word, capsys):
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert word in told.err
    assert one_sentence(told.err), told.err


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_extra_is_one_sentence_and_status_2(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["demo"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'compactlearn[cli]'" in error
    assert repr(package) in error
    assert one_sentence(error), error


def test_every_command_has_the_first_sentence_of_its_own_in_the_list():
    """The list is made without loading the commands, and must say what they say."""
    folder = Path(app.__file__).parent
    assert all((folder / f"{name}.py").is_file() for name in app.COMMANDS)
    for name, line in app.COMMANDS.items():
        whole = app.loaded(name).help
        assert " ".join(whole.split()).startswith(line), name


def test_nothing_is_loaded_for_the_help():
    code = (
        "import sys; from compactlearn.cli import main; main(['--help']); "
        "print([n for n in ('numpy', 'sklearn', 'compactlearn.estimators') if n in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.endswith("[]\n")
    assert all(name in answer.stdout for name in app.COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "found"),
    [("pre", "predict"), ("datasets conv", "convert"), ("fit --time", "--time-budget")],
)
def test_the_shell_can_complete(shell, words, found, monkeypatch, capsys):
    given = f"compactlearn {words}"
    about = {"bash": {"COMP_WORDS": given, "COMP_CWORD": str(given.count(" "))}}
    about |= {"zsh": {"_TYPER_COMPLETE_ARGS": given}}
    about |= {"fish": {"_TYPER_COMPLETE_ARGS": given, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}}
    for name, value in about[shell].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("_COMPACTLEARN_COMPLETE", f"complete_{shell}")
    with pytest.raises(SystemExit):
        main([])
    assert found in capsys.readouterr().out


@pytest.mark.parametrize("raised", [KeyboardInterrupt, typer.Abort])
def test_an_interruption_is_status_130(raised, monkeypatch, capsys):
    def interrupted(*_args, **_kwargs):
        raise raised

    monkeypatch.setattr(demo, "demonstrate", interrupted)
    assert main(["demo"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_fault_of_ours_is_status_1_and_one_sentence(monkeypatch, capsys, tmp_path):
    """The traceback is in a file that the sentence names, with all that a report needs."""

    def broken(*_args, **_kwargs):
        raise RuntimeError("a fault\nof ours")

    monkeypatch.setattr(demo, "demonstrate", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["demo", "--folds", "3"]) == 1
    told = capsys.readouterr().err
    assert one_sentence(told), told
    assert "RuntimeError: a fault of ours" in told
    (file,) = tmp_path.iterdir()
    assert str(file) in told
    written = file.read_text()
    assert f"compactlearn {compactlearn.__version__}, Python" in written
    assert "compactlearn demo --folds 3\n" in written
    assert written.endswith("RuntimeError: a fault\nof ours\n")


def test_a_fault_where_no_file_can_be_written_is_told_all_the_same(monkeypatch, capsys, tmp_path):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr(demo, "demonstrate", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert main(["demo"]) == 1
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "Please report it with the lines above" in told


@pytest.mark.parametrize(
    ("error", "words"),
    [(MemoryError("Too large; use less."), "Too large; use less."), (MemoryError(), "not enough")],
)
def test_too_little_memory_is_a_mistake(error, words):
    with pytest.raises(Mistake, match=words), refusals_are_mistakes():
        raise error


def test_a_warning_is_a_sentence(monkeypatch, capsys):
    def warned(*_args, **_kwargs):
        warnings.warn("Some\nlabels never occur.", UserWarning, stacklevel=1)
        raise Mistake("It ends here.")

    monkeypatch.setattr(demo, "demonstrate", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["demo"]) == 2
    assert capsys.readouterr().err == (
        "compactlearn: Some labels never occur.\ncompactlearn: It ends here.\n"
    )


def test_importing_the_entry_point_loads_no_command():
    code = "import sys, compactlearn.cli; print('typer' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n"
