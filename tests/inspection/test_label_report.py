"""The label report: its figures, its page, and corrections that come back."""

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression

from partlearn import disambiguate
from partlearn.candidates import from_annotators, make_candidates
from partlearn.classification import CandidateClassifier
from partlearn.inspection import label_page, label_report
from partlearn.inspection._label_page import _marks, _scaled
from partlearn.io import DataFormatError, read_corrections

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "rose", "white"])
    S = make_candidates(y, n_false=1, random_state=0)
    S[:40] = np.eye(3, dtype=int)[y[:40]]
    return X, [set(names[row.astype(bool)]) for row in S], names[y]


@pytest.fixture(scope="module")
def result(wine):
    X, y, _ = wine
    return disambiguate(X, y, method="cc")


def embedded(page):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text[1])


def test_figures(result, wine):
    report = label_report(result, truth=wine[2])
    assert report.n_rows == 178
    assert report.counts["several"] == 138
    ambiguous = result.candidates.sum(axis=1) > 1
    counts = report.counts
    assert counts == {k: result.summary()[k] for k in counts}
    assert counts["settled"] == (ambiguous & (result.confidence >= 0.9)).sum()
    unsettled = ambiguous & (result.confidence < 0.9)
    assert counts["open"] == (unsettled & (result.margin < 0.2)).sum()
    assert counts["leaning"] == unsettled.sum() - counts["open"]
    mean, low, high = report.result.expected_right
    assert mean == pytest.approx(result.confidence.mean())
    assert low <= mean <= high
    agreement = result.agreement(wine[2])
    assert report.right == pytest.approx(
        (agreement.accuracy, agreement.ambiguous_accuracy, agreement.chance)
    )
    assert report.calibration.n_rows.sum() == 178


def test_rows_to_review_are_the_doubtful_ones(result):
    report = label_report(result, n_review=5, rows={"number": np.arange(178)})
    order = [row.position for row in report.review]
    sure = result.confidence[order]
    assert (np.diff(sure) >= 0).all()
    assert (sure < 0.9).all()
    for row in report.review:
        beliefs = [belief for _, belief in row.confidences]
        assert beliefs == sorted(beliefs, reverse=True)
        assert row.contents == [("number", str(row.position))]


def test_pairs_are_named_and_judged(result):
    report = label_report(result)
    assert {frozenset((p.first, p.second)) for p in report.pairs} == {
        frozenset(pair)
        for pair in [("red", "rose"), ("red", "white"), ("rose", "white")]
    }
    assert report.never_together == 0
    assert sum(pair.n_rows for pair in report.pairs) == 138
    words = {pair.verdict for pair in report.pairs}
    assert words <= {"told apart", "partly told apart", "hardly told apart"}


def test_page_says_it_in_words(result, wine):
    text = " ".join(label_page(label_report(result)).split())
    assert "178 rows, of which 138 came with more than one possible label." in text
    assert "expected to be right" in text
    told = " ".join(result.to_html(truth=wine[2]).split())
    assert "of all labels are right, by the true labels" in told
    assert "Calibration" in told


def test_nothing_to_choose():
    page = disambiguate([[0.0], [0.2], [1.0]], ["a", "a", "b"], "plknn").to_html()
    assert "there was nothing to choose" in page
    assert "Rows to review</h2>" not in page


def test_script_gets_all_rows(result):
    data = embedded(result.to_html())
    assert len(data["names"]) == 178
    assert data["classes"] == ["red", "rose", "white"]
    assert [data["classes"][j] for j in data["label"]] == result.label.tolist()
    first = [data["classes"][j] for j in data["sets"][data["set"][50]]]
    assert first == result.classes[result.candidates[50]].tolist()
    assert max(data["xy"]) <= 1000
    assert min(data["xy"]) >= 0


def test_hostile_texts_stay_texts():
    evil = "</script><script>alert(1)</script>"
    X = [[0.0], [0.5], [0.4], [1.0]]
    y = [{evil}, {evil, "b\u202ec"}, {evil, "b\u202ec"}, {"b\u202ec"}]
    result = disambiguate(X, y, "plknn")
    page = result.to_html(rows={evil: [evil] * 4}, title=evil)
    assert page.count("<script") == 2  # data and program, none of theirs
    assert "\u202e" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "b[U+202E]c" in page
    assert evil in embedded(page)["classes"]
    assert evil not in result._repr_html_()


def test_no_outside_request(result):
    page = result.to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)


