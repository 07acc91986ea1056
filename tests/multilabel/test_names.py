"""Names of the multi-label methods, under both of their paths."""

import importlib

import pytest

SELECTORS = ["DRMFS", "LCFSPML", "MIFS", "PMLFSLA", "PMLFSNF", "PMLFSSO", "TRACE"]
CLASSIFIERS = [
    "FPML",
    "LinearSVM",
    "MLKNN",
    "PMLFP",
    "PMLLC",
    "PMLLENFN",
    "PMLNI",
    "PMLPLR",
    "ParticleMAP",
    "ParticleVLS",
    "Schirn",
]


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors(name):
    here = importlib.import_module("partlearn.multilabel.feature_selection")
    package = importlib.import_module("partlearn.multilabel")
    assert getattr(package, name) is getattr(here, name)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    here = importlib.import_module("partlearn.multilabel.classification")
    assert getattr(importlib.import_module("partlearn.multilabel"), name) is getattr(
        here, name
    )


def test_other_names_are_refused():
    with pytest.raises(ImportError, match="CENDA"):
        from partlearn.feature_selection import CENDA  # noqa: F401
