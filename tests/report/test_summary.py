"""The summary: frozen records, right in their numbers."""

import json
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from partlearn.benchmark import (
    Cell,
    DamagedStoreError,
    MethodSpec,
    corrected_interval,
    load_rows,
    paired_t,
)
from partlearn.report import summarize, to_json
from partlearn.report._blocks import tables_of
from partlearn.report._compare import interval
from partlearn.report._pages import document
from partlearn.report._summarize import _sweep


def cell_of(summary, **wanted):
    (cell,) = [
        c for c in summary.cells if all(getattr(c, k) == v for k, v in wanted.items())
    ]
    return cell


def test_records_are_frozen_and_read_by_name_too(summary):
    with pytest.raises(FrozenInstanceError):
        summary.title = "another"
    assert summary["cells"][0]["mean"] == summary.cells[0].mean
    assert summary["title"] == summary.title
    with pytest.raises(KeyError, match="unknown"):
        summary["unknown"]


def test_json_is_the_summary(summary):
    found = json.loads(to_json(summary))
    assert found["cells"][0]["mean"] == summary.cells[0].mean
    assert found.keys() == {field.name for field in fields(summary)}


def test_means_come_from_the_rows(summary, run_folder):
    rows, _ = load_rows(run_folder)
    key = {"protocol": "inductive", "data": "Lost", "learner": "PL-KNN"}
    wanted = key | {"reducer": "none"}
    scores = [r["accuracy"] for r in rows if all(r[k] == v for k, v in wanted.items())]
    cell = cell_of(summary, method="none", **key)
    assert cell.mean == pytest.approx(np.mean(scores))
    assert cell.std == pytest.approx(np.std(scores, ddof=1))
    assert len(cell.folds) == 3


def test_published_and_difference(summary):
    wanted = {"data": "Lost", "method": "CENDA[thr=0.999]", "learner": "PL-KNN"}
    cell = cell_of(summary, protocol="transductive", **wanted)
    assert cell.published.mean == 0.81
    assert cell.published.n_components == 13
    assert cell.difference == pytest.approx(cell.mean - 0.81)
    (section,) = [s for s in document(summary).sections if s.key == "published"]
    (table,) = section.blocks
    assert table.head.count("published") == 1
    assert "measured, inductive" in table.head
    names = ["Lost", "PL-KNN", "CENDA[thr=0.999]"]
    (row,) = [r for r in table.cells if [c.text for c in r[:3]] == names]
    at = table.head.index("difference, transductive")
    assert row[at].text == f"{cell.difference:+.3f}"
    assert row[at + 1].small == "13 published"


def test_training_labels_named_right_stand_beside_test_scores(summary, run_folder):
    rows, _ = load_rows(run_folder)
    key = ("inductive", "Lost", "CENDA[thr=0.999]")
    mine = [r for r in rows if (r["protocol"], r["data"], r["reducer"]) == key]
    (found,) = [
        n for n in summary.named_right if (n.protocol, n.data, n.reducer) == key
    ]
    shares = [r["reducer_disambiguation"] for r in mine]
    assert found.by_reduction == pytest.approx(np.mean(shares))
    assert found.by_learner is None
    assert found.test == pytest.approx(np.mean([r["accuracy"] for r in mine]))
    (section,) = [s for s in document(summary).sections if s.key == "named"]
    (table,) = tables_of(section.blocks)
    assert "no reduction" not in [row[1] for row in table.rows]


def test_differences_have_the_corrected_interval(summary):
    wanted = {"protocol": "inductive", "data": "Lost", "learner": "PL-KNN"}
    raw, own = (
        cell_of(summary, method=m, **wanted) for m in ("none", "CENDA[thr=0.999]")
    )
    scores = [[f.value for f in cell.folds] for cell in (raw, own)]
    found = interval(raw, own, 3)
    assert found == pytest.approx(corrected_interval(*scores, test_fraction=1 / 3))
    assert interval(raw, raw, 3) is None


