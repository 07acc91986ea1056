"""Ranks and means of a comparison with references, from a run made by hand."""

import re

import numpy as np
import pytest
from scipy import stats

from partlearn.benchmark import (
    DataFacts,
    Result,
    SerialEngine,
    Store,
    Timing,
    average_ranks,
    bayesian_signed_rank,
    friedman,
    parse_plan,
)
from partlearn.benchmark._load import run_facts, save_run
from partlearn.report import _figures, summarize, to_html, to_latex, to_markdown
from partlearn.report._blocks import tables_of
from partlearn.report._compare import interval, overview
from partlearn.report._pages import document
from partlearn.report._records import MethodCost

HEAD = '[plan]\nname = "mine"\nfolds = 2\n'
METHODS = """
[[reducers]]
name = "none"
[[reducers]]
class = "CENDA"
[[reducers]]
class = "CRISP"
[[reducers]]
name = "ablation"
class = "CRISP"
ranked = false
[[reducers]]
name = "LDA"
class = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"
supervised = true
[[learners]]
class = "PLKNN"
[[learners]]
class = "SURE"
"""
# Rows and features of each data set: 0.5, 2 and 10 training rows per feature.
SHAPES = [(40, 40), (40, 10), (40, 2)]


def make_run(folder, n_data, missing=(), metric="accuracy"):
    """A finished run; `missing` (data, reducer) failed, or one fold of them."""
    names = [f"d{i}" for i in range(n_data)]
    data = "".join(f'[[data]]\nname = "{n}"\nsource = "{n}"\n' for n in names)
    plan = parse_plan(f'{HEAD}metrics = ["{metric}"]\n{data}{METHODS}')
    rng = np.random.default_rng(0)
    level = {"none": 0.4, "CENDA": 0.5, "CRISP": 0.7, "ablation": 0.9, "LDA": 0.95}
    results, timings = [], []
    for name in names:
        for reducer in plan.reducers:
            for learner in plan.learners:
                for fold in range(2):
                    pair = (name, reducer.name)
                    failed = pair in missing or (*pair, fold) in missing
                    head = {
                        "id": "x",
                        "data": name,
                        "r": None,
                        "noise_seed": None,
                        "protocol": "inductive",
                        "labels": "candidates",
                        "draw": 0,
                        "reducer": reducer.name,
                        "learner": learner.name,
                        "fold": fold,
                    }
                    score = {metric: level[reducer.name] + 0.02 * rng.random()}
                    status, scores = ("failed", {}) if failed else ("ok", score)
                    results.append(Result(**head, status=status, scores=scores))
                    reduction = f"{name}{reducer.name}" if reducer.cls else ""
                    cost = {"reduction": reduction, "reduce_fit_time": 0.25}
                    timings.append(Timing(**head, **cost))
    described = [
        DataFacts(name, *SHAPES[i % 3], ("a", "b", "c"), 2.0, fingerprint=name)
        for i, name in enumerate(names)
    ]
    counts = {"n_jobs": 1, "n_executed": 1, "n_failed": 0}
    facts = run_facts(plan, SerialEngine(), wall_time=1.0, work_time=1.0, **counts)
    save_run(Store(folder), plan, facts, described, [], results, timings)
    return summarize(folder)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run"), 6)


def scores_of(summary, names, *, by_data):
    blocks = {}
    for cell in summary.cells:
        key = cell.data if by_data else (cell.data, cell.learner)
        blocks.setdefault(key, {}).setdefault(cell.method, []).append(cell.mean)
    return np.array([[np.mean(b[n]) for n in names] for b in blocks.values()])


