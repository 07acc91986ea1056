"""Every estimator transforms and predicts rows in blocks, lazily."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from tests.estimators import build

from partlearn._math.blocks import Rows
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, PLSVM, CoupledClassifier
from partlearn.decomposition import CENDA
from partlearn.feature_selection import MaxRelevance
from partlearn.metrics import candidate_hit_scorer
from partlearn.utils import all_estimators

METHODS = ("transform", "predict", "predict_proba", "decision_function")
FAST = {"max_iter": 3, "n_init": 1, "cv": 3, "random_state": 0}
SMALL = {"PMLFSNF": {"alpha": 0.5}}  # its default removes all of few features
DATA, TRUTH = make_blobs(60, n_features=5, centers=5, random_state=0)
DATA -= DATA.min()  # some selectors take no negative numbers
CANDIDATES = make_candidates(TRUTH, n_false=1, random_state=0)


@pytest.mark.parametrize("name", dict(all_estimators()))
def test_all_estimators_map_blocks(name):
    model = build(name)
    known = model.get_params()
    model.set_params(**{key: FAST[key] for key in FAST if key in known})
    model.set_params(**SMALL.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that are as brief as may be
        model.fit(DATA, CANDIDATES)
    lazy = da.from_array(DATA, chunks=(17, 3))
    names = [name for name in METHODS if hasattr(model, name)]
    assert names
    for name in names:
        method = getattr(model, name)
        result, expected = method(lazy), method(DATA)
        assert dask.is_dask_collection(result)
        assert result.shape == expected.shape
        assert result.dtype == expected.dtype
        assert result.chunks[0] == (17, 17, 17, 9)
        computed = result.compute()
        if expected.dtype.kind == "f":
            assert_allclose(computed, expected, rtol=1e-9, atol=1e-12)
        else:
            assert_array_equal(computed, expected)


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(block):
        raise AssertionError("computed")

    lazy = da.from_array(DATA, chunks=(20, 5)).map_blocks(fail, dtype=float)
    result = PLKNN().fit(DATA, CANDIDATES).predict(lazy)
    with pytest.raises(AssertionError, match="computed"):
        result.compute()


def test_data_frames_keep_their_names_and_may_have_empty_parts():
    frame = pd.DataFrame(DATA, columns=list("abcde"))
    model = CoupledClassifier(CENDA(), PLSVM(random_state=0)).fit(frame, CANDIDATES)
    lazy = dd.from_pandas(frame.assign(place=range(60)), npartitions=3)
    lazy = lazy[lazy.place < 30][list("abcde")]
    for name in ("predict", "decision_function"):
        result = getattr(model, name)(lazy)
        assert np.isnan(result.shape[0])
        assert_array_equal(result.compute(), getattr(model, name)(frame[:30]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy.rename(columns={"a": "z"}))


def test_rows_give_rows():
    rows = Rows([lambda: DATA[:20], lambda: DATA[20:]], [20, 40], 5)
    model = make_pipeline(CENDA(), PLKNN()).fit(DATA, CANDIDATES)
    Z = model[0].transform(rows)
    assert isinstance(Z, Rows)
    assert Z.shape == (60, 4)
    assert_array_equal(model.predict(rows).compute(), model.predict(DATA))


def test_sparse_rows_stay_sparse():
    sparse = sp.csr_array(DATA * (DATA > 0))
    model = MaxRelevance(2).fit(sparse, CANDIDATES)
    rows = Rows([lambda: sparse[:20], lambda: sparse[20:]], [20, 40], 5)
    result = model.transform(rows).compute()
    assert sp.issparse(result)
    assert_array_equal(result.toarray(), model.transform(sparse).toarray())


def test_frames_asked_for_are_arrays_in_blocks():
    model = CENDA().fit(DATA, CANDIDATES).set_output(transform="pandas")
    Z = model.transform(da.from_array(DATA, chunks=(20, 5))).compute()
    assert isinstance(Z, np.ndarray)


def test_columns_that_are_numbered_have_no_names():
    frame = pd.DataFrame(DATA)
    model = PLKNN().fit(frame, CANDIDATES)
    labels = model.predict(dd.from_pandas(frame, npartitions=2))  # without a warning
    assert_array_equal(labels.compute(), model.predict(frame))


def test_arguments_that_a_method_does_not_take():
    model = PLKNN().fit(DATA, CANDIDATES)
    for rows in (DATA, da.from_array(DATA)):
        with pytest.raises(TypeError):
            model.predict(rows, sample_weight=1)


def test_predictions_of_rows_are_scored_like_others():
    model = PLKNN().fit(DATA, CANDIDATES)
    rows = Rows([lambda: DATA[:40], lambda: DATA[40:]], [40, 20], 5)
    assert model.score(rows, TRUTH) == model.score(DATA, TRUTH)
    given = candidate_hit_scorer(model, rows, CANDIDATES)
    assert given == candidate_hit_scorer(model, DATA, CANDIDATES)
    assert_array_equal(np.asarray(rows), DATA)
    assert_array_equal(np.asarray(rows.apply(sp.csr_array, n_features=5)), DATA)
