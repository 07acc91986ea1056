"""What the measures of the house count."""

import pytest


@pytest.fixture(scope="module")
def house(load_tool):
    return load_tool("house")


@pytest.fixture
def build(house, tmp_path):
    """Write a small library and read it."""

    def build(**files):
        for name, text in files.items():
            path = tmp_path / "src" / "partlearn" / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return house.read_modules(tmp_path)

    return build


def test_lines_of_code(house, build):
    text = (
        '"""Module.\n\nText.\n"""\n\n# comment\nx = """\nvalue"""\ndef f():\n    "D"\n'
    )
    assert house.count_lines(build(a=text + "    return x\n")) == 4


def test_lines_by_package(house, build):
    modules = build(a="x = 1\n", b__c="y = 1\nz = 2\n", b__d__e="w = 3\n")
    assert house.lines_by_package(modules) == {"partlearn": 1, "b": 3}


def test_private_names_elsewhere_are_told_apart(house):
    private = house.is_private_elsewhere
    assert private("partlearn.io._options.Limits", "partlearn.datasets")
    assert private("partlearn.io.Limits._largest", "partlearn.datasets")
    assert private("partlearn.a.b._c", "partlearn.a")
    assert not private("partlearn.a._c", "partlearn.a.b")
    assert not private("partlearn.io._options.Limits", "partlearn.io")
    assert not private("partlearn._sklearn_compat.Interval", "partlearn.io")
    assert not private("partlearn.io.__doc__", "partlearn.datasets")


def test_private_imports_are_found_inside_functions(house, build):
    modules = build(
        a__inner="import partlearn.b\ndef f():\n    from partlearn.b._c import x, y\n",
        b__c="from partlearn.b._d import z\n",
        b___d="from partlearn.a import inner\ninner._hidden\nz = 1\n",
    )
    assert house.private_imports(modules) == [
        "a/inner.py:3 uses partlearn.b._c.x",
        "b/_d.py:2 uses partlearn.a.inner._hidden",
    ]


def test_private_names_of_sklearn(house, build):
    modules = build(
        a="import sklearn\n"
        "import sklearn.utils as u\n"
        "from sklearn.utils import _x as x, validation\n"
        "def f():\n"
        "    from sklearn.utils._param_validation import Interval\n"
        "    return validation._num_samples, u._y, sklearn._config\n"
        "sklearn.__version__\n",
        _sklearn_compat="from sklearn.utils import _safe_indexing\n",
    )
    assert {use.split()[-1] for use in house.private_sklearn(modules)} == {
        "sklearn.utils._x",
        "sklearn.utils._param_validation.Interval",
        "sklearn.utils.validation._num_samples",
        "sklearn.utils._y",
        "sklearn._config",
    }


def test_cycles(house, build):
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert house.cycles(edges) == [["a", "b", "c"]]
    modules = build(
        a="from partlearn.b import x\n",
        b="def f():\n    import partlearn.a\n",
        c="from partlearn import a\n",
    )
    assert house.cycles(house.graph(modules)) == [["partlearn.a", "partlearn.b"]]


REPEATED = """
def {name}({x}, {y}):
    total = {number}
    for {x}_i in {x}:
        if {x}_i > {number}:
            total += {y}({x}_i)
            print(total)
    return sorted({x})
"""


def test_repeated_code(house, build):
    """Names and numbers may differ; what is called may not."""
    one = REPEATED.format(name="f", x="a", y="b", number=1)
    two = REPEATED.format(name="g", x="rows", y="b", number=2)
    other = two.replace("sorted", "reversed").replace("print", "repr")
    modules = build(one=one, two=two, other=other)
    assert house.repeated(modules) == ["6 lines in one.py:3-8, two.py:3-8"]


def test_what_the_style_asks_for_is_not_repeated_code(house, build):
    names = "abcdefgh"
    text = "class A:\n    def __init__(self):\n"
    text += "".join(f"        self.{n} = {n}\n" for n in names)
    assert not house.repeated(build(one=text, two=text))


def test_measures_are_printed(house, build, tmp_path, monkeypatch, capsys):
    build(a="from partlearn.b import x\n", b="import partlearn.a\n")
    monkeypatch.setattr("sys.argv", ["house.py", str(tmp_path), "--list"])
    house.main()
    printed = capsys.readouterr().out
    assert "lines of code" in printed.splitlines()[0]
    assert "partlearn.a <-> partlearn.b" in printed
