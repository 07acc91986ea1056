"""What the developers' pages say can be done is done here, as they say."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_estimator

import partlearn
from partlearn.candidates import make_candidates
from partlearn.cli.__main__ import main
from partlearn.utils import check_partial_label_estimator

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "developers"
HOUSE = (PAGES / "house.rst").read_text(encoding="utf-8")
# Files of the page, the packages where they would live, and their classes.
EXAMPLES = {
    "candidate_covariance": ("decomposition", "CandidateCovariance"),
    "candidate_relevance": ("multilabel/feature_selection", "CandidateRelevance"),
    "nearest_mean": ("classification", "NearestMean"),
}
# Tests of the list of methods as a whole; the common tests take minutes for each.
ALL_METHODS = [
    "tests/test_gallery.py::test_every_method_has_a_picture",
    "tests/test_readme.py::test_every_estimator_is_named",
    "tests/test_readme.py::test_every_estimator_has_its_origin",
    "tests/test_registry.py",
    "tests/tools/test_equations.py",
]


@pytest.fixture
def load(monkeypatch):
    """Import a file of the page as one beside the user's own."""
    monkeypatch.syspath_prepend(PAGES)
    return lambda file: getattr(importlib.import_module(file), EXAMPLES[file][1])


# scikit-learn skips checks of packages that are not installed.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("file", EXAMPLES)
def test_examples_pass_all_checks(load, file):
    results = check_estimator(load(file)())
    assert {check["status"] for check in results} <= {"passed", "skipped"}
    assert len(check_partial_label_estimator(load(file)())) > 10


def test_the_reducer_disambiguates_digits(load):
    cls = load("candidate_covariance")
    X, y = load_digits(n_class=5, return_X_y=True)
    S = make_candidates(y, n_false=2, random_state=0)
    reducer = cls().fit(X[:200], S[:200])
    assert reducer.n_components_ == 4
    assert (reducer.label_confidence_.argmax(axis=1) == y[:200]).mean() > 0.95
    assert cls("auto").fit(X[:200], S[:200]).transform(X[200:]).shape[1] <= 4


def test_a_method_needs_its_file_and_a_line_in_its_package(tmp_path, pytestconfig):
    """The checklist, followed literally in a copy of the library."""
    source = tmp_path / "src" / "partlearn"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(partlearn.__file__).parent, source, ignore=ignore)
    for file, (package, name) in EXAMPLES.items():
        folder = source / package
        shutil.copy(PAGES / f"{file}.py", folder / f"_{file}.py")
        dotted = f"partlearn.{package.replace('/', '.')}._{file}"
        with open(folder / "__init__.py", "a", encoding="utf-8") as init:
            init.write(f"\nfrom {dotted} import {name}\n__all__ += [{name!r}]\n")
    code = (
        "from partlearn._registry import methods\n"
        "from partlearn.cli.__main__ import main\n"
        "known = methods()\n"
        "print(*(known[name].role for name in "
        f"{[name for _, name in EXAMPLES.values()]!r}), sep=', ', flush=True)\n"
        "for verb, method in [('reduce', 'candidate-covariance'),"
        " ('disambiguate', 'nearest-mean')]:\n"
        "    try:\n"
        "        main([verb, 'data.csv', '--labels', 'labels', '--out', 'out.csv',"
        " '--method', method])\n"
        "    except SystemExit as end:\n"
        "        assert not end.code\n"
    )
    rows = [f"{i},{i % 3},{'x|y' if i % 4 else 'x'}" for i in range(12)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,labels", *rows]))
    done = run_with(source, "-W", "ignore", "-c", code, cwd=tmp_path)
    assert done.stdout.startswith("reducer, multilabel selector, learner\n"), done
    assert "CandidateCovariance: 12 rows" in done.stdout, done
    assert "NearestMean" in done.stdout, done
    assert not done.returncode, done
    # Tests that look at all methods ask for no other file.
    ignored = [f"-W{rule}" for rule in pytestconfig.getoption("pythonwarnings") or []]
    asked = ["pytest", "-q", "-p", "no:cacheprovider", *ignored, *ALL_METHODS]
    done = run_with(source, "-m", *asked)
    assert not done.returncode, done.stdout


def run_with(source, *arguments, cwd=ROOT):
    """Run Python with another copy of the library."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(source.parent)},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def hops(title):
    """Functions named by the numbered list of a walk."""
    section = re.split(r"\n[-~]{4,}\n", HOUSE.partition(f"\n{title}\n~~~~")[2])[0]
    return re.findall(r"^\d\. ``([\w.]+:[\w.]+)``", section, re.MULTILINE)


def calls(arguments):
    """Functions of ours that a command calls, in the order of the first calls."""
    called = {}

    def record(frame, event, _):
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            called.setdefault(f"{module}:{frame.f_code.co_qualname}")

    sys.setprofile(record)
    try:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
    finally:
        sys.setprofile(None)
    assert not end.value.code
    return list(called)


def test_walk_of_disambiguate(tmp_path):
    rows = [f"{i},{i * 7 % 5},{'x|y' if i % 3 else 'xy'[i // 10]}" for i in range(20)]
    table = tmp_path / "data.csv"
    table.write_text("\n".join(["a,b,labels", *rows]))
    out = tmp_path / "out.csv"
    check_walk(
        hops("``disambiguate``"),
        calls(["disambiguate", table, "--labels", "labels", "--out", out]),
    )


def test_walk_of_bench(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[plan]\nname = "p"\nfolds = 2\n[[data]]\nsource = "sklearn:iris"\nr = 1\n'
        '[[reducers]]\nclass = "CENDA"\n[[learners]]\nclass = "PLKNN"\n'
    )
    check_walk(hops("``bench``"), calls(["bench", plan, "--out", tmp_path / "run"]))


def check_walk(listed, called):
    assert 3 < len(listed) <= 7
    assert [hop for hop in called if hop in listed] == listed


def test_the_drawing_shows_every_layer():
    """Layer by layer, as `tests/test_layers.py` enforces them."""
    namespace = {}
    text = (ROOT / "tests" / "test_layers.py").read_text(encoding="utf-8")
    block = re.search(r"^LAYERS = \[.*?^\]", text, re.MULTILINE | re.DOTALL)
    exec(block[0], namespace)
    drawn = re.findall(r"^   \| (.*?) +\|", HOUSE, re.MULTILINE)
    names = [set(re.findall(r"[\w.]+", line.partition(":")[0])) for line in drawn]
    assert names == namespace["LAYERS"]


def test_before_the_first_release_all_changes_are_additions():
    """Nobody had the faults that were mended before."""
    released = "\n## " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    kinds = {p.name.split(".")[1] for p in (ROOT / "changes").glob("*.*.md")}
    assert kinds == {"added"} or released
