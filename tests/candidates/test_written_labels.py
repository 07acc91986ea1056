"""Labels as programs and people write them, and separators that nobody named."""

import re

import pytest

from partlearn.candidates import parse_label_cells, warn_alike_labels


@pytest.mark.parametrize(
    "cells",
    [
        ['c("ash", "oak")', "ash"],  # R
        ["{ash,oak}", "{ash}"],  # PostgreSQL
        ['"ash", "oak"', '"ash"'],
        ["'ash'|'oak'", "ash"],
        ['"ash|oak"', '"ash"'],  # quoted twice
        ["[b'ash', b'oak']", "ash"],
    ],
)
def test_lists_of_other_programs(cells):
    both, one = parse_label_cells(cells)
    assert both == {"ash": 1.0, "oak": 1.0}
    assert one == {"ash": 1.0}


def test_commas_inside_of_quotes_belong_to_labels():
    (both,) = parse_label_cells(['"Smith, J", "Doe, A"'])
    assert list(both) == ["Smith, J", "Doe, A"]


@pytest.mark.parametrize(
    "mark", ["#", ":", " > ", "<br>", " oder ", " y ", "=>", "\u2192", "\u00b7", "^"]
)
def test_any_mark_between_labels_is_noticed(mark):
    cells = [f"ash{mark}oak", "ash", "oak", f"oak{mark}ash{mark}ash"]
    with pytest.raises(ValueError, match=r"may separate labels"):
        parse_label_cells(cells)
    assert parse_label_cells(cells, sep=mark.strip())[0] == {"ash": 1.0, "oak": 1.0}
    assert list(parse_label_cells(cells, sep=None)[0]) == [f"ash{mark}oak"]


def test_marks_inside_of_names_are_left_alone():
    for cells in (
        ["a:x", "a:y", "b:x"],
        ["1.5", "1", "5"],
        ["C#", "C", "C++"],
        ["bird of prey", "bird"],
        ["St. John's", "St. Mary's"],
    ):
        assert [list(row) for row in parse_label_cells(cells)] == [[c] for c in cells]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["0", "0.0", "1"], "'0', '0.0' look the same"),
        (["01", "1"], "'01', '1' look the same"),
        (["ash", "not ash", "oak"], "'not ash' hold another label, 'ash'"),
        (["ash", "oak?", "oak"], "'oak?' hold another label, 'oak'"),
        (["ash", "oak", "and oak"], "'and oak' hold another label"),
        (["any", "ash", "oak"], "Cells 'any' were read as labels"),
        (["Unbekannt", "ash", "oak"], "Cells 'Unbekannt' were read as labels"),
        (["ash (oak", "elm)", "pine"], "text in parentheses was split"),
    ],
)
def test_labels_that_may_be_no_labels_are_named(labels, words):
    with pytest.warns(UserWarning, match=re.escape(words)):
        warn_alike_labels(labels)


def test_plain_labels_are_no_matter_of_warning(recwarn):
    warn_alike_labels(
        ["A", "A+", "A-", "C#", "-1", "1", "no", "not", "new york", "york"]
    )
    warn_alike_labels(["ash (white)", "ash", ":)", "1e3", "inf", "nan"])
    assert not recwarn.list
