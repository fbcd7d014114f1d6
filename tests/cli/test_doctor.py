"""`compactlearn doctor`: the reported machine and model file are the real ones."""

import json
import platform
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from compactlearn import CMLLClassifier
from compactlearn.core import _machine as machine
from compactlearn.datasets import load
from compactlearn.io._columns import fit_to

PROJECT = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]


@pytest.fixture(autouse=True)
def without_torch(monkeypatch):
    """Its import takes seconds; it has a test of its own."""
    monkeypatch.setattr("compactlearn.cli._doctor.devices", dict)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("doctor") / "enron.model"
    model = fit_to(CMLLClassifier(n_label_components=4), load("enron"))
    model.save(path)
    return path, model


def test_it_reports_versions_threads_memory_and_the_data_folder(run, monkeypatch, tmp_path):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    record = json.loads(run("doctor", "--json").out)
    assert record["python"] == platform.python_version()
    assert record["required"]["numpy"] == version("numpy")
    assert record["data folder"] == str(tmp_path / "home")
    assert record["memory"]["available_bytes"] > 2**20
    assert record["threads"]["variables"]["OMP_NUM_THREADS"] == "1"
    assert any(pool["for"] == "blas" for pool in record["threads"]["libraries"])
    assert "model" not in record
    monkeypatch.setattr("compactlearn.cli._doctor.optional_packages", lambda: {"x": {"left": None}})
    assert "no left (pip install 'compactlearn[x]')" in run("doctor").out
    monkeypatch.setattr(
        "compactlearn.cli._doctor.optional_packages", lambda: {"fast": {"numba": None}}
    )
    assert "pip install 'compactlearn[fast]' for fits of large shortlists" in run("doctor").out


def test_packages_are_those_of_the_project():
    """By what is installed, which the tests install from this pyproject."""
    wanted = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"}
    assert set(machine.required_packages()) == wanted
    extras = set(PROJECT["optional-dependencies"]) - {"test", "dev"}
    assert {"cli", "data", "deep"} <= set(machine.optional_packages()) <= extras
    assert set(machine.BRINGS) == extras - {"docs"}
    assert machine.optional_packages()["cli"]["rich"] == version("rich")


@pytest.mark.slow
def test_devices_are_those_of_torch():
    torch = pytest.importorskip("torch")
    found = machine.devices()
    assert found["torch"] == torch.__version__
    assert len(found["cuda devices"]) == torch.cuda.device_count()


def test_a_torch_that_cannot_be_loaded_is_reported(monkeypatch):
    def broken(*_args, **_kwargs):
        raise OSError("libcudart.so is missing")

    monkeypatch.setattr(machine, "require", broken)
    assert machine.devices() == {"torch": "cannot be loaded (OSError: libcudart.so is missing)"}
    monkeypatch.setattr(machine, "_version", lambda _name: None)
    assert machine.devices() == {}


def test_it_looks_into_a_model_file(model_file, run, tmp_path):
    path, model = model_file
    record = json.loads(run("doctor", path, "--json").out)["model"]
    assert record["type"] == "CMLLClassifier"
    sizes = (1001, 53, model.n_parameters_, path.stat().st_size)
    assert tuple(record[key] for key in ("features", "labels", "n_parameters", "bytes")) == sizes
    assert record["first labels"] == list(load("enron").label_names[:5])
    assert record["checksums"] == "verified"
    assert "CMLLClassifier" in run("doctor", path).out
    for place in (-1, -100, 30):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        (tmp_path / "bad.model").write_bytes(content)
        assert "bad.model" in run("doctor", "bad.model", status=2).err
