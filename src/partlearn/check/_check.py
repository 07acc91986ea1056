"""What is wrong with my data, in plain words."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from partlearn import tables
from partlearn._registry import PARTIAL_LABEL_ROLES, methods
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import Evidence, check_candidates
from partlearn.check import _findings
from partlearn.check._report import DataReport, Finding, make_findings
from partlearn.io import LabelColumns, label_choice
from partlearn.model_selection import truth_codes

_LARGE = 8 * 10**9
# These say nothing about tags.
_SINGLE = (
    *("empty-sets", "full-sets", "no-singletons", "difficulty"),
    *("never-alone", "always-accompanied"),
)
_MISSED = ("truth-outside", "truth-unknown")  # normal of votes and weights


def check(
    X: Any,
    candidates: Any = None,
    truth: Any = None,
    *,
    feature_names: list[str] | None = None,
    target_names: list[str] | None = None,
    sep: str | None = None,
    encoder: tables.TableEncoder | None = None,
    raters: str | Sequence[str] | None = None,
    weights: str | Sequence[str] | None = None,
    marks: str | Sequence[str] | None = None,
    bags: Any = None,
    task: Literal["single", "tags"] = "single",
) -> DataReport:
    """Find problems in partial-label data and suggest remedies.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Data; missing values are allowed and reported. Columns of a table may hold
        anything.
    candidates : candidate labels, str or list of str, default=None
        Candidate sets in any form that ``check_candidates`` reads, or the columns of a
        table that hold them; empty sets are allowed and reported. None finds the column
        by its name.
    truth : str or array-like of shape (n_samples,) or (n_samples, n_classes), \
