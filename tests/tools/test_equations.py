"""Every equation of a paper that is implemented can be found, and none is invented."""

import re
from collections import defaultdict

import pytest

from partlearn.utils import all_estimators

# Numbers of the equations that are implemented, as the papers print them.
NUMBERED = {
    "CENDA": {6, 7, 13},
    "SAUTE": {5, 6, 7, 10, 12, 13, 14},
    "WPLDR": {1, 7, 8, 9, 11, 12, 16},
}
# Methods of this library: the user guide describes them.
OUR_METHODS = {"CRISP", "CRISPClassifier", "CRISPSelector", "CandidateClassifier"}
OUR_METHODS |= {"KernelCRISP", "TRACE"}
# Baselines, and classes that put other methods together.
WITHOUT_EQUATIONS = {
    "CoupledClassifier",
    "LinearSVM",
    "MaxJointEntropy",
    "PLSVMCV",
}
WITHOUT_EQUATIONS |= {"MaxRelevance", "PooledClassifier", "RandomSelection", "TunedPCA"}


@pytest.fixture(scope="module")
def equations(load_tool):
    return load_tool("equations")


def test_every_numbered_equation_has_a_function(equations):
    numbers = defaultdict(set)
    for place in equations.places():
        numbers[place.method] |= place.numbers
    assert {method: n for method, n in numbers.items() if n} == NUMBERED


def test_every_method_can_be_looked_up(equations):
    """Who cites a paper says which functions are its equations, and the reverse."""
    cited = {
        name
        for name, cls in all_estimators()
        if re.search(r"\b(19|20)\d\d\b", equations.reference(cls))
    }
    methods = {place.method for place in equations.places()}
    assert methods | OUR_METHODS == (cited - WITHOUT_EQUATIONS) | OUR_METHODS


def test_lines_are_well_formed(equations):
    """A line that starts like a source is one, so that no typing error hides it."""
    written = sum(
        doc.count("Source: ")
        for file in equations.SOURCE.rglob("*.py")
        for _, doc in equations.docstrings(
            equations.ast.parse(file.read_text(encoding="utf-8"))
        )
    )
    assert written == len(equations.places()) > 60


def test_pages_list_all(equations, tmp_path):
    equations.write_pages(tmp_path)
    page = (tmp_path / "equations.rst").read_text(encoding="utf-8")
    sources = (tmp_path / "equation_sources.rst").read_text(encoding="utf-8")
    linked = re.findall(r":ref:`\S+ <([^>]+)>`", page)
    assert len(linked) == len(equations.places())
    assert set(linked) == set(re.findall(r"^\.\. _(.+):$", sources, re.MULTILINE))
    assert "   * - Eq. (13)\n     - :ref:`refine <" in page
    assert page.index("Eq. (6)") < page.index("Eq. (7)") < page.index("Eq. (13)")
