"""Models leave their device when they are asked to, and bad input leaves them as they are."""

import re

import numpy as np
import onnxruntime
import pytest
import scipy.sparse
import sklearn
import torch
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compactlearn import (
    CMLL,
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    POPClassifier,
    ShortlistClassifier,
    explain,
    label_neighbours,
    load_model,
    save_model,
)
from compactlearn.compact import _preparation as preparation
from compactlearn.core import _device_array as device_array
from compactlearn.core import _devices as devices
from compactlearn.core._devices import (
    library_of,
    unwrap,
)
from compactlearn.core._optional import NotInstalled
from compactlearn.linalg import _build as build
from tests.devices.places import difference
from tests.makers import make_data

pytestmark = pytest.mark.usefixtures("switched_on")

X, Y = make_data()
MODELS = [
    CMLLClassifier(decoder="logistic", threshold="per-label"),
    CMLLClassifier(scale=True),
    CompactClassifier(CMLL(), feature_map=KernelMap(algorithm="nystroem", n_components=8)),
    CompactClassifier(CMLL(), feature_map=KernelMap()),
]


@pytest.fixture(params=MODELS, ids=str)
def both(request, place):
    """The same model of NumPy arrays and on the device."""
    asked = request.param.set_params(random_state=0)
    here, there = (sklearn.clone(asked) for _ in range(2))
    return here.fit(X, Y), there.fit(place.make(X), place.make(Y))


def arrays_in(thing, seen=()):
    """Every array of another library that a model is made of."""
    if library_of(unwrap(thing)) is not None:
        yield thing
        return
    parts = thing if isinstance(thing, list | tuple) else getattr(thing, "__dict__", thing)
    parts = parts.values() if isinstance(parts, dict) else parts
    if isinstance(parts, str) or not np.iterable(parts) or isinstance(parts, np.ndarray):
        return
    for part in parts:
        if id(part) not in seen:
            yield from arrays_in(part, (*seen, id(part)))


# ---- away from the device ---------------------------------------------------------------------


def test_a_copy_for_numpy_arrays(both, place):
    here, there = both
    assert list(arrays_in(there))
    moved = there.to_numpy()
    assert not list(arrays_in(moved))
    assert difference(moved.decision_function(X), here.decision_function(X)) < 1e-10
    np.testing.assert_array_equal(moved.predict(X), here.predict(X))
    assert place.has(there.decision_function(place.make(X)))  # the model itself has not moved
    assert moved.to_numpy() is moved
    assert moved.get_params().keys() == there.get_params().keys()
    assert sklearn.clone(moved).fit(X, Y).score(X, Y) == here.score(X, Y)


def test_files_graphs_and_reasons_are_made_on_the_host(both, place, tmp_path):
    here, there = both
    expected, rows = here.decision_function(X), place.make(X)
    there.save(tmp_path / "model")
    assert difference(load_model(tmp_path / "model").decision_function(X), expected) < 1e-10
    graph = there.to_onnx(dtype="float64", check=rows).SerializeToString()
    (scores,) = onnxruntime.InferenceSession(graph).run(["scores"], {"X": X})
    assert difference(scores, expected) < 1e-8
    for one, other in zip(explain(there, rows), explain(here, X), strict=True):
        assert (one.row, one.label) == (other.row, other.label)
        assert one.score == pytest.approx(other.score)
    assert label_neighbours(there, 0, k=1)[0] == pytest.approx(label_neighbours(here, 0, k=1)[0])
    small, expected = there.compress("float32", rows, place.make(Y)), here.compress("float32", X, Y)
    assert small.compression_ == pytest.approx(expected.compression_)
    assert (there.nbytes_, there.n_parameters_) == (here.nbytes_, here.n_parameters_)
    assert "CMLL" in there._repr_html_()
    assert there.predict_labels(rows, k=2)[0][0] == pytest.approx(here.predict_labels(X, k=2)[0][0])


def test_a_pipeline_in_a_file(place, tmp_path):
    asked = make_pipeline(StandardScaler(), CMLLClassifier(threshold=0.5))
    there = sklearn.clone(asked).fit(place.make(X), place.make(Y))
    save_model(there, tmp_path / "model")
    expected = asked.fit(X, Y).decision_function(X)
    assert difference(load_model(tmp_path / "model").decision_function(X), expected) < 1e-10


