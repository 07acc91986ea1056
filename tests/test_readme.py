"""The README's commands work as printed."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from partlearn.candidates import make_candidates
from partlearn.utils import all_estimators

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the CSV file that the README speaks of."""
    folder = tmp_path_factory.mktemp("read me")
    rng = np.random.default_rng(0)
    names = np.array(["cat", "dog", "eel"])
    truth = rng.integers(3, size=90)
    X = rng.normal(size=(90, 4)) + 4 * np.eye(3, 4)[truth]
    candidates = make_candidates(truth, 1, random_state=0)
    rows = ["a,b,c,d,candidates"]
    rows += [
        ",".join(f"{v:.4f}" for v in x) + "," + "|".join(names[s])
        for x, s in zip(X, candidates, strict=True)
    ]
    (folder / "animals.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("line", [li for li in LINES if li.startswith("partlearn ")])
def test_commands_run(line, folder):
    words = shlex.split(line)
    done = subprocess.run(
        [sys.executable, "-m", "partlearn", *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if "--out" in words:
        out = folder / words[words.index("--out") + 1]
        assert len(out.read_text(encoding="utf-8").splitlines()) == 91


def test_every_estimator_is_named():
    named = set(re.findall(r"`(\w+)`", README))
    assert {name for name, _ in all_estimators()} <= named


def test_every_estimator_has_its_origin():
    page = (ROOT / "docs" / "user_guide" / "whats_inside.rst").read_text("utf-8")
    named = set(re.findall(r"``(\w+)``", page))
    assert {name for name, _ in all_estimators()} <= named


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
