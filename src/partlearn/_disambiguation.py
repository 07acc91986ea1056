"""Result of disambiguation: labels, confidences and estimates of their accuracy."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn import tables
from partlearn._arguments import argument, check_one_per_row
from partlearn._extras import import_optional
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import Annotators, MissRate
from partlearn.inspection import (
    SETTLED,
    CalibrationDisplay,
    Reasons,
    RowStates,
    expected_share,
    label_map,
    label_page,
    label_report,
    label_summary,
    row_states,
)
from partlearn.io import atomic_write
from partlearn.metrics import (
    CalibrationBins,
    GoldQuality,
    calibration_bins,
    overconfidence,
)
from partlearn.tables import Agreement


@dataclass(frozen=True)
class Disambiguation:
    """Result of :func:`~partlearn.disambiguate`: labels and confidences of all rows.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The most likely candidate or, with votes and weights, the most likely label; the
        first one of a tie.
    confidence : ndarray of shape (n_samples,)
        Confidence of that label.
    margin : ndarray of shape (n_samples,)
        Its lead over the second most likely label; one where there is no second.
    classes : ndarray of shape (n_classes,)
        The classes.
    label_confidence : ndarray of shape (n_samples, n_classes)
        Confidence in every candidate; rows sum to one.
    candidates : ndarray of bool, shape (n_samples, n_classes)
        The candidate sets.
    index : ndarray of shape (n_samples,)
        Names of the rows: the index of a data frame, or numbers from 0.
    method : str
        Name of the class that estimated the labels.
    space : callable
        Returns the rows in the space of the method, or their features.
    reasons : callable
        Returns the reasons for labels, for :meth:`why`.
    rows : ndarray of int, shape (n_samples,), or None
        Numbers of these rows in the table; None if all rows of the table had labels.
    annotators : Annotators or None
        With votes: ``name``, ``accuracy`` and ``n_votes`` of the annotators.
    n_votes : ndarray of int, shape (n_samples,), or None
        With votes: number of votes of each row.
    read_as : str
        How the label columns of a table were read, such as ``3 raters, 2 labels: 0,
        1``.
    bags : ndarray of shape (n_samples,) or None
        Bag of each row, where there are bags.
    quality : GoldQuality or None
        With `gold`: estimated share of right labels, with an interval.
    miss_rate : MissRate or None
        With `miss_rate`: ``rate``, ``low`` and ``high``.
    halves : callable or None
        With votes: estimates the labels once from each half of the annotators.
    column_importances : dict of str to float
        Share of each column in the importances, largest first: ``feature_importances_``
        of the method, parts of a date and levels of a category added up. Empty where
        the method has none.
    """

    label: NDArray[Any]
    confidence: Array
    margin: Array
    classes: NDArray[Any]
    label_confidence: Array
    candidates: Mask
    index: NDArray[Any]
    method: str
    space: Callable[[], Any] = field(repr=False, compare=False)
    reasons: Callable[..., list[Reasons]] = field(repr=False, compare=False)
    rows: Indices | None = None
    annotators: Annotators | None = None
    n_votes: Indices | None = None
    read_as: str = ""
    bags: NDArray[Any] | None = None
    quality: GoldQuality | None = None
    miss_rate: MissRate | None = None
    halves: Callable[[], list[Any]] | None = field(
        default=None, repr=False, compare=False
    )
    held_out: Callable[[], tuple[Array, Mask]] | None = field(
        default=None, repr=False, compare=False
    )
    column_importances: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = self._states().counts()
        return (
            f"Disambiguation({len(self.label):,} rows by {self.method}, "
            f"{counts['several']:,} with several candidates, {counts['settled']:,} "
            "settled)"
        )

    def _states(self) -> RowStates:
        several = self.candidates.sum(axis=1) > 1
        return row_states(several, self.confidence, self.margin)

    def summary(self) -> dict[str, Any]:
        """Count settled, leaning and open rows, and estimate the share of right labels.

        Returns
        -------
        summary : dict
            ``several`` rows had several candidates. Of these ``settled`` have a
            confidence of at least 0.9, ``leaning`` lead the second label by at least
            0.2, the rest is ``open``. ``expected_right`` is the range of the expected
            share of right labels; ``together`` lists labels that share sets more often
            than chance, which makes confidences too high. Where ``tested`` is False,
            three labels or fewer leave nothing to test: the range reaches down to a
            guess among the candidates. ``halves_agree`` is the attribute of this name.
        """
        return label_summary(self)

    @cached_property
    def halves_agree(self) -> float | None:
        """Share of rows with equal labels by two halves of the annotators.

        Each annotator belongs to one half, and the labels are found once from each.
        Computed when it is first used, which takes about twice the time of
        :func:`~partlearn.disambiguate`. None for other labels, for a single annotator,
        and if half of the votes are too few to learn from.
        """
        if self.halves is None:
            return None
        try:
            first, second = self.halves()
        except ValueError:
            return None
        return float(np.mean(first == second))

    @cached_property
    def overconfidence(self) -> float | None:
        """Factor by which logarithms of held-out probabilities are too large.

        Of two halves of at most 2,000 rows, each is predicted by a model of the other
        one. 1 if the probabilities agree with how often they hit the candidates.
        Computed when it is first used, which takes up to the time of
        :func:`~partlearn.disambiguate`. None with votes, weights, bags or known labels,
        for a method without probabilities, and for few rows.
        """
        if self.held_out is None:
            return None
        try:
            return overconfidence(*self.held_out())
        except ValueError:  # too few rows of a label to learn from
            return None

    @property
    def expected_right(self) -> tuple[float, float, float]:
        """Expected share of right labels, and the lower and upper end of its range.

        Estimated from known labels if there are any (``quality``). Otherwise it is the
        mean confidence, with two standard deviations on both sides; at the lower end,
        labels that always come together count as guesses, and confidences are flattened
        by ``overconfidence``. The upper end is too high if confidences are, for example
        for overlapping classes. Annotators share errors:
        with votes, the lower end is at most two standard deviations below
        ``halves_agree``, and the expected share lies halfway between this and the mean
        confidence.
        """
        return expected_share(self)

    @property
    def wrong(self) -> Array:
        """Probability that the true label is none of the candidates, for each row."""
        right = (self.label_confidence * self.candidates).sum(axis=1)
        return np.asarray(np.clip(1 - right, 0, 1))

    @property
    def look(self) -> Indices:
        """Rank of each row by ``wrong``, 1 for the largest."""
        place = np.empty(len(self.label), dtype=np.intp)
        place[np.argsort(-self.wrong, kind="stable")] = np.arange(1, len(place) + 1)
        return place

    def label_errors(self) -> Indices:
        """Return rows whose candidates probably miss the true label, likeliest first.

        Returns
        -------
        rows : ndarray of int
            Places of the rows whose most likely label is no candidate. ``label`` is the
            suggested label, ``wrong`` the probability of an error. Empty without
            `miss_rate` or votes: then no candidate set can be wrong.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> X = [[k + d / 10] for k in range(2) for d in range(8)]
        >>> y = ["a"] * 8 + ["b"] * 8
        >>> y[3] = "b"
        >>> result = disambiguate(X, y, miss_rate=0.1)
        >>> result.label_errors(), result.label[3]
        (array([3]), np.str_('a'))
        """
        order = np.argsort(-self.wrong, kind="stable")
        column = self.label_confidence[order].argmax(axis=1)
        return order[~self.candidates[order, column]]

    def why(self, row: Any, *, n_neighbors: int = 5, n_draws: int = 20) -> Reasons:
        """Explain the label of one row: the columns that decided, and similar rows.

        Parameters
        ----------
        row : object
            Name of the row, as corrections use it: its place in the index of a data
            frame, or its number from 0.
        n_neighbors : int, default=5
            Number of similar rows.
        n_draws : int, default=20
            Number of other rows whose values each column takes in turn.

        Returns
        -------
        reasons : Reasons
            ``columns`` holds the fall of the log odds of the label over ``rival`` if a
            column takes its values from other rows. It describes the fitted method, not
            the cause of the label. At most 30 columns are tried, those whose means
            differ most between labels. ``neighbors`` are the nearest rows by the
            standardized columns, with their labels and confidences; ``str(reasons)``
            describes them in words.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.3]]
        >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
        >>> result = disambiguate(X, y, method="sure")
        >>> print(result.why(4, n_neighbors=2))
        for b: 0 (4.7). like 3 (b), 5 (b)
        """
        (place,) = tables.labels_by_place(self.index, {row: None}, "row")
        return self.reasons(
            self, np.array([place]), n_neighbors=n_neighbors, n_draws=n_draws
        )[0]

    @cached_property
    def embedding(self) -> Array:
        """The rows in two dimensions, of shape (n_samples, 2).

        The :func:`~partlearn.inspection.label_map` of the projected rows, or of the
        features if the method has no projection.
        """
        return label_map(self.space(), self.label_confidence)

    @property
    def runner_up(self) -> NDArray[Any]:
        """The second most likely label; None where there is no second.

        A candidate, or after votes and weights any label that has some confidence.
        """
        second = np.empty(len(self.label), dtype=object)
        possible = self.candidates | (self.label_confidence > 0)
        rest = np.where(possible, self.label_confidence, -1.0)
        rows = np.arange(len(rest))
        # The first of equal ones is the label, as in `label`.
        rest[rows, rest.argmax(axis=1)] = -1.0
        several = np.flatnonzero(possible.sum(axis=1) > 1)
        second[several] = self.classes[rest[several].argmax(axis=1)]
        return second

    def to_frame(self) -> Any:
        """Return one line per row as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            Columns ``label``, ``confidence``, ``margin``, ``runner_up`` and
            ``candidates`` (lists), and ``bag`` where there are bags, indexed as the
            rows of `X` were. With `miss_rate` also ``wrong``, the probability that no
            candidate is true, and ``look``, the rank of this probability: review row 1
            first.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> y = [{"a"}, {"a", "b"}, {"b"}]
        >>> frame = disambiguate([[0.0], [0.1], [1.0]], y, method="plknn").to_frame()
        >>> list(frame.columns)
        ['label', 'confidence', 'margin', 'runner_up', 'candidates']
        >>> frame["candidates"].tolist()
        [['a'], ['a', 'b'], ['b']]
        """
        pandas = import_optional("pandas", "data frames")
        columns = {
            "label": self.label,
            "confidence": self.confidence,
            "margin": self.margin,
            "runner_up": self.runner_up,
            "candidates": [self.classes[row].tolist() for row in self.candidates],
        }
        if self.bags is not None:
            columns["bag"] = self.bags
        if self.miss_rate is not None:
            columns |= {"wrong": self.wrong, "look": self.look}
        return pandas.DataFrame(columns, index=self.index)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        rows: Any = None,
        truth: ArrayLike | None = None,
        images: Sequence[Any] | None = None,
        n_review: int = 100,
        title: str = "Label report",
    ) -> str:
        """Write the label report: one HTML page to inspect and correct labels.

        Parameters
        ----------
        path : str or path, default=None
            File to write the page to as well.
        rows : data frame or mapping of str to sequence, default=None
            Contents of the rows, shown beside those to review.
        truth : array-like of shape (n_samples,), default=None
            True labels, as for :meth:`agreement`.
        images : sequence, default=None
            A picture per row: the path of a local image file, or a 2-D array of gray
            values.
        n_review : int, default=100
            Number of rows to review.
        title : str, default="Label report"
            Title of the page.

        Returns
        -------
        page : str
            A self-contained HTML page.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> y = [{"a"}, {"a", "b"}, {"b"}]
        >>> page = disambiguate([[0.0], [0.1], [1.0]], y, method="plknn").to_html()
        >>> "1 came with more than one possible label" in " ".join(page.split())
        True
        """
        page = label_page(
            label_report(
                self,
                rows=rows,
                truth=truth,
                images=images,
                n_review=n_review,
                title=title,
            )
        )
        if path is not None:
            with atomic_write(path) as file:
                file.write(page.encode())
        return page

    def _repr_html_(self) -> str:
        """Return a short summary for notebooks."""
        counts = self._states().counts()
        order = np.argsort(self.confidence, kind="stable")[:5]
        lines = "".join(
            f"<tr><td>{escape(str(self.index[i]))}</td>"
            f"<td>{escape(str(self.label[i]))}</td>"
            f"<td>{self.confidence[i]:.2f}</td></tr>"
            for i in order
        )
        return (
            f"<div><p><strong>{len(self.label):,} rows</strong>, "
            f"{counts['several']:,} with several candidates, {counts['settled']:,} of "
            f"them settled by {escape(self.method)} (confidence {SETTLED:g} or more)."
            "</p><table><caption>Least certain rows</caption><thead><tr><th>row</th>"
            f"<th>label</th><th>confidence</th></tr></thead><tbody>{lines}</tbody></table></div>"
        )

    def agreement(self, truth: ArrayLike) -> Agreement:
        """Compare the labels with true ones.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels; None or empty where they are not known.

        Returns
        -------
        agreement : Agreement
            Share of right labels, also among ambiguous rows and beside chance.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"b"}]
        >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1]]
        >>> result = disambiguate(X, y, method="plknn")
        >>> result.agreement(["a", "a", "a", "b", "b"])
        Agreement(accuracy=1.0, n_ambiguous=1, ambiguous_accuracy=1.0, chance=0.5)
        """
        known, right = self._compared(truth)
        sizes = self.candidates.sum(axis=1)
        ambiguous = known & (sizes > 1)
        n = int(ambiguous.sum())
        return Agreement(
            float(right[known].mean()),
            n,
            float(right[ambiguous].mean()) if n else float("nan"),
            float((1 / sizes[ambiguous]).mean()) if n else float("nan"),
        )

    def _compared(self, truth: ArrayLike) -> tuple[Mask, Mask]:
        """Return which true labels are known, and which labels equal them."""
        values = tables.true_labels(truth)
        check_one_per_row("truth", values.shape, len(self.label))
        known = np.asarray([value is not None for value in values])
        if not known.any():
            raise ValueError(
                f"{argument('truth')} holds no label at all; leave it out."
            )
        tables.warn_unknown_truth(values, self.classes)
        return known, np.asarray(tables.true_labels(self.label) == values)

    def calibration(self, truth: ArrayLike, *, n_bins: int = 10) -> CalibrationBins:
        """Return the share of right labels by confidence.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels; None or empty where they are not known.
        n_bins : int, default=10
            Number of bins of equal width between 0 and 1; empty ones are left out.

        Returns
        -------
        bins : CalibrationBins
            Mean confidence, share of right labels and number of rows of each filled
            bin.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> result = disambiguate([[0.0], [0.1], [1.0]], ["a", "a", "b"], "plknn")
        >>> result.calibration(["a", "a", "a"])
        CalibrationBins(confidence=array([1.]), accuracy=array([0.66666667]),
                        n_rows=array([3]))
        """
        known, right = self._compared(truth)
        return calibration_bins(self.confidence[known], right[known], n_bins=n_bins)

    def plot_calibration(
        self, truth: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> Any:
        """Plot the share of right labels against the confidence.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels, as for :meth:`agreement`.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
            Points on the diagonal are calibrated; below it the confidence is too high.
            The area of a point grows with the number of rows.
        """
        return (
            CalibrationDisplay(self.calibration(truth, n_bins=n_bins)).plot(ax=ax).ax_
        )
