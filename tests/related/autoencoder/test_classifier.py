"""C2AEClassifier: what it learns, what it refuses, and how it resumes a stopped training."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from compactlearn import C2AEClassifier, method
from compactlearn.metrics import average_precision, get_metric

from .problems import SMALL, problem, same

torch = pytest.importorskip("torch", reason="the networks are trained by PyTorch")


# ---- learning -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"n_components": 0.01},
        {"batch_size": 10_000},
        {"batch_size": 1},
        {"feature_hidden": (), "label_hidden": ()},
        {"feature_hidden": [3, 3, 3], "label_hidden": [5, 2]},
        {"dtype": "float64"},
        {"lam": 0.0, "l2": 0.0, "decay": 1.0},
        {"validation_fraction": 0.0},
        {"validation_fraction": 0.99},
        {"scale": True},
    ],
)
def test_settings_at_their_ends(params):
    X, Y = problem()
    model = C2AEClassifier(**{**SMALL, **params}).fit(X, Y)
    scores = model.decision_function(X)
    assert scores.shape == Y.shape
    assert ((scores > 0) & (scores < 1)).all()
    assert model.transform(X).shape == (60, model.n_components_)


def test_scores_are_the_decoded_codes():
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    np.testing.assert_array_equal(model.decode(model.transform(X)), model.decision_function(X))
    assert model.encode(Y).shape == (60, 4)
    # What is trained on the labels' own codes ranks them: the decoder inverts the encoder.
    longer = C2AEClassifier(**{**SMALL, "max_epochs": 60, "validation_fraction": 0.0}).fit(X, Y)
    assert average_precision(Y, longer.decode(longer.encode(Y))) > 0.95


# ---- forms of data ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "multiclass", "one label"])
def test_a_single_column_or_a_vector(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 2.0 * np.eye(3)[np.arange(200) % 3]
    y = np.array(["a", "b", "c"])[np.arange(200) % 3]
    if kind == "binary":
        y = np.where(X[:, 0] > 0.7, "yes", "no")
    if kind == "one label":
        y = scipy.sparse.csr_array((X[:, :1] > 0.7).astype(int))
    model = C2AEClassifier(**{**SMALL, "max_epochs": 60}).fit(X, y)
    truth = y.toarray() if kind == "one label" else y
    assert (model.predict(X) == truth).mean() > 0.85
    scores = model.decision_function(X)
    if kind == "binary":
        assert scores.shape == (200,)
        np.testing.assert_array_equal(model.classes_[(scores > 0).astype(int)], model.predict(X))
    else:
        assert scores.shape == (200, 3 if kind == "multiclass" else 1)


# ---- unknown labels -----------------------------------------------------------------------------


def test_nan_and_marks_say_the_same():
    """Any value of a label that is marked gives the same networks."""
    X, Y = problem()
    known = np.random.default_rng(1).random(Y.shape) < 0.7
    missing = np.where(known, Y, np.nan)
    by_nan = C2AEClassifier(**SMALL).fit(X, missing)
    assert by_nan.history_ != C2AEClassifier(**SMALL).fit(X, Y).history_
    for labels, unknown in (
        (Y, ~known),
        (np.where(known, Y, 1 - Y), scipy.sparse.csr_array(~known)),
        (scipy.sparse.csr_array(missing), None),
    ):
        same(C2AEClassifier(**SMALL).fit(X, labels, unknown=unknown), by_nan)
    with pytest.raises(ValueError, match=r"unknown must have the shape of Y, \(60, 4\)"):
        C2AEClassifier(**SMALL).fit(X, Y, unknown=np.ones((60, 3), bool))
    with pytest.raises(ValueError, match="nothing to learn from"):
        C2AEClassifier(**SMALL).fit(X, np.full(Y.shape, np.nan))


def test_rows_without_any_known_label_are_left_out():
    X, Y = problem()
    hidden = np.where(np.arange(60)[:, None] % 3 == 0, np.nan, Y)
    hidden[1, 0] = np.nan  # so that there is something to mask among the rest, too
    rest = np.arange(60) % 3 != 0
    same(C2AEClassifier(**SMALL).fit(X, hidden), C2AEClassifier(**SMALL).fit(X[rest], hidden[rest]))


# ---- epochs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", ["average_precision", "ranking_loss", "micro_f1", "precision_at_1"]
)
def test_the_best_epoch_is_kept(metric):
    X, Y = problem(120)
    settings_ = {**SMALL, "max_epochs": 15, "scoring": metric, "learning_rate": 3e-3}
    model = C2AEClassifier(**settings_).fit(X, Y)
    scores = model.history_["score"]
    assert len(scores) == model.n_epochs_ == 15
    assert scores[model.best_epoch_ - 1] == max(scores)
    assert (max(scores) <= 0) == (not get_metric(metric).greater_is_better)
    # Trained no further than that, the networks are the same.
    shorter = C2AEClassifier(**{**settings_, "max_epochs": model.best_epoch_}).fit(X, Y)
    np.testing.assert_array_equal(shorter.networks_.flat, model.networks_.flat)


def test_patience_stops_and_none_never_does():
    X, Y = problem(120)
    settings_ = {**SMALL, "max_epochs": 200, "learning_rate": 3e-3}
    model = C2AEClassifier(**settings_, patience=3).fit(X, Y)
    assert model.n_epochs_ < 200
    assert model.n_epochs_ - model.best_epoch_ == 3
    whole = C2AEClassifier(**{**settings_, "max_epochs": 30}, patience=None).fit(X, Y)
    assert whole.n_epochs_ == 30
    assert whole.history_["loss"][: model.n_epochs_] == model.history_["loss"][:30]


def test_without_validation_rows_the_last_epoch_is_kept():
    X, Y = problem()
    model = C2AEClassifier(**{**SMALL, "validation_fraction": 0.0}).fit(X, Y)
    assert model.best_epoch_ == model.n_epochs_ == 4
    assert model.history_["score"] == []


def test_the_same_seed_gives_the_same_networks():
    X, Y = problem()
    same(C2AEClassifier(**SMALL).fit(X, Y), C2AEClassifier(**SMALL).fit(X, Y))
    other = C2AEClassifier(**{**SMALL, "random_state": 1}).fit(X, Y)
    assert other.history_ != C2AEClassifier(**SMALL).fit(X, Y).history_


def test_divergence_ends_with_advice_and_the_best_epoch():
    X, Y = problem(200)
    wild = {**SMALL, "max_epochs": 400, "l2": 0.0, "patience": None, "decay": 1.0}
    # Features that overflow float32 in the fourth epoch and not before are hard to plant; a
    # learning rate that jumps is not.
    model = C2AEClassifier(**wild)
    from compactlearn.related._networks import _training as training

    original = training.Descent.rate
    try:
        training.Descent.rate = lambda self, epoch: 1e-3 if epoch < 3 else 1e38
        with pytest.warns(ConvergenceWarning, match=r"diverged in epoch \d+.*lower learning_rate"):
            model.fit(X, Y)
    finally:
        training.Descent.rate = original
    assert model.n_epochs_ == 3
    assert np.isfinite(model.networks_.flat).all()
    calm = C2AEClassifier(**{**wild, "max_epochs": 3}).fit(X, Y)
    same(calm, model)


@pytest.mark.filterwarnings("ignore:overflow")
def test_divergence_in_the_first_epoch_is_an_error_and_changes_nothing():
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    before = vars(model).copy()
    model.set_params(learning_rate=1e38)
    with pytest.raises(ValueError, match=r"diverged in its first epoch.*scale=True"):
        model.fit(X, Y)
    assert model.networks_ is before["networks_"]


# ---- checkpoints --------------------------------------------------------------------------------


def test_a_training_in_parts_is_the_training_in_one(tmp_path):
    X, Y = problem()
    whole = C2AEClassifier(**{**SMALL, "max_epochs": 9}).fit(X, Y)
    path = tmp_path / "c2ae.npz"
    for epochs in (2, 3, 9):
        part = C2AEClassifier(**{**SMALL, "max_epochs": epochs}, checkpoint=path).fit(X, Y)
        assert part.n_epochs_ == epochs
    same(part, whole)
    again = C2AEClassifier(**{**SMALL, "max_epochs": 9}, checkpoint=str(path)).fit(X, Y)
    same(again, whole)
    assert os.listdir(tmp_path) == ["c2ae.npz"]


def test_a_seed_that_was_not_given_is_remembered(tmp_path):
    X, Y = problem()
    free = {**SMALL, "random_state": None, "checkpoint": tmp_path / "c2ae.npz"}
    first = C2AEClassifier(**{**free, "max_epochs": 2}).fit(X, Y)
    later = C2AEClassifier(**{**free, "max_epochs": 4}).fit(X, Y)
    assert later.history_["loss"][:2] == first.history_["loss"]


@pytest.mark.parametrize(
    "change",
    [
        {"learning_rate": 2e-3},
        {"n_components": 5},
        {"scoring": "one_error"},
        {"dtype": "float64"},
        {"random_state": 1},
    ],
)
def test_a_checkpoint_of_another_training_is_refused(tmp_path, change):
    X, Y = problem()
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="remove it to begin anew"):
        C2AEClassifier(**{**SMALL, **change}, checkpoint=path).fit(X, Y)
    assert path.read_bytes() == before


@pytest.mark.parametrize("what", ["X", "Y", "unknown"])
def test_a_checkpoint_of_other_data_is_refused(tmp_path, what):
    X, Y = problem()
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    unknown = None
    if what == "X":
        X = X.copy()
        X[0, 0] += 1e-12
    elif what == "Y":
        Y = Y.copy()
        Y[0, 0] = 1 - Y[0, 0]
    else:
        unknown = np.zeros(Y.shape, bool)
        unknown[3, 1] = True
    with pytest.raises(ValueError, match="belongs to another training"):
        C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y, unknown=unknown)


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


@pytest.mark.parametrize("kind", ["text", "pickle", "object array", "part missing"])
def test_a_file_that_is_no_checkpoint_is_refused_and_never_executed(tmp_path, monkeypatch, kind):
    X, Y = problem()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "c2ae.npz"
    C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    if kind == "text":
        path.write_text("not a checkpoint")
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Bomb()))
    elif kind == "object array":
        np.savez(path, **{**arrays, "parameters": np.array([Bomb()], dtype=object)})
    else:
        arrays.pop("velocity")
        np.savez(path, **arrays)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"cannot be read .*; remove it to begin anew"):
        C2AEClassifier(**SMALL, checkpoint=path).fit(X, Y)
    assert path.read_bytes() == before
    assert not (tmp_path / "exploded").exists()


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    X, Y = problem()
    with pytest.raises(ValueError, match="a folder that does not exist"):
        C2AEClassifier(**SMALL, checkpoint=tmp_path / "nowhere" / "c2ae.npz").fit(X, Y)


# ---- what is refused, and who it works with -----------------------------------------------------


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"mode": "papers"}, "Did you mean 'paper'"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
        ({"feature_hidden": (0,)}, "feature_hidden"),
        ({"feature_hidden": 512}, "feature_hidden"),
        ({"scoring": "average_precison"}, "Did you mean 'average_precision'"),
        ({"threshold": [0.5, 0.5]}, "each of the 4 labels"),
        ({"device": "gpu"}, "'cpu' or 'cuda'"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"checkpoint": 3}, "a path"),
        ({"alpha": 0.0}, "alpha"),
    ],
)
def test_wrong_parameters(params, said):
    X, Y = problem()
    with pytest.raises(ValueError, match=said):
        C2AEClassifier(**{**SMALL, **params}).fit(X, Y)


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import numpy as np, compactlearn
try:
    compactlearn.C2AEClassifier().fit(np.eye(4), np.eye(4))
except ImportError as error:
    print(error)
"""


