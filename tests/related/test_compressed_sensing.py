"""CS: what pursuits recover, against literal versions, scikit-learn's, and a theorem."""

import numpy as np
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import orthogonal_mp

from compactlearn.related import CompressedSensingClassifier
from compactlearn.related._compressed_sensing import hadamard_rows, omp
from tests.makers import maker, modest, ridge_scores

make_data = maker(60, 7, 8, dtype=int, share=0.7)
X, Y = make_data()
X_new = make_data(15, seed=1)[0]


def graded(values):
    """Equal but for rounding is equal."""
    return np.round(np.abs(values) / np.abs(values).max(), 9)


def literal_omp(A, z, k):
    y, support, rest = np.zeros(A.shape[1]), [], z
    for _ in range(k):
        if np.linalg.norm(rest) <= 1e-10 * np.linalg.norm(z):
            break
        fit = graded((A.T @ rest) / np.linalg.norm(A, axis=0))
        fit[support] = -1
        support.append(int(np.argmax(fit)))
        y = np.zeros(A.shape[1])
        y[support] = np.linalg.pinv(A[:, support]) @ z
        rest = z - A @ y
    return y


@modest
@given(
    m=st.integers(1, 14),
    n_labels=st.integers(1, 14),
    k=st.integers(1, 5),
    n=st.integers(1, 6),
    seed=st.integers(0, 999),
)
def test_rows_together_are_literal_rows(m, n_labels, k, n, seed):
    rng = np.random.default_rng(seed)
    A, Z = rng.normal(size=(m, n_labels)), rng.normal(size=(n, m))
    k = min(k, m, n_labels)
    expected = np.array([literal_omp(A, z, k) for z in Z])
    np.testing.assert_allclose(omp(A, Z, k), expected, atol=1e-7)


def test_omp_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 20))
    A /= np.linalg.norm(A, axis=0)
    Z = rng.normal(size=(9, 12))
    np.testing.assert_allclose(omp(A, Z, 4), orthogonal_mp(A, Z.T, n_nonzero_coefs=4).T, atol=1e-10)


def test_a_column_is_selected_once_even_where_none_fits_the_residual():
    A = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(omp(A, np.array([[1.0, 0.0, 1.0]]), 2), [[1.0, 0.0]], atol=1e-12)


def test_measurements_are_columns_of_the_hadamard_matrix():
    A = hadamard_rows(6, 5, np.random.RandomState(3))
    columns = scipy.linalg.hadamard(8)[:6].T.tolist()
    assert all(row in columns for row in A.tolist())
    assert len({tuple(row) for row in hadamard_rows(6, 8, np.random.RandomState(0))}) == 8


def test_scores_are_those_of_the_formula():
    model = CompressedSensingClassifier(6, sparsity=2, alpha=3.0, random_state=0).fit(X, Y)
    A = model.measurements_
    codes = ridge_scores(X, Y @ A.T, 3.0, X_new)
    expected = np.array([literal_omp(A, z, 2) for z in codes])
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X_new), expected > 0.5)


def test_the_sparsity_is_that_of_the_labels():
    counts = Y.sum(axis=1)
    for sparsity, expected in (("max", counts.max()), ("mean", np.ceil(counts.mean())), (3, 3)):
        model = CompressedSensingClassifier(1.0, sparsity=sparsity, random_state=0).fit(X, Y)
        assert model.sparsity_ == expected
        assert np.count_nonzero(model.decision_function(X), axis=1).max() <= expected
    assert CompressedSensingClassifier(2, random_state=0).fit(X, Y).sparsity_ == 2
