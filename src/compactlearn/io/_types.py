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

# Modules with codecs (``CODECS``: of the name of a class a function that makes its codec; without
# one a type is its attributes), and the types that they are for: names in files, and classes.
_TABLE: dict[str, dict[str, str]] = {
    "compactlearn.io._models": {
        "CMLLClassifier": "compactlearn.compact._cmll:CMLLClassifier",
        "CompactClassifier": "compactlearn.compact._classifier:CompactClassifier",
        "PaperClassifier": "compactlearn.compact._paper:PaperClassifier",
        "ThresholdTuner": "compactlearn.compact._threshold_tuner:ThresholdTuner",
        "KeptFeatures": "compactlearn.compact._pruned:KeptFeatures",
        "KeptWeights": "compactlearn.compact._pruned:KeptWeights",
        "CMLL": "compactlearn.embeddings:CMLL",
        "CPLST": "compactlearn.embeddings:CPLST",
        "DMLR": "compactlearn.embeddings:DMLR",
        "FaIE": "compactlearn.embeddings:FaIE",
        "MDDM": "compactlearn.embeddings:MDDM",
        "Original": "compactlearn.embeddings:Original",
        "PLST": "compactlearn.embeddings:PLST",
        "KernelMap": "compactlearn.compact._kernel_map:KernelMap",
        "Kernel": "compactlearn.compact._kernels:Kernel",
        "FittedModel": "compactlearn.compact._fitted:FittedModel",
        "LabelSpace": "compactlearn.decoding._label_space:LabelSpace",
        "RowMap": "compactlearn.compact._preparation:RowMap",
        "CodeRidge": "compactlearn.crossfit._learner:CodeRidge",
        "CodeDecoder": "compactlearn.decoding._learned:CodeDecoder",
        "Moments": "compactlearn.linalg._moments:Moments",
        "RunningSums": "compactlearn.compact._running_sums:RunningSums",
        "Half": "compactlearn.compact._compression:Half",
        "HalfSparse": "compactlearn.compact._compression:HalfSparse",
    },
    "compactlearn.io._searches": {
        "AutoCompactClassifier": "compactlearn.auto._classifier:AutoCompactClassifier",
        "CMLLClassifierCV": "compactlearn.model_selection._cmll_cv:CMLLClassifierCV",
        "GridSearchMoments": "compactlearn.model_selection._grid_search:GridSearchMoments",
        "IterativeStratification": "compactlearn.model_selection._splits:IterativeStratification",
        "IterativeStratifiedShuffleSplit": (
            "compactlearn.model_selection._splits:IterativeStratifiedShuffleSplit"
        ),
        "Scorer": "compactlearn.metrics._scoring:Scorer",
        "Blend": "compactlearn.auto._blend:Blend",
        "Member": "compactlearn.auto._blend:Member",
        "Reading": "compactlearn.auto._blend:Reading",
        "LabelForest": "compactlearn.auto._forest:LabelForest",
    },
    "compactlearn.io._shortlists": {
        "ShortlistClassifier": "compactlearn.shortlist._classifier:ShortlistClassifier",
        "ShortlistStages": "compactlearn.shortlist._stages:Stages",
        "ShortlistSizes": "compactlearn.shortlist._generation:Sizes",
        "CandidateGenerator": "compactlearn.shortlist._generation:CandidateGenerator",
        "CandidatePrior": "compactlearn.shortlist._prior:CandidatePrior",
        "LabelReranking": "compactlearn.shortlist._label_reranking:LabelReranking",
        "Cooccurrence": "compactlearn.shortlist._cooccurrence_reranking:Cooccurrence",
        "CooccurrenceReranking": (
            "compactlearn.shortlist._cooccurrence_reranking:CooccurrenceReranking"
        ),
        "Neighbours": "compactlearn.shortlist._neighbours:Neighbours",
        "UnitRows": "compactlearn.compact._unit_rows:UnitRows",
    },
    "compactlearn.related._stored": {
        "BooleanClassifier": "compactlearn.related:BooleanClassifier",
        "C2AEClassifier": "compactlearn.related:C2AEClassifier",
        "CCA": "compactlearn.related:CCA",
        "CompressedSensingClassifier": "compactlearn.related:CompressedSensingClassifier",
        "CSSP": "compactlearn.related:CSSP",
        "DeepCMLLClassifier": "compactlearn.related:DeepCMLLClassifier",
        "GroPLE": "compactlearn.related:GroPLE",
        "KernelLabelSpace": "compactlearn.related:KernelLabelSpace",
        "LEML": "compactlearn.related:LEML",
        "LocalEmbedding": "compactlearn.related._sleec:LocalEmbedding",
        "LocalLearner": "compactlearn.related._sleec:LocalLearner",
        "LPP": "compactlearn.related:LPP",
        "ManiacClassifier": "compactlearn.related:ManiacClassifier",
        "MIFS": "compactlearn.related:MIFS",
        "MLSI": "compactlearn.related:MLSI",
        "NPE": "compactlearn.related:NPE",
        "OPLS": "compactlearn.related:OPLS",
        "OutputCodesClassifier": "compactlearn.related:OutputCodesClassifier",
        "PCA": "compactlearn.related:PCA",
        "POPClassifier": "compactlearn.related:POPClassifier",
        "ProjectionForestClassifier": "compactlearn.related:ProjectionForestClassifier",
        "RandomCodes": "compactlearn.related._compressed_sensing:RandomCodes",
        "Rembrandt": "compactlearn.related:Rembrandt",
        "SLEECClassifier": "compactlearn.related:SLEECClassifier",
        "SLRM": "compactlearn.related:SLRM",
        "TopicClassifier": "compactlearn.related:TopicClassifier",
    },
    "compactlearn.io._sparse": {
        "csc_array": "scipy.sparse:csc_array",
        "csc_matrix": "scipy.sparse:csc_matrix",
        "csr_array": "scipy.sparse:csr_array",
        "csr_matrix": "scipy.sparse:csr_matrix",
    },
    "compactlearn.io._sklearn": {
        "TextVectorizer": "compactlearn.auto._texts:TextVectorizer",
        "sklearn CountVectorizer": "sklearn.feature_extraction.text:CountVectorizer",
        "sklearn GroupKFold": "sklearn.model_selection:GroupKFold",
        "sklearn HashingVectorizer": "sklearn.feature_extraction.text:HashingVectorizer",
        "sklearn KFold": "sklearn.model_selection:KFold",
        "sklearn LabelBinarizer": "sklearn.preprocessing:LabelBinarizer",
        "sklearn LinearRegression": "sklearn.linear_model:LinearRegression",
        "sklearn LinearSVC": "sklearn.svm:LinearSVC",
        "sklearn LogisticRegression": "sklearn.linear_model:LogisticRegression",
        "sklearn MaxAbsScaler": "sklearn.preprocessing:MaxAbsScaler",
        "sklearn MinMaxScaler": "sklearn.preprocessing:MinMaxScaler",
        "sklearn MultiOutputRegressor": "sklearn.multioutput:MultiOutputRegressor",
        "sklearn Normalizer": "sklearn.preprocessing:Normalizer",
        "sklearn OneVsRestClassifier": "sklearn.multiclass:OneVsRestClassifier",
        "sklearn Pipeline": "sklearn.pipeline:Pipeline",
        "sklearn RBFSampler": "sklearn.kernel_approximation:RBFSampler",
        "sklearn Ridge": "sklearn.linear_model:Ridge",
        "sklearn RobustScaler": "sklearn.preprocessing:RobustScaler",
        "sklearn ShuffleSplit": "sklearn.model_selection:ShuffleSplit",
        "sklearn StandardScaler": "sklearn.preprocessing:StandardScaler",
        "sklearn StratifiedKFold": "sklearn.model_selection:StratifiedKFold",
        "sklearn StratifiedShuffleSplit": "sklearn.model_selection:StratifiedShuffleSplit",
        "sklearn TfidfTransformer": "sklearn.feature_extraction.text:TfidfTransformer",
        "sklearn TfidfVectorizer": "sklearn.feature_extraction.text:TfidfVectorizer",
        "sklearn TruncatedSVD": "sklearn.decomposition:TruncatedSVD",
    },
    "compactlearn.io._tables": {
        "sklearn ColumnTransformer": "sklearn.compose:ColumnTransformer",
        "sklearn MissingIndicator": "sklearn.impute:MissingIndicator",
        "sklearn OneHotEncoder": "sklearn.preprocessing:OneHotEncoder",
        "sklearn SimpleImputer": "sklearn.impute:SimpleImputer",
    },
    "compactlearn.io._trees": {
        "sklearn ExtraTreesRegressor": "sklearn.ensemble:ExtraTreesRegressor",
        "sklearn RandomForestRegressor": "sklearn.ensemble:RandomForestRegressor",
    },
}

