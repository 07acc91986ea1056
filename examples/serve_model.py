"""
Serve a model over HTTP
=======================

A server of Python's standard library that labels rows with a saved model. Rows are
posted as JSON, one object or a list of them::

    python serve_model.py model.partlearn --port 8000
    curl -d '{"size": 4.2, "coat": "soft"}' http://127.0.0.1:8000/predict
    curl -d '[{"size": 4.2, "coat": "soft"}, {"size": 30}]' http://127.0.0.1:8000/predict

The answer is a list of objects with the columns of ``partlearn predict``.
``GET /model`` lists labels and columns. It serves what ``partlearn train`` saved for
tables of numbers, categories, dates and text, single labels or tags. It does not serve
bags, whose rows must come together, prediction sets, or tables in files: use
``partlearn predict``. It has no encryption and no passwords: keep it on the local
machine, behind a proxy that has both.

Bodies of more than 1 MiB and more than 1,000 rows are refused, a client that sends
nothing for 10 seconds is cut off, and no more than 4 requests are computed at once.
"""

import argparse
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from partlearn import PartialClassifier
from partlearn.persistence import load_model

MOST_BYTES = 2**20
MOST_ROWS = 1000
SILENCE = 10.0  # seconds without a byte after which a connection is closed
AT_ONCE = 4


class Refused(Exception):
    """A request that gets no prediction: a status of HTTP, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def read_rows(body: bytes) -> dict[str, np.ndarray]:
    """Turn a JSON object, or a list of objects, into columns."""

    def refuse(word: str) -> float:
        raise Refused(400, f"{word} is no JSON; use null for missing values")

    try:
        rows = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the body is no JSON") from error
    rows = [rows] if isinstance(rows, dict) else rows
    if not (isinstance(rows, list) and rows and all(type(r) is dict for r in rows)):
        raise Refused(400, "post one object per row, or a list of objects")
    if len(rows) > MOST_ROWS:
        raise Refused(413, f"at most {MOST_ROWS} rows at once; got {len(rows)}")
    cells = [cell for row in rows for cell in row.values()]
    if any(isinstance(cell, dict | list) for cell in cells):
        raise Refused(400, "cells are numbers, text, true, false or null")
    names = dict.fromkeys(name for row in rows for name in row)
    # As text, which the model reads as it read the training table.
    return {
        name: np.array([as_text(row.get(name)) for row in rows], dtype=object)
        for name in names
    }


def as_text(cell: Any) -> str | None:
    """A cell of JSON as a cell of a table."""
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell)


class Handler(BaseHTTPRequestHandler):
    """Answers requests with the model of its server."""

    server: "ModelServer"
    timeout = SILENCE

    def do_GET(self) -> None:
        """Describe the model."""
        model = self.server.model
        kinds = {name: kind.kind for name, kind in model.encoder_.kinds_.items()}
        if self.path == "/model":
            self.answer(200, {"labels": model.classes_.tolist(), "columns": kinds})
        else:
            self.answer(404, {"error": "GET /model, or POST rows to /predict"})

    def do_POST(self) -> None:
        """Label rows."""
        try:
            columns = read_rows(self.body())
            if not self.server.free.acquire(timeout=SILENCE):
                raise Refused(503, "too many requests at once; try again")
            try:
                self.answer(200, self.server.label(columns))
            finally:
                self.server.free.release()
        except Refused as refused:
            self.close_connection = True
            self.answer(refused.status, {"error": str(refused)})
        except ValueError as error:  # such as a column that is missing
            self.answer(400, {"error": str(error)})

    def body(self) -> bytes:
        """Read the body, no more than was announced and is allowed."""
        if self.path != "/predict":
            raise Refused(404, "GET /model, or POST rows to /predict")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the request must say its Content-Length")
        if len(length) > 12 or int(length) > MOST_BYTES:
            raise Refused(413, f"at most {MOST_BYTES} bytes at once")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refused(400, "the body ended early")
        return body

    def answer(self, status: int, content: Any) -> None:
        """Send JSON."""
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class ModelServer(ThreadingHTTPServer):
    """Serves one model on one address."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], model: PartialClassifier) -> None:
        super().__init__(address, Handler)
        self.model = model
        self.free = threading.BoundedSemaphore(AT_ONCE)

    def label(self, columns: dict[str, np.ndarray]) -> list[dict[str, Any]]:
        """Label rows; one object for each."""
        predicted = self.model.predictions(columns)
        values = [column.tolist() for column in predicted.values()]
        return [
            dict(zip(predicted, row, strict=True)) for row in zip(*values, strict=True)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a model of partlearn train.")
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    model = load_model(options.model).estimator
    if not isinstance(model, PartialClassifier):
        parser.error(f"{options.model} is no model of partlearn train")
    with ModelServer(("127.0.0.1", options.port), model) as server:
        print(f"http://127.0.0.1:{server.server_port}/predict", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
