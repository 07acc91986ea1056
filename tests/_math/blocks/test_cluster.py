"""Two worker processes, one of which is killed in the middle of a fit."""

import gc
import os
import signal
import sys

import cloudpickle
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs
from tests.settling import fit_briefly

from partlearn import on_progress
from partlearn._math.blocks import Rows
from partlearn.candidates import make_candidates
from partlearn.cli.__main__ import main
from partlearn.decomposition import CRISP
from partlearn.persistence import load_model

distributed = pytest.importorskip("distributed")

# Workers cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

pytestmark = [
    pytest.mark.cluster,
    # Dask leaves sockets and loops to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

X, TRUTH = make_blobs(
    400, n_features=8, centers=5, cluster_std=5.0, center_box=(-5, 5), random_state=0
)
S = make_candidates(TRUTH, n_false=1, random_state=0)


class Part:
    """Some rows; who loads them while the order is there dies of it, once."""

    def __init__(self, rows, order):
        self.rows, self.order = rows, order

    def __call__(self):
        try:
            os.remove(self.order)
        except FileNotFoundError:
            return self.rows
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        yield client
    gc.collect()  # what the cluster leaves is not for a later test


def test_a_killed_worker_changes_nothing(client, tmp_path):
    estimator = CRISP(use_neighbors=False, max_iter=3, tol=0.0)
    expected = fit_briefly(estimator, X, S)
    components, confidence = expected.components_, expected.label_confidence_
    order = tmp_path / "kill"
    parts = [Part(rows, os.fspath(order)) for rows in np.array_split(X, 20)]
    before = set(client.run(os.getpid).values())
    assert len(before) == 2
    given = []

    def kill_in_the_second_round(name, done, total):
        if (name, done) == ("CRISP", 1):
            given.append(order.write_text("now"))

    with on_progress(kill_in_the_second_round):
        fit_briefly(estimator, Rows(parts, [20] * 20, 8).with_dask(), S)
    assert given
    assert not order.exists()  # somebody obeyed
    client.wait_for_workers(2)
    assert len(set(client.run(os.getpid).values()) - before) == 1
    assert np.isfinite(components).all()
    assert_allclose(estimator.components_, components, rtol=1e-8, atol=1e-8)
    assert_allclose(estimator.label_confidence_, confidence, rtol=1e-8, atol=1e-8)


def test_the_command_line_trains_on_a_cluster(client, tmp_path, capsys):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = np.array(list("abcde"))
    for part, rows in enumerate(np.array_split(np.arange(400), 2)):
        columns = {f"x{j}": X[rows, j] for j in range(8)}
        columns["candidates"] = ["|".join(names[S[i]]) for i in rows]
        pq.write_table(pa.table(columns), tmp_path / f"{part}.parquet")
    confidence = []
    for where in ([], ["--scheduler", client.scheduler.address]):
        model = tmp_path / f"{len(where)}.partlearn"
        options = ["--labels", "candidates", "--param", "n_landmarks=20", *where]
        paths = map(str, sorted(tmp_path.glob("*.parquet")))
        with pytest.raises(SystemExit) as end:
            main(["train", *paths, *options, "--save", str(model)])
        assert not end.value.code
        assert "CRISPClassifier: 400 rows" in capsys.readouterr().out
        confidence.append(load_model(model).estimator.estimator_.label_confidence_)
    assert_allclose(*confidence, rtol=1e-8, atol=1e-8)
