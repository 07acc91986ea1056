"""What is written reads back exactly; nothing is ever half-written."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.utils import Bunch

from partlearn.datasets import load_iris_partial
from partlearn.io import DataFormatError, read, write

FORMATS = ["npz", "parquet", "arrow", "mat", "csv", "tsv"]
DTYPES = [
    np.float64,
    np.float32,
    np.float16,
    np.uint8,
    np.int8,
    np.int16,
    np.int64,
    bool,
]
NAME = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\x00"),
    min_size=1,
    max_size=6,
)


@st.composite
def bunches(draw, dtypes=DTYPES):
    m = draw(st.integers(1, 8))
    d = draw(st.integers(1, 5))
    q = draw(st.integers(2, 5))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    elements = {}
    if dtype.kind == "f":
        elements = {"allow_subnormal": False, "allow_nan": True}
    elif dtype.itemsize == 8:  # larger ones are tested apart: not all formats have them
        elements = {"min_value": -(2**53), "max_value": 2**53}
    X = draw(hnp.arrays(dtype, (m, d), elements=hnp.from_dtype(dtype, **elements)))
    if dtype != np.float16 and draw(st.booleans()):  # scipy has no sparse float16
        X = sp.csr_array(X)
    task = draw(st.sampled_from(["pll", "pml", "multiclass", "multilabel"]))
    S = draw(hnp.arrays(bool, (m, q)))
    if task in ("pll", "multiclass"):
        truth = draw(hnp.arrays(np.int64, m, elements=st.integers(0, q - 1)))
    else:
        truth = draw(hnp.arrays(bool, (m, q)))
    if task in ("pll", "pml") and draw(st.booleans()):
        truth = None
    features = draw(
        st.none()
        | st.lists(NAME.map("f{}".format), min_size=d, max_size=d, unique=True)
    )
    return Bunch(
        data=X,
        candidates=S if task in ("pll", "pml") else None,
        truth=truth,
        feature_names=features,
        target_names=draw(st.lists(NAME, min_size=q, max_size=q, unique=True)),
        task=task,
    )


def same(a, b):
    dense = [x.toarray() if sp.issparse(x) else x for x in (a.data, b.data)]
    np.testing.assert_array_equal(*dense)
    for part in ("candidates", "truth"):
        if a[part] is None:
            assert b[part] is None
        else:
            np.testing.assert_array_equal(a[part], b[part])
            assert a[part].dtype == b[part].dtype
    assert a.target_names == b.target_names
    assert a.task == b.task


@pytest.mark.parametrize("kind", ["npz", "parquet", "arrow", "mat"])
@settings(max_examples=25)
@given(bunch=bunches())
def test_exact(tmp_path, kind, bunch):
    again = read(write(bunch, tmp_path / f"set.{kind}"))
    same(bunch, again)
    assert again.data.dtype == bunch.data.dtype
    assert sp.issparse(again.data) == sp.issparse(bunch.data)
    assert again.feature_names == bunch.feature_names


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@settings(max_examples=25)
@given(bunch=bunches([np.float64, np.float32, np.int64, np.uint8]))
def test_text_keeps_values_and_names(tmp_path, kind, bunch):
    again = read(write(bunch, tmp_path / f"set.{kind}"), task=bunch.task)
    same(bunch, again)
    d = bunch.data.shape[1]
    assert again.feature_names == (bunch.feature_names or [f"x{j}" for j in range(d)])


@pytest.mark.parametrize("kind", FORMATS)
def test_wrong_truth_is_kept(tmp_path, kind):
    """Class numbers are not shifted to make them fit the candidate sets."""
    bunch = Bunch(
        data=np.array([[0.5], [1.5]]),
        candidates=np.array([[True, False], [True, False]]),
        truth=np.array([1, 1]),
        feature_names=["u"],
        target_names=["a", "b"],
        task="pll",
    )
    same(bunch, read(write(bunch, tmp_path / f"set.{kind}")))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_real_set(tmp_path, kind):
    iris = load_iris_partial()
    again = read(write(iris, tmp_path / f"iris.{kind}"))
    same(iris, again)
    assert again.feature_names == iris.feature_names
    assert [p.name for p in tmp_path.iterdir()] == [f"iris.{kind}"]


def test_csv_is_for_people(tmp_path):
    text = write(load_iris_partial(), tmp_path / "iris.csv").read_text()
    head, first = text.splitlines()[:2]
    assert head.endswith('"candidates","truth"')
    assert first.endswith(',"setosa"')
    assert "|" in first


def test_large_numbers(tmp_path):
    base = {"truth": np.array([0, 1]), "task": "multiclass", "target_names": ["a", "b"]}
    big = np.array([[2**60 + 1], [-5]])
    for kind in ("npz", "parquet", "arrow", "mat", "csv"):
        bunch = Bunch(data=big, **base)
        np.testing.assert_array_equal(
            read(write(bunch, tmp_path / f"a.{kind}")).data, big
        )
    sparse = Bunch(data=sp.csr_array(big), **base)
    with pytest.raises(DataFormatError, match="doubles"):
        write(sparse, tmp_path / "b.mat")
    assert not (tmp_path / "b.mat").exists()


@pytest.mark.parametrize("width", [90, 300])
def test_float16_with_few_numbers(tmp_path, width):
    """SciPy has no sparse matrices of float16, however few numbers there are."""
    X = np.zeros((1000, width), dtype=np.float16)
    X[:, 0] = 0.5
    labels = np.arange(1000) % 2
    path = write(Bunch(data=X, truth=labels, task="multiclass"), tmp_path / "a.npz")
    np.testing.assert_array_equal(read(path).data, X, strict=True)


@pytest.mark.parametrize("kind", ["npz", "parquet", "mat"])
def test_caller_has_the_last_word_on_sparsity(tmp_path, kind):
    path = write(load_iris_partial(), tmp_path / f"iris.{kind}")
    assert sp.issparse(read(path, sparse=True).data)
    assert not sp.issparse(read(path).data)


def test_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = write(load_iris_partial(), tmp_path / "iris.npz")
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk is full"):
        write(load_iris_partial(2), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["iris.npz"]


def bunch_with(**changes):
    base = {
        "data": np.ones((2, 2)),
        "candidates": np.ones((2, 2), dtype=bool),
        "truth": np.array([0, 1]),
        "target_names": ["a", "b"],
        "feature_names": ["u", "v"],
        "task": "pll",
    }
    return Bunch(**(base | changes))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"data": np.ones(3)}, "matrix of numbers"),
        ({"data": np.array([["a"]])}, "matrix of numbers"),
        ({"data": np.ones((0, 2))}, "no rows"),
        ({"candidates": None, "truth": None}, "is needed"),
        ({"truth": np.array([0])}, "different numbers of rows"),
        ({"target_names": ["a", "a"]}, "distinct"),
        ({"target_names": ["a", "b", "c"]}, "disagree"),
        ({"truth": np.array([0, 2])}, "number the"),
        ({"truth": np.array([0.0, 1.0])}, "number the"),
        ({"task": "nonsense"}, "`task`"),
    ],
)
def test_bad_bunches(tmp_path, changes, match):
    with pytest.raises(DataFormatError, match=match):
        write(bunch_with(**changes), tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("features", "kind", "match"),
    [
        (["candidate:u", "v"], "parquet", "cannot hold a feature"),
        (["u", "u"], "arrow", "same name"),
        (["", "u"], "csv", "cannot hold a feature"),
        (["label", "u"], "csv", "cannot hold a feature"),
        (["a\nb", "u"], "csv", "line breaks"),
    ],
)
def test_names_a_table_cannot_hold(tmp_path, features, kind, match):
    with pytest.raises(DataFormatError, match=match):
        write(bunch_with(feature_names=features), tmp_path / f"a.{kind}")
    assert list(tmp_path.iterdir()) == []


def test_other_formats_are_not_written(tmp_path):
    for name in ("a.arff", "a.csv.gz"):
        with pytest.raises(DataFormatError, match="files are written as"):
            write(bunch_with(), tmp_path / name)


def test_names_are_made_up_when_absent(tmp_path):
    plain = bunch_with(target_names=None, candidates=None, task="multiclass")
    assert read(write(plain, tmp_path / "a.npz")).target_names == ["0", "1"]
    plain = bunch_with(target_names=None)
    assert read(write(plain, tmp_path / "a.npz")).target_names == ["0", "1"]


# npz, by hand --------------------------------------------------------------------


def npz(folder, **arrays):
    path = folder / "set.npz"
    np.savez_compressed(path, **arrays)
    return path


def test_npz_notes(tmp_path):
    meta = json.dumps({"source": "somewhere", "licence": "none", "note": "old"})
    path = npz(tmp_path, X=np.eye(3), y=np.arange(3), meta=meta)
    assert "source: somewhere" in read(path).DESCR
    odd = npz(tmp_path, X=np.eye(3), y=np.arange(3), meta="[1]")
    assert read(odd).task == "multiclass"
    with pytest.raises(DataFormatError, match="JSON"):
        read(npz(tmp_path, X=np.eye(3), y=np.arange(3), meta="{"))


def test_npz_text_order_and_bytes(tmp_path):
    names = np.array([b"a", b"b", b"c"])
    X = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    bunch = read(npz(tmp_path, X=X, y=np.arange(3), label_names=names))
    np.testing.assert_array_equal(bunch.data, X)
    assert bunch.target_names == ["a", "b", "c"]
    # A wide Fortran-ordered array comes in blocks of columns.
    wide = np.asfortranarray(np.random.default_rng(0).normal(size=(300, 300)))
    bunch = read(npz(tmp_path, X=wide, y=np.arange(300) % 2))
    np.testing.assert_array_equal(bunch.data, wide)


def test_npz_never_unpickles(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("code in a file was run",))

    path = npz(tmp_path, X=np.eye(2), y=np.array([Bomb(), 1], dtype=object))
    with pytest.raises(DataFormatError, match="pickle"):
        read(path)


GOOD = {
    "X_data": np.ones(2),
    "X_indices": np.array([0, 1]),
    "X_indptr": np.array([0, 1, 2]),
    "X_shape": np.array([2, 2]),
    "y": np.array([0, 1]),
}


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"X_indices": np.array([0, 2])}, "outside"),
        ({"X_indices": np.array([0, -1])}, "outside"),
        ({"X_indices": np.array([0.0, 1.0])}, "integers"),
        ({"X_indices": np.ones((1, 2), dtype=int)}, "vector"),
        ({"X_indptr": np.array([0, 2, 1])}, "pointers"),
        ({"X_indptr": np.array([0, 1])}, "pointers"),
        ({"X_indptr": np.array([0, 1, 3])}, "length"),
        ({"X_shape": np.array([2, 2**40])}, "X_shape"),
        ({"X_shape": np.array([2])}, "X_shape"),
        ({"X_data": np.ones(2, dtype=complex)}, "not data"),
    ],
)
def test_npz_sparse_parts_are_checked(tmp_path, changes, match):
    assert read(npz(tmp_path, **GOOD)).data.shape == (2, 2)
    with pytest.raises(DataFormatError, match=match):
        read(npz(tmp_path, **(GOOD | changes)))
