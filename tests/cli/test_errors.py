"""Every error that the command line raises is met here, and says what to do next."""

import re
from pathlib import Path

import numpy as np
import pytest

import partlearn.cli
from partlearn._sizes import SIZES
from partlearn.classification import PLKNN
from partlearn.cli._options import print_error
from partlearn.feature_selection import MaxRelevance
from partlearn.io import AmbiguousDataError, DataError, DataFormatError, DataLimitError
from partlearn.persistence import Model, save_model

FOLDER = Path(partlearn.cli.__file__).parent
PETS = ["{pets}", "--labels", "kind", "--ignore", "id", "--ignore", "truth"]
TO = ["--out", "{out}"]
NPZ = ["{numbers}", *TO]
# What the source says, how to hear it, and what the user is told to do.
CASES = [
    (
        "the file has true labels but no candidate sets to check",
        ["check", "{libsvm}"],
        "Name the candidates with --labels",
    ),
    (
        ": no file and no data set of this name; `partlearn data list` lists the "
        "data sets",
        ["data", "info", "nothing"],
        "`partlearn data list`",
    ),
    (" is for tables; ", ["disambiguate", *NPZ, "--id", "a"], "Leave it out"),
    (
        "--json and --out - would both write to standard output",
        ["disambiguate", *PETS, "--out", "-", "--json"],
        "leave out one of them, or write a file",
    ),
    (
        "; write to another file",
        ["disambiguate", *PETS, "--out", "{pets}"],
        "is the data itself; write to another file",
    ),
    (" is a folder; name a file in it", ["train", *PETS, "--save", "{runs}"], "a file"),
    (
        "--truth: column ",
        ["train", *PETS, "--truth", "kind", "--save", "{out}"],
        "name another one, or leave out --truth",
    ),
    (
        "--folds must be 0 (none), or 2 and more; got 1",
        ["train", *PETS, "--save", "{out}", "--folds", "1"],
        "0 (none), or 2 and more",
    ),
    (
        "--id: the result has a column ",
        ["disambiguate", "{named}", "--labels", "kind", "--id", "label", *TO],
        "rename yours",
    ),
    (
        "--latex - and --csv - would both write to standard output",
        ["report", "{runs}/one", "--latex", "-", "--csv", "-"],
        "leave out one of them, or write a file",
    ),
    (
        "--json and --html - would both write to standard output",
        ["report", "{runs}/one", "--json", "--html", "-"],
        "leave out one of them",
    ),
    (
        "--json and TARGET - would both write to standard output",
        ["data", "convert", "{pets}", "-", "--labels", "kind", "--json"],
        "leave out one of them",
    ),
    (
        "--json and TARGET - would both write to standard output",
        ["data", "make", "-", "--tickets", "--json"],
        "leave out one of them",
    ),
    ("--html - is not possible", ["check", *PETS, "--html", "-"], "name a file"),
    (
        "--html - is not possible",
        ["disambiguate", *PETS, "--out", "{out}", "--html", "-"],
        "name a file",
    ),
    ("--save - is not possible", ["train", *PETS, "--save", "-"], "name a file"),
    (
        "--save - is not possible",
        ["reduce", *PETS, "--out", "{out}", "--save", "-"],
        "name a file",
    ),
    (
        "- is standard input, which can be read once",
        ["disambiguate", "-", "--votes", "-", "--out", "{out}"],
        "name a file",
    ),
    (
        "--image is for the page; add --html FILE",
        ["disambiguate", *PETS, "--out", "{out}", "--image", "id"],
        "add --html FILE",
    ),
    (
        "--image is for tables, and ",
        ["disambiguate", *NPZ, "--html", "{page}", "--image", "photo"],
        "leave out --image",
    ),
    (
        "no data set of the plan was found; --data must name a folder that holds ",
        ["bench", "cenda-table7", "--out", "{out}"],
        "--data must name a folder",
    ),
    (
        " has no finished jobs of this plan, data and version of partlearn",
        ["bench", "{plan}", "--out", "{run}", "--verify"],
        "without --verify first",
    ),
    (
        " must be a number, a share like 15%, or auto; got ",
        ["reduce", *PETS, "--out", "{out}", "--n-components", "few"],
        "--n-components must be a number, a share like 15%, or auto",
    ),
    (
        "--param must look like name=value; got ",
        ["reduce", *PETS, "--out", "{out}", "--param", "tol"],
        "must look like name=value",
    ),
    (
        "--class-weight must be balanced, or a label and a number such as fraud=5; "
        "got ",
        ["train", *PETS, "--save", "{out}", "--class-weight", "cat"],
        "such as fraud=5",
    ),
    (
        " has no candidate sets; ",
        ["disambiguate", "{multilabel}", "--out", "{out}"],
        "`partlearn data convert multi.svm multi.npz --task pll`",
    ),
    (
        " rows have no candidate label, the first is row ",
        ["disambiguate", "{empty}", "--out", "{out}"],
        "Leave them out, or give them every label that is possible",
    ),
    (
        "there is only one label, ",
        ["disambiguate", "{single}", "--out", "{out}"],
        "Add rows of another label",
    ),
    (
        "missing or infinite values, the first in row ",
        ["disambiguate", "{gaps}", "--out", "{out}"],
        "Fill them in, or leave these rows or columns out",
    ),
    (
        "--load applies a model as it was saved; leave out the rest",
        ["reduce", "{pets}", "--out", "{out}", "--load", "{model}", "--save", "{page}"],
        "leave out the rest",
    ),
    (
        " was saved without the names of columns; `partlearn predict` applies models "
        "of `partlearn train`",
        ["reduce", "{pets}", "--out", "{out}", "--load", "{model}"],
        "`partlearn predict`",
    ),
    (
        ": apply it with `partlearn ",
        ["reduce", "{pets}", "--out", "{out}", "--load", "{selector}"],
        "apply it with `partlearn select`",
    ),
    (
        "several features are called ",
        ["select", "{double}", "--out", "{out}", "--n-features", "2"],
        "rename one of them",
    ),
    (
        ", and so has the result; rename it",
        ["reduce", "{taken}", "--labels", "kind", "--id", "crisp0", "--out", "{out}"],
        "rename it",
    ),
    (" holds several runs (", ["report", "{runs}"], "name one of them"),
    (
        "a table of votes needs columns of the row, the annotator and the label; ",
        ["disambiguate", "{pets}", "--votes", "{pets}", "--out", "{out}"],
        "name the three with --labels",
    ),
    (
        "--votes goes with a single table, not with blocks of rows",
        ["train", "{pets}", "{other}", "--votes", "{pets}", "--save", "{out}"],
        "leave it out, or put the rows into one file",
    ),
    (
        "; `partlearn predict` applies models of `partlearn train`, `partlearn reduce` "
        "and `partlearn select` apply others with --load",
        ["predict", "{pets}", "--load", "{model}", "--out", "{out}"],
        "apply others with --load",
    ),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What the cases name; models are fitted once."""
    folder = tmp_path_factory.mktemp("errors")
    rows = ["weight,height,id,kind,truth"]
    for i in range(24):
        kind = ("cat", "dog", "owl")[i % 3]
        rows.append(f"{i % 3 * 10 + i / 7:.3f},{i},{i}x,{kind}|dog,{kind}")
    (folder / "pets.csv").write_text("\n".join(rows) + "\n")
    (folder / "other.csv").write_text("\n".join(rows) + "\n")
    renamed = [row.replace("id,", "crisp0,") for row in rows]
    (folder / "taken.csv").write_text("\n".join(renamed) + "\n")
    renamed = [row.replace("id,", "label,") for row in rows]
    (folder / "named.csv").write_text("\n".join(renamed) + "\n")
    (folder / "a.svm").write_text("1 1:0.5\n2 1:0.7\n1 1:0.1\n")
    (folder / "multi.svm").write_text("0,1 1:0.5\n1 1:0.7\n0,2 1:0.1\n")
    X = np.random.default_rng(0).random((12, 2))
    S = np.eye(3, dtype=bool)[np.arange(12) % 3]
    names = np.array(["a", "b", "c"])
    for name, data, sets in [
        ("numbers", X, S),
        ("empty", X, S & (np.arange(12) != 4)[:, None]),
        ("gaps", np.where(X.max() == X, np.nan, X), S),
    ]:
        np.savez(folder / f"{name}.npz", X=data, S=sets, target_names=names)
    (folder / "single.svm").write_text("1 1:0.5\n1 1:0.7\n1 1:0.1\n")
    np.savez(
        folder / "double.npz", X=X, S=S, target_names=names, feature_names=["x", "x"]
    )
    save_model(PLKNN().fit(X, S), folder / "model.partlearn")
    selector = Model(MaxRelevance(1).fit(X, S), ["weight", "height"])
    save_model(selector, folder / "selector.partlearn")
    for run in ("one", "two"):
        (folder / "runs" / run).mkdir(parents=True)
        (folder / "runs" / run / "run.json").write_text("{}")
    (folder / "plan.toml").write_text(
        '[plan]\nname = "p"\nfolds = 2\n[[data]]\nsource = "sklearn:iris"\nr = 1\n'
        '[[reducers]]\nclass = "CENDA"\n[[learners]]\nclass = "PLKNN"\n'
    )
    suffixes = {"pets": "csv", "other": "csv", "taken": "csv", "named": "csv"}
    suffixes |= {"plan": "toml", "model": "partlearn", "selector": "partlearn"}
    made = ("numbers", "empty", "gaps", "double")
    paths = {name: folder / f"{name}.{suffix}" for name, suffix in suffixes.items()}
    paths |= {name: folder / f"{name}.npz" for name in made}
    return paths | {
        "libsvm": folder / "a.svm",
        "multilabel": folder / "multi.svm",
        "single": folder / "single.svm",
        "runs": folder / "runs",
    }


@pytest.mark.parametrize(("said", "argv", "remedy"), CASES, ids=[c[0] for c in CASES])
def test_what_is_wrong_and_what_to_do(said, argv, remedy, run, files, tmp_path):
    new = {"out": "out.csv", "page": "page.html", "run": "run"}
    places = files | {name: tmp_path / file for name, file in new.items()}
    code, out, err = run(*[word.format(**places) for word in argv])
    assert code in (1, 2)
    assert said.strip(" .:;") in err
    assert remedy in err
    assert err.splitlines()[-1].startswith("partlearn: ")
    assert "Traceback" not in err
    assert out == ""
    assert not (tmp_path / "out.csv").exists()


def test_without_the_extra_of_the_command_line(monkeypatch):
    import sys

    from partlearn.cli.__main__ import main

    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [n for n in sys.modules if n.startswith("partlearn.cli._")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit, match=r"pip install 'partlearn\[cli\]'"):
        main(["--help"])


@pytest.fixture
def parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0], "candidates": ["a", "b"]}), path)
    return path


def test_columns_without_a_name_for_labels(files, run, tmp_path):
    code, _, err = run("disambiguate", files["pets"], "--out", tmp_path / "o.csv")
    assert code == 2
    assert "no label column found" in err
    assert "Name it with --labels" in err


def test_without_the_extra_of_a_scheduler(parquet, run, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ("--save", tmp_path / "m", "--scheduler", "tcp://127.0.0.1:1")
    code, _, err = run("train", parquet, *words)
    assert code == 2
    assert 'Dask schedulers need distributed: pip install "partlearn[dask]"' in err


def test_a_scheduler_that_does_not_answer(parquet, run, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(SIZES, "scheduler_seconds", 1)
    words = ("--save", tmp_path / "m", "--scheduler", "tcp://127.0.0.1:1")
    code, _, err = run("train", parquet, *words)
    assert code == 2
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in err
    assert "Start one with `dask scheduler`" in err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pet.csv", "Did you mean 'pets.csv'?"),
        ("zzzzzz.csv", "Check the name and the folder."),
        ("none/pets.csv", "there is no folder"),
    ],
)
def test_files_that_are_not_there(name, told, run, files, tmp_path):
    path = files["pets"].parent / name
    code, _, err = run("disambiguate", path, "--out", tmp_path / "out.csv")
    assert code == 2
    assert told in err


@pytest.mark.parametrize(
    "kind", [DataError, DataFormatError, DataLimitError, AmbiguousDataError]
)
def test_whatever_a_reader_finds_has_a_next_step(kind, capsys):
    """Readers know the place; where they know no remedy, the command line does."""
    print_error(kind("two cells too many", path="a.csv", where="line 3"))
    err = capsys.readouterr().err
    assert "a.csv, line 3: two cells too many." in err
    assert "Mend the file there, or leave that part of it out." in err
    print_error(kind("no table", path="a.csv"))  # a place is not known
    err = capsys.readouterr().err
    assert err.endswith("no table. Check that it is the right file, and mend it.\n")
    print_error(kind("two cells too many", path="a.csv", advice="Drop them."))
    assert capsys.readouterr().err.endswith("two cells too many. Drop them.\n")


@pytest.mark.parametrize("argv", [["train", "a.csv"], ["predict"], ["zzz"], ["-zzz"]])
def test_wrong_words_name_the_help(argv, run):
    code, _, err = run(*argv)
    assert code == 2
    assert re.search("-(h|-help)' for help", err)
