"""Find the separator of labels in text."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections import Counter
from collections.abc import Sequence

from partlearn._arguments import argument
from partlearn.candidates._messages import warn_caller

SEPARATORS = ("|", ";", ",")
# Never split at, but labels that share parts around them are probably sets.
# By separator: the share of parts that must occur in other cells; names have some.
_SHARED = 0.5
_WIDE = "\u3001\uff0c\uff1b\uff0f\uff5c\u060c\u061b"  # of Chinese and Arabic script
_SUSPECTS = dict.fromkeys(
    ("\n", "\t", " / ", " + ", " & ", " - ", " or ", " vs ", *_WIDE), _SHARED
)
_SUSPECTS |= dict.fromkeys(("/", "+", "&", "\\", "~", " and ", "<br>", "<br/>"), 0.7)
_OF_NAMES = (" ", "_", "-")  # between the words of a name as well
# Any other mark, or word between spaces, that most labels of several parts have.
_OTHER_MARK = re.compile(r"(?<=[\w)])\s*([^\w\s()'\u2019.%]+)\s*(?=[\w(])")
_OTHER_WORD = re.compile(r"(?<= )[^\W\d_]{1,4}(?= )")
_MOST_OTHERS = 5


class AmbiguousSeparatorError(ValueError):
    """The labels of a column could be split in more than one way.

    Parameters
    ----------
    what : str
        The problem.
    advice : str, default=""
        Remedy, if `what` does not name it.
    """

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(f"{what} {advice}".strip())
        self.what, self.advice = what, advice


def find_separator(
    words: Sequence[str], rows: Sequence[int], *, required: bool = False
) -> str | None:
    """Return the separator of labels in text cells, or None.

    Cells with two separators, and cells without any that share parts (``cat / dog`` and
    ``dog / eel``), are refused: each would quietly become a class of its own.
    """
    present = [s for s in SEPARATORS if any(s in word for word in words)]
    if len(present) > 1:
        where = [rows[next(k for k, w in enumerate(words) if s in w)] for s in present]
        shown = ", ".join(
            f"{s!r} (row {i})" for s, i in zip(present, where, strict=True)
        )
        raise AmbiguousSeparatorError(
            f"More than one separator could be meant: {shown}.",
            f"Pass the separator with {argument('sep')}.",
        )
    if present:
        _refuse_inner_comma(words, present[0])
        return present[0]
    if required:
        distinct = len(set(words))
        raise ValueError(
            f"No separator found: none of {', '.join(map(repr, SEPARATORS))} is in any "
            f"of the {distinct} distinct strings, such as {words[0]!r}. Pass "
            f"{argument('sep')}, or "
            "sep=None if every string is one label."
        )
    refuse_shared_parts(words)
    return None


def _refuse_inner_comma(words: Sequence[str], sep: str) -> None:
    """Raise if commas may belong to the labels (``Smith, John``, ``1,5``).

    Then no part occurs in two different cells, while parts of sets soon do.
    """
    cells = {tuple(split_labels(word, sep)) for word in set(words)}
    several = [cell for cell in cells if len(cell) > 1]
    parts = [part for cell in cells for part in cell]
    if sep == "," and len(several) > 2 and len(set(parts)) == len(parts):
        shown = ", ".join(min(several))
        raise AmbiguousSeparatorError(
            f"No part of {shown!r} occurs in another cell, as for all cells with a "
            "comma: it may belong to the labels.",
            f"Pass {argument('sep', 'none')} if each cell is one label, or "
            f"{argument('sep', ',')} if commas separate labels.",
        )


def split_labels(word: str, sep: str) -> list[str]:
    """Split text at a separator; spaces around labels and empty parts are dropped."""
    return [part for piece in word.split(sep) if (part := piece.strip())]


def refuse_shared_parts(words: Sequence[str]) -> None:
    """Raise if labels share parts, a sign of an unknown separator.

    Labels of several words share words often enough, so that spaces, underscores and
    hyphens only warn, unless every word is a label by itself as well.
    """
    sep, word, likely = _find_suspect(sorted(set(words)))
    if likely:
        raise AmbiguousSeparatorError(
            f"Labels such as {word!r} share parts with others, so that {sep!r} may "
            "separate labels: this separator could be meant.",
            f"Pass it with {argument('sep')}, or pass {argument('sep', 'none')} if "
            "each cell is one label.",
        )
    if sep:
        warn_caller(
            f"Labels such as {word!r} are made of words that other labels have as "
            f"well. If {sep!r} separates labels, pass it with {argument('sep')}; each "
            "cell was read as one label."
        )


def _find_suspect(distinct: Sequence[str]) -> tuple[str, str, bool]:
    """Return a possible separator, an example, and whether it is likely."""
    for sep, enough in _SUSPECTS.items():
        together = [word for word in distinct if sep in word.strip()]
        shared, whole = _shared_parts(distinct, together, sep)
        if whole or shared >= enough:
            return sep, together[0], True
    for sep in _other_marks(distinct):
        together = [word for word in distinct if sep in word.strip()]
        if _shared_parts(distinct, together, sep)[1]:
            return sep, together[0], True
    for sep in _OF_NAMES:
        together = [word for word in distinct if sep in word.strip()]
        shared, whole = _shared_parts(distinct, together, sep)
        n_parts = len({part for word in distinct for part in word.split(sep)})
        if len(together) > 1 and shared > 0.9 and n_parts < len(distinct):
            return sep, together[0], whole
    return "", "", False


def _other_marks(distinct: Sequence[str]) -> list[str]:
    """Return the commonest marks and short words inside of labels."""
    marks = Counter(m for word in distinct for m in set(_OTHER_MARK.findall(word)))
    words = Counter(m for word in distinct for m in set(_OTHER_WORD.findall(word)))
    commonest = [f" {word} " for word, _ in words.most_common(_MOST_OTHERS)]
    return commonest + [mark for mark, _ in marks.most_common(_MOST_OTHERS)]


def _shared_parts(
    distinct: Sequence[str], together: Sequence[str], sep: str
) -> tuple[float, bool]:
    """Return the share of parts found in other cells, and whether all are cells."""
    parts = [{p.strip() for p in word.split(sep)} - {""} for word in together]
    others = Counter(part for word in parts for part in word)
    others.update(word.strip() for word in distinct if sep not in word.strip())
    flat = [part for word in parts for part in word]
    if not flat or any(len(word) < 2 for word in parts):
        return 0.0, False
    cells = {word.strip() for word in distinct}
    shared = sum(others[part] > 1 for part in flat) / len(flat)
    return shared, all(part in cells for part in flat)


def warn_shared_parts(names: Sequence[str]) -> None:
    """Warn if class names look like unsplit sets, such as ``a|b`` and ``b``.

    Parameters
    ----------
    names : sequence of str
        Distinct labels.
    """
    suspect, word, likely = _find_suspect(names)
    for sep in ("|", ";"):
        together = [name for name in names if sep in name]
        if together and _shared_parts(names, together, sep)[0] >= _SHARED:
            suspect, word, likely = sep, together[0], True
    if likely:
        warn_caller(
            f"Labels such as {word!r} are classes of their own. If they are sets, read "
            f"them with partlearn.candidates.from_text(..., sep={suspect!r})."
        )
