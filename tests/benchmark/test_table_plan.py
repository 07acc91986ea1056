"""A table of a user in a plan: three lines, whatever its columns hold."""

import numpy as np
import pytest
from tests.runs import load_plan_data

from partlearn.benchmark import (
    PlanError,
    load_plan,
    load_run,
    parse_plan,
    run_plan,
)
from partlearn.datasets import make_tickets
from partlearn.io import TableWriter
from partlearn.report import summarize, to_markdown
from partlearn.tables import dataset_of

PLAN = """
[plan]
name = "mine"
folds = 3
[[data]]
source = "{source}"
{rest}
[[reducers]]
name = "none"
[[learners]]
class = "PLKNN"
"""


@pytest.fixture
def folder(tmp_path):
    tickets = make_tickets(60, random_state=0)
    columns = {
        name: [None if value != value else value for value in column.tolist()]
        for name, column in tickets.columns.items()
    }
    truth = tickets.truth.tolist()
    truth[5] = "NA"
    with TableWriter(tmp_path / "tickets.csv") as writer:
        writer.write({**columns, "right": truth})
    return tmp_path


def load(folder, rest, source="tickets.csv"):
    plan = parse_plan(PLAN.format(source=source, rest=rest))
    (data,), absent = load_plan_data(plan, folder)
    assert not absent
    return data


def test_a_table_is_encoded_for_a_plan(folder):
    data = load(folder, 'labels = "candidates"\ntruth = "right"\nignore = ["ticket"]')
    assert data.X.shape[0] == 59  # one row has no true label
    assert np.isfinite(data.X).all()
    assert data.S[np.arange(59), data.truth].mean() > 0.9
    same = dataset_of(
        folder / "tickets.csv", "candidates", "right", roles={"ignore": "ticket"}
    )
    np.testing.assert_array_equal(data.X, np.delete(same.rows, 5, axis=0))
    assert same.ids.tolist() == list(range(60))


def test_what_a_plan_cannot_read_is_said(folder):
    with pytest.raises(PlanError, match="one true label per row"):
        load(folder, 'labels = "candidates"\nignore = ["right"]')
    with pytest.raises(PlanError, match="there is no column 'candidate'"):
        load(folder, 'labels = "candidate"')
    with pytest.raises(PlanError, match="never a candidate"):
        load(folder, 'labels = "candidates"\ntruth = "channel"\nignore = ["right"]')
    with pytest.raises(PlanError, match="one true label per row"):
        load(folder, "")
    (folder / "none.csv").write_text("a,b\n1,2\n2,1\n")
    with pytest.raises(PlanError, match="with `labels`, `truth` and `ignore`"):
        load(folder, "", source="none.csv")
    np.savez(folder / "m.npz", X=np.eye(4), S=np.eye(4, dtype=bool), y=np.arange(4))
    with pytest.raises(PlanError, match="for tables"):
        load(folder, 'labels = "c"', source="m.npz")


THREE_LINES = """plan = {name = "mine", extends = "demo", folds = 2}
[[data]]
source = "pets.csv"
"""


def test_three_lines_and_a_report(tmp_path):
    """The columns of the labels are found by their names, the others are encoded."""
    rng = np.random.default_rng(0)
    lines = ["weight;coat;born;candidates;truth"]
    for i in range(40):
        y = i % 3
        label, other = ["cat", "dog", "eel"][y], ["cat", "dog", "eel"][y - 1]
        weight = "?" if i == 7 else f"{y + rng.normal():.2f}".replace(".", ",")
        coat = ["soft", "rough", "none at all"][y if i % 4 else i % 3]
        day = f"{1 + i % 28:02d}.0{1 + y}.2024"
        lines.append(f"{weight};{coat};{day};{label}|{other};{label}")
    (tmp_path / "pets.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "mine.toml").write_text(THREE_LINES)
    assert THREE_LINES.count("\n") == 3
    run_plan(load_plan(tmp_path / "mine.toml"), tmp_path / "run", data_folder=tmp_path)
    page = to_markdown(summarize(tmp_path / "run"))
    assert "pets" in page
    frame = load_run(tmp_path / "run").frame()
    values = frame["value"][frame["metric"] == "accuracy"]
    assert len(values)
    assert values.between(0, 1).all()
