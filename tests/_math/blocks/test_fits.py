"""A fit on blocks of rows is the fit in memory, whatever the blocks and the engine."""

from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from tests.settling import fit_briefly

from partlearn._math.blocks import Rows, as_rows
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, PLSVM, CRISPClassifier
from partlearn.decomposition import CENDA, CRISP, PLDA, KernelCRISP, TunedPCA
from partlearn.feature_selection import SAUTE, MaxRelevance

X, TRUTH = make_blobs(
    400, n_features=8, centers=5, cluster_std=5.0, center_box=(-5, 5), random_state=0
)
S = make_candidates(TRUTH, n_false=1, random_state=0)

FITS = [
    CENDA(max_iter=5),
    CENDA(2, standardize=False, scaling="maxabs", max_iter=3),
    CENDA(svd_rank=3, max_iter=3),
    CRISP(use_neighbors=False, max_iter=6),
    CRISP(3, use_neighbors=False, standardize=False, background=0.3, max_iter=3),
    TunedPCA(n_components=3),
    TunedPCA(CENDA(max_iter=3), n_components=6),
    CRISPClassifier(use_neighbors=False, n_landmarks=25, max_iter=4),
    KernelCRISP(3, use_neighbors=False, n_landmarks=25, max_iter=3),
    MaxRelevance(3, max_iter=3),
    MaxRelevance(0.5, alpha=0.0, standardize=False),
    SAUTE(4, max_iter=3),
    SAUTE(None, criterion="quotient", max_iter=2),
    CRISPClassifier(["linear"], use_neighbors=False, max_iter=4),
    CRISPClassifier(use_neighbors=False, max_iter=2),
    CRISP(max_iter=3),
    CRISP(n_reference=100, max_iter=2),
    CRISPClassifier(max_iter=2),
    KernelCRISP(n_reference=100, n_landmarks=25, max_iter=2),
]
BLOCKS = [(400,), (1, 399), (20,) * 20, (150, 7, 243)]


class Part:
    """Loads some rows; can be pickled for other processes."""

    def __init__(self, start, stop):
        self.start, self.stop = start, stop

    def __call__(self):
        return X[self.start : self.stop]


def in_blocks(sizes):
    ends = np.cumsum([0, *sizes])
    parts = [Part(a, b) for a, b in pairwise(ends)]
    return Rows(parts, sizes, X.shape[1])


