"""The README's commands work as printed."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.estimators import documented

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
LINES = [
    line.split("#")[0].strip() for block in BLOCKS for line in block.strip().split("\n")
]


def test_make_targets_exist():
    targets = [shlex.split(line)[1] for line in LINES if line.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        subprocess.run(
            ["make", "-n", target], cwd=ROOT, check=True, capture_output=True
        )


def test_commands_run(tmp_path):
    """In their order: some read what others write."""
    for line in LINES:
        words = shlex.split(line)
        if words[0] != "partlearn":
            continue
        done = subprocess.run(
            [sys.executable, "-m", "partlearn", *words[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if "--out" in words:
            out = tmp_path / words[words.index("--out") + 1]
            assert len(out.read_text(encoding="utf-8").splitlines()) == 91, line


def test_every_estimator_is_named():
    named = set(re.findall(r"`(\w+)`", README))
    assert documented() <= named


def test_every_estimator_has_its_origin():
    page = (ROOT / "docs" / "user_guide" / "whats_inside.rst").read_text("utf-8")
    named = set(re.findall(r"``(\w+)``", page))
    assert documented() <= named


def test_old_python_is_refused_with_a_sentence(tmp_path):
    """`make` says what is wrong when only an old Python is there."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    old = tmp_path / "old python"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "test", f"PYTHON={old}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert not (tmp_path / ".venv").exists()
