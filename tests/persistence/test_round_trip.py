"""Every public estimator, and pipelines around them, come back as they were."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from tests.estimators import build

from partlearn.classification import PLECOC, PLKNN, PLSVM
from partlearn.decomposition import CENDA, CRISP
from partlearn.persistence import Model, load_model, save_model
from partlearn.tables import TableEncoder
from partlearn.utils import all_estimators

FEWER = {
    "CandidateClassifier": {"cv": 3, "max_iter": 1},
    "DRMFS": {"max_iter": 20},
    "MIFS": {"max_iter": 5},
    "PMLFP": {"max_iter": 2, "inner_iter": 5},
    "PMLFSLA": {"n_init": 1, "max_iter": 20},
    "PMLFSNF": {"alpha": 0.5},
    "PMLFSSO": {"max_iter": 20},
    "PMLLC": {"max_iter": 2, "inner_iter": 5},
}
OUTPUTS = ("transform", "predict", "predict_proba", "decision_function")
# What brief fits on few rows say is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore")


def data(dtype=np.float64):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 15)
    X = rng.random((45, 6)) + truth[:, None] * np.array([1, 0, 1, 0, 0, 0])
    S = np.eye(3, dtype=bool)[truth]
    S[np.arange(45), (truth + rng.integers(1, 3, 45)) % 3] |= rng.random(45) < 0.4
    return X.astype(dtype), S


def independent(value):
    """State without the memory address that a TfidfVectorizer keeps."""
    return {k: v for k, v in vars(value).items() if k != "_stop_words_id"}


def assert_same(one, other):
    """Compare values in depth: types, dtypes, layouts and bits."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.dtype == object:
            assert one.tolist() == other.tolist()
        else:
            assert one.tobytes() == other.tobytes()
            assert other.flags.forc
            if one.flags.forc:
                assert one.flags.f_contiguous == other.flags.f_contiguous
    elif sparse.issparse(one):
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(one, part), getattr(other, part))
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif type(one).__name__ == "Tree":
        assert_same(one.__getstate__(), other.__getstate__())
    elif hasattr(one, "__dict__") and not isinstance(one, type):
        one, other = independent(one), independent(other)
        assert_same(dict(sorted(one.items())), dict(sorted(other.items())))
    else:
        assert one == other or (one != one and other != other)


def assert_round_trip(estimator, X, path):
    loaded = load_model(save_model(estimator, path)).estimator
    assert_same(estimator, loaded)
    for name in OUTPUTS:
        if hasattr(estimator, name):
            assert_same(getattr(estimator, name)(X), getattr(loaded, name)(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", dict(all_estimators()))
def test_every_estimator(name, dtype, tmp_path):
    X, S = data(dtype)
    estimator = build(name, **FEWER.get(name, {})).fit(X, S)
    assert_round_trip(estimator, X, tmp_path / "model")


@pytest.mark.parametrize("name", dict(all_estimators()))
def test_every_estimator_before_fit(name, tmp_path):
    path = save_model(build(name), tmp_path / "m")
    assert_same(build(name), load_model(path).estimator)


@pytest.mark.parametrize("cls", [PLKNN, CRISP, PLSVM])
def test_frames_and_sparse_features(cls, tmp_path):
    X, S = data()
    X = pd.DataFrame(X, columns=[f"größe {j}" for j in range(6)])
    S = pd.DataFrame(S, columns=["cat", "dog", "Übel"])
    assert_round_trip(cls().fit(X, S), X, tmp_path / "m")
    X = sparse.csr_array(X.to_numpy())
    assert_round_trip(cls().fit(X, S), X, tmp_path / "m")


def test_a_table_of_all_kinds(tmp_path):
    X, S = data()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[3, "a"] = np.nan
    frame["kind"] = rng.choice(["x", "y", "z"], 45)
    frame["size"] = rng.choice(["s", "m"], 45)
    frame["note"] = rng.choice(["broken screen", "late parcel", "wrong parcel"], 45)
    numbers = make_pipeline(
        SimpleImputer(add_indicator=True), FeatureUnion([("s", StandardScaler())])
    )
    text = make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0))
    table = ColumnTransformer(
        [
            ("numbers", numbers, ["a", "b", "c"]),
            ("scaled", make_pipeline(MinMaxScaler(), MaxAbsScaler()), slice(3, 5)),
            ("robust", make_pipeline(RobustScaler(), PCA(1)), ["f", "e"]),
            ("one-hot", OneHotEncoder(handle_unknown="ignore"), ["kind"]),
            ("ordinal", OrdinalEncoder(), ["size"]),
            ("text", text, "note"),
        ],
        sparse_threshold=0,
    )
    model = make_pipeline(table, PLKNN()).fit(frame, S)
    assert_round_trip(model, frame, tmp_path / "m")


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(),
        DecisionTreeClassifier(random_state=0),
        ExtraTreeClassifier(random_state=0, max_leaf_nodes=5),
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0, oob_score=True, bootstrap=True),
    ],
)
def test_other_learners(learner, tmp_path):
    X, S = data()
    assert_round_trip(PLECOC(estimator=learner).fit(X, S), X, tmp_path / "m")
    X[3, 2] = np.nan
    labels = np.array(["a", "b", "c"])[S.argmax(axis=1)]
    if not isinstance(learner, LogisticRegression):
        assert_round_trip(learner.fit(X, labels), X, tmp_path / "m")


