"""Compare methods over data sets, and over folds of one data set."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from partlearn import benchmark
from partlearn.benchmark import metric_sign
from partlearn.report._format import data_name

if TYPE_CHECKING:
    import pandas as pd

# With fewer data sets no signed-rank test can reach 0.05.
FEWEST_DATA_SETS = 6
# Largest difference of scores that are practically equal.
ROPE = 0.01
ALPHA = 0.05
DECIMALS = 12  # of scores; what lies behind them is rounding
REGIMES = (
    ("below 1 row per feature", 0.0, 1.0),
    ("1 to 5 rows per feature", 1.0, 5.0),
    ("5 rows per feature or more", 5.0, np.inf),
)
# Keys of a row of a table; `set` is the name of the data set with its r.
PLACE = ["data", "set", "labels", "learner"]


@dataclass(frozen=True)
class Comparison:
    """All methods of one protocol and metric over its data sets.

    ``table`` has a row per method in the order of falling mean: ``mean``, average
    ``rank`` and number of data sets on which it is first (ties count for each), over
    the data sets that have every method; ``cell_rank`` and ``n_first_cells`` are over
    combinations of data set, r and learner.

    ``pairs`` has a row per ordered pair of methods over the data sets that have both;
    higher is better. ``difference`` is the mean over data sets with its 95 % interval
    by Student's t; win, tie and loss count data sets; ``cell_difference`` is the mean
    over combinations. ``p`` is Wilcoxon's signed-rank test of these two methods alone;
    ``significant`` says whether it stays below 0.05 after Holm's correction for all
    pairs; ``better``, ``equivalent`` and ``worse`` are the probabilities of the
    Bayesian signed-rank test. NaN: not tested.
    """

    protocol: str
    metric: str
    data: tuple[str, ...]
    n_cells: int
    table: pd.DataFrame
    pairs: pd.DataFrame
    friedman: float = np.nan
    friedman_p: float = np.nan
    iman_davenport_p: float = np.nan
    critical_difference: float = np.nan
    cliques: tuple[tuple[int, ...], ...] = ()

    @property
    def methods(self) -> list[str]:
        """Names of the methods."""
        return list(self.table["method"])

    @property
    def tested(self) -> bool:
        """Whether there are enough data sets for a test."""
        return len(self.data) >= FEWEST_DATA_SETS

    def pair(self, first: str, second: str) -> Any:
        """Return the row of two methods, or None."""
        pairs = self.pairs
        rows = pairs[(pairs["first"] == first) & (pairs["second"] == second)]
        return next(rows.itertuples(), None)


def with_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the names of data sets with their r."""
    import pandas as pd

    names = [data_name(*key) for key in zip(frame["data"], frame["r"], strict=True)]
    return frame.assign(set=pd.Series(names, index=frame.index, dtype=object))


def pivot(cells: pd.DataFrame, value: str, *more: str) -> pd.DataFrame:
    """Scores by place and method in order of appearance; higher is better."""
    import pandas as pd

    if cells.empty:
        return pd.DataFrame()
    index = [*PLACE, *more]
    sign = metric_sign(cells["metric"].iloc[0])
    keys = cells[index].fillna(-1)  # a fold may have no seed of the noise
    heights = keys.assign(method=cells["method"], height=sign * cells[value])
    wide = heights.pivot(index=index, columns="method", values="height")
    return wide.reindex(pd.MultiIndex.from_frame(keys.drop_duplicates()))


