"""KernelMap: inner products of its features are kernel values."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import KernelMap
from compactlearn.compact import _kernels as kernels
from compactlearn.core import _memory as memory
from tests.sklearn_checks import checks_that_run, run_check

NAMED = ["rbf", "linear", "poly", "cosine"]
LANDMARK_METHODS = ["exact", "nystroem"]
EVERY_MAP = [
    *(KernelMap(kernel, algorithm=method) for kernel in NAMED for method in LANDMARK_METHODS),
]
named_kernels = pytest.mark.parametrize("kernel", NAMED)
landmark_methods = pytest.mark.parametrize("method", LANDMARK_METHODS)
every_map = pytest.mark.parametrize("estimator", EVERY_MAP, ids=repr)


def make_rows(n=30, n_features=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_features)) + 0.3


def literal_kernel(fitted, A, B):
    """Kernel values one pair of rows at a time, from the formulas."""

    def value(a, b):
        if fitted.kernel == "rbf":
            return np.exp(-fitted.gamma_ * np.sum((a - b) ** 2))
        if fitted.kernel == "poly":
            return (fitted.gamma_ * (a @ b) + fitted.coef0) ** fitted.degree
        scale = np.linalg.norm(a) * np.linalg.norm(b) if fitted.kernel == "cosine" else 1.0
        return a @ b / scale if scale else 0.0

    return np.array([[value(a, b) for b in B] for a in A])


def state(estimator):
    params = estimator.get_params(deep=False)
    return pickle.dumps({k: v for k, v in vars(estimator).items() if k not in params})


# --- scikit-learn's contract ---------------------------------------------------------------------


@parametrize_with_checks([*EVERY_MAP, KernelMap(n_components=2)])
def test_sklearn_contract(estimator, check):
    run_check(check, estimator)


def test_the_checks_are_many():
    assert len(checks_that_run(KernelMap())) >= 35


# --- inner products are kernel values ------------------------------------------------------------


@named_kernels
@pytest.mark.parametrize("shape", [(30, 5), (12, 40)], ids=str)
def test_features_multiply_to_the_kernel(kernel, shape):
    X = make_rows(*shape)
    fitted = KernelMap(kernel).fit(X)
    F = fitted.transform(X)
    Q = literal_kernel(fitted, X, X)
    np.testing.assert_allclose(F @ F.T, Q, atol=1e-8 * np.abs(Q).max())
    np.testing.assert_allclose(fitted.fit_transform(X), F, atol=1e-10 * np.abs(F).max())


@named_kernels
def test_new_rows_against_training_rows(kernel):
    X, X_new = make_rows(30, 5), make_rows(9, 5, seed=1)
    fitted = KernelMap(kernel).fit(X)
    expected = literal_kernel(fitted, X_new, X)
    actual = fitted.transform(X_new) @ fitted.transform(X).T
    np.testing.assert_allclose(actual, expected, atol=1e-7 * np.abs(expected).max())


def test_large_offsets_cost_no_digits():
    """The rbf kernel does not see a shift of all rows, so neither may the answer."""
    X, X_new = make_rows(30, 5), make_rows(9, 5, seed=1)
    shift = 1e6
    plain, moved = KernelMap().fit(X), KernelMap().fit(X + shift)
    np.testing.assert_allclose(moved.gamma_, plain.gamma_, rtol=1e-8)
    np.testing.assert_allclose(moved.gram(), plain.gram(), atol=1e-8)
    np.testing.assert_allclose(moved.rows(X_new + shift), plain.rows(X_new), atol=1e-8)


# --- rank, truncation, degenerate data -----------------------------------------------------------


@named_kernels
@landmark_methods
def test_duplicates_do_not_raise_the_rank(kernel, method):
    X = make_rows(8, 5)
    once, twice = (KernelMap(kernel, 0.3, algorithm=method).fit(Z) for Z in (X, np.tile(X, (4, 1))))
    F = twice.transform(X)
    assert F.shape == once.transform(X).shape
    assert F.shape[1] == np.linalg.matrix_rank(literal_kernel(once, X, X))
    expected = literal_kernel(once, X, X)
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-8 * np.abs(expected).max())
    strangers = 10 * make_rows(5, 5, seed=7)
    lengths = np.sum(twice.transform(strangers) ** 2, axis=1)
    bound = np.diag(literal_kernel(once, strangers, strangers))
    assert (lengths <= bound * (1 + 1e-8)).all(), "a projection is never longer"


@pytest.mark.parametrize("count", [1, 4, 30, 99])
def test_truncation_keeps_the_leading_directions(count):
    X, X_new = make_rows(30, 5), make_rows(9, 5, seed=1)
    full, short = KernelMap().fit(X), KernelMap(n_components=count).fit(X)
    kept = min(count, full.transform(X).shape[1])
    assert short.transform(X).shape == (30, kept)
    expected = full.transform(X_new)[:, :kept]
    actual = short.transform(X_new)
    np.testing.assert_allclose(actual @ actual.T, expected @ expected.T, atol=1e-8)


def test_truncation_is_kernel_pca_where_the_kernel_is_centred():
    X = make_rows(30, 6)
    X -= X.mean(axis=0)
    ours = KernelMap("linear", n_components=2).fit_transform(X)
    theirs = KernelPCA(2, kernel="linear").fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-8)


@named_kernels
@landmark_methods
def test_rows_of_zeros_give_a_finite_map(kernel, method):
    fitted = KernelMap(kernel, algorithm=method).fit(np.zeros((6, 3)))
    F = fitted.transform(np.zeros((6, 3)))
    assert F.shape == (6, 1)
    np.testing.assert_allclose(F @ F.T, literal_kernel(fitted, np.zeros((6, 3)), np.zeros((6, 3))))
    assert np.isfinite(fitted.transform(make_rows(4, 3))).all()
    assert list(fitted.get_feature_names_out()) == ["kernelmap0"]


NUMBERS = st.floats(-4, 4, width=16).map(lambda v: round(v, 2))


@given(
    X=hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=NUMBERS
    ),
    kernel=st.sampled_from(NAMED),
    method=st.sampled_from(LANDMARK_METHODS),
    gamma=st.sampled_from(["distance", None, 0.7]),
)
def test_any_shape(X, kernel, method, gamma):
    """One row, one feature, constant rows, rows of zeros: Q is always recovered."""
    fitted = KernelMap(kernel, gamma, algorithm=method, random_state=0).fit(X)
    Q = literal_kernel(fitted, X, X)
    scale = max(np.abs(Q).max(), 1e-300)
    np.testing.assert_allclose(fitted.rows(fitted.landmarks_), fitted.gram(), atol=1e-9 * scale)
    F = fitted.transform(X)
    assert 1 <= F.shape[1] <= X.shape[0]
    np.testing.assert_allclose(F @ F.T, Q, atol=1e-7 * scale)


# --- gamma ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_gamma_is_from_the_mean_over_pairs(container):
    X = make_rows(25, 4)
    X[3] = X[7]
    distances = [np.linalg.norm(X[i] - X[j]) for i in range(25) for j in range(i + 1, 25)]
    expected = 1 / (2 * np.mean(distances) ** 2)
    assert KernelMap().fit(container(X)).gamma_ == pytest.approx(expected, rel=1e-7)


def test_gamma_of_many_rows_is_near_that_of_all(monkeypatch):
    X = make_rows(400, 4)
    exact = 1 / (2 * np.mean(pdist(X)) ** 2)
    monkeypatch.setattr("compactlearn.compact._kernel_map.DISTANCE_ROWS", 200)
    gammas = {KernelMap(random_state=seed).fit_rows(X).gamma_ for seed in (None, 1, 2)}
    assert len(gammas) == 1
    (gamma,) = gammas
    assert gamma != exact
    # A mean over 200 of 400 rows: one standard error is about 2 % of the distance.
    assert gamma == pytest.approx(exact, rel=0.2)


@pytest.mark.parametrize("scale", [1e-6, 3.0, 1e6])
def test_units_do_not_matter_to_gamma(scale):
    X = make_rows()
    one, other = KernelMap().fit(X), KernelMap().fit(scale * X)
    assert other.gamma_ * scale**2 == pytest.approx(one.gamma_, rel=1e-10)
    np.testing.assert_allclose(other.gram(), one.gram(), atol=1e-10)


@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [0.1, 1e8 / 3, -7.7]])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_equal_rows_have_gamma_one(row, container):
    fitted = KernelMap().fit(container(np.tile(row, (9, 1))))
    assert fitted.gamma_ == 1.0
    np.testing.assert_allclose(fitted.gram(), 1.0)


def test_other_values_of_gamma():
    X = make_rows(30, 5)
    assert KernelMap(gamma=None).fit(X).gamma_ == 1 / 5
    assert KernelMap(gamma=np.float32(0.5)).fit(X).gamma_ == 0.5
    assert KernelMap("poly").fit(X).gamma_ == 1 / 5
    assert KernelMap("poly", None).fit(X).gamma_ == 1 / 5
    assert KernelMap("poly", 2).fit(X).gamma_ == 2.0
    for kernel in ("linear", "cosine"):
        assert KernelMap(kernel).fit(X).gamma_ is None
    assert KernelMap().fit(X[:1]).gamma_ == 1.0


# --- approximations ------------------------------------------------------------------------------


@named_kernels
def test_all_landmarks_are_exact(kernel):
    X, X_new = make_rows(30, 5), make_rows(9, 5, seed=1)
    exact = KernelMap(kernel).fit(X)
    for count in (None, 30, 500):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            near = KernelMap(kernel, n_components=count, algorithm="nystroem").fit(X)
        for Z in (X, X_new):
            expected = exact.transform(Z) @ exact.transform(Z).T
            F = near.transform(Z)
            np.testing.assert_allclose(F @ F.T, expected, atol=1e-6 * np.abs(expected).max())


@named_kernels
def test_nystroem_is_scikit_learns(kernel):
    X, X_new = make_rows(30, 5), make_rows(9, 5, seed=1)
    ours = KernelMap(kernel, 0.3, 8, "nystroem", random_state=4).fit(X)
    constants = {"poly": {"gamma": 0.3, "degree": 3, "coef0": 1.0}, "rbf": {"gamma": 0.3}}
    theirs = Nystroem(kernel, n_components=8, random_state=4, **constants.get(kernel, {})).fit(X)
    np.testing.assert_array_equal(ours.landmarks_, theirs.components_)
    F, G = ours.transform(X_new), theirs.transform(X_new)
    np.testing.assert_allclose(F @ F.T, G @ G.T, atol=1e-6 * np.abs(G @ G.T).max())


# --- containers ----------------------------------------------------------------------------------


@every_map
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_equals_dense(estimator, container):
    X = make_rows(30, 12)
    X = np.where(np.abs(X) > 0.9, X, 0.0)
    dense = clone(estimator).set_params(random_state=0).fit(X[:20])
    sparse = clone(estimator).set_params(random_state=0).fit(container(X[:20]))
    expected = dense.transform(X) @ dense.transform(X).T
    for fitted in (dense, sparse):
        for Z in (X, container(X)):
            F = fitted.transform(Z)
            assert isinstance(F, np.ndarray)
            np.testing.assert_allclose(F @ F.T, expected, atol=1e-8)
    assert sp.issparse(sparse.landmarks_)
    np.testing.assert_allclose(sparse.gram(), dense.gram(), atol=1e-10)
    np.testing.assert_allclose(sparse.rows(X), dense.rows(container(X)), atol=1e-10)


def test_a_sparse_matrix_is_never_made_dense():
    X = sp.random_array((300, 400_000), density=1e-5, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    try:
        for kernel in NAMED:
            KernelMap(kernel).fit(X).transform(X)
        assert tracemalloc.get_traced_memory()[1] < 8 * 300 * 400_000 / 10
    finally:
        tracemalloc.stop()


@every_map
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_single_precision_rows_are_computed_in_double(estimator, container):
    X = make_rows().astype(np.float32)
    single, double = (
        clone(estimator).set_params(random_state=0).fit(container(Z)) for Z in (X, X.astype(float))
    )
    F = single.transform(container(X))
    assert F.dtype == np.float64
    np.testing.assert_array_equal(F, double.transform(container(X.astype(float))))


@landmark_methods
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_the_map_does_not_hold_the_callers_rows(method, container):
    X = container(make_rows())
    fitted = KernelMap(algorithm=method, random_state=0).fit_rows(X)
    kept = fitted.gram()
    (X if isinstance(X, np.ndarray) else X.data)[:] = 9.0
    np.testing.assert_array_equal(fitted.gram(), kept)


# --- rows and Gram matrix ------------------------------------------------------------------------


@named_kernels
@landmark_methods
def test_fit_rows_agrees_with_fit(kernel, method):
    X, X_new = make_rows(30, 5), make_rows(9, 5, seed=1)
    whole, lazy = (KernelMap(kernel, None, 11, method, random_state=2) for _ in range(2))
    whole.fit(X)
    assert lazy.fit_rows(X) is lazy
    assert not hasattr(lazy, "_coefficients")
    assert lazy.gamma_ == whole.gamma_
    assert lazy.n_features_in_ == 5
    np.testing.assert_array_equal(lazy.landmarks_, whole.landmarks_)
    np.testing.assert_array_equal(lazy.gram(), whole.gram())
    np.testing.assert_array_equal(lazy.rows(X_new), whole.rows(X_new))
    F = whole.transform(X_new)
    np.testing.assert_array_equal(lazy.transform(X_new), F)
    before = state(lazy)
    lazy.transform(X)
    assert state(lazy) == before
    if method == "exact":
        np.testing.assert_array_equal(lazy.landmarks_, X)
        expected = literal_kernel(whole, X_new, X)
        np.testing.assert_allclose(lazy.rows(X_new), expected, atol=1e-10 * np.abs(expected).max())


@named_kernels
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_gram_by_tiles(kernel, container, monkeypatch):
    """However the rows are cut: the same matrix, symmetric bit by bit, the caller's to keep."""
    X = make_rows(31, 5)
    fitted = KernelMap(kernel).fit_rows(container(X))
    whole = fitted.gram()
    monkeypatch.setattr(kernels, "TILE", 7)
    Q = fitted.gram()
    assert Q.dtype == np.float64
    assert Q.flags.c_contiguous
    assert Q.flags.owndata
    np.testing.assert_array_equal(Q, Q.T)
    np.testing.assert_allclose(Q, whole, atol=1e-10 * np.abs(whole).max())
    np.testing.assert_allclose(fitted.rows(X), whole, atol=1e-10 * np.abs(whole).max())
    kept = Q.copy()
    Q[:] = 7
    np.testing.assert_array_equal(fitted.gram(), kept)
    if kernel == "rbf":
        assert (np.diag(kept) == 1).all()


