"""A path is what separate fits give, from fewer decompositions."""

import inspect
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

import compactlearn.embeddings._encoders
import compactlearn.embeddings._mddm
import compactlearn.linalg._kernel_pair
import compactlearn.linalg._moments_pair
import compactlearn.linalg._rows_pair
import compactlearn.linalg._rowwise_pair
from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    fit_path,
)
from compactlearn.compact import PaperClassifier
from compactlearn.compact._preparation import Preparation
from compactlearn.core import _memory as memory
from compactlearn.linalg._learning import learn, learn_path
from compactlearn.linalg._ridge import RidgePath
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import maker

ALPHAS = [1.0, 0.05, 30.0]
REGIMES = ["moments", "dual", "krylov"]
every_regime = pytest.mark.parametrize("solver", REGIMES)


make_data = maker(40, 8, 6, scale=True, share=0.65)


SHAPES = {"tall": (40, 8, 6), "wide": (14, 22, 6)}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())

SIZED = {
    "PLST": PLST(),
    "CPLST shared": CPLST(),
    "CPLST shared, no offset": CPLST(offset="none"),
    "CPLST fixed": CPLST(ridge=0.4),
    "DMLR": DMLR(),
    "DMLR no offset": DMLR(offset="none"),
    "FaIE shared": FaIE(),
    "FaIE fixed": FaIE(ridge=0.4),
    "FaIE fixed, no offset": FaIE(ridge=0.4, offset="none"),
    "CMLL auto": CMLL(),
    "CMLL of one balance": CMLL(beta=0.3, offset="none", label_ridge=0.5),
    "CMLL features kept": CMLL(None),
    "CMLL d < m": CMLL(2),
    "CMLL d between the sizes": CMLL(3),
    "CMLL completed by variance": CMLL(7, completion="variance"),
    "CMLL completed at random": CMLL(7, completion="random", random_state=3),
    "CMLL without a balance": CMLL(beta=0.0),
}
UNSIZED = {
    "MDDM": MDDM(3),
    "MDDM subspace": MDDM(3, variant="subspace", mixing=0.3),
    "MDDM completed": MDDM(7, completion="variance"),
    "CMLL labels kept": CMLL(3, None),
    "CMLL both kept": CMLL(None, None),
}
every_sized = pytest.mark.parametrize("embedding", SIZED.values(), ids=SIZED.keys())
every_unsized = pytest.mark.parametrize("embedding", UNSIZED.values(), ids=UNSIZED.keys())


def resized(classifier, size, alpha):
    """The same classifier with the two parameters of a step of the path."""
    model = clone(classifier).set_params(alpha=alpha)
    if isinstance(model.threshold, str):
        model.set_params(threshold=0.5)  # what a path means by "auto"
    if size is None:
        return model
    if "n_label_components" in model.get_params(deep=False):
        return model.set_params(n_label_components=size)
    if model.embedding is None:
        return model.set_params(embedding=CMLL(n_label_components=size))
    return model.set_params(embedding__n_label_components=size)


def assert_alike(actual, expected, path, atol):
    """Everything that one object holds, in the other, private parts included."""
    assert type(actual) is type(expected), path
    if sp.issparse(expected):
        actual, expected = actual.toarray(), expected.toarray()
    if isinstance(expected, np.ndarray) and expected.dtype.kind == "f":
        assert actual.shape == expected.shape, path
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=atol * scale, err_msg=path)
    elif isinstance(expected, float):
        np.testing.assert_allclose(actual, expected, rtol=atol, atol=atol, err_msg=path)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(actual, expected, err_msg=path)
    elif type(expected).__module__.startswith("compactlearn"):
        slots = getattr(type(expected), "__slots__", ())
        names = {*getattr(expected, "__dict__", {}), *slots}
        assert names == {*getattr(actual, "__dict__", {}), *slots}, path
        for name in sorted(names - {"__weakref__"}):
            mine, theirs = getattr(actual, name, None), getattr(expected, name, None)
            assert_alike(mine, theirs, f"{path}.{name}", atol)
    elif isinstance(expected, tuple | list):
        assert len(actual) == len(expected), path
        for i, (mine, theirs) in enumerate(zip(actual, expected, strict=True)):
            assert_alike(mine, theirs, f"{path}[{i}]", atol)
    elif not callable(expected):
        assert actual == expected, path


