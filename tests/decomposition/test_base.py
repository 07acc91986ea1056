"""What all reducers promise alike: directions, transforms, messages, odd data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsTransformer
from tests.settling import fit_briefly

from partlearn._sizes import SIZES
from partlearn.base import count_directions
from partlearn.candidates import make_candidates
from partlearn.decomposition import CENDA, DELIN, PLDA, WPLDR

pytestmark = [
    pytest.mark.parametrize("Reducer", [CENDA, DELIN, PLDA, WPLDR]),
]


def test_transform_is_the_documented_product(Reducer, problem):
    X, S, _ = problem
    for standardize in (True, False):
        ours = Reducer(3, standardize=standardize, max_iter=8).fit(X, S)
        expected = ((X - ours.mean_) / ours.scale_) @ ours.components_.T
        np.testing.assert_allclose(ours.transform(X), expected, atol=1e-12)
        if not standardize:
            np.testing.assert_array_equal(ours.mean_, 0)
            np.testing.assert_array_equal(ours.scale_, 1)
    assert ours.n_components_ == 3
    assert ours.eigenvalues_.shape == (3,)
    name = Reducer.__name__.lower()
    assert list(ours.get_feature_names_out()) == [f"{name}{i}" for i in range(3)]


def test_units_of_columns_do_not_matter(Reducer, problem):
    X, S, _ = problem
    units = 2.0 ** np.linspace(-700, 700, X.shape[1]).astype(int)
    plain = Reducer(3, max_iter=8).fit(X, S)
    far = Reducer(3, max_iter=8).fit(X * units, S)
    np.testing.assert_array_equal(far.transform(X * units), plain.transform(X))


def test_inverse_transform_comes_back_to_the_projection(Reducer, problem):
    X, S, _ = problem
    ours = Reducer(3, max_iter=8).fit(X, S)
    Z = ours.transform(X)
    np.testing.assert_allclose(ours.transform(ours.inverse_transform(Z)), Z, atol=1e-8)
    with pytest.raises(ValueError, match="Z must have 3 columns"):
        ours.inverse_transform(Z[:, :2])


def test_fitted_facts(Reducer, problem):
    X, S, _ = problem
    ours = fit_briefly(Reducer(max_iter=5), X, S)
    assert ours.objective_.ndim == 1
    assert np.isfinite(ours.objective_).all()
    assert len(ours.objective_) in (ours.n_iter_, ours.n_iter_ + 1)
    assert ours.n_iter_ <= 5
    F = ours.label_confidence_
    assert not F[~S].any()
    np.testing.assert_allclose(F.sum(axis=1), 1)
    assert (np.diff(ours.eigenvalues_) <= 1e-12).all()
    assert (ours.components_[0, np.abs(ours.components_[0]).argmax()]) > 0


def test_float32_is_kept(Reducer, problem):
    X, S, _ = problem
    ours = fit_briefly(Reducer(max_iter=3), X.astype(np.float32), S)
    assert ours.components_.dtype == np.float32
    assert ours.label_confidence_.dtype == np.float32
    assert ours.transform(X.astype(np.float32)).dtype == np.float32


def test_tolerance_stops_and_silences(Reducer, problem):
    X, S, _ = problem
    options = {"decay": 1.0} if Reducer is PLDA else {}  # else beta moves for long
    ours = Reducer(max_iter=30, tol=1.0, **options).fit(X, S)
    assert ours.n_iter_ == 1
    longer = Reducer(max_iter=30, tol=1e-12, **options).fit(X, S)
    assert longer.n_iter_ > 1


def test_a_search_can_be_injected(Reducer, problem):
    X, S, _ = problem
    search = KNeighborsTransformer(n_neighbors=9, mode="distance")
    exact = fit_briefly(Reducer(3, max_iter=4, n_jobs=2), X, S)
    ours = fit_briefly(Reducer(3, max_iter=4, search=search), X, S)
    np.testing.assert_allclose(ours.transform(X), exact.transform(X), atol=1e-8)
    np.testing.assert_allclose(ours.label_confidence_, exact.label_confidence_)


def test_fraction_of_the_eigenvalues(Reducer, problem):
    X, S, _ = problem
    few, all_ = (
        fit_briefly(Reducer(0.5, max_iter=8), X, S),
        fit_briefly(Reducer(1.0, max_iter=8), X, S),
    )
    assert 1 <= few.n_components_ < all_.n_components_ <= 4


def test_one_direction_for_two_classes(Reducer, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 4)) + 3 * y[:, None]
    ours = Reducer(max_iter=8).fit(
        X, [{int(label)} if i % 3 else {0, 1} for i, label in enumerate(y)]
    )
    assert ours.n_components_ == 1
    if Reducer is not PLDA:  # which compares angles: one direction leaves the sign
        assert (ours.label_confidence_.argmax(axis=1) == y).mean() > 0.9


def test_single_feature(Reducer):
    X = np.r_[np.zeros(10), np.ones(10)][:, None] + np.linspace(0, 0.1, 20)[:, None]
    ours = Reducer().fit(X, [0] * 10 + [1] * 10)
    assert ours.components_.shape == (1, 1)
    assert ours.components_[0, 0] > 0


def test_two_rows(Reducer):
    ours = Reducer().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert ours.transform([[0.0, 1.0], [1.0, 0.0]]).shape == (2, 1)
    assert np.isfinite(ours.components_).all()


def test_more_neighbours_than_rows(Reducer, problem):
    X, S, _ = problem
    ours = fit_briefly(Reducer(2, n_neighbors=1000, max_iter=2), X[:20], S[:20])
    other = fit_briefly(Reducer(2, n_neighbors=19, max_iter=2), X[:20], S[:20])
    np.testing.assert_allclose(ours.components_, other.components_)


def test_constant_features_do_not_matter(Reducer, problem):
    X, S, _ = problem
    Xc = np.insert(X, 3, 7.5, axis=1)
    ours, other = Reducer(3, max_iter=8).fit(Xc, S), Reducer(3, max_iter=8).fit(X, S)
    np.testing.assert_allclose(ours.components_[:, 3], 0, atol=1e-12)
    np.testing.assert_allclose(ours.label_confidence_, other.label_confidence_)
    np.testing.assert_allclose(ours.transform(Xc), other.transform(X), atol=1e-8)


def test_duplicate_rows(Reducer, problem):
    X, S, _ = problem
    X = np.repeat(X[:15], 6, axis=0)
    # Whether four iterations are enough hangs on rounding: the scatter is singular.
    ours = fit_briefly(Reducer(2, max_iter=4), X, S)
    assert np.isfinite(ours.components_).all()
    assert np.isfinite(ours.label_confidence_).all()


def test_constant_data_say_so(Reducer, problem):
    _, S, _ = problem
    with pytest.raises(ValueError, match="No direction depends on the labels"):
        Reducer().fit(np.ones((90, 4)), S)


def test_same_candidates_everywhere_say_so(Reducer, problem):
    X, _, _ = problem
    with pytest.raises(ValueError, match="all rows have the same candidates"):
        Reducer().fit(X, np.ones((90, 3), dtype=int))


def test_labels_unrelated_to_the_data_say_so(Reducer):
    with pytest.raises(ValueError, match="whatever the candidates are"):
        Reducer().fit([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1])


def test_one_class_says_so(Reducer, problem):
    X, _, _ = problem
    with pytest.raises(ValueError, match=r"at least two classes; .* \('a'\)"):
        Reducer().fit(X, ["a"] * 90)


def test_too_many_directions_are_named(Reducer, problem):
    X, S, _ = problem
    with pytest.warns(UserWarning, match="of n_components=20"):
        ours = Reducer(20, max_iter=8).fit(X, S)
    assert ours.n_components_ == (8 if Reducer is WPLDR else 4)


def test_no_direction_is_no_number_of_directions(Reducer, problem):
    X, S, _ = problem
    with pytest.raises(ValueError, match="'n_components' parameter"):
        Reducer(0).fit(X, S)


def test_label_without_any_row(Reducer, problem):
    X, S, _ = problem
    S = np.insert(S, 2, False, axis=1)
    ours = Reducer(3, max_iter=8).fit(X, S)
    assert np.isfinite(ours.components_).all()
    assert not ours.label_confidence_[:, 2].any()


def test_large_sides_are_refused_in_words(Reducer, problem, monkeypatch):
    if Reducer is CENDA:  # conjugate gradients take over
        return
    X, S, _ = problem
    monkeypatch.setattr(SIZES, "largest_factor", 5)
    with pytest.raises(ValueError, match=r"90 rows and 8 columns.*TruncatedSVD"):
        Reducer().fit(X, S)


def test_sparse_input_is_never_densified(Reducer, monkeypatch):
    """Nothing of the size of the data is ever dense."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 3000), density=0.01, rng=rng, format="csr")
    S = make_candidates(np.arange(60) % 3, 1, random_state=0)
    sizes = []
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        original = kind.toarray

        def toarray(self, *args, _original=original, **kwargs):
            sizes.append(np.prod(self.shape))
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(kind, "toarray", toarray)
    ours = Reducer(2, max_iter=2).fit(X, S)
    ours.transform(X)
    assert max(sizes) <= 60 * 60  # the columns are 3000, the data 180000


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [(None, 3), (2, 2), (9, 3), (0.59, 1), (0.61, 2), (1.0, 3), (0.0, 3)],
)
def test_count_directions(Reducer, wanted, expected):
    values = np.array([6.0, 3.0, 1.0, 1e-14])
    assert count_directions(values, wanted) == expected
    assert count_directions(np.zeros(3), wanted) == 0
