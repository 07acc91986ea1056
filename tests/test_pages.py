"""Text of others on pages: shown, not obeyed."""

import numpy as np
import pytest

from partlearn._pages import POLICY, visible
from partlearn.check import check


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äß 猫 \U0001f408", "plain äß 猫 \U0001f408"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\u2066b\u2069", "a[U+2066]b[U+2069]"),
        ("a\x00\x1b[31m", "a[U+0000][U+001B][31m"),
        ("a\nb\tc", "a b c"),
        ("\ud800", "[U+D800]"),
        (3, "3"),
    ],
)
def test_controls_are_shown(text, shown):
    assert visible(text) == shown


def test_lines_may_stay():
    assert visible("a\nb\tc\u202e", lines=True) == "a\nb\tc[U+202E]"


def test_the_page_of_a_check():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(20), np.ones(20)])
    S = np.eye(2, dtype=bool)[np.arange(20) % 2]
    names = ["a", "<script>alert(1)</script>\u202efdp"]
    page = check(X, S, feature_names=names).to_html()
    assert f'content="{POLICY}"' in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "[U+202E]fdp" in page
