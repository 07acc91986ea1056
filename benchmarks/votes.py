"""Aggregation of many votes: time and memory."""

import resource
import sys

import numpy as np

from benchmarks.runner import Run, case
from partlearn.candidates import aggregate_votes, from_votes

SECONDS, GIGABYTES = 60.0, 2.0


def drawn(
    n_votes: int, n_rows: int, n_annotators: int, q: int = 10
) -> tuple[np.ndarray, ...]:
    """Votes of annotators, each right in half or more of their votes, and the truth."""
    rng = np.random.RandomState(0)
    truth = rng.randint(q, size=n_rows)
    rows = rng.randint(n_rows, size=n_votes)
    who = rng.randint(n_annotators, size=n_votes)
    skill = rng.uniform(0.5, 1.0, n_annotators)
    right = rng.rand(n_votes) < skill[who]
    given = np.where(right, truth[rows], rng.randint(q, size=n_votes))
    return rows, who, given, truth


@case("votes")
def votes(run: Run) -> None:
    """Two million votes of a thousand annotators on a hundred thousand rows."""
    n = run.pick(2_000_000, 20_000)
    rows, who, given, truth = drawn(n, n // 20, n // 2000)
    summaries = []

    def work() -> None:
        labels = from_votes(rows, who, given, n_rows=n // 20, empty="all")
        summaries.append(aggregate_votes(labels))

    seconds = run.time(f"{n} votes", {"aggregate": work}, repeats=1)["aggregate"]
    unit = 2**30 if sys.platform == "darwin" else 2**20
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    right = float((summaries[0].label == truth).mean())
    majority = from_votes(rows, who, given, n_rows=n // 20, empty="all")
    most = float((majority.table.counts.argmax(axis=1) == truth).mean())
    run.show(f"  labels right {right:.4f}, majority {most:.4f}")
    run.ratio("time / 60 s", seconds / SECONDS, at_most=1.0)
    run.ratio("peak memory of the process / 2 GB", memory / GIGABYTES, at_most=1.0)
