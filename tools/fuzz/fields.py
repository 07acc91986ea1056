"""Model files of which one field of the saved state was made wrong, and their use.

The document of a model is read as estimators with attributes. Each attribute is, in
turn, removed, or given another kind, shape or dtype, or numbers that are too large,
negative, infinite or NaN. The rest of the file stays sound, so that only a check of
this field can refuse it.
"""

import copy
import json
import random
import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from partlearn import PartialClassifier
from partlearn._registry import methods
from partlearn.classification import PLECOC, PLKNN
from partlearn.decomposition import CENDA
from partlearn.io import DataError, Limits
from partlearn.persistence import load_model, save_model
from tools.fuzz.mutate import archive, members
from tools.fuzz.watch import nothing_but

LIMITS = Limits(max_bytes=2**26)
USES = (
    "transform", "predict", "predict_proba", "decision_function", "decision_path",
    "apply", "kneighbors",
)  # fmt: skip
NUMBERS = (-1, 0, 2, 7, 2**31 - 1, 2**40, 0.5, -1e308, {"float": "nan"},
           {"float": "inf"}, True, None, "wrong", [], {"tuple": []})  # fmt: skip
PARTS = {
    "reducer": CENDA,
    "estimators": lambda: [PLKNN(), PLKNN(3)],
}
# With the defaults its scores vanish on so few rows.
GENTLE = {"PMLFSNF": {"alpha": 0.5}}
BRIEF = {"max_iter": 3, "n_init": 1, "inner_iter": 3}


def sound_models():
    """Fitted models of every class that can be saved, with rows to use them on."""
    rng = np.random.default_rng(0)
    X, truth = rng.random((24, 4)), np.arange(24) % 3
    X[:, 0] += truth
    S = np.eye(3, dtype=bool)[truth] | (rng.random((24, 3)) < 0.3)
    for name, method in methods().items():
        parts = {part: PARTS.get(part, PLKNN)() for part in method.required}
        known = method.cls(**parts).get_params(deep=False)
        brief = {key: value for key, value in BRIEF.items() if key in known}
        brief |= GENTLE.get(name, {})
        yield name, method.cls(**parts, **brief).fit(X, S), X
    yield "PLKNN, sparse", PLKNN(3).fit(sparse.csr_array(X), S), sparse.csr_array(X)
    labels = np.array(["a", "b", "c"])[truth]
    for learner in (
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(2, max_depth=3, random_state=0),
        ExtraTreesClassifier(2, max_depth=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3, random_state=0),
    ):
        yield type(learner).__name__, learner.fit(X, labels), X
    forest = RandomForestClassifier(2, max_depth=3, random_state=0)
    yield "PLECOC", PLECOC(8, estimator=forest, min_size=1, random_state=0).fit(X, S), X
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "a"] = np.nan
    frame["kind"] = rng.choice(["x", "y", "z", "w"], 24)
    frame["size"] = rng.choice([1, 2, 5], 24)
    frame["note"] = rng.choice(["broken screen", "late parcel", "wrong parcel"], 24)
    yield "tables", _encoder().fit(frame), frame
    table = frame.assign(label=["a|b" if i % 4 else "c" for i in range(24)])
    model = PartialClassifier(labels="label", text="note", method=PLKNN(3)).fit(table)
    yield "PartialClassifier", model, frame


def _encoder():
    numbers = make_pipeline(
        SimpleImputer(add_indicator=True), FeatureUnion([("s", StandardScaler())])
    )
    rare = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3)
    return ColumnTransformer(
        [
            ("numbers", numbers, ["a"]),
            ("scaled", make_pipeline(MinMaxScaler(), MaxAbsScaler()), [1]),
            ("robust", make_pipeline(RobustScaler(), PCA(1)), ["c"]),
            ("rare", rare, ["kind"]),
            ("one-hot", OneHotEncoder(drop="first"), ["size"]),
            ("ordinal", OrdinalEncoder(), ["kind"]),
            ("text", make_pipeline(TfidfVectorizer(), TruncatedSVD(2)), "note"),
        ],
        remainder="passthrough",
        sparse_threshold=1,
    )


