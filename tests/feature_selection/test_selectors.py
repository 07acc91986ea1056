"""Behaviour that users of the selectors rely on."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from partlearn._sizes import SIZES
from partlearn.base import count_features
from partlearn.base._selector import find_columns
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.feature_selection import (
    SAUTE,
    MaxJointEntropy,
    MaxRelevance,
    PathState,
    RandomSelection,
)

ALL = [SAUTE, MaxRelevance, MaxJointEntropy, RandomSelection]
LEARNT = [SAUTE, MaxRelevance]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, make_candidates(y, n_false=1, random_state=0), y


def fixed(cls):
    return {"random_state": 0} if cls is RandomSelection else {}


@pytest.mark.parametrize(
    ("wanted", "d", "n"),
    [
        (3, 10, 3),
        (30, 10, 10),
        (0.15, 10, 2),
        (0.35, 20, 7),  # 0.35 * 20 is a little more than 7 in floating point
        (0.001, 10, 1),
        (1.0, 10, 10),
        (None, 10, 10),
        (np.int64(4), 10, 4),
    ],
)
def test_number_of_features(wanted, d, n):
    assert count_features(wanted, d) == n


@pytest.mark.parametrize("cls", ALL)
def test_fitted_attributes(cls, wine):
    X, S, _ = wine
    selector = cls(5, **fixed(cls)).fit(X, S)
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(selector.selected_))
    assert_array_equal(selector.ranking_[selector.selected_], np.arange(1, 6))
    assert_array_equal(np.sort(selector.ranking_), np.arange(1, 14))
    assert selector.scores_.shape == (13,)
    assert np.isfinite(selector.scores_).all()
    assert_array_equal(selector.transform(X), X[:, selector.support_])
    rest = np.argsort(selector.ranking_)[5:]
    assert (np.diff(selector.scores_[rest]) <= 0).all()


@pytest.mark.parametrize("cls", LEARNT)
def test_confidences(cls, wine):
    X, S, y = wine
    F = cls(5).fit(X, S).label_confidence_
    assert (F[~S] == 0).all()
    assert_allclose(F.sum(axis=1), 1)
    assert (F.argmax(axis=1) == y).mean() > 0.85


@pytest.mark.parametrize("cls", ALL)
def test_all_features(cls, wine):
    X, S, _ = wine
    for wanted in (13, 99, 1.0):
        selector = cls(wanted, **fixed(cls)).fit(X, S)
        assert selector.support_.all()
        assert_array_equal(np.sort(selector.selected_), np.arange(13))
    if cls in LEARNT:
        assert selector.n_iter_ == 1
        assert selector.label_confidence_.shape == S.shape


@pytest.mark.parametrize("cls", LEARNT)
def test_none_ranks_everything_and_starts_like_the_default(cls, wine):
    X, S, _ = wine
    ranked, usual = cls(None).fit(X, S), cls().fit(X, S)
    assert_array_equal(np.sort(ranked.selected_), np.arange(13))
    assert_array_equal(ranked.selected_[:2], usual.selected_)
    assert_array_equal(ranked.label_confidence_, usual.label_confidence_)
    assert len(ranked.relevance_) == len(ranked.redundancy_) == 13


def test_scores_are_relevance_minus_redundancy(wine):
    X, S, _ = wine
    selector = SAUTE(6).fit(X, S)
    at = selector.selected_
    assert_allclose(selector.scores_[at], selector.relevance_ - selector.redundancy_)
    assert selector.redundancy_[0] == 0
    assert (selector.redundancy_[1:] > 0).all()


@pytest.mark.parametrize("cls", LEARNT)
def test_sparse_equals_dense(cls, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(3, size=150)
    X = rng.poisson(0.1 + (rng.random((3, 40)) < 0.2)[y]) * (1 + rng.random((150, 40)))
    S = make_candidates(y, n_false=1, random_state=0)
    dense = cls(8, max_iter=50).fit(X, S)
    for kind in (sp.csr_array, sp.csc_matrix):
        sparse = cls(8, max_iter=50).fit(kind(X), S)
        assert_array_equal(sparse.selected_, dense.selected_)
        assert_allclose(sparse.label_confidence_, dense.label_confidence_, atol=1e-8)
        assert_allclose(sparse.scores_, dense.scores_, atol=1e-10)
        assert sp.issparse(sparse.transform(kind(X)))


def test_scale_matters_to_neighbours_only_when_asked(wine):
    X, S, _ = wine
    scale = 10.0 ** np.arange(-6, 7)
    usual = SAUTE(4).fit(X, S)
    assert_array_equal(SAUTE(4).fit(X * scale, S).selected_, usual.selected_)
    raw, other = (
        SAUTE(4, standardize=False, max_iter=50).fit(A, S) for A in (X, X * scale)
    )
    assert not np.allclose(raw.label_confidence_, other.label_confidence_)
    sparse = SAUTE(4, standardize=False, max_iter=50).fit(sp.csr_array(X), S)
    assert_allclose(sparse.label_confidence_, raw.label_confidence_, atol=1e-8)


@pytest.mark.parametrize("entropy", ["bins", "gaussian"])
def test_joint_entropy_sparse_equals_dense(entropy):
    X = np.random.default_rng(0).poisson(0.4, size=(90, 30)).astype(float)
    dense = MaxJointEntropy(12, entropy=entropy).fit(X)
    sparse = MaxJointEntropy(12, entropy=entropy).fit(sp.csr_array(X))
    assert_array_equal(sparse.selected_, dense.selected_)
    assert_allclose(sparse.joint_entropy_, dense.joint_entropy_, atol=1e-9)


@pytest.mark.parametrize("cls", ALL)
def test_float32_is_kept(cls, wine):
    X, S, _ = wine
    selector = cls(4, **fixed(cls)).fit(X.astype(np.float32), S)
    assert selector.transform(X.astype(np.float32)).dtype == np.float32
    assert_array_equal(selector.selected_, cls(4, **fixed(cls)).fit(X, S).selected_)
    if cls in LEARNT:
        assert selector.label_confidence_.dtype == np.float32


@pytest.mark.parametrize("cls", ALL)
def test_names_flow_through_pipelines(cls, wine):
    pd = pytest.importorskip("pandas")
    X, S, _ = wine
    frame = pd.DataFrame(X, columns=[f"w{j}" for j in range(13)])
    selector = cls(3, must_keep=["w11"], exclude=["w0", "w6"], **fixed(cls))
    pipe = make_pipeline(selector, PLKNN()).fit(frame, S)
    names = pipe[:-1].get_feature_names_out()
    assert "w11" in names
    assert not {"w0", "w6"} & set(names)
    assert len(names) == 3
    out = clone(selector).set_output(transform="pandas").fit_transform(frame, S)
    assert list(out.columns) == list(names)
    assert clone(selector).fit(frame, S).selected_[0] == 11
    assert_array_equal(
        np.argsort(clone(selector).fit(frame, S).ranking_)[-2:] % 6, [0, 0]
    )


@pytest.mark.parametrize("cls", ALL)
def test_kept_columns_count_and_excluded_ones_never_enter(cls, wine):
    X, S, _ = wine
    mask = np.zeros(13, dtype=bool)
    mask[[2, 5]] = True
    selector = cls(None, must_keep=[-1], exclude=mask, **fixed(cls)).fit(X, S)
    assert selector.selected_[0] == 12
    assert selector.support_.sum() == 11
    assert not selector.support_[mask].any()
    assert set(selector.ranking_[mask]) == {12, 13}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"must_keep": [13]}, "column 13, but X has 13"),
        ({"must_keep": ["a"]}, "without feature names"),
        ({"must_keep": [0, 1], "exclude": [1]}, "both `must_keep` and `exclude`"),
        ({"exclude": list(range(13))}, "leaves no feature"),
        ({"must_keep": [0, 1, 2, 3]}, "more than the 2 that"),
        ({"exclude": [True, False]}, "must have 13 entries"),
        ({"must_keep": [[0]]}, "flat list"),
    ],
)
@pytest.mark.parametrize("cls", ALL)
def test_bad_columns(cls, params, message, wine):
    X, S, _ = wine
    with pytest.raises(ValueError, match=message):
        cls(**params).fit(X, S)


def test_column_types():
    with pytest.raises(TypeError, match="indices, names or booleans"):
        find_columns([0.5], 3, None, "exclude")
    with pytest.raises(ValueError, match="'b', which is not a feature"):
        find_columns(["b"], 1, np.array(["a"]), "exclude")
    assert_array_equal(find_columns([2, -1, 0], 3, None, "exclude"), [2, 0])
    assert find_columns([], 3, None, "exclude").size == 0


@pytest.mark.parametrize("cls", LEARNT)
def test_warns_while_the_selection_changes(cls, wine):
    X, S, _ = wine
    for max_iter in (1, 2):
        with pytest.warns(ConvergenceWarning, match=f"max_iter={max_iter}"):
            cls(5, max_iter=max_iter).fit(X[::3], S[::3])


@pytest.mark.parametrize("cls", LEARNT)
def test_without_votes_two_rounds_settle(cls, wine):
    X, S, _ = wine
    selector = cls(4, alpha=0).fit(X, S)
    assert selector.n_iter_ == 2
    assert_allclose(selector.label_confidence_, S / S.sum(axis=1, keepdims=True))


def test_relevance_of_known_labels_ranks_informative_features_first(
    global_random_seed,
):
    X, y = make_blobs(200, n_features=3, centers=4, random_state=global_random_seed)
    noise = np.random.default_rng(global_random_seed).normal(size=(200, 5))
    selector = MaxRelevance(3).fit(np.column_stack([noise, X]), y)
    assert_array_equal(np.sort(selector.selected_), [5, 6, 7])
    assert selector.n_iter_ == 2  # nothing to disambiguate


def test_degenerate_data():
    """A constant, copies, a class of one row, and fewer rows than neighbours."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4))
    X[:, 1] = X[:, 0]
    X[:, 2] = 1.0
    y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"b"}, {"c"}]
    selector = SAUTE(4, n_neighbors=50).fit(X, y)
    assert selector.selected_[0] in (0, 3)
    assert selector.ranking_[0] < selector.ranking_[1]  # of copies the first
    assert_array_equal(selector.classes_, ["a", "b", "c"])
    assert np.isfinite(selector.scores_).all()
    assert_allclose(selector.label_confidence_.sum(axis=1), 1)
    assert MaxRelevance(4, n_neighbors=50).fit(X, y).selected_[-1] == 2  # the constant


