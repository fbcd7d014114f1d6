"""Arrays on a device take part in NumPy's functions with NumPy's outcomes."""

import operator
import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.core._device_array import _UFUNCS, FUNCTIONS, DeviceArray
from compactlearn.core._devices import compressed, dense_on_device_of, labels_on_host
from tests.devices.places import PLACES, difference
from tests.makers import modest

RNG = np.random.default_rng(0)
A = RNG.normal(size=(5, 5))
S = A @ A.T + np.eye(5)
V = np.sort(RNG.normal(size=5))

# A call of every function that has a counterpart: np stands for itself, the arrays for both kinds.
CALLS = {
    np.ndim: lambda a, s, v: np.ndim(a),
    np.shape: lambda a, s, v: np.shape(a),
    np.zeros_like: lambda a, s, v: np.zeros_like(a),
    np.empty_like: lambda a, s, v: np.empty_like(a).shape,
    np.ones_like: lambda a, s, v: np.ones_like(v),
    np.concatenate: lambda a, s, v: np.concatenate([a, s], axis=1),
    np.hstack: lambda a, s, v: np.hstack([v, v]),
    np.vstack: lambda a, s, v: np.vstack([a, v]),
    np.append: lambda a, s, v: np.append(1.0, v),
    np.split: lambda a, s, v: np.split(v, [1, 3])[1],
    np.reshape: lambda a, s, v: np.reshape(a, (-1,)),
    np.ravel: lambda a, s, v: np.ravel(a),
    np.broadcast_to: lambda a, s, v: np.broadcast_to(v, (3, 5)),
    np.tile: lambda a, s, v: np.tile(a, (2, 1)),
    np.where: lambda a, s, v: np.where(a > 0, a, -1.0),
    np.diag: lambda a, s, v: np.diag(a),
    np.sum: lambda a, s, v: np.sum(a, axis=0),
    np.max: lambda a, s, v: np.max(a, axis=1, initial=0.5),
    np.min: lambda a, s, v: np.min(a),
    np.all: lambda a, s, v: np.all(a > -9, axis=0),
    np.any: lambda a, s, v: np.any(a > 9),
    np.argmax: lambda a, s, v: np.argmax(a, axis=0),
    np.count_nonzero: lambda a, s, v: np.count_nonzero(a > 0),
    np.trace: lambda a, s, v: np.trace(a),
    np.cumsum: lambda a, s, v: np.cumsum(v),
    np.sort: lambda a, s, v: np.sort(a, axis=None),
    np.argsort: lambda a, s, v: np.argsort(-a, axis=0, kind="stable"),
    np.take_along_axis: lambda a, s, v: np.take_along_axis(a, np.argsort(a, axis=1), axis=1),
    np.searchsorted: lambda a, s, v: np.searchsorted(v, np.array([-9.0, 0.0, 9.0])),
    np.outer: lambda a, s, v: np.outer(v, np.arange(2.0)),
    np.vdot: lambda a, s, v: np.vdot(a, s),
    np.linalg.multi_dot: lambda a, s, v: np.linalg.multi_dot([a, s, a[:, :1]]),
    np.linalg.eigh: lambda a, s, v: np.linalg.eigh(s)[0],
    np.linalg.eigvalsh: lambda a, s, v: np.linalg.eigvalsh(s),
    np.linalg.svd: lambda a, s, v: np.linalg.svd(a, full_matrices=False)[1],
    np.linalg.qr: lambda a, s, v: abs(np.linalg.qr(a)[1]),
    np.linalg.cholesky: lambda a, s, v: np.linalg.cholesky(s),
    np.linalg.inv: lambda a, s, v: np.linalg.inv(s),
    np.linalg.solve: lambda a, s, v: np.linalg.solve(s, a),
    np.linalg.norm: lambda a, s, v: np.linalg.norm(a, axis=0),
}


def same(found, expected):
    assert difference(found, expected) < 1e-12
    if isinstance(found, DeviceArray):
        assert found.dtype.kind == np.asarray(expected).dtype.kind


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_numpy(function, place):
    there = [DeviceArray(place.make(a)) for a in (A, S, V)]
    found, expected = CALLS[function](*there), CALLS[function](A, S, V)
    assert place.has(found.raw) if isinstance(found, DeviceArray) else type(found) in (int, tuple)
    same(found, expected)


@pytest.mark.parametrize("ufunc", _UFUNCS, ids=lambda f: f.__name__)
def test_elementwise_functions_of_numpy(ufunc, place):
    logical = ufunc.__name__.startswith(("logical", "bitwise", "invert"))
    numbers = A > 0 if logical else np.abs(A) + 0.5
    operands = [numbers, numbers[::-1].copy()][: ufunc.nin]
    found = ufunc(*(DeviceArray(place.make(a)) for a in operands))
    assert place.has(found.raw)
    same(found, ufunc(*operands))


