"""The table of types that a model file may hold: an allow-list.

A file names a type by its name in this table, and by nothing else: no other module is imported and
no other class is looked up because a file says so. A module of the table is imported when a file,
or a model that is saved, has something of its types.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from compactlearn.core._lazy import load
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._codec import Codec, attributes_codec
from compactlearn.io._rules import OWN

_HOMES = {
    "compactlearn.compact._cmll": "CMLLClassifier",
    "compactlearn.compact._classifier": "CompactClassifier",
    "compactlearn.compact._paper": "PaperClassifier",
    "compactlearn.compact._threshold_tuner": "ThresholdTuner",
    "compactlearn.compact._pruned": "KeptFeatures KeptWeights",
    "compactlearn.compact._quick_svm": "QuickSVM",
    "compactlearn.compact._kernel_map": "KernelMap",
    "compactlearn.compact._kernels": "Kernel",
    "compactlearn.compact._fitted": "FittedModel",
    "compactlearn.compact._preparation": "RowMap",
    "compactlearn.compact._sums": "RunningSums",
    "compactlearn.compact._compression": "Half HalfSparse",
    "compactlearn.compact._unit_rows": "UnitRows",
    "compactlearn.embeddings": "CMLL CPLST DMLR FaIE MDDM Original PLST",
    "compactlearn.decoding._label_space": "LabelSpace",
    "compactlearn.decoding._held_out": "CodeDecoder",
    "compactlearn.crossfit._learner": "CodeRidge",
    "compactlearn.linalg._moments": "Moments",
    "compactlearn.auto._classifier": "AutoCompactClassifier",
    "compactlearn.auto._blend": "Blend Member Reading",
    "compactlearn.auto._forest": "LabelForest",
    "compactlearn.auto._texts": "FieldVectorizer TextVectorizer",
    "compactlearn.model_selection._cmll_cv": "CMLLClassifierCV",
    "compactlearn.model_selection._grid_search": "GridSearchMoments",
    "compactlearn.model_selection._splits": "IterativeStratification",
    "compactlearn.metrics._scoring": "Scorer",
    "compactlearn.datasets._formats.for_model": "ModelColumns TextColumns",
    "compactlearn.datasets._formats.mixed": "MixedColumns",
    "compactlearn.shortlist._classifier": "ShortlistClassifier",
    "compactlearn.shortlist._stages": "Stages",
    "compactlearn.shortlist._generation": "CandidateGenerator Sizes",
    "compactlearn.shortlist._prior": "CandidatePrior",
    "compactlearn.shortlist._label_reranking": "LabelReranking",
    "compactlearn.shortlist._cooccurrence_reranking": "Cooccurrence CooccurrenceReranking",
    "compactlearn.shortlist._centroids": "Centroids",
    "compactlearn.shortlist._evidence": "Evidence",
    "compactlearn.shortlist._neighbours": "Neighbours",
    "compactlearn.related": (
        "BooleanClassifier C2AEClassifier CCA CompressedSensingClassifier CSSP DeepCMLLClassifier "
        "GroPLE KernelLabelSpace LEML LPP ManiacClassifier MIFS MLSI NPE OPLS "
        "OutputCodesClassifier PCA POPClassifier ProjectionForestClassifier Rembrandt "
        "SLEECClassifier SLRM TopicClassifier"
    ),
    "compactlearn.related._sleec": "LocalEmbedding LocalLearner",
    "scipy.sparse": "csc_array csc_matrix csr_array csr_matrix",
    "sklearn.compose": "ColumnTransformer",
    "sklearn.decomposition": "TruncatedSVD",
    "sklearn.ensemble": "ExtraTreesRegressor RandomForestRegressor",
    "sklearn.feature_extraction.text": (
        "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer"
    ),
    "sklearn.impute": "MissingIndicator SimpleImputer",
    "sklearn.kernel_approximation": "RBFSampler",
    "sklearn.linear_model": "LinearRegression LogisticRegression Ridge",
    "sklearn.model_selection": (
        "GroupKFold KFold ShuffleSplit StratifiedKFold StratifiedShuffleSplit"
    ),
    "sklearn.multiclass": "OneVsRestClassifier",
    "sklearn.multioutput": "MultiOutputRegressor",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": (
        "LabelBinarizer MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder RobustScaler "
        "StandardScaler"
    ),
    "sklearn.svm": "LinearSVC",
}
#: The module of each class, by the class's name, which is its name in files too.
TYPES = {name: module for module, names in _HOMES.items() for name in names.split()}

# Modules with functions that make codecs, for types that are more than their attributes.
_CODECS = {
    "compactlearn.io._models": "FieldVectorizer FittedModel Half HalfSparse KeptFeatures "
    "LabelSpace ShortlistClassifier csc_array csc_matrix csr_array csr_matrix",
    "compactlearn.io._trees": "ExtraTreesRegressor RandomForestRegressor",
    "compactlearn.io._tables": "ColumnTransformer MissingIndicator OneHotEncoder",
}
_MADE_BY = {name: module for module, names in _CODECS.items() for name in names.split()}


def name_of(thing: Any) -> str | None:
    """Return the name of exactly this type: what a subclass adds would be lost."""
    name = type(thing).__name__
    home = sys.modules.get(TYPES.get(name, ""))
    return name if home is not None and getattr(home, name, None) is type(thing) else None


def class_named(name: str) -> type:
    """Return the class that has this name in files."""
    return getattr(load(TYPES[name]), name)


@cache
def codec_named(name: str) -> Codec:
    """Return the codec of a type by its name in files."""
    if name not in TYPES:
        raise ModelFileError(
            f"it holds a part of the type {name!r:.60}, which this version of compactlearn does "
            "not know; install a newer one"
        )
    type_, module = class_named(name), TYPES[name]
    if name in _MADE_BY:
        return load(_MADE_BY[name]).CODECS[name](type_)
    if module.startswith("sklearn.") or name == "TextVectorizer":
        return load("compactlearn.io._sklearn").sklearn_codec(type_)
    if module.startswith("compactlearn.related"):
        return attributes_codec(type_, load("compactlearn.related._stored").RULES.get(name, {}))
    return attributes_codec(type_, OWN.get(name, {}))
