"""Signs, sizes, warnings and seeds of the comparison methods, alone and inside a classifier."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import Ridge

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, CompactClassifier, FaIE, KernelMap, Original
from tests.makers import maker

ROUTES = ["moments", "dual", "krylov"]
every_route = pytest.mark.parametrize("solver", ROUTES)
ENCODERS = {"PLST": PLST(3), "CPLST": CPLST(3), "DMLR": DMLR(3)}
every_encoder = pytest.mark.parametrize("embedding", ENCODERS.values(), ids=ENCODERS.keys())
METHODS = {**ENCODERS, "FaIE": FaIE(3), "MDDM": MDDM(3), "Original": Original(), "CMLL": CMLL(3, 3)}
every_method = pytest.mark.parametrize("embedding", METHODS.values(), ids=METHODS.keys())


make_data = maker(36, 8, 6)


def peaks(rows):
    """The entry of largest magnitude of each row."""
    rows = np.asarray(rows)
    return rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]


# --- one answer, not one up to its sign ----------------------------------------------------------


@every_method
@every_route
@pytest.mark.parametrize("seed", range(4))
def test_the_largest_entry_is_positive(embedding, solver, seed):
    """Check directions of labels, decoded codes, and the dependence of directions of features."""
    X, Y = make_data(seed=seed)
    if isinstance(embedding, Original):
        return
    model = clone(embedding).set_params(solver=solver).fit(X, Y)
    rows = model.decoder_
    if isinstance(embedding, MDDM):
        rows = model.projection_.T @ (X - X.mean(axis=0)).T @ Y
    assert (peaks(rows) > 0).all()


# --- sizes and what is said about them -----------------------------------------------------------


@every_route
def test_no_more_conditional_directions_than_features(solver):
    X, Y = make_data(n_features=2)
    with pytest.warns(UserWarning, match="cut to 2"):
        model = CPLST(5, solver=solver).fit(X, Y)
    assert model.n_label_components_ == 2


@pytest.mark.parametrize(("ratio", "expected"), [(0.5, 4), (0.3, 2), (0.01, 1)])
def test_a_ratio_means_the_users_features_behind_a_kernel(ratio, expected):
    """floor(ratio D + 1/2) of D = 8, although an exact kernel has one direction per row."""
    X, Y = make_data()
    for kernel in (KernelMap(), KernelMap(n_components=20), KernelMap(algorithm="nystroem")):
        for embedding in (MDDM(ratio), CMLL(ratio, 6, beta=0.1)):
            model = CompactClassifier(embedding, feature_map=kernel, random_state=0).fit(X, Y)
            assert model.embedding_.n_feature_components_ == expected


def test_a_ratio_is_bounded_by_the_rows_behind_a_kernel():
    X, Y = make_data(6, 20)
    embedding = MDDM(1.0, completion="krylov")
    model = CompactClassifier(embedding, feature_map=KernelMap()).fit(X, Y)
    assert model.embedding_.n_feature_components_ <= 6
    with pytest.raises(ValueError, match=r"n_feature_components=7 .* \(6\)"):
        CompactClassifier(MDDM(7), feature_map=KernelMap()).fit(X, Y)


# --- seeds ---------------------------------------------------------------------------------------


def test_the_classifiers_seed_reaches_an_embedding_without_one():
    embedding = CMLL()
    model = CompactClassifier(embedding, random_state=1).fit(*make_data())
    assert model.embedding_.random_state == 1
    assert embedding.random_state is None


def test_the_classifiers_seed_reaches_a_map_without_one():
    X, Y = make_data()
    kernel = KernelMap(algorithm="nystroem", n_components=5)
    one, same, other = (
        CompactClassifier(PLST(3), feature_map=kernel, random_state=s).fit(X, Y).feature_map_
        for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.landmarks_, same.landmarks_)
    assert np.abs(one.landmarks_ - other.landmarks_).max() > 1e-3
    np.testing.assert_array_equal(
        one.landmarks_, clone(kernel).set_params(random_state=1).fit(X).landmarks_
    )
    own = clone(kernel).set_params(random_state=7)
    model = CompactClassifier(PLST(3), feature_map=own, random_state=1).fit(X, Y)
    assert model.feature_map_.random_state == 7


# --- through the kernel matrix, or around it -----------------------------------------------------


def by_hand(embedding, kernel, X, Y, X_new, **options):
    """The same on features computed beforehand."""
    features = clone(kernel).fit(X)
    model = CompactClassifier(embedding, **options).fit(features.transform(X), Y)
    return model.decision_function(features.transform(X_new))


@every_method
@pytest.mark.parametrize("route", ["matrix", "scale", "few components", "nystroem", "regressor"])
def test_a_kernel_map_is_its_features(embedding, route):
    """On every route scores equal those of the linear method on the kernel's features."""
    X, Y = make_data()
    X_new = make_data(9, seed=1)[0]
    kernel = KernelMap(gamma=0.05, random_state=0)
    options = {}
    if route == "scale":
        options["scale"] = True
    elif route == "few components":
        kernel.set_params(n_components=9)
    elif route == "nystroem":
        kernel.set_params(algorithm="nystroem", n_components=12)
    elif route == "regressor":
        options["regressor"] = Ridge(alpha=0.3, solver="svd")
    model = CompactClassifier(embedding, feature_map=kernel, alpha=0.3, **options).fit(X, Y)
    expected = by_hand(embedding, kernel, X, Y, X_new, alpha=0.3, **options)
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-6)
    through = route == "matrix" or (route == "regressor" and not keeps_features(embedding))
    assert model.embedding_.solver_.endswith("-kernel") == through


