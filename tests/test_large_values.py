"""Features of any magnitude are learned from, or refused in a sentence."""

import re
import warnings

import numpy as np
import pytest
from tests.estimators import build

from partlearn._registry import methods

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(40, 4)))
S = np.eye(3, dtype=bool)[np.arange(40) % 3]
X[:, :3] += 2 * S
S |= rng.random(S.shape) < 0.2
COUNTS = ("MaxJointEntropy", "RandomSelection")  # which compute with no magnitude
SAID = (
    "overflow|very large (feature )?values|infinity or a value too large|have vanished"
)


def enlarged(magnitude, where):
    A = X.copy()
    part = {"all": slice(None), "column": np.s_[:, 2], "cell": np.s_[7, 2]}[where]
    A[part] *= magnitude / A[part].max()
    return A


def refused_or_sound(function):
    """Run it; what is not refused in known words gives no warning, and numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with np.errstate(all="warn"):
            try:
                made = function()
            except ValueError as error:
                return str(error)
    assert not [w for w in caught if issubclass(w.category, RuntimeWarning)]
    if isinstance(made, np.ndarray) and made.dtype.kind == "f":
        assert np.isfinite(made).all()
    return ""


@pytest.mark.parametrize("where", ["all", "column", "cell"])
@pytest.mark.parametrize(
    "name", ["CRISP", "MIFS", "PMFSLRS", "LinearSVM", "KernelCRISP"]
)
def test_what_once_had_no_words(name, where):
    for magnitude in (1e154, 1e160, 1e308):
        A = enlarged(magnitude, where)
        said = refused_or_sound(lambda A=A: build(name).fit(A, S))
        assert not said or re.search(SAID, said), said


@pytest.mark.parametrize("name", methods())
def test_the_largest_numbers(name):
    A = enlarged(1e308, "column")
    said = refused_or_sound(lambda: build(name).fit(A, S))
    assert re.search(SAID, said) or (not said and name in COUNTS)
    options = {"alpha": 0.5} if name == "PMLFSNF" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = build(name, **options).fit(X, S)
    for use in ("predict", "predict_proba", "transform"):
        if hasattr(model, use):
            said = refused_or_sound(lambda use=use: getattr(model, use)(A))
            assert not said or re.search(SAID, said), said


@pytest.mark.parametrize("name", methods())
def test_the_largest_numbers_of_both_signs(name):
    """Their sum, by which scikit-learn looks for missing values, is not a number."""
    A = enlarged(1e308, "column")
    A[::2, 2] *= -1

    def fit():
        with np.errstate(under="ignore"):  # one over the standard deviation vanishes
            build(name).fit(A, S)

    said = refused_or_sound(fit)
    assert re.search(SAID, said) or (not said and name in COUNTS)


def test_columns_keep_their_relevance_whatever_their_scale():
    from partlearn.classification import CRISPClassifier

    plain = CRISPClassifier(random_state=0).fit(X, S).feature_importances_
    huge = CRISPClassifier(random_state=0).fit(enlarged(1e160, "column"), S)
    np.testing.assert_allclose(huge.feature_importances_, plain, atol=1e-9)