def test_copies_are_redundant():
    X, y = load_wine(return_X_y=True)
    X = X[:, [9, 9, 9, 0, 6]]
    S = make_candidates(y, random_state=0)
    assert_array_equal(np.sort(SAUTE(3, alpha=0).fit(X, S).selected_), [0, 3, 4])
    assert_array_equal(MaxRelevance(3, alpha=0).fit(X, S).selected_, [0, 1, 2])


@pytest.mark.parametrize("cls", LEARNT)
def test_one_class_is_refused(cls):
    with pytest.raises(ValueError, match="at least two classes"):
        cls().fit(np.eye(3), ["a", "a", "a"])


def test_criteria_differ_and_can_be_written(wine):
    X, S, _ = wine
    seen = []

    def simple(state: PathState):
        seen.append(state.n_selected)
        return state.relevance - state.mean_redundancy

    published = SAUTE(5).fit(X, S)
    own = SAUTE(5, criterion=simple).fit(X, S)
    assert_array_equal(own.selected_, published.selected_)
    assert set(seen) == {0, 1, 2, 3, 4, 5}
    orders = {
        name: tuple(SAUTE(5, criterion=name, max_iter=40).fit(X, S).selected_)
        for name in ("difference", "quotient", "jmi")
    }
    assert len(set(orders.values())) > 1
    with pytest.raises(ValueError, match="one score per feature"):
        SAUTE(criterion=lambda state: 0.0).fit(X, S)
    with pytest.raises(ValueError, match="no NaN"):
        SAUTE(criterion=lambda state: state.relevance * np.nan).fit(X, S)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_of_a_criterion_keep_the_limits(wine, value):
    X, S, _ = wine
    first = np.arange(X.shape[1]) == 3
    selector = SAUTE(
        3,
        criterion=lambda state: np.where(first, np.inf, value),
        alpha=0,
        exclude=[0],
    )
    assert_array_equal(
        selector.fit(X, S).selected_, [1, 2, 3] if value > 0 else [3, 1, 2]
    )