def keeps_features(embedding):
    return not isinstance(embedding, MDDM | CMLL)


@every_method
@pytest.mark.parametrize("scale", [False, True])
def test_weights_are_repeated_rows_behind_a_kernel(embedding, scale):
    """In the kernel's width too."""
    X, Y = make_data(20)
    X_new = make_data(9, seed=1)[0]
    weights = np.random.default_rng(2).integers(0, 4, 20)
    model = CompactClassifier(embedding, feature_map=KernelMap(), scale=scale, alpha=0.3)
    weighted = clone(model).fit(X, Y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_allclose(weighted.feature_map_.gamma_, repeated.feature_map_.gamma_)
    if not scale:  # otherwise the axes that are scaled are a matter of the factorisation
        np.testing.assert_allclose(
            weighted.decision_function(X_new), repeated.decision_function(X_new), atol=1e-6
        )


# --- foreign regressors --------------------------------------------------------------------------


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps what it is given, and answers with the target of the nearest row."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weights_ = np.array(X), np.array(y), sample_weight
        return self

    def predict(self, X):
        return self.y_[[int(np.argmin(np.sum((self.X_ - row) ** 2, axis=1))) for row in X]]


@every_method
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors_see_targets_as_far_apart_as_labels_are(embedding, weighted):
    X, Y = make_data()
    weights = np.random.default_rng(2).uniform(0.2, 3, 36) if weighted else None
    model = CompactClassifier(embedding, regressor=Recorder()).fit(X, Y, sample_weight=weights)
    seen = model.regressor_.y_
    square = np.average(np.mean(seen**2, axis=1), weights=weights)
    np.testing.assert_allclose(square, 1, rtol=1e-9)
    built_in = CompactClassifier(embedding, alpha=0.0).fit(X, Y, sample_weight=weights)
    if model.embedding_.projection_ is not None:
        np.testing.assert_allclose(
            model.regressor_.X_, X @ built_in.embedding_.projection_, atol=1e-8
        )
    # Turned back: every row's own code is the answer for it. Two rows' targets are as far apart as
    # their codes are when decoded, but for one factor.
    codes = model.predict_codes(X)
    decoded = codes @ model.embedding_.decoder_
    energy = np.average(np.sum(decoded**2, axis=1), weights=weights)
    factor = np.sqrt(seen.shape[1] / energy)
    np.testing.assert_allclose(pdist(seen), factor * pdist(decoded), atol=1e-6)
    if isinstance(embedding, PLST | CPLST | DMLR):
        labels = Y if isinstance(embedding, DMLR) else Y - np.average(Y, axis=0, weights=weights)
        expected = labels @ model.embedding_.decoder_.T
        np.testing.assert_allclose(codes, expected, atol=1e-9)


@every_method
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [None, KernelMap(gamma=0.05)], ids=["linear", "kernel"])
def test_a_foreign_ridge_is_the_built_in_one(embedding, weighted, kernel):
    X, Y = make_data()
    X_new = make_data(9, seed=1)[0]
    weights = np.random.default_rng(2).uniform(0.2, 3, 36) if weighted else None
    if "ridge" in embedding.get_params():
        embedding = clone(embedding).set_params(ridge=0.4)
    scores = [
        CompactClassifier(embedding, feature_map=kernel, alpha=0.4, regressor=regressor)
        .fit(X, Y, sample_weight=weights)
        .decision_function(X_new)
        for regressor in (None, Ridge(alpha=0.4, solver="svd"))
    ]
    np.testing.assert_allclose(*scores, atol=1e-7)


@every_route
def test_a_learner_gets_one_feature_rather_than_none(solver):
    """Constant features have no direction of dependence; any regressor still gets a column."""
    X, Y = make_data()
    X = np.full_like(X, 0.5)
    model = MDDM(3, solver=solver).fit(X, Y)
    assert model.projection_.shape == (8, 1)
    assert model.eigenvalues_.size == 0
    foreign = CompactClassifier(model, regressor=Ridge()).fit(X, Y)
    np.testing.assert_allclose(foreign.decision_function(X), np.tile(Y.mean(axis=0), (36, 1)))
