"""Every public estimator, built for a test: what a new meta-estimator needs is here."""

import re
from pathlib import Path

from partlearn._registry import methods
from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA

# Meta-estimators take other estimators; everything else is built with its defaults.
PARTS = {
    "reducer": CENDA,
    "classifier": PLKNN,
    "estimator": PLKNN,
    "estimators": lambda: [PLKNN(), PLKNN(3)],
}


def build(name, **params):
    """An estimator by its name, with its parts and whatever is asked for besides."""
    method = methods()[name]
    return method.cls(**{part: PARTS[part]() for part in method.required}, **params)


def documented():
    """Names of the methods that a page of the guide is about or mentions.

    These have to be in the README, in the gallery and in the list of origins. A method
    that somebody just added has none of it yet, and no other file is to be touched.
    """
    guide = Path(__file__).parents[1] / "docs" / "user_guide"
    pages = [p for p in guide.glob("*.rst") if p.stem != "whats_inside"]
    words = {w for p in pages for w in re.findall(r"\w+", p.read_text("utf-8"))}
    names = set(methods()) & words
    assert len(names) >= 42  # as many as there were at 0.1.0
    return names