# ---- refusals ---------------------------------------------------------------------------------


def refuses(model, call, match, error=ValueError):
    """The call raises, and leaves everything that the model has as it was."""
    before = dict(vars(model))
    with pytest.raises(error, match=match):
        call()
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


BAD = {
    "sparse": (lambda t: t.to_sparse(), "X is a sparse PyTorch tensor, and tensors must be dense"),
    "csr": (lambda t: t.to_sparse_csr(), "X is a sparse PyTorch tensor"),
    "meta": (lambda t: t.to("meta"), "on the device 'meta', where tensors have a shape and no num"),
    "complex": (lambda t: t.to(torch.complex64), "Complex data not supported: X must hold real"),
    "vector": (lambda t: t[0], "Expected 2D array, got 1D array instead"),
    "cube": (lambda t: t[:, :, None], "Expected 2D array, got 3D array instead"),
    "no rows": (lambda t: t[:0], r"Found array with 0 sample\(s\)"),
    "no columns": (lambda t: t[:, :0], r"Found array with 0 feature\(s\)"),
    "nan": (lambda t: torch.where(t == t[3, 2], torch.nan, t), "contains NaN, first in row 3, col"),
    "inf": (lambda t: torch.where(t == t[3, 2], -torch.inf, t), r"contains infinity \(inf\)"),
}


@pytest.mark.parametrize(("change", "match"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("asked", [CMLLClassifier(), CMLL(), KernelMap()], ids=str)
def test_bad_rows(asked, change, match):
    labels = () if isinstance(asked, KernelMap) else (torch.asarray(Y),)
    model = sklearn.clone(asked).fit(torch.asarray(X), *labels)
    bad = change(torch.asarray(X))
    refuses(model, lambda: model.fit(bad, *labels), match)
    ask = model.predict if hasattr(model, "predict") else model.transform
    refuses(model, lambda: ask(bad), match)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (torch.asarray(2 * Y), "Every label must be 0 or 1, and Y contains 2"),
        (torch.asarray(Y) * torch.nan, "takes unknown labels with NumPy and SciPy arrays alone"),
        (torch.asarray(Y[:5]), "X and Y must have as many rows as each other"),
        (torch.asarray(Y).to("meta"), "Y is a tensor on the device 'meta'"),
    ],
)
def test_bad_labels(labels, match):
    model = CMLLClassifier().fit(torch.asarray(X), torch.asarray(Y))
    refuses(model, lambda: model.fit(torch.asarray(X), labels), match)


@pytest.mark.parametrize("weights", [-np.ones(40), np.ones(3)], ids=["negative", "too few"])
def test_bad_weights(weights, place):
    model = CMLLClassifier()
    bad = place.make(weights)
    refuses(model, lambda: model.fit(place.make(X), Y, bad), "sample_weight")


def test_a_model_predicts_where_it_was_fitted(place):
    there = CMLLClassifier().fit(place.make(X), Y)
    here = CMLLClassifier().fit(X, Y)
    match = "must use the same namespace and the same device as those passed to fit"
    refuses(there, lambda: there.predict(X), match + r".*or predict by what to_numpy\(\) returns")
    refuses(there, lambda: there.predict(X.tolist()), "this is list on the CPU")
    refuses(there, lambda: there.predict(scipy.sparse.csr_array(X)), "this is csr_array on the CPU")
    refuses(here, lambda: here.predict(place.make(X)), match + r".*that was NumPy on the CPU")
    other = torch.asarray(X) if place.name == "strict" else X
    refuses(there, lambda: there.decision_function(other), match)
    refuses(there, lambda: there.partial_fit(X, Y), match)
    with sklearn.config_context(array_api_dispatch=False):
        if place.name == "torch":
            refuses(there, lambda: there.predict(place.make(X)), "read as NumPy outside of sklearn")
    assert difference(there.fit(X, Y).decision_function(X), here.decision_function(X)) == 0