def test_transform_by_blocks(monkeypatch):
    X = make_rows(31, 5)
    fitted = KernelMap(n_components=20).fit(X)
    F = fitted.transform(X)
    monkeypatch.setattr("compactlearn.compact._kernel_map.BLOCK_BYTES", 8 * 31 * 4)
    np.testing.assert_allclose(fitted.transform(X), F, atol=1e-12)


def test_transform_holds_few_kernel_rows_at_once():
    X = make_rows(20_000, 2)
    fitted = KernelMap(n_components=1).fit(X[:1000])
    tracemalloc.start()
    try:
        fitted.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 2**20 < 8 * 20_000 * 1000


# --- refusals ------------------------------------------------------------------------------------

BAD_PARAMETERS = [
    ({"kernel": "rfb"}, r"'kernel' of KernelMap must be 'rbf', .*got 'rfb'.*Did you mean 'rbf'"),
    ({"kernel": "precomputed"}, "'kernel' of KernelMap must be 'rbf'"),
    ({"gamma": 0.0}, r"'gamma' .* 'distance', a finite number > 0 or None; got 0\.0"),
    ({"gamma": "distances"}, "Did you mean 'distance'"),
    ({"n_components": 0}, "'n_components' .* an integer >= 1 or None; got 0"),
    ({"algorithm": "nystrom"}, "'algorithm' .*Did you mean 'nystroem'"),
    ({"degree": 2.5}, "'degree' .* an integer >= 1"),
    ({"coef0": -0.5}, "'coef0' .* a finite number >= 0; got -0.5"),
    ({"random_state": -1}, "'random_state' .* an integer >= 0"),
]


