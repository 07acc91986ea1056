"""Model files that are small, and whose content or rows would not be."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.persistence.crafted import S, X, edited, refuse, state

from partlearn.classification import PLECOC, PLKNN
from partlearn.decomposition import CENDA
from partlearn.io import Limits
from partlearn.persistence import load_model, row_width, save_model

DOUBLE = [("a", "passthrough"), ("b", "passthrough")]


def test_arrays_that_are_shared_count_each_time(tmp_path):
    forest = RandomForestClassifier(1, max_depth=2).fit(X, np.arange(12) % 3)

    def repeat(document):
        state(document)["estimators_"] *= 1000

    path = edited(tmp_path / "model", repeat, forest)
    refuse(path, "would bring the content", limits=Limits(max_bytes=2**19))
    assert len(load_model(path).estimator.estimators_) == 1000


@pytest.mark.parametrize(
    "made",
    [
        lambda: FeatureUnion(DOUBLE),
        lambda: ColumnTransformer([(*step, [0, 1, 2]) for step in DOUBLE]).fit(X),
        lambda: FeatureUnion([("a", StandardScaler(with_mean=False)), DOUBLE[0]]),
        lambda: Pipeline([("in", "passthrough"), ("union", FeatureUnion(DOUBLE))]),
    ],
)
def test_columns_that_are_doubled_again_and_again(made, tmp_path):
    steps = [(f"s{i}", made()) for i in range(30)]
    model = Pipeline([*steps, ("last", PLKNN(2).fit(X, S))])
    refuse(edited(tmp_path / "model", lambda document: None, model), "columns of a row")
    inside = PLECOC(2, estimator=model)
    refuse(edited(tmp_path / "in", lambda document: None, inside), "columns of a row")


def test_width_of_rows():
    assert row_width(CENDA(n_components=1).fit(X, S)) == 3
    wide = PCA(2).fit(X)
    wide.components_ = np.zeros((70_000, 3))
    assert row_width(make_pipeline(wide, PLKNN())) == 70_000
    assert row_width(FeatureUnion([("a", wide), ("b", wide)])) == 140_000
    categories = OneHotEncoder(sparse_output=False).fit(np.arange(60).reshape(20, 3))
    assert row_width(categories) == 60
    columns = [(str(j), StandardScaler(), [j]) for j in range(3)]
    assert row_width(ColumnTransformer(columns).fit(X)) == 3
    # Rows that a model was fitted on are no columns of others.
    assert row_width(PLKNN(2).fit(np.tile(X, (50, 1)), np.tile(S, (50, 1)))) == 3


def test_as_many_columns_as_anybody_has(tmp_path):
    columns = [(str(j), StandardScaler(), [j]) for j in range(3)]
    union = FeatureUnion([("first", PCA(2)), ("second", PCA(2)), DOUBLE[0]])
    model = make_pipeline(ColumnTransformer(columns), union, PLKNN(2)).fit(X, S)
    loaded = load_model(save_model(model, tmp_path / "model")).estimator
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("analyzer", ["char", "word"])
def test_parts_of_text_that_are_as_long_as_the_text(analyzer, tmp_path):
    text = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 10**9)).fit(["some text"])
    refuse(edited(tmp_path / "model", lambda document: None, text), "n-grams")
