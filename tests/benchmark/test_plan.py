"""Plans: what is accepted, and where the messages point."""

import sys

import pytest

from partlearn.benchmark import (
    PlanError,
    check_methods,
    list_plans,
    load_plan,
    parse_plan,
    published_figures,
    run_plan,
)
from partlearn.benchmark._toml import line_of

GOOD = """\
[plan]
name = "mine"
folds = 3

[[data]]
source = "sklearn:iris"
r = [1, 2]

[[reducers]]
name = "none"

[[reducers]]
class = "CENDA"
params = { mu = 0.5 }

[[learners]]
class = "PLKNN"
params = { n_neighbors = 5 }

[quick]
folds = 2
r = 1
reducers = ["none"]
"""


PAPER = 'published = { paper = "CENDA" }'
TREES = (
    'estimator = { class = "sklearn.ensemble:RandomForestClassifier", '
    "params = { n_estimators = 1000000000 } }"
)
POINTS = ", ".join(f"{k} = {list(range(10))}" for k in "abcdef")
HUGE = f"grid = {{ {POINTS} }}"


def test_good_plan():
    plan = parse_plan(GOOD)
    assert plan.name == plan.title == "mine"
    assert plan.data[0].name == "iris"
    assert plan.data[0].r == (1, 2)
    assert [m.name for m in plan.reducers] == ["none", "CENDA"]
    assert plan.learners[0].params == {"n_neighbors": 5}
    assert plan.protocols == ("inductive",)


def test_quick_table_overrides():
    plan = parse_plan(GOOD, quick=True)
    assert plan.name == "mine-quick"
    assert plan.folds == 2
    assert plan.data[0].r == (1,)
    assert [m.name for m in plan.reducers] == ["none"]


def test_quick_reference_that_was_left_out_is_dropped():
    text = GOOD.replace("folds = 3", 'folds = 3\nreference = "CENDA"')
    assert parse_plan(text).reference == "CENDA"
    assert parse_plan(text, quick=True).reference == ""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("folds = 3", "folds = 1", 3, "`folds` in .plan. must be a whole number"),
        ("folds = 3", "folds = true", 3, "must be a whole number"),
        ("folds = 3", "fold = 3", 3, "unknown field `fold`.*did you mean `folds`"),
        ("folds = 3", 'protocols = ["both"]', 3, "inductive, transductive"),
        ("folds = 3", "time_limit = -1", 3, "must be a positive number"),
        ("folds = 3", "time_limit = 1e300", 3, "number of at most 1,000,000,000"),
        ("folds = 3", "memory_limit = 9999999999", 3, "at most 1,000,000,000"),
        ("r = [1, 2]", "r = 1\nnoise_seeds = 4294967296", 8, "at most 4,294,967,295"),
        ("folds = 3", "scale_reduced = 1", 3, "must be true or false"),
        ("folds = 3", 'notes = "x"', 3, "must be a list of strings"),
        ("folds = 3", 'reference = "X"', 3, "no reducer is named 'X'"),
        ("folds = 3", 'extends = "nothing"', 3, "no plan named 'nothing'"),
        ("folds = 3", 'extends = "cenda-table7"', 1, "the plan that this one extends"),
        ("r = [1, 2]", "r = 0", 7, "of at least 1, or a list"),
        ("r = [1, 2]", "rr = 0", 7, "unknown field `rr`"),
        ('source = "sklearn:iris"', "", 5, "`source` in ..data.. is missing"),
        ('name = "none"', 'name = "raw"', 9, "'raw' has no `class`"),
        ('name = "none"', "", 9, "give a `class` or a `name`"),
        ("params = { mu = 0.5 }", "params = 1", 14, "must be a table"),
        ("params = { mu = 0.5 }", "grid = { mu = 1 }", 14, "grid.mu must be a list"),
        ("params = { mu = 0.5 }", "by_data = { x = {} }", 14, "not a data set here"),
        ("params = { mu = 0.5 }", "by_data = { iris = 1 }", 14, "table of parameters"),
        ('class = "CENDA"', 'name = "none"', 12, "two reducers entries"),
        ('class = "PLKNN"', 'name = "x"', 16, "'x' has no `class`"),
        ("folds = 3", "threads = 5000", 3, "at least 1 and at most 1,024"),
        ("folds = 3", "fold_seed = 4294967296", 3, "at most 4,294,967,295"),
        ("n_neighbors = 5", "n_neighbors = 2000000", 18, "`n_neighbors` must be at"),
        ("n_neighbors = 5", "n_jobs = 1000", 18, "`n_jobs` must be at most 256"),
        ("n_neighbors = 5", TREES, 18, "`n_estimators` must be at most"),
        ("params = { mu = 0.5 }", "grid = { k = [2000000] }", 14, "`k` must be at"),
        ("params = { mu = 0.5 }", "params = { mu = 1979-05-27 }", 14, "dates or times"),
        ("params = { mu = 0.5 }", "grid = { mu = [07:32:00] }", 14, "dates or times"),
        ("folds = 3", PAPER, 3, "table with the strings paper and table"),
        ("folds = 3", f"{PAPER[:-1]}, table = 7 }}", 3, "the strings paper and table"),
        ("params = { mu = 0.5 }", HUGE, 14, "1,000,000 points, and at most"),
    ],
)
def test_messages_point_to_the_line(old, new, line, message):
    text = GOOD.replace(old, new, 1)
    with pytest.raises(PlanError, match=message) as error:
        parse_plan(text, origin="mine.toml")
    assert str(error.value).startswith(f"mine.toml:{line}: ")


