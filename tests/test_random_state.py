"""`random_state` means what scikit-learn means by it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from tests.settling import fit_briefly

from partlearn.candidates import make_candidates
from partlearn.decomposition import DELIN, TunedPCA
from partlearn.feature_selection import CRISPSelector

WHAT = {
    DELIN: "label_confidence_",
    TunedPCA: "hit_rates_",
}


@pytest.mark.parametrize("cls", WHAT, ids=lambda cls: cls.__name__)
def test_a_number_repeats_and_none_draws_anew(cls):
    X, y = make_classification(120, 12, n_informative=4, n_classes=4, random_state=0)
    S = make_candidates(y, n_false=2, random_state=0)

    def result(**params):
        return getattr(fit_briefly(cls(**params), X, S), WHAT[cls]).tobytes()

    assert cls().random_state == 0
    assert result() == result(random_state=0)
    assert len({result(random_state=None) for _ in range(6)}) > 1


def test_the_selection_by_resampled_rows_repeats():
    X, y = make_classification(120, 12, n_informative=4, n_classes=4, random_state=0)
    S = make_candidates(y, n_false=2, random_state=0)
    a, b = (fit_briefly(CRISPSelector("auto"), X, S).selected_ for _ in range(2))
    np.testing.assert_array_equal(a, b)