def test_references_take_no_part_in_ranks_and_tests(summary):
    names = ["CRISP", "CENDA", "none"]
    (comparison,) = summary.comparisons
    assert (len(comparison.data), comparison.n_cells) == (6, 12)
    assert list(comparison.methods) == names
    scores = scores_of(summary, names, by_data=True)
    np.testing.assert_allclose(comparison.ranks, average_ranks(scores))
    np.testing.assert_allclose(comparison.means, scores.mean(axis=0))
    cells = scores_of(summary, names, by_data=False)
    np.testing.assert_allclose(comparison.cell_ranks, average_ranks(cells))
    assert comparison.friedman_p == pytest.approx(friedman(scores).p_value)
    told = {(p.first, p.second): p for p in comparison.pairs}
    assert told["CRISP", "LDA"].p is None
    assert told["CRISP", "LDA"].difference < -0.2
    best = {c.method for c in summary.cells if c.best}
    assert best == {"CRISP"}
    assert summary.reference == "CRISP"
    assert summary.unranked == {
        "ablation": "for comparison",
        "LDA": "fitted with the true labels",
    }


def test_a_pair_is_tested_over_data_sets_by_itself(summary):
    (comparison,) = summary.comparisons
    pair = comparison.pair("CRISP", "CENDA")
    scores = scores_of(summary, ["CRISP", "CENDA"], by_data=True)
    difference = scores[:, 0] - scores[:, 1]
    assert (pair.win, pair.tie, pair.loss) == (6, 0, 0)
    assert pair.p == pytest.approx(stats.wilcoxon(difference).pvalue)
    interval = stats.ttest_1samp(difference, 0).confidence_interval()
    assert (pair.low, pair.high) == pytest.approx((interval.low, interval.high))
    belief = bayesian_signed_rank(*scores.T, rope=0.01)
    assert pair.belief == belief
    # 2 / 2**6 in each of three pairs: no longer below 0.05 after Holm.
    assert pair.significant is False
    back = comparison.pair("CENDA", "CRISP")
    assert (back.difference, back.loss, back.p) == (-pair.difference, 6, pair.p)
    assert (back.low, back.high) == (-pair.high, -pair.low)
    assert back.belief.worse == belief.better


def test_one_p_value_for_one_question(summary, capsys):
    """The terminal, the page and the conclusion tell the same p of the same pair."""
    from partlearn.cli._console import print_summary

    (comparison,) = summary.comparisons
    p = f"{comparison.pair('CRISP', 'none').p:.4f}"
    matrix, *_ = tables_of(document(summary).sections[1].blocks)
    row = [c.text for c in matrix.cells[0]]
    assert matrix.cells[0][matrix.head.index("no reduction")].below[-1] == f"p {p}"
    assert row[:3] == ["CRISP", row[1], "6 of 6"]
    print_summary(summary)
    printed = capsys.readouterr().out
    for text in (printed, to_html(summary), to_markdown(summary)):
        assert "CRISP is first on 6 of 6 data sets" in text
        assert f"p = {p}, not significant" in text
        assert set(re.findall(r"\bp = (0\.\d{4}),", text)) == {p}


def test_overview_by_rows_per_feature_and_learner(summary):
    (entry,) = summary.overview
    assert entry.groups == (
        ("all", 12),
        ("below 1 row per feature", 4),
        ("1 to 5 rows per feature", 4),
        ("5 rows per feature or more", 4),
        ("PLKNN", 6),
        ("SURE", 6),
    )
    names = [name for name, *_ in entry.rows]
    assert names == ["CRISP", "CENDA", "none", "ablation", "LDA"]
    times = {name: time for name, time, _ in entry.rows}
    assert (times["CRISP"], times["none"]) == (0.25, None)
    cells = {name: cells for name, _, cells in entry.rows}
    few = [
        c.mean for c in summary.cells if c.method == "CRISP" and c.data in ("d0", "d3")
    ]
    assert cells["CRISP"][1][1] == pytest.approx(np.mean(few))
    assert cells["CRISP"][0][0] == 1
    rank, mean = cells["LDA"][0]
    assert rank is None
    assert mean > 0.94


