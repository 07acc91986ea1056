"""Rows in blocks from Parquet and npy files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from partlearn.candidates import from_text, make_candidates
from partlearn.classification import CRISPClassifier
from partlearn.io import DataFormatError, load_columns, open_rows
from partlearn.tables import read_columns

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X, TRUTH = make_blobs(300, n_features=4, centers=3, random_state=0)
S = make_candidates(TRUTH, n_false=1, random_state=0)
TEXT = ["|".join(np.array(list("abc"))[row]) for row in S]
NAMES = [f"x{j}" for j in range(4)]


def write_parquet(folder, dtype=np.float64, **more):
    for part, rows in enumerate(np.array_split(np.arange(300), 3)):
        columns = {name: X[rows, j].astype(dtype) for j, name in enumerate(NAMES)}
        columns["candidates"] = [TEXT[i] for i in rows]
        columns["list"] = [TEXT[i].split("|") for i in rows]
        columns |= {name: value[rows] for name, value in more.items()}
        pq.write_table(pa.table(columns), folder / f"{part}.parquet", row_group_size=30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parquet_folders_are_rows(tmp_path, dtype):
    write_parquet(tmp_path, dtype)
    for source in (
        tmp_path,
        str(tmp_path / "*.parquet"),
        sorted(tmp_path.glob("*.parquet")),
    ):
        rows = open_rows(source, ignore=["candidates", "list"], block_rows=70)
        assert rows.names == NAMES
        assert rows.dtype == dtype
        assert rows.sizes.tolist() == [60, 40] * 3
        assert_array_equal(rows.compute(), X.astype(dtype))
    labels = load_columns(tmp_path, ["candidates", "list"])
    assert labels["candidates"].tolist() == TEXT
    # As every reader of tables gives lists; groups of rows are smaller than a block.
    assert labels["list"].tolist() == [str(text.split("|")) for text in TEXT]
    whole = read_columns(tmp_path / "0.parquet")
    assert whole["list"].tolist() == labels["list"].tolist()[: len(whole["list"])]


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(60.0), "b": np.arange(60.0) ** 2})[::2]
    frame.to_parquet(tmp_path / "part.parquet")
    rows = open_rows(tmp_path)
    assert rows.names == ["a", "b"]
    assert_array_equal(rows.compute(), frame.to_numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_npy_folders_are_rows(tmp_path, dtype):
    A = (10 * X).astype(dtype)
    for part, rows in enumerate(np.array_split(A, 3)):
        np.save(tmp_path / f"{part}.npy", rows)
    rows = open_rows(tmp_path, block_rows=64)
    assert rows.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert rows.sizes.tolist() == [64, 36] * 3
    assert_array_equal(rows.compute(), A)


def test_a_fit_on_files_is_the_fit_in_memory(tmp_path):
    write_parquet(tmp_path)
    ignored = ["candidates", "list"]
    rows = open_rows(tmp_path, ignore=ignored, block_rows=50)
    y = from_text(load_columns(tmp_path, ["candidates"])["candidates"])
    model = CRISPClassifier(use_neighbors=False, n_landmarks=20)
    P = model.fit(X, y).predict_proba(X)
    model.fit(rows, y)
    assert model.feature_names_in_.tolist() == NAMES
    assert_allclose(model.predict_proba(rows).compute(), P, rtol=0, atol=1e-8)


def test_missing_values_name_their_block(tmp_path):
    holes = X[:, 0].copy()
    holes[130] = np.nan
    write_parquet(tmp_path, x9=holes)
    rows = open_rows(tmp_path, ignore=["candidates", "list"], block_rows=30)
    with pytest.raises(ValueError, match=r"block of rows 130 to 159: .* contains NaN"):
        CRISPClassifier(use_neighbors=False, n_landmarks=20).fit(rows, S)


def test_wrong_files_are_refused(tmp_path):
    write_parquet(tmp_path)
    with pytest.raises(DataFormatError, match="'candidates' holds string, but rows in"):
        open_rows(tmp_path)
    with pytest.raises(DataFormatError, match="no column 'label'"):
        open_rows(tmp_path, ignore=["label"])
    with pytest.raises(DataFormatError, match="no column 'label'"):
        load_columns(tmp_path, ["label"])
    with pytest.raises(FileNotFoundError, match=r"There is no .*nothing"):
        open_rows(tmp_path / "nothing*.parquet")
    (tmp_path / "0.parquet").write_bytes(b"PAR1 no table")
    with pytest.raises(DataFormatError):
        open_rows(tmp_path)
    with pytest.raises(DataFormatError, match=r"\.parquet or from \.npy"):
        open_rows(__file__)


def test_wrong_arrays_are_refused(tmp_path):
    np.save(tmp_path / "0.npy", np.ones(3))
    with pytest.raises(DataFormatError, match="matrix of numbers"):
        open_rows(tmp_path)
    np.save(tmp_path / "0.npy", np.ones((3, 2)))
    np.save(tmp_path / "1.npy", np.ones((3, 4)))
    with pytest.raises(DataFormatError, match=r"different widths: \[2, 4\]"):
        open_rows(tmp_path)
    np.save(tmp_path / "0.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataFormatError):
        open_rows(tmp_path)
