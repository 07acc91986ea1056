"""How large the page of twenty thousand rows is, and how soon a browser shows it."""

import re
import tempfile
from pathlib import Path

import numpy as np
from tools.browser import CHROMIUM, browse, serving

from partlearn import disambiguate
from partlearn.candidates import make_candidates

# Milliseconds from asking for the page until its script has drawn and listed the rows.
PROBE = """<!DOCTYPE html><html><body><iframe id="f" width="1200" height="900"></iframe>
<pre id="p"></pre><script>
const frame = document.getElementById("f");
const begin = performance.now();
frame.onload = () => {
  const listed = frame.contentDocument.querySelectorAll("#listed tr").length;
  document.getElementById("p").textContent =
    "opened " + (performance.now() - begin).toFixed(0) + " listed " + listed;
};
frame.src = "/report.html";
</script></body></html>"""


def main() -> None:
    """Print size and time; real time, not the browser's virtual one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 20_000)
    X = rng.normal(size=(20_000, 3)) + 3 * rng.normal(size=(10, 3))[y]
    result = disambiguate(X, make_candidates(y, 2, random_state=0), "plknn")
    page = result.to_html(rows={f"column {j}": X[:, j] for j in range(3)})
    print(f"{len(page.encode()) / 1e6:.2f} MB")
    if CHROMIUM is None:
        print("No Chromium here: not opened.")
        return
    with (
        serving({"/report.html": page, "/probe.html": PROBE}) as (address, _),
        tempfile.TemporaryDirectory() as folder,
    ):
        for _ in range(3):
            done = browse(
                Path(folder), f"{address}/probe.html", "--timeout=10000", "--dump-dom"
            )
            seen = re.search(r"opened (\d+) listed (\d+)", done.stdout)
            print(f"{seen[1]} ms, {seen[2]} rows listed" if seen else "not opened")


if __name__ == "__main__":
    main()
