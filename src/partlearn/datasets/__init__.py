"""Data sets: bundled, downloaded and made; reading files is in partlearn.io."""

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

__all__ = [
    "fetch",
    "load_breast_cancer_partial",
    "load_digits_partial",
    "load_iris_partial",
    "load_wine_partial",
    "make_partial_classification",
    "make_tickets",
]