def complete_places(cells: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Scores of the places that all methods have; higher is better.

    A method that failed everywhere does not count.
    """
    wide = pivot(cells[cells["whole"]], "mean")
    there = [name for name in names if name in wide.columns]
    return wide.dropna(subset=there) if there else wide.iloc[:0]


def by_data(places: pd.DataFrame) -> pd.DataFrame:
    """Mean over the places of each data set."""
    return places.groupby(level="data", sort=False).mean()


def compare(
    cells: pd.DataFrame,
    names: Sequence[str],
    *,
    controls: Sequence[str] = (),
    references: Sequence[str] = (),
) -> Comparison | None:
    """Compare methods over data sets, each by its mean over r and learners.

    Each data set counts once, since its combinations are not independent. There is no
    test with fewer than six data sets.

    Parameters
    ----------
    cells : DataFrame
        Cells of one table.
    names : sequence of str
        Methods to compare.
    controls : sequence of str, default=()
        Methods that others are tested against but that are not ranked.
    references : sequence of str, default=()
        Methods that are compared without a test.

    Returns
    -------
    Comparison or None
        None if no two methods have a place in common.
    """
    import pandas as pd

    places = complete_places(cells, names)
    there = [name for name in names if name in places.columns]
    if len(there) < 2 or places.empty:
        return None
    scores = by_data(places[there]).round(DECIMALS)
    methods = list(scores.mean().sort_values(ascending=False, kind="stable").index)
    scores, in_places = scores[methods], places[methods].round(DECIMALS)
    metric, values = cells["metric"].iloc[0], scores.to_numpy()
    every = pivot(cells[cells["whole"]], "mean")
    wanted = [*combinations(methods, 2), *product(methods, controls)]
    pairs = [p for a, b in wanted if (p := _pair(every, a, b))]
    tested = [p for p in pairs if not np.isnan(p["p"])]
    for p, corrected in zip(
        tested, benchmark.holm([p["p"] for p in tested]), strict=True
    ):
        p["significant"] = bool(corrected < ALPHA)
    told = product(methods, references)
    pairs += [p for a, b in told if (p := _pair(every, a, b, test=False))]
    table = {
        "method": methods,
        "mean": metric_sign(metric) * values.mean(axis=0),
        "rank": benchmark.average_ranks(values),
        "n_first": _n_first(values),
        "cell_rank": benchmark.average_ranks(in_places.to_numpy()),
        "n_first_cells": _n_first(in_places.to_numpy()),
    }
    more: dict[str, Any] = {}
    if len(values) >= FEWEST_DATA_SETS and len(methods) > 2:
        test = benchmark.friedman(values)
        critical = benchmark.nemenyi_critical_difference(len(methods), len(values))
        cliques = benchmark.nemenyi_cliques(table["rank"], critical)
        more = {
            "friedman": test.statistic,
            "friedman_p": test.p_value,
            "iman_davenport_p": test.iman_davenport_p_value,
            "critical_difference": critical,
            "cliques": tuple(map(tuple, cliques)),
        }
    return Comparison(
        cells["protocol"].iloc[0],
        metric,
        tuple(scores.index),
        len(places),
        pd.DataFrame(table),
        _both_orders(pd.DataFrame(pairs)),
        **more,
    )


def _n_first(scores: np.ndarray) -> np.ndarray:
    return np.asarray((scores == scores.max(axis=1, keepdims=True)).sum(axis=0))


def _pair(
    places: pd.DataFrame, first: str, second: str, *, test: bool = True
) -> dict[str, Any] | None:
    """Compare two methods over the data sets that have both."""
    if not {first, second} <= set(places.columns):
        return None
    both = places[[first, second]].dropna()
    if both.empty:
        return None
    a, b = by_data(both).to_numpy().T
    difference = np.round(a - b, DECIMALS)
    n, mean = len(difference), float(difference.mean())
    signs = np.sign(difference)
    pair = {
        "first": first,
        "second": second,
        "n_data": n,
        "n_cells": len(both),
        "difference": mean,
        "cell_difference": float(np.mean(both[first] - both[second])),
        "win": int((signs > 0).sum()),
        "tie": int((signs == 0).sum()),
        "loss": int((signs < 0).sum()),
        "rank_biserial": 0.0,
        **dict.fromkeys(("low", "high", "p", "better", "equivalent", "worse"), np.nan),
        "significant": False,
    }
    if n > 1:
        pair["rank_biserial"] = benchmark.rank_biserial(a, b, n_resamples=1).value
    if test and n >= FEWEST_DATA_SETS:
        half = float(stats.t.ppf(0.975, n - 1)) * float(stats.sem(difference))
        posterior = benchmark.bayesian_signed_rank(a, b, rope=ROPE)
        p = benchmark.wilcoxon_holm(np.column_stack([a, b]))[0, 1]
        pair |= {
            "low": mean - half,
            "high": mean + half,
            "p": float(p),
            **vars(posterior),
        }
    return pair


def _both_orders(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add each pair with the other method first."""
    import pandas as pd

    swapped = {"first": "second", "win": "loss", "better": "worse", "low": "high"}
    turned = pairs.rename(columns=swapped | {new: old for old, new in swapped.items()})
    differences = ["difference", "cell_difference", "rank_biserial", "low", "high"]
    turned[differences] = -turned[differences]
    return pd.concat([pairs, turned]).sort_index(kind="stable", ignore_index=True)


def interval(
    folds: pd.DataFrame, first: str, second: str, cv: int
) -> tuple[float, float] | None:
    """Return the 95 % interval of the first method minus the second over folds.

    ``folds`` are turned scores of one place by method; None without two folds.
    """
    both = folds[[first, second]].dropna()
    if len(both) < 2 or first == second:
        return None
    a, b = both.to_numpy().T
    return benchmark.corrected_interval(a, b, test_fraction=1 / cv)


def against(
    folds: pd.DataFrame,
    methods: Sequence[str],
    others: Sequence[str],
    cv: int,
    *,
    by_learner: bool = True,
) -> Iterator[dict[str, Any]]:
    """Count wins, ties and losses by t-tests over folds, as in the papers.

    Parameters
    ----------
    folds : DataFrame
        Scores over folds of one table.
    methods, others : sequence of str
        Each method is compared with each other.
    cv : int
        Number of folds of the plan.
    by_learner : bool, default=True
        Whether to count for each learner too.

    Yields
    ------
    dict
        One per pair for all learners together, after those for each.
    """
    wide = pivot(folds, "value", "noise_seed", "fold")
    learners = list(dict.fromkeys(folds["learner"])) if by_learner else []
    if len(learners) != 1:
        learners.append("all")
    for method, other in product(methods, others):
        if method == other or not {method, other} <= set(wide.columns):
            continue
        both = wide[[method, other]].dropna()
        pairs = [
            (place[-1], *part.to_numpy().T)
            for place, part in both.groupby(level=PLACE, sort=False)
        ]
        for learner in learners:
            part = [(a, b) for name, a, b in pairs if learner in ("all", name)]
            if not part:
                continue
            tested = [(a, b) for a, b in part if len(a) > 1]
            share = {"test_fraction": 1 / cv}
            differences = [float(np.mean(a) - np.mean(b)) for a, b in part]
            yield {
                "protocol": folds["protocol"].iloc[0],
                "metric": folds["metric"].iloc[0],
                "method": method,
                "other": other,
                "learner": learner,
                "n_cells": len(differences),
                "n_above": sum(d > 0 for d in differences),
                "difference": float(np.mean(differences)),
                "plain": str(
                    benchmark.win_tie_loss(benchmark.paired_t(a, b) for a, b in tested)
                ),
                "corrected": str(
                    benchmark.win_tie_loss(
                        benchmark.corrected_resampled_t(a, b, **share)
                        for a, b in tested
                    )
                ),
            }


def rows_per_feature(data: Iterable[Mapping[str, Any]], folds: int) -> dict[str, float]:
    """Training rows per feature of each data set."""
    share = 1 - 1 / folds
    return {d["name"]: share * d["n_samples"] / d["n_features"] for d in data}


def overview(
    cells: pd.DataFrame,
    ranked: Sequence[str],
    names: Sequence[str],
    ratios: Mapping[str, float],
) -> Iterator[dict[str, Any]]:
    """Average rank and mean score of each method: in all, by regime, by learner.

    Parameters
    ----------
    cells : DataFrame
        Cells of one protocol.
    ranked, names : sequence of str
        Methods that are compared, and all of them.
    ratios : mapping of str to float
        Training rows per feature, by data set.

    Yields
    ------
    dict
        One per method and group, where there are two data sets; ranked methods by
        rank, then the others.
    """
    places = complete_places(cells, ranked)
    there = [m for m in ranked if m in places.columns]
    if places.empty or len(there) < 2:
        return
    data, learner = (places.index.get_level_values(k) for k in ("data", "learner"))
    if data.nunique() < 2:
        return
    ratio = np.array([ratios[name] for name in data])
    groups = {"all": np.full(len(places), True)}
    groups |= {name: (low <= ratio) & (ratio < high) for name, low, high in REGIMES}
    if learner.nunique() > 1:
        groups |= {name: learner == name for name in learner.unique()}
    sign, order = metric_sign(cells["metric"].iloc[0]), there
    for group, chosen in groups.items():
        part = places[chosen]
        if part.empty:
            continue
        values = benchmark.average_ranks(part[there].to_numpy())
        ranks = dict(zip(there, values.tolist(), strict=True))
        if group == "all":
            order = sorted(there, key=ranks.__getitem__)
        for name in [*order, *(n for n in names if n not in ranked)]:
            known = part.get(name, part[there[0]] * np.nan)
            yield {
                "protocol": cells["protocol"].iloc[0],
                "group": group,
                "n_cells": len(part),
                "method": name,
                "rank": ranks.get(name, np.nan),
                # No mean of a reference that failed: it would not compare.
                "mean": float(sign * known.mean(skipna=False)),
            }