@pytest.mark.parametrize(("params", "match"), BAD_PARAMETERS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("call", ["fit", "fit_rows"])
def test_bad_parameters_change_nothing(params, match, call):
    X = make_rows()
    fitted = KernelMap().fit(X)
    kept, answer = state(fitted), fitted.transform(X)
    fitted.set_params(**params)
    with pytest.raises(ValueError, match=match):
        getattr(fitted, call)(X[:9])
    assert state(fitted) == kept
    np.testing.assert_array_equal(fitted.transform(X), answer)


@every_map
@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (np.full((9, 5), np.nan), "finite numbers only, and contains NaN"),
        (np.ones((0, 5)), "0 sample.*at least one row"),
        (np.ones(5), "Expected 2D array"),
    ],
    ids=["NaN", "no rows", "a vector"],
)
def test_bad_rows_change_nothing(estimator, bad, match):
    X = make_rows()
    fitted = clone(estimator).set_params(random_state=0).fit(X)
    kept = state(fitted)
    for method in ("fit", "transform", "fit_rows", "rows"):
        with pytest.raises(ValueError, match=match):
            getattr(fitted, method)(bad)
    with pytest.raises(ValueError, match="the same columns as in fit"):
        fitted.transform(X[:, :3])
    assert state(fitted) == kept


