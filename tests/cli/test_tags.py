"""Tags from the command line: files in and out in the same form."""

import csv
import json

import numpy as np
import pytest

from partlearn import disambiguate
from partlearn.tables import disambiguate_tags

NAMES = ["80s", "jazz", "live", "rock"]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def songs():
    """Features, listed tags and true tags of 150 songs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5)).round(3)
    Y = X[:, :4] > 0.4
    return X, Y | (rng.random(Y.shape) < 0.12), Y


def sets(S):
    return ["|".join(np.array(NAMES)[row]) for row in S]


def write(path, X, columns):
    names = ["song", *(f"x{j}" for j in range(X.shape[1])), *columns]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for i, row in enumerate(X):
            cells = [columns[name][i] for name in columns]
            writer.writerow([f"s{i}", *row, *cells])
    return path


def in_form(form, S, Y):
    """Columns of tags, and how the command names them."""
    if form == "sets":
        return {"tags": sets(S)}, "tags"
    if form == "marks":
        columns = {name: S[:, j].astype(int) for j, name in enumerate(NAMES)}
        return columns, ",".join(NAMES)
    rng = np.random.default_rng(1)
    readers = {}
    for k in range(5):
        seen = Y | (rng.random(Y.shape) < 0.05 * k)
        readers[f"reader_{k}"] = [text or "[]" for text in sets(seen)]
    return readers, ",".join(readers)


@pytest.mark.parametrize("form", ["sets", "marks", "readers"])
def test_a_table_of_tags_through_all_commands(form, songs, run, tmp_path):
    X, S, Y = songs
    columns, labels = in_form(form, S, Y)
    data = write(tmp_path / "songs.csv", X, columns)
    given = ["--labels", labels, "--task", "tags", "--id", "song"]
    out, page = tmp_path / "out.csv", tmp_path / "page.html"
    code, text, err = run("disambiguate", data, *given, "--out", out, "--html", page)
    assert code == 0, err
    assert "doubtful" in text
    assert "tags of" in err
    lines = rows_of(out)
    assert "Rows to review" in page.read_text(encoding="utf-8")
    if form == "marks":
        kept = np.array([[line[name] == "1" for name in NAMES] for line in lines])
        assert (kept == Y).mean() > (S == Y).mean()
    else:
        assert set(lines[0]) == {"song", "tags", "doubtful", "missing", "confidence"}
    model = tmp_path / "model.partlearn"
    code, text, err = run("train", data, *given, "--save", model)
    assert code == 0, err
    assert "only the ranking of the listed tags of new rows can be" in text
    new = write(tmp_path / "new.csv", X, {})
    code, text, err = run("predict", new, "--load", model, "--out", out)
    assert code == 0, err
    lines = rows_of(out)
    assert len(lines) == 150
    if form == "marks":
        found = np.array([[line[name] == "1" for name in NAMES] for line in lines])
    else:
        found = np.array(
            [[name in line["tags"].split("|") for name in NAMES] for line in lines]
        )
    assert (found == Y).mean() > 0.85


def test_truth_and_json(songs, run, tmp_path):
    X, S, Y = songs
    truth = [text or "[]" for text in sets(Y)]
    data = write(tmp_path / "songs.csv", X, {"tags": sets(S), "truth": truth})
    out = tmp_path / "out.csv"
    code, text, err = run(
        "disambiguate", data, "--task", "tags", "--id", "song", "--out", out, "--json"
    )
    assert code == 0, err
    facts = json.loads(text)
    assert facts["agreement"]["kept_right"] > facts["agreement"]["listed_right"]
    code, text, _ = run(
        "train", data, "--task", "tags", "--id", "song", "--save", tmp_path / "m.p"
    )
    assert code == 0
    assert "true tags" in text
    code, _, err = run("train", data, "--labels", "tags", "--save", tmp_path / "n.p")
    assert code == 2
    assert "--task tags" in err
    code, _, err = run("train", data, "--task", "pll", "--save", tmp_path / "n.p")
    assert code == 2
    assert "single or tags" in err


def test_check_select_and_reduce(songs, run, tmp_path):
    X, S, Y = songs
    truth = [text or "[]" for text in sets(Y)]
    data = write(tmp_path / "songs.csv", X, {"tags": sets(S), "truth": truth})
    given = ["--task", "tags", "--id", "song"]
    code, text, err = run("check", data, *given)
    assert code == 0, err
    assert "4 tags of" in text
    assert "every label as a candidate" not in text
    assert "listed tags per row" in text
    n = int((~S.any(axis=1)).sum())
    assert f"{n} rows of 150 without a label" in text  # their cells are empty
    table = {"tags": [text or "[]" for text in sets(S)]}
    data = write(tmp_path / "none.csv", X, table)
    code, text, _ = run("check", data, *given)
    assert code == 0
    assert f"{n} rows of 150 without any tag" in text
    first = int(np.argmin(S.any(axis=1)))
    assert f"rows {first}," in text
    code, text, _ = run("check", data, "--labels", "nothing", *given)
    assert code == 2 or "nothing" in text
    out = tmp_path / "out.csv"
    code, text, err = run("select", data, *given, "--n-features", 4, "--out", out)
    assert code == 0, err
    assert "TRACE" in text
    assert "x4" not in rows_of(out)[0]
    code, text, err = run("reduce", data, *given, "--out", out)
    assert code == 0, err
    assert "CRISP: 150 rows" in text
    code, _, err = run("select", data, *given, "--method", "saute", "--out", out)
    assert code == 2
    assert "multilabel selector" in err


def test_corrections_go_in_and_out(songs, run, tmp_path):
    X, S, _ = songs
    data = write(tmp_path / "songs.csv", X, {"tags": sets(S)})
    fixed = tmp_path / "corrections.csv"
    fixed.write_text("row,label\ns0,rock|live\ns1,[]\ns2,\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    given = ["--task", "tags", "--id", "song", "--out", out, "--corrections", fixed]
    code, _, err = run("disambiguate", data, *given)
    assert code == 0, err
    lines = {line["song"]: line for line in rows_of(out)}
    assert lines["s0"]["tags"] == "live|rock"
    assert lines["s0"]["confidence"] == "live:1.00|rock:1.00"
    assert lines["s1"]["tags"] == "[]"
    assert lines["s1"]["missing"] == ""


def test_python_gives_what_the_command_gives(songs):
    X, S, Y = songs
    listed = [set(np.array(NAMES)[row]) for row in S]
    result = disambiguate(X, listed, task="tags")
    assert "150 rows" in repr(result)
    assert repr(result)[:10] in result._repr_html_()
    assert result.to_frame().shape == (150, 4)
    right = result.agreement([set(np.array(NAMES)[row]) for row in Y])
    assert right.separation > 0.9
    assert right.doubtful_wrong > 0.8
    page = result.to_html(rows={"x0": X[:, 0]})
    assert "Without known true tags, only the order" in page
    fresh = disambiguate(X, listed, task="tags", corrections={0: ["polka"]})
    assert "polka" in fresh.classes
    with pytest.raises(ValueError, match="which is not there"):
        disambiguate(X, listed, task="tags", corrections={999: ["rock"]})
    with pytest.raises(ValueError, match='"single" or "tags"'):
        disambiguate(X, listed, task="many")
    with pytest.raises(ValueError, match="without `bags`, `gold`"):
        disambiguate(X, listed, task="tags", bags=np.zeros(150))
    with pytest.raises(ValueError, match="no row of these"):
        result.agreement(result.tags[:0])
    knn = disambiguate_tags(X, listed, "ml-knn", standardize=False)
    assert knn.scores.shape == S.shape


def test_blocks_and_votes(songs, run, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, S, _ = songs
    table = pandas.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    table.insert(0, "song", [f"s{i}" for i in range(150)])
    bare = tmp_path / "bare.csv"
    table.to_csv(bare, index=False)
    table["tags"] = [text or "[]" for text in sets(S)]
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    table[:80].to_parquet(parts[0], index=False)
    table[80:].to_parquet(parts[1], index=False)
    model = tmp_path / "model.partlearn"
    given = ["--task", "tags", "--id", "song"]
    code, text, err = run("train", *parts, "--labels", "tags", *given, "--save", model)
    assert code == 0, err
    assert "150 rows, 5 features, 4 tags" in text
    lines = ["song,annotator,label"]
    for i, row in enumerate(S):
        lines += [f"s{i},{who},{name}" for who in "ab" for name in np.array(NAMES)[row]]
    votes = tmp_path / "votes.csv"
    votes.write_text("\n".join(lines) + "\n", encoding="utf-8")
    given += ["--votes", votes, "--save", model, "--json"]
    code, text, err = run("train", bare, *given)
    assert code == 0, err
    assert json.loads(text)["held_out"][0]["listed_precision"] > 0.7
    code, _, err = run("predict", bare, "--load", model, "--out", tmp_path / "out.csv")
    assert code == 0, err
    assert "tags" in rows_of(tmp_path / "out.csv")[0]
