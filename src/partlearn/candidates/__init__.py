"""What a label is: candidate sets, their one validation gate, and confidences."""

from partlearn.candidates._confidence import (
    refine,
    uniform_confidence,
    vote,
    vote_weights,
)
from partlearn.candidates._encode import CandidateBinarizer
from partlearn.candidates._generate import (
    cooccurring_candidates,
    flip_candidates,
    instance_candidates,
    make_candidates,
)
from partlearn.candidates._validation import (
    FLOATS,
    check_candidates,
    check_informative,
    check_two_classes,
    parse_candidates,
    validate_partial_data,
)

__all__ = [
    "FLOATS",
    "CandidateBinarizer",
    "check_candidates",
    "check_informative",
    "check_two_classes",
    "cooccurring_candidates",
    "flip_candidates",
    "instance_candidates",
    "make_candidates",
    "parse_candidates",
    "refine",
    "uniform_confidence",
    "validate_partial_data",
    "vote",
    "vote_weights",
]
