"""Sizes of blocks and samples, and limits, in one object.

They change speed and memory; results depend on them only if a sample is drawn. Tests
change them to reach every path with small data.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Sizes:
    """Sizes of blocks, samples and caches, and limits."""

    # Exact computation up to so many rows or columns
    exact_rows: int = 25_000  # rows up to which "auto" searches among all
    exact_kernel_rows: int = 3000  # rows up to which "auto" takes exact kernels
    full_svd: int = 4000  # rows or columns up to which all singular directions are kept
    truncated_rank: int = 500  # leading singular directions kept above that
    largest_factor: int = 20_000  # side of a dense factor: 3.2 GB
    hinge_direct: int = 1500  # beyond it conjugate gradients
    hinge_newton: int = 100  # Newton steps
    wpldr_dense: int = 500  # rank up to which the eigenproblem is formed
    ranker_direct: int = 3000  # smaller side of rows that are decomposed
    svm_direct: int = 3000  # smaller side of rows that are decomposed
    fpml_direct: int = 5000  # beyond it conjugate gradients

    # Samples of large data
    background_rows: int = 10_000  # rows that choose the background
    pool_rows: int = 25_000  # rows for the weights of a log-linear pool
    width_rows: int = 500  # rows that choose the width of a kernel
    wide_columns: int = 2000  # columns of sparse data that kernels see as they are
    wide_directions: int = 500  # leading directions that kernels see of wider data
    relevant_columns: int = 1000  # columns above which all count alike
    ranked_rows: int = 2000  # rows whose ranks give the normal scores of a column
    tuned_pca_rows: int = 5000  # held-out rows where a decomposition is long
    optics_rows: int = 2000  # points of OPTICS, whose cost grows with their square

    # Blocks, most of which stay in the cache
    kernel_features: int = 10**8  # features of a kernel that are kept: 0.8 GB
    kernel_block_rows: int = 16_384  # rows whose features are held at once
    kernel_rows: int = 256  # rows of a block of kernel entries
    kernel_entries: int = 1 << 19  # kernel entries at a time where a product is needed
    reconstruction_block: int = 1 << 22  # numbers gathered at a time
    standardized_block: int = 1 << 19  # elements of a dense block made from sparse rows
    difference_block: int = 1 << 17  # numbers in a block of differences
    tile_columns: int = 1 << 14  # columns of a tile of distances
    tile_rows: int = 512  # rows of a tile of distances
    pending: int = 1 << 20  # candidates kept unranked
    cell_rows: int = 1 << 15  # rows answered at once by cells
    key_block: int = 1 << 22  # random keys drawn at a time
    column_block: int = 1 << 21  # numbers in a block of columns
    greedy_batch: int = 64  # features updated together
    redundancy_block: int = 1 << 17  # words at a time in the NumPy path
    redundancy_near: int = 1 << 21  # bytes of packed bins for one core
    relevance_block: int = 1 << 19  # numbers in the largest temporary of the NumPy path
    ranker_block: int = 1 << 18  # scores sorted at a time
    particle_pairs: int = 200  # classifiers a worker trains at a time
    particle_block: int = 1 << 22  # votes computed at a time
    lenfn_block: int = 1 << 22  # distances held at a time
    fsla_block: int = 1 << 15  # numbers gathered at a time
    block_rows: int = 20_000  # rows of a table read or written at a time
    predicted_rows: int = 500  # beside their kernels with all training rows

    # Caches
    redundancy_bytes: int = 1 << 28  # mutual information that is kept
    path_bytes: int = 1 << 28  # mutual information that a path keeps
    shortlist_steps: int = 64  # selections that a shortlist is for
    shortlist: int = 1024  # its length

    # Ties and lists of neighbors
    tied: int = 128  # neighbors, or distinct points, that are examined for ties
    tied_in_blocks: int = 1024  # the same for queries in blocks
    light_rows: int = 512  # light rows kept in addition to twice the neighbors
    tree_ties: int = 4  # points that may have to be ranked anew, per query

    # Work from which compiled loops are used
    nnls_compiled: float = 1e6  # matrix entries
    projection_compiled: float = 1e5  # entries
    redundancy_compiled: float = 3e4  # words of a packed matrix
    relevance_compiled: float = 5e6  # exponentials
    path_compiled: float = 1e7  # steps times features

    # Shares of sparse and dense work
    wpldr_few: float = 0.25  # share of classes below which a form is restricted
    ranker_few: int = 8  # candidates a row up to which direct sums are faster

    # Limits, from which input or work is refused
    nnls_entries: int = 20  # entries per column; far more than occur
    plr_rows: int = 8000  # rows; two dense matrices of their squared number are held
    fsnf_rows: int = 5000  # rows of the released loop, which holds three n x n arrays
    dense_bytes: int = 2**30  # dense features of a sparse data set in a plan
    archive_members: int = 2**17  # members of a model file
    npz_members: int = 10_000  # members of an .npz file
    arff_bytes: int = 2**26  # header of an ARFF file
    table_ratio: int = 100  # bytes in memory for a byte of plain text
    unpacked_bytes: int = 2**31  # unpacked archive
    download_bytes: int = 2**30  # file of unknown length

    # Seconds to wait
    unpacking_seconds: int = 600  # for an unpacker
    leaving_seconds: float = 2.0  # for an idle child to leave
    scheduler_seconds: int = 30  # for the answer of a scheduler


SIZES = Sizes()


def spans(n: int, step: int) -> Iterator[slice]:
    """Yield slices of `step` rows, at least one, that cover `n` rows."""
    step = max(1, step)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