def test_arrays_become_pictures():
    images = pytest.importorskip("PIL.Image")
    grey = np.array([[0.0, 1.0], [2.0, 4.0]])
    X, y = [[0.0], [0.45], [1.0]], [{"a"}, {"a", "b"}, {"b"}]
    result = disambiguate(X, y, "plknn")
    object.__setattr__(result, "confidence", np.array([1.0, 0.6, 1.0]))
    page = result.to_html(images=[grey] * 3)
    content = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", page)[1])
    with images.open(io.BytesIO(content)) as picture:
        assert np.asarray(picture).tolist() == [[255, 191], [128, 0]]
    with pytest.raises(ValueError, match="2-D array"):
        result.to_html(images=[np.zeros(3)] * 3)
    with pytest.raises(ValueError, match="must hold 3 pictures"):
        result.to_html(images=[grey])


def test_files_become_pictures(tmp_path):
    X, y = [[0.0], [0.45], [1.0]], [{"a"}, {"a", "b"}, {"b"}]
    result = disambiguate(X, y, "plknn")
    object.__setattr__(result, "confidence", np.array([1.0, 0.6, 1.0]))
    picture, text, huge = (tmp_path / name for name in ("a.png", "b.png", "c.png"))
    picture.write_bytes(b"\x89PNG\r\n\x1a\nrest")
    text.write_text("no picture")
    huge.write_bytes(b"\x89PNG" + bytes(200_000))
    for path, shown in [(picture, 1), (text, 0), (huge, 0), (tmp_path / "no", 0)]:
        page = result.to_html(images=[str(path)] * 3)
        assert page.count("data:image/png;base64,") == shown


def test_bad_contents(result):
    with pytest.raises(TypeError, match="data frame or a mapping"):
        result.to_html(rows=[1, 2])
    with pytest.raises(ValueError, match="column 'a' has 2"):
        result.to_html(rows={"a": [1, 2]})


def test_frames_are_contents(result):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"colour": ["deep"] * 178})
    assert "<dd>deep</dd>" in result.to_html(rows=frame)


def test_written_whole(result, tmp_path):
    page = result.to_html(tmp_path / "labels.html")
    assert (tmp_path / "labels.html").read_text(encoding="utf-8") == page


def test_twenty_thousand_rows_stay_small():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 20_000)
    X = rng.normal(size=(20_000, 3)) + 3 * rng.normal(size=(10, 3))[y]
    names = np.array([f"class number {j}" for j in range(10)])
    S = make_candidates(y, 2, random_state=0).astype(bool)
    from partlearn.classification import PLKNN

    result = disambiguate(X, [names[row].tolist() for row in S], PLKNN())
    page = result.to_html(rows={f"column {j}": X[:, j] for j in range(3)})
    assert len(page.encode()) < 10e6


def test_notebook_summary(result):
    text = result._repr_html_()
    assert "<style" not in text
    assert "178 rows" in text


def test_corrections_become_certain(wine, result):
    X, y, truth = wine
    doubtful = int(np.argmin(result.confidence))
    again = disambiguate(X, y, "cc", corrections={str(doubtful): truth[doubtful]})
    assert again.label[doubtful] == truth[doubtful]
    assert again.confidence[doubtful] == 1
    other = next(name for name in ("red", "rose", "white") if name not in y[doubtful])
    told = disambiguate(X, y, "cc", corrections={doubtful: other})
    assert told.label[doubtful] == other
    with pytest.raises(ValueError, match="row 1000, which is not there"):
        disambiguate(X, y, "cc", corrections={1000: "red"})
    with pytest.raises(ValueError, match=r"'blue' given for row .* is not known"):
        disambiguate(X, y, "cc", corrections={0: "blue"})


def test_corrections_file(tmp_path):
    path = tmp_path / "fixed.csv"
    path.write_text('row,label\r\n12,"a, b"\r\nx"y,c\r\n', encoding="utf-8")
    assert read_corrections(path) == {"12": "a, b", 'x"y': "c"}
    path.write_text("row;label\n12;a, b\n13;\n", encoding="utf-8")
    assert read_corrections(path) == {"12": "a, b"}
    path.write_text("row\tnote\tlabel\n007\tx\ta\n", encoding="utf-8")
    assert read_corrections(path) == {"007": "a"}
    for text, message in [
        ("id,label\n1,a\n", "columns named row and label; got id, label"),
        ("", "no header"),
        ("row,label\n,cat\n", "row 0: a label has no row"),
        ("row,label\n1,a\n1,b\n", "row '1' is corrected to 'a' and to 'b'"),
    ]:
        path.write_text(text)
        with pytest.raises(DataFormatError, match=message):
            read_corrections(path)
    path.write_bytes(b"row,label\n\xff,a\n")
    with pytest.raises(DataFormatError, match="cannot be read"):
        read_corrections(path)


