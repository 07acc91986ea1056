"""Fits that end at `max_iter` on purpose: their warning is expected, and looked at."""

import warnings
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning


@contextmanager
def few_iterations():
    """Let fits say that they ended at `max_iter`, nothing else; gives what they say."""
    said = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    for one in caught:
        if one.category is ConvergenceWarning and "max_iter=" in str(one.message):
            said.append(str(one.message))
        else:
            warnings.warn_explicit(
                one.message, one.category, one.filename, one.lineno, source=one.source
            )


def fit_briefly(estimator, X, y, **given):
    """Fit; that it ended at `max_iter` may be said only where it did."""
    with few_iterations() as said:
        estimator.fit(X, y, **given)
    params = estimator.get_params()
    limits = {value for name, value in params.items() if name.endswith("max_iter")}
    for message in said if None not in limits else ():  # None: the method's own
        assert any(f"max_iter={limit} " in message for limit in limits), message
        if limits == {params.get("max_iter")}:  # not of an estimator inside
            assert estimator.n_iter_ in limits, message
    return estimator
