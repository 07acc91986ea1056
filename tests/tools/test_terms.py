"""The count of names that differ from the table of terms."""

import pytest


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
        ("iteration, not round", "def f(n_rounds): ...", ["n_rounds"]),
        ("iteration, not round", "rounds = 3\nround_two = 2", ["rounds", "round_two"]),
        ("iteration, not round", "def round_up(x) -> Array: ...", []),
        ("iteration, not round", "def round_up(x) -> int: ...", ["round_up"]),
        ("cv, not n_folds", "f(n_folds=3)", ["n_folds"]),
        ("block, not chunk", "def chunk(): ...", ["chunk"]),
        ("American spelling in names", "COLOURS = 1", ["COLOURS"]),
        ("American spelling in names", "colors = neighbors", []),
    ],
)
def test_names_that_differ_are_found(tool, rule, source, words):
    (tool.SOURCE / "one.py").write_text(source)
    assert [word for _, _, word in tool.RULES[rule]()] == words


@pytest.mark.parametrize(("says", "count"), [("the released program", 0), ("it", 1)])
def test_a_parameter_of_a_released_program_keeps_its_name(tool, says, count):
    entry = f'"""F.\n\n    n_rounds : int\n        As in\n        {says}.\n    """'
    (tool.SOURCE / "one.py").write_text(f"def f(n_rounds):\n    {entry}\n")
    assert len(list(tool.RULES["iteration, not round"]())) == count


def test_the_count_is_printed_with_places(tool, capsys, monkeypatch):
    (tool.SOURCE / "one.py").write_text("chunk = 1\n")
    monkeypatch.setattr("sys.argv", ["terms.py", "--list"])
    tool.main()
    printed = capsys.readouterr().out
    assert "    1  block, not chunk" in printed
    assert "src/partlearn/one.py:1 chunk" in printed