def assert_path_is_separate_fits(
    classifier, X, Y, sizes=None, *, alphas=ALPHAS, weights=None, atol=1e-7, X_new=None
):
    X_new = X[:7] + 0.3 if X_new is None else X_new
    path = fit_path(
        classifier, X, Y, alphas=alphas, n_label_components=sizes, sample_weight=weights
    )
    expected = [(size, alpha) for size in ([None] if sizes is None else sizes) for alpha in alphas]
    models = list(path)
    assert len(models) == len(expected)
    for (size, alpha), model in zip(expected, models, strict=True):
        alone = resized(classifier, size, alpha).fit(X, Y, sample_weight=weights)
        here = f"size {size}, alpha {alpha}"
        np.testing.assert_allclose(
            model.decision_function(X_new),
            alone.decision_function(X_new),
            rtol=0,
            atol=1e-8,
            err_msg=here,
        )
        assert repr(model) == repr(alone)
        assert repr(model.get_params()) == repr(alone.get_params())
        assert repr(model.embedding_.get_params()) == repr(alone.embedding_.get_params())
        assert_alike(model, alone, here, atol)
        np.testing.assert_array_equal(model.predict(X_new), alone.predict(X_new))


# --- equal to separate fits ----------------------------------------------------------------------


@every_sized
@every_regime
@every_shape
def test_every_size_and_penalty(embedding, solver, shape):
    X, Y = make_data(*shape)
    classifier = CompactClassifier(clone(embedding).set_params(solver=solver))
    assert_path_is_separate_fits(classifier, X, Y, [4, 2, 6])


@every_unsized
@every_regime
@every_shape
def test_every_penalty(embedding, solver, shape):
    X, Y = make_data(*shape)
    classifier = CompactClassifier(clone(embedding).set_params(solver=solver))
    assert_path_is_separate_fits(classifier, X, Y)


@every_shape
@pytest.mark.parametrize("weighted", [False, True])
def test_original_spaces(shape, weighted):
    X, Y = make_data(*shape)
    weights = np.arange(len(X)) % 3.0 if weighted else None
    assert_path_is_separate_fits(CompactClassifier(Original()), X, Y, weights=weights)


@every_sized
@every_regime
def test_weights(embedding, solver):
    """Some of them zero: those rows are not there."""
    X, Y = make_data()
    weights = np.random.default_rng(1).uniform(0.2, 2.5, 40)
    weights[::7] = 0
    classifier = CompactClassifier(clone(embedding).set_params(solver=solver))
    assert_path_is_separate_fits(classifier, X, Y, [2, 5], alphas=[1.0, 0.05], weights=weights)


@every_sized
@pytest.mark.parametrize("weighted", [False, True])
def test_exact_kernel(embedding, weighted):
    X, Y = make_data(30, 5, 6)
    weights = np.random.default_rng(1).uniform(0.2, 2.5, 30) if weighted else None
    classifier = CompactClassifier(embedding, feature_map=KernelMap(gamma=0.05))
    assert_path_is_separate_fits(classifier, X, Y, [4, 2, 6], weights=weights, atol=1e-6)


@every_unsized
def test_exact_kernel_where_labels_are_kept(embedding):
    X, Y = make_data(30, 5, 6)
    classifier = CompactClassifier(embedding, feature_map=KernelMap(gamma=0.05))
    assert_path_is_separate_fits(classifier, X, Y, atol=1e-6)


@pytest.mark.parametrize("name", ["PLST", "CPLST shared", "FaIE fixed", "CMLL auto", "CMLL d < m"])
@pytest.mark.parametrize("scale", [False, True])
def test_landmarks(name, scale):
    X, Y = make_data(30, 5, 6)
    mapping = KernelMap(algorithm="nystroem", n_components=9)
    classifier = CompactClassifier(SIZED[name], feature_map=mapping, scale=scale, random_state=4)
    assert_path_is_separate_fits(classifier, X, Y, [4, 2])


