"""The schemas of MATLAB files met in public repositories, and then some."""

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from partlearn.candidates import make_candidates
from partlearn.io import (
    AmbiguousDataError,
    DataFormatError,
    DataLimitError,
    Limits,
    read,
)

M, D, Q = 12, 5, 4


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    y = np.arange(M) % Q
    S = make_candidates(y, 1, random_state=0)
    return rng.normal(size=(M, D)), S, y, np.eye(Q, dtype=np.uint8)[y]


def save(folder, **variables):
    path = folder / "set.mat"
    scipy.io.savemat(path, variables, do_compression=True)
    return path


def check(bunch, X, S, y):
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.candidates, S)
    if y is not None:
        np.testing.assert_array_equal(bunch.truth, y)
    assert bunch.task == "pll"


NAMES = [
    ("data", "partial_target", "target"),
    ("features", "p_labels", "logitlabels"),
    ("X", "Y_P", "Y"),
    ("data", "partial_labels", "targets"),
    ("data", "candidate_labels", "labels"),
    ("partialData", "partialTarget", "target"),
    ("fea", "candidates", "gnd"),
    ("train_data", "train_p_target", "train_target"),
]


@pytest.mark.parametrize("names", NAMES, ids="-".join)
@pytest.mark.parametrize(
    "layout", ["qxm", "mxq", "sparse", "signs", "features_in_rows"]
)
def test_names_and_layouts(tmp_path, parts, names, layout):
    X, S, y, Y = parts
    labels = [S.astype(np.uint8), Y]
    if layout in ("qxm", "features_in_rows"):
        labels = [L.T for L in labels]
    elif layout == "sparse":
        labels = [sp.csc_matrix(L.T.astype(float)) for L in labels]
    elif layout == "signs":
        labels = [2 * L.astype(np.int16) - 1 for L in labels]
    data = X.T if layout == "features_in_rows" else X
    values = dict(zip(names, (data, *labels), strict=True))
    check(read(save(tmp_path, **values)), X, S, y)


@pytest.mark.parametrize("shape", ["row", "column"])
@pytest.mark.parametrize("first", [0, 1])
def test_class_numbers(tmp_path, parts, shape, first):
    X, S, y, _ = parts
    gnd = (y + first).reshape((1, -1) if shape == "row" else (-1, 1))
    plain = read(save(tmp_path, fea=X, gnd=gnd.astype(float)))
    assert plain.task == "multiclass"
    assert plain.candidates is None
    np.testing.assert_array_equal(plain.truth, y)
    assert plain.target_names == [str(k + first) for k in range(Q)]
    check(read(save(tmp_path, fea=X, gnd=gnd, partial_target=S.T)), X, S, y)


def test_struct_cells_of_names_and_text(tmp_path, parts):
    X, S, y, Y = parts
    names = np.array(["ä", "b b", "c", "d"], dtype=object)
    inner = {"data": X, "partial_target": S.T, "target": Y.T, "label_names": names}
    path = save(tmp_path, lost=inner | {"note": "some text", "opts": {"k": 8}}, acc=0.5)
    bunch = read(path)
    check(bunch, X, S, y)
    assert bunch.target_names == ["ä", "b b", "c", "d"]
    assert bunch.variables["data"] == "lost.data"


def test_two_structs_are_ambiguous(tmp_path, parts):
    X, S, y, Y = parts
    a = {"data": X, "partial_target": S.T, "target": Y.T}
    path = save(tmp_path, a=a, b=a | {"data": X + 1})
    with pytest.raises(AmbiguousDataError, match="`data_key`"):
        read(path)
    check(read(path, data_key="b.data"), X + 1, S, y)


def test_views_are_joined(tmp_path, parts):
    X, S, y, Y = parts
    views = np.empty((1, 2), dtype=object)
    views[0, 0], views[0, 1] = X[:, :2], X[:, 2:]
    check(read(save(tmp_path, data=views, partial_labels=S.T, target=Y.T)), X, S, y)
    views[0, 0] = sp.csc_matrix(X[:, :2])
    check(read(save(tmp_path, data=views, partial_labels=S.T, target=Y.T)), X, S, y)
    views[0, 0] = X[:3]
    with pytest.raises(AmbiguousDataError, match="neither views"):
        read(save(tmp_path, data=views, partial_labels=S.T, target=Y.T))


