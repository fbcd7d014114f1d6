"""Names, defaults and fitted attributes that users rely on."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

import compactlearn
from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    method,
)
from compactlearn.compact import PaperClassifier
from tests.makers import make_data

CLASSIFIER_DEFAULTS = {
    "feature_map": None,
    "scale": False,
    "regressor": None,
    "alpha": 1.0,
    "decoder": "linear",
    "threshold": "auto",
    "n_jobs": None,
    "random_state": None,
}
METHOD_DEFAULTS = {
    CMLL: {
        "n_feature_components": "auto",
        "n_label_components": "auto",
        "beta": "auto",
        "label_ridge": 0.0,
        "offset": "mean",
        "solver": "auto",
        "completion": "none",
        "max_iter": 50,
        "tol": 1e-5,
        "random_state": None,
    },
    Original: {},
    PLST: {"n_label_components": "auto", "offset": "mean", "solver": "auto"},
    CPLST: {
        "n_label_components": "auto",
        "ridge": "shared",
        "offset": "mean",
        "solver": "auto",
    },
    DMLR: {
        "n_label_components": "auto",
        "beta": "auto",
        "offset": "mean",
        "solver": "auto",
    },
    FaIE: {
        "n_label_components": "auto",
        "beta": "auto",
        "ridge": "shared",
        "offset": "mean",
        "solver": "auto",
    },
    MDDM: {
        "n_feature_components": "auto",
        "completion": "none",
        "solver": "auto",
    },
    KernelMap: {
        "kernel": "rbf",
        "gamma": "distance",
        "n_components": None,
        "algorithm": "exact",
        "degree": 3,
        "coef0": 1.0,
        "random_state": None,
    },
}
METHODS = {"PLST": PLST, "CPLST": CPLST, "DMLR": DMLR, "FaIE": FaIE, "MDDM": MDDM}
every_method = pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
EMBEDDING_ATTRIBUTES = [
    "projection_",
    "decoder_",
    "offset_",
    "codes_",
    "beta_",
    "objective_",
    "dependence_",
    "recovery_",
    "objective_path_",
    "n_iter_",
    "n_feature_components_",
    "n_label_components_",
    "solver_",
    "n_features_in_",
]
CLASSIFIER_ATTRIBUTES = [
    "embedding_",
    "regressor_",
    "threshold_",
    "classes_",
    "n_features_in_",
    "n_labels_",
    "coef_",
    "intercept_",
]
ESTIMATORS = [
    CMLLClassifier(),
    CompactClassifier(),
    CompactClassifier(Original()),
    CompactClassifier(CMLL(n_feature_components=None), regressor=Ridge()),
    CMLL(),
    Original(),
    *(cls() for cls in METHODS.values()),
    *(CompactClassifier(cls()) for cls in METHODS.values()),
    PaperClassifier(CPLST(3, offset="none"), feature_map=KernelMap(gamma=0.1)),
    CompactClassifier(FaIE(3, offset="none"), regressor=Ridge(), scale=True),
    MDDM(0.9, completion="krylov"),
]


def defaults(cls):
    parameters = inspect.signature(cls).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def answer(estimator, X):
    method = getattr(estimator, "decision_function", None) or estimator.transform
    return np.asarray(method(X))


def test_signature_of_the_classifier():
    actual = defaults(CompactClassifier)
    assert next(iter(actual)) == "embedding"
    assert {"embedding": None, **CLASSIFIER_DEFAULTS}.items() <= actual.items()
    kinds = {n: p.kind for n, p in inspect.signature(CompactClassifier).parameters.items()}
    assert kinds.pop("embedding") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}


def test_short_spelling_has_parameters_of_both():
    both = {**defaults(CMLL), **defaults(CompactClassifier)}
    assert defaults(CMLLClassifier).items() <= both.items()


@pytest.mark.parametrize(
    "cls",
    [
        *(AutoCompactClassifier, CMLLClassifier, CMLLClassifierCV, CompactClassifier),
        *(KernelMap, PaperClassifier, ShortlistClassifier, ThresholdTuner),
    ],
)
def test_supported_estimators_have_few_parameters(cls):
    assert len(defaults(cls)) <= 15


@pytest.mark.parametrize(
    ("cls", "expected"), METHOD_DEFAULTS.items(), ids=[cls.__name__ for cls in METHOD_DEFAULTS]
)
def test_signatures_of_the_methods(cls, expected):
    """Parameters may be added, never renamed, reordered or given another default."""
    actual = defaults(cls)
    assert expected.items() <= actual.items()
    assert [name for name in actual if name in expected] == list(expected)
    assert cls().get_params() == actual


def test_signature_of_method():
    parameters = inspect.signature(method).parameters
    assert list(parameters) == ["name", "protocol", "params"]
    assert parameters["protocol"].default == "paper"
    assert parameters["protocol"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["params"].kind is inspect.Parameter.VAR_KEYWORD


PUBLIC = [
    *("CMLL", "CPLST", "DMLR", "FaIE", "MDDM", "PLST", "Original"),
    *("CompactClassifier", "CMLLClassifier", "CMLLClassifierCV", "POPClassifier"),
    "C2AEClassifier",
    *("KernelMap", "Moments", "evaluate", "method"),
    *("predict_labels", "predict_topk"),
    "text_classifier",
    *("AutoCompactClassifier", "ShortlistClassifier", "ThresholdTuner"),
    *("explain", "label_neighbours"),
    *("save_model", "load_model", "ModelFileError"),
    "to_onnx",
]


def test_every_public_name_is_known_here():
    assert sorted(compactlearn.__all__) == sorted([*PUBLIC, "METHODS", "__version__"])
    assert len(set(compactlearn.__all__)) == len(compactlearn.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name):
    assert name in compactlearn.__all__
    assert getattr(compactlearn, name).__doc__
    assert isinstance(compactlearn.__version__, str)


@pytest.mark.parametrize("d", ["auto", 2, None])
def test_fitted_names_of_the_embedding(d):
    X, Y = make_data()
    model = CMLL(n_feature_components=d, n_label_components=3).fit(X, Y)
    missing = [name for name in EMBEDDING_ATTRIBUTES if not hasattr(model, name)]
    assert not missing
    assert model.codes_.shape == (40, 3)
    assert model.decoder_.shape == (3, 5)
    assert model.offset_.shape == (5,)
    assert isinstance(model.solver_, str)
    assert model.n_label_components_ == 3
    assert np.ndim(model.objective_path_) == 1
    if d is None:
        assert model.projection_ is None
    else:
        assert model.projection_.shape == (7, model.n_feature_components_)


def test_fitted_names_of_the_original_spaces():
    X, Y = make_data()
    model = Original().fit(X, Y)
    for name in ("projection_", "decoder_", "offset_", "n_features_in_"):
        assert hasattr(model, name), name
    assert model.projection_ is None


@every_method
def test_fitted_names_of_the_other_methods(cls):
    X, Y = make_data()
    size = "n_feature_components" if cls is MDDM else "n_label_components"
    model = cls(**{size: 3}).fit(X, Y)
    absent = {
        PLST: {"beta_", "dependence_", "recovery_"},
        CPLST: {"beta_", "dependence_", "recovery_"},
        DMLR: set(),
        FaIE: set(),
        MDDM: {"beta_", "recovery_"},
    }[cls]
    names = {*EMBEDDING_ATTRIBUTES, "eigenvalues_"}
    assert {name for name in names if not hasattr(model, name)} == absent
    assert hasattr(model, "ridge_") == (cls in (CPLST, FaIE))
    assert model.eigenvalues_.shape == (3,)
    assert model.objective_path_.shape == (1,)
    assert model.n_iter_ == 1
    assert model.offset_.shape == (5,)
    if cls is MDDM:
        assert model.projection_.shape == (7, 3)
        assert model.decoder_.shape == (5, 5)
        assert model.n_label_components_ == 5
    else:
        assert model.projection_ is None
        assert model.decoder_.shape == (3, 5)
        assert model.codes_.shape == (40, 3)
        assert model.n_feature_components_ == 7


@pytest.mark.parametrize("shape", [(40, 7), (12, 20)], ids=["tall", "wide"])
def test_coefficients_of_an_exact_kernel_are_one_per_row(shape):
    """projection_ is then R (N, d)."""
    X, Y = make_data(*shape)
    for embedding in (MDDM(3), CMLL(3, 3)):
        model = CompactClassifier(embedding, feature_map=KernelMap()).fit(X, Y)
        assert model.embedding_.projection_.shape == (shape[0], 3)
        assert model.n_features_in_ == shape[1]


@pytest.mark.parametrize(
    "embedding",
    [
        None,
        Original(),
        CMLL(n_feature_components=None),
        *(cls() for cls in METHODS.values()),
    ],
    ids=str,
)
def test_fitted_names_of_the_classifier(embedding):
    X, Y = make_data()
    model = CompactClassifier(embedding).fit(X, Y)
    missing = [name for name in CLASSIFIER_ATTRIBUTES if not hasattr(model, name)]
    assert not missing
    np.testing.assert_array_equal(model.classes_, np.arange(5))
    assert model.n_labels_ == 5
    assert model.n_features_in_ == 7


@pytest.mark.parametrize("regressor", [None, Ridge()])
@pytest.mark.parametrize(
    "embedding", [CMLL(), Original(), *(cls() for cls in METHODS.values())], ids=str
)
def test_classifier_stores_no_codes(embedding, regressor):
    X, Y = make_data()
    model = CompactClassifier(embedding, regressor=regressor).fit(X, Y)
    assert model.embedding_.codes_ is None


@pytest.mark.parametrize("cls", [CMLL, *METHODS.values()])
@pytest.mark.parametrize("solver", ["auto", "dual", "krylov"])
def test_pickled_methods_do_not_grow_with_the_rows(cls, solver):
    small, large = (
        CompactClassifier(cls(solver=solver)).fit(*make_data(rows)) for rows in (40, 1200)
    )
    assert len(pickle.dumps(large)) < len(pickle.dumps(small)) + 2000


@pytest.mark.parametrize(
    "cls",
    [
        CMLL,
        Original,
        *METHODS.values(),
        CompactClassifier,
        CMLLClassifier,
        KernelMap,
        POPClassifier,
        ShortlistClassifier,
        AutoCompactClassifier,
        C2AEClassifier,
    ],
)
def test_documented_attributes_are_the_fitted_ones(cls):
    """Both ways: nothing promised that is absent, nothing learnt that is not explained."""
    X, Y = make_data()
    X = pd.DataFrame(X, columns=[f"f{i}" for i in range(7)])
    Y = pd.DataFrame(Y, columns=[f"l{i}" for i in range(5)])
    fitted = [cls().fit(X, Y)]
    if issubclass(cls, CompactClassifier):  # some attributes exist only with their parameter
        fitted += [cls(scale=True).fit(X, Y), cls(feature_map=StandardScaler()).fit(X, Y)]
        fitted += [cls(decoder="logistic").fit(X, Y), cls().fit_blocks([(X, Y)])]
    if cls is CompactClassifier:
        fitted += [cls(label_noise=(0.01, 0.01)).fit(X, Y)]
    if hasattr(cls, "compress"):
        fitted += [fitted[0].compress()]
    section = re.search(
        r"\n\s*Attributes\n\s*-+\n(.*?)(\n\s*\w[\w ]*\n\s*-{3,}\n|\Z)",
        inspect.getdoc(cls),
        re.DOTALL,
    )
    assert section, "the docstring has no Attributes section"
    heads = re.findall(r"^(\S[^:\n]*?)\s*(?::.*)?$", section.group(1), re.MULTILINE)
    documented = {re.sub(r"\s*\(.*\)", "", name).strip() for h in heads for name in h.split(",")}
    if cls is MDDM:  # three short ones on one line
        documented |= set(re.findall(r"\b\w+_(?= :)", section.group(1)))
    learnt = {
        name
        for model in fitted
        for name in vars(model)
        if name.endswith("_") and not name.startswith("_")
    }
    absent = {name for name in documented if not any(hasattr(model, name) for model in fitted)}
    assert absent == set()
    assert learnt - documented == set()


def test_nested_parameters_reach_the_embedding():
    model = CompactClassifier(CMLL()).set_params(embedding__n_label_components=2, alpha=3.0)
    assert model.get_params()["embedding__n_label_components"] == 2
    X, Y = make_data()
    assert model.fit(X, Y).embedding_.n_label_components_ == 2
    assert model.embedding is not model.embedding_
    assert not hasattr(model.embedding, "decoder_")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_refit_forgets(estimator):
    first, second = make_data(40, 7, 5, seed=1), make_data(30, 4, 3, seed=2)
    named = (
        pd.DataFrame(first[0], columns=list("abcdefg")),
        pd.DataFrame(first[1], columns=list("vwxyz")),
    )
    model = clone(estimator).fit(*named).fit(*second)
    fresh = clone(estimator).fit(*second)
    np.testing.assert_array_equal(answer(model, second[0]), answer(fresh, second[0]))
    assert vars(model).keys() == vars(fresh).keys()
    assert model.n_features_in_ == 4


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_feature_components": 2, "n_label_components": 4},
        {"n_feature_components": 6, "n_label_components": 2, "solver": "randomized"},
        {"solver": "krylov", "n_label_components": 3},
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_seed_same_answer(params):
    X, Y = make_data()
    one, two = (CMLLClassifier(**params, random_state=7).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state, to see it untouched
    CMLLClassifier(**params, random_state=7).fit(X, Y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_labels_by_keyword():
    X, Y = make_data()
    expected = CMLLClassifier().fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(CMLLClassifier().fit(X=X, y=Y).decision_function(X), expected)
