"""Damaged and crafted model files, and the use of those that load."""

import copy
import json
import random
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from partlearn.classification import IPAL, PLAGGD, PLECOC, PLKNN, PLSVM
from partlearn.decomposition import CENDA, CRISP
from partlearn.feature_selection import SAUTE
from partlearn.io import DataError, Limits
from partlearn.multilabel import MLKNN
from partlearn.persistence import Model, load_model, save_model
from tools.fuzz.mutate import archive, inside_zip, members, mutate
from tools.fuzz.watch import nothing_but

LIMITS = Limits(max_bytes=2**26)
OUTPUTS = ("transform", "predict", "predict_proba", "decision_function")
ODD = [
    None, True, 0, -1, 1, 2**31, 2**63, 10**400, -(2**40), 0.0, 1e308, "", "x" * 2000,
    "os:system", "partlearn:CENDA", "sklearn:Pipeline", "sklearn:FunctionTransformer",
    "builtins:eval", "../../etc/passwd", "object", "|O", "nan", "str99", "int32",
    "__class__", "float64", [], [[]], [0, 1], [-1, 3], [2**40, 2**40], {},
    {"float": "x"}, {"float": "nan"}, {"tuple": []}, {"dict": [[1, 2]]},
    {"type": "numpy.float64"},
    {"dtype": "object"}, {"slice": [0, 1, 2]}, {"reduce": "os.system"},
    {"objects": {"shape": [1], "values": [None]}}, {"tree": {"dict": []}},
    {"object": {"class": "partlearn:CENDA", "state": {}}},
    {"part": {"class": "Predictor", "state": {}}},
]  # fmt: skip


def make_seeds(folder):
    """Sound files of several kinds, with rows to use each on."""
    rng = np.random.default_rng(0)
    X = rng.random((24, 4))
    truth = np.arange(24) % 3
    S = np.eye(3, dtype=bool)[truth] | (rng.random((24, 3)) < 0.3)
    table = np.column_stack(
        [X.astype(object), rng.choice(["a", "b"], 24), rng.choice(["u v", "v w"], 24)]
    )
    encoder = ColumnTransformer(
        [
            ("numbers", StandardScaler(), [0, 1, 2, 3]),
            ("words", OneHotEncoder(handle_unknown="ignore"), [4]),
            ("text", make_pipeline(TfidfVectorizer(token_pattern=r"(?u)\b\w+\b")), 5),
        ]
    )
    forest = RandomForestClassifier(2, max_depth=3, random_state=0)
    fitted = [
        (CENDA(), X),
        (CRISP(), X),
        (SAUTE(2), X),
        (PLKNN(3), X),
        (PLKNN(3), sp.csr_array(X)),
        (IPAL(3), X),
        (PLAGGD(3), X),
        (PLSVM(max_iter=20), X),
        (PLECOC(8, estimator=forest, min_size=1, random_state=0), X),
        (MLKNN(3), X),
        (make_pipeline(encoder, TruncatedSVD(2, random_state=0), PLKNN(3)), table),
    ]
    seeds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, rows in fitted:
            model = Model(model.fit(rows, S), feature_names=["a"], target_names=["b"])
            seeds.append((save_model(model, folder / "seed").read_bytes(), rows))
        forest = Model(forest.fit(X, truth))
        seeds.append((save_model(forest, folder / "seed").read_bytes(), X))
    return seeds


def _places(node, found):
    """Every container of the document, to change something inside."""
    if isinstance(node, (dict, list)) and node:
        found.append(node)
        for child in node.values() if isinstance(node, dict) else node:
            _places(child, found)
    return found


def craft(data, rng):
    """Change the document of a model file, and keep the file sound otherwise."""
    content = members(data)
    document = json.loads(content["model.json"])
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        places = _places(document, [])
        node = rng.choice(places)
        key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        how = rng.randrange(6)
        if how == 0:
            del node[key]
        elif how == 1 and isinstance(node, dict):
            names = [k for other in places if isinstance(other, dict) for k in other]
            node[rng.choice(names)] = node.pop(key)
        elif how == 2:
            other = rng.choice(places)
            values = list(other.values()) if isinstance(other, dict) else other
            # A copy, or else the document may come to hold itself.
            node[key] = copy.deepcopy(rng.choice(values))
        elif how == 3 and isinstance(node[key], int):
            node[key] += rng.choice([-1, 1, 2**16, -(2**33)])
        elif how == 4 and key == "shape" and isinstance(node[key], list):
            node[key] = rng.choice([node[key][::-1], [*node[key], 1]])
        else:
            node[key] = copy.deepcopy(rng.choice(ODD))
        if not isinstance(document, dict):
            break
    text = json.dumps(document).replace("1" + "0" * 400, "9" * rng.choice([400, 5000]))
    return archive({**content, "model.json": text})


class Target:
    """Load mutated models: documented errors, nothing outside, no crash in use."""

    checks_bounds = True

    def __init__(self, folder):
        self.path = folder / "model"
        self.seeds = make_seeds(folder)
        for data, rows in self.seeds:
            self.path.write_bytes(data)
            model = load_model(self.path).estimator
            assert _use(model, rows), "the sound file must work"
            repr(model)  # an error shows estimators by a module of scikit-learn's

    def attempt(self, i):
        """Load the i-th file; whether a model came of it."""
        rng = random.Random(f"models {i}")
        data, rows = rng.choice(self.seeds)
        change = rng.choice([mutate, inside_zip, inside_zip, craft, craft, craft])
        self.path.write_bytes(change(data, rng))
        try:
            with nothing_but(self.path):
                model = load_model(self.path, limits=LIMITS)
        except DataError:
            return False
        _use(model.estimator, rows)
        return True


def _use(model, rows):
    """Use a model that may be nonsense; Python's own errors are all right."""
    worked = False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in OUTPUTS:
            try:
                getattr(model, name)(rows)
            except Exception:
                continue
            worked = True
    return worked
