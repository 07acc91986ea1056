"""The page in a real browser: no error, no outside request, phone and desktop."""

import json

import pytest
from tools.browser import CHROMIUM, PHONE, browse, measured, probe, serving

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium here (Debian: apt install chromium)"
)


@pytest.fixture(scope="module")
def server(page):
    """Serves the page and keeps a list of everything that was asked for."""
    pages = {"/report.html": page}
    for scheme in ("light", "dark"):
        pages[f"/{scheme}.html"] = probe(["/report.html"], scheme)
    with serving(pages) as (address, asked):
        yield f"{address}/report.html", asked


@pytest.mark.parametrize(("width", "height"), [(500, 844), (1400, 900)])
def test_screenshot_without_errors_or_requests(server, tmp_path, width, height):
    url, asked = server
    asked.clear()
    # Kept by pytest for a person to look at.
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
        # The log, a line for an event, is cut off when the browser leaves first.
        whole = text[: text.rindex("\n")].rstrip().rstrip(",")
        log = json.loads(whole + "]}")
    kinds = {v: k for k, v in log["constants"]["logEventTypes"].items()}
    initiated = [
        event["params"]["url"]
        for event in log["events"]
        if kinds[event["type"]] == "URL_REQUEST_START_JOB"
        and str(event.get("params", {}).get("initiator", "")).startswith("http://127")
    ]
    assert all(target.startswith(("data:", url)) for target in initiated)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone_and_can_be_read(server, tmp_path, scheme):
    """Everything unfolded: only regions around tables scroll, all text stands out."""
    url, _ = server
    page = url.replace("report.html", f"{scheme}.html")
    done = browse(tmp_path, page, "--virtual-time-budget=20000", "--dump-dom")
    assert "CONSOLE" not in done.stderr
    seen = measured(done.stdout)["/report.html"]
    assert seen["width"] <= PHONE
    assert seen["seen"] > 500
    assert seen["contrast"] >= 4.5, seen["where"]
    assert (sum(seen["ground"][:3]) < 200) == (scheme == "dark")