def test_quotient_and_jmi_by_hand(wine):
    from partlearn.feature_selection._columns import columns
    from partlearn.feature_selection._redundancy import Redundancy
    from partlearn.feature_selection._relevance import Relevance

    X, S, _ = wine
    F = S / S.sum(axis=1, keepdims=True)
    relevance = Relevance(columns(X), F, S, var_floor=0.6)
    redundancy = Redundancy(columns(X))
    for name in ("quotient", "jmi"):
        order = SAUTE(3, criterion=name, alpha=0).fit(X, S).selected_
        assert order[0] == relevance.values.argmax()
        rows = np.array([redundancy.row(f) for f in order[:2]])
        given = np.array([redundancy.conditional_row(f, F) for f in order[:2]])
        for p in (1, 2):
            if name == "quotient":
                information = relevance.values + relevance.prior_entropy
                scores = information / (rows[:p].mean(axis=0) + 0.01)
            else:
                scores = relevance.values - (rows - given)[:p].mean(axis=0)
            scores[order[:p]] = -np.inf
            assert order[p] == scores.argmax()


def test_single_precision_gives_the_exact_selection(monkeypatch):
    """The compiled path decides near ties in double precision."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400)
    X = rng.normal(size=(400, 30)) + np.outer(y, rng.random(30))
    X[:, 20:] = X[:, :10] * 3 + 1e-7 * rng.normal(size=(400, 10))  # nearly equal
    S = make_candidates(y, n_false=1, random_state=0)
    ways = [SAUTE(15), SAUTE(15, criterion="quotient", alpha=0), MaxRelevance(15)]
    exact = [clone(way).set_params(max_iter=60).fit(X, S) for way in ways]
    monkeypatch.setattr(SIZES, "relevance_compiled", 0)
    for way, expected in zip(ways, exact, strict=True):
        found = clone(way).set_params(max_iter=60).fit(X, S)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.relevance_, expected.relevance_, atol=1e-6)
        assert_allclose(found.label_confidence_, expected.label_confidence_)


@pytest.mark.parametrize("cls", LEARNT)
def test_auto_finds_a_good_size_without_truth(cls, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(4, size=240)
    X = rng.normal(size=(240, 40))
    X[:, :6] += 3 * rng.normal(size=(4, 6))[y]
    S = make_candidates(y, n_false=1, random_state=0)
    selector = cls("auto", random_state=0, max_iter=50).fit(X, S)
    n = len(selector.selected_)
    assert n in selector.sizes_
    assert 2 <= n <= 12
    assert selector.hit_rates_.shape == selector.sizes_.shape
    assert selector.hit_rates_.max() > 0.9
    again = cls("auto", random_state=0, max_iter=50).fit(sp.csr_array(X), S)
    assert_array_equal(again.selected_, selector.selected_)


def test_auto_on_hardly_any_data():
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    selector = SAUTE("auto").fit(X, ["a", "b"])
    assert len(selector.selected_) == 1
    assert np.isnan(selector.hit_rates_).all()
    one = SAUTE("auto").fit(np.arange(6.0)[:, None], list("aabbcc"))
    assert one.support_.all()


def test_auto_respects_what_must_be_kept(wine):
    X, S, _ = wine
    selector = SAUTE("auto", must_keep=[0, 1, 2], exclude=[6], random_state=0)
    selector.fit(X, S)
    assert selector.support_[:3].all()
    assert not selector.support_[6]
    assert selector.sizes_.min() == 3


def test_random_selection_repeats_by_seed(wine):
    X, _, _ = wine
    a, b = (RandomSelection(5, random_state=1).fit(X).selected_ for _ in range(2))
    assert_array_equal(a, b)
    expected = np.random.RandomState(1).choice(13, 5, replace=False)
    assert_array_equal(a, expected)
    draws = {
        tuple(RandomSelection(5, random_state=s).fit(X).selected_) for s in range(9)
    }
    assert len(draws) > 1


@pytest.mark.parametrize("cls", ALL)
def test_not_fitted(cls):
    with pytest.raises(NotFittedError):
        cls().transform(np.eye(3))
