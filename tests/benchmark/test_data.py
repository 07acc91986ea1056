"""Data of a plan: found, filled with candidates, fingerprinted."""

import gzip

import numpy as np
import pytest
from tests.runs import load_plan_data

from partlearn.benchmark import PlanError, parse_plan
from partlearn.benchmark._data import find_file

PLAN = """
[plan]
name = "p"
[[data]]
name = "toy"
source = "{source}"
{rest}
[[reducers]]
name = "none"
[[learners]]
class = "PLKNN"
"""


def plan(source="toy", rest=""):
    return parse_plan(PLAN.format(source=source, rest=rest))


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    inner = tmp_path / "deep"
    inner.mkdir()
    X = rng.normal(size=(12, 3))
    y = np.arange(12) % 4
    S = np.eye(4, dtype=bool)[y]
    S[:, 0] = True
    np.savez(inner / "Toy.npz", X=X, S=S, y=y)
    np.savez(inner / "classes.npz", X=X, y=y)
    np.savez(inner / "unlabelled.npz", X=X, S=S)
    return tmp_path


def test_files_are_found_deep_and_in_any_case(folder):
    assert find_file("toy", folder) == folder / "deep" / "Toy.npz"
    assert find_file("deep/Toy.npz", folder) == folder / "deep" / "Toy.npz"
    assert find_file(str(folder / "deep" / "Toy.npz"), None).name == "Toy.npz"
    assert find_file("nothing", folder) is None
    assert find_file("toy", None) is None


def test_sets_of_the_file_are_kept(folder):
    (data,), absent = load_plan_data(plan(), folder)
    assert absent == []
    assert data.r is None
    assert data.S[:, 0].all()
    assert data.truth.tolist() == (np.arange(12) % 4).tolist()


def test_published_r_names_the_sets_of_a_file(folder):
    (data,), _ = load_plan_data(plan(rest="published_r = 1"), folder)
    assert data.r == 1


def test_synthetic_sets_have_r_false_labels_and_the_truth(folder):
    found, _ = load_plan_data(plan(rest="r = [1, 2]\nnoise_seeds = [0, 1]"), folder)
    assert [(d.r, d.noise_seed) for d in found] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    for data in found:
        assert (data.S.sum(axis=1) == data.r + 1).all()
        assert data.S[np.arange(12), data.truth].all()
    assert len({d.fingerprint for d in found}) == 4


def test_fingerprint_depends_on_content_only(folder):
    (a,), _ = load_plan_data(plan(rest="r = 1"), folder)
    (b,), _ = load_plan_data(plan(rest="r = 1\nnote = 'x'"), folder)
    assert a.fingerprint == b.fingerprint


def test_absent_data_is_reported(folder):
    data, absent = load_plan_data(plan("nowhere", "r = 1"), folder)
    assert data == []
    assert absent[0]["name"] == "toy"
    assert "nowhere" in absent[0]["reason"]
    _, absent = load_plan_data(plan("nowhere", "r = 1"), None)
    assert "no data folder was given" in absent[0]["reason"]


def test_max_rows_is_a_fixed_part(folder):
    few = parse_plan(
        PLAN.format(source="toy", rest="max_rows = 5").replace(
            'name = "p"', 'name = "p"\nfolds = 2'
        )
    )
    (a,), _ = load_plan_data(few, folder)
    (b,), _ = load_plan_data(few, folder)
    assert a.X.shape == (5, 3)
    np.testing.assert_array_equal(a.X, b.X)


@pytest.mark.parametrize(
    ("source", "rest", "message"),
    [
        ("classes", "", "has no candidate sets; give `r`"),
        ("unlabelled", "", "does not have one true label per row"),
        ("toy", "r = 4", "r = 4 false labels need 5 classes; there are 4"),
        ("sklearn:nope", "r = 1", "must be one of digits, iris"),
    ],
)
def test_data_that_cannot_be_compared(folder, source, rest, message):
    with pytest.raises(PlanError, match=message):
        load_plan_data(plan(source, rest), folder)


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(PlanError, match="no such data folder"):
        load_plan_data(plan(), tmp_path / "absent")


def test_classes_without_rows_get_no_false_labels(tmp_path):
    """A class that never occurs has no column to draw from in the generator."""
    y = np.array([0, 1, 3] * 4)
    np.savez(tmp_path / "gap.npz", X=np.eye(12), y=y, label_names=list("abcd"))
    with pytest.raises(PlanError, match="need 4 classes; there are 3 in its 12 rows"):
        load_plan_data(plan("gap", "r = 3"), tmp_path)
    (data,), _ = load_plan_data(plan("gap", "r = 1"), tmp_path)
    assert data.S.shape == (12, len(data.classes))
    assert data.S[np.arange(12), data.truth].all()


def test_compressed_tables_are_found(folder):
    path = folder / "deep" / "own.CSV.gz"
    lines = "a,candidates,truth\n1,x|y,x\n2,y,y\n3,x,x\n"
    path.write_bytes(gzip.compress(lines.encode()))
    assert find_file("Own", folder) == path
    assert find_file("deep/own.CSV.gz", folder) == path


def test_tables_that_a_plan_cannot_read_need_names(folder):
    lines = "a,id,kind,known\n1,r1,x|y,x\n2,r2,y,y\n"
    (folder / "own.csv").write_text(lines)
    with pytest.raises(PlanError, match=r"with `labels`, `truth` and `ignore`"):
        load_plan_data(plan("own"), folder)
    rest = 'labels = "kind"\ntruth = "known"\nignore = ["id"]'
    with pytest.raises(PlanError, match="10 folds of 2 rows"):
        load_plan_data(plan("own", rest), folder)


def test_one_class_is_nothing_to_compare(folder):
    (folder / "own.csv").write_text("a,candidates,truth\n1,x,x\n2,x,x\n")
    with pytest.raises(PlanError, match="has one class, 'x'"):
        load_plan_data(plan("own"), folder)


def test_more_folds_than_rows(folder):
    (folder / "own.csv").write_text("a,candidates,truth\n1,x|y,x\n2,y,y\n")
    with pytest.raises(PlanError, match="Data 'toy': 10 folds of 2 rows"):
        load_plan_data(plan("own"), folder)


@pytest.mark.parametrize("source", ["nothing", "nothing.npz"])
def test_absent_files_are_named(folder, source):
    _, (entry,) = load_plan_data(plan(source), folder)
    assert entry["file"] == "nothing.npz"
    assert entry["reason"] == f"no file such as nothing.npz in {folder.name}"
