"""Small plans and methods that misbehave on purpose."""

import os
import textwrap

import pytest

TOYS = '''
import os
import time

import numpy as np
from sklearn.base import BaseEstimator


class Constant(BaseEstimator):
    """Predicts the most frequent candidate."""

    def fit(self, X, y):
        self.top_ = int(y.sum(axis=0).argmax())
        self.label_confidence_ = y / y.sum(axis=1, keepdims=True)
        return self

    def predict(self, X):
        return np.full(len(X), self.top_)


class Broken(Constant):
    def fit(self, X, y):
        raise RuntimeError("broken <on> purpose")

    def transform(self, X):
        return X


class Warns(Constant):
    def fit(self, X, y):
        import warnings

        warnings.warn("careful", UserWarning)
        print("chatter on standard output")
        return super().fit(X, y)


class Sleeps(Constant):
    def fit(self, X, y):
        time.sleep(60)
        return super().fit(X, y)


class Waits(Constant):
    """Fits while there are files left in a folder, and then waits to be killed.

    Where no folder is named nothing waits.
    """

    def fit(self, X, y):
        if folder := os.environ.get("TOY_TURNS"):
            while not self._turn(folder):
                time.sleep(0.05)
        return super().fit(X, y)

    @staticmethod
    def _turn(folder):
        for name in os.listdir(folder):
            try:
                os.remove(os.path.join(folder, name))
            except FileNotFoundError:  # somebody else's
                continue
            return True
        return False


class Greedy(Constant):
    def fit(self, X, y):
        np.ones((40_000, 10_000))
        return super().fit(X, y)


class Dies(Constant):
    def fit(self, X, y):
        os._exit(7)


class Noisy(BaseEstimator):
    """Scores depend on the random state only."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.q_ = y.shape[1]
        return self

    def predict(self, X):
        return np.random.default_rng(self.random_state).integers(0, self.q_, len(X))
'''


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Folder with the module ``toy_methods``, importable here and in children."""
    folder = tmp_path_factory.mktemp("toys")
    (folder / "toy_methods.py").write_text(TOYS)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.syspath_prepend(str(folder))
        # In front of what is there: a child must run the sources under test.
        path = [str(folder), os.environ.get("PYTHONPATH", "")]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
        yield folder


@pytest.fixture
def turns(tmp_path):
    """Make a folder that lets so many fits of ``Waits`` through."""

    def give(n):
        folder = tmp_path / "turns"
        folder.mkdir()
        for i in range(n):
            (folder / str(i)).touch()
        return {"TOY_TURNS": str(folder)}

    return give


@pytest.fixture(scope="module")
def plan_text():
    """Build the text of a small plan."""

    def build(*, learners=("PLKNN",), reducers=("none", "CENDA"), head="", noise="0"):
        parts = [
            f'[plan]\nname = "small"\nfolds = 3\n{head}',
            f'[[data]]\nsource = "sklearn:iris"\nr = 1\nmax_rows = 60\n'
            f"noise_seeds = {noise}\n",
        ]
        for name in reducers:
            key = "name" if name == "none" else "class"
            extra = f'name = "{name.split(":")[-1]}"\n' if ":" in name else ""
            parts.append(f'[[reducers]]\n{key} = "{name}"\n{extra}')
        for name in learners:
            extra = f'name = "{name.split(":")[-1]}"\n' if ":" in name else ""
            parts.append(f'[[learners]]\nclass = "{name}"\n{extra}')
        return textwrap.dedent("\n".join(parts))

    return build
