"""The checker finds planted faults, names the rows, and says it in plain words."""

import json
import re
import tomllib
from importlib import resources

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partlearn.candidates import make_candidates
from partlearn.check import DataReport, check
from partlearn.datasets import load_digits_partial
from partlearn.io import read


@pytest.fixture
def sound():
    """200 rows, 6 features, 5 labels, mixed set sizes, nothing wrong."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 5
    S = make_candidates(y, 1, random_state=0)
    S[:60] = np.eye(5, dtype=bool)[y[:60]]
    return rng.normal(size=(200, 6)), S, y


def codes(report):
    return [f.code for f in report.findings]


def find(report, code):
    (finding,) = [f for f in report.findings if f.code == code]
    return finding


def test_sound_data(sound):
    report = check(*sound)
    assert codes(report) == []
    assert report.ok
    assert "No problems found" in str(report)
    assert report.facts["difficulty"] == "moderate"
    assert report.facts["mean_set_size"] == pytest.approx(1.7)


def test_sparse_and_frames_give_the_same(sound):
    pd = pytest.importorskip("pandas")
    X, S, y = sound
    X = np.where(X < 0.5, 0, X)
    X[5], X[:, 2] = X[3], 0
    X[:, 4] = X[:, 1]
    dense = check(X, S, y)
    assert (
        check(sp.csr_array(X), S, y).to_dict()["findings"]
        == (dense.to_dict()["findings"])
    )
    assert set(codes(dense)) >= {"constant-features", "duplicate-features"}
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = pd.DataFrame(S, columns=list("vwxyz"))
    named = check(frame, labels, np.array(list("vwxyz"))[y])
    assert find(named, "constant-features").items == ("c",)


def test_empty_and_full_sets(sound):
    X, S, y = sound
    S[[3, 9]] = False
    S[[4, 5]] = True
    report = check(X, S)
    assert not report.ok
    assert find(report, "empty-sets").rows == (3, 9)
    assert find(report, "full-sets").rows == (4, 5)
    assert report.findings[0].code == "empty-sets"  # the worst first
    several = check(X, S, np.eye(5, dtype=bool)[y] & S)
    assert find(several, "empty-sets").severity == "warning"


def test_labels(sound):
    X, S, _ = sound
    wide = np.hstack([S, np.zeros((200, 1), dtype=bool)])
    wide[60:, 4] |= wide[60:, 3]
    wide[:60, 3] = False
    report = check(X, wide, target_names=list("abcdef"))
    assert find(report, "never-candidate").items == ("f",)
    assert find(report, "always-accompanied").items == ("d (with e)",)
    assert find(report, "never-alone").items == ("d",)
    assert report.facts["ambiguity_degree"] == 1.0
    assert find(report, "difficulty").title.startswith("Expected to be very hard")


def test_pairs_that_cannot_be_told_apart(sound):
    X, S, _ = sound
    S[:, 1] = S[:, 0]
    finding = find(check(X, S), "not-identifiable")
    assert finding.items == ("0 + 1",)
    assert finding.count == 1


def test_no_singletons():
    digits = load_digits_partial(n_false=2)
    assert "no-singletons" in codes(check(digits.data, digits.candidates))


def test_truth(sound):
    X, S, y = sound
    S[7, y[7]] = False
    S[7, (y[7] + 1) % 5] = True
    report = check(X, S, y)
    finding = find(report, "truth-outside")
    assert finding.severity == "error"
    assert finding.rows == (7,)
    assert "rows 7" in report.to_text()
    matrix = np.eye(5, dtype=int)[y]
    assert find(check(X, S, matrix), "truth-outside").rows == (7,)
    assert find(check(X, S, sp.csr_array(matrix)), "truth-outside").rows == (7,)
    y = np.where(y == 4, 3, y)
    S[np.arange(200), y] = True
    assert find(check(X, S, y), "never-true").items == ("4",)


def test_words_as_labels():
    sets = [{"cat", "dog"}, {"dog"}, {"eel"}, {"cat"}]
    report = check(np.arange(8.0).reshape(4, 2), sets, ["cat", "dog", "cat", "cat"])
    assert find(report, "truth-outside").rows == (2,)
    with pytest.raises(ValueError, match="'fox' of row 2 is never a candidate"):
        check(np.eye(4), sets, ["cat", "dog", "fox", "cat"])


def test_ambiguity_degree_by_hand():
    # Label 0 is true in three rows; label 1 accompanies it in two of them.
    S = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1]])
    report = check(np.arange(10.0).reshape(5, 2), S, [0, 0, 0, 1, 2])
    assert report.facts["ambiguity_degree"] == pytest.approx(2 / 3)


def test_features(sound):
    X, S, _ = sound
    X[:, 0] = 7
    X[:, 3] = X[:, 1]
    X[:, 2] *= 1e6
    report = check(X, S, feature_names=list("abcdef"))
    assert find(report, "constant-features").items == ("a",)
    assert find(report, "duplicate-features").items == ("d",)
    assert "factor" in find(report, "scales").title


def test_missing_values(sound):
    X, S, _ = sound
    X[[2, 5], 1] = np.nan, np.inf
    report = check(X, S)
    assert find(report, "not-finite").rows == (2, 5)
    assert find(check(sp.csr_array(X), S), "not-finite").rows == (2, 5)
    assert not report.ok


def test_duplicate_rows(sound):
    X, S, _ = sound
    X[50], X[51], X[52] = X[0], X[1], X[1]
    S[0], S[50] = [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]
    S[[1, 51, 52]] = [1, 1, 0, 0, 0]
    report = check(X, S)
    assert find(report, "duplicate-rows").count == 3
    assert find(report, "duplicate-rows").rows == (50, 51, 52)
    assert find(report, "contradictions").rows == (0,)


@pytest.mark.parametrize(
    "kind", ["class number", "with noise", "indicator", "sparse indicator"]
)
def test_leakage(sound, kind):
    X, S, y = sound
    if kind == "class number":
        X[:, 2] = y * 10
    elif kind == "with noise":
        X[:, 2] = (y * 2 + 1) % 5 + np.random.default_rng(3).random(200) / 2
    else:
        y = y % 2
        S = np.eye(2, dtype=bool)[y]
        S[:80] = True
        S[:80:3] = np.eye(2, dtype=bool)[y[:80:3]]
        X[:, 2] = y
    if kind == "sparse indicator":
        X = sp.csr_array(X)
    assert find(check(X, S), "leakage").items == ("2",)


def test_a_wrong_set_does_not_hide_leakage(sound):
    X, S, y = sound
    X[:, 2] = y
    S[9] = np.arange(5) == (y[9] + 1) % 5
    assert find(check(X, S), "leakage").items == ("2",)


def test_no_false_alarm_of_leakage(sound):
    X, S, y = sound
    X[:, 2] = np.random.default_rng(1).integers(0, 3, size=200)
    X[:, 3] = (np.arange(200) == 5) * 1.0
    S[:, 0] = True  # a label that all share is no evidence
    assert "leakage" not in codes(check(X, S, y))
    assert "leakage" not in codes(check(X, np.zeros((200, 5), dtype=bool)))


def test_numbers_that_nearly_decide_are_features(sound):
    X, S, y = sound
    X[:, 2] = y + np.random.default_rng(3).normal(scale=0.3, size=200)
    X[:, 3] = np.where(np.arange(200) < 100, y, 9) + X[:, 0] / 100
    assert "leakage" not in codes(check(X, S, y))


def test_row_numbers(sound):
    X, S, _ = sound
    X[:, 1] = np.arange(200) + 3
    assert find(check(X, S), "row-numbers").items == ("1",)
    X[7, 1] = 0
    assert "row-numbers" not in codes(check(X, S))


def test_size(sound):
    rng = np.random.default_rng(0)
    report = check(rng.normal(size=(12, 3)), make_candidates(np.arange(12) % 4, 1))
    assert "few-rows" in codes(report)
    tall = sp.csr_array(rng.normal(size=(60_000, 2)))
    S = np.eye(2, dtype=bool)[np.arange(60_000) % 2]
    report = check(tall, S)
    finding = find(report, "memory")
    assert "Rough peak memory" in report.to_text()
    assert report.to_html().count("<table>") == 2
    assert {"SURE", "PLAGGD"} <= set(finding.items)
    assert "PLKNN" not in finding.items


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((np.eye(3), [{0}, {1}]), "3 rows"),
        ((np.eye(2), [{0}, {1}], [0]), "truth has 1 rows"),
        ((np.eye(2), [{0}, {1}], np.ones((2, 3))), "3 columns"),
    ],
)
def test_disagreement(arguments, match):
    with pytest.raises(ValueError, match=match):
        check(*arguments)


def test_names_must_fit(sound):
    X, S, _ = sound
    with pytest.raises(ValueError, match="feature_names"):
        check(X, S, feature_names=["a"])
    with pytest.raises(ValueError, match="target_names"):
        check(X, S, target_names=["a"])


def test_forms(sound):
    X, S, y = sound
    S[7], X[:, 0] = False, 1
    evil = "<script>alert(1)</script>"
    report = check(X, S, y, feature_names=[evil, *"bcdef"])
    parsed = json.loads(report.to_json())
    assert parsed["ok"] is False
    assert parsed["findings"][0]["code"] == "empty-sets"
    page = report.to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<table>") == page.count("<caption>") == 1
    assert "://" not in page
    shown = report._repr_html_()
    assert "<script" not in shown
    assert "1 row of 200 without any candidate label." in shown
    # A notebook keeps its own style.
    assert not re.search("<(style|body|html|meta|link|h1)", shown)
    assert "No problems found" in DataReport([], {}, {}).to_html()
    text = report.to_text()
    assert "ERROR: 1 row of 200 without any candidate label." in text
    assert "memory" not in text  # which is no problem for 200 rows


def test_many_rows_are_cut_short(sound):
    X, S, _ = sound
    S[:30] = False
    finding = find(check(X, S), "empty-sets")
    assert len(finding.rows) == 10
    assert finding.where().endswith(", ...")


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_never_fails(data):
    m, d, q = (data.draw(st.integers(1, n)) for n in (12, 4, 5))
    q = max(q, 2)
    X = data.draw(hnp.arrays(np.float64, (m, d), elements=st.floats(-3, 3, width=16)))
    S = data.draw(hnp.arrays(bool, (m, q)))
    truth = data.draw(
        st.none() | hnp.arrays(np.int64, m, elements=st.integers(0, q - 1))
    )
    report = check(X, S, truth)
    assert json.loads(report.to_json())["facts"]["n_samples"] == m
    if truth is not None:
        outside = int((~S[np.arange(m), truth]).sum())
        found = [f.count for f in report.findings if f.code == "truth-outside"]
        assert found == ([outside] if outside else [])


@pytest.mark.shared
def test_known_oddities_of_real_sets(shared_dir):
    """The oddities that the manifest lists are all found."""
    folder = shared_dir / "data" / "pll"
    italian = read(folder / "italian.npz")
    report = check(italian.data, italian.candidates, italian.truth)
    assert find(report, "never-candidate").count == 11
    assert find(report, "constant-features").count == 36
    assert find(report, "duplicate-rows").count == 9417
    assert report.ok
    lost = read(folder / "lost.npz")
    report = check(lost.data, lost.candidates, lost.truth)
    assert find(report, "never-true").count == 2
    birds = read(folder / "birdsong.npz")
    assert "scales" in codes(check(birds.data, birds.candidates))


def severities(X, S):
    return {f.code: f.severity for f in check(X, S).findings}


def test_what_no_method_can_learn_from_is_an_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    S = np.eye(2, dtype=bool)[np.arange(20) % 2]
    assert severities(X, S[:, :1])["one-label"] == "error"
    assert severities(X, S & [True, False])["one-label"] == "error"
    assert severities(X, np.ones_like(S))["full-sets"] == "error"
    assert severities(np.ones_like(X), S)["constant-features"] == "error"
    S[0] = True
    X[:, 1] = 1.0
    found = severities(X, S)
    assert found["full-sets"] == found["constant-features"] == "warning"
    assert "one-label" not in found


def test_values_near_the_largest_number():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[0] = 1e308
    S = np.eye(2, dtype=bool)[np.arange(20) % 2]
    assert check(X, S).ok


def test_every_finding_has_its_words_and_a_condition():
    folder = resources.files("partlearn.check")
    texts = tomllib.loads((folder / "findings.toml").read_text("utf-8"))
    source = "".join(
        (folder / f"{name}.py").read_text("utf-8") for name in ("_check", "_findings")
    )
    for code, text in texts.items():
        assert text.keys() - {"of"} == {"severity", "title", "advice"}, code
        assert text["severity"] in ("error", "warning", "note"), code
        assert text["advice"].endswith("."), code
    named = set(re.findall(r'make_findings\(\s*"([\w-]+)"', source))
    of_columns = {code for code in texts if code.endswith("-columns")}
    assert named | of_columns == texts.keys()


def test_bytes_are_no_reason_to_warn():
    """Of an overflow, which is one of the check and not of the data."""
    X = (np.arange(60) * 7 % 256).astype(np.uint8).reshape(20, 3)
    X[0] = 255
    assert check(X, [{"a"}, {"b"}] * 10).ok


def test_tags_have_findings_of_their_own():
    """That a tag never stands alone, or beside another one, is no fault of tags."""
    rng = np.random.default_rng(0)
    listed = rng.random((60, 4)) < 0.5
    listed[:, 0], listed[:, 1] = True, False
    listed[7, 1] = True
    X, names = rng.normal(size=(60, 3)), ["rock", "live", "80s", "Rock"]
    sets = [set(np.array(names)[row]) for row in listed]
    table = {f"x{j}": X[:, j] for j in range(3)}
    of_array = check(X, listed, target_names=names, task="tags")
    for report in (of_array, check(table, sets, task="tags")):
        codes = {finding.code for finding in report.findings}
        assert not codes & {"never-alone", "always-accompanied", "full-sets"}
        assert find(report, "everywhere").items == ("rock",)
        assert find(report, "rare-labels").items == ("live",)
        assert find(report, "rare-labels").rows == (7,)
        assert len(find(report, "look-alike-labels").items) == 1
        assert report.facts["task"] == "tags"
