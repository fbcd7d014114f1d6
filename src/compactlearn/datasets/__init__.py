"""Multi-label data sets: two inside the package, readers for files of your own."""

from compactlearn.datasets._blocks import BlockFiles, open_blocks
from compactlearn.datasets._catalogue.by_name import (
    describe,
    fetch,
    folder_of,
    is_available,
    list_datasets,
    load,
    load_texts,
)
from compactlearn.datasets._catalogue.files import data_folder
from compactlearn.datasets._catalogue.known_sets import Entry
from compactlearn.datasets._catalogue.own_sets import add
from compactlearn.datasets._dataset import (
    DataFileError,
    Dataset,
    fingerprint,
)
from compactlearn.datasets._formats.arff import write_arff
from compactlearn.datasets._formats.for_model import (
    ModelColumns,
    TextColumns,
    arranged,
    read_for_model,
)
from compactlearn.datasets._formats.index_value import write_xmlrepo
from compactlearn.datasets._formats.parquet import write_parquet
from compactlearn.datasets._formats.predictions import write_predictions
from compactlearn.datasets._formats.reading import read
from compactlearn.datasets._formats.texts import Texts, read_texts
from compactlearn.datasets._parsing.lines import Limits
from compactlearn.datasets._synthetic import PlantedDataset, make_compact

__all__ = [
    "BlockFiles",
    "DataFileError",
    "Dataset",
    "Entry",
    "Limits",
    "ModelColumns",
    "PlantedDataset",
    "TextColumns",
    "Texts",
    "add",
    "arranged",
    "data_folder",
    "describe",
    "fetch",
    "fingerprint",
    "folder_of",
    "is_available",
    "list_datasets",
    "load",
    "load_texts",
    "make_compact",
    "open_blocks",
    "read",
    "read_for_model",
    "read_texts",
    "write_arff",
    "write_parquet",
    "write_predictions",
    "write_xmlrepo",
]
