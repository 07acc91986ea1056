"""Convert candidate sets to a matrix and back."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from partlearn._arguments import check_choice
from partlearn.candidates._validation import check_candidates


class CandidateBinarizer(BaseEstimator):
    """Encode candidate sets as a binary matrix, and decode them.

    Parameters
    ----------
    classes : array-like of shape (n_classes,), default=None
        Classes and their order; by default inferred from the data.
    empty : {"error", "all"}, default="error"
        Meaning of an empty set: an error, or all classes are possible.
    sparse_output : bool, default=False
        Whether `transform` returns a CSR array.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns.

    See Also
    --------
    check_candidates : The function that estimators use.

    Examples
    --------
    >>> from partlearn.candidates import CandidateBinarizer
    >>> binarizer = CandidateBinarizer().fit([{"cat", "dog"}, {"eel"}])
    >>> binarizer.transform([{"eel", "cat"}]).astype(int)
    array([[1, 0, 1]])
    >>> [sorted(labels) for labels in binarizer.inverse_transform([[0, 1, 1]])]
    [['dog', 'eel']]
    """

    def __init__(
        self,
        classes: ArrayLike | None = None,
        *,
        empty: Literal["error", "all"] = "error",
        sparse_output: bool = False,
    ) -> None:
        self.classes = classes
        self.empty = empty
        self.sparse_output = sparse_output

    def _check(self, y: Any, classes: Any) -> tuple[NDArray[Any], ...]:
        check_choice("empty", self.empty, ("error", "all"))
        return check_candidates(y, classes=classes, empty=self.empty)

    def fit(self, y: Any) -> Self:
        """Learn the classes.

        Parameters
        ----------
        y : candidate labels in any form that :func:`check_candidates` reads
            The labels.

        Returns
        -------
        self : CandidateBinarizer
            The fitted binarizer.
        """
        self.classes_, _ = self._check(y, self.classes)
        return self

    def transform(self, y: Any) -> Any:
        """Encode candidate sets.

        Parameters
        ----------
        y : candidate labels in any form that :func:`check_candidates` reads
            The labels; classes not seen in `fit` are an error.

        Returns
        -------
        S : ndarray of bool or CSR array, shape (n_samples, n_classes)
            Candidate matrix.
        """
        check_is_fitted(self)
        _, S = self._check(y, self.classes_)
        return sp.csr_array(S) if self.sparse_output else S

    def fit_transform(self, y: Any) -> Any:
        """Learn the classes and encode the same sets.

        Parameters
        ----------
        y : candidate labels in any form that :func:`check_candidates` reads
            The labels.

        Returns
        -------
        S : ndarray of bool or CSR array, shape (n_samples, n_classes)
            Candidate matrix.
        """
        return self.fit(y).transform(y)

    def inverse_transform(self, S: Any) -> list[frozenset[Any]]:
        """Decode a candidate matrix.

        Parameters
        ----------
        S : array-like or sparse matrix of shape (n_samples, n_classes)
            Candidate matrix; empty rows give empty sets.

        Returns
        -------
        sets : list of frozenset
            One set of labels per row.
        """
        check_is_fitted(self)
        S = S if sp.issparse(S) else np.asarray(S)
        q = len(self.classes_)
        if S.ndim != 2 or S.shape[1] != q:
            raise ValueError(
                f"The matrix must have {q} columns, one per class; got shape {S.shape}."
            )
        entries = sp.csr_array(S)
        entries.eliminate_zeros()
        names = self.classes_.tolist()
        ends = entries.indptr
        return [
            frozenset(names[j] for j in entries.indices[ends[i] : ends[i + 1]])
            for i in range(S.shape[0])
        ]