@every_sized
@pytest.mark.parametrize("solver", ["moments", "krylov"])
def test_scaled_features(embedding, solver):
    X, Y = make_data()
    X = X * np.logspace(-2, 2, 8)
    classifier = CompactClassifier(clone(embedding).set_params(solver=solver), scale=True)
    weights = np.arange(40) % 4 + 0.5
    assert_path_is_separate_fits(classifier, X, Y, [5, 3], alphas=[1.0, 0.05], weights=weights)


@pytest.mark.parametrize("name", ["PLST", "CPLST shared", "DMLR", "FaIE shared", "CMLL auto"])
def test_sparse_features_and_labels(name):
    X, Y = make_data(30, 24, 6)
    X = sp.csr_array(np.where(np.abs(X) > 1, X, 0))
    embedding = clone(SIZED[name]).set_params(solver="krylov")
    assert_path_is_separate_fits(
        CompactClassifier(embedding), X, sp.csr_array(Y), [3, 5], X_new=X[:6]
    )


def test_frames_keep_their_names():
    X, Y = make_data()
    X = pd.DataFrame(X, columns=[f"f{i}" for i in range(8)])
    Y = pd.DataFrame(Y, columns=list("uvwxyz"))
    assert_path_is_separate_fits(CompactClassifier(PLST()), X, Y, [2, 3])
    model = next(fit_path(CompactClassifier(PLST()), X, Y, alphas=[1.0]))
    assert model.label_names_ == list("uvwxyz")
    assert list(model.embedding_.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes_instead_of_labels(n_classes):
    X, Y = make_data(n_labels=4)
    y = np.array(["a", "b", "c", "d"])[np.argmax(Y[:, :n_classes] + 0.1 * X[:, :n_classes], axis=1)]
    sizes = [1] if n_classes == 2 else [3, 1]
    assert_path_is_separate_fits(CompactClassifier(PLST(), threshold=0.4), X, y, sizes)


# --- sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PLST", "CPLST shared", "FaIE fixed", "CMLL auto"])
@pytest.mark.parametrize(
    "sizes",
    [[3], [1, 6], [0.5, 0.2, 1.0], ["auto"], ["auto", 2, 0.5], [5, 2, 5, 3], [0.25, 0.24, 2]],
    ids=str,
)
def test_every_spelling_of_a_size(name, sizes):
    X, Y = make_data()
    embedding = clone(SIZED[name]).set_params(solver="moments")
    assert_path_is_separate_fits(CompactClassifier(embedding), X, Y, sizes)


def test_the_automatic_size_of_many_labels():
    X, Y = make_data(60, 8, 40)
    models = list(
        fit_path(
            CompactClassifier(PLST()), X, Y, alphas=[1.0], n_label_components=["auto", 30, 0.1]
        )
    )
    assert [model.embedding_.n_label_components_ for model in models] == [20, 30, 4]
    assert [model.embedding.n_label_components for model in models] == ["auto", 30, 0.1]


@every_regime
@pytest.mark.filterwarnings("ignore:.*cut:UserWarning")
@pytest.mark.parametrize("name", ["PLST", "CPLST shared", "DMLR", "CMLL one size"])
def test_more_than_the_rank_is_cut(name, solver):
    """Two labels twice: four directions for six labels; sizes above share the four."""
    X, Y = make_data()
    Y[:, 4:] = Y[:, :2]
    embedding = CMLL(4, beta=0.0) if name.startswith("CMLL") else clone(SIZED[name])
    classifier = CompactClassifier(embedding.set_params(solver=solver))
    assert_path_is_separate_fits(classifier, X, Y, [6, 5, 4, 2])


def test_the_embeddings_own_size_is_the_default():
    X, Y = make_data()
    assert_path_is_separate_fits(CompactClassifier(PLST(3)), X, Y)
    assert_path_is_separate_fits(CompactClassifier(), X, Y)
    assert_path_is_separate_fits(CMLLClassifier(4, 0.5), X, Y)


@pytest.mark.parametrize("classifier", [CompactClassifier(), CMLLClassifier(3)], ids=["any", "own"])
def test_both_classifiers_of_cmll(classifier):
    X, Y = make_data()
    assert_path_is_separate_fits(classifier, X, Y, [2, 5, 3])
    for model in fit_path(classifier, X, Y, alphas=[1.0], n_label_components=[2, 5]):
        assert type(model) is type(classifier)


@pytest.mark.parametrize(
    "alphas",
    [[0.0], [0.0, 1e-12, 1.0], [2, 2], (1,), np.logspace(-2, 2, 3)],
    ids=["none", "tiny", "repeated", "int", "array"],
)
@every_shape
def test_every_spelling_of_the_penalties(alphas, shape):
    """No penalty at all: the solution of least norm."""
    X, Y = make_data(*shape)
    classifier = CompactClassifier(PLST(solver="krylov"))
    assert_path_is_separate_fits(classifier, X, Y, [2, 3], alphas=alphas)


def test_a_seed_of_the_classifier_reaches_the_embedding():
    X, Y = make_data()
    embedding = CMLL(7, completion="random", solver="moments")
    classifier = CompactClassifier(embedding, random_state=11)
    assert_path_is_separate_fits(classifier, X, Y, [2, 4])


def test_a_model_of_a_path_goes_on_like_any_other():
    """partial_fit after it is partial_fit after fit."""
    X, Y = make_data()
    classifier = CompactClassifier(PLST(solver="moments"), scale=True)
    (model,) = fit_path(classifier, X[:30], Y[:30], alphas=[0.3], n_label_components=[3])
    alone = resized(classifier, 3, 0.3).fit(X[:30], Y[:30])
    model.partial_fit(X[30:], Y[30:])
    alone.partial_fit(X[30:], Y[30:])
    assert_alike(model, alone, "continued", 1e-7)


# --- order, laziness, and what is left alone -----------------------------------------------------


def test_sizes_are_outermost():
    X, Y = make_data()
    models = fit_path(
        CompactClassifier(PLST()), X, Y, alphas=[3.0, 0.5, 3.0], n_label_components=[4, 0.5, 4]
    )
    order = [(model.embedding.n_label_components, model.alpha) for model in models]
    assert order == [(size, alpha) for size in (4, 0.5, 4) for alpha in (3.0, 0.5, 3.0)]


@pytest.mark.parametrize("name", ["PLST", "CPLST shared", "FaIE shared", "CMLL d < m"])
def test_what_is_yielded_is_independent(name):
    """Going on, refitting or changing one model changes no other."""
    X, Y = make_data()
    classifier = CompactClassifier(SIZED[name])
    path = fit_path(classifier, X, Y, alphas=[1.0, 2.0], n_label_components=[2, 4])
    first = next(path)
    scores = first.decision_function(X)
    others = list(path)
    np.testing.assert_array_equal(first.decision_function(X), scores)
    kept = [other.decision_function(X) for other in others]
    first.fit(X[:20], Y[:20])
    first.embedding_.decoder_[:] = 0
    for other, before in zip(others, kept, strict=True):
        np.testing.assert_array_equal(other.decision_function(X), before)
    assert len({id(model.embedding_) for model in [first, *others]}) == 4


@pytest.mark.parametrize(
    "classifier",
    [
        CompactClassifier(CPLST(), feature_map=KernelMap(gamma=0.1)),
        CMLLClassifier(3),
        CompactClassifier(),
    ],
    ids=["CPLST", "CMLLClassifier", "default"],
)
def test_the_given_classifier_is_untouched(classifier):
    X, Y = make_data()
    before, parts = repr(classifier.get_params()), dict(vars(classifier))
    inner = [vars(part).copy() for part in parts.values() if hasattr(part, "get_params")]
    copies = X.copy(), Y.copy()
    models = list(fit_path(classifier, X, Y, alphas=[0.5, 2.0], n_label_components=[2, 4]))
    assert repr(classifier.get_params()) == before
    assert all(vars(classifier)[name] is value for name, value in parts.items())
    assert vars(classifier).keys() == parts.keys()
    assert inner == [vars(part) for part in parts.values() if hasattr(part, "get_params")]
    for model in models:
        check_is_fitted(model, "embedding_")
        assert model is not classifier
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])


