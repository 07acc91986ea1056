"""HTML, Markdown, LaTeX and JSON: escaped, complete, self-contained, accessible."""

import io
import itertools
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest

from partlearn._pages import visible
from partlearn.report import (
    print_report,
    to_csv,
    to_html,
    to_json,
    to_latex,
    to_markdown,
)
from partlearn.report._blocks import Cell, Section, Table, Text
from partlearn.report._figures import plane
from partlearn.report._format import pvalue, score, signed
from partlearn.report._render import _template, in_markdown, named_tables
from partlearn.report._svg import COLORS, panels_svg

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Collects what the checks below ask for, and that tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def parsed(page):
    return Page(page)


def test_tags_are_balanced(parsed):
    assert parsed.open == []


def test_no_script_runs_and_markup_is_shown(parsed, page):
    assert parsed.named("script") == []
    assert parsed.named("b") == parsed.named("em") == parsed.named("i") == []
    text = "".join(parsed.text)
    assert '<script>alert("x")</script>' in text
    assert "second <set>" in text
    assert "learner <x>" in text
    assert "absent <set>" in text


def test_nothing_is_fetched(parsed, page):
    for _, attrs in parsed.tags:
        for name in ("src", "href", "xlink:href"):
            target = attrs.get(name) or "#"
            assert target.startswith(("#", "data:")), target
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_headings_descend_one_at_a_time(parsed):
    levels = [int(t[1]) for t, _ in parsed.tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_tables_have_captions_and_scopes(parsed):
    assert len(parsed.named("caption")) == len(parsed.named("table"))
    assert all(a.get("scope") in {"row", "col"} for a in parsed.named("th"))


def test_pictures_have_names_and_ids_are_unique(parsed):
    pictures = parsed.named("svg")
    assert pictures
    assert all(a.get("role") == "img" and a["aria-label"] for a in pictures)
    assert all(len(a["aria-label"]) > 40 for a in parsed.named("figure"))
    ids = [a["id"] for _, a in parsed.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_links_lead_somewhere(parsed):
    ids = {a["id"] for _, a in parsed.tags if "id" in a}
    anchors = [a["href"] for a in parsed.named("a")]
    assert all(href[1:] in ids for href in anchors)


def test_language_and_scrolling_regions(parsed):
    assert parsed.named("html")[0]["lang"] == "en"
    regions = [a for _, a in parsed.tags if a.get("role") == "region"]
    assert regions
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in regions)


def _luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _schemes(page):
    """Colours of the light and of the dark page by name."""
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", part))
        for part in re.findall(r":root \{(.*?)\}", page, flags=re.DOTALL)
    )
    assert light.keys() == dark.keys()
    return light, dark


def test_text_colours_have_contrast(page):
    for colours in _schemes(page):
        for ink in ("ink", "soft", "link"):
            for ground in ("ground", "band", "alarm"):
                assert _contrast(colours[ink], colours[ground]) >= 4.5
        for tone in ("up1", "up2", "up3", "down1", "down2", "down3"):
            assert _contrast(colours["ink"], colours[tone]) >= 4.5


def test_colours_of_figures_show_on_both_grounds(page):
    for colours in _schemes(page):
        for colour in COLORS:
            assert _contrast(colour.lower(), colours["ground"]) >= 3


def test_figures_take_the_colour_of_text_from_the_page(page):
    assert "currentColor" in page
    assert "#010203" not in page
    assert "#000000" not in page


def test_same_summary_same_page(summary):
    small = replace(summary, views=summary.views[:1], comparisons=())
    assert to_html(small) == to_html(small)


def test_a_data_set_counts_once_whatever_its_r(summary):
    again = [{**data, "r": [9]} for data in summary.data]
    page = to_html(replace(summary, data=[*summary.data, *again]))
    assert re.search(r"failed, 2 data sets, ", page)


def test_the_page_allows_nothing_but_its_own_style(parsed):
    (policy,) = [
        a["content"]
        for a in parsed.named("meta")
        if a.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == "'unsafe-inline'"
    assert rules["img-src"] == "data:"
    assert not {"script-src", "connect-src", "frame-src"} & rules.keys()


def test_nothing_can_turn_a_line_around_or_drive_a_terminal(summary, capsys):
    evil = "abc\u202edef\u2066 \x1b[31m red \x07"
    named = replace(summary, title=evil, notes=[evil])
    for render in (to_html, to_markdown, to_latex):
        text = render(named)
        assert not set("\u202e\u2066\x1b\x07") & set(text)
        if render is not to_latex:
            assert "U+202E" in text.replace("\\", "")
    assert visible("a\nb\tc") == "a b c"
    assert visible("a\nb", lines=True) == "a\nb"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<img src=x onerror=alert(1)>", "\\<img src=x onerror=alert(1)\\>"),
        ("[x](javascript:alert(1))", "\\[x\\](javascript&#58;alert(1))"),
        ("JavaScript : alert(1)", "JavaScript&#58; alert(1)"),
        ("![x](data:text/html,x)", "\\!\\[x\\](data&#58;text/html,x)"),
        ("a | b", "a \\| b"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("- no list", "\\- no list"),
        ("1. no list", "1\\. no list"),
        ("-0.011", "-0.011"),
        ("0.5", "0.5"),
        ("---", "\\---"),
    ],
)
def test_in_markdowns(text, wanted):
    assert in_markdown(text) == wanted


