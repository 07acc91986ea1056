"""Fits tell how far they have come, to whoever asks and to nobody else."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from partlearn import on_progress
from partlearn._math.neighbors import self_neighbors
from partlearn._progress import iterations, stage
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.cli import _console
from partlearn.decomposition import CENDA


@pytest.fixture
def data():
    rng = np.random.RandomState(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 3 * np.eye(4)[y]
    return X, make_candidates(y, 1, random_state=0)


def test_counts_with_and_without_a_listener():
    assert list(iterations("loop", 3, start=1)) == [1, 2, 3]
    heard = []
    with on_progress(lambda *event: heard.append(event)):
        assert list(iterations("loop", 3, start=1)) == [1, 2, 3]
    assert heard == [("loop", i, 3) for i in range(4)]
    assert list(iterations("loop", 2)) == [0, 1]
    assert len(heard) == 4


def test_a_loop_left_early_has_ended():
    heard = []
    with on_progress(lambda *event: heard.append(event)):
        for i in iterations("loop", 9):
            if i == 1:
                break
    assert heard == [("loop", 0, 9), ("loop", 1, 9), ("loop", 9, 9)]


def test_nested_loops_of_fits(data):
    heard = []
    with on_progress(lambda *event: heard.append(event)):
        CENDA(n_components="auto").fit(*data)
    names = [name for name, _, _ in heard]
    assert names[0] == "folds to choose n_components"
    assert heard.count(("CENDA", 0, 50)) == 6  # five folds, then all rows
    with on_progress(None):
        before = len(heard)
        CENDA().fit(*data)
    assert len(heard) == before


def test_results_do_not_depend_on_listening(data):
    plain = CRISPClassifier(random_state=0).fit(*data)
    heard = []
    with on_progress(lambda *event: heard.append(event)):
        listened = CRISPClassifier(random_state=0).fit(*data)
    assert {name for name, _, _ in heard} >= {"geometries", "pool of experts"}
    np.testing.assert_array_equal(plain.label_confidence_, listened.label_confidence_)


def test_an_error_in_the_callback_is_the_users(data):
    def fail(*event):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"), on_progress(fail):
        CENDA().fit(*data)
    PLKNN().fit(*data)  # the listener is gone


def test_terminal_line(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    clock = iter(np.arange(0, 100, 3.0))
    # In this module alone: other threads of this process have clocks to read.
    monkeypatch.setattr(_console, "time", SimpleNamespace(monotonic=clock.__next__))
    with _console.fit_progress(tick=0):
        for _ in iterations("folds", 2):
            for _ in iterations("CENDA", 2):
                pass
    lines = capsys.readouterr().err.split("\r\x1b[2K")
    assert "folds 1 of 2, CENDA 1 of 2: 3 s so far" in lines
    assert any(line.startswith("folds 2 of 2: at most ") for line in lines)
    assert lines[-1] == ""  # nothing is left on the screen


def test_time_left_falls_within_a_step(capsys, monkeypatch):
    """It is told by the steps before, and not at all by a step that takes longer."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    now = [0.0]
    monkeypatch.setattr(_console, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with _console.fit_progress(tick=0):
        for step in iterations("rounds", 3):
            for _ in iterations("folds", 5):
                now[0] += 20 if step == 0 else 25
    lines = capsys.readouterr().err.split("\r\x1b[2K")
    second = [line for line in lines if line.startswith("rounds 2 of 3")]
    assert second == [
        "rounds 2 of 3, folds 2 of 5: at most 3 min left",
        "rounds 2 of 3, folds 3 of 5: at most 2 min left",
        "rounds 2 of 3, folds 4 of 5: at most 2 min left",
        "rounds 2 of 3, folds 5 of 5: at most 100 s left",
        "rounds 2 of 3: 4 min so far",
    ]


def test_terminal_line_of_a_step_that_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    seen = ""
    with _console.fit_progress(patience=0.01, tick=0.01), stage("eigenvectors"):
        for _ in range(1000):
            if "s so far" in seen:  # renewed, with no news of it
                break
            time.sleep(0.05)
            seen += capsys.readouterr().err
    assert "eigenvectors: " in seen
    assert "s so far" in seen


def test_a_stage_ends_also_by_an_error():
    heard = []
    with (
        on_progress(lambda *event: heard.append(event)),
        pytest.raises(ValueError, match="singular"),
        stage("eigenvectors"),
    ):
        raise ValueError("singular")
    assert heard == [("eigenvectors", 0, 1), ("eigenvectors", 1, 1)]


def test_neighbours_are_counted_in_blocks():
    heard = []
    with on_progress(lambda *event: heard.append(event)):
        self_neighbors(np.random.RandomState(0).normal(size=(5000, 12)), 3)
    assert heard[0] == ("nearest neighbors", 0, heard[-1][2])
    assert heard[-1][1] == heard[-1][2] == len(heard) - 1


def test_silent_elsewhere(capsys):
    with _console.fit_progress():
        list(iterations("CENDA", 2))
    assert capsys.readouterr() == ("", "")
