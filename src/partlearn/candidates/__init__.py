"""What a label is: candidate sets, their one validation gate, and confidences."""

from importlib import import_module
from typing import Any

from partlearn.candidates._confidence import refine, uniform_confidence
from partlearn.candidates._encode import CandidateBinarizer
from partlearn.candidates._fitted import fitted_confidence, restrict_confidence
from partlearn.candidates._generate import (
    cooccurring_candidates,
    flip_candidates,
    instance_candidates,
    make_candidates,
)
from partlearn.candidates._places import candidate_places
from partlearn.candidates._validation import (
    FLOATS,
    check_candidates,
    check_informative,
    check_two_classes,
    one_label_each,
    parse_candidates,
    validate_partial_data,
    validate_rows,
)

__all__ = [
    "FLOATS",
    "CandidateBinarizer",
    "candidate_places",
    "check_candidates",
    "check_informative",
    "check_two_classes",
    "cooccurring_candidates",
    "fitted_confidence",
    "flip_candidates",
    "instance_candidates",
    "make_candidates",
    "one_label_each",
    "parse_candidates",
    "refine",
    "restrict_confidence",
    "uniform_confidence",
    "validate_partial_data",
    "validate_rows",
]


def __getattr__(name: str) -> Any:
    """Offer `vote` and `vote_weights`, now of `partlearn.graphs`, as before."""
    if name in ("vote", "vote_weights"):
        return getattr(import_module("partlearn.graphs"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
