"""Cells that are measured in processes of their own, and remembered."""

import json

import pytest

pytest.importorskip("resource")

from benchmarks.runner import Run

from benchmarks import cells, growth, wide


def known(store, **seconds):
    lines = [
        json.dumps(
            {"method": name, "rows": m, "seconds": s, "megabytes": 1, "right": None}
        )
        for name, by_rows in seconds.items()
        for m, s in by_rows.items()
    ]
    store.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("module", [growth, wide])
def test_one_cell_is_printed(module, capsys):
    name = "MaxRelevance"
    assert module.main(["--cell", name, "60"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["method"], found["rows"]) == (name, 60)
    assert found["seconds"] > 0
    assert found["megabytes"] > 1
    assert 0 < found["right"] <= 1


@pytest.mark.parametrize("module", [growth, wide])
def test_methods_that_do_not_exist(module, capsys):
    with pytest.raises(SystemExit):
        module.main(["--methods", "PLKNN?"])
    assert "no such method: PLKNN?" in capsys.readouterr().err


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("subprocess.run", None)
    store = tmp_path / "cells.jsonl"
    known(store, LDA={10**4: 9.0, 10**5: 1.0, 10**6: 10.0})
    growth.main(["--methods", "LDA", "--store", str(store)])
    assert "LDA from 100,000: time grows as size^1.00" in capsys.readouterr().out
    known(store, TruncatedSVD={50: 2.0}, CENDA={50: 4.0})
    wide.main(["--rows", "50", "--methods", "CENDA", "--store", str(store)])
    assert "over TruncatedSVD: 2.00x" in capsys.readouterr().out


def test_a_fit_that_fails_is_reported_and_not_stored(tmp_path, capsys):
    store = tmp_path / "cells.jsonl"
    with pytest.raises(cells.CellError, match="No module named no_such_module"):
        cells.cell("no_such_module", "LDA", 10, store)
    assert not store.exists()
    growth.grow(Run(), ["LDA"], [1], store)  # two rows are the least
    assert "LDA" in capsys.readouterr().out
    assert not store.exists()
