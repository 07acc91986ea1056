"""Find problems in partial-label data."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from partlearn import tables
from partlearn._arguments import check_index
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
        Data; missing values are allowed and reported. A table may have columns of any
        kind.
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
    check_index(X, candidates=candidates, truth=truth, bags=bags)
    tags = task == "tags"
    if tables.is_frame(X):
        columns = tables.columns_of(X)
        names = candidates if isinstance(candidates, list | tuple) else [candidates]
        named = all(isinstance(name, str | LabelColumns | None) for name in names)
        if tags or named or encoder is not None or not tables.is_plain(columns):
            return _check_table(columns, candidates, truth, sep, encoder, bags, tags)
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
    labels = _names(target_names, classes, "`target_names`", "labels")
    features = _names(feature_names, np.arange(d), "`feature_names`", "features")
    if bags is not None:  # any label is possible where a set is empty
        full = S | ~S.any(axis=1, keepdims=True)
        bags = tables.read_bags(bags, {}, Evidence(full, np.arange(len(labels))))
    Y = None if truth is None else _truth(truth, classes, S)
    several = tags or np.ndim(truth) == 2
    report = _report(
        X, S, features, labels, Y, several=several, empty_breaks=not several, bags=bags
    )
    findings, facts = report.findings, report.facts
    if tags:
        findings = _of_tags(report, S, np.arange(m), labels)
        facts = facts | {"task": "tags"}
    if Y is not None:
        findings = [*findings, *_findings.truth_findings(S, Y, labels)]
    return replace(report, findings=findings, facts=facts)


def _names(
    given: list[str] | None, things: NDArray[Any], argument: str, what: str
) -> list[str]:
    """Return the given names, or the things themselves as text."""
    if given is None:
        return [str(thing) for thing in things.tolist()]
    if len(given) != len(things):
        raise ValueError(f"{len(given)} {argument} for {len(things)} {what}.")
    return given


def _report(
    X: Any,
    S: Mask,
    features: list[str],
    labels: list[str],
    Y: Mask | None = None,
    *,
    several: bool = False,
    empty_breaks: bool = False,
    bags: NDArray[Any] | None = None,
) -> DataReport:
    """Describe sets, features and sizes.

    `Y` holds the true labels; `several` of a row may be true. `empty_breaks` says that
    empty sets are an error.
    """
    C = _findings.cooccurrence(S)
    Y = None if several else Y
    facts = _facts(X, S, C, Y)
    memory = _memory(X, S.shape[1])
    findings = [
        *_findings.label_findings(S, C, labels, several, empty_breaks),
        *(() if several else _findings.bag_findings(S, bags, Y)),
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
    tags: bool,
) -> DataReport:
    """Check a table; problems in one part do not stop the others."""
    chosen = tables.TableEncoder() if encoder is None else clone(encoder)
    if isinstance(truth, str):
        tables.check_names([truth], columns, "truth")
    beside = [n for n in (truth, bags) if isinstance(n, str) and n in columns]
    ignored = set(beside) - set(tables.as_names(chosen.id))
    chosen.set_params(ignore=[*tables.as_names(chosen.ignore), *ignored])
    evidence, Z, findings = _read_table(columns, labels, sep, chosen, tags, bags)
    m = len(next(iter(columns.values())))
    if evidence is None or Z is None:
        facts: dict[str, Any] = {"n_samples": m, "n_features": len(columns)}
        return DataReport(findings, facts, {})
    names = [str(c) for c in evidence.classes.tolist()]
    features = chosen.get_feature_names_out().tolist()
    S, rows = evidence.candidates, evidence.rows
    if tags:
        report = _report(Z[rows], S, features, names, several=True)
        unlabeled = np.setdiff1d(np.arange(m), rows)
        findings += make_findings("unlabeled-rows", unlabeled, total=m)
        findings += _of_tags(report, S, rows, names)
        more = {"n_columns": len(columns), "n_unlabeled": len(unlabeled)}
        facts = report.facts | more | {"task": "tags"}
        return replace(report, findings=findings, facts=facts)
    # Training leaves rows without labels out, so they break nothing.
    S = np.zeros((m, len(names)), dtype=bool)
    S[rows] = evidence.candidates
    if bags is not None:
        given, bags = bags, np.full(m, None, dtype=object)
        bags[rows] = tables.read_bags(given, columns, evidence)
    truth = columns[truth] if isinstance(truth, str) else truth
    Y, told = (None, []) if truth is None else _table_truth(truth, S, names)
    if evidence.weighted:
        # Raters may all miss the truth: that is what there are several for.
        told = [replace(f, severity="note") if f.code in _MISSED else f for f in told]
    report = _report(Z, S, features, names, Y, bags=bags)
    findings += [*report.findings, *_findings.label_text_findings(S, names), *told]
    facts = report.facts | {"n_columns": len(columns)}
    return replace(report, findings=findings, facts=facts)


def _of_tags(
    report: DataReport, S: Mask, rows: Indices, names: list[str]
) -> list[Finding]:
    """Return findings about tags; `rows` are the numbers of their rows in the table."""
    everywhere = np.flatnonzero(S.all(axis=0))
    told = [*report.findings, *_findings.label_text_findings(S, names)]
    return [
        *make_findings("no-tags", rows[~S.any(axis=1)], total=len(rows)),
        *make_findings("everywhere", [names[int(j)] for j in everywhere]),
        *_in_table([finding for finding in told if finding.code not in _SINGLE], rows),
    ]


def _in_table(findings: Iterable[Finding], rows: Indices) -> list[Finding]:
    """Return findings about some rows of a table, by their numbers in the table."""
    return [
        replace(finding, rows=tuple(int(rows[r]) for r in finding.rows))
        for finding in findings
    ]


def _read_table(
    columns: dict[str, NDArray[Any]],
    labels: Any,
    sep: str | None,
    encoder: tables.TableEncoder,
    tags: bool,
    bags: Any,
) -> tuple[Any, Array | None, list[Finding]]:
    """Return labels and encoded features of a table, and findings about either."""
    findings: list[Finding] = []
    evidence: Any = None
    names: list[str] = []
    read: Any = tables.tags_of if tags else partial(tables.read_labels, bags=bags)
    if labels is None and tags and "tags" in columns:
        labels = "tags"
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
) -> tuple[Mask | None, list[Finding]]:
    """Return true labels as a matrix, if all are known, and findings about them."""
    if several := tables.rows_of_several(truth):
        return None, list(make_findings("truth-several", several))
    place = {name: j for j, name in enumerate(names)}
    texts = tables.true_labels(truth).tolist()
    unknown = [i for i, text in enumerate(texts) if text and text not in place]
    words = tuple(dict.fromkeys(texts[i] for i in unknown))[:10]
    findings = list(make_findings("truth-unknown", unknown, items=words))
    codes = np.array([place.get(text, -1) for text in texts], dtype=np.intp)
    Y = codes[:, None] == np.arange(len(names))
    known = Y.any(axis=1)
    rows = np.flatnonzero(known & S.any(axis=1))
    told = _findings.truth_findings(S[rows], Y[rows], names)
    return Y if known.all() else None, [*findings, *_in_table(told, rows)]


def _sets(candidates: Any) -> tuple[NDArray[Any], Mask]:
    """Return the candidate matrix, including rows of empty sets."""
    matrix = isinstance(candidates, np.ndarray) and candidates.dtype == bool
    if matrix and candidates.shape[1:] == (1,):
        # Elsewhere one column is a vector of labels; here it is a single class.
        return np.arange(1), candidates
    classes, kept, rows = check_candidates(candidates, empty="drop", return_rows=True)
    m = candidates.shape[0] if hasattr(candidates, "shape") else len(candidates)
    S = np.zeros((m, kept.shape[1]), dtype=bool)
    S[rows] = kept
    return classes, S


def _truth(truth: Any, classes: NDArray[Any], S: Mask) -> Mask:
    """Return true labels as a matrix with the columns of the candidates."""
    values = truth.toarray() if sp.issparse(truth) else np.asarray(truth)
    if len(values) != len(S):
        raise ValueError(f"truth has {len(values)} rows, candidates have {len(S)}.")
    if values.ndim == 1:
        return np.asarray(
            truth_codes(values, classes)[:, None] == np.arange(S.shape[1])
        )
    if values.shape != S.shape:
        raise ValueError(
            f"truth has {values.shape[1]} columns, candidates have {S.shape[1]}."
        )
    return np.asarray(values > 0)


def _facts(X: Any, S: Mask, C: NDArray[np.int64], Y: Mask | None) -> dict[str, Any]:
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
        "ambiguity_degree": _findings.ambiguity_degree(S, C, Y),
        "rows_of_the_rarest_label": float(weights.min()),
        "rows_of_the_commonest_label": float(weights.max()),
    }
    return facts | {"difficulty": _difficulty(facts)}


def _difficulty(facts: dict[str, Any]) -> str:
    """Summarize set size and ambiguity degree in one word."""
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
    """Return the peak memory of each method with default parameters."""
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
