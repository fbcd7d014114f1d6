"""Size of fitted models: nothing is stored twice, and a pickle predicts the same to the bit."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from compactlearn import (
    PLST,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    Moments,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
)
from compactlearn.core._weight import bytes_in, n_parameters_in, owned
from compactlearn.decoding._linear import linear_parameters
from compactlearn.model_selection import GridSearchMoments
from tests.makers import as_dense, maker

pytestmark = pytest.mark.filterwarnings("ignore:.*label components were asked for")

N, D, M = 150, 300, 20
FEW_KB = 6000


make_data = maker(N, D, M, mean=1, noise=9, share=0.8, dtype=int)


X, Y = make_data()


def kernel(**params):
    return CMLLClassifier(feature_map=KernelMap(random_state=0, **params))


MODELS = {
    "linear": CMLLClassifier(),
    "logistic": CMLLClassifier(decoder="logistic", threshold="per-label"),
    "wide": CMLLClassifier(completion="krylov"),
    "narrow": CMLLClassifier(n_feature_components=3),
    "moments": CMLLClassifier(solver="moments"),
    "dual": CMLLClassifier(solver="dual"),
    "scaled": CMLLClassifier(scale=True),
    "features kept": CMLLClassifier(n_feature_components=None),
    "nothing embedded": CompactClassifier(Original()),
    "nothing embedded, scaled": CompactClassifier(Original(), scale=True, decoder="logistic"),
    "label side": CompactClassifier(PLST(0.5)),
    "exact kernel": kernel(),
    "exact kernel, features kept": CompactClassifier(Original(), feature_map=KernelMap()),
    "exact kernel, scaled": CMLLClassifier(feature_map=KernelMap(), scale=True),
    "nystroem": kernel(algorithm="nystroem", n_components=60),
    "foreign map": CMLLClassifier(feature_map=StandardScaler(with_mean=False)),
    "foreign learner": CompactClassifier(regressor=Ridge()),
    "forest": CompactClassifier(regressor=RandomForestRegressor(3, random_state=0)),
    "POP": POPClassifier(random_state=0),
    "Shortlist": ShortlistClassifier(random_state=0),
    "C2AE": C2AEClassifier(
        8, feature_hidden=(32,), label_hidden=(16,), max_epochs=2, random_state=0
    ),
    "tuner": ThresholdTuner(CMLLClassifier(), random_state=0),
    "foreign tuned": ThresholdTuner(OneVsRestClassifier(LogisticRegression()), cv=2),
    "CMLLClassifierCV": CMLLClassifierCV(cv=2, alphas=(1.0, 10.0)),
    "GridSearchMoments": GridSearchMoments(CMLLClassifier(), {"alpha": [1.0, 9.0]}, cv=2),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def fitted():
    models = {}

    def fit(name):
        if name not in models:
            models[name] = copy.deepcopy(MODELS[name]).fit(X, Y)
        return models[name]

    return fit


@every_model
def test_a_pickle_is_as_large_as_its_arrays(fitted, name):
    model = fitted(name)
    saved = pickle.dumps(model)
    assert model.nbytes_ <= len(saved) <= 1.05 * model.nbytes_ + FEW_KB
    model.predict(X)  # what the first prediction makes is not saved
    model.decision_function(X)
    assert len(pickle.dumps(model)) == len(saved)


@every_model
def test_predictions_survive_a_pickle_to_the_bit(fitted, name):
    model = fitted(name)
    fresh = pickle.loads(pickle.dumps(model))
    again = pickle.loads(pickle.dumps(fresh))
    for other in (fresh, again, copy.deepcopy(model), copy.copy(model)):
        np.testing.assert_array_equal(
            as_dense(other.decision_function(X)), as_dense(model.decision_function(X))
        )
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert (other.nbytes_, other.n_parameters_) == (model.nbytes_, model.n_parameters_)
    for sparse in (sp.csr_array(X), X[:7]):
        scores = as_dense(model.decision_function(sparse))
        np.testing.assert_array_equal(as_dense(fresh.decision_function(sparse)), scores)


def kept(model):
    """Arrays of a projected linear model: projection, ridge, decoder, and what is small."""
    E = model.embedding_
    arrays = [E.projection_, E.decoder_, E.offset_, model.regressor_.coef_]
    arrays += [model.regressor_.intercept_, model.classes_, E.eigenvalues_, E.objective_path_]
    return sum(array.nbytes for array in arrays)


def test_a_linear_model_is_its_projection_its_learner_and_its_decoder(fitted):
    model = fitted("linear")
    assert kept(model) <= model.nbytes_ <= kept(model) + 500
    d = model.embedding_.n_feature_components_
    assert model.nbytes_ < 1.2 * 8 * (D * d + d * M)
    scored = fitted("scaled")
    assert scored.nbytes_ <= kept(scored) + 8 * D + 500


@pytest.mark.parametrize("name", ["linear", "logistic", "scaled", "dual", "exact kernel"])
def test_the_scorer_multiplies_by_the_projection_itself(fitted, name):
    model = fitted(name)
    model.predict(X)
    first = model.parts_.linear.factors[0]
    assert first is model.embedding_.projection_
    products = [f for f in model.parts_.linear.factors if not np.shares_memory(f, first)]
    assert sum(f.size for f in products) <= model.embedding_.n_feature_components_ * M


@pytest.mark.parametrize("name", ["features kept", "nothing embedded", "label side"])
def test_the_scorer_multiplies_by_the_learner_itself(fitted, name):
    model = fitted(name)
    factors = model.parts_.linear.factors
    assert np.shares_memory(factors[0], model.regressor_.coef_)
    assert all(factor is model.embedding_.decoder_ for factor in factors[1:])


def test_no_array_is_a_part_of_a_larger_one(fitted):
    for name in ("linear", "moments", "nystroem", "exact kernel", "features kept"):
        model = fitted(name)
        parts = [*vars(model.embedding_).values(), model.regressor_.coef_]
        for array in (part for part in parts if isinstance(part, np.ndarray)):
            assert array.base is None or array.base.nbytes == array.nbytes, name
    options = {"n_feature_components": None, "threshold": 0.5}
    small, large = (
        CMLLClassifier(n_label_components=m, **options).fit(X, Y).nbytes_ for m in (2, 15)
    )
    assert small < 0.2 * large


@every_model
def test_many_threads_may_be_the_first_to_predict(fitted, name):
    model = pickle.loads(pickle.dumps(fitted(name)))
    barrier = Barrier(4)

    def answer(_):
        barrier.wait()
        return as_dense(model.decision_function(X))

    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(answer, range(4)):
            np.testing.assert_array_equal(scores, as_dense(fitted(name).decision_function(X)))


# --- number of parameters ------------------------------------------------------------------------


def test_the_number_of_parameters_is_that_of_the_cheapest_order(fitted):
    def sizes(model):
        P = model.embedding_.projection_
        return None if P is None else P.shape[1], model.embedding_.n_label_components_

    for name in ("linear", "logistic", "wide", "narrow", "scaled", "features kept"):
        model = fitted(name)
        assert model.n_parameters_ == linear_parameters(D, M, *sizes(model)), name
        stored = sum(factor.size for factor in model.parts_.linear.factors)
        assert model.n_parameters_ == stored + model.intercept_.size, name
    assert fitted("nothing embedded").n_parameters_ == D * M + M
    for name, landmarks in (("exact kernel", N), ("exact kernel, scaled", N), ("nystroem", 60)):
        model = fitted(name)
        expected = linear_parameters(landmarks, M, *sizes(model)) + landmarks * D
        assert model.n_parameters_ == expected, name
    model, (d, m) = fitted("foreign learner"), sizes(fitted("foreign learner"))
    assert model.n_parameters_ == D * d + (d * m + m) + m * M + M
    assert fitted("POP").n_parameters_ == fitted("POP").n_weights_ + M
    assert fitted("C2AE").n_parameters_ == (D * 32 + 32 + 32 * 8 + 8) + (8 * 16 + 16 + 16 * M + M)
    assert fitted("tuner").n_parameters_ == fitted("tuner").estimator_.n_parameters_
    for name in ("CMLLClassifierCV", "GridSearchMoments"):
        assert fitted(name).n_parameters_ == fitted(name).best_estimator_.n_parameters_


def test_sparse_landmarks_count_what_they_store():
    rows = sp.random_array((60, 40), density=0.1, rng=0, format="csr")
    model = CompactClassifier(Original(), feature_map=KernelMap()).fit(rows, Y[:60])
    assert model.n_parameters_ == 60 * M + M + rows.nnz


def test_a_vector_of_classes_has_a_column_for_each():
    y = Y[:, 0] + Y[:, 1]
    assert CompactClassifier(Original()).fit(X, y).n_parameters_ == 3 * D + 3
    assert CompactClassifier(Original()).fit(X, Y[:, 0]).n_parameters_ == D + 1


@every_model
def test_sizes_are_those_of_fitted_models(name):
    model = copy.deepcopy(MODELS[name])
    for size in ("nbytes_", "n_parameters_"):
        assert not hasattr(model, size)
        with pytest.raises(NotFittedError):
            getattr(model, size)


# --- sums of rows --------------------------------------------------------------------------------


def test_sums_are_saved_only_where_they_will_be_gone_on_from():
    whole = CMLLClassifier(solver="moments").fit(X, Y)
    given = CMLLClassifier().fit_moments(Moments.from_arrays(X, Y))
    parts = CMLLClassifier().partial_fit(X[:90], Y[:90])
    sums = 8 * (D + M) ** 2
    assert max(len(pickle.dumps(model)) for model in (whole, given)) < 0.2 * sums
    assert parts.nbytes_ > sums
    assert len(pickle.dumps(parts)) < 1.05 * parts.nbytes_ + FEW_KB
    again = pickle.loads(pickle.dumps(parts)).partial_fit(X[90:], Y[90:])
    parts.partial_fit(X[90:], Y[90:])
    np.testing.assert_array_equal(again.decision_function(X), parts.decision_function(X))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-8)
    for model in (whole, given):
        loaded = pickle.loads(pickle.dumps(model))
        with pytest.raises(ValueError, match=r"saved after fit, without its sums"):
            loaded.partial_fit(X, Y)
        assert loaded.fit(X, Y).n_parameters_ == whole.n_parameters_


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_in_memory_goes_on_as_the_original_does(copied):
    model = CMLLClassifier(solver="moments").fit(X[:90], Y[:90])
    other = copied(model).partial_fit(X[90:], Y[90:])
    np.testing.assert_array_equal(
        other.decision_function(X), model.partial_fit(X[90:], Y[90:]).decision_function(X)
    )


# --- weighing ------------------------------------------------------------------------------------


def test_names_weigh_too():
    columns = [f"a rather long name of the column {i}" for i in range(D)]
    model = CMLLClassifier(4, 4).fit(pd.DataFrame(X, columns=columns), Y)
    plain = CMLLClassifier(4, 4).fit(X, Y)
    assert model.nbytes_ > plain.nbytes_ + sum(map(len, columns))
    assert len(pickle.dumps(model)) < 1.05 * model.nbytes_ + FEW_KB


def test_buffers_count_once_and_whole():
    values = np.zeros((100, 10))
    assert bytes_in([values, values.T, values[:5], {"a": values.ravel()}]) == values.nbytes
    assert bytes_in(values[:1]) == values.nbytes, "a part keeps the whole in memory"
    assert bytes_in(owned(values[:1])) == 80
    matrix = sp.eye_array(50, format="csr")
    assert bytes_in(matrix) == sum(a.nbytes for a in (matrix.data, matrix.indices, matrix.indptr))
    assert n_parameters_in([matrix, values]) == 1050
    loop = [values]
    loop.append(loop)
    assert bytes_in(loop) == values.nbytes
