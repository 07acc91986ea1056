"""The draw of docstrings, messages and pages to read."""


def test_a_seed_draws_the_same_items(load_tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["prose.py", "--seed", "3"])
    tool = load_tool("prose")
    tool.main()
    first = capsys.readouterr().out
    tool.main()
    assert capsys.readouterr().out == first
    drawn = [line for line in first.splitlines() if not line.startswith("    ")]
    assert len(drawn) == 45
    assert sum(line.startswith("docs/user_guide/") for line in drawn) == 5
    assert sum(line.startswith("src/partlearn/") for line in drawn) == 20


def test_messages_are_those_of_errors_and_warnings(load_tool):
    tool = load_tool("prose")
    texts = tool.messages()
    assert any("must have shape" in text for text in texts.values())
    assert "'nearest neighbors'" not in texts.values()  # the name of a loop


def test_docstrings_come_without_examples(load_tool):
    texts = load_tool("prose").docstrings()
    assert "partlearn.disambiguate" in texts
    assert not any(">>>" in text for text in texts.values())
