"""Models that a command did not make are applied in blocks that fit, or refused."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn.classification import PLKNN
from partlearn.cli import _input
from partlearn.decomposition import CENDA
from partlearn.feature_selection import SAUTE
from partlearn.io import table_blocks
from partlearn.multilabel.classification import MLKNN
from partlearn.persistence import Model, save_model
from partlearn.tables import PartialClassifier, TableEncoder

NAMES = ["weight", "height"]
rng = np.random.default_rng(0)
X, S = rng.random((12, 2)), np.eye(3, dtype=bool)[np.arange(12) % 3]
S[::4, 0] = True
COLUMNS = {name: X[:, j] for j, name in enumerate(NAMES)}


def encoder(without=None):
    made = TableEncoder().fit(COLUMNS)
    if without is not None:
        delattr(made, without)
    return made


MODELS = {
    "a classifier": lambda: PLKNN(2).fit(X, S),
    "of tags": lambda: MLKNN(2).fit(X, S),
    "of scikit-learn": lambda: LogisticRegression().fit(X, S.argmax(axis=1)),
    "of tables": lambda: PartialClassifier(labels="kind"),
    "no step": lambda: Pipeline([]),
    "no reducer": lambda: make_pipeline(encoder(), "passthrough"),
    "a classifier at the end": lambda: make_pipeline(encoder(), PLKNN(2).fit(X, S)),
    "not fitted": lambda: make_pipeline(encoder(), CENDA()),
    "fitted on more": lambda: make_pipeline(
        encoder(), SAUTE(n_features_to_select=2).fit(rng.random((12, 3)), S)
    ),
    "without kept_": lambda: make_pipeline(encoder("kept_"), CENDA().fit(X, S)),
    "without texts_": lambda: make_pipeline(encoder("texts_"), CENDA().fit(X, S)),
    "without numbers_": lambda: make_pipeline(encoder("numbers_"), CENDA().fit(X, S)),
}


@pytest.mark.parametrize("command", ["predict", "reduce", "select"])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_other_kinds(name, command, run, pets, tmp_path):
    path, out = tmp_path / "model.partlearn", tmp_path / "out.csv"
    save_model(Model(MODELS[name](), NAMES), path)
    code, _, err = run(command, pets, "--load", path, "--out", out)
    assert code in (1, 2)
    assert err.startswith("partlearn: ")
    assert not out.exists()


def test_an_encoder_is_counted_by_its_columns(run, pets, tmp_path):
    path, out = tmp_path / "model.partlearn", tmp_path / "out.csv"
    pipeline = make_pipeline(encoder("n_features_out_"), CENDA().fit(X, S))
    save_model(Model(pipeline, NAMES), path)
    code, text, err = run("reduce", pets, "--load", path, "--out", out)
    assert code == 0, err
    assert "2 features of 2 columns" in text


def test_a_pipeline_of_numbers_is_a_reducer(run, pets, table, tmp_path):
    path, out = tmp_path / "model.partlearn", tmp_path / "out.csv"
    pipeline = make_pipeline(StandardScaler(), CENDA()).fit(X, S)
    save_model(Model(pipeline, NAMES), path)
    code, _, err = run("reduce", pets, "--load", path, "--out", out)
    assert code == 0, err
    Z = pipeline.transform([[4, 25]])
    assert float(table(out)[0]["cenda0"]) == pytest.approx(Z[0, 0])


def test_wide_steps_are_applied_to_few_rows(run, pets, table, tmp_path, monkeypatch):
    path, out = tmp_path / "model.partlearn", tmp_path / "out.csv"
    model = PartialClassifier(labels="kind", method=PLKNN(2))
    model.fit(COLUMNS | {"kind": np.array(["a", "b|c", "c"] * 4)})
    double = FeatureUnion([("a", "passthrough"), ("b", "passthrough")])
    steps = [*[double] * 6, PLKNN(2).fit(np.tile(X, 64), S)]
    model.estimator_ = make_pipeline(*steps)
    save_model(model, path)
    monkeypatch.setattr(_input, "_BLOCK_NUMBERS", 2**14)
    read = []

    def blocks(data, block_rows, **options):
        read.append(block_rows)
        return table_blocks(data, block_rows=block_rows, **options)

    monkeypatch.setattr("partlearn.io.table_blocks", blocks)
    code, _, err = run("predict", pets, "--load", path, "--out", out)
    assert code == 0, err
    assert read == [2**14 // (64 * 128)]
    assert len(table(out)) == 10