def test_a_fitted_classifier_keeps_its_fit():
    X, Y = make_data()
    classifier = CompactClassifier(PLST(3)).fit(X, Y)
    scores = classifier.decision_function(X)
    list(fit_path(classifier, X[:25], Y[:25], alphas=[9.0], n_label_components=[1]))
    np.testing.assert_array_equal(classifier.decision_function(X), scores)
    assert classifier.alpha == 1.0


@pytest.fixture
def counted(monkeypatch):
    """How often the data are held, eigenproblems solved and Gram matrices decomposed."""
    counts = Counter()

    def count(owner, name, label):
        original = getattr(owner, name)

        def call(*args, **kwargs):
            counts[label] += 1
            return original(*args, **kwargs)

        wrapped = staticmethod(call) if inspect.isclass(owner) and name == "from_gram" else call
        monkeypatch.setattr(owner, name, wrapped)

    for module in (
        compactlearn.embeddings._encoders,
        compactlearn.embeddings._mddm,
        compactlearn.linalg._kernel_pair,
        compactlearn.linalg._moments_pair,
        compactlearn.linalg._rowwise_pair,
        compactlearn.linalg._rows_pair,
    ):
        count(module, "leading_eigenpairs", "eigenproblems")
    count(RidgePath, "from_gram", "ridges")
    count(Preparation, "fit", "held")
    return counts


