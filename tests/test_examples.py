"""Examples that promise something check it themselves; here they run."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_a_messy_table_goes_through(capsys):
    """Two processes, a model loaded in Python, new columns and a missing one."""
    runpy.run_path(str(EXAMPLES / "messy_table.py"))
    text = capsys.readouterr().out
    assert "60 rows labeled, 1 unlike the training rows" in text
    assert "the table lacks columns that the model was fitted on: 'product'" in text