def test_quick_naming_nothing_points_to_its_line():
    text = GOOD.replace('reducers = ["none"]', 'reducers = ["nothing"]')
    with pytest.raises(PlanError, match=r"mine.toml:23: no reducers entry .*nothing"):
        parse_plan(text, origin="mine.toml", quick=True)


def test_syntax_error_names_the_line():
    with pytest.raises(PlanError, match=r"mine.toml:3: not valid TOML"):
        parse_plan('[plan]\nname = "x"\nfolds =\n', origin="mine.toml")


def test_syntax_error_at_the_end_still_names_the_file():
    with pytest.raises(PlanError, match=r"mine.toml.*not valid TOML"):
        parse_plan('[plan]\nname = "x', origin="mine.toml")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[" * 20_000, "nested too deeply"),
        ("{a=" * 3000, "nested"),
        ("9" * 5000, "4300"),
    ],
)
def test_values_that_nobody_writes_name_the_file(value, message):
    with pytest.raises(PlanError, match=f"p.toml: not valid TOML: .*{message}"):
        parse_plan(f"x = {value}", origin="p.toml")


def test_a_plan_is_text(tmp_path):
    path = tmp_path / "p.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(PlanError, match=r"p.toml: not UTF-8 text"):
        load_plan(path)


def test_large_numbers_that_cost_nothing_are_taken():
    given = "{ max_iter = 2000000, random_state = 4000000000 }"
    plan = parse_plan(GOOD.replace("{ n_neighbors = 5 }", given))
    assert plan.learners[0].params["max_iter"] == 2_000_000


def test_a_plan_is_not_read_whatever_its_size(tmp_path):
    path = tmp_path / "p.toml"
    with path.open("wb") as file:
        file.truncate(2**24 + 1)
    with pytest.raises(PlanError, match="16,777,217 bytes, and a plan has at most"):
        load_plan(path)