def test_annotators_and_corrections_of_votes(wine):
    X, _, truth = wine
    rng = np.random.RandomState(0)
    names = np.array(["red", "rose", "white"])
    guesses = names[rng.randint(0, 3, len(truth))]
    table = {
        "good": truth,
        "fair": np.where(rng.rand(len(truth)) < 0.8, truth, guesses),
    }
    table["poor"] = guesses
    votes = from_annotators(table)
    result = disambiguate(X, votes)
    report = label_report(result)
    assert [name for name, _, _ in report.annotators] == ["poor", "fair", "good"]
    assert [n for _, n, _ in report.annotators] == [len(truth)] * 3
    assert names[report.label].tolist() == result.label.tolist()
    page = result.to_html()
    assert "estimated share right" in page
    wrong = next(name for name in names if name != result.label[0])
    told = disambiguate(X, votes, corrections={0: wrong})
    assert told.label[0] == wrong
    assert told.confidence[0] == 1
    assert label_report(disambiguate(X, truth, "plknn")).annotators == []


def test_the_picture_is_drawn_when_asked_for(wine, monkeypatch):
    X, y, _ = wine
    calls = []
    monkeypatch.setattr(
        "partlearn._disambiguation.label_map",
        lambda *given: calls.append(given) or np.zeros((len(X), 2)),
    )
    result = disambiguate(X, y, "plknn")
    assert not calls
    assert result.embedding is result.embedding
    assert len(calls) == 1


def test_one_vote_settles_nothing(wine):
    """Rows with one candidate that the votes leave in doubt are there to review."""
    X, _, truth = wine
    rng = np.random.RandomState(1)
    names = np.unique(truth)
    table = {
        who: [
            None if rng.rand() < 0.4 else t if rng.rand() < skill else rng.choice(names)
            for t in truth
        ]
        for who, skill in {"ann": 0.95, "bob": 0.5, "cyd": 0.2}.items()
    }
    result = disambiguate(X[:, :3], from_annotators(table, empty="all"))
    report = label_report(result, n_review=len(truth))
    single = (result.candidates.sum(axis=1) == 1) & (result.confidence < 0.9)
    assert report.n_single == single.sum() > 0
    unsettled = np.flatnonzero(result.confidence < 0.9)
    assert {row.position for row in report.review} == set(unsettled)
    assert "one label only, which is in doubt as well" in result.to_html()


def test_words_for_one_row_and_for_nearly_all(wine):
    X, y, _ = wine
    sure = np.ones(len(X))
    sure[3] = 0.6
    page = replace(disambiguate(X, y, "plknn"), confidence=sure).to_html()
    assert "the least certain row<" in page
    assert "<strong>99 % to 100 %</strong> expected" in page
    assert "0 are open" in page


