"""Bags of files: every format keeps them."""

import numpy as np
import pytest

from partlearn.candidates import make_bags
from partlearn.io import DataError, read, write


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=30)
    S, bags = make_bags(y, size=3, random_state=0)
    names = [None if b == 2 else f"photo {b}" for b in bags]
    return {
        "data": np.eye(3)[y] + rng.normal(scale=0.3, size=(30, 3)),
        "candidates": S,
        "truth": y,
        "target_names": ["a", "b", "c"],
        "task": "pll",
        "bags": names,
    }


def test_npz_keeps_bags(data, tmp_path):
    again = read(write(data, tmp_path / "x.npz"))
    assert again.bags.tolist() == [name or "" for name in data["bags"]]
    assert np.array_equal(again.candidates, data["candidates"])
    assert "bags" not in read(write(data | {"bags": None}, tmp_path / "x.npz"))
    third = read(write(again, tmp_path / "y.npz"))
    assert third.bags.tolist() == again.bags.tolist()


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "mat"])
def test_other_formats_keep_bags(data, tmp_path, kind):
    again = read(write(data, tmp_path / f"x.{kind}"))
    assert again.bags.tolist() == [name or "" for name in data["bags"]]
    np.testing.assert_allclose(again.data, data["data"])
    assert np.array_equal(again.candidates, data["candidates"])


def test_a_column_of_bags(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,photo,candidates\n1,7,a|b\n2,7,a|b\n3,,b\n")
    bunch = read(path, bags="photo")
    assert bunch.bags.tolist() == ["7", "7", ""]
    assert bunch.feature_names == ["x"]
    with pytest.raises(DataError, match="`bags`: there is no column"):
        read(path, bags="picture")
    path.write_text("x,bag:a,bag:b,candidates\n1,7,8,a|b\n2,7,8,b\n")
    with pytest.raises(DataError, match="could all be the bags"):
        read(path)
    assert read(path, bags="bag:a", ignore=["bag:b"]).bags.tolist() == ["7", "7"]


def test_wrong_bags(data, tmp_path):
    with pytest.raises(DataError, match="the bag of each row"):
        write(data | {"bags": [1, 2]}, tmp_path / "x.npz")
    path = tmp_path / "x.npz"
    np.savez(path, X=data["data"], S=data["candidates"], bags=np.arange(7))
    with pytest.raises(DataError, match="each of the 30 rows"):
        read(path, orientation="rows")