def test_folds_are_chosen(tmp_path, parts):
    X, S, y, Y = parts

    def cell(a, b):
        out = np.empty((1, 2), dtype=object)
        out[0, 0], out[0, 1] = a, b
        return out

    path = save(
        tmp_path,
        train_data=cell(X[:8], X[4:]),
        train_p_target=cell(S[:8].T, S[4:].T),
        train_target=cell(Y[:8].T, Y[4:].T),
        test_data=cell(X[8:], X[:4]),
        test_target=cell(Y[8:].T, Y[:4].T),
    )
    with pytest.raises(AmbiguousDataError, match="`fold`, from 0"):
        read(path)
    with pytest.raises(AmbiguousDataError, match="`fold`, from 0"):
        read(path, fold=2)
    bunch = read(path, fold=1)
    check(bunch, X[4:], S[4:], y[4:])
    np.testing.assert_array_equal(bunch.test.data, X[:4])
    np.testing.assert_array_equal(bunch.test.truth, y[:4])


def test_sets_in_cells(tmp_path, parts):
    X, S, y, _ = parts
    numbers = np.empty((M, 1), dtype=object)
    words = np.empty((M, 1), dtype=object)
    for i, row in enumerate(S):
        numbers[i, 0] = np.flatnonzero(row) + 1.0
        words[i, 0] = np.array([f"c{j}" for j in np.flatnonzero(row)], dtype=object)
    bunch = read(save(tmp_path, data=X, candidate_labels=numbers, gnd=y[:, None] + 1))
    check(bunch, X, S, y)
    bunch = read(save(tmp_path, data=X, candidate_labels=words))
    check(bunch, X, S, None)
    assert bunch.target_names == ["c0", "c1", "c2", "c3"]
    several = read(save(tmp_path, data=X, labels=words))
    assert several.task == "multilabel"
    np.testing.assert_array_equal(several.truth, S)


def test_test_part_with_fewer_classes(tmp_path, parts):
    X, _, y, _ = parts
    few = y[:3, None] + 1  # three of the four classes
    path = save(
        tmp_path,
        train_data=X,
        train_target=y[:, None] + 1,
        test_data=X[:3],
        test_target=few,
    )
    bunch = read(path)
    np.testing.assert_array_equal(bunch.test.truth, y[:3])
    assert bunch.test.target_names == bunch.target_names
    path = save(
        tmp_path,
        train_data=X,
        train_target=y[:, None] + 1,
        test_data=X[:3],
        test_target=few + 50,
    )
    with pytest.raises(DataFormatError, match="different classes"):
        read(path)
    path = save(tmp_path, train_data=X, train_target=y[:, None], test_data=X[:3])
    assert "test" not in read(path)


@pytest.mark.parametrize("kind", ["mask", "sparse", "cells", "numbers"])
def test_folds_of_every_kind(tmp_path, parts, kind):
    X, S, _, Y = parts
    number = np.arange(M) % 3 + 1
    extra = {}
    if kind == "numbers":
        extra["indices"] = number[:, None].astype(np.uint8)
    else:
        mask = number[:, None] == [1, 2, 3]
        train, test = ~mask, mask
        if kind == "sparse":
            train, test = sp.csc_matrix(train), sp.csc_matrix(test)
        elif kind == "cells":
            cells = np.empty((2, 3), dtype=object)
            for k in range(3):
                cells[0, k] = np.flatnonzero(~mask[:, k])[:, None] + 1.0
                cells[1, k] = mask[:, k].astype(np.uint8)
            train, test = cells[:1], cells[1:]
        extra = {"tr_idx": train, "te_idx": test}
    bunch = read(save(tmp_path, data=X, partial_target=S.T, target=Y.T, **extra))
    assert len(bunch.folds) == 3
    for k, (train, test) in enumerate(bunch.folds):
        np.testing.assert_array_equal(test, np.flatnonzero(number == k + 1))
        np.testing.assert_array_equal(train, np.flatnonzero(number != k + 1))