def test_a_reference_that_failed_has_no_mean_but_costs_no_cell(tmp_path):
    (entry,) = make_run(tmp_path, 3, missing=[("d0", "LDA")]).overview
    *_, (name, _, lda) = entry.rows
    assert (name, entry.groups[0]) == ("LDA", ("all", 6))
    assert [mean is None for _, mean in lda[:3]] == [True, True, False]


def test_a_mean_over_some_folds_is_compared_with_no_other(tmp_path):
    summary = make_run(tmp_path, 3, missing=[("d0", "CRISP", 1)])
    (comparison,) = summary.comparisons
    assert comparison.n_cells == 4
    assert summary.overview[0].groups[0] == ("all", 4)
    assert comparison.pair("CRISP", "CENDA").n_cells == 4
    assert comparison.pair("none", "CENDA").n_cells == 6
    best = {c.data: c.method for c in summary.cells if c.best}
    assert best == {"d0": "CENDA", "d1": "CRISP", "d2": "CRISP"}


def test_few_data_sets_are_not_tested(tmp_path):
    summary = make_run(tmp_path, 5)
    (comparison,) = summary.comparisons
    assert not comparison.tested
    assert comparison.friedman_p is None
    assert all(pair.p is None for pair in comparison.pairs)
    page = to_html(summary)
    assert "No test is made: 5 data sets" in page
    assert "p = " not in page


def test_one_data_set_has_no_overview(tmp_path):
    summary = make_run(tmp_path, 1)
    assert summary.overview == ()
    page = to_html(summary)
    assert '<h2 id="overview">' not in page
    assert "CRISP is first in 2 of 2 combinations of r and learner on d0" in page
    assert "are not independent samples" in page


def test_printed_rows(summary):
    tables = {
        section.key: list(tables_of(section.blocks))
        for section in document(summary).sections
    }
    (table,) = tables["overview"]
    assert table.head[:2] == ["reduction", "all (12)"]
    assert table.rows[0][1].startswith("1.00 / 0.7")
    assert table.rows[-1][0] == "LDA \N{DAGGER}"
    assert "/" not in table.rows[-1][1]
    matrix, ranks = tables["comparison"]
    assert [row[0] for row in matrix.rows] == ["CRISP", "CENDA", "no reduction"]
    assert [row[0] for row in ranks.rows] == ["CRISP", "CENDA", "no reduction"]
    (effects,) = tables["effects"]
    assert [row[0] for row in effects.rows] == [
        "no reduction",
        "CENDA",
        "ablation",
        "LDA",
    ]
    assert effects.rows[-1][-2] == "\N{EN DASH}"


def test_every_format_names_the_references(summary):
    page = to_html(summary)
    assert "Not ranked and not tested: ablation (for comparison), LDA" in page
    assert "Average ranks depend on which methods take part" in page
    for key in ("regimes-0", "forest-0", "ranks-0", "gaps-0"):
        assert f'id="{key}"' in page
    text = to_markdown(summary)
    assert "## Who is better than whom" in text
    assert "LDA \N{DAGGER}" in text
    assert r"LDA $\dagger$" in to_latex(summary)


def test_a_score_of_which_less_is_better(tmp_path):
    """Numbers are those of the score; only differences of pairs are turned."""
    summary = make_run(tmp_path, 6, metric="risk_coverage_area")
    (comparison,) = summary.comparisons
    assert comparison.methods == ("none", "CENDA", "CRISP")
    (entry,) = summary.overview
    assert entry.rows[0][0] == "none"
    assert all(mean > 0 for *_, cells in entry.rows for _, mean in cells)
    (forest,) = _figures.forest(comparison, 0)
    assert re.match(r"CENDA \+0\.\d+ \(\+0\.\d+ to \+0\.\d+\); CRISP \+", forest.alt)
    none, cenda = (summary.select(method=m, data="d0")[0] for m in ("none", "CENDA"))
    low, high = interval(cenda, none, 2)
    assert low < cenda.mean - none.mean < high
    (gaps,) = _figures.gaps(summary, "inductive", 0)
    assert gaps.alt.startswith("Best: d0: no reduction with ")
    (regimes,) = _figures.regimes(summary)
    assert regimes.title.startswith("Risk coverage area against")
    text = to_markdown(summary)
    assert "Risk coverage area (mean ± standard deviation" in text
    assert "risk\\_coverage" not in text
    assert to_html(summary)


