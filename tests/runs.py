"""Frames of runs as rows that tests can read."""

import pandas as pd

from partlearn.benchmark._task import task_of

JOB = [
    "id",
    "data",
    "r",
    "noise_seed",
    "protocol",
    "labels",
    "reducer",
    "draw",
    "learner",
    "fold",
]


def load_plan_data(plan, folder):
    """Data sets of a plan that are in a folder, and those that are not."""
    return task_of(plan).load(folder)


class Row(dict):
    """Values of one job, or of one point of its curve, by metric; None without."""

    def __missing__(self, name):
        return None


def rows_of(run):
    """One row per job, or per point of its curve, in the order of the frame."""
    jobs, points = {}, {}
    for item in run.frame().to_dict("records"):
        item = {k: None if pd.isna(v) else v for k, v in item.items()}
        key, share = (item["id"], item["noise_seed"]), item["percentage"]
        metric = item["metric"]
        about = {name: item[name] for name in JOB}
        row = jobs.setdefault(key, Row(about, status="ok", warnings="", error=""))
        if share is not None:
            row = points.setdefault(key, {}).setdefault(share, {"percentage": share})
        if metric == "warning":
            row["warnings"] = "\n".join(filter(None, [row["warnings"], item["text"]]))
        elif metric == "error":
            row["error"], _, row["message"] = item["text"].partition(": ")
            row["status"] = "failed"
        else:
            row[metric] = item["text"] or item["value"]
    return [
        Row({**job, **point})
        for key, job in jobs.items()
        for point in points.get(key, {None: {}}).values()
    ]
