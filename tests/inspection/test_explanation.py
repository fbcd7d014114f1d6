"""Results of explain: plain, frozen, readable, and sums that come out in every form."""

import json
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from compactlearn import CMLLClassifier
from compactlearn.core import _optional as optional
from compactlearn.inspection._explanation import Explanation, Term
from tests.makers import make_data

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def why():
    X, Y = make_data(40)
    return CMLLClassifier(decoder="logistic").fit(X, Y).explain(X, k=3)


def test_a_frame_whose_contributions_add_up(why):
    frame = why.to_frame()
    total = frame.groupby(["row", "label"], sort=False)["contribution"].sum()
    np.testing.assert_allclose(total, [one.score for one in why], atol=1e-9)
    assert list(frame["kind"].unique()) == ["feature", "base", "rest"]
    rest = frame[frame["kind"] == "rest"]
    assert list(rest["name"]) == ["4 more"] * len(why)
    own = frame[frame["kind"] == "feature"]
    np.testing.assert_allclose(own["value"] * own["weight"], own["contribution"])


def test_dictionaries_that_json_has_words_for(why):
    found = json.loads(json.dumps(why.to_dicts()))
    assert found == why.to_dicts()
    for entry, one in zip(found, why, strict=True):
        total = entry["base"] + entry["rest"] + sum(term["contribution"] for term in entry["terms"])
        assert total == pytest.approx(entry["score"], abs=1e-9)
        assert [term["name"] for term in entry["terms"]] == [term.name for term in one.terms]
        assert entry["predicted"] is one.predicted


def test_a_tuple_that_nobody_can_change(why):
    assert isinstance(why, tuple)
    assert repr(Explanation()) == "Explanation of no rows"
    for thing, name in ((why[0], "score"), (why[0].terms[0], "value")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)


def test_what_is_printed(why):
    one = why[0]
    text = repr(one)
    assert text.splitlines()[0] == f"row 0, {one.label}: {one.score:.3f} (predicted)"
    assert [line.split()[1] for line in text.splitlines()[1:]] == [
        *(term.name for term in one.terms),
        "base",
        "4",
    ]
    assert f"{one.terms[0].contribution:+.3f}" in text
    assert repr(Explanation(why[:2])) == f"{why[0]!r}\n\n{why[1]!r}"
    assert len(why) > 20
    assert repr(why).endswith(f"... and {len(why) - 20} more pairs of a row and a label")


def test_a_weight_needs_a_value():
    assert Term("a", 3.0, 2.0).weight == 1.5
    assert Term("a", 3.0).weight is None
    assert Term("a", 0.5, 0.0).weight is None
    assert (Term("a", 3.0).title, Term("a", 3.0, kind="label").title) == ("a", "a (label)")


def test_a_frame_needs_pandas(why, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(optional.importlib, "import_module", absent)
    with pytest.raises(ImportError, match=r"An explanation as a frame needs .*compactlearn\[frame"):
        why.to_frame()


def test_the_guide_shows_what_is_printed(capsys):
    page = (ROOT / "docs" / "how-to" / "explain.md").read_text(encoding="utf-8")
    example, shown = re.search(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL
    ).groups()
    exec(example, {})
    assert capsys.readouterr().out == shown
