"""The classes that a model file may name: a closed list, nothing looked up."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from partlearn._registry import methods
from partlearn.tables import PartialClassifier, TableEncoder

__all__ = [
    "DTYPES",
    "SPARSE",
    "TYPES",
    "estimator_classes",
    "is_foreign",
    "name_of",
    "parameter_names",
    "state_types",
]

# What pipelines and encoders around our estimators are made of. None of these calls
# what it holds or turns text into code; FunctionTransformer, kernels given as
# functions, and whatever takes a callable in its place can therefore not be saved.
SKLEARN = (
    ColumnTransformer,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    ExtraTreesClassifier,
    FeatureUnion,
    LabelEncoder,
    LogisticRegression,
    MaxAbsScaler,
    MinMaxScaler,
    MissingIndicator,
    OneHotEncoder,
    OrdinalEncoder,
    PCA,
    Pipeline,
    RandomForestClassifier,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
    TfidfTransformer,
    TfidfVectorizer,
    TruncatedSVD,
)

_NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64",
)  # fmt: skip
DTYPES = {name: np.dtype(name).newbyteorder("<") for name in _NUMBERS}
# Types that stand for themselves, such as the parameter `dtype` of an encoder.
TYPES: dict[str, type] = {
    "float": float,
    "int": int,
    "bool": bool,
    **{f"numpy.{name}": np.dtype(name).type for name in _NUMBERS},
    "numpy.str": np.str_,
}
SPARSE: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        sparse.csr_array,
        sparse.csc_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
    )
}


@cache
def estimator_classes() -> dict[str, type[Any]]:
    """Map the names that files may use to estimator classes."""
    ours = {f"partlearn:{name}": method.cls for name, method in methods().items()}
    ours |= {
        f"partlearn:{cls.__name__}": cls for cls in (PartialClassifier, TableEncoder)
    }
    return {**ours, **{f"sklearn:{cls.__name__}": cls for cls in SKLEARN}}


@cache
def _names() -> dict[type[Any], str]:
    return {cls: name for name, cls in estimator_classes().items()}


def name_of(cls: type[Any]) -> str | None:
    """Name under which files know a class; a subclass of it is another class."""
    return _names().get(cls)


def is_foreign(name: str) -> bool:
    """Whether a class is scikit-learn's, whose state may change with its version."""
    return name.startswith("sklearn:")


def parameter_names(cls: type[Any]) -> frozenset[str]:
    """Names of the parameters, all of which the state of an estimator holds."""
    return frozenset(inspect.signature(cls).parameters)


def state_types(cls: type[Any]) -> dict[str, type[Any]]:
    """Small classes of data that the fitted state of an estimator may hold."""
    return {part.__name__: part for part in getattr(cls, "__state_types__", ())}
