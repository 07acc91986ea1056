"""Mixins of estimators for candidate labels: tags, checked rows, memory estimates."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._array_api import same_namespace
from partlearn.base._fit_input import validate_rows

# What asks a fitted classifier about rows.
_PREDICTING = ("predict", "predict_proba", "decision_function")
_BLOCKS = 2**25  # bytes of the blocks in which distances and kernels are computed
_VALUE = 8  # bytes of a float64
_COPIES = 3  # of the data: as given, standardized, sorted into folds or projected
_CONFIDENCES = 6  # matrices of rows by classes: candidates, confidences, votes


class CandidateMixin:
    """Tags and checked rows; ``_needs_labels`` says whether `fit` needs `y`.

    ``_array_api`` says whether arrays of other libraries than NumPy are accepted. The
    mixin comes before scikit-learn's mixins among the bases of a class.
    """

    _needs_labels = True
    _array_api = False

    def _validate_predict(self, X: Any, fitted: str | None = None) -> Any:
        """Check rows; they must be on the device of the fitted attribute `fitted`."""
        X = validate_rows(self, X)
        if fitted is not None:
            same_namespace(self, X, getattr(self, fitted), *_PREDICTING)
        return X

    def _forget(self, *names: str) -> None:
        """Delete attributes that an earlier fit with other parameters has set."""
        for name in names:
            self.__dict__.pop(name, None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.array_api_support = self._array_api
        tags.input_tags.sparse = True
        tags.target_tags.required = self._needs_labels
        tags.target_tags.two_d_labels = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class MemoryEstimateMixin:
    """Estimate of the memory that `fit` needs.

    A method with an array that grows faster than the data overrides ``_square_side``; a
    kernel matrix has as many rows as there are samples.
    """

    def memory_estimate(self, n_samples: int, n_features: int, n_classes: int) -> int:
        """Estimate the peak memory of `fit` on dense float64 data, in bytes.

        Parameters
        ----------
        n_samples, n_features, n_classes : int
            Size of the data.

        Returns
        -------
        nbytes : int
            An order of magnitude, right within a factor of about two for large data:
            copies of the data, confidences, the neighbor graph, the largest square
            matrix of the method with its present parameters, and the blocks in which
            distances are computed.

        Examples
        --------
        >>> from partlearn.classification import PLKNN, SURE
        >>> SURE().memory_estimate(100_000, 10, 5) // 10**9
        80
        >>> PLKNN().memory_estimate(100_000, 10, 5) // 10**9
        0
        """
        linear = n_samples * (_COPIES * n_features + _CONFIDENCES * n_classes)
        # Index and weight of every neighbor, once each way.
        graph = 4 * n_samples * int(getattr(self, "n_neighbors", None) or 0)
        square = self._square_side(n_samples, n_features) ** 2
        return _BLOCKS + _VALUE * (linear + graph + square)

    def _square_side(self, n_samples: int, n_features: int) -> int:
        """Return the side of the largest square matrix that `fit` holds."""
        return 0

    def _factor_side(self, n_samples: int, n_features: int) -> int:
        """Return the side of the largest matrix that `fit` factors."""
        return self._square_side(n_samples, n_features)
