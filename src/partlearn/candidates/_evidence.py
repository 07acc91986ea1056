"""Evidence: likelihood of the observed annotation under each label.

Candidate sets, weights, complementary labels, coarse categories and votes are all read
into one matrix ``L`` of shape ``(n_samples, n_classes)``. ``L[i, j]`` is proportional
to the likelihood of the annotation of row ``i`` if its label were ``j``. For a
candidate set, it is 0 or 1.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._arguments import argument, check_choice
from partlearn._typing import Indices, Mask
from partlearn.candidates._confidence import uniform_confidence
from partlearn.candidates._messages import some_rows

_SHOWN = 6  # rows that a display lists

EmptyRows = Literal["error", "drop", "all"]


class LabelRows:
    """Rows of weighted labels: what evidence and tags have in common."""

    classes: NDArray[Any]
    rows: Indices
    read_as: str = ""

    @property
    def weights(self) -> NDArray[Any]:
        """Weights of shape (n_samples, n_classes), boolean if all are 0 or 1."""
        raise NotImplementedError

    @property
    def candidates(self) -> Mask:
        """Labels with positive weight, a boolean matrix like `weights`."""
        return self.weights > 0

    @property
    def weighted(self) -> bool:
        """Whether there are weights other than 0 and 1."""
        return self.weights.dtype != bool

    def counts(self) -> dict[Any, int]:
        """Count the rows in which each class is a candidate.

        Returns
        -------
        counts : dict
            Class to number of rows.

        Examples
        --------
        >>> from partlearn.candidates import from_text
        >>> from_text(["cat|dog", "dog"]).counts()
        {'cat': 1, 'dog': 2}
        """
        totals = self.candidates.sum(axis=0).tolist()
        return dict(zip(self.classes.tolist(), totals, strict=True))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of classes."""
        return (len(self.rows), len(self.classes))

    def __len__(self) -> int:
        return len(self.rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.weights, dtype=dtype, copy=copy)

    def _copy(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other


class Evidence(LabelRows):
    """Evidence for each label of each row, accepted as `y` by `fit`.

    Made by :func:`from_weights`, :func:`from_complementary`, :func:`from_hierarchy`,
    :func:`from_text`, :func:`from_intervals` and, as :class:`Votes`, by
    :func:`from_votes` and :func:`from_annotators`. It is indexed by rows like an array,
    also by the tools of scikit-learn that split data.

    Parameters
    ----------
    weights : array-like of shape (n_samples, n_classes)
        Evidence for every class: not negative, and positive for some class of each row.
        Only the ratios within a row count: every row is scaled to a maximum of one.
    classes : array-like of shape (n_classes,)
        The classes, in the order of the columns.
    rows : array-like of int, default=None
        Number of each row in the caller's table; by default 0, 1, 2 and so on.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    rows : ndarray of int, shape (n_samples,)
        Rows of the caller's table. Where rows were left out, ``X[evidence.rows]`` are
        the features that belong to the labels.
    read_as : str
        How label columns of a table were read, such as ``3 raters, 2 labels: 0, 1``;
        empty where the labels came from elsewhere.

    See Also
    --------
    check_evidence : Turns labels of any form into evidence.

    Examples
    --------
    >>> from partlearn.candidates import from_weights
    >>> labels = from_weights([[0.6, 0.3, 0.0], [0.0, 0.0, 2.0]], classes=list("abc"))
    >>> labels
    Evidence(2 rows, 3 classes, 1.5 candidates a row, weighted)
    >>> labels.weights
    array([[1. , 0.5, 0. ],
           [0. , 0. , 1. ]])
    >>> labels[[1]].candidates
    array([[False, False,  True]])
    """

    def __init__(
        self, weights: ArrayLike, classes: ArrayLike, *, rows: ArrayLike | None = None
    ) -> None:
        L = np.asarray(weights)
        self.classes = np.asarray(classes)
        if L.ndim != 2 or self.classes.shape != (L.shape[1],):
            q = self.classes.size
            raise ValueError(
                f"Evidence needs one column per class, {q}; got {L.shape}."
            )
        self._weights = _scaled(L, self.classes)
        rows = np.arange(len(L)) if rows is None else rows
        self.rows = np.asarray(rows, dtype=np.intp)
        self._listed: Mask | None = None

    # What estimators read -----------------------------------------------------------

    @property
    def weights(self) -> NDArray[Any]:
        """Evidence of shape (n_samples, n_classes), scaled to row maxima of one.

        Boolean if all candidates of every row have equal weight. It is then the
        candidate matrix, and methods treat it as such.
        """
        return self._weights

    @property
    def listed(self) -> Mask:
        """Labels that were given for each row, a boolean matrix like `weights`.

        Equal to `candidates`, unless a miss rate made further labels possible or a
        correction removed some. The list of a bag is built from these labels.
        """
        return self.candidates if self._listed is None else self._listed

    def confidence(self, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
        """Return the confidences given the evidence alone; rows sum to one.

        Parameters
        ----------
        dtype : dtype, default=float64
            Type of the result.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes)
            `weights` divided by their row sums.
        """
        return uniform_confidence(self.weights, dtype)

    def first_confidence(self, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
        """Return the initial confidences of a method that uses candidates only.

        Parameters
        ----------
        dtype : dtype, default=float64
            Type of the result.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes)
            Zero outside `candidates`, rows sum to one.
        """
        return self.confidence(dtype)

    def updated(self, M: NDArray[Any]) -> NDArray[Any]:
        """Return the evidence after an iteration with expected labels `M`.

        Parameters
        ----------
        M : ndarray of shape (n_samples, n_classes)
            Probability of each label by models that did not see the row's own labels.

        Returns
        -------
        L : ndarray of shape (n_samples, n_classes)
            `weights`, which do not change; votes are weighted again.
        """
        return self.weights

    # What people do with it ---------------------------------------------------------

    def with_prior(self, prior: ArrayLike) -> Evidence:
        """Multiply the evidence by class priors.

        Parameters
        ----------
        prior : array-like of shape (n_classes,)
            Shares of the classes, in the order of `classes`; positive.

        Returns
        -------
        evidence : Evidence
            New evidence.

        Examples
        --------
        >>> from partlearn.candidates import from_complementary
        >>> labels = from_complementary(["a"], classes=["a", "b", "c"])
        >>> labels.with_prior([0.2, 0.2, 0.6]).weights.round(2)
        array([[0.  , 0.33, 1.  ]])
        """
        p = np.asarray(prior, dtype=np.float64)
        if p.shape != self.classes.shape or not (np.isfinite(p) & (p > 0)).all():
            raise ValueError(
                f"`prior` must hold {len(self.classes)} positive numbers, one per "
                f"class; got {p.tolist()}."
            )
        return self._with_weights(self.weights * p)

    def with_miss_rate(self, miss_rate: float) -> Evidence:
        """Allow for sets that miss the true label.

        Parameters
        ----------
        miss_rate : float
            Share of rows whose set misses the truth, from an audit of some rows (see
            :func:`estimate_miss_rate`); at least 0 and below 1.

        Returns
        -------
        evidence : Evidence
            With ``n`` candidates of ``q`` classes, ``1 - miss_rate`` is shared by the
            candidates and ``miss_rate`` by the ``q - n`` other classes. The object
            itself where the rate is 0.

        Examples
        --------
        >>> from partlearn.candidates import check_evidence
        >>> labels = check_evidence([{"a", "b"}, {"c"}, {"d"}]).with_miss_rate(0.2)
        >>> labels.confidence().round(2)
        array([[0.4 , 0.4 , 0.1 , 0.1 ],
               [0.07, 0.07, 0.8 , 0.07],
               [0.07, 0.07, 0.07, 0.8 ]])
        """
        if not 0 <= miss_rate < 1:
            raise ValueError(
                f"{argument('miss_rate')} must be at least 0 and below 1; got "
                f"{miss_rate}."
            )
        if miss_rate == 0:
            return self
        S = self.candidates
        outside = (~S).sum(axis=1, keepdims=True)
        # A full set cannot miss the truth.
        missed = miss_rate / np.maximum(outside, 1)
        L = np.where(S, (1 - miss_rate) * self.confidence(), missed)
        return self._with_weights(L)

    def _with_weights(self, L: NDArray[Any]) -> Evidence:
        """Return a copy with other weights."""
        other = Evidence(L, self.classes, rows=self.rows)
        other._listed = self.listed
        return other

    def with_known(self, known: Mapping[int, Any]) -> Self:
        """Set rows to their known true labels.

        Parameters
        ----------
        known : mapping of int to label
            Places of rows, and their labels, which need not have been candidates.

        Returns
        -------
        evidence : Evidence
            Evidence of the same kind. Votes on these rows stay: they show how good
            their annotators are.

        Examples
        --------
        >>> from partlearn.candidates import from_text
        >>> from_text(["cat|dog", "dog"]).with_known({0: "cat"}).candidates
        array([[ True, False],
               [False,  True]])
        """
        column = {str(name): j for j, name in enumerate(self.classes)}
        for place, label in known.items():
            if str(label) not in column:
                raise ValueError(
                    f"The label {label!r} given for row {place} is not known. Known: "
                    f"{', '.join(list(column)[:20])}."
                )
        places = np.fromiter(known, dtype=np.intp, count=len(known))
        codes = [column[str(label)] for label in known.values()]
        return self._certain(places, np.asarray(codes, dtype=np.intp))

    def _certain(self, places: Indices, codes: Indices) -> Self:
        other = self._copy()
        other._weights = certain_rows(self._weights, places, codes)
        other._listed = self.listed
        return other

    def with_classes(self, classes: ArrayLike) -> Self:
        """Return a copy with other names for the classes.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            New names.

        Returns
        -------
        evidence : Evidence
            Evidence of the same kind.
        """
        names = np.asarray(classes)
        if names.shape != self.classes.shape:
            raise ValueError(
                f"There are {len(self.classes)} classes; got {names.size} names."
            )
        other = self._copy()
        other.classes = names
        return other

    def to_frame(self) -> Any:
        """Return the weights as a pandas data frame that :func:`from_weights` reads.

        Returns
        -------
        frame : DataFrame
            One column per class; the index are `rows`.
        """
        import pandas

        return pandas.DataFrame(
            np.asarray(self.weights, dtype=float),
            columns=list(self.classes),
            index=self.rows,
        )

    # What makes it an array of rows -------------------------------------------------

    ndim = 2

    def __getitem__(self, key: Any) -> Self:
        if isinstance(key, tuple):
            if len(key) != 2 or key[1] not in (Ellipsis, slice(None)):
                raise IndexError("Evidence is indexed by rows only.")
            key = key[0]
        if not isinstance(key, (slice, int, np.integer)):
            key = np.asarray(key)
            key = key.astype(np.intp) if key.size == 0 else key
        return self._take(np.atleast_1d(np.arange(len(self))[key]))

    def _joined(self, parts: Sequence[Any]) -> Evidence:
        """Return the rows of all parts, numbered anew."""
        joined = Evidence(np.concatenate([p.weights for p in parts]), self.classes)
        joined._listed = np.concatenate([p.listed for p in parts])
        return joined

    def _take(self, places: Indices) -> Self:
        other = self._copy()
        other._weights, other.rows = self._weights[places], self.rows[places]
        other._listed = None if self._listed is None else self._listed[places]
        return other

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Evidence)
            and type(other) is type(self)
            and np.array_equal(self.classes, other.classes)
            and self._same(other)
        )

    def _same(self, other: Any) -> bool:
        return np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def _describe(self) -> str:
        size = self.candidates.sum(axis=1).mean() if len(self) else 0
        kind = "weighted" if self.weighted else "equal weights"
        return f"{size:.3g} candidates a row, {kind}"

    def __repr__(self) -> str:
        m, q = self.shape
        rows, classes = "row" + "s" * (m != 1), "class" + "es" * (q != 1)
        return f"{type(self).__name__}({m} {rows}, {q} {classes}, {self._describe()})"

    def _repr_html_(self) -> str:
        head = (
            f"<caption>{escape(repr(self))}</caption><thead><tr>"
            '<th scope="col">row</th><th scope="col">labels</th></tr></thead>'
        )
        body = "".join(
            f'<tr><th scope="row">{row}</th><td>{escape(text)}</td></tr>'
            for row, text in zip(
                self.rows.tolist(), self[:_SHOWN]._texts(), strict=False
            )
        )
        more = len(self) - _SHOWN
        tail = f'<tr><td colspan="2">{more} more rows</td></tr>' if more > 0 else ""
        return f"<table>{head}<tbody>{body}{tail}</tbody></table>"

    def _texts(self) -> list[str]:
        """Return one line of text per row: its labels, with shares if they differ."""
        if self.weighted:
            return self._ranked(self.confidence(), ".2f")
        return [", ".join(map(str, self.classes[row])) for row in self.candidates]

    def _ranked(self, matrix: NDArray[Any], form: str) -> list[str]:
        """Return the labels of each row with their numbers, in descending order."""
        return [
            ", ".join(
                f"{self.classes[j]} {row[j]:{form}}"
                for j in np.argsort(-row, kind="stable")[:_SHOWN]
                if row[j] > 0
            )
            for row in matrix
        ]


def _scaled(L: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Scale rows to maximum one; boolean if every entry is then zero or one."""
    if L.dtype != bool:
        L = L.astype(np.float64)
        wrong = np.argwhere(~(np.isfinite(L) & (L >= 0)))
        if wrong.size:
            i, j = wrong[0]
            raise ValueError(
                f"Weights must be finite and not negative; row {i} has "
                f"{L[i, j].item()} for label {classes[j].item()!r} "
                f"({len(wrong)} such entries)."
            )
    bare = np.flatnonzero(~L.any(axis=1))
    if bare.size:
        raise ValueError(
            f"Every row needs some evidence; rows without any: {some_rows(bare)}."
        )
    if L.dtype == bool:
        return L
    # Equal weights become exactly one, whatever they were.
    L = L / L.max(axis=1, keepdims=True)
    return L > 0 if ((L == 0) | (L == 1)).all() else L


def make_evidence(
    weights: NDArray[Any],
    classes: NDArray[Any],
    *,
    empty: EmptyRows,
    what: str = "weights",
) -> Evidence:
    """Build evidence from a matrix whose rows may be all zero.

    Parameters
    ----------
    weights : ndarray of shape (n_samples, n_classes)
        Evidence; rows of zeros are those without any.
    classes : ndarray of shape (n_classes,)
        The classes.
    empty : {"error", "drop", "all"}
        Treatment of rows of zeros: raise, leave them out, or make every class possible.
    what : str, default="weights"
        Word for the missing evidence in the error message.

    Returns
    -------
    evidence : Evidence
        The evidence.
    """
    bare = np.asarray(~(weights > 0).any(axis=1))
    rows = np.arange(len(weights))
    check_choice("empty", empty, get_args(EmptyRows))
    if bare.any() and empty == "error":
        raise ValueError(no_evidence(np.flatnonzero(bare), what))
    if empty == "drop":
        return Evidence(weights[~bare], classes, rows=rows[~bare])
    weights = np.where(bare[:, None], np.ones((), weights.dtype), weights)
    return Evidence(weights, classes)


def no_evidence(rows: Indices, what: str) -> str:
    """Return the error message for rows without evidence."""
    return (
        f'Rows without {what}: {some_rows(rows)}. Pass empty="drop" to leave them '
        '(the rest is then for X[labels.rows]) or empty="all" to treat them as '
        "unlabeled."
    )


def concatenate(parts: Sequence[Evidence]) -> Evidence:
    """Concatenate the evidence of several tables.

    Parameters
    ----------
    parts : sequence of Evidence
        All of one kind, with the same classes in the same order. Annotators of votes
        are matched by name.

    Returns
    -------
    evidence : Evidence
        Evidence of the kind of the parts.

    Examples
    --------
    >>> from partlearn.candidates import concatenate, from_text
    >>> concatenate([from_text(["a|b"]), from_text(["b|a", "a|b"])])
    Evidence(3 rows, 2 classes, 2 candidates a row, equal weights)
    """
    parts = list(parts)
    if not parts or not all(isinstance(part, Evidence) for part in parts):
        raise TypeError("`parts` must be one or more Evidence objects.")
    first = parts[0]
    for k, part in enumerate(parts):
        if type(part) is not type(first):
            raise TypeError(
                f"Part {k} is {type(part).__name__}, part 0 {type(first).__name__}; "
                "parts must be of one kind."
            )
        if not np.array_equal(part.classes, first.classes):
            odd = sorted(
                set(part.classes.tolist()) ^ set(first.classes.tolist()), key=str
            )
            raise ValueError(
                f"Parts 0 and {k} have different classes"
                + (f": {odd[:10]} are not in both. " if odd else " or another order. ")
                + "Pass the same `classes` when they are made."
            )
    return first._joined(parts)


def certain_rows(matrix: NDArray[Any], places: Indices, codes: Indices) -> NDArray[Any]:
    """Return a copy of a matrix with some rows set to a single label.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_classes)
        Weights, confidences or candidates.
    places, codes : ndarray of int
        Rows, and their columns.

    Returns
    -------
    certain : ndarray of shape (n_samples, n_classes)
        Of the same type.
    """
    certain = matrix.copy()
    certain[places] = 0
    certain[places, codes] = 1
    return certain
