"""Rows of a table of votes are those of --id, whatever their column is called there."""

import numpy as np
import pytest


@pytest.fixture
def tables(tmp_path):
    """Rows whose names are numbers in another order than the rows."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=40)
    names = rng.permutation(40)
    x = truth * 6 + rng.normal(size=40)
    lines = [f"{k},{v:.3f},{'ab'[t]}" for k, v, t in zip(names, x, truth, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["key,x,truth", *lines]) + "\n")
    votes = [
        f"{k},{who},{'ab'[t]}"
        for k, t in zip(names, truth, strict=True)
        for who in ("ann", "bob")
    ]
    (tmp_path / "votes.csv").write_text("\n".join(["row,annotator,label", *votes]))
    return tmp_path


def test_numbers_in_another_order_are_names(run, tables):
    out = tables / "out.csv"
    words = ("disambiguate", tables / "data.csv", "--votes", tables / "votes.csv")
    words = (*words, "--truth", "truth", "--method", "pl-knn", "--out", out)
    code, text, _ = run(*words, "--id", "key")
    assert code == 0
    assert "Right according to the true labels: 100.0%" in text
    code, text, _ = run(*words, "--ignore", "key")  # by number
    assert code == 0
    assert "100.0%" not in text


def test_a_name_that_no_row_has_is_refused(run, tables):
    votes = tables / "votes.csv"
    votes.write_text(votes.read_text() + "\n77,ann,a\n")
    words = ("--id", "key", "--method", "pl-knn", "--out", tables / "out.csv")
    code, _, error = run(
        "disambiguate",
        tables / "data.csv",
        "--votes",
        votes,
        "--ignore",
        "truth",
        *words,
    )
    assert code != 0
    assert "column 'key' of the data" in error
    assert "'77'" in error
