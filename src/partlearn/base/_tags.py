"""What scikit-learn should know of transformers for candidate labels."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

__all__ = ["CandidateTagsMixin"]


class CandidateTagsMixin:
    """Tags of reducers and selectors; ``_needs_labels`` says whether `fit` needs `y`.

    ``_array_api`` says whether arrays of other libraries than NumPy are taken. The
    mixin stands before scikit-learn's among the bases of a class.
    """

    _needs_labels = True
    _array_api = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.array_api_support = self._array_api
        tags.input_tags.sparse = True
        tags.target_tags.required = self._needs_labels
        tags.target_tags.one_d_labels = True
        tags.target_tags.two_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
