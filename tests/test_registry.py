"""The one list of methods, and that a new one needs no other list."""

import importlib
import sys
import textwrap

import numpy as np
import pytest
from typer.testing import CliRunner

from partlearn import _registry, disambiguate
from partlearn._registry import MethodError, build, check_packages, find, methods
from partlearn.benchmark import parse_plan, run_plan
from partlearn.utils import all_estimators

TOYS = {
    "decomposition": (
        "ToyReducer",
        """
        import numpy as np
        from partlearn.base import BaseReducer
        from partlearn.candidates import uniform_confidence
        from partlearn.base import validate_partial_data

        class ToyReducer(BaseReducer):
            def __init__(self, n_components=2):
                self.n_components = n_components

            def fit(self, X, y):
                X, S = validate_partial_data(self, X, y)
                self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0) + 1
                self.components_ = np.eye(X.shape[1])[: self.n_components]
                self.label_confidence_ = uniform_confidence(S)
                return self

            def transform(self, X):
                return ((X - self.mean_) / self.scale_) @ self.components_.T
        """,
    ),
    "multilabel.feature_selection": (
        "ToySelector",
        """
        import numpy as np
        from partlearn.base import BaseSelector

        class ToySelector(BaseSelector):
            def __init__(self, n_features_to_select=2):
                self.n_features_to_select = n_features_to_select

            def fit(self, X, y):
                self.n_features_in_ = X.shape[1]
                scores = np.asarray(X).std(axis=0)
                order = np.argsort(-scores)[: self.n_features_to_select]
                self._select(order, scores, np.empty(0, dtype=int))
                return self
        """,
    ),
    "classification": (
        "ToyClassifier",
        """
        import numpy as np
        from partlearn.base import BaseCandidateClassifier
        from partlearn.base import validate_partial_data

        class ToyClassifier(BaseCandidateClassifier):
            def fit(self, X, y):
                X, S = validate_partial_data(self, X, y)
                self.share_ = S.mean(axis=0) / S.mean(axis=0).sum()
                return self

            def predict_proba(self, X):
                return np.tile(self.share_, (len(X), 1))
        """,
    ),
}


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Follow the checklist: a file of its own, and a line in ``__init__``."""
    for package, (name, text) in TOYS.items():
        folder = tmp_path / package
        folder.mkdir()
        (folder / "_toy.py").write_text(textwrap.dedent(text))
        module = importlib.import_module(f"partlearn.{package}")
        monkeypatch.setattr(module, "__path__", [*module.__path__, str(folder)])
        toy = importlib.import_module(f"partlearn.{package}._toy")
        monkeypatch.setattr(module, name, getattr(toy, name), raising=False)
        monkeypatch.setattr(module, "__all__", [*module.__all__, name])
    yield
    for package in TOYS:
        sys.modules.pop(f"partlearn.{package}._toy")
        vars(sys.modules[f"partlearn.{package}"]).pop("_toy", None)


def test_a_method_that_is_exported_is_known_everywhere(toys, tmp_path):
    assert find("toy-reducer", "reducer").__name__ == "ToyReducer"
    assert find("TOY_SELECTOR", "multilabel selector").__name__ == "ToySelector"
    assert find("toyclassifier", "learner").__name__ == "ToyClassifier"
    assert {"ToyReducer", "ToySelector", "ToyClassifier"} <= dict(
        all_estimators()
    ).keys()

    X, y = [[0.0, 1.0], [0.1, 0.0], [1.0, 2.0]], ["a", "a", "b"]
    assert disambiguate(X, y, method="toy-reducer").label.tolist() == y
    assert disambiguate(X, y, method="toy-classifier").label.tolist() == y

    plan = parse_plan(
        '[plan]\nname = "p"\nfolds = 2\n'
        '[[data]]\nsource = "sklearn:iris"\nr = 1\n'
        '[[reducers]]\nclass = "ToyReducer"\n[[learners]]\nclass = "ToyClassifier"\n'
    )
    assert run_plan(plan, tmp_path / "partial").facts["n_failed"] == 0
    plan = parse_plan(
        '[plan]\nname = "p"\ntask = "multilabel"\nfolds = 2\nrandom_draws = 1\n'
        'percentages = [20]\nlabels = ["candidates"]\n'
        '[[data]]\nsource = "sklearn:multilabel"\nr = 1\nmax_rows = 60\n'
        '[[selectors]]\nclass = "ToySelector"\n[[learners]]\nclass = "MLKNN"\n'
    )
    assert run_plan(plan, tmp_path / "multilabel").facts["n_failed"] == 0


def test_the_command_line_knows_a_method_that_is_exported(toys, tmp_path):
    from partlearn.cli._app import app

    table = tmp_path / "data.csv"
    table.write_text("a,b,labels\n1,2,x\n2,1,x|y\n3,3,y\n4,5,x\n")
    out = ["--out", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(
        app,
        ["reduce", str(table), "--labels", "labels", "--method", "toy-reducer", *out],
    )
    assert done.exit_code == 0, done.output
    assert done.output.startswith("ToyReducer: 4 rows, 2 features to 2")


def test_every_method_has_one_role():
    by_role = {role: methods(role) for role in _registry.ROLES}
    assert {"CENDA", "CRISP", "TunedPCA"} <= by_role["reducer"].keys()
    assert {"SAUTE", "CRISPSelector"} <= by_role["selector"].keys()
    assert {"PLKNN", "CoupledClassifier"} <= by_role["learner"].keys()
    assert {"PMLFSLA", "MIFS", "TRACE"} <= by_role["multilabel selector"].keys()
    assert {"MLKNN", "PMLLC"} <= by_role["multilabel learner"].keys()
    names = [name for known in by_role.values() for name in known]
    assert sorted(names) == list(methods())
    assert list(methods()) == [name for name, _ in all_estimators()]


def test_multilabel_selectors_are_not_offered_for_partial_labels():
    with pytest.raises(MethodError, match="no selector named 'pmlfsla'") as caught:
        find("pmlfsla", "selector")
    assert "MIFS" not in str(caught.value)


def test_parts_that_a_method_needs():
    assert methods()["PLKNN"].required == ()
    assert methods()["CoupledClassifier"].required == ("reducer", "classifier")
    with pytest.raises(MethodError, match="needs the parameter `reducer`"):
        build("CoupledClassifier", {}, "learner")
    parts = {"reducer": {"class": "CENDA"}, "classifier": {"class": "PLKNN"}}
    coupled = build("coupled-classifier", parts, "learner")
    X = np.arange(12.0).reshape(6, 2)
    assert coupled.fit(X, list("ababab")).predict(X).shape == (6,)


def test_a_misspelt_part_is_named():
    wrong = {"class": "CENDA", "parameters": {}}
    with pytest.raises(MethodError, match="not `parameters`"):
        build("CoupledClassifier", {"reducer": wrong, "classifier": wrong})


@pytest.mark.parametrize(
    "part", [{"class": 5}, {"class": "CENDA", "params": "x"}, {"class": ["a:B"]}]
)
def test_a_part_of_the_wrong_kind_is_shown(part):
    with pytest.raises(MethodError, match="name as its `class` and a table"):
        build("CoupledClassifier", {"reducer": part, "classifier": part})


@pytest.mark.parametrize(
    "name", [":X", ".relative:X", "math:", "no_such_module:X", "math:pi"]
)
def test_paths_that_are_no_class(name):
    with pytest.raises(MethodError, match=r"cannot be imported|not a class"):
        find(name)


@pytest.mark.parametrize(
    "value",
    [
        "subprocess:Popen",
        "os:system",
        "sklearnx.evil:Evil",
        "sklearn_evil:Evil",
        {"steps": [["a", {"class": "mine:A"}]]},
        {"class": "PLKNN", "params": {"x": {"class": "mine.deep:A"}}},
        [[[{"class": "mine:A"}]]],
        {"a": {"b": {"c": {"class": "mine:A"}}}},
    ],
)
def test_packages_that_nobody_allowed(value):
    with pytest.raises(MethodError, match=r"package '(subprocess|os|sklearn|mine)"):
        check_packages(value)


def test_packages_that_are_allowed():
    check_packages("PLKNN")
    check_packages({"separator": "a:b", "parts": ["c:d"]})  # texts, not classes
    check_packages("sklearn.decomposition:PCA")
    check_packages({"steps": [["a", {"class": "mine.deep:A"}]]}, allow=["mine"])


@pytest.mark.parametrize("name", ["subprocess:Popen", "os:system", "builtins:object"])
def test_only_estimators_are_methods(name):
    with pytest.raises(MethodError, match="not a class of estimators"):
        find(name)
