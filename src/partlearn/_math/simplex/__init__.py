"""Projections and least squares on the probability simplex."""

from partlearn._math.simplex._minimize import minimize_on_simplex, power_iteration
from partlearn._math.simplex._nnls import (
    nnls_from_gram,
    reconstruction_weights,
    reconstruction_weights_from_gram,
)
from partlearn._math.simplex._projection import project_simplex
