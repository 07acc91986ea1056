"""Labels of rows that share one list: time, growth and memory of one application."""

import numpy as np

from benchmarks.runner import Run, case
from partlearn.candidates import bag_confidence, make_bags


def made(m: int, size: int, q: int = 50) -> tuple[np.ndarray, ...]:
    """Random confidences of rows in bags that lie together, as in a file."""
    rng = np.random.default_rng(0)
    S, bags = make_bags(rng.integers(0, q, m), size=size, random_state=0)
    order = np.argsort(bags, kind="stable")
    S = S[order]
    return rng.random((m, q)) * S, bags[order], S


@case("bags")
def bags(run: Run) -> None:
    """One application of the bag rules; 1e6 rows in 1e5 bags of 50 labels at most."""
    sizes = run.pick([250_000, 500_000, 1_000_000], [2000, 4000, 8000])
    seconds = []
    for m in sizes:
        P, names, S = made(m, 10)

        def work(P=P, names=names, S=S) -> np.ndarray:
            return bag_confidence(P, names, S, stray=0.1)

        label = f"{m} rows in bags of 10, {S.sum() / m:.1f} labels"
        seconds.append(run.time(label, {"cover": work}, repeats=2)["cover"])
        run.memory(label, work, beside=P.nbytes)
    run.growth("cover", sizes, seconds, at_most=1)
    run.ratio("cover, seconds / 3 s", seconds[-1] / 3, at_most=1)