#: Of each name in files the class, "module:name", and the module of its codec.
TYPES: dict[str, tuple[str, str]] = {
    name: (home, codecs) for codecs, rows in _TABLE.items() for name, home in rows.items()
}
_NAMES = {home.partition(":")[2]: name for name, (home, _) in TYPES.items()}


def name_of(thing: Any) -> str | None:
    """Return the name of exactly this type: what a subclass adds would be lost."""
    name = _NAMES.get(type(thing).__name__)
    if name is None:
        return None
    module, _, own = TYPES[name][0].partition(":")
    return name if getattr(sys.modules.get(module), own, None) is type(thing) else None


def codec_named(name: Any) -> Codec:
    """Return the codec of a type by its name in files."""
    if not isinstance(name, str) or name not in TYPES:
        raise ModelFileError(
            f"it holds a part of the type {name!r:.60}, which this version of compactlearn does "
            "not know; install a newer one"
        )
    return _codec(*TYPES[name])


def class_named(name: str) -> type:
    """Return the class that has this name in files."""
    module, _, own = TYPES[name][0].partition(":")
    return getattr(load(module), own)


@cache
def _codec(home: str, codecs: str) -> Codec:
    module, _, own = home.partition(":")
    return load(codecs).CODECS.get(own, attributes_codec)(getattr(load(module), own))
