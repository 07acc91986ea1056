"""Numbers near the limits of float64 in any column: results, or a clear sentence."""

import random
import warnings

import pytest

LARGEST = "1.7976931348623157e308"
CELLS = {
    "mixed": ["1e308", "-1e308", "1e-308", "3"],
    "largest": [LARGEST, f"-{LARGEST}"],
    "tiny": ["1e-308", "5e-324", "3e-308"],
}
COMMANDS = [
    ["check", "{}"],
    ["disambiguate", "{}", "--out", "{out}"],
    ["disambiguate", "{}", "--out", "{out}", "--method", "cenda"],
    ["ask", "{}", "--out", "{out}"],
    ["train", "{}", "--save", "{model}", "--folds", "2"],
    ["reduce", "{}", "--out", "{out}"],
    ["select", "{}", "--out", "{out}"],
    ["select", "{}", "--out", "{out}", "--method", "maxjointentropy"],
    ["data", "info", "{}"],
]


def write(path, cells, seed=0):
    draw = random.Random(seed)
    rows = ["x,b,c,when,kind"]
    for i in range(45):
        first, second = draw.randrange(3), draw.randrange(3)
        kind = "|".join(sorted({["red", "green", "blue"][k] for k in (first, second)}))
        b, c = draw.choice(cells), draw.choice(cells)
        x = first + draw.gauss(0, 0.5)
        rows.append(f"{x:.3f},{b},{c},2024-01-{1 + i % 28:02d},{kind}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def quiet(run):
    def call(*argv):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = run(*argv, "--labels", "kind")
        assert not [w for w in caught if issubclass(w.category, RuntimeWarning)]
        assert "encountered in" not in result.stderr
        return result

    return call


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_tables(argv, cells, quiet, tmp_path):
    data = write(tmp_path / "data.csv", CELLS[cells])
    places = {"out": tmp_path / "out.csv", "model": tmp_path / "model"}
    assert quiet(*[word.format(data, **places) for word in argv]).exit_code == 0


@pytest.mark.parametrize("cells", CELLS)
def test_new_rows_are_marked(cells, run, tmp_path, table):
    model, out = tmp_path / "model", tmp_path / "out.csv"
    usual = write(tmp_path / "usual.csv", ["1", "2.5", "3"])
    new = write(tmp_path / "new.csv", CELLS[cells])
    words = ("--labels", "kind", "--method", "pl-knn", "--folds", "0")
    assert run("train", usual, *words, "--save", model).exit_code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run("predict", new, "--load", model, "--out", out)
    assert result.exit_code == 0, result.stderr
    marked = ["unusual" in row["unlike"] for row in table(out)]
    assert any(marked) == (cells != "tiny")


@pytest.mark.parametrize("cells", ["mixed", "largest"])
def test_matrices_are_refused_in_a_sentence(cells, run, quiet, tmp_path):
    """They are given as they are to methods, which add their numbers up."""
    data = write(tmp_path / "data.csv", CELLS[cells])
    archive, out = tmp_path / "data.npz", tmp_path / "out.csv"
    assert quiet("data", "convert", data, archive, "--ignore", "when").exit_code == 0
    for command in ("disambiguate", "reduce"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code, _, err = run(command, archive, "--out", out)
        assert code == 2
        assert "Rescale the features" in err
    usual, model = write(tmp_path / "usual.csv", ["1", "2.5", "3"]), tmp_path / "model"
    words = ("reduce", usual, "--ignore", "when", "--out", out, "--save", model)
    assert quiet(*words).exit_code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, _, err = run("reduce", data, "--load", model, "--out", out)
    assert code == 1
    assert "sums of such values overflow float64" in err
