"""The count of names that differ from the table of terms."""

import pytest

ITERATION = "One pass of an iterative method"
BLOCK = "Rows read or computed at once"


@pytest.fixture
def tool(load_tool, tmp_path, monkeypatch):
    tool = load_tool("terms")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "SOURCE", tmp_path / "src" / "partlearn")
    tool.SOURCE.mkdir(parents=True)
    return tool


@pytest.mark.parametrize(
    ("rule", "source", "words"),
    [
        (ITERATION, "def f(n_rounds): ...", ["n_rounds"]),
        (ITERATION, "rounds = 3\nround_two = 2", ["rounds", "round_two"]),
        (ITERATION, "def round_up(x) -> Array: ...", []),
        (ITERATION, "def round_up(x) -> int: ...", ["round_up"]),
        ("Number of folds of a cross-validation", "f(n_folds=3)", ["n_folds"]),
        (BLOCK, "def chunk(): ...", ["chunk"]),
        ("Spelling", "COLOURS = 1", ["COLOURS", "COLOURS = 1"]),
        ("Spelling", "# a recognised form", ["# a recognised form"]),
        ("Spelling", "colors = neighbors", []),
    ],
)
def test_names_that_differ_are_found(tool, rule, source, words):
    (tool.SOURCE / "one.py").write_text(source)
    assert [word for _, _, word in tool.RULES[rule]()] == words


@pytest.mark.parametrize(("says", "count"), [("the released program", 0), ("it", 1)])
def test_a_parameter_of_a_released_program_keeps_its_name(tool, says, count):
    entry = f'"""F.\n\n    n_rounds : int\n        As in\n        {says}.\n    """'
    (tool.SOURCE / "one.py").write_text(f"def f(n_rounds):\n    {entry}\n")
    assert len(list(tool.RULES[ITERATION]())) == count


def test_the_count_is_printed_with_places(tool, capsys, monkeypatch):
    (tool.SOURCE / "one.py").write_text("chunk = 1\n")
    page = tool.ROOT / "docs" / "developers" / "terms.rst"
    page.parent.mkdir(parents=True)
    page.write_text(f"   * - Idea\n     - Term\n   * - {BLOCK}\n     - block\n")
    monkeypatch.setattr("sys.argv", ["terms.py", "--list"])
    tool.main()
    printed = capsys.readouterr().out
    assert f"    1  {BLOCK}" in printed
    assert "src/partlearn/one.py:1 chunk" in printed


def test_no_place_differs_from_any_row(load_tool):
    tool = load_tool("terms")
    assert tool.table() == list(tool.RULES)
    places = {row: list(find()) for row, find in tool.RULES.items()}
    assert {row: found for row, found in places.items() if found} == {}
