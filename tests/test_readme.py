"""The README is true: its example runs and its tables are those of the committed records."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_records():
    script = ROOT / "benchmarks" / "tables.py"
    assert subprocess.run([sys.executable, str(script), "--check"]).returncode == 0


def test_the_examples_run(capsys):
    first, second, third, fourth, fifth, ends, sixth = re.findall(
        r"```python\n(.*?)```", README, flags=re.DOTALL
    )
    names = {}
    exec(first, names)
    assert names["scores"].shape == (579, 53)
    assert names["small"].shape == (579, 27)
    assert names["model"].embedding_.solver_ == "closed-krylov"
    assert names["model"].numbers_ == 28511
    assert "average_precision" in capsys.readouterr().out
    exec(second, names)
    assert names["model"].predict(names["data"].X[:3]).shape == (3, 53)
    exec(third, names)
    assert names["mine"].Y.shape == (500, 12)
    exec(fourth, names)
    assert len(names["METHODS"]) == 17
    for name in ("rival", "kernel"):
        assert names[name].predict(names["data"].X[:3]).shape == (3, 53)
    assert len(list(names["ten"])) == 10
    exec(fifth, names)
    assert names["chances"].shape == (579, 53)
    exec(ends, names)
    assert names["figures"]["micro_f1"] > 0.5
    assert names["best"].shape == (579, 5)
    exec(sixth, names)
    assert names["model"].best_score_ > 0.65


def test_the_example_of_a_search_runs():
    text = (ROOT / "docs" / "SELECTION.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names = {}
    exec(example, names)
    assert names["model"].best_params_["n_label_components"] in (0.1, 0.25, 0.5, 0.75, 1.0)


def test_the_commands_exist():
    targets = re.findall(r"^    make (\w+)", README, flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in targets)
