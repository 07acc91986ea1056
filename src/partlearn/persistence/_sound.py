"""What estimators take for granted and a file can break; trees taken apart and made."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree

from partlearn._sklearn_compat import decision_tree_type
from partlearn.io import DataFormatError

_LEAF = -1


def is_tree(value: Any) -> bool:
    """Whether a value is the compiled part of a decision tree."""
    return type(value) is decision_tree_type()[0]


def take_apart(tree: Any) -> dict[str, Any]:
    """Describe a tree by numbers and arrays."""
    _, (n_features, n_classes, n_outputs), state = tree.__reduce__()
    nodes = state["nodes"]
    return {
        "n_features": int(n_features),
        "n_outputs": int(n_outputs),
        "max_depth": int(state["max_depth"]),
        "n_classes": np.asarray(n_classes),
        "values": np.asarray(state["values"]),
        "nodes": {
            name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names
        },
    }


def build_tree(parts: Any) -> Any:
    """Build a tree from what `take_apart` gave, after checking that it is one."""
    cls, dtype = decision_tree_type()
    wanted = {"n_features", "n_outputs", "max_depth", "n_classes", "values", "nodes"}
    if not isinstance(parts, dict) or parts.keys() != wanted:
        raise DataFormatError("the description of a tree is incomplete")
    sizes = [parts[name] for name in ("n_features", "n_outputs", "max_depth")]
    if not all(type(size) is int and 0 <= size < 2**31 for size in sizes):
        raise DataFormatError("the sizes of a tree are no sizes")
    n_classes, values = parts["n_classes"], parts["values"]
    nodes = _check_nodes(parts["nodes"], dtype, parts["n_features"])
    if not (
        _is_array(n_classes, np.dtype(np.intp))
        and n_classes.shape == (parts["n_outputs"],)
        and n_classes.size > 0
        and n_classes.min() > 0
        and _is_array(values, np.dtype(np.float64))
        and values.shape == (len(nodes), parts["n_outputs"], n_classes.max())
    ):
        raise DataFormatError("the values of a tree do not fit its nodes")
    tree = cls(parts["n_features"], n_classes, parts["n_outputs"])
    tree.__setstate__(
        {
            "max_depth": parts["max_depth"],
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(values),
        }
    )
    return tree


def _check_nodes(fields: Any, dtype: np.dtype[Any], n_features: int) -> NDArray[Any]:
    if not isinstance(fields, dict) or fields.keys() != set(dtype.names or ()):
        raise DataFormatError("the nodes of a tree lack fields")
    count = len(fields["left_child"]) if _is_array(fields["left_child"]) else 0
    if count == 0 or not all(
        _is_array(fields[name], dtype[name]) and fields[name].shape == (count,)
        for name in fields
    ):
        raise DataFormatError("the fields of a tree do not fit")
    left, right, feature = (
        fields[name] for name in ("left_child", "right_child", "feature")
    )
    inner = left != _LEAF
    own = np.arange(count)
    # Children come after their parent, so that every walk ends.
    sound = (inner == (right != _LEAF)).all() and all(
        ((own < child) & (child < count))[inner].all() for child in (left, right)
    )
    if not sound or not ((feature >= 0) & (feature < n_features))[inner].all():
        raise DataFormatError("a tree points outside of itself")
    nodes = np.zeros(count, dtype)
    for name, column in fields.items():
        nodes[name] = column
    return nodes


def _is_array(value: Any, dtype: np.dtype[Any] | None = None) -> bool:
    return isinstance(value, np.ndarray) and (dtype is None or value.dtype == dtype)


def check_tree_owner(estimator: Any) -> None:
    """Rows are compared with the estimator's number of features, not the tree's."""
    state = vars(estimator)
    tree = state.get("tree_")
    if "tree_" in state and not is_tree(tree):
        raise DataFormatError("a decision tree holds no tree")
    if is_tree(tree) and tree.n_features != state.get("n_features_in_"):
        raise DataFormatError("a tree was fitted on another number of features")


def check_forest(forest: Any) -> None:
    """A forest hands its rows to its trees unchecked."""
    state = vars(forest)
    trees = state.get("estimators_", [])
    if not isinstance(trees, list) or not all(
        isinstance(tree, BaseDecisionTree)
        and "tree_" in vars(tree)
        and vars(tree)["n_features_in_"] == state.get("n_features_in_")
        for tree in trees
    ):
        raise DataFormatError("a forest and its trees do not belong together")


_MAX_JOBS = 1024
# Regular expressions can take for ever on text that is made for it.
_TOKEN_PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b")


def check_sound(estimator: BaseEstimator) -> None:
    """Refuse parameters and attributes that the class could not have given itself."""
    name = type(estimator).__name__
    try:
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except Exception as error:
        # Without the value, which comes from the file and may be anything.
        reason = str(error).partition(" Got ")[0]
        raise DataFormatError(f"{name} holds parameters it refuses: {reason}") from None
    state = vars(estimator)
    n_features = state.get("n_features_in_", 0)
    if type(n_features) is not int or n_features < 0:
        raise DataFormatError(f"{name} was fitted on an impossible number of features")
    n_jobs = state.get("n_jobs")
    if isinstance(n_jobs, int) and abs(n_jobs) > _MAX_JOBS:
        raise DataFormatError(f"{name} asks for {n_jobs} workers")
    classes = state.get("classes_")
    if isinstance(classes, np.ndarray) and classes.ndim != 1:
        raise DataFormatError(f"the classes of {name} are no list")
    for kind, check in _CHECKS:
        if isinstance(estimator, kind):
            check(estimator)


def _check_text(vectorizer: TfidfVectorizer) -> None:
    if vectorizer.input != "content":
        raise DataFormatError("a TfidfVectorizer that opens files is not loaded")
    if vectorizer.token_pattern not in _TOKEN_PATTERNS:
        raise DataFormatError(
            "a TfidfVectorizer is loaded only with one of the token_patterns "
            + " and ".join(map(repr, _TOKEN_PATTERNS))
        )
    words = getattr(vectorizer, "vocabulary_", {})
    if not isinstance(words, dict) or not all(
        type(word) is str and isinstance(place, (int, np.integer))
        for word, place in words.items()
    ):
        raise DataFormatError("the vocabulary of a TfidfVectorizer is no dictionary")
    if sorted(map(int, words.values())) != list(range(len(words))):
        raise DataFormatError("the vocabulary of a TfidfVectorizer skips columns")


def _check_memory(pipeline: Pipeline) -> None:
    if pipeline.memory is not None:
        raise DataFormatError("a Pipeline with a cache on disk is not loaded")


_CHECKS: tuple[tuple[Any, Any], ...] = (
    (BaseDecisionTree, check_tree_owner),
    ((RandomForestClassifier, ExtraTreesClassifier), check_forest),
    (TfidfVectorizer, _check_text),
    (Pipeline, _check_memory),
)
