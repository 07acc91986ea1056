"""Reduce multi-label data to rows with one label."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch, check_array

from partlearn.candidates import check_candidates


def single_label(
    X: Any,
    Y: ArrayLike,
    *,
    min_class_size: int = 1,
    drop_constant: bool = False,
    target_names: list[str] | None = None,
) -> Bunch:
    """Keep the rows with exactly one relevant label.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    Y : array-like of shape (n_samples, n_classes)
        Binary matrix of relevant labels.
    min_class_size : int, default=1
        Classes with fewer such rows are left out, with their rows. 100 gives the
        18 classes and 8,670 rows of tmc2007 that the literature uses.
    drop_constant : bool, default=False
        Leave out the features that are zero in all rows kept.
    target_names : list of str, default=None
        Names of the columns of `Y`.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, ``truth`` (numbers into ``target_names``), ``target_names`` of the
        classes kept, ``rows`` and ``features`` (indices into the input), ``task``
        (``"multiclass"``), ``candidates`` and ``feature_names`` (None), ``DESCR``.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.datasets import single_label
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> kept = single_label(np.eye(3), Y)
    >>> kept.rows, kept.truth, kept.target_names
    (array([0, 2]), array([0, 1]), ['0', '2'])
    """
    if min_class_size < 1:
        raise ValueError(f"`min_class_size` must be at least 1; got {min_class_size}.")
    X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan")
    classes, S, labeled = check_candidates(Y, empty="drop", return_rows=True)
    n_rows = np.shape(Y)[0]
    if n_rows != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, Y has {n_rows}.")
    names = [str(c) for c in classes] if target_names is None else list(target_names)
    if len(names) != S.shape[1]:
        raise ValueError(f"{len(names)} `target_names` for {S.shape[1]} labels.")
    alone = S.sum(axis=1) == 1
    rows, codes = labeled[alone], S[alone].argmax(axis=1)
    sizes = np.bincount(codes, minlength=S.shape[1])
    kept = np.flatnonzero(sizes >= min_class_size)
    chosen = np.isin(codes, kept)
    rows, codes = rows[chosen], codes[chosen]
    if not len(rows):
        raise ValueError(
            f"No class has {min_class_size} rows with exactly one relevant label."
        )
    data = X[rows]
    features = np.arange(X.shape[1])
    if drop_constant:
        features = np.flatnonzero(np.asarray((data != 0).sum(axis=0)).ravel())
        data = data[:, features]
    return Bunch(
        data=data,
        candidates=None,
        truth=np.searchsorted(kept, codes),
        feature_names=None,
        target_names=[names[j] for j in kept],
        task="multiclass",
        rows=rows,
        features=features,
        DESCR=f"The {len(rows)} of {n_rows} rows with exactly one relevant label, in "
        f"{len(kept)} classes of at least {min_class_size} rows.",
    )