@pytest.mark.parametrize(
    "extra",
    [
        {"tr_idx": np.full((M, 2), 7), "te_idx": np.ones((M, 2))},
        {"tr_idx": np.ones((3, 2)), "te_idx": np.ones((M, 2))},
        {"tr_idx": "text", "te_idx": "text"},
        {"indices": np.ones((3, 1), dtype=np.uint8)},
    ],
)
def test_folds_that_do_not_fit_are_passed_over(tmp_path, parts, extra):
    X, S, _, Y = parts
    bunch = read(save(tmp_path, data=X, partial_target=S.T, target=Y.T, **extra))
    assert "folds" not in bunch


def test_cells_of_folds_that_do_not_fit(tmp_path, parts):
    X, S, _, Y = parts
    for bad in (np.array([99.0]), "text"):
        cells = np.empty((1, 2), dtype=object)
        cells[0, 0], cells[0, 1] = np.array([1.0, 2.0]), bad
        path = save(
            tmp_path, data=X, partial_target=S.T, target=Y.T, tr_idx=cells, te_idx=cells
        )
        assert "folds" not in read(path)


def test_orientation_is_asked_for_when_open(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4))
    S = rng.uniform(size=(4, 6)) < 0.5
    S[:, 0] = S[0] = True
    path = save(tmp_path, data=X, partial_target=S)  # 6 samples or 4 samples?
    with pytest.raises(AmbiguousDataError, match="`orientation`"):
        read(path)
    assert read(path, orientation="rows").candidates.shape == (6, 4)
    assert read(path, orientation="columns").candidates.shape == (4, 6)
    # One true label per sample settles it.
    one = np.eye(4)[rng.permutation(np.arange(6) % 4)].T
    assert read(save(tmp_path, data=X, target=one)).data.shape == (6, 4)


def test_square_labels_are_ambiguous(tmp_path):
    rng = np.random.default_rng(0)
    X, S = rng.normal(size=(5, 3)), np.tri(5)
    path = save(tmp_path, data=X, partial_target=S)
    with pytest.raises(AmbiguousDataError, match="`label_orientation`"):
        read(path)
    rows = read(path, label_orientation="rows").candidates
    np.testing.assert_array_equal(rows, S == 1)
    columns = read(path, label_orientation="columns").candidates
    np.testing.assert_array_equal(columns, S.T == 1)


def test_square_data_have_samples_in_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(6, 6))
    bunch = read(save(tmp_path, data=X, target=np.arange(6)[:, None] % 2))
    np.testing.assert_array_equal(bunch.data, X)


