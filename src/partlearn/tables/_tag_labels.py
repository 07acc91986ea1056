"""Find doubtful and missing tags of the training rows."""

# SPDX-License-Identifier: BSD-3-Clause

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from partlearn._arguments import argument
from partlearn._extras import import_optional
from partlearn._math.linalg import z_scores
from partlearn._typing import Array, Indices, Mask
from partlearn.base import check_matrix
from partlearn.candidates import Tags, check_tags
from partlearn.inspection import tag_page
from partlearn.io import (
    TagForm,
    atomic_write,
    columns_of,
    is_frame,
    is_plain,
    ordered_tags,
)
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._labels import labels_by_place, named_columns
from partlearn.tables._learner import make_tag_learner
from partlearn.tables._rows import encode_rows
from partlearn.tables._tags import (
    read_tags,
    scored_tags,
    separation,
    tag_scores,
    true_matrix,
)

_LIKELY = 0.5  # score from which most similar rows list a tag
_MISSING = 0.8  # score from which a tag that is not listed looks missing
_LIFT = 2.0  # multiple of a tag's share from which a listed tag is believed


class TagAgreement(NamedTuple):
    """Agreement of listed, doubtful and missing tags with true tags.

    Attributes
    ----------
    listed_right : float
        Share of the listed tags that are true.
    kept_right : float or None
        The same without the doubtful ones.
    doubtful_wrong : float or None
        Share of the doubtful tags that are not true.
    missing_right : float or None
        Share of the missing tags that are true.
    separation : float or None
        Probability that a true listed tag scores higher than a false listed one; one
        half is chance.
    """

    listed_right: float
    kept_right: float | None
    doubtful_wrong: float | None
    missing_right: float | None
    separation: float | None


