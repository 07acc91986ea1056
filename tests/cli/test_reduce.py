"""``partlearn reduce`` and ``partlearn select`` as a user runs them."""

import csv
import gzip
import json
from decimal import Decimal
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from partlearn._sizes import SIZES
from partlearn.io import write

LINES = pa.csv.ParseOptions(newlines_in_values=True)
COMMON = ["--labels", "kind", "--ignore", "id", "--truth", "truth"]


def test_reduce_keeps_the_other_columns(run, pets, tmp_path, table):
    out = tmp_path / "deep" / "reduced.csv"
    code, text, _ = run(
        "reduce", pets, *COMMON, "--n-components", 1, "--out", out, "--json"
    )
    assert code == 0
    outcome = json.loads(text)
    assert (outcome["features_in"], outcome["features_out"]) == (2, 1)
    rows = table(out)
    assert list(rows[0]) == ["crisp0", "id", "kind", "truth"]
    assert rows[4]["kind"] == "horse|dog"


def test_saved_model_gives_the_same_numbers(run, pets, tmp_path):
    fitted, loaded = tmp_path / "fitted.csv", tmp_path / "loaded.csv"
    model = tmp_path / "model.partlearn"
    assert run("reduce", pets, *COMMON, "--out", fitted, "--save", model)[0] == 0
    assert run("reduce", pets, "--load", model, "--out", loaded)[0] == 0
    assert fitted.read_text() == loaded.read_text()


