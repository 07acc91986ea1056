"""The first hour with the command line: what is read is echoed or refused."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "tables" / "first_hour"


def test_raters_are_echoed(run, tmp_path):
    out = tmp_path / "l.csv"
    data = FOLDER / "raters_01_said.csv"
    names = "ann,bob,cyd"
    code, _, err = run("disambiguate", data, "--labels", names, "--out", out)
    assert code == 2
    assert "--marks or --raters instead of --labels" in err
    code, _, err = run(
        "disambiguate", data, "--raters", names, "--method", "pl-knn", "--out", out
    )
    assert code == 0, err
    assert "Labels: read as 3 raters, 2 labels: 0, 1." in err
    code, text, _ = run("check", data, "--raters", names)
    assert "Labels were read as 3 raters, 2 labels: 0, 1." in text
    code, _, err = run("check", data, "--raters", names, "--labels", "ann")
    assert code == 2
    assert "--labels and --raters" in err


def test_columns_left_out_are_named(run, tmp_path):
    data, out = FOLDER / "ids.csv", tmp_path / "l.csv"
    code, _, err = run(
        "disambiguate", data, "--labels", "c", "--method", "pl-knn", "--out", out
    )
    assert code == 0
    assert "columns 'key' (another value in every row) were left out" in err


def test_training_takes_corrections(run, tmp_path):
    fixed = tmp_path / "fixed.csv"
    fixed.write_text("row,label\nK-0,a\n")
    common = ["train", FOLDER / "ids.csv", "--labels", "c", "--id", "key"]
    common += ["--method", "pl-knn", "--folds", 0, "--save", tmp_path / "m"]
    code, _, err = run(*common, "--corrections", fixed)
    assert code == 0, err
    fixed.write_text("row,label\nK-1,a\n")
    data = tmp_path / "gap.csv"
    rows = (FOLDER / "ids.csv").read_text().replace("K-1,a|b", "K-1,")
    data.write_text(rows)
    code, out, err = run(common[0], data, *common[2:], "--corrections", fixed)
    assert code == 0, err
    assert "24 rows, 1 features, 3 labels" in out  # the known label is one
    fixed.write_text("row,label\nK-99,a\n")
    code, _, err = run(*common, "--corrections", fixed)
    assert code == 2
    assert "row 'K-99', which is not there" in err


def test_votes_may_miss_the_truth(run, tmp_path):
    data, votes = tmp_path / "x.csv", tmp_path / "votes.csv"
    data.write_text("x,truth\n" + "".join(f"{i}.5,{'abc'[i % 3]}\n" for i in range(12)))
    lines = [
        f"{i},{w},{'abc'[(i + (i % 4 == 0)) % 3]}" for i in range(12) for w in "uv"
    ]
    votes.write_text("row,annotator,label\n" + "\n".join(lines) + "\n")
    code, text, err = run("check", data, "--votes", votes, "--truth", "truth")
    assert code == 0, text + err


def test_other_encodings(run, tmp_path):
    data, out = tmp_path / "x.csv", tmp_path / "l.csv"
    rows = "".join(f"{i}.5,{'äö'[i % 2]}|ü\n" for i in range(8))
    data.write_text("größe,c\n" + rows, encoding="latin-1")
    common = ["disambiguate", data, "--labels", "c", "--method", "pl-knn", "--out", out]
    code, _, err = run(*common)
    assert code == 1
    assert "Pass its encoding with --encoding" in err
    code, _, err = run(*common, "--encoding", "latin-1")
    assert code == 0, err
    assert "3 labels: ä, ö, ü" in err


def test_true_labels_that_are_no_candidates_are_named(run, tmp_path):
    data, out = tmp_path / "x.csv", tmp_path / "l.csv"
    rows = (FOLDER / "bar.csv").read_text().splitlines()
    truth = ["truth", *(row.split(",")[1].strip('"')[0].upper() for row in rows[1:])]
    lines = [f"{row},{t}" for row, t in zip(rows, truth, strict=True)]
    data.write_text("\n".join(lines) + "\n")
    common = ["--labels", "c", "--method", "pl-knn"]
    code, _, err = run("disambiguate", data, *common, "--out", out)
    assert code == 0
    assert "True labels of 24 rows are never candidates, such as 'A'" in err
    code, _, err = run("train", data, *common, "--save", tmp_path / "m")
    assert "True labels of 24 rows are never candidates" in err


@pytest.mark.parametrize("sep", ["|", ";", ", "])
def test_several_true_labels_are_tags(run, tmp_path, sep):
    data = tmp_path / "x.csv"
    sets = ["a", f"a{sep}b", f"b{sep}a", "b"] * 3
    data.write_text(
        "x,c,truth\n"
        + "".join(
            f'{i}.5,{"a|b" if i % 2 else "b"},"{t}"\n' for i, t in enumerate(sets)
        )
    )
    code, text, _ = run("check", data, "--labels", "c")
    assert code == 1
    assert "6 rows with several true labels" in text
    assert "--task tags" in text
    code, _, err = run(
        "disambiguate", data, "--labels", "c", "--out", tmp_path / "o.csv"
    )
    assert code == 2
    assert "--task tags" in err


def test_a_folder_is_no_table(run, tmp_path):
    code, _, err = run("disambiguate", tmp_path, "--out", tmp_path / "l.csv")
    assert code == 1
    assert "this is a folder" in err
