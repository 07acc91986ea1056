"""The summary: frozen records, right in their numbers."""

import json
import shutil
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pandas as pd
import pytest
from tests.runs import rows_of

from partlearn.benchmark import (
    DamagedStoreError,
    MethodSpec,
    corrected_interval,
    load_run,
    paired_t,
)
from partlearn.report import summarize, to_json
from partlearn.report._blocks import tables_of
from partlearn.report._compare import interval, pivot
from partlearn.report._figures import sweeps
from partlearn.report._pages import document
from partlearn.report._summarize import _sweep, rows_where


def cell_of(summary, **wanted):
    (cell,) = summary.select(**wanted).itertuples()
    return cell


def test_records_are_frozen_and_read_by_name_too(summary):
    with pytest.raises(FrozenInstanceError):
        summary.title = "another"
    assert summary["cells"][0]["mean"] == summary.cells["mean"][0]
    assert summary["title"] == summary.title
    with pytest.raises(KeyError, match="unknown"):
        summary["unknown"]


def test_json_is_the_summary(summary):
    found = json.loads(to_json(summary))
    assert found["cells"][0]["mean"] == summary.cells["mean"][0]
    assert found.keys() == {field.name for field in fields(summary)}


def test_means_come_from_the_rows(summary, run_folder):
    rows = rows_of(load_run(run_folder))
    key = {"protocol": "inductive", "data": "Lost", "learner": "PL-KNN"}
    wanted = key | {"reducer": "none"}
    scores = [r["accuracy"] for r in rows if all(r[k] == v for k, v in wanted.items())]
    cell = cell_of(summary, method="none", **key)
    assert cell.mean == pytest.approx(np.mean(scores))
    assert cell.std == pytest.approx(np.std(scores, ddof=1))
    folds = rows_where(summary.folds, method="none", **key)
    assert list(folds["value"]) == scores


def test_published_and_difference(summary):
    wanted = {"data": "Lost", "method": "CENDA[thr=0.999]", "learner": "PL-KNN"}
    cell = cell_of(summary, protocol="transductive", **wanted)
    assert cell.published == 0.81
    assert cell.published_columns == 13
    assert cell.difference == pytest.approx(cell.mean - 0.81)
    (section,) = [s for s in document(summary) if s.key == "published"]
    (table,) = section.blocks
    assert table.head.count("published") == 1
    assert "measured, inductive" in table.head
    names = ["Lost", "PL-KNN", "CENDA[thr=0.999]"]
    (row,) = [r for r in table.rows if r[:3] == names]
    at = table.head.index("difference, transductive")
    assert row[at] == f"{cell.difference:+.3f}"
    assert row[at + 1].small == "13 published"


def test_training_labels_named_right_stand_beside_test_scores(summary, run_folder):
    rows = rows_of(load_run(run_folder))
    key = ("inductive", "Lost", "CENDA[thr=0.999]")
    mine = [r for r in rows if (r["protocol"], r["data"], r["reducer"]) == key]
    where = dict(zip(("protocol", "data", "reducer"), key, strict=True))
    (found,) = rows_where(summary.named_right, **where).itertuples()
    shares = [r["reducer_disambiguation"] for r in mine]
    assert found.by_reduction == pytest.approx(np.mean(shares))
    assert np.isnan(found.by_learner)
    assert found.test == pytest.approx(np.mean([r["accuracy"] for r in mine]))
    (section,) = [s for s in document(summary) if s.key == "named"]
    (table,) = tables_of(section.blocks)
    assert "no reduction" not in [row[1] for row in table.rows]


def test_differences_have_the_corrected_interval(summary):
    wanted = {"protocol": "inductive", "data": "Lost", "learner": "PL-KNN"}
    folds = pivot(rows_where(summary.folds, **wanted), "value", "noise_seed", "fold")
    raw, own = "none", "CENDA[thr=0.999]"
    found = interval(folds, raw, own, 3)
    scores = (folds[raw], folds[own])
    assert found == pytest.approx(corrected_interval(*scores, test_fraction=1 / 3))
    assert interval(folds, raw, raw, 3) is None


