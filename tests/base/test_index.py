"""Rows and labels in pandas whose indexes disagree."""

import numpy as np
import pytest

from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.decomposition import CENDA
from partlearn.multilabel.classification import CRISPMultiLabelClassifier

pd = pytest.importorskip("pandas")
NAMES = [f"r{i}" for i in range(12)]
X = pd.DataFrame(np.arange(24.0).reshape(12, 2) % 7, index=NAMES, columns=["a", "b"])
S = pd.DataFrame(np.eye(3, dtype=int)[np.arange(12) % 3], index=NAMES)


@pytest.mark.parametrize(
    "estimator", [CRISPClassifier(), PLKNN(2), CENDA(), CRISPMultiLabelClassifier()]
)
@pytest.mark.filterwarnings("ignore")  # of twelve rows
def test_labels_in_another_order_are_refused(estimator):
    with pytest.raises(ValueError, match="`y` has another index than the rows"):
        estimator.fit(X, S.iloc[::-1])
    by_name = estimator.fit(X, S.iloc[::-1].loc[X.index])
    # An index that only counts the rows says nothing about their order.
    estimator.fit(X, S.reset_index(drop=True))
    estimator.fit(X.to_numpy(), S.iloc[::-1])
    assert by_name is estimator
