"""A fit that was killed is resumed, and ends with the same bits."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from compactlearn import CMLLClassifier
from compactlearn.scale import _checkpoint as checkpoint
from tests.forking import Mother
from tests.makers import make_data

X, Y = make_data(400, 8, 5, seed=3)
BLOCKS = [(X[i : i + 25], Y[i : i + 25]) for i in range(0, 400, 25)]
PASSES = {"solver": "randomized", "n_label_components": 3, "n_feature_components": 3}


class Killed(BaseException):
    pass


def dying(after, blocks=BLOCKS):
    """Return a source of blocks that raises Killed after so many blocks, over all passes."""
    left = [after]

    def read():
        for block in blocks:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            yield block

    return read


@pytest.fixture(autouse=True)
def kept_after_every_block(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


def bits(model):
    return model.decision_function(X).tobytes(), model.threshold_


@pytest.mark.parametrize("options", [{}, {"decoder": "logistic"}, PASSES], ids=str)
@pytest.mark.parametrize("after", [7, 20, 40])
def test_a_resumed_fit_ends_with_the_same_bits(tmp_path, options, after):
    whole = CMLLClassifier(**options).fit_blocks(BLOCKS)
    model = CMLLClassifier(**options)
    try:
        model.fit_blocks(dying(after), checkpoint=tmp_path / "kept")
    except Killed:
        assert not hasattr(model, "embedding_")
        assert list((tmp_path / "kept").iterdir())
        model.fit_blocks(BLOCKS, checkpoint=tmp_path / "kept")
    assert bits(model) == bits(whole)
    assert not (tmp_path / "kept").exists()  # it is removed after the fit


@pytest.mark.parametrize("after", [3, 6, 9])
def test_a_search_for_codes_is_resumed_between_two_products(tmp_path, after):
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(200, 4))
    rows = latent @ rng.normal(size=(4, 150)) + rng.normal(size=(200, 150))
    labels = (latent @ rng.normal(size=(4, 60)) > 2.0).astype(float)
    blocks = [(rows[:90], labels[:90]), (rows[90:], labels[90:])]

    def model():
        return CMLLClassifier(n_label_components=6, solver="randomized", decoder="logistic")

    with pytest.raises(Killed):
        model().fit_blocks(dying(after, blocks), checkpoint=tmp_path / "kept")
    whole = model().fit_blocks(blocks)
    again = model().fit_blocks(blocks, checkpoint=tmp_path / "kept")
    assert again.decision_function(rows).tobytes() == whole.decision_function(rows).tobytes()
    assert again.n_passes_ == whole.n_passes_ >= 4


def test_blocks_that_were_summed_are_not_summed_again(tmp_path):
    with pytest.raises(Killed):
        CMLLClassifier(**PASSES).fit_blocks(dying(20), checkpoint=tmp_path / "kept")
    read = []

    def counted():
        for number, block in enumerate(BLOCKS):
            read.append(number)
            yield block

    CMLLClassifier(**PASSES).fit_blocks(counted, checkpoint=tmp_path / "kept")
    # The first pass had ended, and is not read; the second is resumed, and a third follows.
    assert len(read) == 2 * len(BLOCKS)


def left_over(tmp_path, after=7, **options):
    with pytest.raises(Killed):
        CMLLClassifier(**options).fit_blocks(dying(after), checkpoint=tmp_path / "kept")
    return tmp_path / "kept"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alpha": 2.0}, r"its parameter alpha is 1\.0, and that of this one 2\.0"),
        ({"beta": 0.3}, "its parameter beta is 'auto', and that of this one 0.3"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(tmp_path, options, match):
    path = left_over(tmp_path)
    with pytest.raises(ValueError, match=match):
        CMLLClassifier(**options).fit_blocks(BLOCKS, checkpoint=path)
    assert list(path.iterdir())  # the other fit can still be resumed


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    path = left_over(tmp_path)
    first = [(X[:25] + 1, Y[:25]), *BLOCKS[1:]]
    with pytest.raises(ValueError, match="another fit: its first block is"):
        CMLLClassifier().fit_blocks(first, checkpoint=path)
    later = [*BLOCKS[:3], (X[75:100] + 1, Y[75:100]), *BLOCKS[4:]]
    with pytest.raises(ValueError, match="of other data: block 3 is not the one that was summed"):
        CMLLClassifier().fit_blocks(later, checkpoint=path)
    with pytest.raises(ValueError, match="7 blocks were summed, and there are 2; remove"):
        CMLLClassifier().fit_blocks(BLOCKS[:2], checkpoint=path)
    wider = [(np.hstack([a, a]), b) for a, b in BLOCKS]
    with pytest.raises(ValueError, match=r"another fit: its (number of features|first block) is"):
        CMLLClassifier().fit_blocks(wider, checkpoint=path)


def test_a_checkpoint_is_read_without_executing_anything(tmp_path):
    path = left_over(tmp_path)
    (file,) = path.iterdir()
    file.write_bytes(pickle.dumps(pytest.fail))
    with pytest.raises(ValueError, match=r"cannot be read .*pickle.*; remove the folder"):
        CMLLClassifier().fit_blocks(BLOCKS, checkpoint=path)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = left_over(tmp_path)
    (file,) = path.iterdir()
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot be read .*digest.*; remove the folder"):
        CMLLClassifier().fit_blocks(BLOCKS, checkpoint=path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"must be the path of a folder, and .*file' is a file"):
        CMLLClassifier().fit_blocks(BLOCKS, checkpoint=tmp_path / "file")


IMPORTS = """
import sys, time
import numpy as np
from compactlearn import CMLLClassifier
from compactlearn.scale import _checkpoint as checkpoint
checkpoint.EVERY = 0.0
"""
PROGRAM = """
X, Y = np.load(sys.argv[1]), np.load(sys.argv[2])
pause = float(sys.argv[4])
def blocks():
    for start in range(0, len(X), 20):
        time.sleep(pause)
        yield X[start:start + 20], Y[start:start + 20]
options = {"solver": sys.argv[5], "n_label_components": 3, "n_feature_components": 3}
model = CMLLClassifier(**options).fit_blocks(blocks, checkpoint=sys.argv[3])
sys.stdout.write(model.decision_function(X).tobytes().hex())
"""


@pytest.fixture(scope="module")
def mother():
    with Mother(IMPORTS, PROGRAM, os.environ | {"OPENBLAS_NUM_THREADS": "1"}) as one:
        yield one


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["moments", "randomized"])
def test_a_process_that_is_killed_is_resumed_with_the_same_bits(tmp_path, solver, mother):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)

    def words(folder, pause):
        return [*(str(tmp_path / name) for name in ("x.npy", "y.npy", folder)), str(pause), solver]

    whole = subprocess.run(
        [sys.executable, "-c", IMPORTS + PROGRAM, *words("whole", 0.0)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    first = "pass-001" if solver == "moments" else "pass-002"
    process = mother.start(*words("kept", 0.05))
    try:
        for _ in range(1200):
            if (tmp_path / "kept" / f"{first}.safetensors").exists():
                break
            assert process.poll() is None, process.output.read_text()
            time.sleep(0.05)
        time.sleep(0.15)
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL
    assert (tmp_path / "kept" / f"{first}.safetensors").exists()
    assert mother.run(*words("kept", 0.0)) == whole
