"""Data sets: bundled, downloaded and synthetic."""

from partlearn.datasets._fetch import (
    data_folder,
    fetch,
    fetch_file,
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

__all__ = [
    "fetch",
    "fetch_file",
    "load_breast_cancer_partial",
    "load_digits_partial",
    "load_iris_partial",
    "load_wine_partial",
    "make_partial_classification",
    "make_tickets",
    "single_label",
]
