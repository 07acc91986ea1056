"""What columns are, and what becomes of them."""

import datetime

import numpy as np
import pytest
from sklearn.base import clone

from partlearn.datasets import make_tickets
from partlearn.persistence import load_model, save_model
from partlearn.tables import TableEncoder, columns_of, find_kinds, numbers_in


def text(*values):
    return np.array(values, dtype=object)


def kind_of(column, name="column", **given):
    return find_kinds({name: column}, given)[name].kind


MANY = 40


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([1.5, 2.5, np.nan]), "number"),
        (text("1", "2.5", "n/a", "-"), "number"),
        (text("1,5", "2,5", "3,0"), "number"),
        (text("a", "b", "a"), "category"),
        (text("00123", "00145", "01000", "00123"), "category"),
        (text("2024-01-31", "2024-02-01", None), "date"),
        (text("2024-01-31T10:00:00", "2024-02-01T11:30:00"), "date"),
        (text("31.01.2024", "01.02.2024"), "date"),
        (text("12/31/2024", "01/15/2024"), "date"),
        (text("31/12/2024", "15/01/2024"), "date"),
        (np.array(["2024-01-01", "2025-01-01"], dtype="datetime64[s]"), "date"),
        (np.array(["2024-01-01", "NaT"], dtype="datetime64[s]"), "constant"),
        (text("kg", "kg"), "constant"),
        (text(None, ""), "constant"),
        (np.array([np.nan, np.nan]), "constant"),
        (np.array([3.0, 3.0]), "constant"),
        (np.arange(MANY, dtype=float), "id"),
        (text(*(f"T-{i}" for i in range(MANY))), "id"),
        (text(*(f"word{i} and some more of it" for i in range(MANY))), "text"),
        (text(*(f"{i % 7} days ago" for i in range(MANY))), "number"),
        (text(*(f"{i % 7}th of {i % 3}" for i in range(MANY))), "category"),
    ],
)
def test_kinds(column, kind):
    if kind == "category" and len(column) == MANY:
        column = np.tile(column, 10)  # the same few phrases over and over
    assert kind_of(column) == kind


def test_distinct_numbers_are_an_id_only_by_name():
    numbers = np.random.default_rng(0).permutation(1000)[:MANY].astype(float)
    assert kind_of(numbers, "customer_id") == "id"
    for index in ("", "Unnamed: 0", "__index_level_0__"):  # of a part of a data frame
        assert kind_of(numbers, index) == "id"
    assert kind_of(numbers, "price") == "number"


def test_what_the_caller_says_counts():
    assert kind_of(np.array([1.0, 2.0]), "x", x="category") == "category"
    assert kind_of(text("2024-01-01", "2024-01-02"), "x", x="date") == "date"
    with pytest.raises(ValueError, match="write dates as 2024-12-31"):
        kind_of(text("tomorrow"), "x", x="date")
    with pytest.raises(ValueError, match="holds numbers"):
        kind_of(np.array([1.0, 2.0]), "x", x="date")
    with pytest.raises(ValueError, match="Did you mean 'weight'"):
        TableEncoder(number="wieght").fit({"weight": [1.0, 2.0]})
    with pytest.raises(ValueError, match="given as number and as category"):
        TableEncoder(number="x", category="x").fit({"x": [1.0, 2.0]})


def test_numbers_are_standardised_filled_and_marked():
    x = np.array([1.0, 3.0, 5.0] * 4 + [np.nan] * 5)
    encoder = TableEncoder().fit({"x": x})
    assert encoder.get_feature_names_out().tolist() == ["x", "x missing"]
    Z = encoder.transform({"x": x})
    filled = np.where(np.isnan(x), 3.0, x)  # the median
    np.testing.assert_allclose(Z[:, 0], (filled - filled.mean()) / filled.std())
    np.testing.assert_array_equal(Z[:, 1], np.isnan(x))