def test_a_plan_has_a_limited_number_of_jobs(tmp_path, monkeypatch):
    monkeypatch.setattr("partlearn.benchmark._task.MOST_JOBS", 11)
    with pytest.raises(PlanError, match="mine: the plan has more than 11 jobs"):
        run_plan(parse_plan(GOOD), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_lists_are_required():
    with pytest.raises(PlanError, match=r"mine.toml: .*at least one \[\[data\]\]"):
        parse_plan('[plan]\nname = "x"\n', origin="mine.toml")
    with pytest.raises(PlanError, match="`plan` is missing"):
        parse_plan("[[data]]\nsource = 'x'\n", origin="mine.toml")
    with pytest.raises(PlanError, match="must be a list of tables"):
        parse_plan('data = 1\n[plan]\nname = "x"\n', origin="mine.toml")


def test_grid_expands_in_order():
    text = GOOD.replace("params = { mu = 0.5 }", "grid = { mu = [0.2, 0.8] }")
    names = [m.name for m in parse_plan(text).reducers]
    assert names == ["none", "CENDA[mu=0.2]", "CENDA[mu=0.8]"]
    assert parse_plan(text).reducers[2].point == {"mu": 0.8}


def test_by_data_changes_parameters_for_one_set_only():
    text = GOOD.replace(
        "params = { mu = 0.5 }", "params = { mu = 0.5 }\nby_data.iris = { mu = 0.9 }"
    )
    reducer = parse_plan(text).reducers[1]
    assert reducer.for_data("iris").params == {"mu": 0.9}
    assert reducer.for_data("other").params == {"mu": 0.5}


def test_lines_of_keys_skip_what_is_inside_values():
    text = 'a = """\nb = 1\n"""\nlist = [\n  "x = [",\n]\n'
    text += '[t.u]\n"k k" = 1\n[[t.v]]\nz = 2\n'
    assert line_of(text, ("a",)) == 1
    assert line_of(text, ("b",)) is None
    assert line_of(text, ("list",)) == 4
    assert line_of(text, ("t", "u", "k k")) == 8
    assert line_of(text, ("t", "v", 0, "z")) == 10
    assert line_of(text, ("t", "v", 1, "z")) == 9  # as far as it is there
    assert line_of("# words\n\n" + text, ("a", "b")) == 3


def test_extending_a_shipped_plan_keeps_its_jobs_but_not_its_words():
    base, child = load_plan("cenda-table3"), load_plan("cenda-table4")
    assert child.data == base.data
    assert child.learners == base.learners
    assert child.title != base.title


EXTENDS = """
[plan]
name = "mine"
extends = "cenda-table7-quick"
"""


def test_a_listed_quick_variant_can_be_extended():
    base, mine = load_plan("cenda-table7-quick"), parse_plan(EXTENDS)
    assert (mine.data, mine.reducers, mine.folds) == (
        base.data,
        base.reducers,
        base.folds,
    )
    wrong = EXTENDS.replace("cenda-table7-quick", "cenda-tabel7")
    with pytest.raises(PlanError, match=r"no plan named 'cenda-tabel7'; did you mean"):
        parse_plan(wrong)


def test_a_plan_has_the_task_of_the_one_that_it_extends():
    base = load_plan("pml-fsla-table2-quick")
    mine = parse_plan(EXTENDS.replace("cenda-table7-quick", "pml-fsla-table2-quick"))
    assert (mine.task, mine.data, mine.folds) == ("multilabel", base.data, base.folds)
    with pytest.raises(PlanError, match="there is no plan named 'a/b'"):
        parse_plan(EXTENDS.replace("cenda-table7-quick", "a/b"))


def test_single_entries_of_a_parent_are_changed_and_added():
    changes = """
[change.reducers."CENDA[thr=0.999]"]
params = { n_neighbors = 3 }
[change.reducers.PCA]
class = "sklearn.decomposition:PCA"
[change.data.Lost]
max_rows = 100
"""
    base, mine = load_plan("cenda-table7-quick"), parse_plan(EXTENDS + changes)
    none, cenda, pca = mine.reducers
    assert none == base.reducers[0]
    assert cenda.params == {**base.reducers[1].params, "n_neighbors": 3}
    assert cenda.published == base.reducers[1].published
    assert (pca.name, pca.cls) == ("PCA", "sklearn.decomposition:PCA")
    assert mine.data[0].max_rows == 100
    assert mine.learners == base.learners


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("[change.reducers.CANDE]\noptional = true", "<plan>:5: no reducers entry is"),
        ("[change.reducers.none]\nclas = 3", "unknown field `clas`"),
        ("[change.methods.none]\noptional = true", r"must be \[change.reducers.NAME\]"),
    ],
)
def test_changes_that_make_no_sense(changes, message):
    with pytest.raises(PlanError, match=message):
        parse_plan(EXTENDS + changes)
    alone = EXTENDS.replace('extends = "cenda-table7-quick"\n', "")
    with pytest.raises(PlanError, match="only a plan that extends another"):
        parse_plan(alone + changes)


def test_allowed_modules_are_found_beside_the_plan(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "beside_the_plan.py").write_text(
        "from partlearn.classification import PLKNN\n\nclass Mine(PLKNN):\n    pass\n"
    )
    text = EXTENDS + '[change.learners.Mine]\nclass = "beside_the_plan:Mine"\n'
    path = tmp_path / "mine.toml"
    path.write_text(text)
    plan = check_methods(load_plan(path, allow=["beside_the_plan"]))
    assert plan.learners[-1].name == "Mine"
    with pytest.raises(PlanError, match="beside_the_plan"):
        load_plan(path)


