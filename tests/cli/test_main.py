"""Exit statuses and sentences of the command line; the work itself is tested elsewhere."""

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
from compactlearn.cli import _evaluate, main
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes

EVALUATE = ["evaluate", "m.model", "enron"]


def one_sentence(text: str) -> bool:
    return re.fullmatch(r"compactlearn: [A-Z][^\n]*[.?!')]\n", text) is not None


def test_version_and_help(run):
    assert run("--version").out == f"compactlearn {compactlearn.__version__}\n"
    assert "demo" in run().out
    assert run("--help").out == run().out


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_extra_is_one_sentence_and_status_2(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(EVALUATE) == 2
    error = capsys.readouterr().err
    assert "pip install 'compactlearn[cli]'" in error
    assert repr(package) in error
    assert one_sentence(error), error


def test_every_command_has_the_first_sentence_of_its_own_in_the_list():
    """The list is made without loading the commands, and must say what they say."""
    own = set(app.COMMANDS) - set(app.WORKSHOP)
    folder = Path(app.__file__).parent
    assert all((folder / f"_{name}.py").is_file() for name in own)
    for name in own:
        line = app.COMMANDS[name]
        whole = app.loaded(name).help
        assert " ".join(whole.split()).startswith(line), name


@pytest.mark.parametrize("words", [["bench", "spec.toml"], ["demo", "--help"], ["report", "store"]])
def test_a_command_of_the_workshop_says_what_to_install(words, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store").mkdir()
    monkeypatch.setattr(app, "entry_points", lambda **_: ())
    assert main(words) == 2
    message = capsys.readouterr().err
    assert f"command '{words[0]}'" in message
    assert "pip install compactlearn-bench" in message
    assert "pip install ./bench" in message
    assert one_sentence(message), message


def test_nothing_is_loaded_for_the_help():
    code = (
        "import sys; from compactlearn.cli import main; main(['--help']); "
        "print([n for n in ('numpy', 'sklearn', 'compactlearn.compact') if n in sys.modules])"
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


@pytest.fixture
def ends_with(monkeypatch):
    """Let `evaluate` end with an error."""

    def ends_with(error):
        def raise_it(*_args, **_kwargs):
            raise error

        monkeypatch.setattr(_evaluate, "open_model", raise_it)

    return ends_with


@pytest.mark.parametrize("raised", [KeyboardInterrupt, typer.Abort])
def test_an_interruption_is_status_130(raised, ends_with, run):
    ends_with(raised)
    run(*EVALUATE, status=130)


def test_a_fault_of_ours_is_status_1_and_one_sentence(ends_with, monkeypatch, run, tmp_path):
    """The traceback is in a file that the sentence names, with all that a report needs."""
    ends_with(RuntimeError("a fault\nof ours"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    message = run(*EVALUATE, status=1).err
    assert one_sentence(message), message
    assert "RuntimeError: a fault of ours" in message
    (file,) = tmp_path.iterdir()
    assert str(file) in message
    written = file.read_text()
    assert f"compactlearn {compactlearn.__version__}, Python" in written
    assert "compactlearn evaluate m.model enron\n" in written
    assert written.endswith("RuntimeError: a fault\nof ours\n")


def test_a_fault_is_reported_even_where_no_file_can_be_written(
    ends_with, monkeypatch, capsys, tmp_path
):
    ends_with(ZeroDivisionError)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert main(EVALUATE) == 1
    message = capsys.readouterr().err
    assert "Traceback" in message
    assert "Please report it with the lines above" in message


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Too large; use less."), "Too large; use less."),
        (MemoryError(), "not enough"),
        (PermissionError(13, "Permission denied", "data/x"), r"data/x cannot be used \(Permission"),
    ],
)
def test_what_the_system_refuses_is_a_mistake(error, words):
    with pytest.raises(Mistake, match=words), refusals_are_mistakes():
        raise error


def test_a_warning_is_a_sentence(monkeypatch, capsys):
    def warned(*_args, **_kwargs):
        warnings.warn("Some\nlabels never occur.", UserWarning, stacklevel=1)
        raise Mistake("It ends here.")

    monkeypatch.setattr(_evaluate, "open_model", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(EVALUATE) == 2
    assert capsys.readouterr().err == (
        "compactlearn: Some labels never occur.\ncompactlearn: It ends here.\n"
    )
