"""Constraints on the parameters that several methods share."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real
from typing import Any

from partlearn._sklearn_compat import HasMethods, Interval, RealNotInt, StrOptions

# What every selector accepts as a number or a share of features.
COUNT = [
    Interval(Integral, 1, None, closed="left"),
    Interval(RealNotInt, 0, 1, closed="right"),
    None,
]

# A parameter of this name means the same in every method, unless the method says
# otherwise; names that a method does not have are not asked for.
PARAMETERS: dict[str, list[Any]] = {
    "C": [Interval(Real, 0, None, closed="neither")],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "bag_rule": [StrOptions({"cover", "distinct", "match"})],
    "beta": [Interval(Real, 0, None, closed="left")],
    "cv": [Interval(Integral, 2, None, closed="left")],
    "exclude": ["array-like", None],
    "gamma": [Interval(Real, 0, None, closed="left")],
    "lam": [Interval(Real, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "memory_limit": [Interval(Real, 0, None, closed="neither")],
    "metric": [StrOptions({"euclidean", "cosine"})],
    "mu": [Interval(Real, 0, None, closed="neither")],
    "must_keep": ["array-like", None],
    "n_components": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="both"),
        StrOptions({"auto"}),
        None,
    ],
    "n_features_to_select": COUNT,
    "n_jobs": [Integral, None],
    "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
    "n_latent": [Interval(Integral, 1, None, closed="left"), None],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "n_reference": [  # of one row, that row itself would have no neighbor
        Interval(Integral, 2, None, closed="left"),
        StrOptions({"auto"}),
        None,
    ],
    "random_state": ["random_state"],
    "search": [HasMethods(["fit", "transform"]), None],
    "stray_rate": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
    "sigma": [Interval(Real, 0, None, closed="neither"), None],
    "standardize": ["boolean"],
    "svd_rank": [Interval(Integral, 1, None, closed="left"), None],
    "use_neighbors": ["boolean", StrOptions({"auto"})],
    "tol": [Interval(Real, 0, None, closed="left")],
}