def test_categories_by_hand():
    encoder = TableEncoder().fit({"c": text("a", "a", "b", None)})
    assert encoder.get_feature_names_out().tolist() == ["c=", "c=a", "c=b"]
    Z = encoder.transform({"c": text("b", "never seen", None)})
    p = np.array([0.25, 0.5, 0.25])
    scale = np.sqrt((p * (1 - p)).sum())
    np.testing.assert_allclose(Z * scale, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_dates_are_positions_in_circles():
    days = [
        datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(0, 366, 7)
    ]
    encoder = TableEncoder().fit({"d": text(*map(str, days))})
    names = encoder.get_feature_names_out().tolist()
    # All are Mondays at midnight, so week and day say nothing.
    assert names == ["d days", "d year sin", "d year cos"]
    late, early = encoder.transform({"d": text("2024-12-31", "2024-01-01")})
    assert np.abs(late[1:] - early[1:]).max() < 0.2


def test_words_and_many_categories_become_few_columns():
    rng = np.random.default_rng(0)
    words = np.array(["cat", "dog", "eel", "fox", "gnu", "hen"])
    notes = text(*(" ".join(rng.choice(words, 4)) + f" w{i}" for i in range(200)))
    towns = text(*(f"town{rng.integers(80)}" for _ in range(200)))
    encoder = TableEncoder(n_text_components=3).fit({"note": notes, "town": towns})
    kinds = {name: found.kind for name, found in encoder.kinds_.items()}
    assert kinds == {"note": "text", "town": "category"}
    names = encoder.get_feature_names_out().tolist()
    assert names == ["note #0", "note #1", "note #2", "town #0", "town #1", "town #2"]
    Z = encoder.transform({"note": text("cat cat", None), "town": text("town81", None)})
    assert np.isfinite(Z).all()
    same = encoder.transform({"note": notes, "town": towns})
    np.testing.assert_allclose(same.std(axis=0).max(), 1)


def test_text_without_words_is_left_out():
    table = {"x": [1.0, 2.0, 3.0], "t": text("!", "?!", "...")}
    encoder = TableEncoder(text="t").fit(table)
    assert encoder.kinds_["t"].reason == "no words to compare"
    assert encoder.transform(table).shape == (3, 1)


def test_order_extra_and_missing_columns():
    table = {"x": [1.0, 2.0, 4.0], "c": text("a", "b", "a"), "unit": text(*"kkk")}
    encoder = TableEncoder().fit(table)
    turned = {"new": [1, 2, 3], "c": table["c"], "x": table["x"]}  # unit is not needed
    np.testing.assert_array_equal(encoder.transform(turned), encoder.transform(table))
    with pytest.raises(ValueError, match=r"lacks columns .*'x'. It has 'c'"):
        encoder.transform({"c": table["c"]})


def test_nothing_to_use():
    with pytest.raises(ValueError, match="No column of the table can be used"):
        TableEncoder().fit({"unit": text("kg", "kg")})
    with pytest.raises(ValueError, match="All columns of the table are constant"):
        TableEncoder(number="x").fit({"x": [1.0, 1.0]})
    with pytest.raises(ValueError, match="no rows"):
        TableEncoder().fit({"x": np.empty(0)})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_kind(library):
    module = pytest.importorskip(library)
    tickets = make_tickets(120).columns
    plain = {name: column.tolist() for name, column in tickets.items()}
    made = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    frame = getattr(module, made)(plain)
    encoder = TableEncoder(ignore="candidates").fit(tickets)
    other = clone(encoder).fit(frame)
    assert other.kinds_ == encoder.kinds_
    np.testing.assert_allclose(other.transform(frame), encoder.transform(tickets))
    if library == "pyarrow":
        batch = frame.to_batches()[0]
        np.testing.assert_array_equal(
            encoder.transform(batch), encoder.transform(frame)
        )


def test_typed_columns_of_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "flag": [True, False],
            "whole": pandas.array([1, None], dtype="Int64"),
            "kind": pandas.Categorical(["a", None]),
            "when": pandas.to_datetime(["2024-01-01", None]),
            "mixed": [1, "b"],
        }
    )
    columns = columns_of(frame)
    assert [c.dtype.kind for c in columns.values()] == ["b", "f", "O", "M", "O"]
    assert columns["mixed"].tolist() == ["1", "b"]
    assert columns["kind"].tolist() == ["a", None]


def test_tables_that_are_none():
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="several columns 'a'"):
        columns_of(twice)
    with pytest.raises(ValueError, match="rows and columns"):
        columns_of(np.zeros(3))
    with pytest.raises(ValueError, match="no columns"):
        columns_of({})
    with pytest.raises(ValueError, match="must have the same length"):
        columns_of({"a": [1], "b": [1, 2]})
    assert list(columns_of(np.zeros((2, 2)))) == ["x0", "x1"]


def test_numbers_in_text():
    values = numbers_in(text("1", "", None, "inf", "x", "1e3"))
    np.testing.assert_array_equal(values, [1, np.nan, np.nan, np.nan, np.nan, 1000])
    moments = np.array(["2024-01-01"], dtype="datetime64[s]")
    assert np.isnan(numbers_in(moments)).all()


def test_it_travels_in_a_model_file(tmp_path):
    tickets = make_tickets(150)
    encoder = TableEncoder(ignore="candidates").fit(tickets.columns)
    save_model(encoder, tmp_path / "encoder.partlearn")
    loaded = load_model(tmp_path / "encoder.partlearn").estimator
    new = make_tickets(20, random_state=1).columns
    np.testing.assert_array_equal(loaded.transform(new), encoder.transform(new))
    assert loaded.report() == encoder.report()


def test_unseen_values_are_named():
    table = {"x": np.arange(30.0) % 7, "c": text(*("ab" * 15))}
    encoder = TableEncoder().fit(table)
    assert encoder.unseen({"x": [3.0, np.nan], "c": text("a", "b")}) == {}
    found = encoder.unseen({"x": [3.0, 99.0], "c": text("z", "b")})
    assert {name: mask.tolist() for name, mask in found.items()} == {
        "x": [False, True],
        "c": [True, False],
    }


