"""Encoding of tables, and estimates of the quality of their classifiers."""

from partlearn.io import (
    as_text,
    check_names,
    columns_of,
    is_frame,
    is_plain,
    join_blocks,
    numbers_in,
    read_columns,
    take_rows,
)
from partlearn.tables._bags import (
    bag_params,
    bags_of_files,
    read_bags,
    runs_of,
    warn_of_bags,
    warn_of_runs,
)
from partlearn.tables._classifier import PartialClassifier
from partlearn.tables._column_kinds import ColumnKind, as_names, find_kinds
from partlearn.tables._dataset import (
    Dataset,
    dataset_of,
    feature_names,
)
from partlearn.tables._deciding import deciding_columns, warn_of_columns
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._known import number_matrix
from partlearn.tables._labels import (
    label_columns,
    labels_by_place,
    named_columns,
    read_gold,
    read_labels,
    true_labels,
    warn_unknown_truth,
)
from partlearn.tables._learner import make_learner, make_tag_learner
from partlearn.tables._quality import Agreement, QualityScore, estimate_quality
from partlearn.tables._rows import column_importances, encode_rows
from partlearn.tables._splits import read_times
from partlearn.tables._tag_labels import TagDisambiguation, disambiguate_tags
from partlearn.tables._tags import (
    CANNOT,
    TagQuality,
    estimate_tag_quality,
    read_tags,
    refuse_several,
    rows_of_several,
    scored_tags,
    separation,
    tag_scores,
    tags_of,
    true_matrix,
)

__all__ = [
    "TableEncoder",
    "estimate_quality",
]
