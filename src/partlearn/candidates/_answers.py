"""Convert free text and log-probabilities of language models to labels."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn.candidates._evidence import EmptyRows, Evidence, make_evidence
from partlearn.candidates._forms import matrix_of_mappings
from partlearn.candidates._messages import is_missing

_PUNCTUATION = " .,;:!?\"'`*()[]{}<>_-"
# Words that deny the label after them, with at most two words between.
_DENIED = re.compile(
    r"(?<!\w)(?:not|no|never|neither|nor|without|cannot|non|\w+n['\u2019]t)[\s-]+"
    r"(?:[\w'\u2019]+\s+){0,2}[\"'`*(\[]*$"
)
_BEFORE = 80  # characters in which they are sought


def match_labels(
    texts: Sequence[Any],
    classes: ArrayLike,
    *,
    aliases: Mapping[str, str] | None = None,
) -> NDArray[Any]:
    """Find the label named in each free text.

    Parameters
    ----------
    texts : sequence of str
        Answers of a model or a person. None and NaN are skipped.
    classes : array-like of shape (n_classes,)
        The labels.
    aliases : mapping of str to str, default=None
        Other words for labels, such as ``{"kitten": "cat"}``.

    Returns
    -------
    labels : ndarray of objects, shape (n_texts,)
        The label that is the whole answer, or else the only one that the answer
        mentions as a word; None where it mentions none or several. Case and
        punctuation around words do not count. A label after an English denial, as in
        "not a cat" or "isn't really a cat", is not mentioned.

    Examples
    --------
    >>> from partlearn.candidates import match_labels
    >>> texts = ["Cat.", "This is a dog!", "cat or dog", "not a dog", "Kitten"]
    >>> match_labels(texts, ["cat", "dog"], aliases={"kitten": "cat"}).tolist()
    ['cat', 'dog', None, None, 'cat']
    """
    names = np.asarray(classes).tolist()
    words = {_plain(name): name for name in names}
    if len(words) < len(names):
        raise ValueError("Labels must differ by more than case and punctuation.")
    for word, label in (aliases or {}).items():
        if label not in names:
            raise ValueError(f"`aliases`: {word!r} stands for {label!r}, no label.")
        if words.setdefault(_plain(word), label) != label:
            raise ValueError(f"`aliases`: {word!r} stands for two labels.")
    # Longer words first: "not urgent" is no mention of "urgent".
    order = sorted(words, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, order))})(?!\w)")
    labels = np.full(len(texts), None, dtype=object)
    for i, text in enumerate(texts):
        if is_missing(text):
            continue
        plain = _plain(text)
        mentioned = {
            words[match[0]]
            for match in pattern.finditer(plain)
            if not _DENIED.search(
                plain[max(match.start() - _BEFORE, 0) : match.start()]
            )
        }
        if plain in words:
            labels[i] = words[plain]
        elif len(mentioned) == 1:
            labels[i] = mentioned.pop()
    return labels


def _plain(text: Any) -> str:
    """Return text in lower case, with single spaces and no punctuation around it."""
    return " ".join(str(text).casefold().split()).strip(_PUNCTUATION)


def from_log_probabilities(
    log_probabilities: Any,
    *,
    classes: ArrayLike | None = None,
    empty: EmptyRows = "error",
) -> Evidence:
    """Read log-probabilities of labels, for example from a language model.

    Parameters
    ----------
    log_probabilities : array-like of shape (n_samples, n_classes) or list of mappings
        Natural logarithms. Minus infinity, NaN or a missing entry of a mapping means an
        impossible label. Rows need not sum to one, since a model also assigns
        probability to other words.
    classes : array-like of shape (n_classes,), default=None
        The classes; of mappings the sorted labels, of arrays 0, 1, ... by default.
    empty : {"error", "drop", "all"}, default="error"
        Treatment of rows without any possible label.

    Returns
    -------
    evidence : Evidence
        Probabilities as weights, for the `y` of any method that takes evidence.

    Examples
    --------
    >>> from partlearn.candidates import from_log_probabilities
    >>> rows = [{"cat": -0.1, "dog": -2.5}, {"dog": -0.01}]
    >>> from_log_probabilities(rows).confidence().round(2)
    array([[0.92, 0.08],
           [0.  , 1.  ]])
    """
    given = list(log_probabilities)
    known = None if classes is None else np.asarray(classes)
    if given and all(isinstance(row, Mapping) for row in given):
        logs, known = matrix_of_mappings(given, known, missing=-np.inf)
        logs = logs.astype(np.float64)
    else:
        logs = np.asarray(given, dtype=np.float64)
        if logs.ndim != 2:
            raise ValueError(
                f"Log-probabilities need one column per class; got {logs.ndim} "
                "dimensions."
            )
        known = np.arange(logs.shape[1]) if known is None else known
        if known.shape != logs.shape[1:]:
            raise ValueError(
                f"There are {logs.shape[1]} columns and {known.size} classes."
            )
    logs = np.where(np.isnan(logs), -np.inf, logs)
    high = np.argwhere(logs > 1e-6)
    if high.size:
        i, j = high[0]
        raise ValueError(
            f"Row {i} has {logs[i, j]:g} for label {known[j]!s}: logarithms of "
            "probabilities are not positive. Use from_weights for probabilities."
        )
    top = logs.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    return make_evidence(weights, known, empty=empty, what="probabilities")