def test_a_group_of_one_cell(tmp_path):
    """Two data sets of different regimes: groups of one cell have ranks too."""
    summary = make_run(tmp_path, 2)
    cells = [c for c in summary.cells if c.learner == "SURE"]
    names = ["none", "CRISP"]
    cost = MethodCost("reducer", "CRISP", 1, 0.5, None, None)
    (entry,) = overview(2, [cells], names, names, summary.data, [cost])
    assert [n for _, n in entry.groups] == [2, 1, 1]
    ranks = {name: [rank for rank, _ in cells] for name, _, cells in entry.rows}
    assert ranks == {"none": [2, 2, 2], "CRISP": [1, 1, 1]}
    assert entry.rows[0][1] == 0.5


def test_the_page_of_the_study(tmp_path):
    from benchmarks.study import main

    make_run(tmp_path / "run", 7, missing=[("d6", "LDA")])
    main([str(tmp_path / "run"), "--out", str(tmp_path / "page")])
    text = (tmp_path / "page.inc").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "7 data sets, 2 folds, 14 cells" in text
    assert re.search(r"^CRISP +1\.00 +\.7", text, re.MULTILINE)
    assert "Over 7 data sets, each by its mean over r and learners" in text
    assert "7 of 7" in text
    assert re.search(r"^reduction +own sets$", text, re.MULTILINE)
    assert "In 0 of the 14 cells another reduction is ahead of CRISP" in text
    for name in ("ranks", "regimes"):
        assert (tmp_path / f"page_{name}.svg").read_text().startswith("<svg")


def test_the_page_of_the_study_tells_drawn_candidates_apart():
    from benchmarks.study import candidates_table

    blocks = {
        ("a", 1, "candidates", "SURE"): {"CRISP": 0.5, "none": 0.7, "LDA": 0.9},
        ("a", 2, "candidates", "SURE"): {"CRISP": 0.5, "none": 0.4},
        ("b", 1, "candidates", "SURE"): {"CRISP": 0.6, "none": 0.6, "LDA": 0.7},
        ("c", None, "candidates", "SURE"): {"CRISP": 0.5, "none": 0.4, "LDA": 0.8},
    }
    lines = candidates_table(["CRISP", "none", "LDA"], ["CRISP", "none"], blocks)
    cut = [re.split("  +", line.replace("\u00a0", " ")) for line in lines]
    assert cut[1] == ["reduction", "own sets", "r = 1", "r = 2"]
    assert cut[3] == ["cells", "1", "2", "1"]
    assert cut[4] == ["CRISP", "1.00 / .500", "1.75 / .550", "1.00 / .500"]
    assert cut[5] == ["no reduction", "2.00 / .400", "1.25 / .650", "2.00 / .400"]
    assert cut[6] == ["LDA", ".800", ".800"]  # failed once where r is 2


def test_the_page_of_the_study_says_where_the_reference_loses():
    from benchmarks.study import losses

    blocks = {
        ("a", 1, "candidates", "PL-KNN"): {"CRISP": 0.5, "none": 0.7},
        ("a", 2, "candidates", "PL-KNN"): {"CRISP": 0.5, "none": 0.51},
        ("b", None, "candidates", "SURE"): {"CRISP": 0.5, "none": 0.4},
    }
    text = "\n".join(losses(blocks, ["CRISP", "none"], "CRISP")).replace("\u00a0", " ")
    assert "In 2 of the 3 cells" in text
    assert "in 1 of them by .02 or more" in text
    assert "1 of 2  no reduction by .20 (PL-KNN, r = 1)" in text
