"""Tags: any number of the labels of a row may be true."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._typing import Indices
from partlearn.candidates._dawid_skene import VoteTable
from partlearn.candidates._evidence import Evidence, LabelRows
from partlearn.candidates._messages import some_rows
from partlearn.candidates._validation import check_candidates
from partlearn.candidates._votes import Votes


class Tags(LabelRows):
    """Tags of each row, with optional weights; any number may be true.

    Parameters
    ----------
    weights : array-like of shape (n_samples, n_tags)
        Between 0 and 1: 1 where a tag is listed, 0 where it is not, or the share of
        annotators who listed it. A row may be without any tag.
    classes : array-like of shape (n_tags,)
        The tags, in the order of the columns.
    rows : array-like of int, default=None
        Row of the caller's table that each row stands for; counts from 0 by default.
    n_seen : array-like of int, shape (n_samples,), default=None
        Where weights are shares of annotators: how many of them saw each row.

    Attributes
    ----------
    weights : ndarray of shape (n_samples, n_tags)
        Boolean where every weight is 0 or 1.
    classes : ndarray of shape (n_tags,)
        The tags.
    rows : ndarray of int, shape (n_samples,)
        Rows of the caller's table.
    n_seen : ndarray of int, shape (n_samples,), or None
        Number of annotators of each row, if tags come from votes.
    read_as : str
        How the columns of a table were read; empty where there was none.

    See Also
    --------
    Evidence : Labels with one true label per row.

    Examples
    --------
    >>> from partlearn.candidates import Tags
    >>> tags = Tags([[1, 0.5, 0], [0, 0, 0]], ["rock", "live", "80s"])
    >>> tags
    Tags(2 rows, 3 tags, 1.0 listed a row, weighted)
    >>> tags.candidates
    array([[ True,  True, False],
           [False, False, False]])
    """

    def __init__(
        self,
        weights: ArrayLike,
        classes: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        n_seen: ArrayLike | None = None,
    ) -> None:
        W = np.asarray(weights)
        self.classes = np.asarray(classes)
        if W.ndim != 2 or self.classes.shape != (W.shape[1],):
            raise ValueError(
                f"Tags need one column per tag, {self.classes.size}; got {W.shape}."
            )
        if W.dtype != bool:
            W = W.astype(np.float64)
            wrong = ~((W >= 0) & (W <= 1))
            if wrong.any():
                i, j = np.argwhere(wrong)[0].tolist()
                raise ValueError(
                    f"Weights of tags must lie between 0 and 1; row {i} has "
                    f"{W[i, j]:g} for {self.classes.tolist()[j]!r}. Divide by the "
                    "largest possible weight."
                )
            binary = (W > 0) == W
            W = W > 0 if binary.all() else W
        self._weights: NDArray[Any] = W
        rows = np.arange(len(W)) if rows is None else rows
        self.rows = np.asarray(rows, dtype=np.intp)
        self.n_seen = None if n_seen is None else np.asarray(n_seen, dtype=np.intp)

    @property
    def weights(self) -> NDArray[Any]:
        """Weights of shape (n_samples, n_tags), boolean if all are 0 or 1."""
        return self._weights

    def confidence(self) -> NDArray[np.float64]:
        """Return the weights as floats, of shape (n_samples, n_tags)."""
        return self.weights.astype(np.float64)

    def sets(self) -> list[list[Any]]:
        """Return the tags of each row, in the order of the columns."""
        names = self.classes.tolist()
        return [[names[j] for j in np.flatnonzero(row)] for row in self.candidates]

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.sets())

    def __getitem__(self, key: Any) -> Self:
        other = self._copy()
        key = np.asarray(key) if not isinstance(key, slice) else key
        other._weights, other.rows = self._weights[key], self.rows[key]
        other.n_seen = None if self.n_seen is None else self.n_seen[key]
        return other

    def __repr__(self) -> str:
        n, q = self.shape
        mean = self.candidates.sum() / max(n, 1)
        kind = ", weighted" if self.weighted else ""
        return f"Tags({n} rows, {q} tags, {mean:.1f} listed a row{kind})"


def check_tags(y: Any, *, classes: ArrayLike | None = None) -> Tags:
    """Convert labels in any form to tags.

    Parameters
    ----------
    y : Tags, Evidence, or labels in any form that :func:`check_candidates` reads
        The labels. Votes become the share of the annotators of a row who gave each tag.
    classes : array-like of shape (n_tags,), default=None
        All tags in the order of the columns; inferred from `y` by default.

    Returns
    -------
    tags : Tags
        The tags; rows without any stay.

    Examples
    --------
    >>> from partlearn.candidates import check_tags
    >>> check_tags([{"rock", "live"}, set(), {"80s"}])
    Tags(3 rows, 3 tags, 1.0 listed a row)
    """
    if isinstance(y, Votes):
        shares, seen = vote_shares(y.table)
        tags = Tags(shares, y.classes, rows=y.rows, n_seen=seen)
    elif isinstance(y, Evidence):
        tags = Tags(y.weights, y.classes, rows=y.rows)
    elif isinstance(y, Tags):
        tags = y
    else:
        names, S = check_candidates(y, classes=classes, empty="keep")
        return Tags(S, names)
    if classes is None:
        return tags
    wanted = np.asarray(classes)
    place = {name: j for j, name in enumerate(wanted.tolist())}
    unknown = [name for name in tags.classes.tolist() if name not in place]
    if unknown:
        where = np.flatnonzero(tags.candidates[:, list(tags.classes).index(unknown[0])])
        raise ValueError(
            f"The tag {unknown[0]!r} is not one of the expected tags"
            f"{': rows ' + some_rows(where) if len(where) else ''}."
        )
    W = np.zeros((len(tags), len(wanted)), dtype=tags.weights.dtype)
    W[:, [place[name] for name in tags.classes.tolist()]] = tags.weights
    return Tags(W, wanted, rows=tags.rows, n_seen=tags.n_seen)


def vote_shares(table: VoteTable) -> tuple[NDArray[np.float64], Indices]:
    """Return the share of annotators per tag, and their number, for each row.

    Parameters
    ----------
    table : VoteTable
        Votes; an annotator may give several tags to a row.

    Returns
    -------
    W : ndarray of shape (n_rows, n_classes)
        Between 0 and 1; zero for rows without votes.
    n_seen : ndarray of int, shape (n_rows,)
        Annotators who voted on each row.
    """
    who = np.unique(np.stack([table.row, table.annotator]), axis=1)
    seen = np.bincount(who[0], minlength=table.n_rows)
    votes = np.stack([table.row, table.annotator, table.label])
    row, _, label = np.unique(votes, axis=1)
    W = np.zeros((table.n_rows, table.n_classes))
    np.add.at(W, (row, label), 1.0)
    return W / np.maximum(seen, 1)[:, None], seen