default=None
        True labels, or column numbers if `candidates` is a matrix; a binary matrix
        for several true labels per row; or a column of a table.
    feature_names, target_names : list of str, default=None
        Names for the report.
    sep : str, default=None
        Separator of labels in a column; ``|``, ``;`` and ``,`` are recognized.
    encoder : TableEncoder, default=None
        Kinds of the columns of a table; inferred by default.
    raters, weights, marks : str or list of str, default=None
        Label columns of a table, instead of `candidates`. A column of `raters` holds
        the labels given by one annotator. A column of `weights` or `marks` is named
        after a label and holds its weight, or a mark in the rows that have it.
    bags : array-like of shape (n_samples,) or str, default=None
        Rows that share one list of labels, as for :func:`partlearn.disambiguate`.
        Without it, a finding reports rows that look like bags.
    task : {"single", "tags"}, default="single"
        Whether one label of each row is true ("single"), or any number ("tags").

    Returns
    -------
    report : DataReport
        Findings, facts and memory estimates, as text, JSON and HTML.

    Examples
    --------
    >>> from partlearn.check import check
    >>> from partlearn.datasets import load_iris_partial
    >>> iris = load_iris_partial()
    >>> report = check(iris.data, iris.candidates, iris.truth)
    >>> report.ok, [finding.code for finding in report.findings]
    (True, ['no-singletons', 'duplicate-rows', 'difficulty'])
    """
    candidates = label_choice(candidates, raters=raters, weights=weights, marks=marks)
    tables.check_index(X, candidates=candidates, truth=truth, bags=bags)
    if tables.is_frame(X):
        columns = tables.columns_of(X)
        several = isinstance(candidates, list | tuple)
        named = several and all(isinstance(name, str) for name in candidates)
        named = (
            named or candidates is None or isinstance(candidates, str | LabelColumns)
        )
        if task == "tags":
            return _check_tags(columns, candidates, truth, sep, encoder)
        if named or encoder is not None or not tables.is_plain(columns):
            return _check_table(columns, candidates, truth, sep, encoder, bags)
        feature_names = list(columns) if feature_names is None else feature_names
        X = np.column_stack(list(columns.values()))
    if candidates is None:
        raise ValueError("Pass the candidate sets; only tables hold them themselves.")
    X = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False)
    if X.dtype.kind not in "biuf":
        X = check_array(X, dtype=np.float64, ensure_all_finite=False)
    classes, S = _sets(candidates)
    m, d = X.shape
    if len(S) != m:
        raise ValueError(f"X has {m} rows, candidates have {len(S)}.")
    labels = target_names if target_names is not None else [str(c) for c in classes]
    if len(labels) != S.shape[1]:
        raise ValueError(f"{len(labels)} `target_names` for {S.shape[1]} labels.")
    features = (
        feature_names if feature_names is not None else [str(j) for j in range(d)]
    )
    if len(features) != d:
        raise ValueError(f"{len(features)} `feature_names` for {d} features.")
    if bags is not None:
        bags = tables.read_bags(bags, {}, _one_each(S))
    if task == "tags" and truth is None:
        report = _report(X, S, features, labels, several=True, empty_breaks=False)
        findings = _of_tags(report, S, np.arange(m), labels)
        return replace(report, findings=findings, facts=report.facts | {"task": "tags"})
    if truth is None:
        return _report(X, S, features, labels, bags=bags)
    known = _truth(truth, classes, S)
    several = known.ndim == 2
    report = _report(
        X,
        S,
        features,
        labels,
        known,
        several=several,
        empty_breaks=not several,
        bags=bags,
    )
    told = _findings.truth_findings(S, known, labels)
    return replace(report, findings=[*report.findings, *told])


def _report(
    X: Any,
    S: Mask,
    features: list[str],
    labels: list[str],
    known: Mask | Indices | None = None,
    *,
    several: bool = False,
    empty_breaks: bool = True,
    bags: NDArray[Any] | None = None,
) -> DataReport:
    """Say what sets, features and sizes tell.

    `several` labels of a row may be true; `empty_breaks` says that empty sets do.
    """
    C = _findings.cooccurrence(S)
    facts = _facts(X, S, C, known)
    memory = _memory(X, S.shape[1])
    findings = [
        *_findings.label_findings(S, C, labels, several, empty_breaks),
        *(() if several else _findings.bag_findings(S, bags, known)),
        *_findings.feature_findings(X, S, features),
        *_size_findings(facts, memory),
    ]
    return DataReport(findings, facts, memory)


def _check_table(
    columns: dict[str, NDArray[Any]],
    labels: Any,
    truth: Any,
    sep: str | None,
    encoder: tables.TableEncoder | None,
    bags: Any,
) -> DataReport:
    """Check a table, and go on where something is wrong with a part of it."""
    chosen = tables.TableEncoder() if encoder is None else clone(encoder)
    if isinstance(truth, str):
        tables.check_names([truth], columns, "truth")
        chosen.set_params(ignore=[*tables.as_names(chosen.ignore), truth])
        truth = columns[truth]
    if isinstance(bags, str) and bags in columns:
        chosen.set_params(ignore=[*tables.as_names(chosen.ignore), bags])
    evidence, Z, findings = _read_table(columns, labels, sep, chosen)
    m = len(next(iter(columns.values())))
    if evidence is None or Z is None:
        facts: dict[str, Any] = {"n_samples": m, "n_features": len(columns)}
        return DataReport(findings, facts, {})
    S = np.zeros((m, len(evidence.classes)), dtype=bool)
    S[evidence.rows] = evidence.candidates
    names = [str(c) for c in evidence.classes.tolist()]
    known, told = (None, []) if truth is None else _table_truth(truth, S, names)
    if evidence.weighted:
        # Raters may all miss the truth: that is what there are several for.
        told = [replace(f, severity="note") if f.code in _MISSED else f for f in told]
    features = chosen.get_feature_names_out().tolist()
    # Training leaves rows without labels out, so they break nothing.
    if bags is not None:
        named = np.full(m, None, dtype=object)
        named[evidence.rows] = tables.read_bags(bags, columns, evidence)
        bags = named
    report = _report(Z, S, features, names, known, empty_breaks=False, bags=bags)
    findings += [*report.findings, *_findings.label_text_findings(S, names), *told]
    return replace(
        report, findings=findings, facts=report.facts | {"n_columns": len(columns)}
    )


def _check_tags(
    columns: dict[str, NDArray[Any]],
    labels: Any,
    truth: Any,
    sep: str | None,
    encoder: tables.TableEncoder | None,
) -> DataReport:
    """Check a table of tags: any number of them may be true."""
    chosen = tables.TableEncoder() if encoder is None else clone(encoder)
    if isinstance(truth, str):
        tables.check_names([truth], columns, "truth")
        chosen.set_params(ignore=[*tables.as_names(chosen.ignore), truth])
    if labels is None and "tags" in columns:
        labels = "tags"
    tags, Z, findings = _read_table(columns, labels, sep, chosen, tables.tags_of)
    m = len(next(iter(columns.values())))
    if tags is None or Z is None:
        facts: dict[str, Any] = {"n_samples": m, "n_features": len(columns)}
        return DataReport(findings, facts, {})
    names = [str(c) for c in tags.classes.tolist()]
    features = chosen.get_feature_names_out().tolist()
    S, rows = tags.candidates, tags.rows
    report = _report(Z[rows], S, features, names, several=True, empty_breaks=False)
    unlabeled = np.setdiff1d(np.arange(m), rows)
    findings += make_findings("unlabeled-rows", unlabeled, total=m)
    findings += _of_tags(report, S, rows, names)
    return replace(
        report,
        findings=findings,
        facts=report.facts
        | {"n_columns": len(columns), "n_unlabeled": m - len(rows), "task": "tags"},
    )


def _of_tags(
    report: DataReport, S: Mask, rows: Indices, names: list[str]
) -> list[Finding]:
    """What there is to say about tags, by the rows of the table."""
    everywhere = np.flatnonzero(S.all(axis=0))
    told = [*report.findings, *_findings.label_text_findings(S, names)]
    return [
        *make_findings("no-tags", rows[~S.any(axis=1)], total=len(rows)),
        *make_findings("everywhere", [names[int(j)] for j in everywhere]),
        *(
            replace(finding, rows=tuple(int(rows[r]) for r in finding.rows))
            for finding in told
            if finding.code not in _SINGLE
        ),
    ]


def _read_table(
    columns: dict[str, NDArray[Any]],
    labels: Any,
    sep: str | None,
    encoder: tables.TableEncoder,
    read: Any = tables.read_labels,
) -> tuple[Any, Array | None, list[Finding]]:
    """Labels and encoded features of a table, and what was wrong with either."""
    findings: list[Finding] = []
    evidence: Any = None
    names: list[str] = []
    try:
        if labels is None or isinstance(labels, str):
            labels = tables.label_columns(labels, columns)
        with warnings.catch_warnings():  # there is a finding for it
            warnings.filterwarnings("ignore", ".* look the same")
            evidence, names = read(columns, labels, sep)
    except ValueError as error:
        said = str(error)
        given = labels.names if isinstance(labels, LabelColumns) else labels
        given = given if isinstance(given, (str, list, tuple)) else ()
        findings += make_findings("labels", error=said[0].upper() + said[1:])
        names = [name for name in tables.as_names(given) if name in columns]
    if evidence is not None and evidence.read_as:
        findings += make_findings("labels-read", how=evidence.read_as)
    encoder.set_params(ignore=[*tables.as_names(encoder.ignore), *names])
    try:
        Z = encoder.fit_transform(columns)
    except ValueError as error:
        said = str(error).split(". ")[0].rstrip(".")
        findings += make_findings("features", error=f"{said}.")
        return evidence, None, findings
    for name in names:
        encoder.kinds_[name] = tables.ColumnKind("label", "")
    findings += _findings.column_findings(encoder.kinds_)
    for name in tables.as_names(encoder.id):
        values, counts = np.unique(columns[name].astype(np.str_), return_counts=True)
        repeated = values[counts > 1].tolist()
        findings += make_findings("repeated-ids", repeated, name=name)
    return evidence, Z, findings


def _table_truth(
    truth: Any, S: Mask, names: list[str]
) -> tuple[Indices | None, list[Finding]]:
    """Class numbers of the true labels, if all are known, and how they fit the sets."""
    if several := tables.rows_of_several(truth):
        return None, list(make_findings("truth-several", several))
    place = {name: j for j, name in enumerate(names)}
    texts = tables.true_labels(truth).tolist()
    unknown = [i for i, text in enumerate(texts) if text and text not in place]
    words = tuple(dict.fromkeys(texts[i] for i in unknown))[:10]
    findings = list(make_findings("truth-unknown", unknown, items=words))
    codes = np.asarray([place.get(text, -1) for text in texts], dtype=np.intp)
    rows = np.flatnonzero((codes >= 0) & S.any(axis=1))
    if rows.size:
        findings += [
            replace(finding, rows=tuple(int(rows[r]) for r in finding.rows))
            for finding in _findings.truth_findings(S[rows], codes[rows], names)
        ]
    return codes if (codes >= 0).all() else None, findings


def _sets(candidates: Any) -> tuple[NDArray[Any], Mask]:
    """Candidate matrix in which empty sets keep their rows."""
    matrix = isinstance(candidates, np.ndarray) and candidates.dtype == bool
    if matrix and candidates.shape[1:] == (1,):
        # Elsewhere one column is a vector of labels; here it is a single class.
        return np.arange(1), candidates
    classes, kept, rows = check_candidates(candidates, empty="drop", return_rows=True)
    m = candidates.shape[0] if hasattr(candidates, "shape") else len(candidates)
    S = np.zeros((m, kept.shape[1]), dtype=bool)
    S[rows] = kept
    return classes, S


def _one_each(S: Mask) -> Evidence:
    """Evidence of all rows, any label where a set is empty."""
    return Evidence(S | ~S.any(axis=1, keepdims=True), np.arange(S.shape[1]))


def _truth(truth: Any, classes: NDArray[Any], S: Mask) -> Mask | Indices:
    values = truth.toarray() if sp.issparse(truth) else np.asarray(truth)
    if len(values) != len(S):
        raise ValueError(f"truth has {len(values)} rows, candidates have {len(S)}.")
    if values.ndim == 2:
        if values.shape != S.shape:
            raise ValueError(
                f"truth has {values.shape[1]} columns, candidates have {S.shape[1]}."
            )
        return np.asarray(values > 0)
    return truth_codes(values, classes)


def _facts(
    X: Any, S: Mask, C: NDArray[np.int64], truth: NDArray[Any] | None
) -> dict[str, Any]:
    m, q = S.shape
    sizes = S.sum(axis=1)
    values = X.nnz if sp.issparse(X) else int(np.count_nonzero(X))
    weights = (S / np.maximum(sizes, 1)[:, None]).sum(axis=0)
    facts: dict[str, Any] = {
        "n_samples": m,
        "n_features": X.shape[1],
        "n_classes": q,
        "density": float(values / max(1, m * X.shape[1])),
        "mean_set_size": float(sizes.mean()),
        "largest_set": int(sizes.max()),
        "share_of_single_sets": float((sizes == 1).mean()),
        "ambiguity_degree": _findings.ambiguity_degree(S, C, truth),
        "rows_of_the_rarest_label": float(weights.min()),
        "rows_of_the_commonest_label": float(weights.max()),
    }
    return facts | {"difficulty": _difficulty(facts)}


def _difficulty(facts: dict[str, Any]) -> str:
    """One word from set size and ambiguity degree, as a first expectation."""
    share = (facts["mean_set_size"] - 1) / max(1, facts["n_classes"] - 1)
    degree = facts["ambiguity_degree"]
    if degree >= 0.99 or share > 0.5:
        return "very hard"
    if degree > 0.8 or share > 0.3:
        return "hard"
    if degree > 0.5 or share > 0.1:
        return "moderate"
    return "easy"


def _memory(X: Any, q: int) -> dict[str, int]:
    """Peak memory as each method states it for its default parameters."""
    m, d = X.shape
    return {
        name: method.cls().memory_estimate(m, d, q)
        for name, method in methods(*PARTIAL_LABEL_ROLES).items()
        if not method.required and hasattr(method.cls, "memory_estimate")
    }


def _size_findings(facts: dict[str, Any], memory: dict[str, int]) -> Iterator[Finding]:
    large = [name for name, size in memory.items() if size > _LARGE]
    if large:
        total = len(memory)
        yield from make_findings("memory", large, items=tuple(large), methods=total)
    if facts["n_samples"] < 5 * facts["n_classes"]:
        yield from make_findings("few-rows", **facts)
    if facts["difficulty"] in ("hard", "very hard"):
        degree = 100 * facts["ambiguity_degree"]
        yield from make_findings("difficulty", degree=degree, **facts)