def test_best_is_marked_once_or_tied(summary):
    for protocol in summary.protocols:
        block = [
            c
            for c in summary.cells
            if (c.protocol, c.data, c.learner) == (protocol, "Lost", "PL-KNN")
        ]
        best = [c for c in block if c.best]
        top = max(c.mean for c in block if c.mean is not None)
        assert best
        assert all(round(c.mean, 3) == round(top, 3) for c in best)


def test_win_tie_loss_repeats_the_test(summary, run_folder):
    rows, _ = load_rows(run_folder)

    def scores(data, reducer):
        wanted = ("inductive", data, "PL-KNN", reducer)
        keys = ("protocol", "data", "learner", "reducer")
        return [r["accuracy"] for r in rows if tuple(r[k] for k in keys) == wanted]

    (entry,) = [
        w
        for w in summary.win_tie_loss
        if (w.protocol, w.other, w.learner) == ("inductive", "none", "PL-KNN")
    ]
    outcomes = [
        paired_t(scores(data, "CENDA[thr=0.999]"), scores(data, "none")).outcome
        for data in ("Lost", "second <set>")
    ]
    assert [getattr(entry.plain, k) for k in ("win", "tie", "loss")] == [
        outcomes.count(k) for k in ("win", "tie", "loss")
    ]
    # A reducer that failed everywhere is compared with nobody.
    assert not [w for w in summary.win_tie_loss if w.other == "broken"]


def test_failures_are_grouped(summary):
    failures = [f for f in summary["failures"] if f["reducer"] == "broken"]
    assert failures
    assert all(f["n_folds"] == 3 for f in failures)
    assert all("mu" in f["message"] for f in failures)


def test_notes_tell_of_the_leak_and_of_the_data(summary):
    text = " ".join(summary["notes"])
    assert "too high for new data" in text
    assert "Lost: not the real one" in text


def test_absent_data_is_listed(summary):
    assert [a["name"] for a in summary["absent"]] == ["absent <set>"]


def test_views_show_confidences(summary):
    view = summary.views[0]
    assert sum(view.histogram["after"]) == sum(view.histogram["before"])
    assert len(view.ambiguous) == 10
    levels = [row.candidates[0].confidence for row in view.ambiguous]
    assert levels == sorted(levels)
    assert all(0 <= p.confidence <= 1 for p in view.points)


def test_sweep_has_one_curve_per_other_parameter(summary):
    curves = [
        c
        for c in summary.sweep
        if c.parameter == "n_neighbors" and c.protocol == "inductive"
    ]
    assert {c.method for c in curves} == {"sweep, vote=rank", "sweep, vote=uniform"}
    assert all(c.x == (3, 5) for c in curves)


def test_sweep_over_values_that_are_lists():
    """They have no hash; a report must not fail after a long run."""
    specs = [MethodSpec(f"M[a=[{i}]]", "M", point={"a": [i]}) for i in (1, 2)]
    about = {"protocol": "p", "data": "d", "r": None, "labels": "l", "learner": "k"}
    rest = {"metric": "accuracy", "std": None, "folds": (), "n_failed": 0}
    cells = [
        Cell(**about, **rest, method=spec.name, mean=0.5, whole=True) for spec in specs
    ]
    (curve,) = _sweep(specs, cells)
    assert (curve.method, curve.x, curve.y) == ("M", ([1], [2]), (0.5, 0.5))


def test_costs_count_each_reduction_once(summary):
    (cenda,) = [c for c in summary["costs"] if c["name"] == "CENDA[thr=0.999]"]
    # Two data sets, three folds and one whole fit each.
    assert cenda["n_runs"] == 8
    assert cenda["fit_time"] > 0


def test_folder_without_a_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no finished run"):
        summarize(tmp_path)


@pytest.mark.parametrize("content", ["{}", "[1]", '{"data": 1}'])
def test_files_of_others_are_no_run(tmp_path, content):
    for name in ("plan.json", "run.json"):
        (tmp_path / name).write_text(content)
    with pytest.raises(DamagedStoreError, match=r"plan\.json: "):
        summarize(tmp_path)
