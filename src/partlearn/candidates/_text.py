"""Read candidate sets from text."""

# SPDX-License-Identifier: BSD-3-Clause

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from partlearn._arguments import argument
from partlearn.candidates._evidence import EmptyRows, Evidence, make_evidence
from partlearn.candidates._messages import (
    as_column,
    is_missing,
    is_missing_text,
    warn_missing_labels,
)
from partlearn.candidates._separators import find_separator, split_labels
from partlearn.candidates._validation import check_candidates

_LONGEST = 100_000  # characters of a list that is read as Python
_WEIGHTED = re.compile(r"(.*\S)\s*:\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*%?")
_TOKEN = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_NUMPY_TEXT = re.compile(rf"\[\s*{_TOKEN}(?:\s+{_TOKEN})+\s*\]")  # ['a' 'b']
_NUMPY_NUMBERS = re.compile(r"\[\s*-?[\d.]+(?:\s+-?[\d.]+)+\s*\]")
_CUT_SHORT = re.compile(r"\s\.\.\.\s")
# array(['a', 'b'], dtype=object) and [np.str_('a')] are lists as programs print them.
_WRAPPED = re.compile(
    r"(?:(?:np\.|numpy\.)?array|frozenset|set|tuple|list|deque|Index)"
    r"\(\s*([\[({].*[\])}])\s*(?:,\s*\w+=[^()\[\]]*)?\)",
    re.DOTALL,
)
_NUMPY_SCALAR = re.compile(rf"\bnp\.[a-z]\w*\(({_TOKEN}|[-+.\w]+)\)")
# c("a", "b") of R, {a,b} of PostgreSQL, and quoted labels without brackets.
_R_VECTOR = re.compile(rf"c\((\s*{_TOKEN}(?:\s*,\s*{_TOKEN})*\s*)\)")
_BRACED = re.compile(r"\{([^{}\[\]:\"']*)\}")
_QUOTED = re.compile(rf"{_TOKEN}(?:\s*[,;|]\s*{_TOKEN})+")
_IN_QUOTES = re.compile(r'"([^"]+)"')
_ROUNDED = 0.02  # by how much written shares may miss their sum


def from_text(
    texts: Any,
    *,
    sep: str | Literal["auto"] | None = "auto",
    classes: ArrayLike | None = None,
    empty: EmptyRows = "error",
) -> Evidence:
    """Read candidate sets from text such as ``cat|dog``, or from lists.

    Parameters
    ----------
    texts : array-like of shape (n_samples,)
        Text with a separator between the labels; lists, tuples or sets as JSON or
        Python write them; or such collections themselves. An empty string or list,
        None, NaN and, without `classes`, words such as ``NA`` and ``?`` are empty sets.
    sep : str, "auto" or None, default="auto"
        The separator. "auto" recognizes ``|``, ``;`` and ``,``, and raises an error if
        the texts hold none of them or more than one. With None every text is one label.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order; the sorted labels by default.
    empty : {"error", "drop", "all"}, default="error"
        Treatment of empty sets: raise, leave the rows out (the features are then
        ``X[labels.rows]``), or treat them as unlabeled.

    Returns
    -------
    labels : Evidence
        For the `y` of `fit`.

    Examples
    --------
    >>> from partlearn.candidates import from_text
    >>> from_text(["cat|dog", "dog"]).counts()
    {'cat': 1, 'dog': 2}
    >>> from_text(['["cat", "dog"]', "['dog']"]).counts()
    {'cat': 1, 'dog': 2}
    >>> from_text(["cat or dog", "dog"])
    Traceback (most recent call last):
        ...
    ValueError: No separator found: ...
    """
    rows = as_column(texts, "texts")
    if sep == "":
        raise ValueError(f"{argument('sep')} must not be empty.")
    sets = [_as_collection(row, i) for i, row in enumerate(rows)]
    plain = [i for i, labels in enumerate(sets) if labels is None]
    words = [rows[i] for i in plain]
    if plain and sep == "auto":
        sep = find_separator(words, plain, required=len(plain) == len(rows))
    parts: Sequence[Iterable[str]] = [{word.strip()} for word in words]
    if sep is not None:
        parts = [split_labels(word, sep) for word in words]
    for i, labels in zip(plain, parts, strict=True):
        sets[i] = labels
    if classes is None:
        texts_of = {w for s in sets for w in s or () if isinstance(w, str)}
        missing = {word for word in texts_of if is_missing_text(word)}
        warn_missing_labels(missing)
        sets = [[w for w in s or () if w not in missing] for s in sets]
    names, S = check_candidates(
        [set(s or ()) for s in sets], classes=classes, empty="keep"
    )
    return make_evidence(S, names, empty=empty, what="labels")


