"""Plans with estimators inside estimators, passed confidences and true labels."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.runs import load_plan_data
from tests.settling import few_iterations

import partlearn
from partlearn._math.linalg import z_scores
from partlearn.benchmark import (
    PlanError,
    check_methods,
    load_plan,
    parse_plan,
    run_plan,
)
from partlearn.benchmark import _partial as task_module
from partlearn.benchmark._jobs import source_hash
from partlearn.benchmark._methods import build
from partlearn.benchmark._partial import PartialTask
from partlearn.candidates import uniform_confidence
from partlearn.classification import PLKNN, CoupledClassifier
from partlearn.decomposition import CENDA, TunedPCA

PLAN = """\
[plan]
name = "mine"
folds = 2
{head}
[[data]]
source = "sklearn:iris"
r = 1
max_rows = 60
[[reducers]]
name = "none"
[[reducers]]
{reducer}
[[learners]]
class = "PLKNN"
{learner}
"""
LDA = """\
name = "LDA"
class = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"
supervised = true
"""
CHAIN = """\
name = "chain"
class = "sklearn.pipeline:Pipeline"
[reducers.params]
steps = [
  ["pca", { class = "sklearn.decomposition:PCA", params = { n_components = 3 } }],
  ["cenda", { class = "CENDA", params = { tol = 0.1 } }],
  ["none", "passthrough"],
]
"""


def parsed(reducer="class = 'CENDA'", learner="", head=""):
    return parse_plan(PLAN.format(reducer=reducer, learner=learner, head=head))


class Recorder(BaseEstimator):
    """Remembers what it was fitted with."""

    seen: ClassVar[list] = []

    def fit(self, X, y, confidence=None):
        self.seen.append((X, y, confidence))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.fixture
def recorder(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    monkeypatch.setattr(partlearn.classification, "PLKNN", Recorder)
    return Recorder


def prepared(plan):
    """Data, jobs of fold 0 and the first split."""
    (data,), _ = load_plan_data(plan, None)
    task = PartialTask(plan)
    jobs = [job for job in task.expand([data]) if job.fold == 0]
    return data, jobs, task.folds(data)[0][0]


def test_a_table_with_class_is_an_estimator():
    inner = {"class": "cenda", "params": {"tol": 0.1}}
    built = build("TunedPCA", {"reducer": inner, "n_components": [2, 3]}, "reducer", 7)
    assert isinstance(built, TunedPCA)
    assert isinstance(built.reducer, CENDA)
    assert built.reducer.tol == 0.1
    assert (built.n_components, built.random_state) == ([2, 3], 7)
    coupled = build(
        "CoupledClassifier",
        {"reducer": inner, "classifier": {"class": "PLSVM"}},
        "learner",
        7,
    )
    assert isinstance(coupled, CoupledClassifier)
    assert coupled.classifier.random_state == 7


def test_steps_chain_reducers_and_their_confidences_are_found():
    plan = check_methods(parsed(CHAIN))
    data, jobs, split = prepared(plan)
    with few_iterations():
        record = PartialTask(plan).reduce(data, jobs[1].reduction, split)
    assert record.ok
    assert record.arrays["confidence"].shape == (len(split[0]), 3)
    shares = {name: value for name, value, _ in record.values}
    assert shares["disambiguation"] > 0.5


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("{ class = 'CENDO' }", "no method named 'CENDO'.*Did you mean CENDA"),
        ("{ class = 'CENDA', params = { muu = 1 } }", "CENDA has no parameter `muu`"),
        ("{ class = 'CENDA', param = { mu = 1 } }", "not `param`"),
    ],
)
def test_wrong_parts_are_found_before_anything_runs(inner, message):
    plan = parsed(f"class = 'TunedPCA'\nparams.reducer = {inner}")
    with pytest.raises(PlanError, match=message):
        check_methods(plan)


def test_a_part_is_in_the_identity():
    texts = [f"params.reducer = {{ class = '{name}' }}" for name in ("CENDA", "DELIN")]
    plans = [parsed("class = 'TunedPCA'\n" + text) for text in texts]
    one, two = (prepared(plan)[1][1].reduction for plan in plans)
    assert one.id != two.id


def test_learners_get_the_confidences_of_the_reducer(recorder):
    plan = parsed(learner="pass_confidence = true", head="scale_reduced = false")
    data, jobs, split = prepared(plan)
    task = PartialTask(plan)
    reduced = task.reduce(data, jobs[1].reduction, split)
    for job, record in zip(jobs, (None, reduced), strict=True):
        answer = task.learn(data, task.prepare(data, record, job, split), job, split)
        assert answer.ok
    (raw, S, uniform), (Z, _, F) = recorder.seen
    np.testing.assert_array_equal(raw, z_scores(data.X, split[0])[split[0]])
    np.testing.assert_array_equal(uniform, uniform_confidence(S))
    np.testing.assert_array_equal(Z, reduced.arrays["Z"][split[0]])
    np.testing.assert_array_equal(F, reduced.arrays["confidence"])


def test_transductive_confidences_are_those_of_the_training_rows(recorder):
    head = 'protocols = ["transductive"]'
    plan = parsed(learner="pass_confidence = true", head=head)
    data, jobs, split = prepared(plan)
    task = PartialTask(plan)
    reduced = task.reduce(data, jobs[1].reduction, split)
    assert len(reduced.arrays["rows"]) == len(data.truth)
    task.learn(data, task.prepare(data, reduced, jobs[1], split), jobs[1], split)
    ((_, _, F),) = recorder.seen
    np.testing.assert_array_equal(F, reduced.arrays["confidence"][split[0]])


def test_passing_confidences_is_another_job_and_needs_a_learner_that_takes_them():
    plain, passed = (
        prepared(parsed(learner=text))[1][1].id
        for text in ("", "pass_confidence = true")
    )
    assert plain != passed
    text = PLAN.format(reducer="class = 'CENDA'", learner="", head="")
    text = text.replace('"PLKNN"', '"PLECOC"\npass_confidence = true')
    with pytest.raises(PlanError, match="PLECOC cannot start from confidences"):
        check_methods(parse_plan(text))


def test_supervised_reducers_get_the_truth_of_the_training_rows():
    plan = check_methods(parsed(LDA))
    assert [m.ranked for m in plan.reducers] == [True, False]
    data, jobs, split = prepared(plan)
    record = PartialTask(plan).reduce(data, jobs[1].reduction, split)
    found, train = record.arrays["Z"], split[0]
    X = z_scores(data.X, train)
    expected = LinearDiscriminantAnalysis().fit(X[train], data.truth[train])
    np.testing.assert_allclose(found, expected.transform(X))
    assert jobs[1].reduction.content["supervised"]


def test_a_supervised_reducer_is_never_ranked_nor_transductive():
    assert not parsed(LDA + "ranked = true").reducers[1].ranked
    with pytest.raises(PlanError, match=r"<plan>:14: .*truth of the test rows"):
        parsed(LDA, head='protocols = ["transductive"]')


def test_changed_sources_run_again_with_the_same_seeds(tmp_path, monkeypatch):
    plan = parsed()
    assert run_plan(plan, tmp_path).facts["n_executed"] == 4
    assert run_plan(plan, tmp_path).facts["n_executed"] == 0
    before = prepared(plan)[1]
    monkeypatch.setattr(task_module, "source_hash", lambda: "other")
    after = prepared(plan)[1]
    assert [job.seed for job in after] == [job.seed for job in before]
    assert after[1].reduction.seed == before[1].reduction.seed
    assert run_plan(plan, tmp_path).facts["n_executed"] == 4


def test_the_source_hash_is_about_what_results_depend_on(tmp_path, monkeypatch):
    for name in ("a.py", "cli/b.py", "report/c.py", "maths/d.py", "maths/notes.txt"):
        path = tmp_path / "copy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"one\ntwo\n")
    monkeypatch.setattr(partlearn, "__file__", str(tmp_path / "copy" / "__init__.py"))

    def fresh():
        return source_hash.__wrapped__()

    first = fresh()
    for name in ("cli/b.py", "report/c.py", "maths/notes.txt"):
        (tmp_path / "copy" / name).write_bytes(b"changed")
    (tmp_path / "copy/a.py").write_bytes(b"one\r\ntwo\r\n")
    assert fresh() == first
    (tmp_path / "copy/maths/d.py").write_bytes(b"changed")
    assert fresh() != first


def test_the_study_names_what_it_promises():
    plan = check_methods(load_plan("crisp-study"))
    assert len(plan.data) >= 15
    assert plan.folds == 10
    assert {m.name for m in plan.reducers if not m.ranked} == {
        "CRISP, no background",
        "LDA (truth)",
    }
    assert {type(build(m.cls, m.params, "learner")) for m in plan.learners} >= {PLKNN}
    assert [m.name for m in plan.learners if m.pass_confidence] == ["PL-KNN+F"]
    selectors = check_methods(load_plan("crisp-study-selectors"))
    fractions = {m.params.get("n_features_to_select") for m in selectors.reducers[1:]}
    assert fractions == {0.15}
    assert selectors.data == plan.data