OTHERS = {
    "int": 2,
    "float": 2.5,
    "scalar": np.float64(2.5),
    "0-d": np.array(2.0),
    "vector": V,
    "truth": A > 0,
}
# Numbers are no factors of a matrix product, and truth values would divide by zero.
WITH_OTHERS = [
    (name, other)
    for name in ("add", "sub", "mul", "truediv", "matmul", "gt", "eq")
    for other in OTHERS
    if not (name == "matmul" and np.ndim(OTHERS[other]) == 0)
    and not (name == "truediv" and other == "truth")
]


@pytest.mark.parametrize(("name", "other"), WITH_OTHERS)
def test_arithmetic_with_what_is_on_the_host(name, other, place):
    other = OTHERS[other]
    there, call = DeviceArray(place.make(A)), getattr(operator, name)
    same(call(there, other), call(A, other))
    same(call(other, there), call(other, A))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv"])
def test_in_place(name, place):
    there, here, call = DeviceArray(place.make(A.copy())), A.copy(), getattr(operator, name)
    part, own = there[1:3], here[1:3]
    same(call(part, V), call(own, V))
    if place.name == "torch":  # where a part is a view, the whole has changed, as NumPy's has
        same(there, here)


KEYS = st.one_of(
    st.slices(6),
    st.integers(-6, 5),
    st.just(slice(None, None, -1)),
    st.lists(st.integers(0, 5), min_size=1, max_size=4).map(np.array),
    st.lists(st.booleans(), min_size=6, max_size=6).map(np.array),
).filter(lambda key: not isinstance(key, slice) or key.step in (None, 1, 2, -1))


def _forwards(key):
    """A slice backwards is of a whole axis: that is all that the numerics ask for."""
    backwards = isinstance(key, slice) and key.step == -1
    return slice(None, None, -1) if backwards else key


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@modest
@given(rows=KEYS, columns=KEYS)
def test_parts(place, rows, columns):
    here = np.arange(36.0).reshape(6, 6)
    rows, columns = _forwards(rows), _forwards(columns)
    lists = sum(isinstance(key, np.ndarray) for key in (rows, columns))
    keys = [rows, (slice(None), columns), (rows, None)]
    if lists < 2 and not any(isinstance(key, int) for key in (rows, columns)):
        keys.append((rows, columns))
    for key in keys:
        same(DeviceArray(place.make(here))[key], here[key])


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@modest
@given(rows=KEYS, column=st.booleans(), value=st.sampled_from(["number", "row", "own"]))
def test_written_parts(place, rows, column, value):
    if isinstance(rows, slice) and rows.step == -1:
        rows = slice(None)
    if isinstance(rows, np.ndarray) and rows.dtype != np.bool_:
        rows = np.unique(rows)
    here = np.arange(36.0).reshape(6, 6)
    there = DeviceArray(place.make(here.copy()))
    key = (slice(None), rows) if column else rows
    new = {"number": 7.0, "row": np.ones(6)[:1], "own": -here[key]}[value]
    there[key] = DeviceArray(place.make(new)) if isinstance(new, np.ndarray) else new
    here[key] = new
    same(there, here)


def test_pairs_of_places(place):
    rows, columns = np.array([0, 2]), np.array([1, 4])
    there = DeviceArray(place.make(A))
    same(there[rows, columns], A[rows, columns])
    same(there[np.ix_(rows, columns)], A[np.ix_(rows, columns)])


def test_nothing_leaves_the_device_unasked(place):
    there = DeviceArray(place.make(A))
    with pytest.raises(TypeError, match="about to be copied to the host unasked"):
        np.asarray(there)
    with pytest.raises(TypeError, match=r"np\.median has no counterpart for arrays on a device"):
        np.median(there)
    with pytest.raises(TypeError, match="operand type"):
        np.arctan2(there, there)


@pytest.mark.parametrize("place", [p for p in PLACES if p.name != "strict"], ids=lambda p: p.name)
def test_it_is_pickled_with_its_library(place):
    """array-api-strict itself does not pickle its devices."""
    again = pickle.loads(pickle.dumps(DeviceArray(place.make(A))))
    same(again + again, A + A)


@modest
@given(
    cells=st.lists(st.lists(st.sampled_from([0.0, 1.0, -0.0, 2.5]), min_size=3, max_size=3)),
)
def test_compressed_there_and_back(cells):
    dense = np.array(cells).reshape(-1, 3)
    for place in PLACES:
        there = DeviceArray(place.make(dense))
        sparse = compressed(there)
        assert (sparse != scipy.sparse.csr_array(dense)).nnz == 0
        assert sparse.has_canonical_format
        assert (sparse.data != 0).all()
        same(dense_on_device_of(sparse, there), dense)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
def test_labels_come_to_the_host_by_their_ones(dtype, place):
    Y = (A > 0).astype(dtype)
    found = labels_on_host(place.make(Y))
    assert scipy.sparse.issparse(found)
    same(found.toarray(), Y)
