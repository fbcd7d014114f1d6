"""Multi-label data sets: two inside the package, readers for files of your own."""

from compactlearn.datasets.adding import add
from compactlearn.datasets.arff import read_arff
from compactlearn.datasets.arff_writer import write_arff
from compactlearn.datasets.catalogue import (
    data_folder,
    describe,
    fetch,
    folder_of,
    is_available,
    list_datasets,
    load,
)
from compactlearn.datasets.counts import Statistics, statistics
from compactlearn.datasets.dataset import Dataset
from compactlearn.datasets.delimited import read_csv
from compactlearn.datasets.errors import DataFileError
from compactlearn.datasets.files import Limits
from compactlearn.datasets.fingerprint import fingerprint
from compactlearn.datasets.libsvm import read_libsvm
from compactlearn.datasets.matlab import read_mat
from compactlearn.datasets.parquet import read_parquet, write_parquet
from compactlearn.datasets.reading import read
from compactlearn.datasets.registry import Entry
from compactlearn.datasets.synthetic import PlantedDataset, make_compact
from compactlearn.datasets.xmlrepo import read_xmlrepo, write_xmlrepo

__all__ = [
    "DataFileError",
    "Dataset",
    "Entry",
    "Limits",
    "PlantedDataset",
    "Statistics",
    "add",
    "data_folder",
    "describe",
    "fetch",
    "fingerprint",
    "folder_of",
    "is_available",
    "list_datasets",
    "load",
    "make_compact",
    "read",
    "read_arff",
    "read_csv",
    "read_libsvm",
    "read_mat",
    "read_parquet",
    "read_xmlrepo",
    "statistics",
    "write_arff",
    "write_parquet",
    "write_xmlrepo",
]
