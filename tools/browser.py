"""Pages in a real browser: served from memory or a folder, measured and pictured.

    python -m tools.browser docs/_build/html OUT

opens every page of built documentation at the widths of a phone and of a desk, light
and dark, in headless Chromium, and fails where something wrote to the console as an
error, a page scrolls sideways, text does not stand out or runs out of the page, or
anything was asked for elsewhere. Pictures of pages in the four forms go to OUT, for a
person to look at: ``--picture`` names how their paths begin.
"""

from __future__ import annotations

import argparse
import html
import http.server
import json
import mimetypes
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE, DESK = 400, 1400
DARK = "--blink-settings=preferredColorScheme=0"

# Every text that is shown, against the nearest ground behind it; folded ones unfolded.
MEASURE = """
function channels(text) {
  return text.match(/[\\d.]+/g).map(Number);
}
function luminance(c) {
  const l = c.slice(0, 3).map(v => v / 255).map(
    v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
}
function ground(node, view) {
  for (let n = node; n; n = n.parentElement) {
    const c = channels(view.getComputedStyle(n).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
  return [255, 255, 255];
}
// Headings and paragraphs whose words end outside the page and cannot be scrolled to.
function cut(inner, view) {
  const edge = inner.documentElement.clientWidth;
  for (const node of inner.querySelectorAll("h1, h2, h3, p, li, dt, td, pre, img")) {
    if (!node.checkVisibility({checkVisibilityCSS: true})) continue;
    const range = inner.createRange();
    range.selectNodeContents(node);
    const end = Math.max(range.getBoundingClientRect().right,
      node.tagName === "IMG" ? node.getBoundingClientRect().right : 0);
    if (end <= edge + 1) continue;
    let scrolls = false;
    // That the whole text could be pushed to and fro does not count.
    for (let n = node; n && n.tagName !== "ARTICLE" && !scrolls; n = n.parentElement)
      scrolls = ["auto", "scroll"].includes(view.getComputedStyle(n).overflowX);
    if (!scrolls) return (node.textContent || node.src).trim().slice(0, 60);
  }
  return "";
}
function measure(frame) {
  const inner = frame.contentDocument, view = frame.contentWindow;
  inner.querySelectorAll("details").forEach(d => { d.open = true; });
  const still = inner.createElement("style");  // colours on their way are none
  still.textContent = "* { transition: none !important; }";
  inner.head.append(still);
  let worst = 99, where = "", seen = 0;
  const walk = inner.createTreeWalker(inner.body, NodeFilter.SHOW_TEXT);
  const silent = ["style", "title", "script", "option", "noscript"];
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim()) continue;
    if (silent.includes(node.tagName.toLowerCase())) continue;
    if (!node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
    const style = view.getComputedStyle(node);
    const svg = node.namespaceURI.endsWith("svg");
    const ink = channels(svg ? style.fill : style.color);
    const two = [luminance(ink), luminance(ground(node, view))].sort((x, y) => y - x);
    const ratio = (two[0] + 0.05) / (two[1] + 0.05);
    seen += 1;
    if (ratio < worst) { worst = ratio; where = walk.currentNode.data.trim(); }
  }
  return {width: inner.documentElement.scrollWidth, contrast: worst, where: where,
    seen: seen, cut: cut(inner, view), ground: ground(inner.body, view)};
}
"""
# Opens pages one after the other in a frame of a width.
PROBE = """<!DOCTYPE html><html><head><meta charset="utf-8">
<meta name="color-scheme" content="SCHEME"><link rel="icon" href="data:,">
</head><body style="color-scheme: SCHEME"><iframe id="f" width="WIDTH" height="800"
 style="color-scheme: SCHEME"></iframe><pre id="p"></pre><script>MEASURE
const pages = PAGES, found = {}, frame = document.getElementById("f");
let at = -1;
function next() {
  if (at >= 0) {
    try { found[pages[at]] = measure(frame); }
    catch (error) { found[pages[at]] = {error: String(error)}; }
  }
  at += 1;
  if (at < pages.length) frame.src = pages[at];
  else document.getElementById("p").textContent =
    "measured " + JSON.stringify(found) + " end";
}
frame.onload = () => setTimeout(next, 300);
next();
</script></body></html>"""

Find = Callable[[str], bytes | None]


