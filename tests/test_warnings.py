"""What fits warn of is expected where it comes, and hidden nowhere."""

import re
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.settling import few_iterations, fit_briefly

from partlearn.candidates import warn_at_max_iter

ROOT = Path(__file__).resolve().parents[1]
# scikit-learn's checks fit pure noise with every estimator, some settle and some not.
ARGUED = {"test_common.py", "test_warnings.py"}
HIDDEN = re.compile(r"ignore.*ConvergenceWarning|ConvergenceWarning.*ignore")


def test_nobody_hides_that_a_fit_did_not_settle():
    files = [ROOT / "README.md", *ROOT.glob("docs/**/*.rst")]
    files += [*ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/**/*.py")]
    assert len(files) > 100
    found = {
        path.name
        for path in files
        if HIDDEN.search(path.read_text(encoding="utf-8")) and path.name not in ARGUED
    }
    assert not found
    for path in ROOT.glob("examples/**/*.py"):
        assert "simplefilter" not in path.read_text(encoding="utf-8")


def test_other_warnings_are_not_swallowed():
    import warnings

    with pytest.raises(UserWarning, match="odd"), few_iterations():
        warnings.warn("odd", UserWarning, stacklevel=1)
    with pytest.raises(ConvergenceWarning), few_iterations():
        warnings.warn("no word of iterations", ConvergenceWarning, stacklevel=1)
    with few_iterations() as said:
        warn_at_max_iter(3)
    assert len(said) == 1


class Liar:
    """Says that it ended at `max_iter`, which it did not, or at another one."""

    def __init__(self, max_iter, n_iter):
        self.max_iter, self.n_iter_ = max_iter, n_iter

    def get_params(self):
        return {"max_iter": self.max_iter}

    def fit(self, X, y):
        warn_at_max_iter(5)
        return self


def test_a_warning_must_be_true():
    fit_briefly(Liar(5, 5), None, None)
    for liar in (Liar(5, 4), Liar(6, 6)):
        with pytest.raises(AssertionError, match="max_iter=5"):
            fit_briefly(liar, None, None)