def test_markdown_keeps_tables_whole(summary):
    text = to_markdown(summary)
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        rows = [re.split(r"(?<!\\)\|", line) for line in block.splitlines()]
        assert len({len(row) for row in rows}) == 1
    assert "<" not in re.sub(r"\\<", "", text)
    assert "## Published and measured scores" in text
    assert "## Failures and warnings" in text
    assert "absent" in text


def test_latex_escapes(summary):
    text = to_latex(summary)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 2
    assert r"Title with \textless{}b\textgreater{}markup" in text
    assert r"$\pm$" in text
    assert r"\textbf{" in text
    for table in text.split(r"\begin{table}")[1:]:
        columns = len(re.search(r"\\begin{tabular}{([lr]+)}", table)[1])
        for line in table.splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == columns - 1


def test_captions_say_what_the_marks_of_the_format_mean(summary, page):
    """A star where a star is printed, bold where bold is."""
    assert "inductive protocol; ★: best of its row" in page
    for text in (to_latex(summary), to_markdown(summary)):
        assert "inductive protocol; bold: best of its row" in text
        assert "a star" not in text
        assert "★" not in text


def test_one_table_with_its_label(summary):
    text = to_latex(summary, table="results-2")
    assert text.count(r"\begin{table}") == 1
    assert r"\label{tab:evil-results-2}" in text
    assert "transductive protocol" in text
    names = list(named_tables(summary))
    assert names[:2] == ["comparison", "comparison-2"]
    every = to_latex(summary)
    labels = re.findall(r"\\label{tab:evil-(\S+)}", every)
    assert set(labels) <= set(names)
    assert len(labels) == len(set(labels)) == every.count(r"\begin{table}")
    with pytest.raises(ValueError, match=r"no table 'x'\. This run has: comparison"):
        to_latex(summary, table="x")


def test_csv_has_the_cells_or_one_table(summary):
    cells = pd.read_csv(io.StringIO(to_csv(summary)))
    assert len(cells) == len(summary.cells)
    assert cells["mean"].notna().sum() == summary.cells["mean"].notna().sum()
    table = pd.read_csv(io.StringIO(to_csv(summary, table="published")))
    assert list(table.columns[:3]) == ["data", "learner", "method"]
    assert table["published"].str.contains("0.810 ± 0").any()


def test_json_is_valid_and_finite(summary):
    wrong = {"wall_time": float("inf"), "versions": {"x": float("nan")}}
    facts = {**summary.facts, **wrong}
    found = json.loads(to_json(replace(summary, facts=facts)))
    assert found["facts"]["wall_time"] is None
    assert found["facts"]["versions"] == {"x": None}
    assert found["title"] == summary.title


def test_numbers():
    assert score(None) == signed(None) == "\N{EN DASH}"
    assert score(0.5) == "0.500"
    assert score(0.5, 0.25) == "0.500 ± 0.250"
    assert signed(-0.0104) == "-0.010"
    assert pvalue(1e-9) == "< 0.0001"


def test_html_without_the_extra_names_it(summary, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)  # as if it were not installed
    _template.cache_clear()
    with pytest.raises(ImportError, match=r"partlearn\[report\]"):
        to_html(summary)


def test_labels_of_any_script_and_length_leave_room_for_the_picture():
    labels = ["犬" * 200, "x" * 300, "_hidden"]
    about = {"confidence": 1.0, "correct": True}
    points = pd.DataFrame({"x": [0, 1, 2], "y": [0, 1, 0], "label": labels, **about})
    pictures = "".join(panels_svg(plane(points, "d", 0)))  # warnings are errors
    for shown in ("犬" * 23 + "…", "x" * 23 + "…", "_hidden"):
        assert shown in pictures


def test_a_dict_is_no_summary(summary):
    with pytest.raises(TypeError, match=r"partlearn\.report\.summarize; got dict"):
        to_html({"title": summary.title})


def test_a_terminal_cuts_no_number(capsys, monkeypatch):
    from rich.console import Console

    rows = [[f"m{i}", *(Cell(f"+0.{i}{j:02}\n1/0/1") for j in range(30))]
            for i in range(3)]  # fmt: skip
    table = Table.of("wide", ["method", *(f"c{j}" for j in range(30))], rows)
    folded = Section("more", [Text("hidden")])
    section = Section("Title", [table, folded], "k", brief=True)
    sections = [section, Section("long", [Text("not brief")], "x")]
    monkeypatch.setattr("partlearn.report._render.document", lambda shown: shown)
    print_report(sections, Console(width=60, highlight=False))
    text = capsys.readouterr().out
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 60
    assert all(row[1 + j].split("\n")[0] in text for row in rows for j in range(30))
    # Names are repeated in every part.
    assert text.count(" m1 ") > 1
    assert "hidden" not in text
    assert "not brief" not in text
    narrow = Table.of("too wide", ["method", "x" * 80], [["a", "y" * 80]])
    sections = [Section("Title", [narrow], "k", brief=True)]
    print_report(sections, Console(width=40, highlight=False))
    assert "yyy" in capsys.readouterr().out