@pytest.mark.parametrize(
    ("variables", "error", "match"),
    [
        ({"a": np.eye(3)}, AmbiguousDataError, "`data_key`"),
        ({"data": np.eye(3)}, AmbiguousDataError, "`candidates_key`"),
        (
            {"data": np.eye(3), "X": np.eye(3), "gnd": [1, 2, 3]},
            AmbiguousDataError,
            "Ch",
        ),
        (
            {"data": np.ones((3, 2)), "gnd": [1, 2, 3, 4]},
            DataFormatError,
            "do not match",
        ),
        ({"data": np.ones((3, 2)), "p_labels": [1, 2, 3]}, DataFormatError, "vector"),
        (
            {"data": np.ones((4, 2)), "target": np.full((4, 3), 2)},
            DataFormatError,
            "0 and 1",
        ),
        (
            {"data": np.ones((4, 2)), "target": np.tri(4, 3) - np.eye(4, 3) * 2},
            DataFormatError,
            "-1, 0, 1",
        ),
        (
            {"data": np.ones((4, 2)), "gnd": [1, 2, np.nan, 3]},
            DataFormatError,
            "missing",
        ),
        (
            {"data": np.ones((4, 2)), "partial_target": np.tri(4, 3), "gnd": [9] * 4},
            DataFormatError,
            "class numbers run",
        ),
        (
            {"data": np.ones((4, 2)), "partial_target": np.tri(4, 3), "gnd": [0.5] * 4},
            DataFormatError,
            "not whole",
        ),
        (
            {"data": np.ones((4, 2)), "p_labels": np.tri(4, 3), "target": np.tri(4, 2)},
            DataFormatError,
            "classes",
        ),
        ({"data": np.ones((3, 2)) * 1j, "gnd": [1, 2, 3]}, DataFormatError, "complex"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, variables, error, match):
    path = save(tmp_path, **variables)
    with pytest.raises(error, match=match) as caught:
        read(path)
    assert caught.value.path == str(path)


def test_keys_by_argument(tmp_path, parts):
    X, S, y, Y = parts
    path = save(tmp_path, A=X, B=S.T, C=Y.T)
    bunch = read(path, data_key="A", candidates_key="B", truth_key="C")
    check(bunch, X, S, y)
    with pytest.raises(
        AmbiguousDataError, match="`candidates_key`: there is no variable 'Z'"
    ):
        read(path, data_key="A", candidates_key="Z")


def test_task_by_argument(tmp_path, parts):
    X, S, _, Y = parts
    path = save(tmp_path, data=X, partial_target=S.T, target=Y.T)
    plain = read(path, task="multiclass")
    assert plain.candidates is None
    matrix = read(path, task="pml").truth
    np.testing.assert_array_equal(matrix, Y)
    alone = save(tmp_path, data=X, target=S.T)
    with pytest.raises(AmbiguousDataError, match="`candidates_key`"):
        read(alone, task="pll")
    with pytest.raises(DataFormatError, match="one true label per row"):
        read(alone, task="multiclass")
    candidates = save(tmp_path, data=X, p_target=S.T)
    with pytest.raises(AmbiguousDataError, match="true labels"):
        read(candidates, task="multiclass")
    vector = save(tmp_path, data=X, gnd=np.arange(M)[:, None] % Q)
    np.testing.assert_array_equal(read(vector, task="multilabel").truth, Y)


@pytest.mark.parametrize("name", ["task", "orientation", "label_orientation", "sparse"])
def test_bad_arguments(tmp_path, name):
    (tmp_path / "a.mat").write_bytes(b"")
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        read(tmp_path / "a.mat", **{name: "nonsense"})
    with pytest.raises(ValueError, match="`sep`"):
        read(tmp_path / "a.mat", sep="")
    with pytest.raises(ValueError, match="`format`"):
        read(tmp_path / "a.mat", format="nonsense")
    with pytest.raises(AmbiguousDataError, match="`format`"):
        read(tmp_path / "a.unknown")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "b.mat")


def test_sparse_data_stay_sparse(tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(700, 120)) < 0.02) * rng.integers(1, 9, size=(700, 120))
    y = rng.integers(0, 3, size=(700, 1))
    for stored in (X.astype(np.uint8), sp.csc_matrix(X.astype(float))):
        path = save(tmp_path, fea=stored, gnd=y)
        bunch = read(path)
        assert isinstance(bunch.data, sp.csr_array)
        np.testing.assert_array_equal(bunch.data.toarray(), X)
        assert bunch.data.has_canonical_format
        dense = read(path, sparse=False).data
        np.testing.assert_array_equal(dense, X)
    assert sp.issparse(
        read(save(tmp_path, fea=np.ones((4, 2)), gnd=y[:4]), sparse=True).data
    )
    # Dense from the middle on: what was kept sparse is copied over.
    X[400:, :] = 1
    np.testing.assert_array_equal(read(save(tmp_path, fea=X, gnd=y)).data, X)
    X = np.where(np.arange(120) < 60, 0, X)
    np.testing.assert_array_equal(read(save(tmp_path, fea=X, gnd=y)).data, X)


