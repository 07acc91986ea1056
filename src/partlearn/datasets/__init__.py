"""Data sets: bundled, downloaded and made; reading files is in partlearn.io."""

from importlib import import_module
from typing import Any

from partlearn.datasets._fetch import (
    data_folder,
    fetch,
    fetch_emotions_pml,
    fetch_file,
    fetch_italian,
    fetch_lost,
    fetch_slashdot_r1,
)
from partlearn.datasets._load import (
    load_breast_cancer_partial,
    load_digits_partial,
    load_iris_partial,
    load_wine_partial,
)
from partlearn.datasets._remote import REGISTRY, RemoteFile
from partlearn.datasets._single_label import single_label
from partlearn.datasets._synthetic import make_partial_classification
from partlearn.datasets._tickets import make_tickets
from partlearn.io import (
    AmbiguousDataError,
    DataError,
    DataFormatError,
    DataLimitError,
    DownloadError,
    Limits,
    read,
    write,
)

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
    "make_tickets",
    "read",
    "single_label",
    "write",
]


def __getattr__(name: str) -> Any:
    """Hand on the checker, which lies above this layer, when it is asked for."""
    if name in ("DataReport", "Finding", "check"):
        return getattr(import_module("partlearn.check"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
