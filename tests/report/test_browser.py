"""The page in a real browser: no error, no outside request, phone and desktop."""

import http.server
import json
import re
import shutil
import subprocess
import threading

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium here (Debian: apt install chromium)"
)


PROBE = """<!DOCTYPE html><html><body>
<iframe id="f" src="/report.html" width="390" height="800"></iframe><p id="p"></p>
<script>document.getElementById("f").onload = (event) => {
  const inner = event.target.contentDocument.documentElement;
  document.getElementById("p").textContent = "measured " + inner.scrollWidth;
};</script></body></html>"""


@pytest.fixture(scope="module")
def server(page):
    """Serves the page and keeps a list of everything that was asked for."""
    asked = []
    pages = {"/report.html": page, "/probe.html": PROBE}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            found = self.path in pages
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if found:
                self.wfile.write(pages[self.path].encode())

        def log_message(self, *args):
            pass

    instance = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=instance.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{instance.server_address[1]}/report.html", asked
    instance.shutdown()
    instance.server_close()
    thread.join()


def browse(tmp_path, url, *arguments):
    return subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
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


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 900)])
def test_screenshot_without_errors_or_requests(server, tmp_path, width, height):
    url, asked = server
    asked.clear()
    picture = tmp_path / "page.png"
    done = browse(
        tmp_path, url, f"--window-size={width},{height}", f"--screenshot={picture}"
    )
    assert "CONSOLE" not in done.stderr
    assert set(asked) == {"/report.html"}
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20], "big") == width
    # A blank page of this size would compress to a few hundred bytes.
    assert picture.stat().st_size > 10_000


def test_only_the_page_itself_is_fetched(server, tmp_path):
    """The browser's own list of requests made for the page."""
    url, _ = server
    browse(tmp_path, url, "--dump-dom")
    text = (tmp_path / "net.json").read_text(errors="replace")
    try:
        log = json.loads(text)
    except json.JSONDecodeError:
        # The log is cut off when the browser leaves first.
        log = json.loads(text.rstrip().rstrip(",") + "]}")
    kinds = {v: k for k, v in log["constants"]["logEventTypes"].items()}
    initiated = [
        event["params"]["url"]
        for event in log["events"]
        if kinds[event["type"]] == "URL_REQUEST_START_JOB"
        and str(event.get("params", {}).get("initiator", "")).startswith("http://127")
    ]
    assert all(target.startswith(("data:", url)) for target in initiated)


def test_page_does_not_overflow_a_phone(server, tmp_path):
    """Laid out at phone width, only the regions around tables scroll sideways."""
    url, _ = server
    probe = url.replace("report.html", "probe.html")
    dom = browse(tmp_path, probe, "--virtual-time-budget=20000", "--dump-dom").stdout
    width = re.search(r"measured (\d+)", dom)
    assert width is not None
    assert int(width.group(1)) <= 390
