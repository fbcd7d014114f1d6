"""Models that are refused when they are saved, and files after a kill in the middle of it."""

import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compactlearn import (
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    ModelFileError,
    load_model,
    save_model,
)
from compactlearn.io._types import TYPES, class_named, name_of
from compactlearn.metrics import scorer
from tests.io.stored_models import TEXTS, X, Y, fitted


def split(text):
    return text.split()


class Own(CMLLClassifier):
    pass


def _scaled_by_hand():
    model = StandardScaler().fit(X)
    model.note_ = "of mine"
    return make_pipeline(model, fitted("linear"))


REFUSED = {
    "a foreign learner": (
        lambda: CompactClassifier(regressor=KNeighborsRegressor()).fit(X, Y),
        r"CompactClassifier\.regressor is of the type sklearn\.neighbors\.\S+KNeighborsRegressor",
    ),
    "a class of the user": (lambda: Own().fit(X, Y), r"Own is of the type tests\.\S+\.Own"),
    "a tokenizer": (
        lambda: make_pipeline(
            TfidfVectorizer(tokenizer=split, token_pattern=None), CMLLClassifier()
        ).fit(TEXTS, Y),
        r"Pipeline\.steps\[0\]\[1\]\.tokenizer is a function or class \(split\)",
    ),
    "a foreign splitter": (
        lambda: CMLLClassifierCV(alphas=[1.0], cv=RepeatedKFold(n_splits=2, n_repeats=1)).fit(X, Y),
        r"CMLLClassifierCV\.cv is of the type sklearn\.model_selection\.\S+RepeatedKFold",
    ),
    "attributes of the user": (
        _scaled_by_hand,
        r"steps\[0\]\[1\]: its type, StandardScaler, .*note_",
    ),
    "dates": (
        lambda: CMLLClassifier(threshold=0.5).fit(X, X[:, 0].astype(int).astype("datetime64[D]")),
        r"is of NumPy's type datetime64",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_stored_is_named(case, tmp_path):
    make, which = REFUSED[case]
    (tmp_path / "model").write_text("the old file")
    model = make()
    with pytest.raises(ModelFileError, match=which) as caught:
        save_model(model, tmp_path / "model")
    assert "keep the model with skops or joblib" in str(caught.value)
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model").read_text() == "the old file"


def test_what_is_no_fitted_model(tmp_path):
    with pytest.raises(NotFittedError):
        CMLLClassifier().save(tmp_path / "model")
    with pytest.raises(TypeError, match=r"save_model needs a fitted estimator .* was given str"):
        save_model(str(tmp_path / "model"), fitted("linear"))
    with pytest.raises(TypeError, match="save_model needs the path of a file, and was given int"):
        save_model(fitted("linear"), 3)
    assert os.listdir(tmp_path) == []


def test_a_foreign_search_has_a_model_to_be_saved(tmp_path):
    judged = {"cv": 2, "scoring": scorer("average_precision")}
    search = GridSearchCV(CMLLClassifier(), {"alpha": [1.0, 9.0]}, **judged).fit(X, Y)
    with pytest.raises(ModelFileError, match="a GridSearchCV; save its best_estimator_"):
        save_model(search, tmp_path / "model")
    save_model(search.best_estimator_, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), search.predict(X))


def test_places_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist; make it"):
        fitted("linear").save(tmp_path / "there is none" / "model")
    with pytest.raises(OSError, match="directory"):
        fitted("linear").save(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is none at"):
        load_model(tmp_path / "model")
    with pytest.raises(ModelFileError, match="is a folder; pass the file"):
        load_model(tmp_path)
    with pytest.raises(TypeError, match="load_model needs the path of a file"):
        load_model(fitted("linear"))


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_link_stays_one_and_permissions_stay_those_of_the_old_file(tmp_path):
    fitted("linear").save(tmp_path / "model")
    (tmp_path / "model").chmod(0o640)
    (tmp_path / "link").symlink_to("model")
    fitted("logistic").save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o640
    assert load_model(tmp_path / "model").decoder == "logistic"


def test_a_mapped_model_outlives_a_new_file(tmp_path):
    """A file is replaced and never written to: whoever uses the old one is not disturbed."""
    model = fitted("linear")
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model", memory_map=True)
    with open(tmp_path / "model", "rb") as old:
        before = old.read()
        fitted("logistic").save(tmp_path / "model")
        old.seek(0)
        assert old.read() == before
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert load_model(tmp_path / "model").decoder == "logistic"


@pytest.mark.parametrize("name", TYPES)
def test_every_type_of_the_table_is_found_by_its_name_and_has_it(name):
    type_ = class_named(name)
    assert name_of(object.__new__(type_)) == name


def test_a_file_imports_what_it_names_and_no_more(tmp_path):
    fitted("linear").save(tmp_path / "model")
    program = (
        "import sys\n"
        "from compactlearn import load_model\n"
        f"load_model({str(tmp_path / 'model')!r})\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('compactlearn.')}\n"
        "assert not rooms & {'related', 'auto', 'shortlist', 'model_selection', 'plots'}, rooms\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("keep", [100, -1])
def test_a_disk_that_loses_bytes_leaves_the_old_file(tmp_path, monkeypatch, keep):
    fitted("linear").save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    sync = os.fsync

    def lose(descriptor):
        sync(descriptor)
        size = os.fstat(descriptor).st_size
        os.truncate(descriptor, keep if keep >= 0 else size + keep)

    monkeypatch.setattr(os, "fsync", lose)
    with pytest.raises(ModelFileError, match="was not saved, since the new file could not be"):
        fitted("logistic").save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.slow
def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path):
    """At every moment, and so after every kill, there is one of two models, whole."""
    path = tmp_path / "model"
    program = (
        "import sys, numpy as np\n"
        "from compactlearn import CompactClassifier, Original\n"
        "rng = np.random.default_rng(0)\n"
        "X, Y = rng.normal(size=(50, 4000)), (rng.random((50, 40)) < 0.3).astype(int)\n"
        "models = [CompactClassifier(Original(), alpha=a).fit(X, Y) for a in (1.0, 2.0)]\n"
        f"models[0].save({str(path)!r})\n"
        "print('ready', flush=True)\n"
        "k = 1\n"
        "while True:\n"
        f"    models[k % 2].save({str(path)!r})\n"
        "    k += 1\n"
    )
    rng, met = np.random.default_rng(0), set()
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    for _ in range(40):  # looked at while it is replaced again and again
        time.sleep(rng.uniform(0, 0.02))
        met.add(load_model(path, verify=True).alpha)
    child.kill()
    child.wait()
    child.stdout.close()
    assert met == {1.0, 2.0}
    assert load_model(path, verify=True).alpha in met
    # Many kills, each of a process that has just been made and begins to save at once.
    started = fitted("linear")
    for _ in range(30):
        read, write = os.pipe()
        pid = os.fork()
        if not pid:  # the copy: no more than this, and no way back into pytest
            try:
                started.save(path)
                os.write(write, b".")
                while True:
                    started.save(path)
            finally:
                os._exit(1)
        time.sleep(rng.uniform(0, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read)
        os.close(write)
        assert load_model(path, verify=True).alpha in (1.0, 2.0)
