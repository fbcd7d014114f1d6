"""`compactlearn demo`: what it shows, and its sentences."""

import re

import pytest

from compactlearn.cli import _app as app
from compactlearn.cli import main

QUICK = ["demo", "--quick", "--folds", "2", "--jobs", "1", "--seed", "3"]


@pytest.mark.slow
def test_demo_shows_scores_sizes_and_mails(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")  # a table whose seconds have more digits fits, too
    assert main(QUICK) == 0
    out = capsys.readouterr().out
    plain = " ".join(out.split())
    assert "enron: 400 e-mails, 1001 words, 53 labels; 2 folds, seed 3" in plain
    for method in ("Auto", "ridge", "one-vs-rest", "random forest"):
        assert re.search(rf"│ {method} +│ +0\.\d{{3}} ± 0\.\d{{3}} │", out), method
    for method in ("ridge", "Auto, 20 %", "Auto, 10 %"):
        assert re.search(rf"│ {method} +│ █+ +│ +\d+% │ +0\.\d{{3}} │", out), method
    for words in (
        "Random forest: 10 trees",
        "the best of 1 penalties",
        "with --quick the first model",
    ):
        assert words in plain
    assert re.search("[✓✗] [a-zA-Z' ]+: [a-z0-9]+, [a-z0-9]+", out)
    assert re.search(r"Average precision: Auto 0\.\d{3}; [a-z -]+, the best of 3 baselines", plain)
    assert re.search(r"With \d+% of ridge's parameters Auto has 0\.\d{3}, ridge 0\.\d{3}\.", plain)
    assert "AutoCompactClassifier().fit(X, Y)" in out


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
    output = capsys.readouterr()
    assert output.out == ""
    assert word in output.err
    assert re.fullmatch(r"compactlearn: [A-Z][^\n]*[.?!')]\n", output.err)


@pytest.mark.parametrize("name", ["bench", "demo"])
def test_the_list_of_commands_has_the_first_sentence_of_each(name):
    shown = " ".join(app.loaded(name).help.split())
    assert shown.startswith(app.COMMANDS[name])