@pytest.mark.parametrize("others", [1, 2])
def test_nearly_all_of_a_column_of_dates_are_dates(others):
    # Nineteen of twenty are enough; once too many are none, nobody reads the rest.
    days = [f"2024-01-{day:02d}" for day in range(1, 21 - others)]
    kind = kind_of(text(*"ab"[:others], *days))
    assert (kind == "date") == (others == 1)


def test_text_of_any_type_is_the_same_text():
    plain = columns_of({"a": text("b", None, "3")})["a"]
    typed = columns_of({"a": text(np.str_("b"), None, np.str_("3"))})["a"]
    fixed = columns_of({"a": np.array(["b", "3"])})["a"]
    assert plain.tolist() == typed.tolist() == ["b", None, "3"]
    assert fixed.tolist() == ["b", "3"]
    given = text("b", "c")
    columns_of({"a": given})["a"][0] = "changed"
    assert given[0] == "b"


def test_columns_of_many_strings_are_known_by_some_of_them():
    numbers = text(*(f"{i / 7:.5g}" for i in range(20_000)))
    columns = {"weight": numbers, "name": text(*(f"a{i}" for i in range(20_000)))}
    kinds = find_kinds(columns, {})
    assert [kind.kind for kind in kinds.values()] == ["number", "id"]
    np.testing.assert_allclose(columns["weight"], numbers_in(numbers))
    back = {"weight": numbers[::-1]}
    assert find_kinds(back, {})["weight"] == kinds["weight"]


@pytest.mark.parametrize(
    ("cells", "numbers", "grouping"),
    [
        (["950", "1,234", "-12,500.5", "x"], [950, 1234, -12500.5, np.nan], ","),
        (["1,234,567", "2,345"], [1234567, 2345], ","),
        (["1.234,5", "950", "2,25", "3.000"], [1234.5, 950, 2.25, 3000], "."),
        (["1\u00a0234,5", "950", "2,25"], [1234.5, 950, 2.25], "\u00a0"),
        (["1'234'567.5", "950"], [1234567.5, 950], "'"),
        (["1,5", "2,25", "1,234"], [1.5, 2.25, 1.234], ""),
        (["0,125", "1,250"], [0.125, 1.25], ""),
        (["1.234", "2.345"], [1.234, 2.345], ""),
    ],
)
def test_thousands_may_be_separated(cells, numbers, grouping):
    column = text(*cells)
    (kind,) = find_kinds({"a": column}, {"a": "number"}).values()
    assert kind.grouping == grouping
    np.testing.assert_array_equal(numbers_in(column, kind.grouping), numbers)


def test_new_rows_are_read_as_those_of_training():
    """Whether a mark separates thousands shows in many cells, not in each."""
    table = {"us": text("950", "1,234", "2,000"), "eu": text("1.234,5", "9", "10")}
    encoder = TableEncoder().fit(table)
    assert encoder.kinds_["us"].reason == "1,000 is a thousand"
    one = encoder.transform({"us": text("1,234"), "eu": text("1.234")})
    same = encoder.transform({"us": text("1234"), "eu": text("1234")})
    np.testing.assert_array_equal(one, same)


def test_underscores_join_no_digits():
    table = {"code": text("10_1", "10_2", "10_1"), "x": [1.0, 2.0, 4.0]}
    assert TableEncoder().fit(table).kinds_["code"].kind == "category"


def test_flags_are_the_same_as_text_and_as_truth_values():
    """A model of a Parquet file is applied to CSV, and the other way round."""
    flags = np.array([True, False, True, True])
    words = text("true", "FALSE", "True", "True")
    x = np.arange(4.0)
    typed = TableEncoder().fit({"flag": flags, "x": x})
    assert typed.kinds_["flag"].kind == "number"
    np.testing.assert_array_equal(
        typed.transform({"flag": words, "x": x}),
        typed.transform({"flag": flags, "x": x}),
    )
    written = TableEncoder().fit({"flag": flags.astype(str).astype(object), "x": x})
    assert written.kinds_["flag"].kind == "number"
    assert not written.unseen({"flag": flags, "x": x})


@pytest.mark.parametrize(
    "cells",
    [
        ("31.12.2023 14:05:33", "01.02.2024 00:00:01"),
        ("12/31/2023 14:05:33", "01/02/2024 00:00:01"),
        ("31/12/2023 14:05", "01/02/2024 00:00"),
        ("12/31/2023 02:05 PM", "01/02/2024 12:00 AM"),
    ],
)
def test_dates_with_a_time_of_day(cells):
    encoder = TableEncoder().fit({"at": text(*cells), "x": [1.0, 2.0]})
    assert encoder.kinds_["at"].kind == "date"
    assert "at day sin" in encoder.get_feature_names_out()


def test_a_column_called_like_a_part_of_a_date():
    table = {"at": text("2024-01-01", "2024-02-01"), "at days": [1.0, 2.0]}
    encoder = TableEncoder().fit(table)
    assert encoder.get_source_columns().tolist() == ["at days", *["at"] * 5]
    assert encoder.get_feature_names_out()[:2].tolist() == ["at days", "at days (2)"]
