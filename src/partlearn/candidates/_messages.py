"""Shared parts of errors and warnings about labels."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from partlearn._arguments import argument
from partlearn._array_api import namespace
from partlearn._typing import Indices

_SHOWN = 5  # how many offending rows an error names
# Ways of writing nothing, compared without case: the only list of the library.
MISSING_WORDS = frozenset(
    (
        *("", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "nat", "null"),
        *("none", "nil", "-", "--", "?", "missing", "unknown"),
    )
)
# Those that people also use as names of labels.
_WORDS_OF_LABELS = frozenset(("none", "nil", "-", "--", "?", "missing", "unknown"))
# Labels with a share behind them in another way than ``label:0.7``.
_WITH_WEIGHT = re.compile(r"(.*\S)\s*[(=@]\s*(?:[01]?\.\d+|[01]|\d{1,3}\s*%)\s*\)?")
# Labels that may say that nothing is known, in any case.
_WORDS_OF_DOUBT = frozenset(
    (
        *("any", "all", "either", "both", "*", "tbd", "unsure", "not sure", "unclear"),
        *("undefined", "unlabeled", "no label", "idk", "don't know"),
        *("unbekannt", "inconnu", "desconocido", "sconosciuto", "неизвестно"),
        *("不明", "未知", "알 수 없음", "n.d.", "n/d", "k.a.", "nd", "---", "."),
    )
)
# Words and marks beside a label in text that a person wrote.
_BESIDE = re.compile(
    r"(?:(?:not|no|and|or|maybe|possibly|probably|perhaps|likely|either|und|oder|kein|"
    r"keine|nicht|vielleicht|et|ou|pas|y|o|e|non)\s+|[?!\"'(\[{*~<]\s*)*"
    r"(?P<label>\w(?:.*\w)?)\s*[?!\"')\]}*~>]*",
    re.IGNORECASE | re.DOTALL,
)
_UNSETTLED = 0.05  # share of rows whose label may still change in the last iteration


def some_rows(rows: Indices | Sequence[int]) -> str:
    """List the first few of some row numbers."""
    shown = ", ".join(str(int(r)) for r in rows[:_SHOWN])
    return shown if len(rows) <= _SHOWN else f"{shown}, ... ({len(rows)} rows in all)"


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return a hint with the closest known name, or the first few names."""
    names = [str(k) for k in known]
    close = get_close_matches(str(name), names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    more = " ..." if len(names) > 10 else ""
    return f"Known are {', '.join(map(repr, names[:10]))}{more}."


def check_known(name: Any, known: Collection[Any], complaint: str) -> None:
    """Raise if a name is unknown; the message suggests the closest one."""
    if name not in known:
        raise ValueError(f"{complaint} {did_you_mean(name, known)}")


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or NaT, or pandas' NA, which compares to NA."""
    same = label == label
    return not (isinstance(same, (bool, np.bool_)) and same) or label is None


def is_missing_text(text: str | None) -> bool:
    """Whether a cell of text stands for a missing value.

    Parameters
    ----------
    text : str or None
        The cell.

    Returns
    -------
    missing : bool
        True for None and the words of ``MISSING_WORDS``, in any case.

    Examples
    --------
    >>> from partlearn.candidates import is_missing_text
    >>> is_missing_text(" n/a "), is_missing_text("cat")
    (True, False)
    """
    return text is None or text.strip().lower() in MISSING_WORDS


def warn_missing_labels(words: Iterable[str]) -> None:
    """Warn if words that may be labels were read as missing values.

    Parameters
    ----------
    words : iterable of str
        Texts that were read as missing values.
    """
    odd = sorted({word.strip() for word in words if is_label_word(word)})
    if odd:
        warn_caller(
            f"Labels {', '.join(map(repr, odd))} were read as missing values. Rename "
            "them in the data if they are labels."
        )


def warn_alike_labels(names: Sequence[str]) -> None:
    """Warn about labels that look alike, differ only in a number, or are no labels.

    Parameters
    ----------
    names : sequence of str
        Distinct labels.
    """
    for group in _groups(names, _plain_form):
        warn_caller(
            f"Labels {', '.join(map(ascii, group[:4]))} look the same, but count as "
            "different ones. Write them alike in the data."
        )
    for group in _groups(names, _without_weight)[:1]:
        warn_caller(
            f"Labels {', '.join(map(repr, group[:4]))} differ in a number only. If "
            "these are weights, write them as 'label:0.7'; now each is a label."
        )
    doubt = [name for name in names if name.strip().lower() in _WORDS_OF_DOUBT]
    if doubt:
        warn_caller(
            f"Cells {', '.join(map(repr, doubt[:4]))} were read as labels. If nothing "
            "is known there, or every label is possible, leave them empty."
        )
    known = set(names)
    beside = [name for name in names if _label_inside(name) in known - {name}]
    if beside:
        warn_caller(
            f"Labels such as {beside[0]!r} hold another label, "
            f"{_label_inside(beside[0])!r}, but each counts as a label of its own. "
            "Write a set as the labels that are possible, with one separator."
        )
    opened = [name for name in names if name.count("(") > name.count(")")]
    if opened and any(name.count("(") < name.count(")") for name in names):
        warn_caller(
            f"Labels such as {opened[0]!r} are pieces: text in parentheses was split. "
            f"Pass the separator with {argument('sep')}, or write each set with one "
            "separator."
        )


def _groups(names: Sequence[str], form: Callable[[str], str]) -> list[list[str]]:
    """Return groups of names with equal form."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(form(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _plain_form(name: str) -> str:
    """Return a name without case, spaces and compatibility characters."""
    with suppress(ValueError):  # 1, 1.0 and 01 are alike
        if (number := float(name)) == number and "_" not in name:
            return repr(number)
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        c for c in folded if not c.isspace() and unicodedata.category(c) != "Cf"
    )


def _label_inside(name: str) -> str:
    """Return a label without marks and words such as ``not`` around it."""
    match = _BESIDE.fullmatch(name.strip())
    return match["label"] if match else name


def _without_weight(name: str) -> str:
    return match[1] if (match := _WITH_WEIGHT.fullmatch(name)) else name


def is_label_word(word: str) -> bool:
    """Whether a word for missing values may also be a label."""
    return word.strip().lower() in _WORDS_OF_LABELS


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, as a row or an ordered label is."""
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    return number and float(value).is_integer()


def first_no_number(matrix: NDArray[Any]) -> str:
    """Return the first non-number of an object matrix, with its position."""
    for (i, j), value in np.ndenumerate(matrix):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} in row {i}, column {j}"
    return ""


