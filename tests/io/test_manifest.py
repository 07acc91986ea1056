"""Every file of the reference data reads, and agrees with its manifest."""

import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from partlearn.io import read

SECTIONS = {
    "pll": "Partial label",
    "multiclass": "Multi-class",
    "pml": "Multi-label / partial multi-label",
}


def _rows(shared_dir, section):
    """Name, m, d, q and the text on set sizes, from a table of the manifest."""
    text = (shared_dir / "data" / "MANIFEST.md").read_text(encoding="utf-8")
    part = text.split(f"## {SECTIONS[section]}", 1)[1].split("\n## ", 1)[0]
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) > 5 and cells[1].isdigit():
            yield cells[0], *(int(c) for c in cells[1:4]), cells[4], cells[5]


@pytest.mark.shared
@pytest.mark.parametrize("section", SECTIONS)
def test_every_npz_agrees_with_the_manifest(shared_dir, section):
    names = []
    for name, m, d, q, sizes, kind in _rows(shared_dir, section):
        bunch = read(shared_dir / "data" / section / f"{name}.npz")
        names.append(name)
        assert bunch.data.shape == (m, d), name
        assert len(bunch.target_names) == q, name
        assert sp.issparse(bunch.data) == kind.startswith("CSR"), name
        assert str(bunch.data.dtype) in kind, name
        assert f"{m} samples" in bunch.DESCR, name
        candidates = re.search(r"cand ([\d.]+)", sizes)
        if candidates:
            mean = bunch.candidates.sum() / m
            assert mean == pytest.approx(float(candidates[1]), abs=0.006), name
            assert bunch.candidates.shape == (m, q), name
        else:
            assert bunch.candidates is None, name
        cardinality = re.search(r"card ([\d.]+)", sizes)
        if cardinality:
            mean = bunch.truth.sum() / m
            assert mean == pytest.approx(float(cardinality[1]), abs=0.0006), name
            assert bunch.task in ("pml", "multilabel"), name
        else:
            assert bunch.truth.shape == (m,), name
            assert len(np.unique(bunch.truth)) <= q, name
            assert bunch.task in ("pll", "multiclass"), name
    folder = shared_dir / "data" / section
    assert sorted(names) == sorted(p.stem for p in folder.glob("*.npz"))


ORIGINAL = {
    # file: shape, classes, mean set size (candidates, else relevant labels), task
    "mc_vehicle__data_target_onehot_qxm": (846, 18, 4, None, "multiclass"),
    "ml_CHD_49__data_targets_mxq": (555, 49, 6, 2.580, "multilabel"),
    "ml_slashdot__target_int16_pm1_qxm": (3782, 1079, 22, 1.177, "multilabel"),
    "ml_stackexchess__X_Y_mxq": (1675, 585, 227, 2.411, "multilabel"),
    "pll_birdsong_cimap__train_test_p_target__dense_qxm": (1000, 38, 13, 2.213, "pll"),
    "pll_glass_plda__train_test_p_target__sparse_qxm": (107, 9, 6, 3.0, "pll"),
    "pll_italian__uint8_data__dense_uint8_qxm": (21878, 519, 90, 1.60, "pll"),
    "pll_lost__data_target_partial_target__sparse_qxm": (1122, 108, 16, 2.23, "pll"),
    "pll_lost_aggd__train_test_p_target__dense_mxq": (561, 108, 16, 2.216, "pll"),
    "pll_lost_ragd__struct_with_fold_masks": (1122, 108, 16, 2.23, "pll"),
    "pll_slashdot_r1__data_target_partial_target__dense_uint8_qxm": (
        *(3142, 1079, 19),
        2.0,
        "pll",
    ),
    "pml_CAL500_arti__train_test_target_pm1_qxm": (401, 68, 174, None, "multilabel"),
    "pml_emotions__matlab_v73_hdf5": (593, 72, 6, 1.868, "multilabel"),
    "pml_emotions_particle__data_partial_labels_target__dense_qxm": (
        *(593, 72, 6),
        3.0,
        "pml",
    ),
}


