"""Candidate sets, evidence, votes and tags: reading, validation and confidences."""

from partlearn.candidates._answers import from_log_probabilities, match_labels
from partlearn.candidates._bags import (
    BagRule,
    bag_codes,
    bag_confidence,
    bag_runs,
    equal_neighbors,
    make_bags,
    named_codes,
)
from partlearn.candidates._confidence import (
    fitted_confidence,
    initial_confidence,
    padded_candidates,
    refine,
    require_confidence,
    restrict_confidence,
    uniform_confidence,
)
from partlearn.candidates._dawid_skene import VoteTable
from partlearn.candidates._devices import (
    FLOATS,
    move_evidence,
    move_labels,
    one_label_each,
)
from partlearn.candidates._encode import CandidateBinarizer
from partlearn.candidates._evidence import Evidence, concatenate
from partlearn.candidates._forms import (
    from_complementary,
    from_hierarchy,
    from_intervals,
    from_weights,
)
from partlearn.candidates._generate import (
    cooccurring_candidates,
    flip_candidates,
    instance_candidates,
    make_candidates,
    make_votes,
)
from partlearn.candidates._gold import (
    GoldQuality,
    calibrate_by_gold,
    gold_quality,
    judge_by_gold,
    known_labels,
    warn_if_chosen,
)
from partlearn.candidates._messages import (
    MISSING_WORDS,
    as_column,
    check_known,
    did_you_mean,
    is_missing,
    is_missing_text,
    labels_settled,
    warn_alike_labels,
    warn_at_max_iter,
    warn_caller,
    warn_missing_labels,
)
from partlearn.candidates._miss_rate import (
    MissRate,
    error_evidence,
    estimate_miss_rate,
    held_out_miss_rate,
)
from partlearn.candidates._read_votes import from_annotators, from_votes
from partlearn.candidates._separators import AmbiguousSeparatorError
from partlearn.candidates._tags import Tags, check_tags
from partlearn.candidates._text import from_text, parse_label_cells
from partlearn.candidates._validation import check_candidates, check_evidence
from partlearn.candidates._votes import (
    VOTE_STATE,
    Annotators,
    Votes,
    VoteSummary,
    aggregate_votes,
    summarize_votes,
)

__all__ = [
    "CandidateBinarizer",
    "Evidence",
    "Tags",
    "Votes",
    "aggregate_votes",
    "bag_confidence",
    "bag_runs",
    "check_candidates",
    "check_evidence",
    "check_tags",
    "cooccurring_candidates",
    "estimate_miss_rate",
    "flip_candidates",
    "from_annotators",
    "from_complementary",
    "from_hierarchy",
    "from_intervals",
    "from_log_probabilities",
    "from_text",
    "from_votes",
    "from_weights",
    "instance_candidates",
    "make_bags",
    "make_candidates",
    "make_votes",
    "match_labels",
]
