"""Label sets written as text."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from partlearn.candidates._evidence import EmptyRows, Evidence, make_evidence
from partlearn.candidates._messages import is_missing
from partlearn.candidates._validation import check_candidates

__all__ = ["SEPARATORS", "from_text", "parse_candidates"]

SEPARATORS = ("|", ";", ",")
_LONGEST = 100_000  # characters of a list that is read as Python


def parse_candidates(texts: Iterable[str], *, sep: str = "|") -> list[frozenset[str]]:
    """Read delimited label texts such as ``"cat|dog"``.

    Text is never split unless this function, :func:`from_text` or the command line is
    asked to: a label may well contain the delimiter.

    Parameters
    ----------
    texts : iterable of str
        One text per row; spaces around labels are dropped, an empty text is an empty
        set.
    sep : str, default="|"
        The delimiter.

    Returns
    -------
    sets : list of frozenset of str
        One set per row.

    Examples
    --------
    >>> from partlearn.candidates import parse_candidates
    >>> [sorted(s) for s in parse_candidates(["cat|dog", "dog", ""])]
    [['cat', 'dog'], ['dog'], []]
    """
    if not sep:
        raise ValueError("`sep` must not be empty.")
    known: dict[str, frozenset[str]] = {}  # few distinct texts, many rows
    sets = []
    for i, text in enumerate(texts):
        found = known.get(text) if isinstance(text, str) else None
        if found is None:
            if not isinstance(text, str):
                raise TypeError(
                    f"Row {i} holds {text!r}, not text; give the labels as text, an "
                    "empty text for an empty set."
                )
            found = known[text] = frozenset(
                label for part in text.split(sep) if (label := part.strip())
            )
        sets.append(found)
    return sets


def from_text(
    texts: Any,
    *,
    sep: str | Literal["auto"] | None = "auto",
    classes: ArrayLike | None = None,
    empty: EmptyRows = "error",
) -> Evidence:
    """Read label sets from text: ``cat|dog``, ``["cat", "dog"]`` or lists themselves.

    Parameters
    ----------
    texts : array-like of shape (n_samples,)
        Text with a separator between the labels; lists, tuples or sets as JSON or
        Python write them; or such collections themselves. An empty text or list, None
        and NaN are empty sets.
    sep : str, "auto" or None, default="auto"
        The separator. "auto" finds ``|``, ``;`` or ``,``; none of them, or more than
        one, is an error, since every distinct text would quietly become a class. None
        says that every text is one label.
    classes : array-like of shape (n_classes,), default=None
        The classes and their order; the sorted labels by default.
    empty : {"error", "drop", "all"}, default="error"
        What to do with empty sets: raise, leave the rows out (the features are then
        ``X[labels.rows]``), or treat them as unlabelled.

    Returns
    -------
    labels : Evidence
        For the `y` of `fit`.

    See Also
    --------
    parse_candidates : Splits at a given delimiter and nothing else.

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
    if isinstance(texts, (str, bytes)):
        raise TypeError("`texts` must be a column, one text per row; got one text.")
    if sep == "":
        raise ValueError("`sep` must not be empty.")
    rows = list(texts) if isinstance(texts, (list, tuple)) else _column(texts)
    sets = [_as_collection(row, i) for i, row in enumerate(rows)]
    plain = [i for i, found in enumerate(sets) if found is None]
    if plain:
        words = [rows[i] for i in plain]
        if sep == "auto":
            sep = _find_separator(words, plain, alone=len(plain) == len(rows))
        parsed = (
            [frozenset([word.strip()]) for word in words]
            if sep is None
            else parse_candidates(words, sep=sep)
        )
        for i, found in zip(plain, parsed, strict=True):
            sets[i] = found
    names, S = check_candidates(
        [set(s or ()) for s in sets], classes=classes, empty="keep"
    )
    return make_evidence(S, names, empty=empty, what="labels")


def _column(texts: Any) -> list[Any]:
    array = np.asarray(texts, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"`texts` must be one column; got shape {array.shape}.")
    return list(array)


def _as_collection(row: Any, i: int) -> Iterable[Any] | None:
    """Labels of a row that needs no separator; None for text that does."""
    if isinstance(row, (set, frozenset, list, tuple, np.ndarray)):
        return list(row)
    if is_missing(row):
        return ()
    if not isinstance(row, str):
        raise TypeError(f"Row {i} holds {row!r}, which is neither text nor a list.")
    text = row.strip()
    if not text or text.replace(" ", "") in ("{}", "set()"):
        return ()
    if text[0] + text[-1] not in ("[]", "()", "{}"):
        return None
    value: Any
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python_list(text)
    if not isinstance(value, (set, frozenset, list, tuple)):
        if text[0] == "(":
            return None  # a label may stand in parentheses
        raise ValueError(
            f"Row {i} looks like a list of labels but cannot be read: {text[:60]!r}."
        )
    return value


def _python_list(text: str) -> Any:
    """Value of a list as Python writes it. Only literals are read, nothing is run."""
    if len(text) > _LONGEST:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _find_separator(words: list[str], rows: list[int], *, alone: bool) -> str | None:
    present = [s for s in SEPARATORS if any(s in word for word in words)]
    if len(present) > 1:
        where = [rows[next(k for k, w in enumerate(words) if s in w)] for s in present]
        shown = ", ".join(
            f"{s!r} (row {i})" for s, i in zip(present, where, strict=True)
        )
        raise ValueError(
            f"More than one separator could be meant: {shown}. Say which with `sep`."
        )
    if present:
        return present[0]
    if not alone:
        return None  # some rows are lists, so the others are single labels
    distinct = len(set(words))
    raise ValueError(
        f"No separator found: none of {', '.join(map(repr, SEPARATORS))} is in any of "
        f"the {distinct} distinct texts, such as {words[0]!r}. Pass `sep`, or sep=None "
        "if every text is one label."
    )