@contextmanager
def serving(find: Mapping[str, str] | Find) -> Iterator[tuple[str, list[str]]]:
    """Serve pages by path; yields the address and a list of all paths asked for."""
    asked: list[str] = []

    def content(path: str) -> bytes | None:
        if isinstance(find, Mapping):
            return find[path].encode() if path in find else None
        return find(path)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked.append(self.path)
            body = content(path)
            kind = mimetypes.guess_type(path)[0] or "text/html"
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args: object) -> None:
            pass

    instance = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=instance.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{instance.server_address[1]}", asked
    finally:
        instance.shutdown()
        instance.server_close()
        thread.join()


def browse(
    folder: Path, url: str, *arguments: str, timeout: float = 180
) -> subprocess.CompletedProcess[str]:
    """Open an address in headless Chromium, its profile and list of requests here."""
    assert CHROMIUM is not None
    return subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}",
            "--enable-logging=stderr",
            f"--log-net-log={folder / 'net.json'}",
            *arguments,
            url,
        ],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    )


def probe(pages: list[str], scheme: str, width: int = PHONE) -> str:
    """Make a page that measures others; put it on the same server."""
    return (
        PROBE.replace("MEASURE", MEASURE)
        .replace("PAGES", json.dumps(pages))
        .replace("SCHEME", scheme)
        .replace("WIDTH", str(width))
    )


def measured(output: str) -> dict[str, dict[str, object]]:
    """Read what a probe found out from the page that Chromium dumped."""
    text = re.search(r"measured (\{.*\}) end</pre>", output, flags=re.DOTALL)
    assert text is not None, output[-500:]
    found: dict[str, dict[str, object]] = json.loads(html.unescape(text[1]))
    return found


def _file(folder: Path, extra: Mapping[str, str], path: str) -> bytes | None:
    if path in extra:
        return extra[path].encode()
    target = folder / path.lstrip("/")
    return target.read_bytes() if target.is_file() else None


def look(folder: Path, out: Path, pictures: list[str]) -> list[str]:
    """Measure all pages of a folder and picture some; returns what is wrong."""
    pages = sorted(f"/{p.relative_to(folder)}" for p in folder.rglob("*.html"))
    pages = [p for p in pages if not p.startswith("/_")]
    forms = [(width, scheme) for width in (PHONE, DESK) for scheme in ("light", "dark")]
    extra = {f"/probe-{w}-{s}.html": probe(pages, s, w) for w, s in forms}
    wrong: list[str] = []
    with (
        serving(partial(_file, folder, extra)) as (address, asked),
        tempfile.TemporaryDirectory() as profile,
    ):
        here = Path(profile)
        for width, scheme in forms:
            done = browse(
                here,
                f"{address}/probe-{width}-{scheme}.html",
                "--virtual-time-budget=600000",
                "--dump-dom",
                *_flags(scheme),
                timeout=1200,
            )
            wrong += [
                f"{width} {scheme}: {line}"
                for line in done.stderr.splitlines()
                if "CONSOLE" in line
                and "pydata-sphinx-theme" not in line
                and "[PST]" not in line  # what the theme tells of itself
            ]
            for page, seen in measured(done.stdout).items():
                wrong += [f"{page} {width} {scheme}: {w}" for w in _faults(seen, width)]
        out.mkdir(parents=True, exist_ok=True)
        wanted = [p for p in pages if p.lstrip("/").startswith(tuple(pictures))]
        for page in wanted:
            for width, scheme in forms:
                name = page.strip("/").removesuffix(".html").replace("/", "-")
                browse(
                    here,
                    f"{address}{page}",
                    f"--window-size={width},1600",
                    f"--screenshot={out / f'{name}-{width}-{scheme}.png'}",
                    *_flags(scheme),
                )
        missing = {
            p for p in asked if _file(folder, extra, p.partition("?")[0]) is None
        }
    wrong += [f"missing: {path}" for path in sorted(missing - {"/favicon.ico"})]
    return wrong


def _flags(scheme: str) -> list[str]:
    return [DARK] if scheme == "dark" else []


def _faults(seen: Mapping[str, object], width: int) -> list[str]:
    """Say what is wrong with one page."""
    if "error" in seen:
        return [str(seen["error"])]
    contrast = float(str(seen["contrast"]))
    texts = {
        f"{seen['width']} px wide": float(str(seen["width"])) > width,
        f"contrast {contrast:.2f} of {str(seen['where'])[:40]!r}": contrast < 4.5,
        f"{seen['cut']!r} runs out of the page": bool(seen["cut"]),
    }
    return [text for text, found in texts.items() if found]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--picture", nargs="*", default=["index.html"])
    options = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("Chromium is not installed (Debian: apt install chromium).")
    wrong = look(options.folder, options.out, options.picture)
    print("\n".join(wrong) or "Every page is in order.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
