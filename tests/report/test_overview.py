"""Ranks and means of a comparison with references, from a run made by hand."""

import re

import numpy as np
import pytest
from scipy import stats

from partlearn.benchmark import (
    SerialEngine,
    Store,
    average_ranks,
    bayesian_signed_rank,
    friedman,
    parse_plan,
)
from partlearn.benchmark._load import COLUMNS, run_facts, save_run
from partlearn.report import _figures, summarize, to_html, to_latex, to_markdown
from partlearn.report._blocks import tables_of
from partlearn.report._compare import interval, overview, pivot
from partlearn.report._pages import document
from partlearn.report._summarize import rows_where

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
    rows = []
    for name in names:
        for reducer in plan.reducers:
            for learner in plan.learners:
                for fold in range(2):
                    pair = (name, reducer.name)
                    failed = pair in missing or (*pair, fold) in missing
                    reduction = f"{name}{reducer.name}" if reducer.cls else ""
                    head = {
                        **dict.fromkeys(COLUMNS),
                        "id": f"{len(rows)}",
                        "reduction": reduction,
                        "data": name,
                        "protocol": "inductive",
                        "labels": "candidates",
                        "draw": 0,
                        "reducer": reducer.name,
                        "learner": learner.name,
                        "fold": fold,
                        "text": "",
                    }
                    value = level[reducer.name] + 0.02 * rng.random()
                    if failed:
                        rows.append({**head, "metric": "error", "text": "E: bad"})
                    else:
                        rows.append({**head, "metric": metric, "value": value})
                    if reduction:
                        cost = {"metric": "reducer_fit_time", "value": 0.25}
                        rows.append({**head, **cost})
    described = [
        {
            "name": name,
            "n_samples": SHAPES[i % 3][0],
            "n_features": SHAPES[i % 3][1],
            "classes": ["a", "b", "c"],
            "mean_labels": 2.0,
            "r": [],
            "noise": "",
            "noise_seed": None,
            "fingerprint": name,
        }
        for i, name in enumerate(names)
    ]
    counts = {"n_jobs": 1, "n_executed": 1, "n_failed": 0}
    facts = run_facts(plan, SerialEngine(), wall_time=1.0, work_time=1.0, **counts)
    rows = [tuple(row.values()) for row in rows]
    save_run(Store(folder), plan, facts, described, [], rows)
    return summarize(folder)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run"), 6)


def scores_of(summary, names, *, by_data):
    blocks = {}
    for cell in summary.cells.itertuples():
        key = cell.data if by_data else (cell.data, cell.learner)
        blocks.setdefault(key, {}).setdefault(cell.method, []).append(cell.mean)
    return np.array([[np.mean(b[n]) for n in names] for b in blocks.values()])


def test_references_take_no_part_in_ranks_and_tests(summary):
    names = ["CRISP", "CENDA", "none"]
    (comparison,) = summary.comparisons
    assert (len(comparison.data), comparison.n_cells) == (6, 12)
    assert comparison.methods == names
    table = comparison.table
    scores = scores_of(summary, names, by_data=True)
    np.testing.assert_allclose(table["rank"], average_ranks(scores))
    np.testing.assert_allclose(table["mean"], scores.mean(axis=0))
    cells = scores_of(summary, names, by_data=False)
    np.testing.assert_allclose(table["cell_rank"], average_ranks(cells))
    assert comparison.friedman_p == pytest.approx(friedman(scores).p_value)
    told = comparison.pair("CRISP", "LDA")
    assert np.isnan(told.p)
    assert told.difference < -0.2
    assert set(summary.select(best=True)["method"]) == {"CRISP"}
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
    assert (pair.better, pair.worse) == (belief.better, belief.worse)
    # 2 / 2**6 in each of three pairs: no longer below 0.05 after Holm.
    assert not pair.significant
    back = comparison.pair("CENDA", "CRISP")
    assert (back.difference, back.loss, back.p) == (-pair.difference, 6, pair.p)
    assert (back.low, back.high) == (-pair.high, -pair.low)
    assert back.worse == belief.better


def test_one_p_value_for_one_question(summary, capsys):
    """The terminal, the page and the conclusion tell the same p of the same pair."""
    from partlearn.cli._console import print_summary

    (comparison,) = summary.comparisons
    p = f"{comparison.pair('CRISP', 'none').p:.4f}"
    matrix, *_ = tables_of(document(summary)[1].blocks)
    row = matrix.rows[0]
    assert row[matrix.head.index("no reduction")].split("\n")[-1] == f"p {p}"
    assert row[:3] == ["CRISP", row[1], "6 of 6"]
    print_summary(summary)
    printed = capsys.readouterr().out
    for text in (printed, to_html(summary), to_markdown(summary)):
        assert "CRISP is first on 6 of 6 data sets" in text
        assert f"p = {p}, not significant" in text
        assert set(re.findall(r"\bp = (0\.\d{4}),", text)) == {p}