def test_big_endian_and_uncompressed(tmp_path, parts):
    """A file from another world: byte order reversed, by hand."""
    X, _, y, _ = parts

    def element(kind, data):
        body = np.array([kind, len(data)], dtype=">u4").tobytes() + data
        return body + b"\0" * (-len(data) % 8)

    def matrix(name, values):
        values = np.atleast_2d(values)
        return element(
            14,
            element(6, np.array([6, 0], dtype=">u4").tobytes())
            + element(5, np.array(values.shape, dtype=">i4").tobytes())
            + element(1, name.encode())
            + element(9, values.astype(">f8").tobytes(order="F")),
        )

    path = tmp_path / "set.mat"
    head = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI"
    path.write_bytes(head + matrix("data", X) + matrix("gnd", y + 1))
    bunch = read(path)
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.truth, y)
    assert bunch.data.dtype.isnative


def test_small_elements_and_odd_variables(tmp_path, parts):
    """Small tags, three dimensions, empty parts, char matrices, logicals."""
    X, S, y, _ = parts
    path = save(
        tmp_path,
        data=X,
        partial_target=S.T,
        gnd=(y + 1).astype(np.uint8)[:, None],
        cube=np.zeros((2, 3, 4)),
        big_cube=np.zeros((80, 40, 40)),
        nothing=np.empty((0, 0)),
        flag=True,
        lines=np.array(["abc", "de "]),
        list_of_structs=np.array([(1.0,), (2.0,)], dtype=[("k", "O")]),
        code=np.uint8([[7]]),
    )
    check(read(path), X, S, y)


def test_small_element_at_the_end(tmp_path):
    path = tmp_path / "set.mat"
    codes = np.uint8([[1, 2, 1, 2]])  # four bytes fit into the tag itself
    scipy.io.savemat(path, {"fea": np.arange(8.0).reshape(4, 2), "gnd": codes})
    np.testing.assert_array_equal(read(path).truth, [0, 1, 0, 1])


def test_nesting_has_a_limit(tmp_path, parts):
    X, _, y, _ = parts
    inner = {"data": X, "gnd": y[:, None]}
    for _ in range(10):
        inner = {"s": inner}
    path = save(tmp_path, **inner)
    with pytest.raises(DataLimitError, match="max_depth"):
        read(path)
    assert read(path, limits=Limits(max_depth=20)).task == "multiclass"


def test_version_four_is_named(tmp_path):
    path = tmp_path / "old.mat"
    scipy.io.savemat(path, {"data": np.eye(20)}, format="4")
    with pytest.raises(DataFormatError, match="version 4"):
        read(path)


# Version 7.3 ---------------------------------------------------------------------


def put(group, name, value, kind=None):
    """Store as MATLAB does: transposed, with its class as an attribute."""
    value = np.atleast_2d(value)
    item = group.create_dataset(name, data=value.T, chunks=True, compression="gzip")
    item.attrs["MATLAB_class"] = np.bytes_(kind or "double")
    return item


def put_sparse(group, name, value):
    value = sp.csc_matrix(value)
    item = group.create_group(name)
    item.attrs["MATLAB_class"] = np.bytes_("logical")
    item.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
    item["jc"] = value.indptr.astype(np.uint64)
    if value.nnz:
        item["ir"] = value.indices.astype(np.uint64)
        item["data"] = np.ones(value.nnz, dtype=np.uint8)


def put_cells(file, name, values):
    references = np.empty((len(values), 1), dtype=h5py.ref_dtype)
    store = file.require_group("#refs#")
    for k, value in enumerate(values):
        key = f"{name}{k}"
        if isinstance(value, str):
            codes = np.array([[ord(c) for c in value]], dtype=np.uint16)
            item = put(store, key, codes, "char")
        else:
            item = put(store, key, value)
        references[k, 0] = item.ref
    file.create_dataset(name, data=references, dtype=h5py.ref_dtype)
    file[name].attrs["MATLAB_class"] = np.bytes_("cell")