def distinct_labels(
    labels: Sequence[Any] | NDArray[Any],
) -> tuple[NDArray[Any], Indices]:
    """Return the sorted distinct labels, and the code of each label."""
    if not all(isinstance(label, str) for label in labels):
        names, codes = np.unique(np.asarray(labels), return_inverse=True)
        return names, codes.reshape(-1)
    # An array of text takes for every entry what the longest one needs.
    texts = sorted(set(labels))
    place = {text: j for j, text in enumerate(texts)}
    codes = np.fromiter((place[label] for label in labels), np.intp, len(labels))
    return np.asarray(texts, dtype=np.str_), codes


def as_column(values: Any, what: str) -> list[Any]:
    """Convert a column to a list of Python values."""
    if isinstance(values, (str, bytes)) or not (
        isinstance(values, Iterable) or hasattr(values, "__array__")
    ):
        kind = type(values).__name__
        raise TypeError(
            f"{argument(what)} must be a column, one entry per row; got {kind}."
        )
    if isinstance(values, (list, tuple)):
        return list(values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(
            f"{argument(what)} must be one column; got shape {array.shape}."
        )
    return list(array.tolist())


def labels_settled(
    F: NDArray[Any], before: NDArray[Any], at_most: float = _UNSETTLED
) -> bool:
    """Whether the most likely label of at most a few rows changed in an iteration.

    Confidences may drift for hundreds of iterations without changing any label.
    Iterative methods therefore warn at ``max_iter`` only if more than one row in twenty
    still changes its most likely label.

    Parameters
    ----------
    F, before : ndarray of shape (n_samples, n_classes)
        Confidences after and before the last iteration.
    at_most : float, default=0.05
        Share of the rows that may have changed their most likely label.

    Returns
    -------
    settled : bool
        Whether no more rows did.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import labels_settled
    >>> labels_settled(np.array([[0.9, 0.1]]), np.array([[0.6, 0.4]]))
    True
    >>> labels_settled(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]]))
    False
    """
    xp = namespace(F, before)
    changed = xp.argmax(F, axis=1) != xp.argmax(before, axis=1)
    return int(xp.count_nonzero(changed)) / F.shape[0] <= at_most


def warn_at_max_iter(
    max_iter: int,
    what: str = "Many labels still change",
    advice: str = "raise `max_iter` to let the iterations settle",
) -> None:
    """Warn that a fit stopped at `max_iter`.

    Parameters
    ----------
    max_iter : int
        Maximum number of iterations.
    what : str, default="Many labels still change"
        Quantity that has not converged.
    advice : str
        Remedy.

    Examples
    --------
    >>> import warnings
    >>> from partlearn.candidates import warn_at_max_iter
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_at_max_iter(5, "The objective still changes", "raise `tol`")
    >>> str(caught[0].message)
    'The objective still changes after max_iter=5 iterations; raise `tol`.'
    """
    message = f"{what} after max_iter={max_iter} iterations; {advice}."
    warn_caller(message, ConvergenceWarning)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the caller's line outside the library.

    Parameters
    ----------
    message : str
        The problem, and what to do.
    category : type, default=UserWarning
        Class of the warning.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("partlearn", "sklearn"):
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
