"""Data: readers, writers, generators, downloads and checks."""

from partlearn.datasets._check import check
from partlearn.datasets._errors import (
    AmbiguousDataError,
    DataError,
    DataFormatError,
    DataLimitError,
    DownloadError,
)
from partlearn.datasets._fetch import (
    data_folder,
    fetch,
    fetch_emotions_pml,
    fetch_file,
    fetch_italian,
    fetch_lost,
    fetch_slashdot_r1,
)
from partlearn.datasets._limits import Limits
from partlearn.datasets._load import (
    load_breast_cancer_partial,
    load_digits_partial,
    load_iris_partial,
    load_wine_partial,
)
from partlearn.datasets._read import read
from partlearn.datasets._registry import REGISTRY, RemoteFile
from partlearn.datasets._report import DataReport, Finding
from partlearn.datasets._single_label import single_label
from partlearn.datasets._synthetic import make_partial_classification
from partlearn.datasets._write import write

__all__ = [
    "REGISTRY",
    "AmbiguousDataError",
    "DataError",
    "DataFormatError",
    "DataLimitError",
    "DataReport",
    "DownloadError",
    "Finding",
    "Limits",
    "RemoteFile",
    "check",
    "data_folder",
    "fetch",
    "fetch_emotions_pml",
    "fetch_file",
    "fetch_italian",
    "fetch_lost",
    "fetch_slashdot_r1",
    "load_breast_cancer_partial",
    "load_digits_partial",
    "load_iris_partial",
    "load_wine_partial",
    "make_partial_classification",
    "read",
    "single_label",
    "write",
]
