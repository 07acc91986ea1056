"""From a finished run to the records that every renderer reads."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from partlearn.benchmark import Store
from partlearn.report._multilabel import summarize_multilabel
from partlearn.report._partial import summarize_partial
from partlearn.report._records import Summary

__all__ = ["summarize"]


def summarize(folder: str | Path) -> Summary:
    """Summarise the run in ``folder``.

    Parameters
    ----------
    folder : str or Path
        As given to :func:`partlearn.benchmark.run_plan`.

    Returns
    -------
    Summary
        Frozen records, the source of all renderers. Fields are attributes;
        ``summary["cells"]`` reads them by name, as in the JSON.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import load_plan, run_plan
    >>> from partlearn.report import summarize
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_plan(load_plan("demo-quick"), folder)
    ...     summary = summarize(folder)
    >>> summary.plan
    'demo-quick'
    """
    store = Store(folder)
    plan, run = store.read_json("plan.json"), store.read_json("run.json")
    if not (_has(plan, "metrics", "data") and _has(run, "facts", "absent", "data")):
        raise FileNotFoundError(
            f"{Path(folder)} holds no finished run (plan.json, run.json). "
            "`partlearn bench PLAN --out FOLDER` makes one."
        )
    if plan.get("task") == "multilabel":
        return summarize_multilabel(store, plan, run)
    return summarize_partial(store, plan, run)


def _has(content: Any, *keys: str) -> bool:
    return isinstance(content, Mapping) and content.keys() >= set(keys)
