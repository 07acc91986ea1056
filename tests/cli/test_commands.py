"""What all commands share: help, start-up, errors, exit codes."""

import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
from packaging.version import Version

COMMON = ["--labels", "kind", "--ignore", "id", "--truth", "truth"]


def test_help_lists_every_command(run):
    code, out, _ = run("--help")
    assert code == 0
    for name in (
        "demo",
        "bench",
        "report",
        "reduce",
        "select",
        "disambiguate",
        "check",
        "data",
    ):
        assert name in out


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "bench",
        "report",
        "reduce",
        "select",
        "disambiguate",
        "check",
        "train",
        "predict",
    ],
)
def test_every_option_has_help(run, command):
    from partlearn.cli._app import app

    code, out, _ = run(command, "--help")
    assert code == 0
    assert "--json" in out
    (info,) = [
        c for c in app.registered_commands if (c.name or c.callback.__name__) == command
    ]
    import inspect

    for parameter in inspect.signature(info.callback).parameters.values():
        assert parameter.annotation.__metadata__[0].help, parameter


@pytest.mark.parametrize("command", ["info", "convert", "fetch", "make"])
def test_every_option_of_data_has_help(command):
    import inspect

    from partlearn.cli._data import app

    (info,) = [c for c in app.registered_commands if c.callback.__name__ == command]
    for parameter in inspect.signature(info.callback).parameters.values():
        assert parameter.annotation.__metadata__[0].help, parameter


# Typer before 0.22 imports rich to print help, even where it is told not to use it.
RICH = ["rich"] if Version(version("typer")) >= Version("0.22") else []


@pytest.mark.parametrize("command", [[], ["train"], ["data", "make"]])
def test_help_imports_nothing_heavy(command):
    """Import time is kept by keeping the imports: seconds vary, modules do not."""
    code = (
        "import sys\n"
        "from partlearn.cli.__main__ import main\n"
        f"try:\n    main([*{command}, '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'matplotlib',"
        f" 'jinja2', 'distributed', 'joblib', 'pydantic', *{RICH}}}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"


def test_version(run):
    from partlearn import __version__

    assert run("--version")[1] == f"partlearn {__version__}\n"


def test_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "partlearn", "bench", "nothing"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "no plan named 'nothing'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["reduce", "{pets}", "--out", "x.txt"],
            "end in one of .csv, .tsv",
        ),
        (["reduce", "absent.csv", "--out", "{out}"], "absent.csv"),
        (["reduce", "{pets}", "--out", "{out}"], "id"),
        (
            ["reduce", "{pets}", "--out", "{out}", "--method", "cendaa"],
            "Did you mean CENDA",
        ),
        (
            ["reduce", "{pets}", "--out", "{out}", "--param", "n_neighbor=3"],
            "no parameter `n_neighbor`. Did you mean `n_neighbors`",
        ),
        (["reduce", "{pets}", "--out", "{out}", "--param", "mu"], "name=value"),
        (
            ["reduce", "{pets}", "--out", "{out}", "--n-components", "few"],
            "--n-components must be a number",
        ),
        (["reduce", "{pets}", "--out", "{out}", "--load", "absent"], "no such model"),
        (
            ["reduce", "{pets}", "--out", "{out}", "--load", "a", "--save", "b"],
            "leave out the rest",
        ),
        (
            ["disambiguate", "{pets}", "--out", "{out}", "--method", "zzz"],
            "no method named 'zzz'",
        ),
        (
            ["disambiguate", "{pets}", "--out", "{out}", "--param", "zzz=1"],
            "no parameter `zzz`",
        ),
        (["report", "{out}"], "holds no finished run"),
        (["bench", "absent.toml"], "no such plan file"),
        (
            ["bench", "cenda-table7", "--out", "{out}"],
            "no data set of the plan was found",
        ),
        (["bench", "demo", "--scheduler", "nonsense://x"], "nonsense"),
    ],
)
def test_bad_use_is_code_2_and_one_sentence(run, pets, tmp_path, arguments, message):
    filled = [
        a.format(pets=pets, out=tmp_path / "o.csv") if isinstance(a, str) else a
        for a in arguments
    ]
    code, out, err = run(*filled)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""
    assert not (tmp_path / "o.csv").exists()


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    from partlearn.cli.__main__ import main

    for name in [n for n in sys.modules if n.startswith("partlearn.cli._")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'partlearn\[cli\]'"):
        main(["--help"])


def test_a_fault_of_our_own_is_not_called_a_missing_extra(monkeypatch):
    from partlearn.cli.__main__ import main

    monkeypatch.setitem(sys.modules, "partlearn.cli._app", None)
    with pytest.raises(ImportError, match=r"partlearn\.cli\._app"):
        main(["--help"])


def test_advice_names_options_of_the_command(run, pets, tmp_path):
    none = tmp_path / "none.csv"
    none.write_text("a,b\n1,2\n2,1\n")
    _, _, err = run("data", "info", none)
    assert "Name it with --labels (candidate sets) or --truth" in err
    both = tmp_path / "both.csv"
    both.write_text("a,label\n1,x|y\n2,y\n")
    _, _, err = run("data", "info", both)
    assert "Pass --task (pll, pml or multilabel)" in err
    square = tmp_path / "square.npz"
    np.savez(square, X=np.ones((3, 2)), S=np.tri(3))
    _, _, err = run("check", square)
    assert "of partlearn.io.read in Python" in err


def test_damaged_data_have_the_same_code_everywhere(run, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,candidates\n")
    out = tmp_path / "o.csv"
    assert run("check", bad)[0] == run("reduce", bad, "--out", out)[0] == 1


def test_data_are_never_replaced_by_what_was_made_of_them(run, pets, tmp_path):
    before = pets.read_text()
    link = tmp_path / "link.csv"
    link.symlink_to(pets)
    for command in ("reduce", "select", "disambiguate"):
        code, _, err = run(command, pets, *COMMON, "--out", link)
        assert code == 2
        assert "is the data itself" in err
    code, _, _ = run("data", "convert", pets, pets, *COMMON)
    assert code == 2
    page, votes = tmp_path / "page.html", tmp_path / "votes.csv"
    votes.write_text("row,annotator,label\n0,ann,cat\n1,ann,dog\n")
    out = ("--out", tmp_path / "out.csv")
    for words, wrong in (
        (("reduce", pets, *COMMON, *out, "--save", link), "the data itself"),
        (("reduce", pets, *COMMON, *out, "--save", out[1]), "another result"),
        (("check", pets, *COMMON, "--html", link), "the data itself"),
        (("disambiguate", pets, "--votes", votes, "--out", votes), "the data itself"),
        (
            (
                "disambiguate",
                pets,
                *COMMON,
                *out,
                "--html",
                page,
                "--corrections",
                page,
            ),
            "the data itself",
        ),
    ):
        code, text, err = run(*words)
        assert (code, text) == (2, "")
        assert f"is {wrong}; write to another file" in err
    assert votes.read_text().startswith("row,annotator")
    assert pets.read_text() == before


@pytest.mark.parametrize(
    ("text", "value"),
    [(None, None), ("auto", "auto"), ("12", 12), ("0.99", 0.99), ("15%", 0.15)],
)
def test_amounts(text, value):
    from partlearn.cli._input import parse_amount

    assert parse_amount(text, "--n") == value