def test_without_the_switch():
    """PyTorch's arrays of the CPU are NumPy's then, as they are for scikit-learn."""
    with sklearn.config_context(array_api_dispatch=False):
        rows = torch.asarray(X)
        scores = CMLLClassifier().fit(rows, torch.asarray(Y)).decision_function(rows)
        assert isinstance(scores, np.ndarray)
        model = CMLLClassifier()
        far = rows.to("meta")
        refuses(model, lambda: model.fit(far, Y), "X is on PyTorch on meta, where NumPy cannot rea")
        refuses(model, lambda: model.fit(X, torch.asarray(Y).to("meta")), "Y is on PyTorch on meta")


@pytest.mark.parametrize(
    "model",
    [
        POPClassifier(),
        ShortlistClassifier(),
        AutoCompactClassifier(),
        CMLLClassifierCV(),
        C2AEClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_of_numpy_arrays_say_so(model, place):
    match = f"{type(model).__name__} works on NumPy arrays and SciPy matrices, and X is on "
    refuses(model, lambda: model.fit(place.make(X), Y), match)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (
            {"regressor": Ridge()},
            "built-in ridge and KernelMap alone, and regressor is Ridge; leave it out, or pass",
        ),
        (
            {"feature_map": StandardScaler()},
            "and feature_map is StandardScaler; leave it out, or pass NumPy arrays",
        ),
    ],
    ids=["regressor", "feature map"],
)
def test_foreign_parts(given, match, place):
    model = CompactClassifier(CMLL(), **given)
    refuses(model, lambda: model.fit(place.make(X), Y), match)


# ---- memory -----------------------------------------------------------------------------------


def test_a_full_device(monkeypatch):
    """A library's own error, in the middle of a fit, says what was asked and what to do."""
    rows = torch.asarray(X)
    for model, given in ((CMLLClassifier(), (Y,)), (CMLL(), (Y,)), (KernelMap(), ())):
        model.fit(rows, *given)

        def full(*_, **__):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB.")

        match = (
            "The memory of PyTorch on cpu is full, where .* are free: X alone, 40 rows of 7 "
            "features in float64, takes 2.2 KiB; use fewer rows, KernelMap"
        )
        with monkeypatch.context() as patch:
            patch.setitem(device_array.METHODS, "sum", full)
            refuses(model, lambda m=model, g=given: m.fit(rows, *g), match, MemoryError)
    model = CMLLClassifier()
    with monkeypatch.context() as patch:
        patch.setattr(build, "choose", full)
        with pytest.raises(torch.OutOfMemoryError):  # not of these rows: it is passed on
            model.fit(X, Y)


def test_the_memory_that_counts_is_the_devices(monkeypatch):
    seen = []

    def little(array):
        seen.append(unwrap(array))
        return 1000

    for module in (build, preparation):
        monkeypatch.setattr(module, "free_bytes", little)
    rows = torch.asarray(X)
    model = CMLLClassifier()
    refuses(model, lambda: model.fit(rows, Y), "but only 1000 B are available", MemoryError)
    assert seen[-1] is not None
    assert library_of(seen[-1]) == "torch"
    model = CompactClassifier(CMLL(), feature_map=KernelMap())
    match = "Fitting an exact kernel of 40 rows needs about .*Use KernelMap"
    refuses(model, lambda: model.fit(rows, Y), match, MemoryError)


def test_free_memory_of_cuda(monkeypatch):
    """Memory that the library has reserved without using it is free as well."""

    class Cuda:
        @staticmethod
        def memory_stats(device):
            return {"reserved_bytes.all.current": 700, "allocated_bytes.all.current": 200}

        mem_get_info = staticmethod(lambda device: (1000, 5000))

    class Tensor:
        __module__ = "torch"
        device = torch.device("cuda:0")

    class Namespace:
        cuda = Cuda

    monkeypatch.setattr(device_array, "namespace_of", lambda raw: Namespace)
    assert devices.free_bytes(Tensor()) == 1500


def test_the_package_that_is_needed(monkeypatch):
    def absent(*_, **__):
        raise NotInstalled("Arrays need 'array_api_compat'")

    monkeypatch.setattr(device_array, "require", absent)
    model = CMLLClassifier()
    refuses(
        model, lambda: model.fit(torch.asarray(X), Y), re.escape("array_api_compat"), ImportError
    )
