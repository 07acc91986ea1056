"""Report of a check, as text, JSON and HTML."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape as escape_html
from importlib import resources
from string import Template
from typing import Any, Literal

from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._pages import POLICY, visible

Severity = Literal["error", "warning", "note"]
_SEVERITIES = ("error", "warning", "note")  # the worst first
_SHOWN = 10  # rows or names that a finding lists


@dataclass(frozen=True)
class Finding:
    """Finding about a data set.

    Parameters
    ----------
    code : str
        A stable short name, such as ``"empty-sets"``.
    severity : {"error", "warning", "note"}
        An error breaks learning or its evaluation; a warning makes results worse or
        misleading; a note is good to know.
    title : str
        The problem, in one line.
    advice : str
        Remedy.
    rows : tuple of int, default=()
        Rows concerned (the first few of them, if many).
    items : tuple of str, default=()
        Features or labels concerned (the first few of them, if many).
    count : int, default=0
        Number of rows, features or labels concerned.

    Examples
    --------
    >>> from partlearn.check import Finding
    >>> Finding("empty-sets", "error", "2 rows have no candidate.", "Drop them.").code
    'empty-sets'
    """

    code: str
    severity: Severity
    title: str
    advice: str
    rows: tuple[int, ...] = ()
    items: tuple[str, ...] = ()
    count: int = 0

    def where(self) -> str:
        """Name the rows, features or labels concerned.

        Returns
        -------
        text : str
            ``"rows 3, 7, ..."``; empty when the whole set is concerned.
        """
        named = [str(r) for r in self.rows] or list(self.items)
        if not named:
            return ""
        text = ", ".join(named)
        if self.count > len(named):
            text += ", ..."
        return f"rows {text}" if self.rows else text


@cache
def _texts() -> dict[str, dict[str, str]]:
    """Return severity, title and advice of every finding."""
    file = resources.files("partlearn.check") / "findings.toml"
    return tomllib.loads(file.read_text("utf-8"))


def make_findings(
    code: str,
    things: Sequence[int] | Sequence[str] | NDArray[Any] | None = None,
    *,
    severity: Severity | None = None,
    rows: tuple[int, ...] = (),
    items: tuple[str, ...] = (),
    **words: Any,
) -> Iterator[Finding]:
    """Return the finding of a code, if it concerns any things.

    `things` are numbers of rows, or names; `rows` and `items` are further ones. None
    stands for the data as a whole. `words` are inserted into the title.
    """
    text = _texts()[code]
    n = 0 if things is None else len(things)
    if things is not None:
        if n == 0:
            return
        words |= {"count": n, "n": _plural(n, text["of"])}
        shown = [t if isinstance(t, str) else int(t) for t in things[:_SHOWN]]
        if isinstance(shown[0], str):
            items = items or tuple(map(str, shown))
        else:
            rows = rows or tuple(map(int, shown))
    level: Any = severity or text["severity"]
    title, advice = text["title"].format(**words), text["advice"].format_map(_Spelled())
    yield Finding(code, level, title, advice, rows, items, n)


class _Spelled(dict[str, str]):
    """Names of arguments, spelled as in messages."""

    def __missing__(self, name: str) -> str:
        return argument(name)


def _plural(n: int, word: str) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


@dataclass
class DataReport:
    """Findings about a data set, the worst first.

    Parameters
    ----------
    findings : list of Finding
        The findings.
    facts : dict
        Numbers about the data: sizes, mean set size, ambiguity degree and so on.
    memory : dict
        Rough peak memory in bytes of each method on data of this size.

    Examples
    --------
    >>> from partlearn.check import check
    >>> report = check([[0.0], [1.0]], [{"a"}, {"a", "b"}])
    >>> report.ok
    True
    >>> report.facts["n_samples"]
    2
    """

    findings: list[Finding] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.findings = sorted(
            self.findings, key=lambda f: _SEVERITIES.index(f.severity)
        )

    @property
    def ok(self) -> bool:
        """Whether no finding breaks learning."""
        return all(f.severity != "error" for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values.

        Returns
        -------
        report : dict
            ``ok``, ``findings``, ``facts`` and ``memory``.
        """
        return {
            "ok": self.ok,
            "findings": [asdict(f) for f in self.findings],
            "facts": self.facts,
            "memory": self.memory,
        }

    def to_json(self) -> str:
        """Return the report as JSON.

        Returns
        -------
        text : str
            JSON with two spaces of indentation.
        """
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def to_text(self) -> str:
        """Return the report in plain words.

        Returns
        -------
        text : str
            Several lines.
        """
        lines = [self._summary(), ""]
        for finding in self.findings:
            lines.append(f"{finding.severity.upper()}: {finding.title}")
            where = finding.where()
            if where:
                lines.append(f"  {where}")
            lines.append(f"  {finding.advice}")
        if not self.findings:
            lines.append("No problems found.")
        if self._memory_matters():
            lines += ["", "Rough peak memory per method:"]
            lines += [f"  {name:<28} {_size(n)}" for name, n in self.memory.items()]
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return the report as one HTML page without outside requests.

        Returns
        -------
        text : str
            A page; all text from the data is escaped.
        """
        page = resources.files("partlearn.check") / "templates" / "page.html"
        return Template(page.read_text("utf-8")).substitute(
            policy=POLICY, **self._parts()
        )

    def _parts(self) -> dict[str, str]:
        """Return the escaped parts of pages and notebooks."""
        facts = {_label(key): _show(value) for key, value in self.facts.items()}
        memory = ""
        if self._memory_matters():
            sizes = {name: _size(n) for name, n in self.memory.items()}
            memory = _table("Rough peak memory per method", sizes)
        findings = "\n".join(_item(f) for f in self.findings)
        return {
            "summary": escape(self._summary()),
            "findings": findings or "<li>No problems found.</li>",
            "facts": _table("Facts about the data", facts),
            "memory": memory,
        }

    def _memory_matters(self) -> bool:
        return any(finding.code == "memory" for finding in self.findings)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Show the findings in a notebook, without styles."""
        parts = self._parts()
        return (
            f"<div><p><strong>Data check:</strong> {parts['summary']}</p>"
            f"<ul>{parts['findings']}</ul><details><summary>Numbers</summary>"
            f"{parts['facts']}{parts['memory']}</details></div>"
        )

    def _summary(self) -> str:
        counts = [
            _plural(n, word)
            for word in _SEVERITIES
            if (n := sum(f.severity == word for f in self.findings))
        ]
        f = self.facts
        word = "listed tags" if f.get("task") == "tags" else "candidates"
        head = (
            f"{f.get('n_samples', 0):,} rows, {f.get('n_features', 0):,} features, "
            f"{f.get('n_classes', 0):,} labels, "
            f"{f.get('mean_set_size', 0.0):.2f} {word} per row"
        )
        return f"{head}: {', '.join(counts) or 'nothing found'}."


def escape(text: str) -> str:
    return escape_html(visible(text, lines=True))


def _item(finding: Finding) -> str:
    where = finding.where()
    word = finding.severity.capitalize()
    return (
        f'<li class="{finding.severity}"><strong>{word}:</strong> '
        f"{escape(finding.title)}"
        + (f"<br><small>{escape(where)}</small>" if where else "")
        + f"<br>{escape(finding.advice)}</li>"
    )


def _table(caption: str, cells: dict[str, str]) -> str:
    rows = "\n".join(
        f'<tr><th scope="row">{escape(head)}</th><td>{escape(value)}</td></tr>'
        for head, value in cells.items()
    )
    return f"<table><caption>{caption}</caption>\n<tbody>\n{rows}\n</tbody></table>\n"


def _label(key: str) -> str:
    return key.replace("_", " ").removeprefix("n ").capitalize()


def _show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _size(n: int) -> str:
    size = float(n)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 10 or unit == "B" else f"{size:.1f} {unit}"
