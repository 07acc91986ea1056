"""The label report in a real browser: hover, brushing, corrections, phone, contrast."""

import csv
import html
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from tools.browser import CHROMIUM, DARK, MEASURE, browse, serving

from partlearn import disambiguate
from partlearn.candidates import make_candidates
from partlearn.io import read_corrections

pytest.importorskip("jinja2")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium here (Debian: apt install chromium)"
)

# A page around the report, of the same origin, that uses it as a person would.
PROBE = """<!DOCTYPE html><html><body>
<iframe id="f" src="/report.html" width="400" height="900"></iframe>
<pre id="p"></pre>
<script>MEASURE
const frame = document.getElementById("f");
frame.onload = async () => {
  const page = frame.contentDocument, inside = frame.contentWindow;
  const seen = { width: page.documentElement.scrollWidth };
  const canvas = page.querySelector("canvas");
  const edge = canvas.getBoundingClientRect();
  const at = (kind, x, y) => canvas.dispatchEvent(new inside.PointerEvent(kind, {
    clientX: edge.left + x * edge.width, clientY: edge.top + y * edge.height,
    pointerId: 1, bubbles: true }));
  canvas.setPointerCapture = () => {};
  const data = JSON.parse(page.getElementById("data").textContent);
  at("pointermove", data.xy[0] / 1000, data.xy[1] / 1000);
  const tip = page.getElementById("tip");
  seen.tip = tip.hidden ? "" : tip.textContent;
  seen.all = page.getElementById("count").textContent;
  at("pointerdown", .1, .1); at("pointermove", .4, .5); at("pointerup", .4, .5);
  seen.brushed = page.getElementById("count").textContent;
  seen.listed = page.querySelectorAll("#listed tr").length;
  page.getElementById("clear").click();
  seen.cleared = page.getElementById("count").textContent;
  const choice = page.querySelector("td[data-row] select");
  seen.row = data.names[Number(choice.dataset.row)];
  choice.value = choice.options[2].value;
  seen.label = data.classes[Number(choice.value)];
  choice.dispatchEvent(new inside.Event("change", { bubbles: true }));
  const save = page.querySelector(".save");
  seen.enabled = !save.disabled;
  let blob = null;
  inside.URL.createObjectURL = (b) => { blob = b; return "#"; };
  inside.URL.revokeObjectURL = () => {};
  save.click();
  seen.csv = await blob.text();
  seen.contrast = measure(frame).contrast;
  document.getElementById("p").textContent = "seen" + JSON.stringify(seen) + "end";
};
</script></body></html>"""


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    return X, make_candidates(y, 2, random_state=0), y


@pytest.fixture(scope="module")
def page(digits):
    X, S, _ = digits
    result = disambiguate(X, S, "cc")
    rows = {"ink": X.sum(axis=1), "widest": X.max(axis=1)}
    return result.to_html(rows=rows, images=list(X.reshape(-1, 8, 8)))


@pytest.fixture(scope="module")
def address(page):
    probe = PROBE.replace("MEASURE", MEASURE)
    with serving({"/report.html": page, "/probe.html": probe}) as (url, _):
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_used_as_a_person_would(address, tmp_path, scheme, digits):
    dark = [DARK] if scheme == "dark" else []
    done = browse(
        tmp_path,
        f"{address}/probe.html",
        "--virtual-time-budget=20000",
        "--dump-dom",
        *dark,
    )
    assert "CONSOLE" not in done.stderr
    text = re.search(r"seen(\{.*?\})end", done.stdout, flags=re.DOTALL)
    assert text is not None, done.stdout[-500:]
    seen = json.loads(html.unescape(text[1]))
    assert seen["width"] <= 400
    assert seen["tip"].startswith("Row ")
    assert seen["all"].startswith("600 rows")
    assert "in the rectangle" in seen["brushed"]
    assert 0 < int(seen["brushed"].split()[0]) < 600
    assert seen["listed"] > 0
    assert seen["cleared"] == seen["all"]
    assert seen["enabled"]
    assert seen["contrast"] >= 4.5
    saved = list(csv.DictReader(io.StringIO(seen["csv"])))
    assert saved == [{"row": seen["row"], "label": seen["label"]}]

    # What the page saves changes the labels of the next run.
    path = tmp_path / "corrections.csv"
    path.write_text(seen["csv"], encoding="utf-8", newline="")
    X, S, _ = digits
    again = disambiguate(X, S, "cc", corrections=read_corrections(path))
    row = int(seen["row"])
    assert str(again.label[row]) == seen["label"]
    assert again.confidence[row] == 1


@pytest.mark.parametrize(("width", "height"), [(400, 1400), (1400, 1400)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshots(address, tmp_path, width, height, scheme):
    """Kept where PARTLEARN_SCREENSHOTS says, for a person to look at."""
    folder = Path(os.environ.get("PARTLEARN_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / f"label-report-{width}-{scheme}.png"
    dark = [DARK] if scheme == "dark" else []
    done = browse(
        tmp_path,
        f"{address}/report.html",
        f"--window-size={width},{height}",
        f"--screenshot={picture}",
        *dark,
    )
    assert "CONSOLE" not in done.stderr
    assert picture.stat().st_size > 20_000


def test_many_rows_open_quickly_enough_to_draw(tmp_path):
    """Twenty thousand rows: the script draws and lists them all without an error."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 20_000)
    X = rng.normal(size=(20_000, 3)) + 3 * rng.normal(size=(10, 3))[y]
    result = disambiguate(X, make_candidates(y, 2, random_state=0), "plknn")
    path = tmp_path / "many.html"
    result.to_html(path)
    done = browse(tmp_path, path.as_uri(), "--virtual-time-budget=5000", "--dump-dom")
    assert "20000 rows; the 20 least certain are listed" in done.stdout
    assert "CONSOLE" not in done.stderr