# Plans for multi-label data have tests of their own.
SHIPPED = [name for name in list_plans() if not name.startswith("pml-")]
PAPERS = {
    "saute": ["table3", "table4", "table6", "figure1", "figure2", "figure3"],
    "cenda": ["table3", "table4", "table6", "table7", "figure1", "figure2"],
    "wpldr": ["table2", "table3", "figure1", "figure2"],
}


def test_every_table_and_figure_has_a_plan_and_a_quick_variant():
    names = {f"{paper}-{table}" for paper in PAPERS for table in PAPERS[paper]}
    names |= {"demo", "crisp-study", "crisp-study-selectors"}
    names |= {"crisp-classifier-study", "learners", "tuned-comparison"}
    parts = ("learners", "forest", "ecoc")
    names |= {f"crisp-classifier-study-{part}" for part in parts}
    assert set(SHIPPED) == names | {f"{name}-quick" for name in names}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_plans_are_sound(name):
    plan = check_methods(load_plan(name))
    assert plan.reducers
    assert plan.learners
    if plan.published:
        figures = published_figures(plan.published["paper"], plan.published["table"])
        assert figures
        known = {key[0] for key in figures}
        assert {d.name for d in plan.data} & known
        assert any(m.published in {k[2] for k in figures} for m in plan.reducers)
        assert {m.published for m in plan.learners} <= {k[3] for k in figures}


def test_unknown_plan_suggests():
    with pytest.raises(PlanError, match=r"Did you mean .*cenda-table7"):
        load_plan("cenda-tabel7")
    with pytest.raises(PlanError, match=r"no plan named 'zzz'.*bench --list"):
        load_plan("zzz")
    with pytest.raises(PlanError, match="no such plan file"):
        load_plan("absent.toml")


def test_plan_from_file(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(GOOD)
    assert load_plan(path).name == "mine"


def test_published_figures_are_complete():
    """749 transcribed cells; the count guards against a lost line."""
    tables = [("SAUTE", "3", 180), ("CENDA", "3", 219), ("CENDA", "7", 175)]
    for paper, table, count in [*tables, ("WPLDR", "2", 175)]:
        assert len(published_figures(paper, table)) == count
    key = "FG-NET", None, "CENDA[thr=0.9]", "PL-KNN", "accuracy"
    cell = published_figures("CENDA", "7")[key]
    assert (cell[0], cell[2]) == (0.133, 15)
    assert published_figures("CENDA", "99") == {}


EVIL = """
[plan]
name = "evil"
[[data]]
source = "sklearn:iris"
r = 1
[[reducers]]
name = "none"
[[learners]]
class = "{cls}"
{params}
"""


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        ("subprocess:Popen", ""),
        ("os:system", ""),
        ("PLECOC", 'params = { estimator = { class = "antigravity:X" } }'),
        ("PLECOC", 'grid = { estimator = [{ class = "antigravity:X" }] }'),
    ],
)
def test_plans_name_allowed_packages_only(cls, params):
    text = EVIL.format(cls=cls, params=params)
    with pytest.raises(PlanError, match="which is not allowed"):
        parse_plan(text)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "params",
    [
        'params = { memory = "cache", steps = [["a", { class = "PLKNN" }]] }',
        'grid = { memory = ["cache"] }',
        'params = { steps = [["a", { class = "sklearn.pipeline:Pipeline", '
        'params = { memory = "cache" } }]] }',
        'params = { steps = [["a", { class = '
        '"sklearn.feature_extraction.text:TfidfVectorizer", '
        'params = { input = "filename" } }]] }',
    ],
)
def test_plans_name_no_files_that_scikit_learn_reads(params):
    """A cache that comes with a plan is unpickled, which runs code."""
    text = EVIL.format(cls="sklearn.pipeline:Pipeline", params=params)
    with pytest.raises(PlanError, match="read or write files"):
        parse_plan(text)


def test_allowing_a_package_does_not_make_its_classes_estimators(tmp_path):
    path = tmp_path / "evil.toml"
    path.write_text(EVIL.format(cls="subprocess:Popen", params=""))
    plan = load_plan(path, allow=["subprocess"])
    with pytest.raises(PlanError, match="not a class of estimators"):
        check_methods(plan)
