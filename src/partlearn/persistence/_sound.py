"""Check assumptions of estimators that a file can break; encode and build trees."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.tree import BaseDecisionTree

from partlearn._sklearn_compat import boosted_tree_type, decision_tree_type
from partlearn.io import DataFormatError
from partlearn.persistence._contract import check_state

_LEAF = -1


def is_tree(value: Any) -> bool:
    """Whether a value is the compiled part of a decision tree, or a boosted tree."""
    return type(value) is decision_tree_type()[0] or _is_boosted(value)


def _is_boosted(value: Any) -> bool:
    return type(value) is boosted_tree_type()[0]


def take_apart(tree: Any) -> dict[str, Any]:
    """Encode a tree as numbers and arrays."""
    if _is_boosted(tree):
        return {"nodes": _fields(tree.nodes)}
    _, (n_features, n_classes, n_outputs), state = tree.__reduce__()
    nodes = state["nodes"]
    return {
        "n_features": int(n_features),
        "n_outputs": int(n_outputs),
        "n_classes": np.asarray(n_classes),
        "values": np.asarray(state["values"]),
        "nodes": _fields(nodes),
    }


def _fields(nodes: NDArray[Any]) -> dict[str, Any]:
    return {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names or ()}


def build_tree(parts: Any) -> Any:
    """Build a tree from the result of `take_apart`, after checking it."""
    if isinstance(parts, dict) and parts.keys() == {"nodes"}:
        return _build_boosted(parts["nodes"])
    cls, dtype = decision_tree_type()
    wanted = {"n_features", "n_outputs", "n_classes", "values", "nodes"}
    if not isinstance(parts, dict) or parts.keys() != wanted:
        raise DataFormatError("the description of a tree is incomplete")
    sizes = [parts[name] for name in ("n_features", "n_outputs")]
    if not all(type(size) is int and 0 <= size < 2**31 for size in sizes):
        raise DataFormatError("the sizes of a tree are invalid")
    n_classes, values = parts["n_classes"], parts["values"]
    nodes = _check_nodes(parts["nodes"], dtype, parts["n_features"])
    if not (
        _is_array(n_classes, np.dtype(np.intp))
        and n_classes.shape == (parts["n_outputs"],)
        and n_classes.size > 0
        and n_classes.min() > 0
        and _is_array(values, np.dtype(np.float64))
        and values.shape == (len(nodes), parts["n_outputs"], n_classes.max())
        and np.isfinite(values).all()
    ):
        raise DataFormatError("the values of a tree do not fit its nodes")
    tree = cls(parts["n_features"], n_classes, parts["n_outputs"])
    tree.__setstate__(
        {
            "max_depth": _depth(nodes["left_child"], nodes["right_child"]),
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(values),
        }
    )
    return tree


def _check_nodes(fields: Any, dtype: np.dtype[Any], n_features: int) -> NDArray[Any]:
    nodes = _join_fields(fields, dtype)
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != _LEAF
    feature = nodes["feature"][inner]
    if (
        (inner != (right != _LEAF)).any()
        or not _are_children(left, right, inner)
        or not ((feature >= 0) & (feature < n_features)).all()
    ):
        raise DataFormatError("a tree has child indices out of range")
    return nodes


def _join_fields(fields: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Join the fields of nodes; check their lengths and types."""
    names = dtype.names or ()
    if not isinstance(fields, dict) or fields.keys() != set(names):
        raise DataFormatError("the nodes of a tree lack fields")
    first = fields[names[0]]
    count = len(first) if _is_array(first) and first.ndim else 0
    if count == 0 or not all(
        _is_array(fields[name], dtype[name]) and fields[name].shape == (count,)
        for name in fields
    ):
        raise DataFormatError("the fields of a tree do not fit")
    nodes = np.zeros(count, dtype)
    for name, column in fields.items():
        nodes[name] = column
    return nodes


def _are_children(left: NDArray[Any], right: NDArray[Any], inner: NDArray[Any]) -> bool:
    """Whether all nodes but the first are the child of one earlier node."""
    own = np.arange(len(inner))
    pairs = [child[inner].astype(np.int64) for child in (left, right)]
    later = all((own[inner] < child).all() for child in pairs)
    return later and np.array_equal(np.sort(np.concatenate(pairs)), own[1:])


