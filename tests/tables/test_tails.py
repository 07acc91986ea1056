"""Columns of numbers with heavy tails."""

import numpy as np
import pytest

from partlearn.tables import PartialClassifier, TableEncoder
from partlearn.tables._tails import tail_units


def test_heavy_tails_are_brought_to_a_signed_logarithm():
    rng = np.random.default_rng(0)
    table = {
        "price": np.exp(2 * rng.standard_normal(300)),
        "size": rng.standard_normal(300),
    }
    encoder = TableEncoder().fit(table)
    lines = encoder.report().splitlines()
    assert "heavy tails: signed logarithm" in lines[0]
    assert "heavy" not in lines[1]
    Z = encoder.transform(table)
    assert np.abs(Z[:, 0]).max() < 6  # of some 25 without
    plain = (table["size"] - table["size"].mean()) / table["size"].std()
    np.testing.assert_allclose(Z[:, 1], plain)
    # The order of the values stays, also beyond those of the fit.
    new = encoder.transform({"price": [0.0, 1.0, 1e3, 1e9], "size": [0.0] * 4})
    assert (np.diff(new[:, 0]) > 0).all()


@pytest.mark.parametrize("power", [-1040, -900, 900, 1020])
def test_columns_of_any_magnitude_are_encoded_alike(power):
    x = np.random.default_rng(0).standard_normal(60)
    x /= np.abs(x).max()
    usual = TableEncoder().fit_transform({"x": x})
    # Numbers below 2**-1022 have fewer digits.
    with np.errstate(under="ignore"):
        extreme = TableEncoder().fit_transform({"x": np.ldexp(x, power)})
    atol = 1e-15 if power > -1000 else 1e-4
    np.testing.assert_allclose(extreme, usual, atol=atol)


def test_new_numbers_of_any_magnitude_are_far_and_finite():
    rng = np.random.default_rng(0)
    table = {"x": rng.standard_normal(60), "tiny": 1e-300 * rng.standard_normal(60)}
    encoder = TableEncoder().fit(table)
    largest = np.finfo(float).max
    new = {"x": [largest, -largest, 0.0], "tiny": [-largest, largest, 0.0]}
    Z = encoder.transform(new)
    np.testing.assert_array_equal(np.abs(Z[:2]), 1e15)
    assert (Z[:2] * [[1, -1], [-1, 1]] > 0).all()
    assert np.abs(Z[2]).max() < 1
    unseen = encoder.unseen(new)
    assert unseen["x"].tolist() == unseen["tiny"].tolist() == [True, True, False]


@pytest.mark.parametrize("draw", ["standard_normal", "uniform", "exponential"])
def test_columns_with_light_tails_stay(draw):
    x = getattr(np.random.default_rng(0), draw)(size=(500, 1))
    assert np.isinf(tail_units(x)[1]).all()
    assert np.isinf(tail_units(np.append(x[:10], [[1e6]], axis=0))[1]).all()  # few rows
    counts = np.zeros((100, 1))
    counts[:10] = 7.0
    assert np.isinf(tail_units(counts)[1]).all()


def test_importances_of_columns_are_summed_over_their_parts():
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=120)
    table = {
        "coat": np.array(["a", "b", "c"], dtype=object)[
            np.where(rng.random(120) < 0.9, kind, rng.integers(3, size=120))
        ],
        "noise": rng.standard_normal(120),
        "label": np.array(["x", "y", "z"], dtype=object)[kind],
    }
    model = PartialClassifier("crisp-classifier", labels="label").fit(table)
    shares = model.column_importances()
    assert list(shares) == ["coat", "noise"]
    np.testing.assert_allclose(sum(shares.values()), 1)
    assert shares["coat"] > 0.6
    plain = PartialClassifier("pl-knn", labels="label").fit(table)
    assert plain.column_importances() == {}
