"""Rules of stored classes: their attributes, with values, types and shapes.

`compactlearn.io._codec` explains the words. Letters: d features, q labels, k components, m codes,
n rows, i inputs and u units of a network. Of an estimator of scikit-learn a rule lists all
attributes that a fit may give it.
"""

from __future__ import annotations

from compactlearn.io._codec import Rule

#: What every classifier has.
LABELS: Rule = {
    "label_space_": "LabelSpace",
    "label_space_.n_labels": "size q",
    "n_labels_": "size q",
    "n_features_in_": "size d",
    "threshold_": "number or q",
}
_COMPACT: Rule = {"parts_": "FittedModel", "parts_.labels.n_labels": "size q", **LABELS}

OWN: dict[str, Rule] = {
    "LabelSpace": {"classes": "array", "n_labels": "count", "names": "texts or none"},
    # compact
    "CMLLClassifier": _COMPACT,
    "CompactClassifier": _COMPACT,
    "PaperClassifier": _COMPACT,
    "FittedModel": {
        "n_columns": "size d",
        "row_map": "RowMap",
        "row_map.scale": "d or none",
        "projection": "d k or none",
        "decoder": "matrix m q",
        "back": "number or m m",
        "offset": "q",
        "threshold": "number or q",
        "labels": "LabelSpace",
        "labels.n_labels": "size q",
        "multiplied_out": "frozenset",
    },
    "KeptFeatures": {
        "features_": "d",
        "classifier_": "CompactClassifier",
        "classifier_.n_features_in_": "size d",
    },
    "KeptWeights": {"weights_": "sparse q d", "intercept_": "q"},
    "QuickSVM": {"weights_": "sparse q d", "intercept_": "q"},
    "ThresholdTuner": {
        "estimator_": "BaseEstimator",
        "n_labels_": "size q",
        "threshold_": "number or q or none",
        "k_?": "count",
    },
    "KernelMap": {
        "landmarks_": "matrix n d",
        "n_features_in_": "size d",
        "_kernel": "Kernel",
        "_roots": "n or none",
        "_count": "count",
        "_coefficients?": "n k",
    },
    "Kernel": {
        "function": "text",
        "gamma": "number or none",
        "degree": "number",
        "coef0": "number",
        "origin": "* or none",
    },
    "Moments": {"mean": "d", "scatter": "d d", "n_left": "count", "count": "number"},
    "RunningSums": {"moments": "Moments or none"},
    # searches
    "AutoCompactClassifier": {"blend_": "Blend", "base_scores_": "q or none", **LABELS},
    "Blend": {"members": "tuple", "intercept": "number"},
    "Member": {"reading": "Reading", "weight": "number"},
    "Reading": {"slope": "number", "intercept": "number"},
    "LabelForest": {
        "forest_": "RandomForestRegressor or ExtraTreesRegressor",
        "frequency_": "q",
        "forest_.n_outputs_": "size q",
        "n_trees": "count",
    },
    # texts
    "FieldVectorizer": {"fields_": "dict", "vectorizers_": "list"},
    # shortlists
    "ShortlistClassifier": {
        "stages_": "Stages",
        **LABELS,
        "stages_.prior.frequency": "q",
        "stages_.labels.intercepts": "q",
        "stages_.cooccurrence.frequency": "q",
        "base_scores_": "q or none",
        "_sparse_labels": "flag",
    },
    "Stages": {
        "generator": "CandidateGenerator",
        "prior": "CandidatePrior",
        "labels": "LabelReranking",
        "cooccurrence": "Cooccurrence",
        "centroids": "Centroids",
        "evidence": "Evidence",
        "final": "CooccurrenceReranking",
    },
    "CandidateGenerator": {
        "sizes": "Sizes",
        "neighbours": "Neighbours or none",
        "unit_rows": "flag",
    },
    "Sizes": {"n_candidates": "count", "retrieved": "count", "voted": "count"},
    "CandidatePrior": {
        **dict.fromkeys(("score_corners", "vote_corners", "own_corners", "coefficients"), "*"),
        **dict.fromkeys(("centres", "scales", "frequency"), "q"),
        "intercept": "number",
    },
    "LabelReranking": {"columns": "csr * q", "intercepts": "q", "C": "number"},
    "Cooccurrence": {"shares": "csr q q", "frequency": "q"},
    "Centroids": {"columns": "csr d q"},
    "Evidence": {"columns": "csr d q", "usual": "q"},
    "CooccurrenceReranking": {
        "first": "i u",
        "biases": "u",
        "second": "u",
        "intercept": "number",
    },
    "Neighbours": {
        "columns": "csr d n",
        "labels": "csr n q",
        "count": "count",
        "weights": "n or none",
        "unknown": "csr n q or none",
        "rows": "n",
    },
}

_VECTORISER: Rule = {
    "_tfidf": "TfidfTransformer",
    "fixed_vocabulary_": "flag",
    "vocabulary_": "dict",
}
_LINEAR: Rule = {
    "coef_": "d or matrix m d",
    "intercept_": "number or m",
    "n_iter_": "number or * or none",
    "solver_": "text",
    "classes_": "array",
    "rank_": "number or list",
    "singular_": "*",
}

SKLEARN: dict[str, Rule] = {
    "TextVectorizer": _VECTORISER,
    "CountVectorizer": _VECTORISER,
    "TfidfVectorizer": _VECTORISER,
    "TfidfTransformer": {"idf_": "d"},
    "StandardScaler": {
        **dict.fromkeys(("mean_", "var_", "scale_"), "d or none"),
        "n_samples_seen_": "number or d",
    },
    "MaxAbsScaler": {"max_abs_": "d", "scale_": "d", "n_samples_seen_": "number"},
    "MinMaxScaler": {
        **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), "d"),
        "n_samples_seen_": "number",
    },
    "RobustScaler": {"center_": "d or none", "scale_": "d or none"},
    "TruncatedSVD": {
        "components_": "k d",
        "explained_variance_": "k",
        "explained_variance_ratio_": "k",
        "singular_values_": "k",
    },
    "RBFSampler": {
        "random_weights_": "d k",
        "random_offset_": "k",
        "_n_features_out": "size k",
        "_gamma": "number",
    },
    "LinearRegression": _LINEAR,
    "LinearSVC": _LINEAR,
    "LogisticRegression": _LINEAR,
    "Ridge": _LINEAR,
    "MultiOutputRegressor": {"estimators_": "list"},
    "OneVsRestClassifier": {
        "estimators_": "list",
        "label_binarizer_": "LabelBinarizer",
        "classes_": "array",
    },
    "LabelBinarizer": {"y_type_": "text", "sparse_input_": "flag", "classes_": "array"},
    "ColumnTransformer": {
        "transformers_": "list",
        "output_indices_": "dict",
        "sparse_output_": "flag",
        "_columns": "list",
        "_remainder": "tuple",
        "_transformer_to_input_indices": "dict",
    },
    "SimpleImputer": {
        "statistics_": "array",
        "indicator_": "MissingIndicator or none",
        "_fit_dtype": "dtype",
        "_fill_dtype": "dtype",
    },
    "MissingIndicator": {"features_": "*", "_precomputed": "flag", "_n_features": "count"},
    "OneHotEncoder": {
        "categories_": "list",
        "drop_idx_": "array or none",
        "_drop_idx_after_grouping": "array or none",
        "_n_features_outs": "list",
        "_infrequent_enabled": "flag",
        "_infrequent_indices": "list",
        "_default_to_infrequent_mappings": "list",
    },
    "ShuffleSplit": {"_default_test_size": "number"},
    "StratifiedShuffleSplit": {"_default_test_size": "number"},
}
