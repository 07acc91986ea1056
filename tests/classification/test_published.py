"""Published figures on Lost, under the protocol behind them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from tests.settling import few_iterations

from partlearn.classification import IPAL, PLECOC, PLKNN, PLSVM, SURE
from partlearn.decomposition import CENDA
from partlearn.model_selection import cross_validate, published_embedding

pytestmark = [
    pytest.mark.shared,
    # PL-ECOC finds fewer columns than it asks for among the candidates of Lost.
    pytest.mark.filterwarnings("ignore:Only .* columns:UserWarning"),
]


@pytest.fixture(scope="module")
def lost(shared_dir):
    with np.load(shared_dir / "data" / "pll" / "lost.npz") as file:
        return file["X"].astype(float), file["S"], file["y"].astype(int)


@pytest.fixture(scope="module")
def embedded(lost):
    """Rows reduced once by CENDA, as in the published tables."""
    X, S, y = lost
    with few_iterations():
        Z, _ = published_embedding(
            make_pipeline(CENDA(0.999, scaling="maxabs"), PLKNN()), X, S
        )
    assert Z.shape[1] == 13
    return Z, S, y


@pytest.mark.parametrize(
    ("learner", "published", "within"),
    [
        (PLKNN(variant="lab"), 0.354, 0.02),
        (PLSVM(random_state=0), 0.736, 0.05),
        (PLECOC(random_state=0), 0.647, 0.04),
        (IPAL(), 0.733, 0.03),
        (SURE(), 0.780, 0.02),
    ],
    ids=lambda value: type(value).__name__,
)
def test_original_features(lost, learner, published, within):
    with few_iterations():
        scores = cross_validate(learner, *lost, protocol="transductive")["test_score"]
    assert len(scores) == 10
    assert scores.mean() == pytest.approx(published, abs=within)


@pytest.mark.parametrize(
    ("learner", "published"),
    [
        (PLKNN(variant="lab"), 0.810),
        (PLSVM(random_state=0), 0.823),
        (PLECOC(random_state=0), 0.846),
        (IPAL(), 0.850),
        (SURE(), 0.855),
    ],
    ids=lambda value: type(value).__name__,
)
def test_after_cenda(embedded, learner, published):
    with few_iterations():
        scores = cross_validate(learner, *embedded)["test_score"]
    assert scores.mean() == pytest.approx(published, abs=0.025)