def fields(node, path=()):
    """Paths to every attribute of every estimator and part, and what those hold."""
    if isinstance(node, list):
        for i, item in enumerate(node[:3]):  # the others are of the same kind
            yield from fields(item, (*path, i))
    elif isinstance(node, dict) and len(node) == 1:
        ((kind, spec),) = node.items()
        if kind in ("object", "part"):
            for name, value in spec["state"].items():
                place = (*path, kind, "state", name)
                yield place, value
                yield from fields(value, place)
        elif kind == "dict":
            for i, (_, value) in enumerate(spec[:12]):
                place = (*path, kind, i, 1)
                yield place, value
                yield from fields(value, place)
        elif kind in ("tuple", "tree"):
            yield from fields(spec, (*path, kind))


def wrongs(value):
    """Ways to make one value wrong, each a function of (value, members) to a value."""
    ways = [("other", i) for i in range(len(NUMBERS))] + [("absent", 0), ("more", 0)]
    if isinstance(value, list):
        ways += [("shorter", 0), ("longer", 0), ("shuffled", 0)]
    if isinstance(value, dict):
        (kind,) = value
        if kind in ("dict", "tuple"):
            ways += [("shorter", 0), ("longer", 0)]
        if kind in ("array", "sparse"):
            ways += [(name, 0) for name in ARRAYS]
    return ways


def _less(A):
    return A[:-1]


def _narrow(A):
    return A[..., :-1]


def _wide(A):
    return np.concatenate([A, A[..., :1]], axis=-1)


def _extreme(value):
    def change(A, place=0):
        A = A.copy()
        A.flat[place : place + 1] = value
        return A

    return change


def _largest(dtype):
    return np.iinfo(dtype).max if dtype.kind in "iu" else 1e300


ARRAYS = {
    "less": _less,
    "narrow": _narrow,
    "wide": _wide,
    "flat": np.ravel,
    "deep": lambda A: A[None],
    "empty": lambda A: A[:0],
    "single": lambda A: A.astype("f4"),
    "integer": lambda A: np.nan_to_num(A).astype("i8"),
    "text": lambda A: A.astype("U5"),
    "truth": lambda A: A.astype(bool),
    "reversed": lambda A: np.ascontiguousarray(A[::-1]),
    "negative": _extreme(-1),
    "large": _extreme(10**6),
    "huge": lambda A, place: _extreme(_largest(A.dtype))(A, place),
    "nan": lambda A, place: _extreme(np.nan)(A.astype("f8"), place),
    "infinite": lambda A, place: _extreme(-np.inf)(A.astype("f8"), place),
    "zeros": np.zeros_like,
}
PLACED = ("negative", "large", "huge", "nan", "infinite")  # somewhere in the array


def _parent(document, path):
    node = document
    for step in path[:-1]:
        node = node[step]
    return node, path[-1]


def make_wrong(data, path, way, rng):
    """Bytes of a model file with one field made wrong; None if it cannot be."""
    content = members(data)
    document = json.loads(content["model.json"])
    parent, key = _parent(document["estimator"], path)
    name, i = way
    value = parent[key]
    if name == "other":
        parent[key] = copy.deepcopy(NUMBERS[i])
    elif name == "absent":
        del parent[key]
    elif name == "more":
        if not isinstance(parent, dict):
            return None
        parent[f"{key}x_"] = value
    elif name in ARRAYS:
        part = rng.choice(["data", "indices", "indptr"])
        spec = value.get("array") or value["sparse"][part]
        if isinstance(spec["shape"], list) and not spec["shape"]:
            return None
        if not _change_array(content, spec, name, rng):
            return None
    else:
        items = value if isinstance(value, list) else next(iter(value.values()))
        if not items:
            return None
        changed = {
            "shorter": items[:-1],
            "longer": [*items, copy.deepcopy(items[0])],
            "shuffled": items[::-1],
        }[name]
        if isinstance(value, list):
            parent[key] = changed
        else:
            parent[key] = {next(iter(value)): changed}
    used = {f"arrays/{n}" for n in _members_of(document)}
    content = {k: v for k, v in content.items() if k == "model.json" or k in used}
    return archive({**content, "model.json": json.dumps(document)})