@pytest.mark.parametrize(
    ("estimator", "scale", "match"),
    [
        (KernelMap("poly", degree=60), 1e9, "The poly kernel must give finite .* scale X first"),
        (KernelMap("linear"), 1e200, "The linear kernel must give finite numbers, and overflows"),
        (KernelMap(), 1e200, "gamma='distance' needs rows .* scale X"),
        (KernelMap(), 1e-170, "gamma='distance' needs rows .* or set gamma to a number"),
        (KernelMap(gamma=1.0), 1e200, "The rbf kernel must give finite numbers"),
    ],
    ids=str,
)
def test_overflow_is_refused_in_words(estimator, scale, match):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=match):
            clone(estimator).fit(scale * make_rows())


@pytest.mark.parametrize("call", ["transform", "rows", "gram", "get_feature_names_out"])
def test_unfitted_maps_say_so(call):
    arguments = [make_rows()] if call in ("transform", "rows") else []
    with pytest.raises(Exception, match="not fitted"):
        getattr(KernelMap(), call)(*arguments)


def test_too_large_a_matrix_is_refused_beforehand(monkeypatch):
    X = make_rows(60)
    fitted = KernelMap().fit(X)
    kept = state(fitted)
    lazy = KernelMap().fit_rows(X)
    monkeypatch.setattr(memory, "available_bytes", lambda: 8 * 60 * 60 - 1)
    size = r"needs about [\d.]+ KiB of memory, but only [\d.]+ KiB are available"
    with pytest.raises(MemoryError, match=rf"{size}.*algorithm='nystroem'"):
        fitted.fit(X)
    assert state(fitted) == kept
    KernelMap().fit_rows(X)
    with pytest.raises(
        MemoryError, match=rf"kernel matrix of 60 rows {size}.*algorithm='nystroem'"
    ):
        lazy.gram()
    with pytest.raises(MemoryError, match=rf"60 rows against 60 landmarks {size}.*fewer rows"):
        lazy.rows(X)
    assert KernelMap(algorithm="nystroem", n_components=20).fit(X).transform(X).shape == (60, 20)


