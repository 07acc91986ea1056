"""The number of directions, chosen without the truth."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from tests.settling import few_iterations, fit_briefly

from partlearn.base._reducer import choose_dimension
from partlearn.candidates import check_evidence, make_candidates
from partlearn.decomposition import CENDA, DELIN, PLDA, WPLDR
from partlearn.model_selection import held_out_hits


@pytest.fixture
def flat():
    """Eight classes whose centres lie in a plane, among columns of noise."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 9)[:-1]
    y = np.arange(240) % 8
    X = rng.normal(size=(240, 12))
    X[:, :2] += 12 * np.column_stack([np.cos(angle), np.sin(angle)])[y]
    return X, make_candidates(y, 2, random_state=0), y


@pytest.mark.parametrize("Reducer", [CENDA, DELIN, PLDA, WPLDR])
def test_finds_the_plane_and_keeps_its_directions(Reducer, flat):
    X, S, _ = flat
    ours = fit_briefly(Reducer("auto", max_iter=4), X, S)
    assert 2 <= ours.n_components_ <= 4
    assert ours.components_.shape == (ours.n_components_, 12)
    assert len(ours.eigenvalues_) == ours.n_components_
    everything = fit_briefly(Reducer(7, max_iter=4), X, S)
    np.testing.assert_allclose(
        ours.components_, everything.components_[: ours.n_components_]
    )
    np.testing.assert_allclose(ours.label_confidence_, everything.label_confidence_)


def test_is_the_same_every_time(flat):
    X, S, _ = flat
    reducer = DELIN("auto", max_iter=3)
    labels = check_evidence(S)
    chosen = [choose_dimension(reducer, X, labels) for _ in range(2)]
    assert chosen[0] == chosen[1]


def test_works_for_a_kernel(flat):
    X, S, _ = flat
    ours = fit_briefly(DELIN("auto", kernel="linear", max_iter=2), X[:100], S[:100])
    assert 1 <= ours.n_components_ <= 7
    assert ours.components_.shape == (ours.n_components_, 100)


def test_two_classes_or_few_rows_need_no_search():
    X, y = make_blobs(30, centers=2, random_state=0)
    assert CENDA("auto").fit(X, y).n_components_ == 1
    assert CENDA("auto").fit(np.eye(3), [0, 1, 2]).n_components_ == 1


def test_frames_as_output_do_not_matter(flat):
    X, S, _ = flat
    framing = CENDA("auto", max_iter=2).set_output(transform="pandas")
    with few_iterations():
        framed = framing.fit_transform(X[:60], S[:60])
        plain = CENDA("auto", max_iter=2).fit_transform(X[:60], S[:60])
    np.testing.assert_array_equal(framed.to_numpy(), plain)


def test_a_fold_with_fewer_directions_repeats_its_last(monkeypatch):
    """A rank that varies between folds must not count as misses."""
    X, y = make_blobs(40, n_features=5, centers=4, random_state=0)
    X = X[:, [0, 0, 0, 1, 1]]  # rank 2, four classes
    labels = check_evidence(np.eye(4, dtype=bool)[y])
    assert choose_dimension(CENDA(max_iter=2), X, labels) <= 2


def test_hits_by_hand():
    Z = np.array([[0.0, 0.0], [0.0, 9.0], [5.0, 0.0]])
    Q = np.array([[1.0, 8.0], [5.0, 1.0]])
    S = np.array([[False, True, False], [False, False, True]])
    spaces = [(Z[:, :r], Q[:, :r]) for r in (1, 2)]
    hits = held_out_hits(spaces, np.eye(3), S, 1)
    # In one dimension row 0 is nearest to rows 0 and 1 alike: the first is taken.
    np.testing.assert_array_equal(hits, [[False, True], [True, True]])
