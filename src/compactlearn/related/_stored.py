"""Rules of the related methods in model files: what is decoded must fit together."""

from __future__ import annotations

from compactlearn.io._codec import Rule
from compactlearn.io._rules import LABELS

_FACTORED: Rule = {"projection_": "d k", "decoder_": "k q", "intercept_": "q", **LABELS}
_CODES: Rule = {"coef_": "m d", "intercept_": "m", "n_components_": "size m", **LABELS}

RULES: dict[str, Rule] = {
    "LEML": _FACTORED,
    "SLRM": _FACTORED,
    "POPClassifier": {"coef_": "sparse q d", "intercept_": "q", **LABELS},
    "ProjectionForestClassifier": {
        "forest_": "RandomForestRegressor",
        "forest_.n_outputs_": "size q",
        "forest_.n_features_in_": "size d",
        "frequency_": "q",
        **LABELS,
    },
    "CompressedSensingClassifier": {**_CODES, "measurements_": "m q", "sparsity_": "count"},
    "BooleanClassifier": {**_CODES, "basis_": "sparse m q", "_used_above": "number or none"},
    "OutputCodesClassifier": {
        **_CODES,
        "directions_": "q m",
        "noise_": "m",
        "_mean": "m",
        "_weight": "number",
        "label_coef_": "q d",
        "label_intercept_": "q",
    },
    "TopicClassifier": {
        "topics_": "q k",
        "coef_": "d k",
        "intercept_": "k",
        "shapes_": "k",
        **LABELS,
    },
    "SLEECClassifier": {"learners_": "tuple", "_n_neighbors": "count", **LABELS},
    "LocalLearner": {"clusters": "tuple", "centres": "* *"},
    "LocalEmbedding": {
        "coef": "d m",
        "intercept": "m",
        "points": "n m",
        "labels": "sparse n *",
    },
    "ManiacClassifier": {
        "coef_": "d m",
        "intercept_": "m",
        "encoder_": "layers q m",
        "decoder_": "layers m q",
        **LABELS,
    },
    "DeepCMLLClassifier": {
        "coef_": "k m",
        "intercept_": "m",
        "projection_": "d k",
        "_shift": "k",
        "decoder_": "m q",
        "offset_": "q",
        "layers_": "layers d k",
        **LABELS,
    },
    "C2AEClassifier": {"encoder_": "layers d m", "decoder_": "layers m *", **LABELS},
}