def test_best_is_marked_once_or_tied(summary):
    for protocol in summary.protocols:
        block = summary.select(protocol=protocol, data="Lost", learner="PL-KNN")
        best = block[block["best"]]
        assert len(best)
        assert set(best["mean"].round(3)) == {round(block["mean"].max(), 3)}


def test_win_tie_loss_repeats_the_test(summary, run_folder):
    rows = rows_of(load_run(run_folder))

    def scores(data, reducer):
        wanted = ("inductive", data, "PL-KNN", reducer)
        keys = ("protocol", "data", "learner", "reducer")
        return [r["accuracy"] for r in rows if tuple(r[k] for k in keys) == wanted]

    where = {"protocol": "inductive", "other": "none", "learner": "PL-KNN"}
    (entry,) = rows_where(summary.win_tie_loss, **where).itertuples()
    outcomes = [
        paired_t(scores(data, "CENDA[thr=0.999]"), scores(data, "none")).outcome
        for data in ("Lost", "second <set>")
    ]
    counts = [str(outcomes.count(k)) for k in ("win", "tie", "loss")]
    assert entry.plain == "/".join(counts)
    # A reducer that failed everywhere is compared with nobody.
    assert "broken" not in set(summary.win_tie_loss["other"])


def test_failures_are_grouped(summary):
    failures = [f for f in summary["failures"] if f["reducer"] == "broken"]
    assert failures
    assert all(f["n_folds"] == 3 for f in failures)
    assert all("mu" in f["text"] for f in failures)
    assert all("Traceback" in f["traceback"] for f in failures)


def test_notes_tell_of_the_leak_and_of_the_data(summary):
    text = " ".join(summary["notes"])
    assert "too high for new data" in text
    assert "Lost: not the real one" in text


def test_absent_data_is_listed(summary):
    assert [a["name"] for a in summary["absent"]] == ["absent <set>"]


def test_views_show_confidences(summary):
    view = summary.views[0]
    counts = view["histogram"]
    assert sum(counts["after"]) == sum(counts["before"])
    assert len(view["ambiguous"]) == 10
    levels = [row["candidates"][0]["confidence"] for row in view["ambiguous"]]
    assert levels == sorted(levels)
    assert view["points"]["confidence"].between(0, 1).all()


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_damaged_reductions_are_no_reason_for_another_report(
    run_folder, tmp_path, suffix
):
    """The views of the damaged reduction were once left out without a word."""
    folder = tmp_path / "run"
    shutil.copytree(run_folder, folder)
    for path in (folder / "reductions").glob(f"*{suffix}"):
        path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(DamagedStoreError, match=f"reductions.*{suffix}: "):
        summarize(folder)
    shutil.rmtree(folder / "reductions")  # left out on purpose, they are large
    assert summarize(folder).views == ()


def test_sweep_has_one_curve_per_other_parameter(summary):
    where = {"parameter": "n_neighbors", "protocol": "inductive"}
    curves = rows_where(summary.sweep, **where)
    names = {"sweep, weights=rank", "sweep, weights=uniform"}
    assert set(curves["method"]) == names
    for _, curve in curves.groupby(["method", "set", "learner"]):
        assert list(curve["x"]) == [3, 5]


def test_sweep_over_values_that_are_lists():
    """They have no hash; a report must not fail after a long run."""
    specs = [MethodSpec(f"M[a=[{i}]]", "M", point={"a": [i]}) for i in (1, 2)]
    about = {"protocol": "p", "data": "d", "set": "d", "r": None, "labels": "l"}
    rest = {"learner": "k", "metric": "accuracy", "mean": 0.5}
    cells = [{**about, **rest, "method": spec.name} for spec in specs]
    curve = _sweep(specs, pd.DataFrame(cells))
    assert list(curve["method"]) == ["M", "M"]
    assert list(curve["x"]) == [[1], [2]]
    assert sweeps(curve)[0].alt.startswith("Best: 0.500 on d with M")


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
