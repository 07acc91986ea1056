"""The page in a real browser: no error, no outside request, phone and desktop."""

import html
import json
import re

import pytest

PHONE = 400
# Every text that is shown, folded ones unfolded, against the nearest ground behind it;
# and how wide the page became.
PROBE = """<!DOCTYPE html><html><head><meta name="color-scheme" content="SCHEME">
</head><body style="color-scheme: SCHEME">
<iframe id="f" src="/report.html" width="WIDTH" height="800"
 style="color-scheme: SCHEME"></iframe><pre id="p"></pre>
<script>
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
document.getElementById("f").onload = (event) => {
  const inner = event.target.contentDocument, view = event.target.contentWindow;
  inner.querySelectorAll("details").forEach(d => { d.open = true; });
  let worst = 99, where = "", seen = 0;
  const walk = inner.createTreeWalker(inner.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    const tag = node.tagName.toLowerCase();
    if (!walk.currentNode.data.trim() || tag == "style" || tag == "title") continue;
    const style = view.getComputedStyle(node);
    const svg = node.namespaceURI.endsWith("svg");
    const ink = channels(svg ? style.fill : style.color);
    const two = [luminance(ink), luminance(ground(node, view))].sort((x, y) => y - x);
    const ratio = (two[0] + 0.05) / (two[1] + 0.05);
    seen += 1;
    if (ratio < worst) { worst = ratio; where = walk.currentNode.data.trim(); }
  }
  document.getElementById("p").textContent = "measured " + JSON.stringify({
    width: inner.documentElement.scrollWidth, contrast: worst, where: where,
    seen: seen, ground: ground(inner.body, view)});
};</script></body></html>"""


@pytest.fixture(scope="module")
def server(page, serve):
    """Address of the page, and a list of everything that was asked for."""
    pages = {"/report.html": page}
    for scheme in ("light", "dark"):
        probe = PROBE.replace("SCHEME", scheme).replace("WIDTH", str(PHONE))
        pages[f"/{scheme}.html"] = probe
    address, asked = serve(pages)
    return f"{address}/report.html", asked


@pytest.mark.parametrize(("width", "height"), [(500, 844), (1400, 900)])
def test_screenshot_without_errors_or_requests(server, browse, tmp_path, width, height):
    url, asked = server
    asked.clear()
    # Kept by pytest for a person to look at.
    picture = tmp_path / "page.png"
    done = browse(url, f"--window-size={width},{height}", f"--screenshot={picture}")
    assert "CONSOLE" not in done.stderr
    assert set(asked) == {"/report.html"}
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20], "big") == width
    # A blank page of this size would compress to a few hundred bytes.
    assert picture.stat().st_size > 10_000


def test_only_the_page_itself_is_fetched(server, browse, tmp_path):
    """The browser's own list of requests made for the page."""
    url, _ = server
    browse(url, "--dump-dom")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone_and_can_be_read(server, browse, tmp_path, scheme):
    """Everything unfolded: only regions around tables scroll, all text stands out."""
    url, _ = server
    probe = url.replace("report.html", f"{scheme}.html")
    done = browse(probe, "--virtual-time-budget=20000", "--dump-dom")
    assert "CONSOLE" not in done.stderr
    match = re.search(r"measured (\{.*?\})</pre>", done.stdout, flags=re.DOTALL)
    assert match is not None
    measured = json.loads(html.unescape(match[1]))
    assert measured["width"] <= PHONE
    assert measured["seen"] > 500
    assert measured["contrast"] >= 4.5, measured["where"]
    assert (sum(measured["ground"][:3]) < 200) == (scheme == "dark")
