"""The label report in a real browser: hover, brushing, corrections, phone, contrast."""

import csv
import html
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
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


# Uses the report of tags as a person would, and gives what it saves.
TAG_PROBE = """<!DOCTYPE html><html><body>
<iframe id="f" src="/tags.html" width="400" height="900"></iframe><pre id="p"></pre>
<script>MEASURE
const frame = document.getElementById("f");
frame.onload = async () => {
  const page = frame.contentDocument, inside = frame.contentWindow;
  const seen = { width: page.documentElement.scrollWidth };
  const change = (node) => node.dispatchEvent(
    new inside.Event("change", { bubbles: true }));
  const told = () => page.querySelector(".corrected").textContent;
  const names = JSON.parse(page.getElementById("data").textContent).names;
  const rows = [...page.querySelectorAll("tr[data-row]")];
  seen.rows = [0, 1, 2].map((i) => names[i]);
  // Strike every tag of the first row.
  rows[0].querySelectorAll("input[data-tag]").forEach((box) => {
    if (box.checked) { box.click(); }
  });
  // Only one tag for the second one, by typing its name.
  rows[1].querySelectorAll("input[data-tag]").forEach((box) => {
    if (box.checked) { box.click(); }
  });
  const typed = rows[1].querySelector("input[list]");
  typed.value = "no such tag"; change(typed);
  seen.unknown = told();
  typed.value = "rock|pop"; change(typed);
  // The third is right as it is.
  rows[2].querySelector(".done").click();
  seen.told = told();
  // Everything is reached with the keyboard, and has a name.
  const used = [...rows[1].querySelectorAll("input, button"),
    page.querySelector(".save")];
  seen.reached = used.every((node) => {
    node.focus(); return page.activeElement === node; });
  seen.named = used.every((node) => node.getAttribute("aria-label")
    || (node.labels && node.labels.length) || node.textContent.trim());
  seen.options = page.querySelectorAll("option").length;
  let blob = null;
  inside.URL.createObjectURL = (b) => { blob = b; return "#"; };
  inside.URL.revokeObjectURL = () => {};
  page.querySelector(".save").click();
  seen.csv = await blob.text();
  const measured = measure(frame);
  seen.contrast = measured.contrast; seen.cut = measured.cut;
  document.getElementById("p").textContent = "seen" + JSON.stringify(seen) + "end";
};
</script></body></html>"""


@pytest.fixture(scope="module")
def songs():
    """Rows with tags, one of which holds the separator of tags in its name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    listed = X[:, :3] + 0.3 * rng.normal(size=(120, 3)) > 0.2
    listed ^= rng.random(listed.shape) < 0.1
    table = {f"x{j}": X[:, j] for j in range(4)}
    marks = dict(zip(["rock|pop", "live", "80s"], listed.T.astype(int), strict=True))
    return table | marks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tags_are_corrected_on_the_page(songs, tmp_path, scheme):
    def found(**given):
        marks = ["rock|pop", "live", "80s"]
        frame = pd.DataFrame(songs)
        return disambiguate(frame, marks=marks, task="tags", **given)

    result = found()
    page = result.to_html(rows={"x0": songs["x0"]})
    probe = TAG_PROBE.replace("MEASURE", MEASURE)
    with serving({"/tags.html": page, "/probe.html": probe}) as (url, _):
        given = ["--virtual-time-budget=20000", "--dump-dom"]
        given += [DARK] if scheme == "dark" else []
        done = browse(tmp_path, f"{url}/probe.html", *given)
    assert "CONSOLE" not in done.stderr
    text = re.search(r"seen(\{.*?\})end", done.stdout, flags=re.DOTALL)
    assert text is not None, done.stdout[-500:]
    seen = json.loads(html.unescape(text[1]))
    assert seen["width"] <= 400
    assert seen["cut"] == ""
    assert seen["contrast"] >= 4.5
    assert seen["unknown"] == "No tag is named no such tag: nothing was added."
    assert seen["told"] == "3 rows checked, not saved yet."
    assert seen["reached"]
    assert seen["named"]
    assert seen["options"] == 3  # one list for all rows
    path = tmp_path / "corrections.csv"
    path.write_text(seen["csv"], encoding="utf-8", newline="")
    saved = read_corrections(path)
    assert list(saved) == seen["rows"]
    first, second, third = (int(name) for name in seen["rows"])
    assert saved[str(first)] == "[]"
    assert saved[str(second)] == '["rock|pop"]'

    again = found(corrections=saved)
    S = again.tags.candidates
    assert again.classes.tolist() == ["rock|pop", "live", "80s"]
    assert S[first].tolist() == [False] * 3
    assert S[second].tolist() == [True, False, False]
    assert (S[third] == result.tags.candidates[third]).all()
    assert again.checked.sum() == 3
