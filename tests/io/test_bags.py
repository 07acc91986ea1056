"""Bags of files: kept by npz, refused where there is no place for them."""

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


@pytest.mark.parametrize("kind", ["csv", "mat"])
def test_others_say_that_they_cannot(data, tmp_path, kind):
    with pytest.raises(DataError, match="has no place for bags"):
        write(data, tmp_path / f"x.{kind}")


def test_wrong_bags(data, tmp_path):
    with pytest.raises(DataError, match="the bag of each row"):
        write(data | {"bags": [1, 2]}, tmp_path / "x.npz")
    path = tmp_path / "x.npz"
    np.savez(path, X=data["data"], S=data["candidates"], bags=np.arange(7))
    with pytest.raises(DataError, match="each of the 30 rows"):
        read(path, orientation="rows")
