"""Names of the paper's tables, and the estimators they stand for."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import compactlearn
from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    METHODS,
    PLST,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    POPClassifier,
    method,
)
from compactlearn._method_table import NOT_HERE
from tests.makers import maker

EMBEDDINGS = {
    "ORI": Original,
    "PLST": PLST,
    "CPLST": CPLST,
    "DMLR": DMLR,
    "FaIE": FaIE,
    "CMLL_y": CMLL,
    "MDDM": MDDM,
    "CMLL": CMLL,
}
KERNEL = ["k-ORI", "k-CPLST", "k-DMLR", "k-FaIE", "k-CMLL_y", "k-MDDM", "k-CMLL"]
# Those of the related work have tests of their own, and C2AE has a file of its own.
AVAILABLE = [name for name in METHODS[:17] if name != "C2AE"]
CENTRED = ("PLST", "CPLST")  # their labels are, unless one asks otherwise
COMPACT = [name for name in AVAILABLE if name != "POP"]
PROTOCOLS = ["paper", "recommended"]
every_name = pytest.mark.parametrize("name", AVAILABLE)
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


make_data = maker(36, 7, 5, dtype=int)


def embedding_of(model):
    return model.make_embedding()


def base(name):
    return name.removeprefix("k-")


def test_the_names_and_their_order():
    assert METHODS[:17] == (
        *("ORI", "PLST", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM", "POP", "CMLL"),
        *("k-ORI", "k-CPLST", "k-DMLR", "k-FaIE", "k-CMLL_y", "k-MDDM", "C2AE", "k-CMLL"),
    )
    assert compactlearn.METHODS is METHODS
    assert compactlearn.method is method


@every_protocol
@pytest.mark.parametrize("name", COMPACT)
def test_each_name_is_its_embedding(name, protocol):
    model = method(name, protocol=protocol)
    assert type(embedding_of(model)) is EMBEDDINGS[base(name)]
    assert type(model) is CompactClassifier
    assert not hasattr(model, "embedding_")
    if name in KERNEL:
        assert repr(model.feature_map) == "KernelMap()"
    else:
        assert model.feature_map is None
    if base(name) == "CMLL_y":
        assert model.embedding.n_feature_components is None


def test_pop():
    assert repr(method("POP")) == "POPClassifier()"
    assert method("POP", protocol="recommended").get_params() == POPClassifier().get_params()
    name = next(iter(POPClassifier().get_params()))
    value = POPClassifier().get_params()[name]
    assert method("POP", **{name: value}).get_params() == POPClassifier().get_params()


@pytest.mark.parametrize("name", NOT_HERE)
def test_what_is_not_published_is_not_made_up(name):
    with pytest.raises(ValueError, match=rf"{name} is not in the library: .*{NOT_HERE[name]}"):
        method(name)
    assert name not in METHODS
    page = Path(__file__).parents[2] / "docs" / "methods" / "related.md"
    assert name in page.read_text(encoding="utf-8")


# --- protocols -----------------------------------------------------------------------------------


@every_name
def test_the_paper_is_the_default_protocol(name):
    assert repr(method(name)) == repr(method(name, protocol="paper"))


@pytest.mark.parametrize("name", COMPACT)
def test_the_protocol_of_the_paper(name):
    """No offset, a balance of 1.0, threshold 0.5 and the linear decoder; nothing else differs."""
    paper, ours = method(name), method(name, protocol="recommended")
    assert paper.threshold == 0.5
    assert paper.decoder == "linear"
    given, default = (embedding_of(model).get_params() for model in (paper, ours))
    for parameter, value in (("beta", 1.0), ("offset", "none")):
        if parameter in given and base(name) not in CENTRED:
            assert given.pop(parameter) == value
            assert default.pop(parameter) == {"beta": "auto", "offset": "mean"}[parameter]
    assert given == default
    outer = [
        {
            key: repr(value)
            for key, value in model.get_params(deep=False).items()
            if key not in ("embedding", "beta", "offset", "threshold")
        }
        for model in (paper, ours)
    ]
    assert outer[0] == outer[1]
    assert ours.threshold == "auto"


@pytest.mark.parametrize("name", COMPACT)
def test_the_recommended_protocol_is_the_defaults(name):
    model = method(name, protocol="recommended")
    expected = EMBEDDINGS[base(name)]().get_params()
    if base(name) == "CMLL_y":
        expected["n_feature_components"] = None
    given = embedding_of(model) if model.get_params().get("embedding") is None else model.embedding
    assert given.get_params() == expected
    defaults = CompactClassifier().get_params(deep=False)
    for parameter in ("scale", "regressor", "alpha", "threshold", "random_state"):
        assert getattr(model, parameter) == defaults[parameter]


@pytest.mark.parametrize("name", ["DMLR", "FaIE", "CMLL_y", "CMLL", "k-DMLR", "k-FaIE", "k-CMLL"])
def test_given_parameters_come_before_the_protocol(name):
    embedding = embedding_of(method(name, beta=0.25, offset="mean"))
    assert (embedding.beta, embedding.offset) == (0.25, "mean")
    assert embedding_of(method(name, beta="auto")).beta == "auto"
    assert embedding_of(method(name, offset="mean")).beta == 1.0


@pytest.mark.parametrize("name", ["ORI", "PLST", "CPLST", "MDDM", "k-ORI", "k-CPLST", "k-MDDM"])
@pytest.mark.parametrize("parameter", ["beta", "offset"])
def test_methods_without_a_balance_take_none(name, parameter):
    if parameter == "offset" and base(name) in CENTRED:
        assert embedding_of(method(name, offset="none")).offset == "none"
        return
    with pytest.raises(TypeError, match=parameter):
        method(name, **{parameter: 1.0})


# --- where parameters go -------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPACT)
def test_parameters_of_the_classifier(name):
    model = method(name, alpha=0.3, scale=True, threshold=0.2, random_state=5)
    assert (model.alpha, model.scale) == (0.3, True)
    assert (model.threshold, model.random_state) == (0.2, 5)


@pytest.mark.parametrize("name", [n for n in COMPACT if base(n) in ("PLST", "CPLST", "FaIE")])
def test_parameters_of_the_embedding(name):
    model = method(name, n_label_components=3, solver="dual")
    assert model.embedding.n_label_components == 3
    assert model.embedding.solver == "dual"


@pytest.mark.parametrize("name", KERNEL)
def test_parameters_of_the_kernel(name):
    model = method(name, kernel="poly", gamma=0.2, degree=2, coef0=0.5, alpha=4.0)
    kernel = model.feature_map
    assert (kernel.kernel, kernel.gamma, kernel.degree, kernel.coef0) == ("poly", 0.2, 2, 0.5)
    assert model.alpha == 4.0
    assert method(name, algorithm="nystroem", n_components=9).feature_map.n_components == 9


@pytest.mark.parametrize("name", KERNEL)
def test_a_seed_goes_everywhere(name):
    model = method(name, random_state=8)
    assert model.random_state == 8
    assert model.feature_map.random_state == 8
    embedding = embedding_of(model)
    assert getattr(embedding, "random_state", 8) == 8


@pytest.mark.parametrize("name", KERNEL)
def test_a_given_map_takes_the_place_of_the_kernel(name):
    own = KernelMap(kernel="cosine")
    assert method(name, feature_map=own).feature_map is own


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("CMML", "CMLL"),
        ("plst", "PLST"),
        ("k-CPLTS", "k-CPLST"),
        ("Faie", "FaIE"),
        ("MDMM", "MDDM"),
    ],
)
def test_unknown_names(typed, meant):
    with pytest.raises(ValueError, match=rf"no method '{typed}'.*Did you mean '{meant}'\?"):
        method(typed)


@pytest.mark.parametrize("name", ["", None, 3, "k-PLST"])
def test_names_that_are_nothing_like_one(name):
    with pytest.raises(ValueError, match="There is no method") as caught:
        method(name)
    for known in METHODS:
        assert known in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "meant"), [("papr", "paper"), ("recomended", "recommended"), ("Paper", "paper")]
)
@pytest.mark.parametrize("name", ["ORI", "POP", "C2AE", "k-CMLL"])
def test_unknown_protocols(name, typed, meant):
    with pytest.raises(ValueError, match=rf"protocol must be .* '{typed}'.*'{meant}'\?"):
        method(name, protocol=typed)
    with pytest.raises(ValueError, match="protocol must be 'paper' or 'recommended', and is None"):
        method(name, protocol=None)


@pytest.mark.parametrize(
    ("name", "typed", "meant"),
    [
        ("PLST", "n_label_component", "n_label_components"),
        ("CPLST", "rigde", "ridge"),
        ("ORI", "aplha", "alpha"),
        ("MDDM", "completions", "completion"),
        ("CMLL", "lable_ridge", "label_ridge"),
        ("k-FaIE", "gama", "gamma"),
    ],
)
def test_unknown_parameters(name, typed, meant):
    with pytest.raises(TypeError, match=rf"has no parameter '{typed}'.*'{meant}'\?"):
        method(name, **{typed: 1})


@pytest.mark.parametrize("name", ["CMLL_y", "k-CMLL_y"])
@pytest.mark.parametrize("size", [3, 0.5, "auto"])
def test_cmll_y_keeps_the_features(name, size):
    with pytest.raises(ValueError, match=r"CMLL_y means n_feature_components=None") as caught:
        method(name, n_feature_components=size)
    whole = name.removesuffix("_y")
    assert f"method({whole!r}, n_feature_components={size!r})" in str(caught.value)
    assert method(name, n_feature_components=None).embedding.n_feature_components is None


# --- as estimators -------------------------------------------------------------------------------


@every_protocol
@every_name
def test_clones_and_parameters_go_round(name, protocol):
    model = method(name, protocol=protocol)
    assert repr(clone(model)) == repr(model)
    params = model.get_params(deep=False)
    again = type(model)().set_params(**params)
    assert repr(again.get_params()) == repr(model.get_params())


@every_protocol
@every_name
def test_each_fits_and_predicts(name, protocol):
    X, Y = make_data()
    model = method(name, protocol=protocol)
    assert model.fit(X, Y) is model
    assert model.decision_function(X).shape == (36, 5)
    labels = model.predict(X)
    assert set(np.unique(labels)) <= {0, 1}
    assert np.mean(labels == Y) > 0.6


@pytest.mark.parametrize("name", KERNEL)
@pytest.mark.parametrize("shape", [(36, 7, 5), (16, 24, 5)], ids=["tall", "wide"])
def test_a_linear_kernel_is_the_linear_method(name, shape):
    X, Y = make_data(*shape)
    X_new = make_data(*shape, seed=1)[0]
    sizes = {"n_label_components": 3} if base(name) not in ("ORI", "MDDM") else {}
    kernel = method(name, kernel="linear", alpha=0.5, **sizes).fit(X, Y)
    linear = method(base(name), alpha=0.5, **sizes).fit(X, Y)
    np.testing.assert_allclose(
        kernel.decision_function(X_new), linear.decision_function(X_new), atol=1e-7
    )
    assert kernel.embedding_.solver_.endswith("-kernel")
    for attribute in ("eigenvalues_", "objective_"):
        np.testing.assert_allclose(
            getattr(kernel.embedding_, attribute, 0.0),
            getattr(linear.embedding_, attribute, 0.0),
            rtol=1e-7,
        )
