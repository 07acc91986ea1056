"""The example server on the loopback address: answers, limits, and its end."""

import http.client
import json
import runpy
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from partlearn import PartialClassifier
from partlearn.persistence import save_model

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "serve_model.py"
WAIT = 30  # seconds after which a test gives up


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    table = {
        "size": rng.normal(size=60) + 2 * y,
        "coat": np.where(y == 1, "rough", "soft").astype(object),
        "name": np.array([f"n{i}" for i in range(60)], dtype=object),
        "kind": np.where(np.arange(60) % 3 == 0, "cat|dog", np.where(y, "dog", "cat")),
    }
    table["coat"][::5] = "curly"
    return PartialClassifier("pl-knn", labels="kind", id="name").fit(table)


@pytest.fixture
def serve():
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture
def server(serve, model):
    with serve["ModelServer"](("127.0.0.1", 0), model) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(WAIT)
        assert not thread.is_alive()


def ask(server, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection(*server.server_address, timeout=WAIT)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def post(server, content):
    return ask(server, "POST", "/predict", json.dumps(content))


def test_one_row_and_many(server, model):
    rows = [
        {"size": 0.1, "coat": "soft", "name": "a"},
        {"size": 5.2, "coat": "rough", "name": "b"},
        {"size": None, "coat": "rough", "name": "c"},
    ]
    status, one = post(server, rows[0])
    assert status == 200
    assert one[0]["label"] == "cat"
    status, all_rows = post(server, rows)
    assert status == 200
    assert all_rows[0] == one[0]
    columns = {name: np.array([r[name] for r in rows], object) for name in rows[0]}
    for name, values in model.predictions(columns).items():
        assert [row[name] for row in all_rows] == values.tolist()


def test_the_model_describes_itself(server):
    status, facts = ask(server, "GET", "/model")
    assert status == 200
    assert facts["labels"] == ["cat", "dog"]
    assert facts["columns"]["size"] == "number"
    assert ask(server, "GET", "/")[0] == 404


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("", 400, "no JSON"),
        ("{", 400, "no JSON"),
        ("[" * 100_000, 400, "no JSON"),
        ("[NaN]", 400, "NaN is no JSON"),
        ("[]", 400, "one object per row"),
        ("3", 400, "one object per row"),
        ("[3]", 400, "one object per row"),
        ('{"size": [1]}', 400, "cells are numbers"),
        ('{"coat": "soft"}', 400, "size"),
        (json.dumps([{"size": 1}] * 1001), 413, "at most 1000 rows"),
        (" " * (2**20 + 1), 413, "at most 1048576 bytes"),
    ],
)
def test_what_is_refused(server, body, status, reason):
    try:
        found, answer = ask(server, "POST", "/predict", body)
    except (BrokenPipeError, ConnectionResetError):  # refused while it was sent
        assert status == 413
        return
    assert found == status
    assert reason in answer["error"]
    assert post(server, {"size": 0, "coat": "soft", "name": "a"})[0] == 200


def test_a_body_of_unknown_length_or_another_address(server):
    for length in ("-1", "x", "9" * 400):
        words = {"Content-Length": length}
        status, _ = ask(server, "POST", "/predict", b"", words)
        assert status == (413 if length[0] == "9" else 411)
    assert ask(server, "POST", "/other", "{}")[0] == 404


def test_a_silent_client_is_cut_off(serve, server, monkeypatch):
    monkeypatch.setattr(serve["Handler"], "timeout", 0.3)
    with socket.create_connection(server.server_address, timeout=WAIT) as client:
        client.sendall(b"POST /predict HTTP/1.1\r\nContent-Length: 50\r\n\r\n{")
        while client.recv(1000):
            pass
    assert post(server, {"size": 0, "coat": "soft", "name": "a"})[0] == 200


def test_requests_wait_for_a_free_place(serve, server, monkeypatch):
    monkeypatch.setitem(serve["Handler"].do_POST.__globals__, "SILENCE", 0.1)
    for _ in range(serve["AT_ONCE"]):
        server.free.acquire()
    status, answer = post(server, {"size": 0, "coat": "soft"})
    assert status == 503
    assert "too many requests" in answer["error"]
    for _ in range(serve["AT_ONCE"]):
        server.free.release()
    assert post(server, {"size": 0, "coat": "soft", "name": "a"})[0] == 200


def test_as_a_process(model, tmp_path):
    path = save_model(model, tmp_path / "m.partlearn")
    words = [sys.executable, EXAMPLE, path, "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().split("/")[2]
        connection = http.client.HTTPConnection(address, timeout=WAIT)
        row = {"size": 5, "coat": "rough", "name": "a"}
        connection.request("POST", "/predict", json.dumps(row))
        assert json.loads(connection.getresponse().read())[0]["label"] == "dog"
        connection.close()
    finally:
        process.terminate()
        process.wait(WAIT)
        process.stdout.close()


def test_other_models_are_not_served(tmp_path):
    from partlearn.decomposition import CENDA

    path = save_model(CENDA(), tmp_path / "m.partlearn")
    words = [sys.executable, EXAMPLE, path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT * 4)
    assert done.returncode == 2
    assert "is no model of partlearn train" in done.stderr