def _build_boosted(fields: Any) -> Any:
    """Build a boosted tree; check the indices that compiled code follows."""
    cls, dtype = boosted_tree_type()
    nodes = _join_fields(fields, dtype)
    leaf = nodes["is_leaf"]
    inner = leaf == 0
    flags = ("is_leaf", "missing_go_to_left", "is_categorical")
    if any(nodes[name].max() > 1 for name in flags):
        raise DataFormatError("the flags of a boosted tree are not booleans")
    if not _are_children(nodes["left"], nodes["right"], inner):
        raise DataFormatError("a boosted tree has child indices out of range")
    if nodes["is_categorical"].any() or nodes["bitset_idx"].any():
        raise DataFormatError("a boosted tree splits by categories; encode them first")
    if (
        not np.isfinite(nodes["value"]).all()
        or np.isnan(nodes["num_threshold"]).any()
        or (nodes["feature_idx"] < 0).any()
    ):
        raise DataFormatError("the values of a boosted tree do not fit its nodes")
    none = np.zeros((0, 8), dtype=np.uint32)
    return cls(nodes, none, none.copy())


def _depth(left: NDArray[Any], right: NDArray[Any]) -> int:
    """Return the depth of a tree, the size of buffers in compiled code."""
    level, depth = np.zeros(1, dtype=np.intp), 0
    while True:
        below = np.concatenate([left[level], right[level]])
        level = below[below != _LEAF]
        if not level.size:
            return depth
        depth += 1


def _is_array(value: Any, dtype: np.dtype[Any] | None = None) -> bool:
    return isinstance(value, np.ndarray) and (dtype is None or value.dtype == dtype)


def check_tree_owner(estimator: Any) -> None:
    """Check that tree and estimator have the same numbers of features and classes."""
    state = vars(estimator)
    tree = state.get("tree_")
    if "tree_" not in state:
        return
    if not is_tree(tree):
        raise DataFormatError("a decision tree holds no tree")
    if tree.n_features != state.get("n_features_in_"):
        raise DataFormatError("a tree was fitted on another number of features")
    _check_classes(state, tree.n_outputs, tree.n_classes)


def check_forest(forest: Any) -> None:
    """Check that the trees of a forest fit it, since it does not check them."""
    state = vars(forest)
    trees = state.get("estimators_", [])
    if not isinstance(trees, list) or not all(
        isinstance(tree, BaseDecisionTree)
        and "tree_" in vars(tree)
        and vars(tree)["n_features_in_"] == state.get("n_features_in_")
        for tree in trees
    ):
        raise DataFormatError("a forest and its trees do not belong together")
    for tree in trees:
        _check_classes(state, tree.tree_.n_outputs, tree.tree_.n_classes)


def _check_booster(booster: Any) -> None:
    """Check that each iteration has one tree per column, and features in range."""
    state = vars(booster)
    if "_predictors" not in state:
        return
    if state.get("is_categorical_") is not None:
        raise DataFormatError(
            "a HistGradientBoostingClassifier is saved only without categorical "
            "features; encode them as numbers first"
        )
    if state.get("warm_start"):
        raise DataFormatError(
            "a HistGradientBoostingClassifier is saved only with warm_start=False"
        )
    count, q = state.get("n_trees_per_iteration_"), len(state.get("classes_", ()))
    features = state.get("n_features_in_", 0)
    if q < 2 or count != (1 if q == 2 else q) or "_baseline_prediction" not in state:
        raise DataFormatError("a boosted model was fitted on other classes")
    for trees in state["_predictors"]:
        if len(trees) != count or not all(map(_is_boosted, trees)):
            raise DataFormatError("an iteration of boosting lacks trees")
        if any(tree.nodes["feature_idx"].max() >= features for tree in trees):
            raise DataFormatError("a boosted tree was fitted on more features")


def _check_classes(state: dict[str, Any], n_outputs: int, n_classes: Any) -> None:
    classes = state.get("classes_")
    classes = [classes] if isinstance(classes, np.ndarray) else classes or []
    if (
        state.get("n_outputs_") != n_outputs
        or not np.array_equal(np.ravel(state.get("n_classes_", 0)), n_classes)
        or [len(labels) for labels in classes] != list(n_classes)
    ):
        raise DataFormatError("a tree was fitted on other classes")


