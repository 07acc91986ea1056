"""Finding and building estimators by name."""

import pytest

from partlearn._registry import MethodError
from partlearn.benchmark import (
    PlanError,
    check_methods,
    find_class,
    parse_plan,
)
from partlearn.benchmark._methods import build
from partlearn.decomposition import CENDA

PLAN = """
[plan]
name = "p"
[[data]]
source = "sklearn:iris"
r = 1
[[reducers]]
{reducer}
[[learners]]
class = "PLKNN"
"""


def test_names_are_found_in_any_spelling():
    assert find_class("cenda", "reducer") is CENDA
    assert find_class("PL-KNN", "learner").__name__ == "PLKNN"
    assert find_class("sklearn.decomposition:PCA", "reducer").__name__ == "PCA"


def test_kinds_are_kept_apart():
    wrong = {"PLKNN": ["reducer", "ranker"], "CENDA": ["learner", "ranker"]}
    for name, kinds in wrong.items():
        for kind in kinds:
            with pytest.raises(MethodError, match=name):
                find_class(name, kind)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CENDAA", "Did you mean CENDA"),
        ("zzz", "no method named 'zzz'"),
        ("no_such_module:X", "cannot be imported"),
        ("sklearn.decomposition:Nope", "cannot be imported"),
        ("math:pi", "is not a class"),
    ],
)
def test_unknown_classes(name, message):
    with pytest.raises(MethodError, match=message):
        find_class(name, "reducer")


def test_seed_is_given_only_where_wanted():
    pca = build("sklearn.decomposition:PCA", {}, "reducer", seed=5)
    assert pca.random_state == 5
    fixed = build("sklearn.decomposition:PCA", {"random_state": 1}, "reducer", seed=5)
    assert fixed.random_state == 1
    assert not hasattr(build("CENDA", {}, "reducer", seed=5), "random_state")


def test_unknown_parameter_suggests():
    with pytest.raises(MethodError, match=r"no parameter `n_neighbour`.*`n_neighbors`"):
        build("CENDA", {"n_neighbour": 3}, "reducer")


def test_plan_with_absent_method_is_refused_unless_optional():
    with pytest.raises(PlanError, match="p: reducer 'NOPE': There is no method"):
        check_methods(parse_plan(PLAN.format(reducer='class = "NOPE"')))
    text = PLAN.format(
        reducer='name = "none"\n[[reducers]]\nclass = "NOPE"\noptional = true'
    )
    assert [m.name for m in check_methods(parse_plan(text)).reducers] == ["none"]


def test_plan_with_wrong_parameter_is_refused_even_for_one_data_set():
    with pytest.raises(PlanError, match="CENDA has no parameter `nope`"):
        check_methods(
            parse_plan(
                PLAN.format(reducer='class = "CENDA"\nby_data.iris = {nope = 1}')
            )
        )