@dataclass(frozen=True)
class TagDisambiguation:
    """Scores of the tags of every row.

    Attributes
    ----------
    tags : Tags
        Listed tags, with corrections.
    scores : ndarray of shape (n_samples, n_tags)
        Score of every tag, by a regression without the row if the method has one. With
        several annotators, the probability that the tag is true.
    confidence : ndarray of shape (n_samples, n_tags)
        Confidence in each listed tag; zero elsewhere.
    checked : ndarray of bool, shape (n_samples,)
        Rows with corrected tags, which are certain.
    index : ndarray of shape (n_samples,)
        Names of the rows.
    method : str
        Class that scored the tags.
    form : TagForm
        Form of the tags in the table.
    rows : ndarray of int, shape (n_samples,)
        Rows of the table.
    """

    tags: Tags
    scores: Array
    confidence: Array
    checked: Mask
    index: NDArray[Any]
    method: str
    form: TagForm
    rows: Indices

    @property
    def classes(self) -> NDArray[Any]:
        """The tags."""
        return self.tags.classes

    @property
    def read_as(self) -> str:
        """Description of how the tag columns were read."""
        return self.tags.read_as

    @property
    def share(self) -> Array:
        """Share of the rows that list each tag."""
        return np.asarray(self.tags.weights.mean(axis=0), dtype=np.float64)

    @property
    def voted(self) -> bool:
        """Whether several annotators voted, so that scores are probabilities."""
        return _several_voted(self.tags)

    @property
    def doubtful(self) -> Mask:
        """Listed tags that are rarer among similar rows than among all rows.

        With several annotators: tags that are more likely false.
        """
        border = _LIKELY if self.voted else self.share
        low = self.tags.candidates & (self.confidence < border)
        return np.asarray(low & ~self.checked[:, None])

    @property
    def believed(self) -> Mask:
        """Listed tags of most similar rows, or twice as frequent there as in all rows.

        With several annotators: tags that are more likely true.
        """
        high = np.minimum(_LIKELY, _LIFT * self.share)
        high = np.full_like(high, _LIKELY) if self.voted else high
        known = (self.confidence >= high) & ~self.doubtful
        return np.asarray(self.tags.candidates & (known | self.checked[:, None]))

    @property
    def missing(self) -> Mask:
        """Tags that are not listed, but are listed by four in five similar rows."""
        absent = ~self.tags.candidates & ~self.checked[:, None]
        return np.asarray(absent & (self.scores >= np.maximum(_MISSING, self.share)))

    def review_order(self) -> Indices:
        """Rows with tags to strike or to add, the clearest case first."""
        strike = np.where(self.doubtful, self.share - self.confidence, 0.0)
        add = np.where(self.missing, self.scores - self.share, 0.0)
        worth = np.maximum(strike.max(axis=1), add.max(axis=1))
        order = np.argsort(-worth, kind="stable")
        return order[worth[order] > 0]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the tags in the form of the table, with doubtful and missing ones.

        Returns
        -------
        columns : dict of str to ndarray
            Listed tags without the doubtful ones in the form of the table, the most
            likely first; ``doubtful`` and ``missing`` tags; ``confidence`` in each
            listed tag.
        """
        names, S, F = self.classes, self.tags.candidates, self.confidence
        columns = self.form.write(S & ~self.doubtful, F, names)
        for name, mask in (("doubtful", self.doubtful), ("missing", self.missing)):
            sets = ordered_tags(mask, self.scores, names)
            told = [self.form.text(tags) if tags else "" for tags in sets]
            columns[name] = np.asarray(told, dtype=object)
        columns["confidence"] = scored_tags(S, F, names)
        return columns

    def to_frame(self) -> Any:
        """Return one line per row as a pandas data frame, as :meth:`columns`.

        Returns
        -------
        frame : DataFrame
            Indexed as the rows of `X` were.
        """
        pandas = import_optional("pandas", "data frames")
        return pandas.DataFrame(self.columns(), index=self.index)

    def agreement(self, truth: Any) -> TagAgreement:
        """Compare with true tags.

        Parameters
        ----------
        truth : Tags, or tags in any form that ``check_tags`` reads
            True tags, one set per row; :class:`~partlearn.candidates.Tags` may name
            some of the rows.

        Returns
        -------
        agreement : TagAgreement
            Shares of right tags.
        """
        tags = check_tags(truth)
        rows = tags.rows if isinstance(truth, Tags) else self.rows[tags.rows]
        known_tags = Tags(tags.weights, tags.classes, rows=rows)
        here = Tags(self.tags.weights, self.classes, rows=self.rows)
        Y, known = true_matrix(known_tags, here)
        if not known.any():
            raise ValueError(
                f"{argument('truth')} holds no row of these; leave it out."
            )
        S, doubtful = self.tags.candidates[known], self.doubtful[known]
        missing = self.missing[known]
        return TagAgreement(
            _mean(Y[S]) or 0.0,
            _mean(Y[S & ~doubtful]),
            _mean(~Y[doubtful]),
            _mean(Y[missing]),
            separation(Y, self.tags.candidates, self.scores, known),
        )

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        rows: Any = None,
        truth: Any = None,
        n_review: int = 100,
        title: str = "Label report",
    ) -> str:
        """Write the label report: one HTML page to inspect and correct tags.

        Parameters
        ----------
        path : str or path, default=None
            File to write the page to as well.
        rows : data frame or mapping of str to sequence, default=None
            Contents of the rows, shown beside those to review.
        truth : Tags, default=None
            True tags, as for :meth:`agreement`.
        n_review : int, default=100
            Number of rows to review.
        title : str, default="Label report"
            Title of the page.

        Returns
        -------
        page : str
            A self-contained HTML page.
        """
        page = tag_page(self, rows=rows, truth=truth, n_review=n_review, title=title)
        if path is not None:
            with atomic_write(path) as file:
                file.write(page.encode())
        return page

    def __repr__(self) -> str:
        n, q = self.tags.shape
        return (
            f"TagDisambiguation({n} rows, {q} tags, {int(self.tags.candidates.sum())} "
            f"listed, {int(self.doubtful.sum())} doubtful, {int(self.missing.sum())} "
            f"missing, by {self.method})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def _mean(values: Mask) -> float | None:
    return float(values.mean()) if values.size else None


def disambiguate_tags(
    X: Any,
    y: Any,
    method: Any,
    *,
    standardize: bool = True,
    corrections: Mapping[Any, Any] | None = None,
    encoder: TableEncoder | None = None,
    sep: str | None = None,
) -> TagDisambiguation:
    """Score the tags of every row.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Features, or a table.
    y : str, list of str, or tags
        Columns that hold the tags, or tags in any form that ``check_tags`` reads.
    method : str or estimator
        A classifier for tags.
    standardize : bool, default=True
        Whether to bring the columns to mean zero and variance one first.
    corrections : mapping, default=None
        True tags of checked rows, by the name of the row: text such as
        ``rock|live``, ``[]`` for none, ``["rock|pop", "live"]``, or a collection.
    encoder : TableEncoder, default=None
        Encoder of the table.
    sep : str, default=None
        Separator of tags in a column.

    Returns
    -------
    result : TagDisambiguation
        Scores, and believed, doubtful and missing tags.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn import disambiguate
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> listed = X[:, :2] > 0
    >>> listed[0] = [True, True]
    >>> disambiguate(X, listed, task="tags")
    TagDisambiguation(60 rows, 2 tags, ... by CRISPMultiLabelClassifier)
    """
    index = np.asarray(X.index) if hasattr(X, "iloc") else None
    form = TagForm("sets", ["tags"])
    rows: Indices | None = None
    if is_frame(X):
        columns = columns_of(X)
        plain = encoder is None and is_plain(columns)
        if plain and named_columns(columns, y) is None:
            X, tags = np.column_stack(list(columns.values())), check_tags(y)
        else:
            tags, names, form = read_tags(columns, y, sep)
            rows = tags.rows
            X, index, _, _ = encode_rows(columns, rows, names, encoder, index)
    else:
        tags = check_tags(y)
    X = check_matrix(X)
    index = np.arange(len(tags)) if index is None else index
    tags, checked = _corrected(tags, index, corrections or {}, form.sep)
    learner = make_tag_learner(method)
    Z = z_scores(X) if standardize else X
    learner.fit(Z, tags)
    G = getattr(learner, "held_out_scores_", None)
    if G is None:
        G = tag_scores(learner, Z)
    F = getattr(learner, "label_confidence_", None)
    if _several_voted(tags):
        assert tags.n_seen is not None
        G = F = vote_probabilities(tags.confidence(), tags.n_seen, np.asarray(G))
    F = np.clip(np.asarray(G if F is None else F, dtype=np.float64), 0, 1)
    F = np.where(tags.candidates, np.where(checked[:, None], 1.0, F), 0.0)
    rows = np.arange(len(tags)) if rows is None else rows
    name = type(learner).__name__
    return TagDisambiguation(
        tags, np.asarray(G), F, checked, np.asarray(index), name, form, rows
    )


def _several_voted(tags: Tags) -> bool:
    """Whether most rows have two annotators or more."""
    return tags.n_seen is not None and float(np.median(tags.n_seen)) >= 2


def vote_probabilities(
    W: Array, n_seen: Indices, G: Array, *, max_iter: int = 100, tol: float = 1e-6
) -> Array:
    """Estimate the probability of each tag from its votes and from similar rows.

    An annotator lists a true tag with one probability and a false tag with another one.
    Both are estimated for each tag by expectation maximization. The prior probability
    of a row is its score by other rows.

    Parameters
    ----------
    W : ndarray of shape (n, q)
        Share of the annotators of each row who listed each tag.
    n_seen : ndarray of int, shape (n,)
        Annotators of each row.
    G : ndarray of shape (n, q)
        Shares estimated from other rows.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-6
        Change of a probability at which to stop.

    Returns
    -------
    P : ndarray of shape (n, q)
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.tables._tag_labels import vote_probabilities
    >>> W = np.array([[1.0], [0.8], [0.2], [0.0]])
    >>> P = vote_probabilities(W, np.full(4, 5), np.full((4, 1), 0.5))
    >>> P.ravel().round(1).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    seen = n_seen[:, None].astype(np.float64)
    listed, P = W * seen, W.astype(np.float64)
    for _ in range(max_iter):
        # Five votes that four annotators in five are right keep small tags apart.
        hit = ((P * listed).sum(axis=0) + 4) / ((P * seen).sum(axis=0) + 5)
        slip = (((1 - P) * listed).sum(axis=0) + 1) / (((1 - P) * seen).sum(axis=0) + 5)
        before = (G - slip) / np.maximum(hit - slip, 0.05)
        before = np.clip(before, 0.02, 0.98)
        odds = np.log(before / (1 - before)) + listed * np.log(hit / slip)
        odds += (seen - listed) * np.log((1 - hit) / (1 - slip))
        last, P = P, np.asarray(expit(odds))
        if np.abs(P - last).max(initial=0.0) <= tol:
            break
    return P


