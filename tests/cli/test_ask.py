"""``partlearn ask`` as a user runs it, and the way back by --corrections."""

import csv
import json

COMMON = ["--labels", "kind", "--truth", "truth", "--id", "id"]


def test_ask_and_answer(run, pets, tmp_path, table):
    out, again = tmp_path / "to_label.csv", tmp_path / "labels.csv"
    code, text, _ = run("ask", pets, *COMMON, "--budget", "3", "--out", out)
    assert code == 0
    assert "3 rows to label" in text
    assert "Another 3 answers would put about" in text
    rows = table(out)
    assert list(rows[0])[:3] == ["row", "label", "candidates"]
    gains = [float(r["gain"]) for r in rows]
    assert gains == sorted(gains, reverse=True)
    truth = {r["id"]: r["truth"] for r in table(pets)}
    for line in rows[:2]:  # the third is left open
        line["label"] = truth[line["row"]]
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    code, _, _ = run(
        "disambiguate", pets, *COMMON, "--corrections", out, "--out", again
    )
    assert code == 0
    labels = {r["id"]: r for r in table(again)}
    for line in rows[:2]:
        assert labels[line["row"]]["label"] == truth[line["row"]]
        assert float(labels[line["row"]]["confidence"]) == 1
    more = tmp_path / "more.csv"
    words = ("--corrections", out, "--out", more, "--json")
    code, text, _ = run("ask", pets, *COMMON, *words)
    asked = {r["row"] for r in table(more)}
    assert code == 0
    assert asked.isdisjoint({rows[0]["row"], rows[1]["row"]})
    facts = json.loads(text)
    assert facts["asked"] == len(asked)
    assert facts["expected_right"] <= facts["expected_right_after"] <= 1


def test_nothing_to_ask_and_stopping(run, pets, tmp_path):
    out = tmp_path / "to_label.csv"
    lines = pets.read_text().splitlines()
    sure = [line.split(",") for line in lines]
    for cells in sure[1:]:
        cells[3] = cells[4]
    pets.write_text("\n".join(",".join(cells) for cells in sure) + "\n")
    code, text, _ = run("ask", pets, *COMMON, "--out", out)
    assert (code, "nothing to ask" in text) == (0, True)
    code, _, error = run("ask", pets, *COMMON, "--accuracy", "0.1", "--out", out)
    assert (code, "`accuracy` must be above" in error) == (2, True)
