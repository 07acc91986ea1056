"""demo, bench and report: tables to standard output, the rest to standard error."""

import json
import re
import sys

import pytest

PLAN = """
[plan]
name = "mine"
folds = 2
[[data]]
source = "sklearn:iris"
r = 1
max_rows = 60
[[reducers]]
name = "none"
[[reducers]]
class = "CENDA"
{extra}
[[learners]]
class = "PLKNN"
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(PLAN.format(extra=""))
    return path


def test_bench_prints_tables_and_writes_the_report(run, plan, tmp_path):
    out = tmp_path / "out"
    code, text, err = run("bench", plan, "--out", out)
    assert code == 0
    assert "iris, r = 1" in text
    assert "no reduction" in text
    assert "Win/tie/loss of CENDA" in text
    assert f"Report: {out / 'report.html'}" in text
    assert "4 jobs in" in err
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")
    again = run("bench", plan, "--out", out)
    assert "0 jobs in" in again[2]
    fresh = run("bench", plan, "--out", out, "--fresh")
    assert "4 jobs in" in fresh[2]
    three = run("bench", plan, "--out", out, "--folds", 3)
    assert "6 jobs in" in three[2]


def test_report_in_every_format(run, plan, tmp_path):
    out = tmp_path / "results" / "mine"
    assert run("bench", plan, "--out", out)[0] == 0
    targets = {n: tmp_path / "pages" / f"r.{n}" for n in ("html", "markdown", "latex")}
    options = [x for n, p in targets.items() for x in (f"--{n}", p)]
    code, text, _ = run("report", out.parent, *options)
    assert code == 0
    assert text.count("Report: ") == 3
    assert all(path.stat().st_size for path in targets.values())
    assert json.loads(run("report", out, "--json")[1])["plan"] == "mine"
    assert "iris, r = 1" in run("report", out)[1]


def test_a_report_does_not_replace_the_run(run, plan, tmp_path):
    out = tmp_path / "out"
    assert run("bench", plan, "--out", out)[0] == 0
    names = ("run.json", "plan.json", "results.parquet", "jobs/report.html", "RUN.JSON")
    for name in names:
        code, _, err = run("report", out, "--html", out / name)
        assert code == 2
        assert "is a file of the run itself" in err
    page = tmp_path / "page"
    code, _, err = run("report", out, "--html", page, "--markdown", page)
    assert code == 2
    assert "is another result" in err
    assert not page.exists()
    assert run("report", out)[0] == 0


@pytest.mark.parametrize(
    "options", [("--latex", "-", "--csv", "-"), ("--markdown", "-", "--json")]
)
def test_only_one_result_is_printed(run, tmp_path, options):
    code, text, err = run("report", tmp_path, *options)
    assert (code, text) == (2, "")
    assert "would both write to standard output" in err


@pytest.mark.parametrize("name", ["splits.json", "plan.json"])
def test_files_of_a_run_that_were_edited(run, plan, tmp_path, name):
    """Sealed anew as well: the run says what each of its files is."""
    from partlearn.benchmark._store import _opened, _sealed

    out = tmp_path / "out"
    assert run("bench", plan, "--out", out)[0] == 0
    content = _opened((out / name).read_bytes())
    content["note"] = "edited"
    (out / name).write_bytes(_sealed(content))
    code, _, err = run("report", out)
    assert code == 1
    assert f"{name}: changed since the run wrote it" in err
    (out / name).unlink()
    assert run("report", out)[0] != 0


@pytest.mark.parametrize(
    "params",
    [
        'memory = "cache"',
        '"pca__memory" = "cache"',
        'input = "filename"',
        'pre_dispatch = "9**9**9"',
    ],
)
def test_plans_read_no_files_through_scikit_learn(run, tmp_path, params):
    """A cache of joblib is unpickled, which runs whatever is in it."""
    path = tmp_path / "mine.toml"
    text = PLAN.format(extra="")
    extra = '\n[[learners]]\nname = "x"\nclass = "sklearn.pipeline:Pipeline"\n'
    path.write_text(f"{text}{extra}[learners.params]\n{params}\n")
    code, _, err = run("bench", path, "--out", tmp_path / "out")
    assert code == 2
    assert "read or write files" in err
    assert not (tmp_path / "out").exists()


def test_report_of_a_folder_with_several_runs_asks_which(run, plan, tmp_path):
    for name in ("a", "b"):
        assert run("bench", plan, "--out", tmp_path / "all" / name)[0] == 0
    code, _, err = run("report", tmp_path / "all")
    assert code == 2
    assert "several runs (a, b); name one" in err


def test_failed_jobs_are_exit_code_1(run, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(PLAN.format(extra="params.mu = 7"))
    code, text, err = run("bench", path, "--out", tmp_path / "out", "--json")
    assert code == 1
    assert "2 jobs failed" in err
    assert "The first, CENDA and PLKNN: InvalidParameterError: The 'mu'" in err
    summary = json.loads(text)
    assert summary["failures"][0]["n_folds"] == 2
    code, _, err = run("bench", path, "--out", tmp_path / "out", "--retry-failed")
    assert code == 1
    assert "2 jobs in" in err


def test_absent_data_is_said_and_the_rest_runs(run, plan, tmp_path):
    text = plan.read_text() + '[[data]]\nsource = "nowhere"\nr = 1\n'
    plan.write_text(text)
    code, _, err = run("bench", plan, "--data", tmp_path, "--out", tmp_path / "out")
    assert code == 0
    assert "Left out: nowhere" in err


def test_published_figures_are_printed(run, tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = rng.normal(size=(40, 5)) + 3 * np.eye(4, 5)[y]
    text = PLAN.format(extra='name = "CENDA[thr=0.999]"').replace(
        'source = "sklearn:iris"\nr = 1', 'name = "Lost"\nsource = "lost"\nr = 1'
    )
    # Published under no r: the sets are the file's own.
    text = text.replace(
        "folds = 2", 'folds = 2\npublished = {paper="CENDA", table="7"}'
    )
    text = text.replace("r = 1\n", "").replace('PLKNN"', 'PLKNN"\nname = "PL-KNN"')
    S = np.eye(4, dtype=bool)[y] | (rng.random((40, 4)) < 0.2)
    np.savez(tmp_path / "lost.npz", X=X, y=y, S=S)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    code, out, _ = run("bench", path, "--data", tmp_path, "--out", tmp_path / "out")
    assert code == 0
    assert "Published and measured scores" in out
    assert "0.810 ± 0.012" in out


def test_interrupt_keeps_what_is_done(run, plan, tmp_path, monkeypatch):
    from partlearn.benchmark import SerialEngine

    real = SerialEngine.run

    def stop(self, calls):
        for answer in real(self, calls):
            yield answer
            raise KeyboardInterrupt

    monkeypatch.setattr(SerialEngine, "run", stop)
    code, _, err = run("bench", plan, "--out", tmp_path / "out")
    assert code == 1
    assert "run the same command to continue" in err
    monkeypatch.undo()
    assert run("bench", plan, "--out", tmp_path / "out")[0] == 0


def test_list_and_completion(run):
    code, text, _ = run("bench", "--list")
    assert code == 0
    assert "cenda-table7-quick" in text
    from partlearn.cli._bench import _complete

    assert _complete("cenda-table7") == ["cenda-table7", "cenda-table7-quick"]


def test_demo_quick(run, tmp_path):
    code, text, err = run(
        "demo", "--quick", "--jobs", 1, "--out", tmp_path / "a folder"
    )
    assert code == 0, err
    # The first screen is for people outside the field.
    assert "300 images of handwritten digits" in text.splitlines()[0]
    assert "labels found right" in text
    alone, together = (
        float(re.search(rf"{words} +([0-9.]+)%", text)[1])
        for words in ("each image by itself", "images of a page together")
    )
    assert together > alone
    assert (tmp_path / "a folder" / "pages.html").exists()
    assert "where it does not help" in text
    assert "digits, r = 2" in text
    assert "CENDA" in text
    assert text.strip().splitlines()[-1].startswith("In one sentence: from sets of 5")
    page = (tmp_path / "a folder" / "labels.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page  # of the few rows left to review


def test_demo_without_the_extra_says_so(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, text, err = run("demo", "--quick", "--jobs", 1, "--out", tmp_path / "out")
    assert code == 0, err
    assert "partlearn[report]" in err
    assert "Label report" not in text


def test_demo_as_json_is_the_comparison(run, tmp_path):
    code, text, _ = run(
        "demo", "--quick", "--jobs", 1, "--json", "--out", tmp_path / "out"
    )
    assert code == 0
    assert json.loads(text)["title"]


def test_report_without_the_extra_still_leaves_json(run, plan, tmp_path, monkeypatch):
    def absent(summary):
        raise ImportError("needs the extra: pip install 'partlearn[report]'")

    monkeypatch.setattr("partlearn.report.to_html", absent)
    code, text, err = run("bench", plan, "--out", tmp_path / "out")
    assert code == 0
    assert "partlearn[report]" in err
    assert "report.json" in text


def test_progress_bar_shows_on_a_terminal(capsys, monkeypatch):
    import sys

    from partlearn.cli._console import output, progress

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress("title") as update:
        update(1, 2, "digits CENDA")
    assert "digits CENDA" in capsys.readouterr().err
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert output().width < 240


def test_interrupted_change_of_a_plan_leaves_the_last_report(
    run, plan, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    assert run("bench", plan, "--out", out)[0] == 0
    before = run("report", out)[1]

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("partlearn.benchmark._runner._Session.run", stop)
    plan.write_text(PLAN.format(extra='[[reducers]]\nclass = "PLDA"'))
    assert run("bench", plan, "--out", out)[0] == 1
    assert run("report", out)[1] == before


def test_help_names_the_folder_of_results(run):
    assert "results/PLAN" in run("bench", "--help")[1]


def test_pages_appear_only_when_they_are_complete(run, plan, tmp_path, monkeypatch):
    out, page = tmp_path / "out", tmp_path / "page.md"
    assert run("bench", plan, "--out", out)[0] == 0
    page.write_text("old")

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, _, err = run("report", out, "--markdown", page)
    assert (code, "No space left" in err) == (2, True)
    assert page.read_text() == "old"


def test_a_mistake_in_the_plan_forgets_no_jobs(run, plan, tmp_path):
    out = tmp_path / "out"
    assert run("bench", plan, "--out", out)[0] == 0
    before = sorted((out / "jobs").iterdir())
    good = plan.read_text()
    for wrong in ("params.nu = 7", '[[data]]\nsource = "sklearn:irish"'):
        plan.write_text(PLAN.format(extra=wrong))
        assert run("bench", plan, "--out", out, "--fresh")[0] == 2
    assert sorted((out / "jobs").iterdir()) == before
    plan.write_text(good)
    assert "0 jobs in" in run("bench", plan, "--out", out)[2]


def test_verify_runs_a_share_again(run, plan, tmp_path):
    out = tmp_path / "out"
    code, _, err = run("bench", plan, "--out", out, "--verify")
    assert (code, "no finished jobs" in err) == (2, True)
    assert run("bench", plan, "--out", out)[0] == 0
    code, text, _ = run("bench", plan, "--out", out, "--verify", "--share", "0.5")
    assert code == 0
    assert "0 records different" in text
    code, text, _ = run("bench", plan, "--out", out, "--verify", "--json")
    assert (code, json.loads(text)["different"]) == (0, [])
    code, _, err = run("bench", plan, "--out", out, "--verify", "--share", "0")
    assert (code, "--share must be above 0" in err) == (2, True)
    code, text, _ = run("bench", plan, "--out", out, "--verify", "--share", "0.01")
    assert text == "1 job run again, 0 records different.\n"
    job = min((out / "jobs").iterdir())
    job.write_bytes(job.read_bytes().replace(b'"error": ""', b'"error": "E"'))
    code, _, err = run("bench", plan, "--out", out)
    assert code == 0
    assert f"Damaged: jobs/{job.name}" in err
    (out / "run.json").write_text("{")
    code, _, err = run("report", out)
    assert (code, "Run the plan again with the same folder" in err) == (1, True)


def test_tables_go_to_standard_output(run, plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    assert run("bench", plan, "--out", out)[0] == 0
    code, text, _ = run("report", out, "--latex", "-", "--table", "results")
    assert (code, text.count("\\begin{table}")) == (0, 1)
    assert "\\label{tab:mine-results}" in text
    code, text, err = run("report", out, "--csv", "-", "--markdown", "page.md")
    assert code == 0
    assert text.startswith("protocol,data,r,labels,learner,method,metric,mean,std,")
    assert "Report: page.md" in err
    assert not (tmp_path / "-").exists()
    code, _, err = run("report", out, "--latex", "-", "--table", "nothing")
    assert (code, "This run has: " in err) == (2, True)
    code, _, err = run("report", out, "--table", "results")
    assert (code, "--latex or --csv" in err) == (2, True)


def test_without_pandas_results_are_kept_and_the_extra_is_named(
    run, plan, tmp_path, monkeypatch
):
    def absent(*_):
        raise ImportError(
            'Frames of a run need pandas: pip install "partlearn[report]"'
        )

    monkeypatch.setattr("partlearn.benchmark._load.import_optional", absent)
    code, _, err = run("bench", plan, "--out", tmp_path / "out")
    assert code != 0
    assert "partlearn[report]" in err
    monkeypatch.undo()
    code, _, err = run("bench", plan, "--out", tmp_path / "out")
    assert (code, "0 jobs in" in err) == (0, True)
