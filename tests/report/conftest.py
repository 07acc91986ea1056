"""A finished run whose labels try to break the page."""

import numpy as np
import pytest

from partlearn.benchmark import parse_plan, run_plan

EVIL = '<script>alert("x")</script> & $\\alpha$ | *b*'

PLAN = """
[plan]
name = "evil"
title = 'Title with <b>markup</b> & "quotes"'
protocols = ["inductive", "transductive"]
folds = 3
citation = "A <i>paper</i>"
notes = ["A note with <em>markup</em>"]
reference = "CENDA[thr=0.999]"
published = { paper = "CENDA", table = "7" }
[[data]]
name = "Lost"
source = "evil"
note = "not the real one"
[[data]]
name = 'second <set>'
source = "evil"
r = 1
[[data]]
name = "absent <set>"
source = "nowhere"
r = 1
[[reducers]]
name = "none"
[[reducers]]
name = "CENDA[thr=0.999]"
class = "CENDA"
[[reducers]]
name = "sweep"
class = "CENDA"
grid = { n_neighbors = [3, 5], weights = ["rank", "uniform"] }
[[reducers]]
name = "broken"
class = "partlearn.decomposition:CENDA"
params = { mu = 7.0 }
[[learners]]
name = "PL-KNN"
class = "PLKNN"
[[learners]]
name = 'learner <x>'
class = "PLKNN"
params = { n_neighbors = 3 }
"""


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evil")
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    X = rng.normal(size=(60, 5)) + 3 * np.eye(3, 5)[y]
    S = np.eye(3, dtype=bool)[y]
    S[np.arange(60), rng.integers(0, 3, 60)] = True
    names = np.array([EVIL, "plain", "ü & ö"])
    np.savez(folder / "evil.npz", X=X, y=y, S=S, label_names=names)
    run_plan(parse_plan(PLAN), folder / "run", data_folder=folder)
    return folder / "run"


@pytest.fixture(scope="session")
def summary(run_folder):
    from partlearn.report import summarize

    return summarize(run_folder)


@pytest.fixture(scope="session")
def page(summary):
    from partlearn.report import to_html

    return to_html(summary)