def _tags_in(right: Any, sep: str) -> list[str]:
    """Read the tags of a correction: a collection, a JSON list, or text."""
    if isinstance(right, str):
        text = right.strip()
        right = text.split(sep)
        if text.startswith("[") and text.endswith("]"):
            # Without quotation marks it is the name of a tag.
            with suppress(json.JSONDecodeError):
                right = json.loads(text)
    return [str(word).strip() for word in right if str(word).strip()]


def _corrected(
    tags: Tags, index: NDArray[Any], corrections: Mapping[Any, Any], sep: str
) -> tuple[Tags, Mask]:
    """Return tags with corrections, and a mask of the corrected rows."""
    known = [str(name) for name in tags.classes.tolist()]
    given: dict[int, list[str]] = {}
    for i, right in labels_by_place(index, corrections).items():
        given[i] = _tags_in(right, sep)
    fresh = sorted({w for words in given.values() for w in words} - set(known))
    none = np.zeros((len(tags), len(fresh)))
    W = np.hstack([np.asarray(tags, dtype=np.float64), none])
    names = [*known, *fresh]
    for i, words in given.items():
        W[i] = [name in words for name in names]
    checked = np.zeros(len(tags), dtype=bool)
    checked[list(given)] = True
    if not given:
        return tags, checked
    classes = np.asarray(names) if fresh else tags.classes
    changed = Tags(W, classes, rows=tags.rows, n_seen=tags.n_seen)
    changed.read_as = tags.read_as
    return changed, checked
