"""``partlearn ask`` as a user runs it, and the way back by --corrections."""

import csv
import json

import numpy as np
import pytest

from partlearn import disambiguate, rank_rows

COMMON = ["--labels", "kind", "--truth", "truth", "--id", "id"]


def test_ask_and_answer(run, pets, tmp_path, table):
    out, again = tmp_path / "to_label.csv", tmp_path / "labels.csv"
    code, text, _ = run("ask", pets, *COMMON, "--budget", "3", "--out", out)
    assert code == 0
    assert "3 rows to label" in text
    assert "Another 3 answers would correct about" in text
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
    assert facts["expected_right_low"] <= facts["expected_right"]
    assert facts["worth_asking"] <= facts["worth_asking_at_most"] <= facts["asked"]


def test_nothing_to_ask_and_stopping(run, pets, tmp_path):
    out = tmp_path / "to_label.csv"
    lines = pets.read_text().splitlines()
    sure = [line.split(",") for line in lines]
    for cells in sure[1:]:
        cells[3] = cells[4]
    pets.write_text("\n".join(",".join(cells) for cells in sure) + "\n")
    code, text, _ = run("ask", pets, *COMMON, "--out", out)
    assert (code, "no rows to label" in text) == (0, True)
    code, _, error = run("ask", pets, *COMMON, "--accuracy", "0.1", "--out", out)
    assert (code, "`accuracy` must be above" in error) == (2, True)


@pytest.fixture
def songs(tmp_path):
    """A table of 120 songs; ten of them list a tag that is far from them."""
    rng = np.random.RandomState(0)
    X = rng.randn(120, 3)
    S = X > 0.2
    S[:10, 0] = X[:10, 0] < -0.8
    S[~S.any(axis=1), 2] = True
    names = np.array(["rock", "live", "jazz"])
    lines = ["a,b,c,tags"]
    for x, s in zip(X, S, strict=True):
        lines.append(",".join([*(f"{v:.5f}" for v in x), "|".join(names[s])]))
    path = tmp_path / "songs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, X, S


def test_rows_whose_tags_are_doubtful(run, songs, tmp_path, table):
    path, X, S = songs
    out, again = tmp_path / "to_label.csv", tmp_path / "more.csv"
    words = ("ask", path, "--labels", "tags", "--task", "tags")
    code, text, error = run(*words, "--budget", "6", "--out", out)
    assert code == 0, error
    assert "6 rows to label" in text
    rows = table(out)
    assert list(rows[0]) == ["row", "label", "listed", "doubtful", "missing"]
    assert all(row["doubtful"] or row["missing"] for row in rows)
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows([{**row, "label": "rock|jazz"} for row in rows])
    code, text, error = run(*words, "--corrections", out, "--out", again, "--json")
    assert code == 0, error
    asked = {row["row"] for row in table(again)}
    assert json.loads(text)["asked"] == len(asked)
    assert asked.isdisjoint(row["row"] for row in rows)
    code, _, error = run(*words, "--accuracy", "0.8", "--out", again)
    assert (code, "is for single labels" in error) == (2, True)
    result = disambiguate(X, S, task="tags")
    ranked = rank_rows(result, budget=4)
    assert ranked.tolist() == result.review_order()[:4].tolist()
    assert (result.doubtful | result.missing)[rank_rows(result)].any(axis=1).all()
    with pytest.raises(ValueError, match="without `cost` and `accuracy`"):
        rank_rows(result, cost=np.ones(120))
    with pytest.raises(ValueError, match="`budget` must be positive"):
        rank_rows(result, budget=0)


def test_rows_of_a_bag_follow_each_other(run, tmp_path, table):
    rng = np.random.RandomState(0)
    path, out = tmp_path / "faces.csv", tmp_path / "to_label.csv"
    lines = ["x,y,names,photo"]
    for photo in range(12):
        who = rng.permutation(3)[:2]
        names = "|".join("abc"[w] for w in who)
        for w in who:
            x, y = np.array([[0, 0], [3, 0], [0, 3]][w]) + rng.randn(2)
            lines.append(f"{x:.3f},{y:.3f},{names},p{photo}")
    path.write_text("\n".join(lines) + "\n")
    words = ("--labels", "names", "--bag", "photo", "--budget", "5", "--out", out)
    code, _, error = run("ask", path, *words)
    assert code == 0, error
    bags = [row["bag"] for row in table(out)]
    assert 1 <= len(bags) <= 5
    starts = [b for i, b in enumerate(bags) if i == 0 or b != bags[i - 1]]
    assert len(starts) == len(set(bags))
    assert all("|" in row["candidates"] for row in table(out))
    # The first bag is asked whole or in part, and each of its rows is worth it.
    code, text, error = run("ask", path, *words[:5], "1", *words[6:])
    assert code == 0, error
    assert len(table(out)) == 1
    assert "1 rows to label" in text
    assert "You may stop there" not in text
