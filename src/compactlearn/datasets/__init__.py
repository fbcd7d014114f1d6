"""Multi-label data sets: two inside the package, readers for files of your own."""

from compactlearn.datasets.arff import read_arff
from compactlearn.datasets.catalogue import is_available, list_datasets, load
from compactlearn.datasets.dataset import Dataset

__all__ = ["Dataset", "is_available", "list_datasets", "load", "read_arff"]
