"""How much memory a method asks for, before it is tried."""

# SPDX-License-Identifier: BSD-3-Clause

__all__ = ["MemoryEstimateMixin"]

_BLOCKS = 2**25  # bytes of the blocks in which distances and kernels are computed
_VALUE = 8  # bytes of a float64
_COPIES = 3  # of the data: as given, standardised, sorted into folds or projected
_BELIEFS = 6  # matrices of rows by classes: candidates, confidences, votes


class MemoryEstimateMixin:
    """States what `fit` will need, so that it can be compared with what there is.

    A method whose largest array grows faster than the data says so by
    ``_square_side``: a kernel matrix has as many rows as there are samples.
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
            copies of the data, confidences, the neighbour graph, the largest square
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
        linear = n_samples * (_COPIES * n_features + _BELIEFS * n_classes)
        # Index and weight of every neighbour, once each way.
        graph = 4 * n_samples * int(getattr(self, "n_neighbors", None) or 0)
        square = self._square_side(n_samples, n_features) ** 2
        return _BLOCKS + _VALUE * (linear + graph + square)

    def _square_side(self, n_samples: int, n_features: int) -> int:
        """Rows of the largest square matrix that `fit` holds."""
        return 0
