"""`compactlearn demo`: what it shows, and its sentences."""

import json
import re

import pytest

from compactlearn.cli import _app as app
from compactlearn.cli import main
from compactlearn_bench import paper_demo
from compactlearn_bench.cli import demo

QUICK = ["demo", "--quick", "--folds", "2", "--jobs", "1", "--seed", "3"]


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def run_once(known, monkeypatch):
    """A demo that was run already is not run again: it is shown in another way."""
    monkeypatch.setenv("COLUMNS", "120")  # a table whose seconds have more digits fits, too

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
        (["--folds", "1"], "--folds"),
        (["--folds", "many"], "--folds"),
        (["--seed", "-1"], "--seed"),
        (["--fold", "3"], "--folds"),
        (["--jobs", "0"], "--jobs"),
        (["extra"], "extra"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(arguments, word, capsys):
    assert main(["demo", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert word in told.err
    assert re.fullmatch(r"compactlearn: [A-Z][^\n]*[.?!')]\n", told.err)


@pytest.mark.parametrize("name", ["bench", "demo"])
def test_the_list_of_commands_has_the_first_sentence_of_each(name):
    shown = " ".join(app.loaded(name).help.split())
    assert shown.startswith(app.COMMANDS[name])
