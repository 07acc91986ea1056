"""``partlearn data convert`` from and to arrays of cleanlab."""

import json

import numpy as np
import pytest


def votes(n=12, annotators=4):
    rng = np.random.RandomState(0)
    A = rng.choice([0.0, 2.0, 10.0], size=(n, annotators))  # there is no label 1
    A[rng.rand(n, annotators) < 0.4] = np.nan
    A[3] = np.nan
    return A


def test_votes_there_and_back(run, tmp_path, table):
    source, middle, back = (
        tmp_path / name for name in ("votes.npy", "votes.csv", "back.npy")
    )
    np.save(source, votes())
    assert run("data", "convert", source, middle)[0] == 0
    assert list(table(middle)[0]) == [f"annotator {j}" for j in range(4)]
    names = ",".join(f"annotator {j}" for j in range(4))
    code, out, error = run("data", "convert", middle, back, "--raters", names)
    assert code == 0, error
    assert "10 is 10" in out
    np.testing.assert_array_equal(np.load(back), votes())


def test_labels_and_probabilities(run, tmp_path):
    P = np.random.RandomState(0).dirichlet(np.ones(3), 12)
    for array, words in (
        (np.arange(12) % 3, ("--labels", "label")),
        (P, ("--weights", "0,1,2")),
    ):
        np.save(tmp_path / "a.npy", array)
        assert run("data", "convert", tmp_path / "a.npy", tmp_path / "a.csv")[0] == 0
        there = ("data", "convert", tmp_path / "a.csv", tmp_path / "b.npy")
        code, _, error = run(*there, *words)
        assert code == 0, error
        np.testing.assert_allclose(np.load(tmp_path / "b.npy"), array, atol=1e-12)


def test_names_get_numbers(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ann,bob\ncat,dog\n,cat\n,\n")
    words = ("--raters", "ann,bob", "--json")
    code, out, error = run("data", "convert", path, tmp_path / "a.npy", *words)
    assert code == 0, error
    assert json.loads(out)["classes"] == {"0": "cat", "1": "dog"}
    expected = [[0, 1], [np.nan, 0], [np.nan, np.nan]]
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), expected)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("label,x\ncat|dog,1\ncat,2\n", "Row 0 has several candidates"),
        ("label,x\ncat,1\n,2\ndog,3\n", "Row 1 has no label"),
    ],
)
def test_what_no_array_holds(run, tmp_path, cells, message):
    path = tmp_path / "a.csv"
    path.write_text(cells)
    words = ("data", "convert", path, tmp_path / "a.npy", "--labels", "label")
    code, _, error = run(*words)
    assert code == 2
    assert message in error
    assert not (tmp_path / "a.npy").exists()


def test_several_labels_of_one_annotator():
    from partlearn.candidates import from_votes
    from partlearn.io import cleanlab_array

    labels = from_votes([0, 0, 1], ["ann"] * 3, ["cat", "dog", "cat"])
    with pytest.raises(ValueError, match="gave row 0 several labels"):
        cleanlab_array(labels, 2)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2, 2)),
        np.array([0.0, np.nan]),
        np.array([[0.0, -1.0], [np.nan, 1.0]]),
        np.array(["cat", "dog"]),
        np.zeros((0, 3)),
    ],
)
def test_other_arrays_are_refused(run, tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    code, _, error = run("data", "convert", tmp_path / "a.npy", tmp_path / "a.csv")
    assert code == 1
    assert "a.npy" in error


def test_damage_is_named(run, tmp_path):
    path = tmp_path / "a.npy"
    for content in (b"", b"not an array", b"\x93NUMPY\x01\x00v\x00{"):
        path.write_bytes(content)
        code, _, error = run("data", "convert", path, tmp_path / "a.csv")
        assert code == 1
        assert "damaged" in error or "ends" in error
