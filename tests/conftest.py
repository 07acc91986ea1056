"""Fixtures shared by the whole suite."""

import http.server
import importlib.util
import os
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The same examples every time: a change is judged by what it does. New ones are looked
# for with `pytest --hypothesis-profile=explore`. No deadline: no test asserts a time.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", print_blob=True, deadline=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder with reference data and oracles, beside the checkout or by variable."""
    folder = Path(os.environ.get("PARTLEARN_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("no reference data beside the checkout (set PARTLEARN_SHARED)")
    return folder


@pytest.fixture(params=[0, 1, 2])
def global_random_seed(request) -> int:
    """Every stochastic test has to pass for each of these seeds."""
    return request.param


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def global_dtype(request):
    return request.param


@pytest.fixture(scope="session")
def load_tool():
    """Import a script of `tools` by its name."""

    def load(name):
        path = ROOT / "tools" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="module")
def serve():
    """Serve pages by path; gives the address and a list of what was asked for."""
    running = []

    def start(pages):
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200 if self.path in pages else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(pages.get(self.path, "").encode())

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}", asked

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def browse(tmp_path):
    """Open an address in Chromium, with a new profile; its requests are in net.json."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium here (Debian: apt install chromium)")

    def open_page(url, *arguments):
        quiet = "gpu dev-shm-usage quic background-networking component-update sync"
        return subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--no-first-run",
                "--hide-scrollbars",
                *(f"--disable-{part}" for part in quiet.split()),
                f"--user-data-dir={tmp_path / 'profile'}",
                "--enable-logging=stderr",
                f"--log-net-log={tmp_path / 'net.json'}",
                *arguments,
                url,
            ],
            capture_output=True,
            text=True,
            timeout=180,
            check=True,
        )

    return open_page