def _as_collection(row: Any, i: int) -> Iterable[Any] | None:
    """Return the labels of a list or missing cell; None for plain text."""
    if isinstance(row, (set, frozenset, list, tuple, np.ndarray)):
        return list(row)
    if is_missing(row):
        return ()
    if not isinstance(row, str):
        raise TypeError(f"Row {i} holds {row!r}, which is neither text nor a list.")
    text = _unwrapped(row.strip())
    if not text or text.replace(" ", "") in ("{}", "set()", "frozenset()"):
        return ()
    if text[0] + text[-1] not in ("[]", "()", "{}"):
        if text.count("[") != text.count("]") and (text[0] == "[" or text[-1] == "]"):
            raise ValueError(
                f"Row {i} holds {text[:60]!r}, a piece of a list. Quote lists that "
                "contain the separator of the columns."
            )
        return None
    if text[0] == "[" and _CUT_SHORT.search(text):
        raise ValueError(
            f"Row {i} holds {text[:60]!r}, a list that was cut short when it was "
            "printed. Write the whole list."
        )
    value = _literal(text)
    if not isinstance(value, (set, frozenset, list, tuple)):
        if text[0] == "(":
            return None  # a label may stand in parentheses
        raise ValueError(
            f"Row {i} looks like a list of labels but cannot be read: {text[:60]!r}."
        )
    return value


def _unwrapped(text: str) -> str:
    """Remove wrappers such as ``array(...)`` around a printed list."""
    if text.endswith(")") and (match := _WRAPPED.fullmatch(text)):
        text = match[1]
    if text.startswith("c(") and (match := _R_VECTOR.fullmatch(text)):
        return f"[{match[1]}]"
    if text[:1] in ("'", '"') and _QUOTED.fullmatch(text):
        return f"[{', '.join(re.findall(_TOKEN, text))}]"
    if "np." in text and text[:1] in ("[", "(", "{"):
        text = _NUMPY_SCALAR.sub(r"\1", text)
    return text


def _without_quotes(text: str) -> str:
    """Remove the quotes that a table was written with twice."""
    return match[1].strip() if (match := _IN_QUOTES.fullmatch(text)) else text


def _literal(text: str) -> Any:
    """Parse a JSON, Python or NumPy literal without evaluating code."""
    # Python would join the strings that NumPy prints side by side.
    if _NUMPY_TEXT.fullmatch(text):
        return [ast.literal_eval(token) for token in re.findall(_TOKEN, text)]
    if _NUMPY_NUMBERS.fullmatch(text):
        return [number.removesuffix(".") for number in text[1:-1].split()]
    if match := _BRACED.fullmatch(text):
        return split_labels(match[1], ",")
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    if len(text) > _LONGEST:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def parse_label_cells(
    cells: Sequence[Any],
    *,
    sep: str | Literal["auto"] | None = "auto",
    rows: Sequence[int] | None = None,
) -> list[dict[str, float]]:
    """Read the cells of a label column, in any notation for sets.

    Parameters
    ----------
    cells : sequence
        Text such as ``cat``, ``cat|dog``, ``["cat", "dog"]`` (JSON or Python),
        ``cat:0.7|dog:0.3`` or ``{"cat": 0.7, "dog": 0.3}``; or lists and mappings
        themselves, also as NumPy prints lists (``['cat' 'dog']``). None, NaN and the
        words of ``MISSING_WORDS`` (``NA``, ``?``, ``unknown``) are empty sets.
    sep : str, "auto" or None, default="auto"
        The separator. "auto" finds ``|``, ``;`` or ``,``; a column without any has one
        label per cell, unless the labels share parts, as in ``cat / dog`` and ``dog``.
        None never splits text.
    rows : sequence of int, default=None
        Numbers of the rows by which errors name the cells; their places by default.

    Returns
    -------
    sets : list of dict
        Label to weight for every cell. Weights are 1 unless all cells have them.

    Raises
    ------
    ValueError
        Naming the cell, if it cannot be read or could be read in two ways.

    Examples
    --------
    >>> from partlearn.candidates import parse_label_cells
    >>> parse_label_cells(["cat|dog", "dog", ""])
    [{'cat': 1.0, 'dog': 1.0}, {'dog': 1.0}, {}]
    >>> parse_label_cells(['["cat", "dog"]', "['dog']"])
    [{'cat': 1.0, 'dog': 1.0}, {'dog': 1.0}]
    >>> parse_label_cells(["cat:0.7|dog:0.3", "dog:1"])
    [{'cat': 0.7, 'dog': 0.3}, {'dog': 1.0}]
    >>> parse_label_cells(["['cat' 'dog']", "NA"])
    [{'cat': 1.0, 'dog': 1.0}, {}]
    """
    sets: list[dict[str, float] | None] = []
    numbers = range(len(cells)) if rows is None else rows
    for i, cell in zip(numbers, cells, strict=True):
        weighted = _as_weights(cell, i)
        if weighted is None:
            labels = _as_collection(cell, i)
            weighted = None if labels is None else _plain_labels(labels, cell, i)
        sets.append(weighted)
    plain = [i for i, content in enumerate(sets) if content is None]
    words = [_without_quotes(str(cells[i]).strip()) for i in plain]
    named = [numbers[i] for i in plain]
    if sep == "auto":
        sep = find_separator(words, named)
    parts = [[w] if sep is None else split_labels(w, sep) for w in words]
    weights = _written_weights(parts, named) if sep is not None else None
    for k, i in enumerate(plain):
        sets[i] = dict.fromkeys(parts[k], 1.0) if weights is None else weights[k]
    return _without_missing(sets)