def test_nothing_is_done_before_it_is_asked_for(counted):
    X, Y = make_data()
    path = fit_path(CompactClassifier(CPLST()), X, Y, alphas=[1.0, 2.0], n_label_components=[2, 3])
    assert not counted
    next(path)
    assert counted["held"] == 1
    assert counted["eigenproblems"] == 1
    next(path)
    assert counted["eigenproblems"] == 2  # the second shared ridge
    list(path)
    assert counted["held"] == 1
    assert counted["eigenproblems"] == 2
    with pytest.raises(StopIteration):
        next(path)


NESTED = ["PLST", "CPLST fixed", "DMLR", "FaIE fixed", "CMLL features kept", "CMLL auto"]


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("solver", [*REGIMES, "kernel"])
def test_nested_codes_come_from_one_eigenproblem(name, solver, counted):
    X, Y = make_data(40, 30, 6)
    embedding = clone(SIZED[name])
    kernel = KernelMap(gamma=0.02) if solver == "kernel" else None
    if kernel is None:
        embedding.set_params(solver=solver)
    if name == "CMLL auto":
        embedding.set_params(n_feature_components=6)  # "auto" asks for principal directions
    classifier = CompactClassifier(embedding, feature_map=kernel)
    sizes = [3, 1, 5, 2]
    models = list(fit_path(classifier, X, Y, alphas=[0.1, 1.0, 10.0], n_label_components=sizes))
    assert len(models) == 12
    assert counted["held"] == 1
    assert counted["eigenproblems"] == 1
    if name in ("PLST", "DMLR", "CMLL features kept") or (name, solver) == (
        "FaIE fixed",
        "moments",
    ):
        assert counted["ridges"] == 1
    elif name == "CMLL auto":
        assert counted["ridges"] == len(sizes)  # each has a projection of its own
    else:
        assert counted["ridges"] <= 2  # of the hat matrix, and of the learner


@pytest.mark.parametrize("name", ["CPLST shared", "FaIE shared"])
def test_a_shared_ridge_is_one_eigenproblem_each(name, counted):
    X, Y = make_data()
    embedding = clone(SIZED[name]).set_params(solver="krylov")
    path = fit_path(
        CompactClassifier(embedding), X, Y, alphas=[0.1, 1.0, 0.1], n_label_components=[2, 4, 3]
    )
    assert len(list(path)) == 9
    assert counted["eigenproblems"] == 2
    assert counted["held"] == 1


@every_unsized
def test_penalties_alone_need_one_decomposition_of_the_learner(embedding, counted):
    X, Y = make_data()
    classifier = CompactClassifier(clone(embedding).set_params(solver="krylov"))
    before = list(fit_path(classifier, X, Y, alphas=[1.0]))
    alone = Counter(counted)
    counted.clear()
    models = list(fit_path(classifier, X, Y, alphas=[1.0, 2.0, 3.0, 4.0]))
    assert len(before) == 1
    assert len(models) == 4
    assert counted == alone


# --- what is refused -----------------------------------------------------------------------------