def test_names_travel_with_the_model(tmp_path):
    model = Model(CENDA(), feature_names=["a", "b"], target_names=("cat", "dog"))
    loaded = load_model(save_model(model, str(tmp_path / "any.name")))
    assert loaded.feature_names == ["a", "b"]
    assert loaded.target_names == ["cat", "dog"]


def test_the_same_model_gives_the_same_file(tmp_path):
    X, S = data()
    model = PLKNN().fit(X, S)
    one, two = (save_model(model, tmp_path / name) for name in "ab")
    assert one.read_bytes() == two.read_bytes()


def test_an_array_that_is_used_twice_is_stored_once(tmp_path):
    names = np.array(["a", "b"])
    model = TableEncoder(number=names, ignore=names)
    loaded = load_model(save_model(model, tmp_path / "m")).estimator
    assert loaded.number is loaded.ignore


def test_values_of_every_kind(tmp_path):
    model = TableEncoder()
    model.number = [
        None, True, 3, -1.5, float("nan"), float("inf"), "\ud800", (1, (2,)), [],
        {"a": 1, 2: (), None: "x", 1.5: 0, True: 1},
        slice(None, 3), np.dtype("float32"), np.float32, float, np.float32(0.1),
        np.int8(-3), np.str_("ü"), np.bool_(True), np.float64("nan"),
        np.array(["a", "bcd"]), np.array("x"), np.array([], dtype="U1"),
        np.zeros((0, 3)), np.array(3, dtype=np.uint64),
        np.array([None, "a", 1.5, True], dtype=object),
        np.array([["a"], ["b"]], dtype=object), np.array([True, False]),
        np.asfortranarray(np.arange(6).reshape(2, 3)), np.arange(12)[::3],
        np.arange(3, dtype=">i4"), sparse.csc_matrix(np.eye(2)),
    ]  # fmt: skip
    loaded = load_model(save_model(model, tmp_path / "m")).estimator
    for one, other in zip(model.number, loaded.number, strict=True):
        if isinstance(one, np.ndarray) and one.dtype.byteorder == ">":
            one = one.astype("=i4")
        assert_same(one, other)


class Mine(CENDA):
    pass


def itself():
    values = []
    values.append(values)
    return values


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (len, "TableEncoder.number is a builtins.builtin_function_or_method"),
        (FunctionTransformer(len), "FunctionTransformer"),
        ([SVC()], r"TableEncoder.number\[0\] is a sklearn.svm"),
        (Mine(), "Mine"),
        (np.array([len], dtype=object), "an element of TableEncoder.number"),
        (np.array([1j]), "array of complex128"),
        (np.datetime64("2020-01-01"), "datetime64"),
        ({(1, 2): 3}, "a key of TableEncoder.number is a builtins.tuple"),
        (itself(), "nested too deeply, or holds itself"),
        ({1, 2}, "builtins.set"),
        (make_pipeline(CENDA(), memory="folder"), "cache on disk"),
        (TfidfVectorizer(input="filename"), "opens files"),
        (TfidfVectorizer(token_pattern="(a+)+$"), "token_pattern"),
        (PLKNN(n_neighbors=-1), "n_neighbors"),
    ],
)
def test_what_cannot_be_saved_is_named(value, message, tmp_path):
    model = TableEncoder(number=value)
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_only_estimators_are_models(tmp_path):
    with pytest.raises(ValueError, match="a SVC cannot be saved"):
        save_model(SVC(), tmp_path / "m")
    with pytest.raises(FileNotFoundError, match="no such model file"):
        load_model(tmp_path / "absent")