def attributes(model):
    """Numbers that a fit has learnt."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and np.asarray(value).dtype.kind in "fiub"
    }


def assert_same_fit(model, expected):
    got, wanted = attributes(model), attributes(expected)
    assert got.keys() == wanted.keys()
    for name, value in wanted.items():
        assert np.isfinite(value).all()
        assert_allclose(got[name], value, rtol=1e-8, atol=1e-8, err_msg=name)


def name_of(estimator):
    return type(estimator).__name__


@pytest.fixture(scope="module", params=FITS, ids=name_of)
def expected(request):
    """Each of the estimators, fitted in memory."""
    model = fit_briefly(clone(request.param), X, S)
    assert attributes(model)
    return model


@pytest.mark.parametrize("sizes", BLOCKS, ids=len)
def test_any_blocks_in_this_process(expected, sizes):
    model = fit_briefly(clone(expected), in_blocks(sizes), S)
    assert_same_fit(model, expected)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_dask_arrays_and_frames(expected, scheduler):
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    lazy = dd.from_pandas(frame, npartitions=7)
    model = clone(expected)
    with dask.config.set(scheduler=scheduler):
        fit_briefly(model, lazy, da.from_array(S, chunks=(90, 2)))
        assert_same_fit(model, expected)
        assert_array_equal(model.feature_names_in_, list("abcdefgh"))
        fit_briefly(model, lazy.to_dask_array(lengths=True), da.from_array(S))
        assert_same_fit(model, expected)


def test_features_of_blocks_that_dask_holds_are_not_kept_here(monkeypatch):
    """Features of many rows are kept only of rows that are in memory themselves."""
    model = CRISPClassifier(use_neighbors=False, n_landmarks=25, max_iter=4)
    expected = fit_briefly(clone(model), X, S)
    monkeypatch.setattr(SIZES, "exact_rows", 100)
    assert_same_fit(fit_briefly(clone(expected), X, S), expected)
    lazy = da.from_array(X, chunks=(60, 8))
    assert_same_fit(fit_briefly(clone(expected), lazy, S), expected)


@pytest.mark.parametrize("model", [SAUTE(4), MaxRelevance(3)], ids=name_of)
def test_scores_found_in_single_precision_are_refined(monkeypatch, model):
    """Large data in memory are searched in single precision; blocks never are."""
    pytest.importorskip("numba")
    expected = fit_briefly(clone(model), in_blocks((150, 250)), S)
    monkeypatch.setattr(SIZES, "relevance_compiled", 0)
    assert_same_fit(fit_briefly(clone(model), X, S), expected)


@pytest.mark.parametrize(("background", "extra"), [("none", 0), (0.0, 0), (0.5, 2)])
def test_no_pass_for_principal_components_without_weight(caplog, background, extra):
    model = CRISP(use_neighbors=False, background=background, max_iter=1, tol=0)
    with caplog.at_level("INFO", logger="partlearn._math.blocks"):
        fit_briefly(model, in_blocks((200, 200)), S)
    passes = [record.message.split(" over ")[0] for record in caplog.records]
    # One product and one score for the iteration, the same again for its result, and
    # one score and one pass for leverages for the choice of the ridge.
    assert passes.count("block product") == 2
    assert passes.count("block scores") == 3 + extra
    assert passes.count("block leverages") == 2


def test_wrong_blocks_are_named():
    wrong = X.copy()
    wrong[150, 3] = np.nan
    rows = da.from_array(wrong, chunks=(100, 8))
    with pytest.raises(ValueError, match=r"block of rows 100 to 199: .* contains NaN"):
        CENDA().fit(rows, S)
    with pytest.raises(ValueError, match="X has 400 rows, y has 399"):
        CENDA().fit(in_blocks((200, 200)), S[:-1])
    with pytest.raises(ValueError, match="Found 1 rows, while a minimum of 2"):
        CENDA().fit(Rows([Part(0, 1)], [1], 8), S[:1])
    turned = as_rows(rows)[::-1]  # row 150 is row 249, in the block of 200 to 299
    with pytest.raises(ValueError, match=r"block of rows 200 to 299: .* contains NaN"):
        CRISP(use_neighbors=False).fit(turned, S)


@pytest.mark.parametrize("estimator", [PLDA(), PLSVM()], ids=name_of)
def test_methods_that_need_all_rows_say_so(estimator):
    with pytest.raises(ValueError, match="is fitted on all rows at once, not on bl"):
        estimator.fit(in_blocks((200, 200)), S)


@pytest.mark.parametrize(
    ("estimator", "advice"),
    [
        (CENDA("auto"), "Set n_components to a number or a share"),
        (TunedPCA(), "Set n_components to one number"),
        (SAUTE("auto"), "Set n_features_to_select to a number or a share"),
        (PLKNN(n_reference=None), "Set n_reference"),
    ],
    ids=repr,
)
def test_what_is_no_sum_is_refused_with_advice(estimator, advice):
    with pytest.raises(ValueError, match=f"needs all rows at once.*{advice}"):
        estimator.fit(in_blocks((200, 200)), S)


def test_exact_kernels_of_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(SIZES, "exact_kernel_rows", 399)
    model = CRISPClassifier(use_neighbors=False, n_landmarks=None)
    with pytest.raises(ValueError, match=r"needs all rows at once.*Set n_landmarks"):
        model.fit(in_blocks((200, 200)), S)


@pytest.mark.parametrize("n_reference", ["auto", 150])
def test_neighbours_among_reference_rows(n_reference):
    model = PLKNN(n_reference=n_reference)
    P = model.fit(X, S).predict_proba(X)
    assert hasattr(model, "label_confidence_")
    for confidence in (None, S / S.sum(axis=1, keepdims=True)):
        P = model.fit(X, S, confidence).predict_proba(X)
        model.fit(in_blocks((150, 7, 243)), S, confidence)
        assert_allclose(model.predict_proba(X), P, rtol=1e-8, atol=1e-8)
        assert not hasattr(model, "label_confidence_")
    with pytest.raises(ValueError, match=r"\(400, 5\); got \(800, 5\)"):
        model.fit(in_blocks((150, 7, 243)), S, np.tile(S, (2, 1)))


def test_redundancy_given_the_label_is_refused():
    with pytest.raises(ValueError, match='Set criterion="difference" or "quotient"'):
        SAUTE(2, criterion="jmi").fit(in_blocks((200, 200)), S)


def test_shapes_that_are_no_sums_are_refused():
    wide = Rows([Part(0, 9)], [9], 8).apply(repeated, n_features=80)
    with pytest.raises(ValueError, match="need more rows than columns; there are 9"):
        CENDA().fit(wide, S[:9])
    wide = Rows([Part(0, 400)] * 11, [400] * 11, 8).apply(huge, n_features=4001)
    with pytest.raises(ValueError, match="may have 4000 columns at most"):
        CRISP(use_neighbors=False).fit(wide, np.tile(S, (11, 1)))


def repeated(block):
    return np.tile(block, 10) + np.arange(80)


def huge(block):
    return np.tile(block, 501)[:, :4001]