@pytest.mark.parametrize("n", [600, 1300])  # two ways to decompose, one of them in place
def test_what_a_fit_takes_was_announced(n, monkeypatch):
    announced = []
    monkeypatch.setattr(memory, "require_memory", lambda needed, **_: announced.append(needed))
    X = make_rows(n, 3)
    tracemalloc.start()
    try:
        KernelMap("rbf", 20.0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert max(announced) / 2 <= peak <= 1.2 * max(announced) + 4 * 2**20


# --- seeds, names, copies ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed",
    [3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)],
    ids=["integer", "RandomState", "Generator"],
)
def test_same_seed_same_map(seed):
    X = make_rows()
    seeds = [seed() if callable(seed) else seed for _ in range(2)]
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state, to see it untouched
    one, two = (KernelMap("rbf", 1.0, 6, "nystroem", random_state=s).fit(X) for s in seeds)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    other = KernelMap("rbf", 1.0, 6, "nystroem", random_state=8).fit(X)
    assert not np.allclose(other.transform(X), one.transform(X))


@every_map
def test_clone_pickle_and_refit(estimator):
    X, X_new = make_rows(), make_rows(9, 5, seed=1)
    fitted = clone(estimator).set_params(random_state=0).fit(X)
    F = fitted.transform(X_new)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X_new), F)
    fresh = clone(fitted)
    assert not hasattr(fresh, "gamma_")
    named = pd.DataFrame(make_rows(12, 3), columns=list("abc"))
    used = fresh.fit(named).fit(X)
    np.testing.assert_array_equal(used.transform(X_new), F)
    assert vars(used).keys() == vars(fitted).keys()


@pytest.mark.parametrize("call", ["fit", "fit_rows"])
def test_parameters_set_afterwards_wait_for_the_next_fit(call):
    X = make_rows()
    model = getattr(KernelMap("poly", n_components=4), call)(X)
    expected = KernelMap("poly", n_components=4).fit(X).transform(X)
    model.set_params(kernel="cosine", degree=5, coef0=0.0, n_components=2, algorithm="nystroem")
    np.testing.assert_array_equal(model.transform(X), expected)
