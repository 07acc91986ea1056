"""Closed list of the classes that a model file may name."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn import (
    compose,
    decomposition,
    ensemble,
    impute,
    linear_model,
    pipeline,
    preprocessing,
    tree,
)
from sklearn.feature_extraction import text

from partlearn._registry import methods
from partlearn.tables import PartialClassifier, TableEncoder

# What pipelines and encoders around our estimators are made of. None of these calls
# what it holds or turns text into code; functions, and whatever takes a callable in the
# place of a word, can therefore not be saved. A ColumnTransformer makes a
# FunctionTransformer without a function of the columns that it passes through.
SKLEARN = (
    compose.ColumnTransformer,
    decomposition.PCA,
    decomposition.TruncatedSVD,
    ensemble.ExtraTreesClassifier,
    ensemble.HistGradientBoostingClassifier,
    ensemble.RandomForestClassifier,
    impute.MissingIndicator,
    impute.SimpleImputer,
    linear_model.LogisticRegression,
    pipeline.FeatureUnion,
    pipeline.Pipeline,
    preprocessing.FunctionTransformer,
    preprocessing.LabelEncoder,
    preprocessing.MaxAbsScaler,
    preprocessing.MinMaxScaler,
    preprocessing.OneHotEncoder,
    preprocessing.OrdinalEncoder,
    preprocessing.RobustScaler,
    preprocessing.StandardScaler,
    text.TfidfTransformer,
    text.TfidfVectorizer,
    tree.DecisionTreeClassifier,
    tree.ExtraTreeClassifier,
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
    cls.__name__: cls for cls in (csr_array, csc_array, csr_matrix, csc_matrix)
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
def class_names() -> dict[type[Any], str]:
    """Return the names of classes in files; subclasses have no name."""
    return {cls: name for name, cls in estimator_classes().items()}


def state_types(cls: type[Any]) -> dict[str, type[Any]]:
    """Return the small data classes that the fitted state of an estimator may hold."""
    return {part.__name__: part for part in getattr(cls, "__state_types__", ())}
