"""Encode tables as matrices of numbers."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from partlearn._arguments import argument
from partlearn._typing import Array, Mask
from partlearn.candidates import is_missing_text
from partlearn.io import as_text, check_names, columns_of, form_of, numbers_in
from partlearn.tables._column_kinds import (
    ColumnKind,
    Kind,
    as_names,
    find_kinds,
    is_unspaced,
)
from partlearn.tables._known import check_fitted_columns, known_cells
from partlearn.tables._moments import calendar_parts, moments_in
from partlearn.tables._tails import signed_log, tail_units

__all__ = ["TableEncoder"]

_ENOUGH_GAPS = 5  # missing values from which their absence may carry meaning
_SAMPLE = 1000  # cells in which the script of text is found
_LARGE = 1e100  # magnitude from which squares come near the limits of float64
_FAR = 1e15  # standard deviations beyond which values of new rows are alike
_NOTHING = ""  # stands for a missing category
Parts = dict[tuple[str, str], Array]  # by column and part of the calendar
_TAILS = "heavy tails: signed logarithm"
_MARKS = ("number", "category", "date", "text", "id", "ignore")


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a data frame of numbers, categories, dates and text into a matrix.

    The kind of each column is inferred from the training rows and can be set by the
    parameters. Numbers are standardized; missing values are imputed by the median and
    flagged. Categories are one-hot encoded, or encoded by their letters if they have
    many values. Dates become positions in time, year, week and day. Free text becomes a
    few directions of its tf-idf matrix. Identifiers and constant columns are left out.

    Parameters
    ----------
    number, category, date, text, id, ignore : str or list of str, default=()
        Columns whose kind is given, not inferred.
    max_categories : int, default=40
        Largest number of values of a category that is one-hot encoded. Rare values
        share a column. A category with more values is encoded by its letters.
    n_text_components : int, default=30
        Directions kept of a text column.
    random_state : int, RandomState instance or None, default=0
        Seed of the decomposition of text.

    Attributes
    ----------
    kinds_ : dict of str to ColumnKind
        Kind of each column, with the reason.
    n_features_out_ : int
        Columns of the matrix.

    See Also
    --------
    partlearn.PartialClassifier : Encodes a table, then fits a classifier.

    Examples
    --------
    >>> import pandas as pd
    >>> from partlearn.tables import TableEncoder
    >>> frame = pd.DataFrame({"weight": [4, None, 30], "kind": ["cat", "cat", "dog"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['weight', 'kind=cat', 'kind=dog']
    >>> encoder.transform(frame).shape
    (3, 3)
    """

    __state_types__ = (ColumnKind,)

    def __init__(
        self,
        *,
        number: str | Sequence[str] = (),
        category: str | Sequence[str] = (),
        date: str | Sequence[str] = (),
        text: str | Sequence[str] = (),
        id: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        max_categories: int = 40,
        n_text_components: int = 30,
        random_state: Any = 0,
    ) -> None:
        self.number = number
        self.category = category
        self.date = date
        self.text = text
        self.id = id
        self.ignore = ignore
        self.max_categories = max_categories
        self.n_text_components = n_text_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Infer the kind and the encoding of each column.

        Parameters
        ----------
        X : pandas or polars data frame, Arrow table, mapping or matrix
            Training rows.
        y : ignored
            Not used.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit the encoder and encode the training rows.

        Parameters
        ----------
        X : pandas or polars data frame, Arrow table, mapping or matrix
            Training rows.
        y, **params : ignored
            Not used.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out_)
            Numbers without missing values.
        """
        return self._fit(X)[:, self.kept_]

    def _fit(self, X: Any) -> Array:
        columns = columns_of(X)
        self.kinds_ = find_kinds(columns, self._given(columns))
        numbers = self._number_parts(columns)
        self._fit_numbers(numbers)
        self._fit_categories(columns)
        self._fit_texts(columns)
        encoded = self._encode(columns, numbers)
        if encoded.shape[1] == 0:
            told = "; ".join(f"{n}: {k.kind}" for n, k in self.kinds_.items())
            raise ValueError(
                f"No column of the table can be used as a feature ({told}). Say what "
                f"the columns are with {argument('number')}, {argument('category')}, "
                f"{argument('date')} or {argument('text')}."
            )
        self.kept_ = np.ptp(encoded, axis=0) > 0
        if not self.kept_.any():
            raise ValueError(
                "All columns of the table are constant; add one whose values differ."
            )
        self.n_features_out_ = int(self.kept_.sum())
        self.feature_names_in_ = np.asarray(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        return encoded

    def transform(self, X: Any) -> Array:
        """Encode rows.

        Parameters
        ----------
        X : pandas or polars data frame, Arrow table, mapping or matrix
            Rows with the columns of `fit`, in any order; other columns are ignored.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out_)
            Numbers without missing values.
        """
        columns = columns_of(X)
        self.check_columns(columns)
        return self._encode(columns, self._number_parts(columns))[:, self.kept_]

    def check_columns(self, columns: Iterable[str]) -> None:
        """Raise an error if columns used in `fit` are missing.

        Parameters
        ----------
        columns : iterable of str
            Names of the columns of a table.
        """
        check_is_fitted(self)
        used = (name for name, kind in self.kinds_.items() if kind.used)
        check_fitted_columns(used, columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of the matrix.

        Parameters
        ----------
        input_features : ignored
            Names are those of the table.

        Returns
        -------
        names : ndarray of str
            Such as ``weight``, ``weight missing``, ``kind=cat``, ``note #0``.
        """
        return self._features()[:, 1]

    def get_source_columns(self) -> NDArray[Any]:
        """Return the source column of each column of the matrix.

        Returns
        -------
        columns : ndarray of str, shape (n_features_out_,)
            In the order of :meth:`get_feature_names_out`.

        Examples
        --------
        >>> from partlearn.tables import TableEncoder
        >>> table = {"x": [1.5, 2.5, 3.5], "coat": ["soft", "rough", "soft"]}
        >>> TableEncoder().fit(table).get_source_columns().tolist()
        ['x', 'coat', 'coat']
        """
        return self._features()[:, 0]

    def _features(self) -> NDArray[Any]:
        """Return column and name of every encoded feature, (n_features, 2)."""
        check_is_fitted(self)
        named = [(key[0], _title(key)) for key in self.numbers_]
        named += [(key[0], f"{_title(key)} missing") for key in self.gaps_]
        for name, encoder in self.categories_.items():
            values = encoder.get_feature_names_out([name])
            named += [(name, f"{name}={v.removeprefix(f'{name}_')}") for v in values]
        for name, (_, svd, _) in self.texts_.items():
            named += [(name, f"{name} #{j}") for j in range(len(svd.components_))]
        taken: set[str] = set()
        for place, (column, name) in enumerate(named):
            titles = chain([name], (f"{name} ({k})" for k in count(2)))
            title = next(title for title in titles if title not in taken)
            taken.add(title)
            named[place] = column, title
        return np.asarray(named, dtype=object)[self.kept_]

    def report(self) -> str:
        """Return one line per column with its kind.

        Returns
        -------
        text : str
            Name, kind and reason; unused columns are marked.

        Examples
        --------
        >>> from partlearn.tables import TableEncoder
        >>> table = {"x": [1.5, 2.5, None], "unit": ["kg", "kg", "kg"]}
        >>> print(TableEncoder().fit(table).report())
        x     number    1 of 3 missing
        unit  constant  always 'kg' (left out)
        """
        check_is_fitted(self)
        width = max(map(len, self.kinds_))
        lines = []
        for name, found in self.kinds_.items():
            out = "" if found.used or found.kind == "label" else "(left out)"
            line = f"{name:<{width}}  {found.kind:<8}  {found.reason} {out}"
            lines.append(line.rstrip())
        return "\n".join(lines)

    # The kinds of columns ---------------------------------------------------------

    def _given(self, columns: Mapping[str, Any]) -> dict[str, Kind]:
        given: dict[str, Kind] = {}
        for mark in _MARKS:
            kind: Any = "ignored" if mark == "ignore" else mark
            for name in check_names(as_names(getattr(self, mark)), columns, mark):
                if given.get(name, kind) != kind:
                    raise ValueError(
                        f"Column {name!r} is given as {given[name]} and as {kind}; "
                        "give one kind."
                    )
                given[name] = kind
        return given

    def _of_kind(self, *kinds: Kind) -> Iterable[str]:
        return (name for name, column in self.kinds_.items() if column.kind in kinds)

    def _number_parts(self, columns: Mapping[str, NDArray[Any]]) -> Parts:
        """Return numbers, and the calendar parts of dates."""
        parts = {
            (name, ""): numbers_in(columns[name], kind.grouping, kind.unit)
            for name, kind in self.kinds_.items()
            if kind.kind == "number"
        }
        for name in self._of_kind("date"):
            moments = moments_in(columns[name], self.kinds_[name].date_format)
            for part, values in calendar_parts(moments).items():
                parts[name, part] = values
        return parts

    def _fit_numbers(self, parts: Parts) -> None:
        self.numbers_ = list(parts)
        self.gaps_ = [
            key
            for key, values in parts.items()
            if np.isnan(values).sum() >= _ENOUGH_GAPS
            and key[1] in ("", "days")  # the others are gaps of their days
        ]
        self.imputer_: Any = None
        self.scaler_: Any = None
        self.number_ranges_ = np.empty((2, 0))
        self.number_units_ = np.empty(0)
        self.number_tails_ = np.empty((2, 0))
        if parts:
            N = np.column_stack(list(parts.values()))
            self.number_ranges_ = np.stack([_lowest(N), -_lowest(-N)])
            self.number_units_ = _units(self.number_ranges_)
            self.imputer_ = SimpleImputer(strategy="median", keep_empty_features=True)
            N = self.imputer_.fit_transform(N / self.number_units_)
            self.number_tails_ = tail_units(N)
            for key, unit in zip(self.numbers_, self.number_tails_[1], strict=True):
                if np.isfinite(unit) and not key[1]:
                    kind = self.kinds_[key[0]]
                    reason = ", ".join(filter(None, [kind.reason, _TAILS]))
                    self.kinds_[key[0]] = replace(kind, reason=reason)
            self.scaler_ = StandardScaler().fit(signed_log(N, *self.number_tails_))

    def _fit_categories(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.categories_: dict[str, OneHotEncoder] = {}
        self.category_scales_: dict[str, float] = {}
        self._many: list[str] = []
        for name in self._of_kind("category"):
            values = _category(columns[name])
            if len(set(values.ravel().tolist())) > self.max_categories:
                self._many.append(name)
                continue
            encoder = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=2 if len(values) >= 100 else None,
                sparse_output=False,
            )
            share = encoder.fit_transform(values).mean(axis=0)
            self.categories_[name] = encoder
            # The columns of a category weigh together as much as one number.
            self.category_scales_[name] = float(np.sqrt((share * (1 - share)).sum()))

    def _fit_texts(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.texts_: dict[str, tuple[TfidfVectorizer, TruncatedSVD, float]] = {}
        for name in (*self._of_kind("text"), *self._many):
            texts = _plain(columns[name])
            analyzer, lengths = "word", (1, 1)
            if name in self._many:
                analyzer, lengths = "char_wb", (2, 4)
            elif is_unspaced(texts[:_SAMPLE]):
                analyzer, lengths = "char", (1, 3)
            vectorizer = TfidfVectorizer(
                analyzer=analyzer,
                ngram_range=lengths,
                min_df=2 if len(texts) >= 100 else 1,
                max_features=20_000,
                sublinear_tf=True,
            )
            try:
                T = vectorizer.fit_transform(texts)
            except ValueError:  # no word occurs twice, or there are no words
                self.kinds_[name] = ColumnKind("constant", "no words to compare")
                continue
            size = max(1, min(self.n_text_components, T.shape[1] - 1, T.shape[0] - 1))
            svd = TruncatedSVD(size, random_state=self.random_state)
            with np.errstate(divide="ignore", invalid="ignore"):  # all texts alike
                scale = float(svd.fit_transform(T).std(axis=0).max())
            self.texts_[name] = (vectorizer, svd, scale if scale > 0 else 1.0)

    # Encoding ---------------------------------------------------------------------

    def _encode(self, columns: Mapping[str, NDArray[Any]], parts: Parts) -> Array:
        m = len(next(iter(columns.values())))
        blocks: list[Array] = [np.empty((m, 0))]
        if self.scaler_ is not None:
            N = np.column_stack([parts[key] for key in self.numbers_])
            with np.errstate(over="ignore"):  # values far outside of the training range
                N = np.clip(N / self.number_units_, -_LARGE, _LARGE)
                N = signed_log(self.imputer_.transform(N), *self.number_tails_)
                N = self.scaler_.transform(N)
            blocks.append(np.clip(N, -_FAR, _FAR))
            blocks += [np.isnan(parts[key])[:, None] * 1.0 for key in self.gaps_]
        for name, encoder in self.categories_.items():
            ones = encoder.transform(_category(columns[name]))
            blocks.append(ones / (self.category_scales_[name] or 1.0))
        for name, (vectorizer, svd, scale) in self.texts_.items():
            T = vectorizer.transform(_plain(columns[name]))
            blocks.append(svd.transform(T) / scale)
        return np.hstack(blocks)

    def unseen(self, X: Any) -> dict[str, Mask]:
        """Return rows with values absent from the training rows, by column.

        Parameters
        ----------
        X : table
            As for :meth:`transform`.

        Returns
        -------
        unseen : dict of str to ndarray of bool
            Categories: a value that never occurred. Numbers and dates: beyond the
            training range by more than half of it.
        """
        check_is_fitted(self)
        columns = columns_of(X)
        masks = {}
        parts = self._number_parts(columns)
        for key, low, high in zip(self.numbers_, *self.number_ranges_, strict=True):
            slack, values = high / 2 - low / 2, parts[key]
            with np.errstate(over="ignore"):
                masks[_title(key)] = (values < low - slack) | (values > high + slack)
        for name, encoder in self.categories_.items():
            known = set(encoder.categories_[0].tolist())
            masks[name] = np.asarray([v not in known for v in _plain(columns[name])])
        return {name: mask for name, mask in masks.items() if mask.any()}

    def unknown(self, X: Any) -> tuple[dict[str, Mask], dict[str, Mask]]:
        """Return missing cells and unreadable cells, by column.

        Parameters
        ----------
        X : table
            As for :meth:`transform`.

        Returns
        -------
        missing, unread : dict of str to ndarray of bool
            Columns that are features. Text in a column of numbers or dates cannot be
            read, and is imputed as missing cells are.
        """
        check_is_fitted(self)
        columns = columns_of(X)
        missing, unread = {}, {}
        for name, kind in self.kinds_.items():
            if kind.used:
                present, odd = known_cells(columns[name], kind)
                missing[name], unread[name] = ~present, odd
        return missing, unread

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _title(key: tuple[str, str]) -> str:
    """Return the name of a number, or of a part of a date such as "opened year"."""
    return " ".join(key) if key[1] else key[0]


def _units(ranges: Array) -> Array:
    """Return powers of two that bring columns of extreme numbers to a usual magnitude.

    One for other columns, whose squares neither overflow nor underflow.
    """
    largest = np.abs(np.where(np.isfinite(ranges), ranges, 0.0)).max(axis=0)
    usual = np.clip(largest, 1 / _LARGE, _LARGE)
    ratio = np.where(largest > 0, largest, usual) / usual
    return np.asarray(np.exp2(np.rint(np.log2(ratio))))


def _lowest(N: Array) -> Array:
    """Return the least value of each column, infinite if there is none."""
    return np.where(np.isnan(N), np.inf, N).min(axis=0)


def _plain(column: NDArray[Any]) -> list[str]:
    """Return cells as text; missing values are a value of their own."""
    texts = column.tolist()
    if form_of(column) != "text":
        texts = [as_text(value) for value in texts]
    return [_NOTHING if is_missing_text(text) else text.strip() for text in texts]


def _category(column: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(_plain(column), dtype=object)[:, None]
