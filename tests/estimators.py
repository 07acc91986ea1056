"""Every public estimator, built for a test: what a new meta-estimator needs is here."""

from partlearn._registry import methods
from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA

# Meta-estimators take other estimators; everything else is built with its defaults.
PARTS = {
    "reducer": CENDA,
    "classifier": PLKNN,
    "estimators": lambda: [PLKNN(), PLKNN(3)],
}


def build(name, **params):
    """An estimator by its name, with its parts and whatever is asked for besides."""
    method = methods()[name]
    return method.cls(**{part: PARTS[part]() for part in method.required}, **params)
