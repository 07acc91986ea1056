"""`reduce` and `select` on tables with text, dates and missing values."""

import json

import numpy as np
import pytest

MESSY = """weight,coat,born,note,kind
4,soft,2020-01-05,likes fish and naps,cat|dog
5,soft,2021-02-07,naps all day long,cat
30,rough,2019-05-01,barks at the post van,dog|horse
,rough,2018-03-11,barks at cats and dogs,dog
500,short,2015-07-20,runs in the green field,horse|dog
450,short,,eats hay in the field,horse
4.5,soft,2022-11-30,fish and milk and naps,cat|horse
29,rough,2017-08-15,digs and barks at night,
480,short,2014-04-04,pulls a cart of hay,horse|cat
3.9,,2023-06-18,sleeps and naps on sofa,cat
"""


@pytest.fixture
def messy(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(MESSY)
    return path


def test_reduce_encodes_text_dates_and_gaps(run, messy, tmp_path, table):
    """As fitting the same pipeline in Python; rows without labels are placed, too."""
    from partlearn.decomposition import CRISP
    from partlearn.tables import TableEncoder, read_columns, read_labels, take_rows

    out, model = tmp_path / "out.csv", tmp_path / "m.model"
    options = ("--labels", "kind", "--method", "crisp", "--n-components", "2")
    code, text, err = run("reduce", messy, *options, "--out", out, "--save", model)
    assert code == 0, err
    assert "of 4 columns to 2" in text
    assert "1 rows have no label to learn from" in err
    columns = read_columns(messy)
    evidence, _ = read_labels(columns, "kind")
    encoder = TableEncoder(ignore="kind")
    Z = encoder.fit_transform(take_rows(columns, evidence.rows))
    expected = CRISP(2, random_state=0).fit(Z, evidence.candidates)
    expected = expected.transform(encoder.transform(columns))
    rows = table(out)
    assert list(rows[0]) == ["crisp0", "crisp1", "kind"]
    given = [[float(r["crisp0"]), float(r["crisp1"])] for r in rows]
    np.testing.assert_allclose(given, expected, rtol=1e-9)
    again = tmp_path / "again.csv"
    assert run("reduce", messy, "--load", model, "--out", again)[0] == 0
    assert again.read_text() == out.read_text()
    short = tmp_path / "short.csv"
    short.write_text("weight,coat\n1,soft\n")
    code, _, err = run("reduce", short, "--load", model, "--out", again)
    assert code == 1
    assert "lacks columns that the model was fitted on: 'born', 'note'" in err


def test_training_rows_are_placed_by_models_that_did_not_see_them(
    run, messy, tmp_path, table
):
    from partlearn.decomposition import KernelCRISP
    from partlearn.tables import TableEncoder, read_columns, read_labels, take_rows

    out = tmp_path / "out.csv"
    options = ("--labels", "kind", "--method", "kernel-crisp")
    code, _, err = run("reduce", messy, *options, "--out", out)
    assert code == 0, err
    columns = read_columns(messy)
    evidence, _ = read_labels(columns, "kind")
    encoder = TableEncoder(ignore="kind")
    Z = encoder.fit_transform(take_rows(columns, evidence.rows))
    expected = KernelCRISP(random_state=0).fit_transform(Z, evidence.candidates)
    names = [n for n in table(out)[0] if n != "kind"]
    given = np.array([[float(r[n]) for n in names] for r in table(out)])
    np.testing.assert_allclose(given[evidence.rows], expected, rtol=1e-9)


def test_select_keeps_columns_as_they_are(run, messy, tmp_path, table):
    out, model = tmp_path / "out.csv", tmp_path / "m.model"
    options = ("--labels", "kind", "--ignore", "note", "--n-features", "3")
    code, text, err = run("select", messy, *options, "--out", out, "--save", model)
    assert code == 0, err
    assert "3 of " in text
    rows, given = table(out), table(messy)
    kept = list(rows[0])
    assert kept[-2:] == ["note", "kind"]  # no features, and kept beside
    assert 1 <= len(kept) - 2 <= 3
    assert rows == [{name: row[name] for name in kept} for row in given]
    again = tmp_path / "again.jsonl"
    assert run("select", messy, "--load", model, "--out", again)[0] == 0
    lines = [json.loads(line) for line in again.read_text().splitlines()]
    assert list(lines[0]) == kept


def test_roles_and_streams(run, messy, tmp_path, monkeypatch, capsys):
    """Standard input, standard output, and what a column is by order."""
    import io
    import sys

    class Stream:
        buffer = io.BytesIO(MESSY.encode())

    monkeypatch.setattr(sys, "stdin", Stream)
    options = ("--labels", "kind", "--text", "note", "--n-components", "1")
    code, out, err = run("reduce", "-", *options, "--out", "-")
    assert code == 0, err
    assert out.splitlines()[0] == "crisp0,kind"
    assert "10 rows" in err
    code, _, err = run("reduce", messy, *options, "--out", "-", "--json")
    assert code == 2
    assert "would both write to standard output" in err
    code, _, err = run(
        "reduce",
        messy,
        "--date",
        "note",
        "--out",
        tmp_path / "o.csv",
        "--labels",
        "kind",
    )
    assert code == 2
    assert "not a known way of writing a date" in err
    matrix = tmp_path / "m.npz"
    np.savez(matrix, X=np.eye(4), S=np.tri(4, 3, dtype=bool))
    code, _, err = run("select", matrix, "--id", "x", "--out", tmp_path / "o.csv")
    assert code == 2
    assert "--id is for tables" in err