def test_blocks_give_the_same_table(run, pets, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole.parquet", tmp_path / "parts.parquet"
    model = tmp_path / "m.partlearn"
    source = tmp_path / "pets.parquet"
    arguments = ("reduce", pets, *COMMON, "--method", "cenda", "--save", model)
    assert run(*arguments, "--out", whole)[0] == 0
    import pyarrow.csv
    import pyarrow.parquet as pq

    pq.write_table(pyarrow.csv.read_csv(pets), source)
    monkeypatch.setattr(SIZES, "block_rows", 3)
    assert run("reduce", source, "--load", model, "--out", parts)[0] == 0
    assert pq.ParquetFile(parts).num_row_groups == 4
    ours, theirs = pq.read_table(parts), pq.read_table(whole)
    assert ours.schema == theirs.schema
    assert ours.select(["id", "kind"]).equals(theirs.select(["id", "kind"]))
    # BLAS sums in another order for another number of rows.
    for name in ("cenda0", "cenda1"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12)


def test_other_columns_stay_as_they_are_written(run, pets, tmp_path):
    codes = ["001", "NA", "", "true", "1e3", "2024-01-01", "x", "1.50", "é", "7\n8"]
    lines = pets.read_text().splitlines()
    text = [lines[0] + ",code"]
    text += [f'{line},"{code}"' for line, code in zip(lines[1:], codes, strict=True)]
    pets.write_text("\n".join(text), encoding="utf-8")
    out = tmp_path / "out.csv"
    run("select", pets, *COMMON, "--ignore", "code", "--out", out)
    with out.open(newline="", encoding="utf-8") as file:
        assert [row["code"] for row in csv.DictReader(file)] == codes


def test_types_may_change_after_the_first_block(run, pets, tmp_path):
    model, new = tmp_path / "m.partlearn", tmp_path / "new.csv"
    run("reduce", pets, *COMMON, "--out", tmp_path / "out.csv", "--save", model)
    # Arrow reads blocks of one megabyte.
    rows = ["4,25,1"] * 200_000 + ["4.5,25.5,b7"]
    new.write_text("\n".join(["weight,height,id", *rows]))
    code, _, err = run("reduce", new, "--load", model, "--out", tmp_path / "long.csv")
    assert (code, err) == (0, "")
    last = (tmp_path / "long.csv").read_text().splitlines()[-1]
    assert last.endswith(",b7")


@pytest.mark.parametrize("name", ["pets.csv.gz", "PETS.CSV"])
def test_tables_of_any_name_keep_their_columns(run, pets, tmp_path, name, table):
    data = tmp_path / name
    content = pets.read_bytes()
    data.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    model, first, again = (tmp_path / n for n in ("m.partlearn", "1.csv", "2.csv"))
    run("reduce", data, *COMMON, "--out", first, "--save", model)
    run("reduce", data, "--load", model, "--out", again)
    assert [row["id"] for row in table(first)] == list("abcdefghij")
    assert table(first) == table(again)


def test_formulas_are_neutralised_on_request(run, pets, tmp_path, table):
    cells = ["=1+1", "+cmd", "-2.5", "@x", "'a", "x=1", "-a", "", "\uff1d1", "+1e3"]
    lines = pets.read_text().splitlines()
    text = [lines[0] + ",=note"]
    text += [f"{line},{cell}" for line, cell in zip(lines[1:], cells, strict=True)]
    pets.write_text("\n".join(text), encoding="utf-8")
    out = tmp_path / "out.csv"
    for safe in ([], ["--safe-csv"]):
        arguments = ("reduce", pets, *COMMON, "--ignore", "=note", "--out", out)
        assert run(*arguments, *safe)[0] == 0
        name = "'=note" if safe else "=note"
        wanted = [
            f"'{c}" if safe and c in ("=1+1", "+cmd", "@x", "-a", "\uff1d1") else c
            for c in cells
        ]
        assert [row[name] for row in table(out)] == wanted
    # Numbers keep their sign.
    assert any(row["crisp0"].startswith("-") for row in table(out))


@pytest.mark.parametrize("safe", [[], ["--safe-csv"]])
def test_a_lone_carriage_return_ends_no_row(run, tmp_path, safe):
    """Unquoted, it began a row whose first cell was a formula."""
    data, out = tmp_path / "in.parquet", tmp_path / "out.csv"
    notes = ["a\r=1+1", "plain", "b\r\nc", "d\ne"]
    columns = {"x": [1.0, 2.0, 3.5, 4.0], "note": notes, "kind": ["a|b", "a", "b", "b"]}
    pq.write_table(pa.table(columns), data)
    options = ["--labels", "kind", "--ignore", "note", "--method", "cenda"]
    assert run("reduce", data, *options, "--out", out, *safe)[0] == 0
    content = out.read_bytes()
    assert b'"a\r=1+1"' in content
    with out.open(newline="") as file:
        assert [row["note"] for row in csv.DictReader(file)] == notes
    assert content.splitlines(keepends=True)[0].endswith(b"kind\n")
    assert len(pa.csv.read_csv(out, parse_options=LINES)) == 4


def test_lists_of_candidates_become_text(run, pets, tmp_path, table):
    data, out = tmp_path / "lists.parquet", tmp_path / "out.csv"
    sets = [row["kind"].split("|") for row in table(pets)]
    weights = [float(row["weight"]) for row in table(pets)]
    pq.write_table(pa.table({"weight": weights, "candidates": sets}), data)
    code, _, _ = run("select", data, "--out", out)
    assert code == 0
    assert [row["candidates"] for row in table(out)] == ["|".join(s) for s in sets]


@pytest.mark.parametrize(
    ("header", "rows", "wrong", "message"),
    [
        ("weight,weight,height", ["1,2,3"], 1, "several columns 'weight'"),
        ("weight,height", [], 1, "no rows"),
        ("weight,height,crisp0", ["1,2,3"], 2, "has a column 'crisp0'"),
    ],
)
def test_new_tables_that_do_not_fit(run, pets, tmp_path, header, rows, wrong, message):
    model, out = tmp_path / "m.partlearn", tmp_path / "out.csv"
    run("reduce", pets, *COMMON, "--out", out, "--save", model)
    before = out.read_bytes()
    new = tmp_path / "new.csv"
    new.write_text("\n".join([header, *rows]) + "\n")
    code, _, err = run("reduce", new, "--load", model, "--out", out)
    assert code == wrong
    assert message in err
    assert out.read_bytes() == before


def test_features_of_the_same_name_are_not_merged(run, tmp_path):
    rng = np.random.default_rng(0)
    S = np.eye(3, dtype=bool)[rng.integers(3, size=30)]
    path = tmp_path / "d.npz"
    names = np.array(["f", "f"])
    X = rng.normal(size=(30, 2)) + S[:, :2]
    np.savez(path, X=X, S=S, feature_names=names)
    out = tmp_path / "out.csv"
    code, _, err = run("select", path, "--n-features", "2", "--out", out)
    assert code == 2
    assert "several features are called 'f'" in err


def test_a_folder_is_no_output(run, pets, tmp_path):
    (tmp_path / "out.csv").mkdir()
    code, _, err = run("reduce", pets, *COMMON, "--out", tmp_path / "out.csv")
    assert code == 2
    assert "is a folder" in err


def test_reduce_from_npz_writes_sets_as_text(run, tmp_path, table):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + 4 * np.eye(3, 4)[y]
    S = np.eye(3, dtype=bool)[y]
    S[::2, 0] = True
    path = tmp_path / "toy.npz"
    np.savez(path, X=X, S=S, y=y, label_names=np.array(["a", "b", "c"]))
    out = tmp_path / "out.csv"
    assert run("reduce", path, "--out", out)[0] == 0
    rows = table(out)
    assert rows[2]["candidates"] == "a|c"
    assert rows[2]["truth"] == "c"


def test_select_without_a_number_chooses_one(run, tmp_path):
    """Of three features, 15 % would be one; here two are needed."""
    from partlearn.candidates import make_candidates

    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    X = np.column_stack([y % 2, y // 2, np.zeros(300)]) * 4 + rng.normal(size=(300, 3))
    bunch = {"data": X, "candidates": make_candidates(y, 1, random_state=0)}
    bunch |= {"target_names": list("abcd"), "task": "pll"}
    source = write(bunch, tmp_path / "square.csv")
    out = tmp_path / "selected.csv"
    code, text, err = run("select", source, "--out", out, "--json")
    assert code == 0, err
    assert sorted(json.loads(text)["features"]) == ["x0", "x1"]
    code, _, err = run("select", source, "--method", "random-selection", "--out", out)
    assert code == 0
    assert "RandomSelection keeps 15% of the features" in err


def test_a_column_that_counts_the_rows_is_no_feature(run, tmp_path, table):
    """In rows that are sorted by their class it would tell the labels apart."""
    X = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    rows = [f"{i},{a},{b},{'cat' if i < 30 else 'dog'}" for i, (a, b) in enumerate(X)]
    data, out = tmp_path / "sorted.csv", tmp_path / "out.csv"
    data.write_text("\n".join(["nr,a,b,kind", *rows]))
    for words in (("select", "--n-features", "1"), ("reduce", "--n-components", "1")):
        command, *how = words
        code, text, _ = run(command, data, "--labels", "kind", *how, "--out", out)
        assert code == 0
        assert "of 2 columns" in text
        assert [row["nr"] for row in table(out)] == [str(i) for i in range(60)]


def test_select_by_share(run, pets, tmp_path):
    out = tmp_path / "selected.csv"
    code, text, err = run(
        "select", pets, *COMMON, "--n-features", "50%", "--out", out, "--json"
    )
    assert code == 0, err
    outcome = json.loads(text)
    assert outcome["method"] == "CRISPSelector"
    assert outcome["features"][0] in {"weight", "height"}
    assert len(outcome["features"]) == 1


def test_model_files_of_others_are_refused(run, pets, tmp_path):
    from partlearn.decomposition import CENDA
    from partlearn.persistence import save_model

    path, out = tmp_path / "other.partlearn", tmp_path / "o.csv"
    path.write_text("no zip")
    code, _, err = run("reduce", pets, "--load", path, "--out", out)
    assert code == 1
    assert "other.partlearn: not a model saved by partlearn" in err
    with ZipFile(path, "w") as file:
        file.writestr("schema.json", "{}")
    code, _, err = run("reduce", pets, "--load", path, "--out", out)
    assert code == 1
    assert "not a model saved by partlearn" in err
    save_model(CENDA(), path)
    code, _, err = run("reduce", pets, "--load", path, "--out", out)
    assert code == 2
    assert "without the names of columns" in err
    assert not out.exists()


def test_models_are_applied_by_their_own_command(run, pets, tmp_path):
    model, out = tmp_path / "m.partlearn", tmp_path / "o.csv"
    for command, other in (("reduce", "select"), ("select", "reduce")):
        run(command, pets, *COMMON, "--out", out, "--save", model)
        code, _, err = run(other, pets, "--load", model, "--out", out)
        assert code == 2
        assert f"`partlearn {command}`" in err
        code, _, err = run(
            command, pets, "--load", model, "--method", "x", "--out", out
        )
        assert code == 2
        assert "leave out the rest" in err


def test_a_model_that_cannot_be_saved_leaves_the_old_one(
    run, pets, tmp_path, monkeypatch
):
    model, out = tmp_path / "new" / "m.partlearn", tmp_path / "o.csv"
    arguments = ("reduce", pets, *COMMON, "--out", out, "--save", model)
    assert run(*arguments)[0] == 0
    before = model.read_bytes()

    def full(file, document, arrays):
        file.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("partlearn.persistence._model.write_archive", full)
    code, _, err = run(*arguments)
    assert code == 2
    assert "No space left" in err
    assert model.read_bytes() == before
    assert [p.name for p in model.parent.iterdir()] == ["m.partlearn"]


def test_new_data_must_have_the_columns(run, pets, tmp_path):
    model = tmp_path / "model.partlearn"
    assert (
        run("reduce", pets, *COMMON, "--out", tmp_path / "a.csv", "--save", model)[0]
        == 0
    )
    short = tmp_path / "short.csv"
    short.write_text("weight\n1\n")
    code, _, err = run("reduce", short, "--load", model, "--out", tmp_path / "b.csv")
    assert code == 1
    said = "lacks columns that the model was fitted on: 'height'. It has '"
    assert said in " ".join(err.split())
    words = tmp_path / "words.csv"
    words.write_text("weight,height\n1,tall\n")
    code, _, err = run("reduce", words, "--load", model, "--out", tmp_path / "b.csv")
    assert code == 1
    assert "row 0 of column 'height': a feature is not a number: 'tall'" in err
    code, _, err = run("reduce", "x.npz", "--load", model, "--out", tmp_path / "b.csv")
    assert code == 1
    assert "'x.npz' is not a table of columns" in err


def test_warnings_of_a_fit_are_notes(run, pets, tmp_path):
    arguments = ("reduce", pets, *COMMON, "--out", tmp_path / "o.csv")
    code, _, err = run(*arguments, "--param", "max_iter=1")
    assert code == 0
    assert "Note: " in err


def test_missing_values_of_new_rows_are_named(run, pets, tmp_path, monkeypatch, table):
    model, new = tmp_path / "m.partlearn", tmp_path / "new.parquet"
    run("reduce", pets, *COMMON, "--out", tmp_path / "o.csv", "--save", model)
    monkeypatch.setattr(SIZES, "block_rows", 2)
    columns = {"weight": [1.0, 2.0, 3.0, None], "height": [1.0, 2.0, 3.0, 4.0]}
    pq.write_table(pa.table(columns), new)
    code, _, err = run("reduce", new, "--load", model, "--out", tmp_path / "o.csv")
    assert code == 1
    assert "row 3 of column 'weight'" in err
    pq.write_table(pa.table({"weight": ["heavy"], "height": [1.0]}), new)
    code, _, err = run("reduce", new, "--load", model, "--out", tmp_path / "o.csv")
    assert code == 1
    assert "a feature is not a number: 'heavy'" in err
    new.with_suffix(".csv").write_text("weight,height\n1,2\n3,4\n5, NA\n")
    arguments = ("reduce", new.with_suffix(".csv"), "--load", model)
    code, _, err = run(*arguments, "--out", tmp_path / "o.csv")
    assert code == 1
    assert "row 2 of column 'height'" in err


def test_new_rows_may_come_as_json_lines(run, pets, tmp_path, table):
    model, lines = tmp_path / "m.partlearn", tmp_path / "new.jsonl"
    run("reduce", pets, *COMMON, "--out", tmp_path / "o.csv", "--save", model)
    rows = table(pets)
    numbers = ("weight", "height")
    lines.write_text(
        "\n".join(
            json.dumps({k: float(v) if k in numbers else v for k, v in row.items()})
            for row in rows
        )
    )
    for source, out in ((pets, "a.csv"), (lines, "b.csv")):
        code, _, err = run("reduce", source, "--load", model, "--out", tmp_path / out)
        assert (code, err) == (0, "")
    assert table(tmp_path / "a.csv") == table(tmp_path / "b.csv")


def test_missing_values_of_sparse_data_are_named(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((40, 120)) * (rng.random((40, 120)) < 0.05)
    X[7, 3] = np.nan
    S = np.eye(2, dtype=bool)[np.arange(40) % 2]
    parts = {"data": sp.csr_array(X), "candidates": S, "target_names": ["a", "b"]}
    path = write(parts | {"task": "pll"}, tmp_path / "sparse.npz")
    code, _, err = run("reduce", path, "--out", tmp_path / "o.csv")
    assert code == 1
    assert "row 7 of column 'x3'" in err


@pytest.mark.parametrize("command", ["reduce", "select"])
@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_kept_cells_of_parquet_stay_as_they_are(run, tmp_path, command, suffix):
    """Whole numbers, moments and flags beside text that has to be encoded."""
    m = 24
    source, out = tmp_path / "in.parquet", tmp_path / f"out{suffix}"
    kept = {
        "id": 2**60 + np.arange(m),
        "flag": np.arange(m) % 3 == 0,
        "when": pa.array([1_500_000 * (i + 1) for i in range(m)], pa.timestamp("us")),
        "gaps": pa.array([None if i == 1 else i for i in range(m)]),
        "sets": pa.array([["u", "v"][: i % 3] for i in range(m)]),
        "price": pa.array([Decimal(i) / 4 for i in range(m)], pa.decimal128(6, 2)),
    }
    coat = ["soft", "rough"] * 12
    sets = [["cat", "dog"][i % 2] if i % 3 else "cat|dog" for i in range(m)]
    x = np.arange(m) % 7 + 0.5
    pq.write_table(pa.table({**kept, "x": x, "coat": coat, "kind": sets}), source)
    options = ["--labels", "kind", "--id", "id"]
    for name in ("flag", "when", "gaps", "sets", "price"):
        options += ["--ignore", name]
    model = tmp_path / "model.partlearn"
    assert run(command, source, *options, "--out", out, "--save", model)[0] == 0
    again = tmp_path / f"again{suffix}"
    assert run(command, source, "--load", model, "--out", again)[0] == 0
    assert out.read_bytes() == again.read_bytes()
    if suffix == ".parquet":
        given, written = pq.read_table(source), pq.read_table(out)
        for name in ("id", "flag", "when", "gaps", "price"):
            assert written[name].equals(given[name])
        assert written["sets"].to_pylist() == given["sets"].to_pylist()
        return
    if suffix == ".jsonl":
        first, second = map(json.loads, out.read_text().splitlines()[:2])
        assert (first["id"], first["flag"], first["gaps"]) == (2**60, True, 0)
        assert second["gaps"] is None
    else:
        with out.open(newline="") as file:
            first, second = list(csv.DictReader(file))[:2]
        assert (first["id"], first["flag"], first["gaps"]) == (str(2**60), "True", "0")
        assert second["gaps"] == ""
    assert first["when"] == "1970-01-01 00:00:01.500000"
    assert (first["price"], second["sets"]) == ("0.00", "u")


def test_flags_in_json_lines(run, tmp_path, table):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    rows = [
        {
            "flag": i % 2 == 0,
            "x": i % 5,
            "coat": "ab"[i % 2],
            "kind": ["cat", "dog"][: 1 + i % 2],
        }
        for i in range(12)
    ]
    source.write_text("\n".join(map(json.dumps, rows)))
    code, _, err = run("reduce", source, "--labels", "kind", "--out", out)
    assert code == 0, err
    assert len(table(out)) == 12


def animals(m):
    """Lines of a table that has to be encoded."""
    for i in range(m):
        label = "cat|dog" if i % 3 == 0 else ["cat", "dog"][i % 2]
        yield {"x": i % 5 + 0.5, "coat": "ab"[i % 2], "kind": label}


@pytest.fixture
def animal_model(run, tmp_path):
    source, model = tmp_path / "animals.jsonl", tmp_path / "animals.partlearn"
    source.write_text("\n".join(map(json.dumps, animals(30))))
    out = tmp_path / "ignored.csv"
    options = ["--labels", "kind", "--out", out, "--save", model]
    assert run("reduce", source, *options)[0] == 0
    return model


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_column_of_later_rows(
    run, tmp_path, table, animal_model, suffix, monkeypatch
):
    """Fitting sees all rows at once; block by block the header is written already."""
    monkeypatch.setattr(SIZES, "block_rows", 10)
    source, out = tmp_path / "in.jsonl", tmp_path / f"out{suffix}"
    rows = [*animals(20), *({**row, "note": "late"} for row in animals(5))]
    source.write_text("\n".join(map(json.dumps, rows)))
    code, _, err = run("reduce", source, "--load", animal_model, "--out", out)
    assert code == 1
    assert "row 20 or later: column 'note' is not in the rows before" in err
    assert not out.exists()
    options = ["--labels", "kind", "--ignore", "note", "--out", out]
    assert run("reduce", source, *options)[0] == 0
    if suffix == ".csv":
        assert [row["note"] for row in table(out)] == [""] * 20 + ["late"] * 5


def test_types_of_parquet_are_those_of_the_first_rows(
    run, tmp_path, animal_model, monkeypatch
):
    monkeypatch.setattr(SIZES, "block_rows", 10)
    source, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"

    def reduced(late):
        rows = [{**row, "n": i} for i, row in enumerate(animals(20))]
        rows[15]["n"] = late
        source.write_text("\n".join(map(json.dumps, rows)))
        return run("reduce", source, "--load", animal_model, "--out", out)

    assert reduced(None)[0] == 0
    assert pq.read_table(out)["n"].to_pylist() == [*range(15), None, *range(16, 20)]
    code, _, err = reduced("many")
    assert code == 1
    assert "row 10 or later: column 'n' holds int64 in the rows before" in err
