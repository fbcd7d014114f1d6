"""Files that older versions have written are read, and mean what they meant."""

import json
from pathlib import Path

import numpy as np
import pytest

from compactlearn import CPLST, PLST, AutoCompactClassifier, CompactClassifier, load_model
from tests.makers import make_data

FOLDERS = sorted(Path(__file__).parent.glob("written_by_*"))
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.model"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_of_an_older_version(path):
    answers = json.loads((path.parent / "answers.json").read_text(encoding="utf-8"))[path.stem]
    model = load_model(path)
    # The sums of a product are in another order on another machine.
    np.testing.assert_allclose(model.decision_function(answers["rows"]), answers["scores"], 1e-6)
    np.testing.assert_array_equal(model.predict(answers["rows"]), answers["labels"])


def test_there_are_such_files():
    assert {path.stem for path in FILES if path.parent.name == "written_by_0_1"} == {
        "half",
        "named",
        "texts",
    }


def test_names_and_parameters():
    (path,) = [path for path in FILES if path.stem == "named"]
    model = load_model(path)
    assert model.label_names_ == ["ja", "nein", "später"]
    assert (model.decoder, model.threshold, model.n_features_in_) == ("logistic", "f1", 4)


def test_a_search_from_before_one_could_choose_the_type(tmp_path):
    X, Y = make_data(60, 4, 5)
    model = AutoCompactClassifier(time_budget=0.01, random_state=0).fit(X, Y)
    del model.dtype
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.dtype == "auto"
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("embedding", [PLST(2), CPLST(2)], ids=lambda e: type(e).__name__)
def test_labels_were_centred_before_one_could_choose(embedding, tmp_path):
    """A file from before there were `center` and `offset`, as it was then."""
    X, Y = make_data(30, 4, 5)
    model = CompactClassifier(embedding).fit(X, Y)
    for part in (model.embedding, model.embedding_):
        del part.center, part.offset
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert (loaded.embedding_.center, loaded.embedding_.offset) == (True, "mean")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