def groups_of(entry):
    sizes = entry.drop_duplicates("group")
    return list(zip(sizes["group"], sizes["n_cells"], strict=True))


def test_overview_by_rows_per_feature_and_learner(summary):
    entry = summary.overview
    assert groups_of(entry) == [
        ("all", 12),
        ("below 1 row per feature", 4),
        ("1 to 5 rows per feature", 4),
        ("5 rows per feature or more", 4),
        ("PLKNN", 6),
        ("SURE", 6),
    ]
    whole = rows_where(entry, group="all").set_index("method")
    assert list(whole.index) == ["CRISP", "CENDA", "none", "ablation", "LDA"]
    times = summary.costs.set_index("name")["fit_time"]
    assert times["CRISP"] == 0.25
    assert "none" not in times
    few = summary.select(method="CRISP")
    few = few[few["data"].isin(["d0", "d3"])]["mean"].mean()
    group = "below 1 row per feature"
    (found,) = rows_where(entry, group=group, method="CRISP")["mean"]
    assert found == pytest.approx(few)
    assert whole["rank"]["CRISP"] == 1
    assert np.isnan(whole["rank"]["LDA"])
    assert whole["mean"]["LDA"] > 0.94


def test_a_reference_that_failed_has_no_mean_but_costs_no_cell(tmp_path):
    entry = make_run(tmp_path, 3, missing=[("d0", "LDA")]).overview
    assert groups_of(entry)[0] == ("all", 6)
    means = rows_where(entry, method="LDA")["mean"]
    assert list(means.isna()[:3]) == [True, True, False]


def test_a_mean_over_some_folds_is_compared_with_no_other(tmp_path):
    summary = make_run(tmp_path, 3, missing=[("d0", "CRISP", 1)])
    (comparison,) = summary.comparisons
    assert comparison.n_cells == 4
    assert groups_of(summary.overview)[0] == ("all", 4)
    assert comparison.pair("CRISP", "CENDA").n_cells == 4
    assert comparison.pair("none", "CENDA").n_cells == 6
    best = {c.data: c.method for c in summary.select(best=True).itertuples()}
    assert best == {"d0": "CENDA", "d1": "CRISP", "d2": "CRISP"}


def test_few_data_sets_are_not_tested(tmp_path):
    summary = make_run(tmp_path, 5)
    (comparison,) = summary.comparisons
    assert not comparison.tested
    assert np.isnan(comparison.friedman_p)
    assert comparison.pairs["p"].isna().all()
    page = to_html(summary)
    assert "at least 6 data sets, and there are 5." in page
    assert "p = " not in page


def test_one_data_set_has_no_overview(tmp_path):
    summary = make_run(tmp_path, 1)
    assert summary.overview.empty
    page = to_html(summary)
    assert '<h2 id="overview">' not in page
    assert "CRISP is first in 2 of 2 combinations of r and learner on d0" in page
    assert "are not independent samples" in page


def test_printed_rows(summary):
    tables = {
        section.key: list(tables_of(section.blocks)) for section in document(summary)
    }
    (table,) = tables["overview"]
    assert table.head[:2] == ["reducer", "all (12)"]
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
    assert "Neither ranked nor tested: ablation (for comparison), LDA" in page
    assert "Average ranks depend on the methods that are compared" in page
    for key in ("regimes-0", "forest-0", "ranks-0", "gaps-0"):
        assert f'id="{key}"' in page
    text = to_markdown(summary)
    assert "## Pairwise comparison" in text
    assert "LDA \N{DAGGER}" in text
    assert r"LDA $\dagger$" in to_latex(summary)


def test_a_score_of_which_less_is_better(tmp_path):
    """Numbers are those of the score; only differences of pairs are turned."""
    summary = make_run(tmp_path, 6, metric="risk_coverage_area")
    (comparison,) = summary.comparisons
    assert comparison.methods == ["none", "CENDA", "CRISP"]
    assert summary.overview["method"][0] == "none"
    assert (summary.overview["mean"] > 0).all()
    (forest,) = _figures.forest(comparison, 0)
    assert re.match(r"CENDA \+0\.\d+ \(\+0\.\d+ to \+0\.\d+\); CRISP \+", forest.alt)
    here = {"data": "d0", "learner": "PLKNN"}
    folds = pivot(rows_where(summary.folds, **here), "value", "noise_seed", "fold")
    none, cenda = (summary.select(method=m, **here) for m in ("none", "CENDA"))
    low, high = interval(folds, "none", "CENDA", 2)  # turned: less is better
    assert low < cenda["mean"].item() - none["mean"].item() < high
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
    names, ratios = ["none", "CRISP"], {"d0": 0.5, "d1": 2.0}
    rows = list(overview(summary.select(learner="SURE"), names, names, ratios))
    assert [row["n_cells"] for row in rows if row["method"] == "CRISP"] == [2, 1, 1]
    assert all(row["rank"] == 1 + (row["method"] == "none") for row in rows)


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
