"""Cells that are written in several ways, and names that could collide."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partlearn import PartialClassifier
from partlearn.candidates import from_votes
from partlearn.io import label_evidence
from partlearn.tables import (
    TableEncoder,
    columns_of,
    find_kinds,
    numbers_in,
    read_columns,
)
from partlearn.tables._moments import find_format, moments_in


def test_times_with_offsets_are_those_of_arrow(tmp_path):
    """Text was read at wall time, Arrow as UTC."""
    texts = [f"2024-01-0{i + 1}T23:30:00+0{i % 4}:00" for i in range(8)]
    moments = pa.array(texts).cast(pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"when": moments}), tmp_path / "t.parquet")
    typed = TableEncoder().fit_transform(read_columns(tmp_path / "t.parquet"))
    written = TableEncoder().fit_transform({"when": texts})
    np.testing.assert_allclose(written, typed, atol=1e-9)


@pytest.mark.parametrize(
    ("cat", "dog"),
    [
        (["1,234", "950", "2,000"], ["17", "2,001", "5"]),
        (["1.234,0", "950", "2.000"], ["17", "2.001", "5"]),
        (["1\u00a0234", "950", "2\u00a0000"], ["17", "2\u00a0001", "5"]),
        (["1234,00", "950", "2e3"], ["17,0", "2001", "500%"]),
    ],
)
def test_weights_of_labels_are_written_as_features_are(cat, dog):
    columns = {n: np.array(c, dtype=object) for n, c in (("cat", cat), ("dog", dog))}
    weights = label_evidence(columns, ["cat", "dog"], form="weights").weights
    W = np.array([[1234, 17], [950, 2001], [2000, 5]])
    np.testing.assert_allclose(weights, W / W.max(axis=1, keepdims=True))


@pytest.mark.parametrize("words", [("true", "false"), ("TRUE", "FALSE")])
def test_flags_are_numbers_in_text_as_in_parquet(tmp_path, words):
    flags = [True, False, True, True]
    texts = [words[0] if flag else words[1] for flag in flags]
    pq.write_table(pa.table({"on": flags}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("\n".join(["on", *texts]) + "\n")
    kinds, encoded = [], []
    for name in ("t.parquet", "t.csv"):
        encoder = TableEncoder()
        encoded.append(encoder.fit_transform(read_columns(tmp_path / name)))
        kinds.append(encoder.kinds_["on"].kind)
    assert kinds == ["number", "number"]
    np.testing.assert_array_equal(*encoded)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,422", "(1,422)", "950", "(17)"], [1422, -1422, 950, -17]),
        (["$12.50", "($1,422.00)", "$(3.25)", "$7"], [12.5, -1422, -3.25, 7]),
        (["12 %", "(5 %)", "7 %", "9 %"], [12, -5, 7, 9]),
        (["950", "14.2k", "3M", "1.5bn"], [950, 14200, 3e6, 1.5e9]),
        (["(14k)", "2K", "3bn", "-1.5M"], [-14e3, 2e3, 3e9, -1.5e6]),
        (["$950", "$14.2k", "$3B", "($1.5M)"], [950, 14200, 3e9, -1.5e6]),
        (["1,200k", "950k", "80", "7M"], [1.2e6, 950e3, 80, 7e6]),
        (["\u22123.2", "\u20132.5", "5", "\uff0d7"], [-3.2, -2.5, 5, -7]),
        (["3.2-", "4", "0.5-", "8"], [-3.2, 4, -0.5, 8]),
        (["\uff11\uff12\uff0e\uff15", "3", "4.5", "7"], [12.5, 3, 4.5, 7]),
        (
            ["\u0663\u066b\u0665", "\u0661\u066c\u0660\u0660\u0660", "950", "2,500"],
            [3.5, 1000, 950, 2500],
        ),
        (
            ["\u20b93,45,678", "\u20b9950", "\u20b912,34,567", "\u20b980,000"],
            [345678, 950, 1234567, 80000],
        ),
        (["21 282", "3 000,50", "950", "1 100"], [21282, 3000.5, 950, 1100]),
    ],
)
def test_accounting_and_powers_of_ten(tmp_path, cells, numbers):
    (tmp_path / "t.csv").write_text("\n".join(["x;z", *(f"{c};1" for c in cells)]))
    columns = read_columns(tmp_path / "t.csv")
    kinds = find_kinds(columns, {})
    assert kinds["x"].kind == "number"
    np.testing.assert_allclose(columns["x"], numbers)
    # New rows are read in the way that was found.
    again = columns_of({"x": [*cells, None]})["x"]
    read = numbers_in(again, kinds["x"].grouping, kinds["x"].unit)
    np.testing.assert_allclose(read, [*numbers, np.nan])


@pytest.mark.parametrize(
    "cells", [["(a)", "(b)"], ["12A", "9K", "7C"], ["1B", "2B"], ["5k", "5g"]]
)
def test_other_letters_and_parentheses_are_no_numbers(cells):
    assert find_kinds(columns_of({"x": cells * 2}), {})["x"].kind == "category"


def test_flags_with_gaps_are_named_alike_as_labels(tmp_path):
    labels = [True, False, None, True]
    table = {"x": [1.0, 2.0, 3.0, 4.0], "c": labels}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("x,c\n1,True\n2,False\n3,\n4,True\n")
    found = [
        PartialClassifier("pl-knn", labels="c").fit(read_columns(tmp_path / name))
        for name in ("t.parquet", "t.csv")
    ]
    assert [model.classes_.tolist() for model in found] == [["false", "true"]] * 2


def test_names_of_features_are_distinct():
    """A column may be called as the mark of a missing value is."""
    gaps = [1.0, None, 2.0, None, None, 3.0, None, None, 5.0]
    table = {"x": gaps, "x missing": list(range(1, 10)), "c=a": list(range(9, 0, -1))}
    table["c"] = ["a", "b", "a"] * 3
    names = TableEncoder().fit(table).get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert "x missing (2)" in names
    assert "c=a (2)" in names


def test_groups_and_weights_are_not_the_labels():
    table = {"x": [1.0, 2.0, 3.0, 4.0], "c": ["a", "b", "a|b", "a"]}
    for option in ("groups", "weight"):
        model = PartialClassifier("pl-knn", labels="c", **{option: "c"})
        with pytest.raises(ValueError, match=f"`{option}`: column 'c' holds"):
            model.fit(table)


@pytest.mark.parametrize("row", [10**15, 10**30])
def test_row_numbers_that_are_names(row):
    """They ended in the memory error of NumPy."""
    with pytest.raises(ValueError, match="Pass `index`"):
        from_votes([0, row], ["ann", "bob"], ["a", "b"], empty="drop")
    votes = from_votes(
        [row, 7], ["ann", "bob"], ["a", "b"], index=[7, row], empty="drop"
    )
    assert len(votes) == 2
    with pytest.raises(ValueError, match="must not be negative"):
        from_votes([0], ["ann"], ["a"], n_rows=-1)


def test_lists_and_repeated_text_of_arrow_are_kept_once():
    sets = pa.array([["a", "b"], None, [], ["a", "b"], ["b", None, "b"]])
    coded = pa.array(["u", None, "v", "u", "u"]).dictionary_encode()
    numbers = pa.array([1.5, None, 2.5, 1.5, 1.5]).dictionary_encode()
    nested = pa.array([[["a"]], None, [], [["b"]], [[]]])
    columns = columns_of(
        pa.table({"sets": sets, "coded": coded, "numbers": numbers, "nested": nested})
    )
    assert columns["sets"].tolist() == ["['a', 'b']", None, "[]", "['a', 'b']", "['b']"]
    assert columns["sets"][0] is columns["sets"][3]
    assert columns["coded"].tolist() == ["u", None, "v", "u", "u"]
    assert columns["coded"][0] is columns["coded"][4]
    np.testing.assert_array_equal(columns["numbers"], [1.5, np.nan, 2.5, 1.5, 1.5])
    assert columns["nested"].tolist() == ["[['a']]", None, "[]", "[['b']]", "[[]]"]


def warned(columns, **given):
    n = len(next(iter(columns.values())))
    labels = np.array(["a|b", "b", "a"], dtype=object)[np.arange(n) % 3]
    table = {"z": np.arange(n) % 7.0, **columns, "c": labels}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PartialClassifier("pl-knn", labels="c", **given).fit(table)
    return model.encoder_.kinds_, " ".join(str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (lambda k: f"{k // 60}:{k % 60:02d}", "'1:00' in column 'x' (category)"),
        (lambda k: f"~{k}", "'~60' in column 'x' (category)"),
        (lambda k: f"{k}/80", "'60/80' in column 'x' (category)"),
        (lambda k: f"{k % 28 + 1} mai {1900 + k}", "'1 mai 1984' in column 'x' (text)"),
    ],
)
def test_amounts_that_are_not_read_are_named(cell, shown):
    cells = np.array([cell(60 + k // 2) for k in range(120)], dtype=object)
    kinds, told = warned({"x": cells})
    assert kinds["x"].kind in ("category", "text")
    assert "Cells with digits were not read" in told
    assert shown in told
    assert "Cells with digits" not in warned({"x": cells}, category="x")[1]


def test_codes_and_few_ranges_are_categories():
    few = np.array([f"{k % 8}0-{k % 8}9" for k in range(120)], dtype=object)
    names = np.array([f"Main Street {k // 2}" for k in range(120)], dtype=object)
    codes = np.array([f"0{k // 2}" for k in range(120)], dtype=object)
    kinds, told = warned({"few": few, "names": names, "codes": codes})
    assert kinds["few"].kind == kinds["codes"].kind == "category"
    assert not told


def test_lists_and_infinite_numbers_are_named():
    rng = np.random.default_rng(0)
    lists = rng.random((60, 3)).round(3)
    endless = np.where(np.arange(60) % 9, rng.random(60), np.inf)
    columns = {"lists": lists.tolist(), "typed": list(map(list, lists))}
    _, told = warned({**columns, "endless": endless})
    assert "Lists of numbers in column 'lists', 'typed' were not read" in told
    assert "'inf' in column 'endless' (7 rows)" in told


@pytest.mark.parametrize(
    ("form", "last", "told"),
    [
        ("{d:02d}/{m:02d}/2024", 12, "month first"),
        ("{d:02d}-{m:02d}-2024", 12, "day first"),
        ("{d:02d}/{m:02d}/2024", 28, ""),
        ("{d:02d}.{m:02d}.2024", 12, ""),
    ],
)
def test_dates_whose_order_nothing_tells_are_named(form, last, told):
    days = [form.format(d=k % last + 1, m=(k // last) % 9 + 1) for k in range(100)]
    kinds, said = warned({"x": np.array(days, dtype=object)})
    assert kinds["x"].kind == "date"
    assert told in said
    assert bool(said) == bool(told)


def test_the_order_that_most_dates_have_is_taken():
    days = [f"{k % 12 + 1:02d}/05/2024" for k in range(200)] + ["13/05/2024"]
    assert find_format(days) == "%d/%m/%Y"
    assert find_format([d.replace("/", "-") for d in days]) == "%d-%m-%Y"
    assert find_format(["05-13-2024", "05-02-2024"]) == "%m-%d-%Y"


@pytest.mark.parametrize(
    "cells",
    [
        ["November 9, 2020", "May 12, 2021"],
        ["9 November 2020", "12 May 2021"],
        ["2020\u5e7411\u67089\u65e5", "2021\u5e745\u670812\u65e5"],
        ["Mon, 09 Nov 2020 00:00:00 +0000", "Wed, 12 May 2021 02:00:00 +0200"],
    ],
)
def test_dates_in_words(cells):
    form = find_format(cells)
    moments = moments_in(np.array(cells, dtype=object), form)
    expected = np.array(["2020-11-09", "2021-05-12"], dtype="datetime64[s]")
    np.testing.assert_array_equal(moments, expected)


def test_numbers_that_may_stand_for_missing_values_are_named():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60).round(3)
    gaps = np.where(np.arange(60) % 8 == 3, -999, x)
    ages = np.where(np.arange(60) % 8 == 3, 99, rng.integers(20, 98, 60))
    _, told = warned({"gaps": gaps, "ages": ages, "text": gaps.astype(str)})
    assert "-999 in column 'gaps' (8 rows), -999 in column 'text' (8 rows)" in told
    assert "ages" not in told
    assert "may stand" not in warned({"gaps": gaps}, number="gaps")[1]
