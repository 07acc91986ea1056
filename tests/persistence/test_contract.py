"""The contract of sound state: every attribute declared, every wrong one refused."""

import ast
import inspect
import textwrap
from dataclasses import fields as dataclass_fields

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from tests.persistence.crafted import S, X, edited, load, refuse, state
from tools.fuzz import fields

from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.decomposition import CENDA
from partlearn.persistence import load_model, save_model
from partlearn.persistence._classes import estimator_classes, state_types
from partlearn.persistence._contract import declared_state
from partlearn.persistence._state import parse
from partlearn.persistence._vocabulary import PARTS

OURS = {n: c for n, c in estimator_classes().items() if n.startswith("partlearn:")}


def assigned(cls):
    """Attributes that methods of a class set on themselves, parameters apart."""
    names = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("partlearn"):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and (node.attr.endswith("_") or node.attr.startswith("_"))
            ):
                names.add(node.attr)
    return names


@pytest.mark.parametrize("name", OURS)
def test_every_attribute_is_declared(name):
    cls = OURS[name]
    lacking = sorted(assigned(cls) - declared_state(name).keys())
    assert not lacking, (
        f"say in partlearn.persistence._vocabulary what {', '.join(lacking)} of "
        f"{cls.__name__} may be: in ATTRIBUTES, or under {name!r} in CLASSES"
    )
    for part in state_types(cls).values():
        names = {field.name for field in dataclass_fields(part)}
        assert PARTS.get(part.__name__, {}).keys() == names, (
            f"say in PARTS of partlearn.persistence._vocabulary what the fields of "
            f"{part.__name__} may be: {', '.join(sorted(names))}"
        )


def test_every_declaration_can_be_read():
    for name in estimator_classes():
        for text in declared_state(name).values():
            parse(text)
    for part in PARTS.values():
        for text in part.values():
            parse(text)
    with pytest.raises(ValueError, match="describes no attribute"):
        parse("unreal[classes]")


def test_some_of_the_wrong_fields(tmp_path):
    """All of them take hours: ``python -m tools.fuzz fields``."""
    target = fields.Target(tmp_path)
    accepted = sum(target.attempt(i) for i in range(250))
    # What is used by nothing, and numbers that are other numbers.
    assert 20 < accepted < 100


def test_an_attribute_of_somebody_else_is_not_saved(tmp_path):
    model = CENDA()
    model.note_ = "mine"
    with pytest.raises(ValueError, match=r"CENDA.note_ is not an attribute of CENDA"):
        save_model(model, tmp_path / "m")


@pytest.mark.parametrize("name", ["note_", "_n_features_outs", "predict", "__class__"])
def test_an_attribute_of_somebody_else_is_not_loaded(name, tmp_path):
    path = edited(tmp_path / "m", lambda d: state(d).update({name: 1}))
    refuse(path, "cannot have an attribute")


def encoder_file(path, cls=OneHotEncoder, column=("x", "y", "z", "y"), **changes):
    encoder = cls().fit(np.array(column)[:, None])
    return edited(path, lambda d: state(d).update(changes), encoder)


@pytest.mark.parametrize(
    "derived",
    ["_n_features_outs", "_default_to_infrequent_mappings", "_infrequent_enabled"],
)
def test_what_an_encoder_derives_is_not_read(derived, tmp_path):
    """A number of columns of another size once made compiled code write elsewhere."""
    path = encoder_file(tmp_path / "m")
    assert load(path).estimator.transform([["y"]]).toarray().tolist() == [[0, 1, 0]]
    refuse(encoder_file(tmp_path / "m", **{derived: [1]}), "cannot have an attribute")


@pytest.mark.parametrize("cls", [OneHotEncoder, OrdinalEncoder])
def test_categories_are_in_the_order_in_which_they_are_looked_up(cls, tmp_path):
    """Else the place of the last is the number of categories: one column too far."""
    encoder = cls().fit(np.array([1.0, 2.0, 5.0, np.nan])[:, None])
    for values in ([5.0, 2.0, 1.0], [1.0, np.nan, 2.0], [1.0, 1.0]):
        encoder.categories_ = [np.array(values)]
        refuse(edited(tmp_path / "m", lambda d: None, encoder), "categories")
    encoder.categories_ = [np.array([1.0, 2.0, np.nan])] * 2
    refuse(edited(tmp_path / "m", lambda d: None, encoder), "categories")


