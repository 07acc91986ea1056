"""Read and write data files within limits on memory."""

from partlearn.io._cleanlab import class_numbers, cleanlab_array, read_cleanlab
from partlearn.io._columns import bag_columns, bunch_of, candidate_columns, find_truth
from partlearn.io._errors import (
    AmbiguousDataError,
    DataError,
    DataFormatError,
    DataLimitError,
    DownloadError,
    located,
)
from partlearn.io._files import (
    STANDARD,
    atomic_write,
    format_of,
    is_table,
    regular_size,
)
from partlearn.io._frame import (
    Columns,
    as_text,
    columns_of,
    find_writing,
    form_of,
    is_frame,
    is_plain,
    join_blocks,
    numbers_in,
    read_columns,
    read_corrections,
    read_noted,
    row_count,
    take_rows,
)
from partlearn.io._label_columns import (
    is_marked,
    label_cells,
    label_evidence,
    spell_labels,
    with_truth,
)
from partlearn.io._label_forms import LabelColumns, label_choice
from partlearn.io._label_studio import (
    read_argilla,
    read_label_studio,
    read_tasks,
    write_label_studio,
)
from partlearn.io._options import FORMS, Budget, Limits, ReadOptions, check_names
from partlearn.io._read import read
from partlearn.io._rows import load_columns, open_rows, open_tables, origin_of
from partlearn.io._table_blocks import raw_columns, table_blocks
from partlearn.io._table_writer import TableWriter
from partlearn.io._tag_columns import TagForm, ordered_tags, tag_columns
from partlearn.io._write import write

__all__ = [
    "DataError",
    "Limits",
    "load_columns",
    "open_rows",
    "read",
    "read_label_studio",
    "write",
    "write_label_studio",
]
