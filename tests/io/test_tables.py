"""Tables with categories and missing values: their preparation is stored with the model."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from compactlearn import CMLLClassifier, ModelFileError, load_model, save_model
from compactlearn.io import _model_file as model_file
from tests.io.test_round_trip import equal
from tests.makers import modest

N = 60


def table(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, N),
            "weight": rng.normal(70, 9, N),
            "city": rng.choice(["Åbo", "Bonn", "", "Cork "], N),
            "rooms": rng.integers(0, 4, N),
            "open": rng.random(N) < 0.5,
            "grade": rng.choice(["a", "b"], N),
        }
    )
    frame.loc[rng.random(N) < 0.2, "age"] = np.nan
    frame.loc[rng.random(N) < 0.2, "grade"] = None
    return frame


FRAME, NEW = table(0), table(1)
LABELS = np.random.default_rng(2).integers(0, 2, (N, 3))
RARE = {"handle_unknown": "infrequent_if_exist"}
NUMBERS = ["age", "weight", "rooms"]
IMPUTED = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), RobustScaler())
CATEGORIES = make_pipeline(
    SimpleImputer(strategy="constant", fill_value="unknown"),
    OneHotEncoder(handle_unknown="ignore"),
)

TABLES = {
    "usual": ColumnTransformer(
        [("numbers", IMPUTED, NUMBERS), ("names", CATEGORIES, ["city", "grade"])]
    ),
    "the rest as it is": ColumnTransformer(
        [("n", IMPUTED, [0]), ("c", OneHotEncoder(), ["city", "grade", "rooms", "open"])],
        remainder="passthrough",
    ),
    "parts passed and dropped": ColumnTransformer(
        [
            ("n", "passthrough", ["weight"]),
            ("none", "passthrough", []),
            ("c", "drop", ["city", "grade"]),
            ("s", MinMaxScaler(), slice("rooms", "open")),
        ],
        transformer_weights={"s": 2.0},
    ),
    "the rest scaled": ColumnTransformer(
        [("c", OneHotEncoder(drop="first", sparse_output=False), ["city", "grade"])],
        remainder=make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()),
        sparse_threshold=0,
    ),
    "rare categories": ColumnTransformer(
        [
            (
                "c",
                OneHotEncoder(min_frequency=16, drop="if_binary", **RARE),
                ["city", "rooms", "open"],
            )
        ],
    ),
    "given categories": ColumnTransformer(
        [("c", OneHotEncoder(categories=[["", "Bonn", "Cork ", "Åbo"], [0, 1, 2, 3]]), [2, 3])]
    ),
    "selected": make_column_transformer(
        (IMPUTED, make_column_selector(dtype_include="number")),
        (CATEGORIES, make_column_selector(pattern="city|grade")),
    ),
    "an index": ColumnTransformer(
        [("n", IMPUTED, FRAME.columns[:2]), ("m", StandardScaler(), np.array([3]))]
    ),
    "a column of texts": ColumnTransformer(
        [("t", TfidfVectorizer(analyzer="char"), "city"), ("n", StandardScaler(), ["weight"])],
    ),
    "frames within": ColumnTransformer(
        [("n", IMPUTED, NUMBERS), ("p", "passthrough", ["open"])]
    ).set_output(transform="pandas"),
}

pytestmark = pytest.mark.filterwarnings("ignore:Found unknown categories")


def fitted(case):
    return make_pipeline(clone(TABLES[case]), CMLLClassifier(threshold=0.5)).fit(FRAME, LABELS)


@pytest.mark.parametrize("case", TABLES)
def test_a_loaded_table_predicts_the_same(case, tmp_path):
    model = fitted(case)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for rows in (NEW, NEW[NEW.columns[::-1]]):  # in another order too
        assert equal(loaded.decision_function(rows), model.decision_function(rows))
    mine, theirs = loaded[0].get_feature_names_out(), model[0].get_feature_names_out()
    assert equal(np.asarray(mine), np.asarray(theirs))
    again = clone(loaded).fit(FRAME, LABELS)
    assert equal(again.decision_function(NEW), model.decision_function(NEW))
    save_model(loaded, tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()
    save_model(pickle.loads(pickle.dumps(model)), tmp_path / "third")
    assert (tmp_path / "third").read_bytes() == (tmp_path / "model").read_bytes()


def test_rows_of_objects(tmp_path):
    rows = np.array([["a", 1.0], ["b", np.nan], [np.nan, 2.0]] * 20, dtype=object)
    for chosen in ([0], [True, False]):
        parts = ColumnTransformer([("c", OneHotEncoder(), chosen)], remainder=SimpleImputer())
        model = make_pipeline(parts, CMLLClassifier(threshold=0.5)).fit(rows, LABELS)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        assert equal(loaded.decision_function(rows), model.decision_function(rows))


values = st.one_of(st.text(max_size=5), st.sampled_from(["", " ", "\0", "nan", "None"]))


@modest
@given(
    column=st.one_of(
        st.lists(values, min_size=20, max_size=20),
        st.lists(st.integers(-(2**62), 2**62), min_size=20, max_size=20),
        st.lists(st.floats(allow_infinity=False, width=32), min_size=20, max_size=20),
        st.lists(st.booleans(), min_size=20, max_size=20),
    ),
    common=st.sampled_from([None, 2, 0.3]),
)
def test_categories_of_any_kind(tmp_path_factory, column, common):
    path = tmp_path_factory.getbasetemp() / "categories"
    path.unlink(missing_ok=True)
    frame = pd.DataFrame({"c": np.array(column, dtype=object if "" in column else None)})
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=common).fit(frame)
    model_file.dump(encoder, path, "the encoder")
    loaded = model_file.restore(path)
    assert equal(loaded.categories_, encoder.categories_)
    assert equal(loaded.transform(frame), encoder.transform(frame))


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (FunctionTransformer(), r"transformers\[0\]\[1\] is of the type .*FunctionTransf"),
        (SimpleImputer(strategy=np.max), r"strategy"),
    ],
)
def test_functions_are_not_stored(part, said, tmp_path):
    parts = ColumnTransformer([("n", part, ["weight"])])
    model = make_pipeline(parts, CMLLClassifier(threshold=0.5)).fit(FRAME, LABELS)
    with pytest.raises(ModelFileError, match=said):
        save_model(model, tmp_path / "model")


def _encoder(model):
    return model[0].named_transformers_["c"]


FORGED = {
    "a wider column": lambda m: _encoder(m)._n_features_outs.__setitem__(0, 9),
    "fewer columns": lambda m: setattr(_encoder(m), "_n_features_outs", [3]),
    "unsorted numbers": lambda m: _encoder(m).categories_.__setitem__(1, np.array([3, 1, 0, 2])),
    "no category": lambda m: _encoder(m).categories_.__setitem__(1, np.array([])),
    "a group out of range": lambda m: _encoder(m)._default_to_infrequent_mappings[0].fill(9),
    "a category to drop": lambda m: setattr(
        _encoder(m), "_drop_idx_after_grouping", np.array([7, None, 0], dtype=object)
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_compiled_code_would_believe(case, tmp_path):
    model = copy.deepcopy(fitted("rare categories"))
    FORGED[case](model)
    with open(tmp_path / "model", "wb") as stream:
        model_file.write(stream, model, "the model")
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "model")
