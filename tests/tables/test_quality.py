"""Quality of labels of new rows: by label, on later rows, on part of large tables."""

import numpy as np
import pytest
from tests.settling import few_iterations

from partlearn import PartialClassifier
from partlearn.candidates import make_candidates
from partlearn.tables import estimate_quality
from partlearn.tables._splits import held_out_splits
from partlearn.tables._tags import estimate_tag_quality

NAMES = np.array(["ann", "bob", "cyd"])


def make_table(n=150, seed=0):
    """Three labels, the third hidden among the second; days in order; groups of 5."""
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 3, n)
    centers = np.array([[0.0, 0], [5, 0], [5, 0.8]])
    X = centers[y] + rng.normal(size=(n, 2))
    other = (y + rng.randint(1, 3, n)) % 3
    table = {
        "a": X[:, 0],
        "b": X[:, 1],
        "day": np.datetime64("2024-01-01") + np.arange(n),
        "group": np.array([f"g{i // 5}" for i in range(n)]),
        "kind": np.array(
            [f"{NAMES[i]}|{NAMES[j]}" for i, j in zip(y, other, strict=True)]
        ),
    }
    table["kind"][::4] = NAMES[y][::4]
    return {
        name: column.astype(object) if column.dtype.kind == "U" else column
        for name, column in table.items()
    }, NAMES[y]


def model_of(**words):
    return PartialClassifier("plknn", labels="kind", ignore=["day", "group"], **words)


def test_quality_by_label_with_truth_by_hand():
    table, truth = make_table()
    scores = estimate_quality(model_of(), table, truth=truth)
    assert (scores[0].n_train, scores[0].n_test) == (100, 150)
    held = np.empty(150, dtype=object)
    model = model_of()
    labels, _ = model.read_labels(table)
    for train, test in held_out_splits(model, table, labels, 3):
        part = {n: c[train] for n, c in table.items()}
        held[test] = model.fit(part).predict({n: c[test] for n, c in table.items()})
    assert [c.recall for c in scores[0].classes] == sorted(
        c.recall for c in scores[0].classes
    )
    for quality in scores[0].classes:
        own, said = truth == quality.label, held == quality.label
        assert quality.n_rows == own.sum()
        assert quality.recall == pytest.approx((own & said).sum() / own.sum())
        assert quality.precision == pytest.approx((own & said).sum() / said.sum())
    assert scores[1].classes == ()


def test_quality_by_label_is_estimated_without_truth():
    table, truth = make_table(300)
    estimated = estimate_quality(model_of(), table)[0].classes
    measured = estimate_quality(model_of(), table, truth=truth)[0].classes
    assert sum(c.n_rows for c in estimated) == pytest.approx(300)
    easy = {c.label: c.recall for c in estimated}
    assert easy["ann"] == max(easy.values())
    assert {c.label: c.recall for c in measured}["ann"] == pytest.approx(1, abs=0.1)
    few = np.where(np.arange(300) < 30, truth, "")
    assert estimate_quality(model_of(), table, truth=few)[0].classes == estimated


def test_later_rows_are_tested_by_models_of_earlier_ones():
    table, _ = make_table()
    model = model_of()
    labels, _ = model.read_labels(table)
    splits = held_out_splits(model, table, labels, 3, time="day")
    assert len(splits) == 3
    assert [len(train) for train, _ in splits] == [37, 75, 112]
    for train, test in splits:
        assert table["day"][train].max() < table["day"][test].min()
    tested = np.concatenate([test for _, test in splits])
    assert len(np.unique(tested)) == len(tested) == 113
    scores = estimate_quality(model, table, time="day")
    assert (scores[0].n_train, scores[0].n_test) == (112, 113)


def test_equal_moments_and_groups_stay_together():
    table, _ = make_table()
    table["year"] = np.repeat(["2020", "2021", "2022"], 50).astype(object)
    model = model_of()
    labels, _ = model.read_labels(table)
    splits = held_out_splits(model, table, labels, 3, time="year")
    years = [
        (set(table["year"][train]), set(table["year"][test])) for train, test in splits
    ]
    assert years == [({"2020"}, {"2021"}), ({"2020", "2021"}, {"2022"})]
    table["group"] = np.array([f"g{i % 10}" for i in range(150)], dtype=object)
    grouped = model_of(groups="group")
    # Every group has a row among the last ten days: the latest of each counts.
    for train, test in held_out_splits(grouped, table, labels, 3, time="day"):
        assert not set(table["group"][train]) & set(table["group"][test])