def test_contents_are_written_for_a_reader(wine):
    X, y, _ = wine
    n = len(X)
    rows = {"whole": np.arange(n, dtype=float), "gap": [None, np.nan] * (n // 2)}
    rows |= {"long": np.full(n, "-1.23456789"), "id": np.full(n, "123456.123456")}
    assert n % 2 == 0
    report = label_report(disambiguate(X, y, "plknn"), rows=rows)
    shown = dict(report.review[0].contents)
    assert shown == {
        "whole": str(report.review[0].position),
        "gap": "missing",
        "long": "-1.23457",
        "id": "123456.123456",
    }


def test_corrections_can_be_saved_where_nothing_is_to_review(wine):
    X, _, truth = wine
    page = disambiguate(X, truth, "plknn").to_html()
    assert "Rows to review" not in page
    assert 'class="save"' in page


def test_names_on_the_picture_do_not_lie_over_each_other(wine):
    X, y, _ = wine
    result = disambiguate(X, y, "plknn")
    report, places = label_report(result), _scaled(np.zeros((len(X), 2)))
    heights = [y for _, y, _ in _marks(report, places)]
    assert len(heights) == 3
    assert np.diff(sorted(heights)).min() >= 30
    # Rows of one heap, as where the labels follow no pattern: names find room, or not.
    code = np.arange(len(X)) % 30
    heap = replace(report, classes=[f"name {j}" for j in range(30)], label=code)
    for middle in (0, 477, 1000):
        heights = [y for _, y, _ in _marks(heap, np.full((len(X), 2), middle))]
        assert len(heights) == 30
        assert np.diff(sorted(set(heights))).min() >= 30
        assert len(set(heights)) >= 29
    many = replace(report, classes=[str(j) for j in range(31)])
    assert _marks(many, places) == []


def test_cells_that_pandas_does_not_know():
    pandas = pytest.importorskip("pandas")
    result = disambiguate([[0.0], [0.5], [1.0]], [{"a"}, {"a", "b"}, {"b"}], "plknn")
    frame = pandas.DataFrame({"n": [7, None, 8], "t": ["x", None, "y"]})
    frame = frame.convert_dtypes()
    frame.columns = ["same", "same"]
    (row,) = label_report(result, rows=frame).review
    assert row.contents == [("same", "missing"), ("same", "missing")]


def test_pictures_with_holes():
    result = disambiguate([[0.0], [0.5], [1.0]], [{"a"}, {"a", "b"}, {"b"}], "plknn")
    holes = result.to_html(images=[np.array([[np.nan, 1.0]])] * 3)
    assert holes == result.to_html(images=[np.array([[0.0, 1.0]])] * 3)


def test_what_is_told_apart_is_folded(wine):
    X, y, _ = wine
    result = disambiguate(X, y, "plknn")
    page = " ".join(result.to_html().split())
    pairs = label_report(result).pairs
    apart = sum(pair.doubt < 0.1 for pair in pairs)
    assert (f"{apart} pairs of labels that are told apart" in page) == (apart > 1)
    certain = np.eye(3)[[list(result.classes).index(name) for name in result.label]]
    page = replace(result, label_confidence=certain).to_html()
    assert f"<details><summary>{len(pairs)} pairs of labels that are told apart" in page


@pytest.fixture(scope="module")
def captioned():
    """Sixty faces, three on a photograph; one caption names somebody else as well."""
    rng = np.random.default_rng(0)
    names = np.array(["Ann", "Bob", "Cyd", "Dan"])
    who = rng.integers(0, 4, size=60)
    photos = np.repeat([f"img{p}" for p in range(20)], 3)
    S = np.zeros((20, 4), dtype=bool)
    S[np.arange(60) // 3, who] = True
    S[7] = True
    y = [set(names[S[p]]) for p in np.arange(60) // 3]
    X = np.eye(4)[who] + rng.normal(scale=0.5, size=(60, 4))
    model = CandidateClassifier(LogisticRegression(), max_iter=2, cv=3, random_state=0)
    return disambiguate(X, y, model, bags=photos)


def test_rows_to_review_are_grouped_by_bag(captioned):
    report = label_report(captioned, n_review=30)
    assert report.in_bags
    least = int(captioned.confidence.argmin())
    assert report.review[0].bag.name == captioned.bags[least]
    by_bag = {}
    for row in report.review:
        by_bag.setdefault(row.bag.name, []).append(row.name)
    for name, rows in by_bag.items():
        assert rows == [str(i) for i in np.flatnonzero(captioned.bags == name)]
    assert 30 <= len(report.review) < 33  # whole bags
    assert report.n_shown == 21
    bag = next(
        row.bag for row in label_report(captioned).review if row.bag.name == "img7"
    )
    assert [label for label, _ in bag.taken] == ["Ann", "Bob", "Cyd", "Dan"]
    assert sum(len(rows) for _, rows in bag.taken) == 3
    page = captioned.to_html(n_review=30)
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert f"Bag {captioned.bags[least]}" in text
    assert ": nobody" in captioned.to_html()
    assert page.count('class="bag"') == len(by_bag)
    assert page.count('hidden data-row="') == len(report.review)


def test_a_row_without_a_bag_is_reviewed_alone(captioned):
    bags = captioned.bags.copy()
    least = int(captioned.confidence.argmin())
    bags[least] = None
    report = label_report(replace(captioned, bags=bags))
    assert report.review[0].bag.name == "none"
    assert report.review[1].bag is not report.review[0].bag


def test_columns_that_decided(wine):
    X, y, _ = wine
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, :2], columns=["alcohol", "malic <acid>"])
    frame["color"] = np.where(X[:, 9] > 5, "dark", "light")
    frame["candidates"] = ["|".join(sorted(names)) for names in y]
    result = disambiguate(frame, method="crisp-classifier")
    shares = result.column_importances
    # Levels of a category are added up, and the largest share comes first.
    assert set(shares) == {"alcohol", "malic <acid>", "color"}
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    page = result.to_html()
    assert "What decided" in page
    assert "malic &lt;acid&gt;" in page
    assert list(disambiguate(X[:, :2], y).column_importances) != []
    # Methods that do not rank columns say nothing.
    plain = disambiguate(frame, method="plknn")
    assert plain.column_importances == {}
    assert "What decided" not in plain.to_html()