def _members_of(node):
    if isinstance(node, dict):
        if isinstance(node.get("member"), int):
            yield node["member"]
        for child in node.values():
            yield from _members_of(child)
    elif isinstance(node, list):
        for child in node:
            yield from _members_of(child)


def _change_array(content, spec, name, rng):
    """Write a changed array under a name of its own; whether that was possible."""
    text = spec["dtype"].startswith("str")
    dtype = f"<U{spec['dtype'][3:]}" if text else np.dtype(spec["dtype"])
    flat = np.frombuffer(content[f"arrays/{spec['member']}"], dtype)
    A = flat.reshape(spec["shape"], order=spec["order"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place = (rng.randrange(max(1, A.size)),) if name in PLACED else ()
            B = np.asarray(ARRAYS[name](A, *place))
    except (ValueError, IndexError, TypeError, OverflowError):
        return False
    if B.dtype == A.dtype and B.shape == A.shape and B.tobytes() == A.tobytes():
        return False
    taken = [int(member[7:]) for member in content if member.startswith("arrays/")]
    spec["member"] = 1 + max(taken)
    name = f"str{B.dtype.itemsize // 4}" if B.dtype.kind == "U" else B.dtype.name
    spec.update(dtype=name, shape=list(B.shape), order="C")
    content[f"arrays/{spec['member']}"] = np.ascontiguousarray(B).tobytes()
    return True


class Target:
    """Load models with a wrong field; refused, or harmless in use.

    After as many tries as there are ways to make a field wrong, the same ways are taken
    at other places of the arrays.
    """

    checks_bounds = True

    def __init__(self, folder):
        self.path = folder / "model"
        self.seeds = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, model, rows in sound_models():
                data = save_model(model, self.path).read_bytes()
                loaded = load_model(self.path).estimator
                assert use(loaded, rows) or hasattr(loaded, "get_support"), name
                repr(loaded)  # an error shows estimators by a module of scikit-learn's
                self.seeds.append((name, data, rows))
        self.cases = [
            (seed, path, way)
            for seed, (_, data, _) in enumerate(self.seeds)
            for path, value in fields(
                json.loads(members(data)["model.json"])["estimator"]
            )
            for way in wrongs(value)
        ]
        random.Random("fields").shuffle(self.cases)

    def attempt(self, i):
        """Load the i-th file; whether a model came of it."""
        seed, path, way = self.cases[i % len(self.cases)]
        _, data, rows = self.seeds[seed]
        wrong = make_wrong(data, path, way, random.Random(f"fields {i}"))
        if wrong is None:
            return False
        self.path.write_bytes(wrong)
        try:
            with nothing_but(self.path):
                model = load_model(self.path, limits=LIMITS).estimator
        except DataError as error:
            if error.__cause__ is not None:  # no check foresaw it
                raise
            return False
        use(model, rows)
        return True

    def describe(self, i):
        """Which field of which model is made wrong, and how."""
        seed, path, way = self.cases[i % len(self.cases)]
        return f"{self.seeds[seed][0]}: {'.'.join(map(str, path))} {way}"


def use(model, rows):
    """Use a model that may be nonsense; whether anything worked.

    Python's own errors are all right. Of compiled loops, which check their bounds here,
    no error may come.
    """
    worked = False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in USES:
            try:
                getattr(model, name)(rows)
            except IndexError as error:
                if str(error) == "index is out of bounds":  # of numba
                    raise
            except MemoryError:
                raise
            except Exception:
                continue
            else:
                worked = True
    return worked
