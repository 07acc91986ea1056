"""Reports of multi-label runs: numbers from the rows, names shown as text."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from partlearn.benchmark import parse_plan, run_plan
from partlearn.cli.__main__ import main
from partlearn.report import summarize, to_html, to_json, to_latex, to_markdown
from partlearn.report._compare import against, compare
from partlearn.report._pages import document
from partlearn.report._summarize import rows_where

EVIL = '<script>alert("x")</script> & $\\alpha$ | *b*'
PLAN = """
[plan]
name = "evil"
task = "multilabel"
title = 'Title with <b>markup</b> & "quotes"'
citation = "A <i>paper</i>"
folds = 2
percentages = [10, 30, 50]
random_draws = 2
cv = 2
reference = "TRACE"
metrics = ["average_precision", "ranking_loss", "micro_f1"]
published = {{ paper = "PML-FSLA", table = "2, 4" }}
notes = ["A <em>note</em>"]
[[data]]
name = "Yeast"
source = "evil"
r = 1
noise_seeds = [0, 1]
note = "not the real one"
[[data]]
name = '{evil}'
source = "evil"
r = 0.5
noise = "rate"
learners = ["knn"]
counts = [1, 4, 10]
[[data]]
name = "absent <set>"
source = "nowhere"
r = 1
[[selectors]]
class = "TRACE"
[[selectors]]
name = "PML-FSLA"
class = "PMLFSLA"
params = {{ n_latent = 2, n_init = 1, max_iter = 20 }}
[[selectors]]
name = 'broken <x>'
class = "PMLFSLA"
params = {{ alpha = -1.0 }}
[[classifiers]]
name = "alone"
class = "MLKNN"
published = "MLKNN"
[[learners]]
name = "knn"
class = "MLKNN"
[[learners]]
name = "svm <x>"
class = "LinearSVM"
params = {{ C = [1.0] }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("evil")
    rng = np.random.default_rng(0)
    X = rng.random((40, 10))
    Y = X[:, :4] + 0.3 * rng.normal(size=(40, 4)) > 0.6
    names = np.array([EVIL, "b", "c", "d"])
    np.savez(base / "evil.npz", X=X, Y=Y, label_names=names)
    (base / "evil.toml").write_text(PLAN.format(evil=EVIL), encoding="utf-8")
    plan = parse_plan(PLAN.format(evil=EVIL))
    run_plan(plan, base / "out", data_folder=base)
    return base


@pytest.fixture(scope="module")
def summary(folder):
    return summarize(folder / "out")


@pytest.fixture(scope="module")
def page(summary):
    return to_html(summary)


class Page(HTMLParser):
    """Collects tags, text and ids."""

    void = ("meta", "link", "br")

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.links = [], [], [], []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        if "id" in found:
            self.ids.append(found["id"])
        if found.get("href", "").startswith("#"):
            self.links.append(found["href"][1:])
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_page_is_whole_and_shows_names_as_text(page):
    found = Page(page)
    assert found.open == []
    assert "script" not in found.tags
    assert EVIL in found.text
    assert "broken <x>" in found.text
    assert "absent <set>" in found.text
    assert len(found.ids) == len(set(found.ids))
    assert set(found.links) <= set(found.ids)
    assert not re.search(r'(src|href)="(https?:)?//', page)
    for control in ("random order", "label frequency", "all features"):
        assert control in found.text


def cell(data, method, areas, learner="knn", n_failed=0, metric="ranking_loss"):
    return {
        "protocol": "inductive", "data": data, "set": data, "labels": "clean",
        "learner": learner, "method": method, "metric": metric, "noise_seed": 0,
        "mean": float(np.mean(areas)), "whole": not n_failed, "areas": areas,
    }  # fmt: skip


def folds_of(cells):
    folds = ((c, i, v) for c in cells for i, v in enumerate(c["areas"]))
    return pd.DataFrame([{**c, "fold": i, "value": v} for c, i, v in folds])


def test_against_a_control_by_hand():
    found = [cell(f"D{i}", "C", [0.5, 0.5, 0.5]) for i in range(8)]
    found += [cell(f"D{i}", "A", [0.39, 0.4, 0.41 - i / 1e3]) for i in range(8)]
    found += [cell(f"D{i}", "B", [0.6, 0.6, 0.61 + i / 1e3]) for i in range(8)]
    low, high = against(folds_of(found), ["A", "B", "C"], ["C"], 3, by_learner=False)
    # A low loss is good: A beats the control in all places, B loses in all.
    assert low["difference"] == pytest.approx(0.1 + 3.5 / 3e3)
    assert (low["n_above"], low["corrected"], low["learner"]) == (8, "8/0/0", "all")
    assert (high["n_above"], high["corrected"]) == (0, "0/0/8")
    pair = compare(pd.DataFrame(found), ["A", "B", "C"]).pair("A", "C")
    assert pair.difference == pytest.approx(low["difference"])
    # Exact two-sided Wilcoxon; three pairs, all as clear: Holm's factor is 3 at most.
    assert pair.p == pytest.approx(2 / 2**8)
    assert pair.significant
    assert pair.better > 0.99


def test_ranks_leave_out_incomplete_places():
    found = [
        cell(f"D{i}", name, [value])
        for i in range(3)
        for name, value in (("A", 0.1), ("B", 0.2), ("C", 0.3))
    ]
    found.append(cell("other", "A", [0.9]))
    found += [cell("some folds", name, [0.5]) for name in "AB"]
    found.append(cell("some folds", "C", [0.5], n_failed=1))
    comparison = compare(pd.DataFrame(found), ["A", "B", "C", "never"])
    assert comparison.methods == ["A", "B", "C"]
    assert list(comparison.table["rank"]) == [1, 2, 3]
    assert list(comparison.table["mean"]) == pytest.approx([0.1, 0.2, 0.3])
    assert comparison.n_cells == 3
    assert not comparison.tested
    assert comparison.pairs["p"].isna().all()
    # A pair needs its two methods only.
    assert comparison.pair("A", "B").n_data == 4
    assert compare(pd.DataFrame(found), ["A", "never"]) is None


def test_each_data_set_counts_once():
    found = [
        cell(data, name, [value], learner)
        for data, learner, values in [
            ("D1", "x", (0.1, 0.2, 0.3)),
            ("D1", "y", (0.1, 0.2, 0.3)),
            ("D2", "x", (0.3, 0.2, 0.1)),
            ("D3", "x", (0.1, 0.2, 0.3)),
            *((f"E{i}", "x", (0.1, 0.2, 0.3)) for i in range(3)),
        ]
        for name, value in zip("ABC", values, strict=True)
    ]
    comparison = compare(pd.DataFrame(found), ["A", "B", "C"])
    table = comparison.table
    assert (comparison.n_cells, len(comparison.data)) == (7, 6)
    assert list(table["cell_rank"]) == pytest.approx([9 / 7, 2, 19 / 7])
    assert list(table["rank"]) == pytest.approx([8 / 6, 2, 16 / 6])
    assert list(table["n_first"]) == [5, 0, 1]
    assert list(table["n_first_cells"]) == [6, 0, 1]
    assert comparison.tested


def test_published_figures_have_controls_beside_them(summary):
    known = summary.cells.dropna(subset="published")
    assert set(known["data"]) == {"Yeast"}
    assert set(known["method"]) == {"PML-FSLA", "alone"}
    assert set(known["metric"]) == {"average_precision", "micro_f1"}
    (section,) = [s for s in document(summary) if s.key == "published"]
    table, rest = section.blocks
    assert {row[0] for row in table.rows} == {"average precision"}
    (other,) = rest.blocks
    assert {row[0] for row in other.rows} == {"micro F1"}
    assert table.head[-3:] == ["random order", "all features", "label frequency"]
    row = next(r for r in table.rows if r[0] == "average precision")
    assert row[3:6] == ["PML-FSLA", "candidates", "0.690 ± 0.000"]
    cell = next(known[known["metric"] == "average_precision"].itertuples())
    names = ("set", "metric", "method", "learner", "labels")
    where = {name: getattr(cell, name) for name in names}
    mean = rows_where(summary.curves, **where)["mean"].mean()
    assert row[7] == f"{mean - 0.690:+.3f}"
    assert all(0 < float(text) < 1 for text in row[-3:])


def test_best_is_among_the_orders(summary):
    best = summary.select(best=True)
    assert not set(best["method"]) & {"all features", "label frequency", "alone"}
    keys, every = (
        {(c.data, c.labels, c.learner, c.metric) for c in part.itertuples()}
        for part in (best, summary.cells)
    )
    assert keys == every


def test_failures_absences_and_notes(summary):
    assert set(summary.failures["reducer"]) == {"broken <x>"}
    assert summary.absent[0]["name"] == "absent <set>"
    assert "Yeast: not the real one" in summary["notes"]


def test_text_formats(summary):
    text = to_markdown(summary)
    before = 0
    for line in text.splitlines():
        width = len(re.findall(r"(?<!\\)\|", line)) if line[:1] == "|" else 0
        # Rows of one table follow each other and have as many cells.
        assert not (before and width) or width == before
        before = width
    assert "<script>" not in text
    assert "anking loss" in text
    tex = to_latex(summary)
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") > 0
    assert r"\textless{}script\textgreater{}" in tex
    assert json.loads(to_json(summary))["task"] == "multilabel"


def test_classifiers_alone(tmp_path):
    text = PLAN.format(evil="other").split("[[selectors]]")[0]
    text = text.replace('reference = "TRACE"', 'reference = "knn"')
    text = text.replace('published = { paper = "PML-FSLA", table = "2, 4" }\n', "")
    text = text.replace('source = "evil"', 'source = "sklearn:multilabel"')
    text = text.replace('learners = ["knn"]\n', "")
    for name, cls in (("knn", "MLKNN"), ("lines", "FPML")):
        text += f'[[classifiers]]\nname = "{name}"\nclass = "{cls}"\n'
    run_plan(parse_plan(text), tmp_path)
    summary = summarize(tmp_path)
    assert summary.methods == ("knn", "lines", "label frequency")
    assert summary.learners == ("-",)
    first = summary.comparisons[0]
    assert set(first.methods) == {"knn", "lines"}
    assert first.pair("knn", "label frequency").n_data == 2
    here = {"metric": "average_precision", "set": "Yeast, r = 1", "labels": "clean"}
    cells = summary.select(**here)
    assert cells[cells["method"] != "label frequency"]["best"].sum() == 1
    assert list(summary.costs["kind"]) == ["classifier", "classifier"]
    # Three seeds, two folds, two kinds of labels.
    assert (summary.costs["n_runs"] == 3 * 2 * 2).all()
    shown = to_markdown(summary)
    assert "trained on candidates: mean (and ± standard deviation" in shown
    assert "random order" not in shown
    assert "area under the curve" not in shown


def test_command_prints_tables(folder, capsys):
    arguments = [str(folder / "evil.toml"), "--data", str(folder)]
    with pytest.raises(SystemExit) as ended:
        main(["bench", *arguments, "--out", str(folder / "out")])
    # Some jobs failed.
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert "random order (control)" in printed.out
    assert "Published and measured scores" in printed.out
    assert "Against random order" in printed.out
    assert "Pairwise comparison" in printed.out
    assert "at least 6 data sets, and there are 2." in printed.out
    # Other scores are folded away.
    assert "anking loss" not in printed.out
    assert "absent <set>" in printed.err


def test_sweep_has_a_curve_per_parameter(tmp_path):
    text = PLAN.split("[[data]]")[0].format().replace("published", "#")
    text = text.replace('reference = "TRACE"\n', "")
    text += """
[[data]]
name = "made"
source = "sklearn:multilabel"
r = 1
max_rows = 40
[[selectors]]
name = "path"
class = "TRACE"
grid = { mu = [0.1, 1.0] }
[[learners]]
class = "MLKNN"
"""
    run_plan(parse_plan(text), tmp_path)
    summary = summarize(tmp_path)
    swept = summary.sweep[summary.sweep["metric"] == "average_precision"]
    curves = dict(iter(swept.groupby(["labels", "method"])))
    assert [list(c["x"]) for c in curves.values()] == [[0.1, 1.0]] * 2 * 4
    controls = {"random order", "all features", "label frequency"}
    assert set(swept["method"]) == {"path"} | controls
    assert all(c["y"].nunique() == 1 for (_, m), c in curves.items() if m in controls)
    assert "against mu" in to_html(summary)
