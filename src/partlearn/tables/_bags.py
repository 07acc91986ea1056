"""Bags of the rows of a table: a column, or runs of equal sets."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from partlearn._arguments import argument
from partlearn._typing import Indices, Mask
from partlearn.candidates import (
    BagRule,
    Evidence,
    Votes,
    as_column,
    bag_runs,
    equal_neighbors,
    warn_caller,
)
from partlearn.io import (
    DataFormatError,
    bag_columns,
    check_names,
    load_columns,
    open_tables,
)
from partlearn.tables._labels import true_labels

RUNS = "runs"


def read_bags(
    bags: Any, columns: Mapping[str, Any], evidence: Evidence
) -> NDArray[Any]:
    """Name the bag of each row that has labels.

    Parameters
    ----------
    bags : str or array-like of shape (n_rows,)
        Column of the table; "runs" for runs of rows with equal sets, unless a column is
        called so; or the bags themselves.
    columns : mapping of str to ndarray
        Columns of the table.
    evidence : Evidence
        Labels; ``evidence.rows`` are their rows in the table.

    Returns
    -------
    names : ndarray of shape (n_labelled,)
        Texts of a column, None where it is empty; numbers of runs.

    Examples
    --------
    >>> from partlearn.candidates import from_text
    >>> from partlearn.tables import read_bags
    >>> read_bags("runs", {}, from_text(["a|b", "a|b", "b|c"]))
    array([0, 0, 1])
    """
    if isinstance(bags, str):
        if bags == RUNS and RUNS not in columns:
            return runs_of(evidence)
        check_names([bags], columns, "bags")
        return true_labels(columns[bags])[evidence.rows]
    values = as_column(bags, "bags")
    n = len(next(iter(columns.values()))) if columns else len(evidence)
    if len(values) not in (n, len(evidence)):
        raise ValueError(
            f"{argument('bags')} must hold {n} values, one per row; got {len(values)}."
        )
    if len(values) == n:
        values = [values[i] for i in evidence.rows]
    names = np.empty(len(values), dtype=object)
    names[:] = values
    return names


def warn_of_bags(names: Any, evidence: Evidence) -> None:
    """Warn of bags that change nothing, or whose rows have different sets.

    Parameters
    ----------
    names : array-like of shape (n_samples,)
        Bags, as :func:`read_bags` gives them.
    evidence : Evidence
        Labels of the rows.
    """
    rule = BagRule(names, evidence.listed)
    if not rule.shared:
        warn_caller(
            f"No two rows share a bag, so that {argument('bags')} changes nothing. "
            "Name the column that is equal for the rows of one list, such as the "
            "photograph of each face."
        )
    elif not (rule.layout.equal.all() or isinstance(evidence, Votes)):
        warn_caller(
            "Rows of one bag have different candidate sets, and the list of the bag is "
            f"the union of these. If they should be equal, {argument('bags')} names "
            "the wrong column, or lists differ by a typing error."
        )


def warn_of_runs(
    evidence: Evidence, columns: Iterable[str] = (), more: str = ""
) -> None:
    """Warn if rows without bags seem to come in bags.

    Parameters
    ----------
    evidence : Evidence
        Labels of the rows.
    columns : iterable of str, default=()
        Columns of the table, without those that the caller leaves out.
    more : str, default=""
        A further sentence.
    """
    names = bag_columns(columns)
    if len(names) == 1:
        warn_caller(
            f"Column {names[0]!r} names bags, which are not used: pass "
            f"{argument('bags')}, or leave the column out.{more}"
        )
    elif (pairs := equal_neighbors(evidence.listed)).bags_likely:
        warn_caller(
            f"{pairs}. If rows of a run share one list, as faces share a caption, "
            "every label of the list belongs to one of them: pass "
            f"{argument('bags')}, the name of a column or 'runs'.{more}"
        )


def bags_of_files(paths: Sequence[Path], bags: str, evidence: Evidence) -> NDArray[Any]:
    """Name the bag of each row of several Parquet files; none may span two files.

    Parameters
    ----------
    paths : sequence of path
        Files whose rows follow each other.
    bags : str
        Column of the files, or "runs".
    evidence : Evidence
        Labels, one for each row of all files.

    Returns
    -------
    names : ndarray of shape (n_samples,)
        Bags of all rows.
    """
    home: dict[str, Path] = {}
    parts: list[NDArray[Any]] = []
    start = 0
    for path in paths:
        rows = open_tables([path])
        if bags == RUNS and RUNS not in (rows.names or ()):
            part = evidence[start : start + len(rows)]
            if start and _goes_on(evidence.listed[start - 1 : start + 1]):
                raise DataFormatError(
                    "the first row has the same candidates as the last row of the "
                    "file before",
                    path=path,
                    advice="A bag must not span files: put all rows of a run into one "
                    "file, or name the bags in a column.",
                )
            names = runs_of(part)
            parts.append(names + (parts[-1][-1] + 1 if parts else 0))
        else:
            check_names([bags], rows.names or (), "bags")
            names = true_labels(load_columns([path], [bags])[bags])
            for name in dict.fromkeys(names.tolist()):
                if name is not None and home.setdefault(name, path) != path:
                    raise DataFormatError(
                        f"bag {name!r} is in {home[name].name} as well",
                        path=path,
                        advice="A bag must not span files: give different bags "
                        "different names, or put all rows of a bag into one file.",
                    )
            parts.append(names)
        start += len(rows)
    return np.concatenate(parts)


def _goes_on(pair: Mask) -> bool:
    """Whether two neighboring rows have the same several candidates."""
    return bool(pair[0].sum() > 1 and (pair[0] == pair[1]).all())


def runs_of(evidence: Evidence) -> Indices:
    """Number runs of rows with equal sets; a row without labels ends a run.

    Parameters
    ----------
    evidence : Evidence
        Labels; ``evidence.rows`` are their rows in the table.

    Returns
    -------
    codes : ndarray of int, shape (n_samples,)
        Number of the run of each row.
    """
    ends = (np.diff(evidence.rows) != 1) | (np.diff(bag_runs(evidence.listed)) != 0)
    return np.cumsum(np.concatenate([np.zeros(min(len(evidence), 1), bool), ends]))


def bag_params(estimator: Any, bags: Any) -> dict[str, Any]:
    """Return the arguments of `fit` with the bags, in the form that an estimator takes.

    Parameters
    ----------
    estimator : estimator
        Learner or reducer; of a pipeline, the last step takes the bags.
    bags : array-like or None
        Bags of the rows; None for no arguments.

    Returns
    -------
    params : dict
        Arguments of `fit`.
    """
    if bags is None:
        return {}
    name, last = _last_step(estimator)
    advice = "Choose crisp-classifier, kernel-crisp, crisp or a CandidateClassifier, or"
    complaint = f"does not use bags. {advice} leave out {argument('bags')}."
    require_fit_parameter(last, "bags", complaint)
    return {f"{name}__bags" if name else "bags": bags}


def learned_rule(estimator: Any) -> dict[str, Any]:
    """Return the rule and stray rate of a fitted estimator, for bags of new rows.

    Parameters
    ----------
    estimator : estimator
        Fitted learner; of a pipeline, the last step.

    Returns
    -------
    params : dict
        Arguments of :func:`partlearn.candidates.bag_confidence`: by default "cover",
        and an estimated stray rate.
    """
    last = _last_step(estimator)[1]
    rate = getattr(last, "stray_rate_", None)
    return {
        "rule": getattr(last, "bag_rule", "cover"),
        "stray": getattr(last, "stray_rate", "auto") if rate is None else rate,
    }


def _last_step(estimator: Any) -> tuple[str, Any]:
    return estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)


def require_fit_parameter(estimator: Any, parameter: str, complaint: str) -> None:
    """Raise if `fit` of an estimator lacks a parameter.

    Parameters
    ----------
    estimator : estimator
        An estimator; the message starts with its class.
    parameter : str
        The parameter.
    complaint : str
        Rest of the message.
    """
    if not has_fit_parameter(estimator, parameter):
        raise ValueError(f"{type(estimator).__name__} {complaint}")