@pytest.mark.shared
def test_every_original_file_reads_without_arguments(shared_dir):
    files = sorted((shared_dir / "data" / "original").glob("*.mat"))
    assert {f.stem for f in files} == set(ORIGINAL)
    for file in files:
        m, d, q, size, task = ORIGINAL[file.stem]
        bunch = read(file)
        assert bunch.data.shape == (m, d), file.stem
        assert len(bunch.target_names) == q, file.stem
        assert bunch.task == task, file.stem
        if size is not None:
            labels = bunch.candidates if bunch.candidates is not None else bunch.truth
            assert labels.sum() / m == pytest.approx(size, abs=0.006), file.stem


@pytest.mark.shared
@pytest.mark.parametrize(
    ("original", "npz"),
    [
        ("pll_lost__data_target_partial_target__sparse_qxm", "pll/lost"),
        ("pll_italian__uint8_data__dense_uint8_qxm", "pll/italian"),
        ("pll_slashdot_r1__*", "pll/slashdot_r1"),
        ("pml_emotions_particle__*", "pml/emotions_particle"),
        ("ml_slashdot__target_int16_pm1_qxm", "pml/slashdot"),
    ],
)
def test_mat_and_npz_are_the_same_cell_for_cell(shared_dir, original, npz):
    (file,) = (shared_dir / "data" / "original").glob(f"{original}.mat")
    a = read(file)
    b = read(shared_dir / "data" / f"{npz}.npz")
    difference = a.data != b.data
    assert (difference.nnz if sp.issparse(difference) else difference.sum()) == 0
    np.testing.assert_array_equal(a.truth, b.truth)
    if a.candidates is not None:
        np.testing.assert_array_equal(a.candidates, b.candidates)


@pytest.mark.shared
# A newer SciPy announces what its reader will give one day.
@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`")
def test_our_reader_agrees_with_scipy(shared_dir):
    from partlearn.io import Budget, Limits
    from partlearn.io._mat import read_mat5

    for file in sorted((shared_dir / "data" / "original").glob("*.mat")):
        if "v73" in file.stem:
            continue
        theirs = scipy.io.loadmat(file)
        with file.open("rb") as stream:
            ours = read_mat5(stream, Budget(Limits(), file.stat().st_size))
        assert set(ours) == {k for k in theirs if not k.startswith("__")}
        for name, value in ours.items():
            _same(value, theirs[name], f"{file.stem}:{name}")


def _same(ours, theirs, where):
    if isinstance(ours, dict):
        assert theirs.shape == (1, 1)
        assert set(ours) == set(theirs.dtype.names)
        for field, value in ours.items():
            _same(value, theirs[field][0, 0], f"{where}.{field}")
    elif isinstance(ours, str):
        assert ours == str(theirs.ravel()[0])
    else:
        dense = ours.toarray() if sp.issparse(ours) else ours
        other = theirs.toarray() if sp.issparse(theirs) else theirs
        if dense.dtype != bool:  # scipy gives MATLAB's logical as uint8
            assert dense.dtype == other.dtype, where
        np.testing.assert_array_equal(dense, other, err_msg=where)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "dense_bytes"),
    [
        ("original/pll_italian__uint8_data__dense_uint8_qxm.mat", 21878 * 519),
        ("pml/YeastBP.npz", 6139 * 6139),
        ("pml/YeastCC.npz", 6139 * 6139),
    ],
)
def test_mostly_zero_sets_never_exist_dense(shared_dir, path, dense_bytes):
    import tracemalloc

    read(shared_dir / "data" / path)  # imports are not what is measured
    tracemalloc.start()
    bunch = read(shared_dir / "data" / path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    X = bunch.data
    content = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    labels = bunch.candidates.nbytes + bunch.truth.nbytes
    # Blocks of a megabyte, the archive's buffers, and one copy of each part.
    assert peak < 2.5 * (content + labels) + 4 * 2**20
    assert peak < 0.75 * dense_bytes


@pytest.mark.shared
def test_test_parts_and_folds_come_along(shared_dir):
    folder = shared_dir / "data" / "original"
    aggd = read(folder / "pll_lost_aggd__train_test_p_target__dense_mxq.mat")
    assert aggd.truth is None
    assert aggd.test.data.shape == (561, 108)
    assert aggd.test.truth.shape == (561,)
    assert aggd.test.target_names == aggd.target_names
    ragd = read(folder / "pll_lost_ragd__struct_with_fold_masks.mat")
    assert len(ragd.folds) == 10
    tested = np.sort(np.concatenate([test for _, test in ragd.folds]))
    np.testing.assert_array_equal(tested, np.arange(1122))