def test_no_torch_is_one_sentence():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == (
        "Training a C2AEClassifier needs the package 'torch', which is not installed; install it "
        "with: pip install 'compactlearn[deep]'"
    )


def test_a_fitted_model_predicts_where_there_is_no_torch(tmp_path):
    X, Y = problem()
    model = C2AEClassifier(**SMALL).fit(X, Y)
    with (tmp_path / "model.pickle").open("wb") as file:
        pickle.dump(model, file)
    np.save(tmp_path / "X.npy", X)
    script = WITHOUT.rpartition("try:")[0] + (
        "import pickle\n"
        "model = pickle.load(open('model.pickle', 'rb'))\n"
        "np.save('scores.npy', model.decision_function(np.load('X.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), model.decision_function(X))


def test_the_networks_of_the_training_and_of_the_prediction_agree():
    X, Y = problem()
    model = C2AEClassifier(**{**SMALL, "dtype": "float64"}).fit(X, Y)
    fx, _, fd = model.networks_.layout.networks(
        [torch.from_numpy(p) for p in model.networks_.layout.split(model.networks_.flat)]
    )
    from compactlearn.related._networks._training import output

    scores = output(fd, output(fx, torch.from_numpy(X)) - 0.5).numpy()
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-13)


def test_the_paper_s_name():
    assert method("C2AE").get_params()["batch_size"] == 500
    assert method("C2AE", batch_size=7, lam=0.1).get_params()["batch_size"] == 7
    assert repr(method("C2AE", protocol="recommended")) == "C2AEClassifier()"
    with pytest.raises(TypeError, match="Did you mean 'max_epochs'"):
        method("C2AE", max_epoch=3)