_IN_PLACE = ("passthrough", "drop")
_STEPS = {"steps": 2, "transformer_list": 2, "transformers_": 3}  # and their sizes
# Regular expressions can take for ever on text that is made for it.
_TOKEN_PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b")
_MAX_NGRAM = 32  # as long as the text they take the square of its length


def check_sound(estimator: BaseEstimator) -> None:
    """Raise for parameters and attributes that the class would not set."""
    name = type(estimator).__name__
    try:
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except Exception as error:
        # Without the value, which comes from the file and may be anything.
        reason = str(error).partition(" Got ")[0]
        raise DataFormatError(f"{name} holds parameters it refuses: {reason}") from None
    check_state(estimator)
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
    if max(vectorizer.ngram_range) > _MAX_NGRAM:
        raise DataFormatError(
            f"a TfidfVectorizer is loaded only with n-grams up to {_MAX_NGRAM}"
        )
    words = getattr(vectorizer, "vocabulary_", {})
    if not all(type(word) is str for word in words):
        raise DataFormatError("the vocabulary of a TfidfVectorizer holds no words")
    if sorted(map(int, words.values())) != list(range(len(words))):
        raise DataFormatError("the vocabulary of a TfidfVectorizer skips columns")
    idf = getattr(vars(vectorizer).get("_tfidf"), "idf_", None)
    if idf is not None and len(idf) != len(words):
        raise DataFormatError("a TfidfVectorizer has weights of other words")


def _check_encoder(encoder: Any) -> None:
    """Check the categories, which compiled code uses as column numbers."""
    state = vars(encoder)
    categories = state.get("categories_", [])
    groups = state.get("_infrequent_indices", [None] * len(categories))
    if "categories_" in state and not (
        len(categories) == len(groups) == state.get("n_features_in_")
        and all(map(_are_categories, categories))
        and all(map(_is_group, groups, map(len, categories)))
    ):
        raise DataFormatError(f"the categories of {type(encoder).__name__} do not fit")


def _are_categories(values: NDArray[Any]) -> bool:
    """Whether categories are sorted, as lookups require."""
    if values.dtype.kind == "f" and values.size and np.isnan(values[-1]):
        values = values[:-1]
    return values.dtype.kind not in "iuf" or bool((np.diff(values) > 0).all())


def _is_group(rare: NDArray[Any] | None, count: int) -> bool:
    if rare is None:
        return True
    order = bool((np.diff(rare) > 0).all())
    return rare.size > 0 and order and rare[0] >= 0 and bool(rare[-1] < count)


def _check_steps(composed: Any) -> None:
    """Check that steps are named estimators, or their placeholders."""
    for attribute, size in _STEPS.items():
        steps = vars(composed).get(attribute, [])
        if not isinstance(steps, (list, tuple)) or not all(
            isinstance(step, (list, tuple))
            and len(step) == size
            and isinstance(step[0], str)
            and _is_step(step[1])
            for step in steps
        ):
            raise DataFormatError(
                f"the steps of a {type(composed).__name__} do not fit"
            )


def _is_step(part: Any) -> bool:
    word = part is None or (isinstance(part, str) and part in _IN_PLACE)
    return word or isinstance(part, BaseEstimator)


def _check_function(transformer: Any) -> None:
    if not (transformer.func is None is transformer.inverse_func):
        raise DataFormatError("a FunctionTransformer is saved only without a function")


def _check_memory(pipeline: Pipeline) -> None:
    if pipeline.memory is not None:
        raise DataFormatError("a Pipeline with a cache on disk is not loaded")


_CHECKS: tuple[tuple[Any, Any], ...] = (
    ((ColumnTransformer, FeatureUnion, Pipeline), _check_steps),
    (FunctionTransformer, _check_function),
    ((OneHotEncoder, OrdinalEncoder), _check_encoder),
    (BaseDecisionTree, check_tree_owner),
    (HistGradientBoostingClassifier, _check_booster),
    ((RandomForestClassifier, ExtraTreesClassifier), check_forest),
    (TfidfVectorizer, _check_text),
    (Pipeline, _check_memory),
)