def _without_missing(sets: list[dict[str, float] | None]) -> list[dict[str, float]]:
    """Remove words for missing values from the sets."""
    known = [content or {} for content in sets]
    missing = {name for names in known for name in names if is_missing_text(name)}
    if not missing:
        return known
    warn_missing_labels(missing)
    return [
        {name: weight for name, weight in content.items() if name not in missing}
        for content in known
    ]


def _plain_labels(labels: Iterable[Any], cell: Any, i: int) -> dict[str, float]:
    weights = {}
    for label in labels:
        if isinstance(label, (list, tuple, set, Mapping)) or is_missing(label):
            raise ValueError(
                f"Row {i} holds {str(cell)[:60]!r}: {label!r} in it is not a label."
            )
        name = label.decode("utf-8", "replace") if isinstance(label, bytes) else label
        weights[str(name).strip()] = 1.0
    return weights


def _as_weights(cell: Any, i: int) -> dict[str, float] | None:
    """Return the weights of a cell that holds a mapping, or None."""
    if isinstance(cell, str):
        text = cell.strip()
        if not (text.startswith("{") and text.endswith("}") and ":" in text):
            return None
        cell = _literal(text)
    if not isinstance(cell, Mapping):
        return None
    weights = {}
    for label, weight in cell.items():
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not 0 <= weight < float("inf"):
            raise ValueError(
                f"Row {i} gives {label!r} the weight {weight!r}; weights must be "
                "numbers of at least 0."
            )
        if weight > 0:
            weights[str(label).strip()] = float(weight)
    return weights


def _written_weights(
    parts: list[list[str]], rows: list[int]
) -> list[dict[str, float]] | None:
    """Read ``label:weight`` cells; None if not all are written so."""
    read = [[_WEIGHTED.fullmatch(part) for part in cell] for cell in parts]
    several = any(len(cell) > 1 for cell in parts)
    if not several or not all(match for cell in read for match in cell):
        return None
    named = [[(m[1], float(m[2])) for m in cell if m] for cell in read]
    if any(len({name for name, _ in cell}) < len(cell) for cell in named):
        return None  # room:1|room:2 are labels
    for cell, row in zip(named, rows, strict=True):
        total = sum(weight for _, weight in cell)
        if cell and min(abs(total - 1), abs(total / 100 - 1)) > _ROUNDED:
            raise ValueError(
                f"Row {row} may hold weights or labels with a colon: its numbers sum "
                f"to {total:g}. Write weights as shares that sum to 1, or labels "
                "without a number after the colon."
            )
    return [{name: weight for name, weight in cell if weight > 0} for cell in named]
