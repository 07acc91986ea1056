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


@pytest.fixture
def crowd(tmp_path):
    """Sixty rows of two features and a cost, and two votes on each but the last six."""
    rng = np.random.RandomState(0)
    truth = np.repeat(["cat", "dog"], 30)
    order = rng.permutation(60)
    x = rng.randn(60, 2) + 1.5 * (truth == "dog")[:, None]
    path, votes = tmp_path / "rows.csv", tmp_path / "votes.csv"
    lines = ["id,x,y,price"]
    lines += [f"r{i},{x[i, 0]:.3f},{x[i, 1]:.3f},{1 + 4 * (i % 2)}" for i in order]
    path.write_text("\n".join(lines) + "\n")
    lines = ["id,annotator,label"]
    for i in order[:54]:
        for a in rng.choice(4, 2, replace=False):
            other = "cat" if truth[i] == "dog" else "dog"
            lines.append(f"r{i},ann{a},{truth[i] if rng.rand() < 0.75 else other}")
    votes.write_text("\n".join(lines) + "\n")
    words = (path, "--votes", votes, "--labels", "id,annotator,label", "--id", "id")
    return words, {f"r{i}": truth[i] for i in range(60)}


def test_another_vote_or_a_first_one(run, crowd, tmp_path, table):
    """Answers of a further annotator are votes: the same as in the table of votes."""
    words, truth = crowd
    out, labels = tmp_path / "to_label.csv", tmp_path / "labels.csv"
    words = (*words, "--ignore", "price")
    asked = ("--accuracy", "0.8", "--budget", "20", "--out", out)
    code, _, error = run("ask", *words, *asked)
    assert code == 0, error
    rows = table(out)
    assert {row["votes"] for row in rows} == {"0", "2"}
    answers = tmp_path / "answers.csv"
    lines = [f"{row['row']},{truth[row['row']]}" for row in rows]
    answers.write_text("row,label\n" + "\n".join(lines) + "\n")
    told = ("--corrections", answers, "--annotator", "eve")
    code, _, error = run("disambiguate", *words, *told, "--out", labels)
    assert code == 0, error
    with_option = labels.read_text()
    more = tmp_path / "more.csv"
    code, _, error = run("ask", *words, *told, "--accuracy", "0.8", "--out", more)
    assert code == 0, error
    before = {row["row"]: int(row["votes"]) for row in rows}
    for row in table(more):
        if row["row"] in before:
            assert int(row["votes"]) == before[row["row"]] + 1
    votes = words[2]
    lines = [f"{row['row']},eve,{truth[row['row']]}" for row in rows]
    votes.write_text(votes.read_text() + "\n".join(lines) + "\n")
    code, _, error = run("disambiguate", *words, "--out", labels)
    assert code == 0, error
    assert labels.read_text() == with_option
    # As true labels they are certain; as votes they are not.
    code, _, _ = run("disambiguate", *words, *told[:2], "--out", labels)
    certain = {row["id"]: row for row in table(labels)}
    assert all(float(certain[row["row"]]["confidence"]) == 1 for row in rows)
    assert certain != {row["id"]: row for row in csv.DictReader(with_option.split())}


def test_what_names_an_annotator(run, crowd, pets, tmp_path, table):
    words, _ = crowd
    out, answers = tmp_path / "out.csv", tmp_path / "answers.csv"
    code, _, error = run("ask", *words, "--annotator", "eve", "--out", out)
    assert (code, "--annotator needs --corrections" in error) == (2, True)
    answers.write_text(f"row,label\n{table(pets)[0]['id']},cat\n")
    given = ("--corrections", answers, "--annotator", "eve", "--out", out)
    code, _, error = run("disambiguate", pets, *COMMON, *given)
    assert (code, "--annotator is for votes" in error) == (2, True)


def test_rows_have_costs(run, crowd, tmp_path, table):
    words, _ = crowd
    out = tmp_path / "to_label.csv"
    asked = ("--cost", "price", "--out", out, "--json", "--budget")
    spent = {}
    for budget in ("2.5", "12"):
        code, text, error = run("ask", *words, *asked, budget)
        assert code == 0, error
        facts, rows = json.loads(text), table(out)
        costs = [float(row["cost"]) for row in rows]
        assert facts["cost"] == sum(costs) <= float(budget)
        assert facts["asked"] == len(costs)
        spent[budget] = costs
        rates = [float(r["gain"]) / float(r["cost"]) for r in rows]
        # Of rows that fit into what is left, the best one is next.
        assert rates == pytest.approx(sorted(rates, reverse=True), rel=0.1)
    assert spent["2.5"] == [1, 1]
    plain = ("--ignore", "price", "--out", out, "--budget")
    assert run("ask", *words, *plain, "12")[0] == 0
    assert len(table(out)) == 12
    for wrong, message in {
        ("--cost", "none", "--budget", "5"): "--cost: there is no column 'none'",
        ("--budget", "2.5"): "--budget is a number of rows",
        ("--cost", "price", "--task", "tags"): "--cost is for single labels",
    }.items():
        code, _, error = run("ask", *words, *wrong, "--out", out)
        assert (code, message in error) == (2, True), error
    path = words[0]
    path.write_text(path.read_text().replace(",5\n", ",0\n", 1))
    code, _, error = run("ask", *words, *asked, "5")
    assert (code, "is no cost" in error) == (1, True)