def refusal(classifier, sizes=None, alphas=(1.0,), error=ValueError, match=""):
    """Refused by the call itself, before anything is fitted or asked for."""
    X, Y = make_data()
    with pytest.raises(error, match=match) as caught:
        fit_path(classifier, X, Y, alphas=alphas, n_label_components=sizes)
    text = str(caught.value)
    assert len(text.split()) >= 8, f"not a sentence: {text}"
    assert text.endswith(".") or "Did you mean" in text
    return text


@pytest.mark.parametrize(
    "alphas",
    [[], [-1.0], [1.0, float("nan")], [1.0, float("inf")], [None], ["1"], [True], np.array([])],
    ids=str,
)
def test_bad_penalties(alphas):
    text = refusal(CompactClassifier(PLST()), alphas=alphas, match="alphas must hold")
    assert "[0.1, 1, 10]" in text


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (CompactClassifier(PLST(), regressor=Ridge()), r"regressor=Ridge\(\)"),
        (PaperClassifier(PLST()), "bias='none'"),
    ],
    ids=["regressor", "none"],
)
def test_only_the_built_in_ridge_with_a_free_intercept(model, word):
    text = refusal(model, match=word)
    assert "regressor=None" in text
    assert "bias='free'" in text


@pytest.mark.parametrize("embedding", [MDDM(), Original()], ids=["MDDM", "Original"])
def test_methods_without_label_components(embedding):
    text = refusal(CompactClassifier(embedding), [2, 3], match="keeps the labels as they are")
    assert type(embedding).__name__ in text
    assert "[2, 3]" in text


@pytest.mark.parametrize("size", [0, -1, 1.5, 0.0, True, "all", float("nan")], ids=str)
@pytest.mark.parametrize(
    "classifier", [CompactClassifier(PLST()), CMLLClassifier()], ids=["PLST", "CMLL"]
)
def test_bad_sizes(classifier, size):
    text = refusal(classifier, [2, size], match="n_label_components")
    assert str(size) in text


def test_a_misspelt_size_gets_a_suggestion():
    assert "'auto'" in refusal(CompactClassifier(PLST()), ["atuo"], match="atuo")


def test_bad_parameters_of_the_classifier_are_refused_by_the_call():
    refusal(CompactClassifier(PLST(), alpha=-1.0), match="alpha")
    refusal(CompactClassifier(CPLST(offset="men")), match="'mean'")
    refusal(CompactClassifier(Ridge()), match="embedding must be")


@pytest.mark.parametrize("name", ["PLST", "FaIE shared", "CMLL auto"])
def test_a_size_above_the_labels_names_the_bound(name):
    """Known only when the labels are read, at the first step."""
    X, Y = make_data()
    path = fit_path(CompactClassifier(SIZED[name]), X, Y, alphas=[1.0], n_label_components=[2, 7])
    with pytest.raises(ValueError, match=r"n_label_components=7 asks for more .* labels \(6\)"):
        next(path)


@pytest.mark.parametrize("sizes", [None, [2]], ids=["own", "given"])
def test_bad_data_are_refused_as_in_fit(sizes):
    X, Y = make_data()
    classifier = CompactClassifier(PLST())
    for bad_X, bad_Y, word in [(X, Y + 1, "0 or 1"), (X[:9], Y, "9"), (X * np.nan, Y, "(?i)nan")]:
        with pytest.raises(ValueError, match=word):
            next(fit_path(classifier, bad_X, bad_Y, alphas=[1.0], n_label_components=sizes))


