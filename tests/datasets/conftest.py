"""A server on this machine that can misbehave."""

import hashlib
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from partlearn.datasets import RemoteFile, load_wine_partial
from partlearn.io import write


class Server(ThreadingHTTPServer):
    """Serves one file in as many ways as there are paths."""

    daemon_threads = True

    def __init__(self, content):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.requests = []
        self.closing = threading.Event()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"

    def registry(self, *paths):
        """The file at these addresses, with its checksum."""
        entry = RemoteFile(
            "wine",
            "wine.npz",
            hashlib.sha256(self.content).hexdigest(),
            len(self.content),
            tuple(p if p.startswith("http") else self.url(p) for p in paths),
            about="Wine.",
            source="here",
        )
        return {"wine": entry}

    def unknown(self, *paths, **changes):
        """The file of which nobody published a checksum."""
        entry = RemoteFile("wine", "wine.npz", "", 0, tuple(map(self.url, paths)))
        return {"wine": replace(entry, **changes)}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, content = self.server, self.server.content
        wanted = self.headers.get("Range")
        server.requests.append((self.path, wanted))
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/wrong":
            content = bytes(len(content))
        if self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path.partition("?")[2])
            self.end_headers()
            return
        if self.path == "/drip":
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            for byte in content:
                if server.closing.wait(0.02):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
            return
        if self.path == "/long":
            content = content + b"more"
        start = 0
        if wanted and self.path != "/simple":
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206)
        else:
            self.send_response(200)
        body = content[start:]
        if self.path == "/half":  # promises all, closes the line after half
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.connection.close()
            return
        if self.path == "/short":  # says that half is all
            body = body[: len(body) // 2]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    content = write(load_wine_partial(), tmp_path / "wine.npz").read_bytes()
    server = Server(content)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()
