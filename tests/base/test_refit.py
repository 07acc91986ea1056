"""A second fit leaves nothing of the first behind."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from partlearn.candidates import fitted_confidence, make_candidates
from partlearn.classification import PLECOC, PLKNN, SURE, PooledClassifier
from partlearn.decomposition import DELIN
from partlearn.feature_selection import SAUTE, CRISPSelector, MaxRelevance

X, TRUTH = make_blobs(60, n_features=6, centers=4, random_state=0)
S = make_candidates(TRUTH, n_false=1, random_state=0)


@pytest.mark.parametrize(
    ("estimator", "change"),
    [
        (SAUTE("auto", random_state=0), {"n_features_to_select": 2}),
        (MaxRelevance("auto", random_state=0), {"n_features_to_select": 2}),
        (CRISPSelector("auto"), {"n_features_to_select": 2}),
        (SURE(kernel="linear"), {"kernel": "rbf"}),
        (DELIN(kernel="rbf"), {"kernel": None}),
        (PooledClassifier([PLKNN()], random_state=0), {"weights": "equal"}),
        (PLECOC(random_state=0, min_size=1), {"estimator": LogisticRegression()}),
        (PLECOC(estimator=LogisticRegression(), min_size=1), {"estimator": None}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_attribute_of_an_earlier_fit(estimator, change):
    once = type(estimator)(**{**estimator.get_params(deep=False), **change}).fit(X, S)
    twice = estimator.fit(X, S).set_params(**change).fit(X, S)
    assert set(vars(twice)) == set(vars(once))


def test_equal_weights_have_no_confidences_of_other_rows():
    model = PooledClassifier([PLKNN()], random_state=0).fit(X, S)
    model.set_params(weights="equal").fit(X[:30], S[:30])
    assert fitted_confidence(model) is None
    assert np.isfinite(model.predict_proba(X)).all()