def test_names_and_defaults_of_the_arguments():
    parameters = inspect.signature(fit_path).parameters
    assert list(parameters) == [
        "classifier",
        "X",
        "y",
        "alphas",
        "n_label_components",
        "sample_weight",
        "sep",
    ]
    keyword_only = [n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
    assert keyword_only == ["alphas", "n_label_components", "sample_weight", "sep"]
    assert parameters["n_label_components"].default is None
    assert parameters["sample_weight"].default is None


# --- once wrong ---------------------------------------------------------------------------------


def test_one_component_is_not_the_ratio_one():
    X, Y = make_data()
    path = fit_path(CompactClassifier(PLST()), X, Y, alphas=[1.0], n_label_components=[1, 1.0])
    assert [model.embedding_.n_label_components_ for model in path] == [1, 6]


def test_lists_are_accepted_as_in_fit():
    X, Y = make_data()
    args = X.tolist(), Y.tolist()
    CompactClassifier(PLST()).fit(*args)
    next(fit_path(CompactClassifier(PLST()), *args, alphas=[1.0], n_label_components=[2]))


def test_sizes_may_be_an_array():
    X, Y = make_data()
    sizes = np.array([2, 3])
    path = fit_path(CompactClassifier(PLST()), X, Y, alphas=[1.0], n_label_components=sizes)
    assert [model.embedding_.n_label_components_ for model in path] == [2, 3]


def test_no_size_at_all_is_refused_by_the_call():
    X, Y = make_data()
    with pytest.raises(ValueError, match="n_label_components"):
        fit_path(CompactClassifier(PLST()), X, Y, alphas=[1.0], n_label_components=[])


def test_none_among_the_sizes_is_refused_by_the_call():
    """CMLL's own n_label_components may be None (labels kept), so its check lets it pass."""
    X, Y = make_data()
    with pytest.raises(ValueError, match="n_label_components"):
        list(fit_path(CompactClassifier(CMLL()), X, Y, alphas=[1.0], n_label_components=[2, None]))


def test_a_single_penalty_is_refused_in_a_sentence():
    X, Y = make_data()
    with pytest.raises(ValueError, match="alphas must hold"):
        fit_path(CompactClassifier(PLST()), X, Y, alphas=1.0)


@pytest.mark.filterwarnings("ignore:.*cut:UserWarning")
@pytest.mark.parametrize("completion", ["none", "variance"])
def test_sizes_between_the_rank_and_the_largest(completion):
    """Four label directions exist; d = "auto" depends on the m that was asked for."""
    X, Y = make_data()
    Y[:, 4:] = Y[:, :2]
    embedding = CMLL(beta=0.0, completion=completion)
    path = fit_path(CompactClassifier(embedding), X, Y, alphas=[1.0], n_label_components=[6, 5, 4])
    for model in path:
        m = model.embedding.n_label_components
        alone = CompactClassifier(CMLL(beta=0.0, completion=completion, n_label_components=m))
        alone.fit(X, Y)
        assert model.embedding_.n_feature_components_ == alone.embedding_.n_feature_components_
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))


def test_parts_of_faie_without_a_balance():
    X, Y = make_data()
    embedding = FaIE(beta=0.0, ridge=0.4)
    for model in fit_path(
        CompactClassifier(embedding), X, Y, alphas=[1.0], n_label_components=[4, 2]
    ):
        assert hasattr(model.embedding_, "dependence_"), model.embedding


def test_models_of_a_path_do_not_share_their_parameters():
    """copy(model) is shallow: nested set_params on one model reaches all the others."""
    X, Y = make_data()
    models = fit_path(
        CompactClassifier(PLST(3), feature_map=KernelMap(gamma=0.1)), X, Y, alphas=[1.0, 2.0]
    )
    one, two = models
    one.set_params(embedding__n_label_components=1, feature_map__gamma=9.0)
    assert two.embedding.n_label_components == 3
    assert two.feature_map.gamma == 0.1


def test_a_path_announces_the_matrix_it_forms(monkeypatch):
    """Where a fit takes conjugate gradients, a path needs the kernel of order N: not unasked."""
    monkeypatch.setattr("compactlearn.linalg._rows_pair.GRAM_LIMIT", 2)
    monkeypatch.setattr("compactlearn.linalg._rows_ridge.GRAM_LIMIT", 2)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    X, Y = make_data()
    pair = RowsPair(sp.csr_array(X), sp.csr_array(Y))
    codes = pair.right_codes()
    learn(pair, None, codes, 1.0)
    with pytest.raises(MemoryError, match="path of penalties"):
        learn_path(pair, None, codes)


@pytest.mark.parametrize("given", [PLST(), Ridge(), "CPLST"], ids=["embedding", "learner", "name"])
def test_only_a_classifier_of_ours_has_a_path(given):
    X, Y = make_data()
    with pytest.raises(
        TypeError, match=r"needs a CompactClassifier .* was given .*put an embedding"
    ):
        fit_path(given, X, Y, alphas=[1.0])