@pytest.mark.parametrize("rare", [[], [3], [-1], [2, 0], [0, 0], [0.0]])
def test_rare_categories_are_categories(rare, tmp_path):
    encoder = OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist")
    encoder.fit(np.array(["x", "y", "z", "y"])[:, None])
    loaded = load(edited(tmp_path / "m", lambda d: None, encoder)).estimator
    assert loaded.get_feature_names_out().tolist() == ["x0_y", "x0_infrequent_sklearn"]
    encoder._infrequent_indices = [np.array(rare)]
    refuse(edited(tmp_path / "m", lambda d: None, encoder), "categories|not sound")


def test_a_category_to_drop_must_be_one(tmp_path):
    encoder = OneHotEncoder(drop=np.array(["x"])).fit(np.array([["x"], ["y"]]))
    encoder.drop = np.array(["q"])
    path = edited(tmp_path / "m", lambda d: None, encoder)
    refuse(path, "cannot have these categories")


def test_points_of_a_kernel_have_all_features(tmp_path):
    """Compiled distances once read beside points with fewer features than the rows."""
    model = CRISPClassifier(geometries=("linear", "laplacian"), n_landmarks=None)
    model.fit(np.vstack([X, X + 0.1]), np.vstack([S, S]))
    kernel = model.model_.geometries[1].map
    object.__setattr__(kernel, "points", kernel.points[:, :-1].copy())
    refuse(
        edited(tmp_path / "m", lambda d: None, model),
        r"geometries\[1\].map is not sound",
    )


def test_compiled_distances_compare_the_same_features():
    pytest.importorskip("numba")
    from partlearn._math.crossfit._kernels_numba import city_block

    with pytest.raises(ValueError, match="do not have the same features"):
        city_block(np.zeros((2, 3)), np.zeros((2, 2)))


def test_the_depth_of_a_tree_is_found_not_read(tmp_path):
    model = DecisionTreeClassifier(random_state=0).fit(X, np.arange(12) % 4)
    loaded = load_model(save_model(model, tmp_path / "m")).estimator
    assert loaded.tree_.max_depth == model.tree_.max_depth > 1
    paths = loaded.decision_path(X).toarray()
    np.testing.assert_array_equal(paths, model.decision_path(X).toarray())


def test_columns_that_pass_through(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 3.0]})
    table = ColumnTransformer([("s", StandardScaler(), ["a"])], remainder="passthrough")
    model = table.fit(frame)
    loaded = load_model(save_model(model, tmp_path / "m")).estimator
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="only without a function"):
        save_model(make_pipeline(FunctionTransformer(abs), PLKNN()), tmp_path / "m")


def test_text_gives_the_same_file_twice(tmp_path):
    """The file once held an address in memory."""
    files = set()
    for i in range(2):
        model = TfidfVectorizer(stop_words=["the", "of"]).fit(["the end", "of time"])
        files.add(save_model(model, tmp_path / str(i)).read_bytes())
        assert "_stop_words_id" not in vars(load_model(tmp_path / str(i)).estimator)
    assert len(files) == 1


def test_text_weights_the_words_it_has(tmp_path):
    model = TfidfVectorizer().fit(["some words", "more words"])
    model._tfidf.idf_ = model._tfidf.idf_[:-1]
    model._tfidf.n_features_in_ = 2
    path = edited(tmp_path / "m", lambda d: None, model)
    refuse(path, "weights of other words|not sound")


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (make_pipeline(StandardScaler(), PLKNN()), "steps"),
        (FeatureUnion([("s", StandardScaler())]), "transformer_list"),
        (ColumnTransformer([("s", StandardScaler(), [0])]).fit(X), "transformers_"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize(
    "wrong", [7, "s", [7], [["s"]], [["s", 7, [0]]], [["s", 7]], [[7, None, [0]]]]
)
def test_steps_are_estimators_with_names(model, attribute, wrong, tmp_path):
    path = edited(tmp_path / "m", lambda d: state(d).update({attribute: wrong}), model)
    refuse(path, "the steps of a|holds parameters it refuses|is not sound")