def test_times_that_cannot_be_read_are_named():
    table, _ = make_table()
    model = model_of()
    with pytest.raises(ValueError, match="150 rows of column 'group' hold neither"):
        estimate_quality(model, table, time="group")
    with pytest.raises(ValueError, match="'when'"):
        estimate_quality(model, table, time="when")
    table["year"] = np.full(150, 2020.0)
    with pytest.raises(ValueError, match="all rows have the same time"):
        estimate_quality(model, table, time="year")


@pytest.mark.parametrize("groups", [None, "group"])
def test_part_of_a_large_table(groups):
    table, truth = make_table(400)
    model = model_of(groups=groups)
    labels, _ = model.read_labels(table)
    ((train, test),) = held_out_splits(model, table, labels, 3, max_rows=100)
    assert abs(len(train) - 80) <= 5
    assert abs(len(test) - 20) <= 5
    if groups:
        assert not set(table["group"][train]) & set(table["group"][test])
    scores = estimate_quality(model, table, truth=truth, max_rows=100)
    assert scores[0].n_test == len(test)
    whole = held_out_splits(model, table, labels, 3, max_rows=400)
    assert len(whole) == 3


def test_part_of_later_rows():
    table, _ = make_table(400)
    model = model_of()
    labels, _ = model.read_labels(table)
    ((train, test),) = held_out_splits(
        model, table, labels, 3, time="day", max_rows=100
    )
    assert (len(train), len(test)) == (80, 20)
    assert table["day"][train].max() < table["day"][test].min()


def test_tags_of_later_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    table = {f"x{j}": X[:, j] for j in range(3)} | {"year": np.repeat([1.0, 2], 40)}
    table["tags"] = np.array(
        [
            "|".join(t for t, v in zip("ab", row, strict=False) if v > 0) or "c"
            for row in X
        ],
        dtype=object,
    )
    model = PartialClassifier(task="tags", labels="tags", ignore="year")
    ours, frequent = estimate_tag_quality(model, table, time="year")
    assert ours.listed_precision > frequent.listed_precision


def test_distances_of_wide_rows_are_those_of_the_covariance():
    from partlearn.tables._familiarity import distances, learn_familiarity

    rng = np.random.default_rng(0)
    Z, new = rng.normal(size=(12, 30)), rng.normal(size=(5, 30))
    learnt = learn_familiarity(Z)
    values, vectors = np.linalg.eigh(np.cov(Z.T))
    flat = vectors[:, 0]  # a direction without spread
    shrink = np.linalg.norm(flat @ learnt.whitening) ** -2
    expected = np.sqrt(
        (np.square((new - Z.mean(axis=0)) @ vectors) / (values + shrink)).sum(axis=1)
    )
    np.testing.assert_allclose(
        distances(new, learnt.mean, learnt.whitening), expected, rtol=1e-8
    )


def test_probabilities_that_are_too_high_give_a_range():
    """Classes that overlap, and sets of three: the classifier finds hardly any."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, 8, 600)
    X = 0.3 * rng.normal(size=(8, 2))[y] + rng.normal(size=(600, 2))
    S = make_candidates(y, 2, random_state=10)
    table = {"a": X[:, 0], "b": X[:, 1]}
    with few_iterations():
        ours = estimate_quality(PartialClassifier(), table, S, truth=y.astype(str))[0]
    assert ours.overconfident
    assert ours.together == ()
    assert ours.low <= ours.accuracy < ours.approximated_accuracy
    apart = {"a": X[:, 0] + 4 * (y % 3), "b": X[:, 1] + 4 * (y // 3)}
    with few_iterations():
        ours = estimate_quality(PartialClassifier(), apart, S, truth=y.astype(str))[0]
    assert not ours.overconfident
    assert ours.low is None