def test_version_73(tmp_path, parts):
    X, S, y, _ = parts
    path = tmp_path / "set.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        put(file, "data", X)
        put_sparse(file, "partial_target", S.T)
        put(file, "gnd", y + 1.0)
        put_cells(file, "label_names", ["ä", "b", "c", "d"])
        put(file, "flags", S.astype(np.uint8), "logical")
        put(file, "title", np.array([[72, 105]], dtype=np.uint16), "char")
        empty = file.create_dataset("nothing", data=np.zeros(2, dtype=np.uint64))
        empty.attrs["MATLAB_empty"] = np.uint8(1)
        put_sparse(file, "zero", np.zeros((3, 4)))
        file["kinds"] = np.zeros(3, dtype=[("a", "f8")])
        file["cube"] = np.zeros((2, 2, 2))
        file["type"] = np.dtype("f8")
    bunch = read(path)
    check(bunch, X, S, y)
    assert bunch.target_names == ["ä", "b", "c", "d"]
    assert "7.3" in bunch.DESCR


def test_version_73_views_and_structs(tmp_path, parts):
    X, S, y, Y = parts
    path = tmp_path / "set.mat"
    with h5py.File(path, "w") as file:
        put_cells(file, "data", [X[:, :2], X[:, 2:]])
        put(file, "target", Y)
        put(file, "p_target", S)
    check(read(path), X, S, y)
    with h5py.File(path, "w") as file:
        group = file.create_group("lost")
        put(group, "data", X)
        put(group, "partial_target", S)
    check(read(path), X, S, None)


def test_plain_hdf5_is_not_transposed(tmp_path, parts):
    X, S, y, _ = parts
    path = tmp_path / "set.h5"
    with h5py.File(path, "w") as file:
        file["X"], file["S"], file["y"] = X, S, y + 1
        file["label_names"] = ["a", "b", "c", "d"]
    bunch = read(path)
    check(bunch, X, S, y)
    assert bunch.target_names == ["a", "b", "c", "d"]


def test_hdf5_never_leaves_its_file(tmp_path, parts):
    X, _, y, _ = parts
    secret = tmp_path / "secret.bin"
    secret.write_bytes(X.tobytes())
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["X"] = X
    path = tmp_path / "set.mat"
    for kind in ("external link", "soft link", "external storage", "virtual"):
        with h5py.File(path, "w") as file:
            file["y"] = y
            if kind == "external link":
                file["X"] = h5py.ExternalLink(str(other), "/X")
            elif kind == "soft link":
                file["X"] = h5py.SoftLink("/y")
            elif kind == "virtual":
                layout = h5py.VirtualLayout(shape=X.shape, dtype="f8")
                layout[:] = h5py.VirtualSource(str(other), "X", shape=X.shape)
                file.create_virtual_dataset("X", layout)
            else:
                file.create_dataset(
                    "X",
                    X.shape,
                    "f8",
                    external=[(str(secret), 0, secret.stat().st_size)],
                )
        with pytest.raises(DataFormatError, match=r"link|another file"):
            read(path)


def test_hdf5_declares_more_than_it_holds(tmp_path, parts):
    path = tmp_path / "set.mat"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (2**30, 2**30), "f8", chunks=(1024, 1024))
    with pytest.raises(DataFormatError, match="cannot hold"):
        read(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (100, 100), "f8", chunks=(100, 100), data=np.eye(100))
    with pytest.raises(DataLimitError, match="max_bytes"):
        read(path, limits=Limits(max_bytes=10_000))
    with h5py.File(path, "w") as file:  # a cell that contains itself
        file.create_dataset("data", (1, 1), h5py.ref_dtype)
        file["data"][0, 0] = file["data"].ref
    with pytest.raises(DataLimitError, match="deep"):
        read(path)


def test_a_note_of_numbers_is_no_note(tmp_path):
    """A damaged file may hold an array where the task was written."""
    path = tmp_path / "a.mat"
    labels = np.array([[1, 1, 0], [0, 1, 1]], dtype=np.uint8)
    odd = {"partlearn_task": np.arange(4.0), "partlearn_sparse": 0.0}
    scipy.io.savemat(path, {"data": np.eye(3, 4), "partial_target": labels, **odd})
    assert read(path).task == "pll"
